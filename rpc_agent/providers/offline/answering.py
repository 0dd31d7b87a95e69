"""The words of the offline model: answers made of what tools found, and plain statements of what it cannot do. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from rpc_agent.conversation.blocks import ToolCallBlock, blocks_text
from rpc_agent.conversation.messages import ToolResultMessage
from rpc_agent.providers.offline.calling import NotOffered

_MAX_QUOTE = 12_000
"""Characters of a tool's result in the answer; the rest stands in the result itself, right above."""

ABILITIES = (
    'I can list files ("What files are here?", "list src"), read them ("read README.md"), '
    'search them ("search for TODO in *.py", "which files mention foo") and find them by name ("find *.md"). '
    'On an explicit order I also run commands ("run: make"), write files ("write hello to notes.txt") and replace text '
    '("replace a with b in notes.txt"), where that is permitted.'
)
INTRODUCTION = (
    "I am the built-in offline model of rpc-agent: a small set of fixed rules, not a language model. " + ABILITIES
)


def notice(variables: Sequence[str]) -> str:
    """The first line where nobody chose this model: what answers here, and what would give a real one."""
    return (
        "[This is rpc-agent's built-in offline model, not a language model: no model is configured. "
        f"Set one of {', '.join(variables)}, or add a provider to models.json.]"
    )


def not_understood(prompt: str) -> str:
    shown = " ".join(prompt.split())
    shown = shown if len(shown) <= 160 else shown[:157] + "..."
    return f"I do not understand this: {shown}\nI am the offline model and follow fixed rules only. {ABILITIES}"


def not_offered(missing: NotOffered) -> str:
    return f"I understand that, but it needs the tool {missing.tool!r}, which is not offered in this session."


def answer(calls: Sequence[ToolCallBlock], results: Mapping[str, ToolResultMessage]) -> str:
    """One paragraph a call, each with what its tool found."""
    return "\n\n".join(_paragraph(call, results.get(call["id"])) for call in calls)


def _paragraph(call: ToolCallBlock, result: ToolResultMessage | None) -> str:
    if result is None:
        return f"The call of {call['name']} has no result."
    found = blocks_text(result["content"]).strip("\n")
    if result["isError"]:
        return f"{_doing(call)} did not work:\n{_quoted(found)}"
    if not found.strip():
        return f"{_heading(call)}\n(nothing)"
    return f"{_heading(call)}\n{_quoted(found)}"


def _quoted(text: str) -> str:
    if len(text) <= _MAX_QUOTE:
        return text
    return f"{text[:_MAX_QUOTE]}\n(... {len(text) - _MAX_QUOTE} more characters in the result of the tool)"


def _heading(call: ToolCallBlock) -> str:
    arguments = call["arguments"]
    where = _where(arguments)
    match call["name"]:
        case "ls":
            return f"Files {where}:"
        case "find":
            return f"Files named {arguments.get('pattern')} {where}:"
        case "grep":
            return f"Places that mention {arguments.get('pattern')} {where}:"
        case "read":
            return f"{arguments.get('path')} says:"
        case "bash":
            return f"The command {arguments.get('command')} printed:"
        case _:
            return f"{_doing(call)} is done:"


def _where(arguments: Mapping[str, Any]) -> str:
    path, glob = arguments.get("path", "."), arguments.get("glob")
    place = "here" if path in (".", "", None) else f"in {path}"
    return f"{place} ({glob})" if glob else place


def _doing(call: ToolCallBlock) -> str:
    target = call["arguments"].get("path") or call["arguments"].get("command") or call["arguments"].get("pattern") or ""
    return f"{call['name']} {target}".strip()
