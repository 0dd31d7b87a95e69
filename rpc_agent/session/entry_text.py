"""What was said or done in one entry, as text to search and to read. Knows the shapes and nothing of files.

What the model was never to see (a command kept from it, what an edit took out) is not here either.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from rpc_agent.conversation.json_values import as_object, as_text
from rpc_agent.session.json_lines import write_json

HISTORY_TOOL = "history"
"""Its calls quote what is searched for, and its results what was found: both would find themselves."""


class EntryText(Struct, frozen=True):
    """`speaker` is user, assistant, note, or what gave the output."""

    speaker: str
    text: str


def entry_text(raw: Mapping[str, Any], replacement: Mapping[str, Any] | None = None) -> EntryText | None:
    """None when there is nothing to find. `replacement` is the content that an edit put in the place of its own."""
    match raw.get("type"):
        case "message":
            message = as_object(raw.get("message"))
            return _message({**message, **_content(replacement)})
        case "custom_message":
            return _said("note", _blocks({**raw, **_content(replacement)}.get("content")))
        case "branch_summary":
            return _said("summary of another branch", as_text(raw.get("summary")))
        case _:
            return None


def _content(replacement: Mapping[str, Any] | None) -> Mapping[str, Any]:
    return {} if replacement is None else {"content": replacement.get("content")}


def _message(message: Mapping[str, Any]) -> EntryText | None:
    match message.get("role"):
        case "user":
            return _said("user", _blocks(message.get("content")))
        case "assistant":
            return _said("assistant", "\n".join(_answer(message.get("content"))))
        case "toolResult" if message.get("toolName") != HISTORY_TOOL:
            failed = "error of" if message.get("isError") is True else "result of"
            return _said(f"{failed} {as_text(message.get('toolName'))}", _blocks(message.get("content")))
        case "bashExecution" if message.get("excludeFromContext") is not True:
            command, output = as_text(message.get("command")), as_text(message.get("output"))
            return _said("command of the user", f"$ {command}\n{output}")
        case _:
            return None


def _answer(content: object) -> Iterator[str]:
    text = _blocks(content)
    if text:
        yield text
    for block in map(as_object, content) if isinstance(content, list) else ():
        if block.get("type") == "toolCall" and block.get("name") != HISTORY_TOOL:
            arguments = write_json(block.get("arguments")).decode("utf-8", "replace")
            yield f"{as_text(block.get('name'))} {arguments}"


def _blocks(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = map(as_object, content) if isinstance(content, list) else ()
    return "\n".join(as_text(block.get("text")) for block in blocks if block.get("type") == "text")


def _said(speaker: str, text: str) -> EntryText | None:
    return EntryText(speaker, text) if text.strip() else None
