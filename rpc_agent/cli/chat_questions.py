"""A permission question in the terminal: what would be done, the answers, and what was chosen. Decides nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from rpc_agent.cli.line_input import LineInput
from rpc_agent.cli.terminal import Terminal

Params = Mapping[str, Any]

CANCELLED: dict[str, Any] = {"cancelled": True}
# So much of a text that is to be written is shown; more would push the question out of sight.
_SHOWN_LINES = 12
_LETTERS = {"allow_once": "y", "allow_always": "a", "reject_once": "n", "reject_always": "d"}


def ask_permission(params: Params, out: Terminal, lines: LineInput) -> dict[str, Any]:
    """The answer to request_permission. Enter rejects once; the end of input and Ctrl-C cancel."""
    options = params.get("options") or []
    out.line(f"The agent asks to use {params.get('toolName')}:", "note")
    for line in describe(params):
        out.line(f"  {line}")
    letters = [_LETTERS.get(option["kind"], str(number)) for number, option in enumerate(options, 1)]
    answers = ", ".join(f"{letter} {option['label'].lower()}" for letter, option in zip(letters, options, strict=True))
    out.line(f"{answers}; Enter rejects", "dim")
    while (typed := lines.ask("Allow it? ")) is not None:
        chosen = choose(typed, options)
        if chosen is not None:
            return {"optionId": chosen}
        out.line(f"Type one of {', '.join(letters)}.", "bad")
    return CANCELLED


def choose(typed: str, options: Sequence[Mapping[str, Any]]) -> str | None:
    """The id of the option that was meant: by its letter, its number or its label; None when none is meant."""
    wanted = typed.strip().lower() or "n"
    for number, option in enumerate(options, 1):
        if wanted in (_LETTERS.get(option["kind"], ""), str(number), option["label"].lower()):
            return str(option["id"])
    return None


def describe(params: Params) -> list[str]:
    """What the tool would do: a command whole, for nobody should allow what they cannot see; a text's beginning."""
    args = params.get("args") or {}
    title = str(params.get("title") or params.get("toolName"))
    if isinstance(args.get("command"), str):
        return str(args["command"]).splitlines() or [title]
    if isinstance(args.get("content"), str):
        return [title, *_beginning(args["content"].splitlines(), "+ ")]
    if isinstance(args.get("edits"), list):
        return [title, *(line for edit in args["edits"] if isinstance(edit, dict) for line in _edit(edit))]
    return [title]


def _edit(edit: Mapping[str, Any]) -> list[str]:
    return [
        *_beginning(str(edit.get("oldText", "")).splitlines(), "- "),
        *_beginning(str(edit.get("newText", "")).splitlines(), "+ "),
    ]


def _beginning(lines: Sequence[str], mark: str) -> list[str]:
    shown = [mark + line for line in lines[:_SHOWN_LINES]]
    left = len(lines) - len(shown)
    return [*shown, f"  ... {left} more"] if left else shown
