"""Which files a stretch of conversation read and changed, as far as the tool calls tell. Lists; looks at no disk."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.conversation.messages import Message

_FILE_TAGS = re.compile(r"\n*<(read-files|modified-files)>\n.*?\n</\1>", re.DOTALL)


class FileOperations(Struct, frozen=True):
    """Paths as the calls named them."""

    read: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    edited: frozenset[str] = frozenset()

    @property
    def modified_files(self) -> list[str]:
        return sorted(self.written | self.edited)

    @property
    def read_files(self) -> list[str]:
        """Only read: a file that was changed as well is listed as modified."""
        return sorted(self.read - self.written - self.edited)

    def merged(self, other: "FileOperations") -> "FileOperations":
        return FileOperations(self.read | other.read, self.written | other.written, self.edited | other.edited)

    def details(self) -> JsonObject:
        return {"readFiles": self.read_files, "modifiedFiles": self.modified_files}

    def tag_blocks(self) -> str:
        """What is appended to a summary; "" without files."""
        return _block("read-files", self.read_files) + _block("modified-files", self.modified_files)


def file_operations(messages: Iterable[Message]) -> FileOperations:
    """From calls of read, write and edit with a path that is a string and not empty."""
    found: dict[str, set[str]] = {"read": set(), "write": set(), "edit": set()}
    for message in messages:
        for block in message["content"] if message["role"] == "assistant" else ():
            if block["type"] != "toolCall" or block["name"] not in found:
                continue
            path = block["arguments"].get("path")
            if isinstance(path, str) and path:
                found[block["name"]].add(path)
    return FileOperations(frozenset(found["read"]), frozenset(found["write"]), frozenset(found["edit"]))


def recorded_operations(details: Mapping[str, Any]) -> FileOperations:
    """The lists of an earlier compaction or branch summary of ours; a hook's details have a shape of their own."""
    return FileOperations(read=_paths(details.get("readFiles")), edited=_paths(details.get("modifiedFiles")))


def without_tag_blocks(summary: str) -> str:
    """A summary as the model wrote it: the lists are kept in the details and appended anew."""
    return _FILE_TAGS.sub("", summary).rstrip()


def _paths(value: object) -> frozenset[str]:
    return (
        frozenset(path for path in value if isinstance(path, str) and path) if isinstance(value, list) else frozenset()
    )


def _block(tag: str, paths: list[str]) -> str:
    return f"\n\n<{tag}>\n" + "\n".join(paths) + f"\n</{tag}>" if paths else ""
