"""A wish -> the tool call that serves it, of the tools that are offered. Pure."""

import re
from collections.abc import Mapping
from typing import Any, assert_never

from msgspec import Struct

from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.providers.offline.wishes import (
    FindFiles,
    Introduce,
    ListFolder,
    ReadFile,
    ReplaceText,
    RunCommand,
    SearchText,
    Wish,
    WriteFile,
)


class Call(Struct, frozen=True):
    tool: str
    arguments: Mapping[str, Any]


class NotOffered(Struct, frozen=True):
    """The wish is understood, but nothing that would serve it is offered."""

    tool: str


def call_for(wish: Wish, offered: Mapping[str, ToolSpec]) -> Call | NotOffered | None:
    """The call, with only those arguments that the tool declares; None where no tool is needed."""
    if isinstance(wish, Introduce):
        return None
    choices = _choices(wish, offered)
    for tool, arguments in choices:
        if tool in offered:
            return Call(tool, _declared(arguments, offered[tool]))
    return NotOffered(choices[0][0])


def _choices(wish: Wish, offered: Mapping[str, ToolSpec]) -> list[tuple[str, dict[str, Any]]]:
    """Tools that serve a wish, the best one first."""
    match wish:
        case ListFolder(path):
            return [("ls", {"path": path}), ("find", {"pattern": "*", "path": path})]
        case ReadFile(path):
            return [("read", {"path": path})]
        case SearchText(text, path, glob):
            return [("grep", _search(text, path, glob, offered.get("grep")))]
        case FindFiles(glob, path):
            return [("find", {"pattern": glob, "path": path})]
        case RunCommand(command):
            return [("bash", {"command": command})]
        case WriteFile(path, content):
            return [("write", {"path": path, "content": content})]
        case ReplaceText(path, old, new):
            return [("edit", {"path": path, "edits": [{"oldText": old, "newText": new}]})]
        case Introduce():
            return []
        case _:
            assert_never(wish)


def _search(text: str, path: str, glob: str, spec: ToolSpec | None) -> dict[str, Any]:
    """People name a text, not an expression: literally where the tool can, else escaped."""
    arguments = {"pattern": text, "path": path, "literal": True} | ({"glob": glob} if glob else {})
    if spec is not None and "literal" not in _properties(spec):
        arguments["pattern"] = re.escape(text)
    return arguments


def _declared(arguments: Mapping[str, Any], spec: ToolSpec) -> dict[str, Any]:
    properties = _properties(spec)
    return {name: value for name, value in arguments.items() if not properties or name in properties}


def _properties(spec: ToolSpec) -> Mapping[str, Any]:
    properties = spec.parameters.get("properties")
    return properties if isinstance(properties, Mapping) else {}
