"""The server's questions in the terminal: permissions, and what extensions want to know. Shows and asks only."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rpc_agent.cli.line_input import LineInput
from rpc_agent.cli.terminal import Terminal

Params = Mapping[str, Any]
Answer = dict[str, Any]

# So much of a text that is to be written is shown; more would push the question out of sight.
_SHOWN_LINES = 12
_LETTERS = {"allow_once": "y", "allow_always": "a", "reject_once": "n", "reject_always": "d"}


def answer(method: str, params: Params, out: Terminal, lines: LineInput) -> Answer | None:
    """The result of a request of the server's; None when the person ended the question instead (see `UNANSWERED`)."""
    return _ASK[method](params, out, lines)


def _permission(params: Params, out: Terminal, lines: LineInput) -> Answer | None:
    """Enter rejects once."""
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
    return None


def _select(params: Params, out: Terminal, lines: LineInput) -> Answer | None:
    """Enter chooses nothing."""
    options = params.get("options") or []
    out.line(str(params.get("title")), "note")
    for number, option in enumerate(options, 1):
        out.line(f"{number:4} {option['label']}")
    while (typed := lines.ask("Which? ")) is not None:
        if not typed.strip():
            return {"cancelled": True}
        chosen = next((o for n, o in enumerate(options, 1) if typed.strip() in (str(n), o["label"])), None)
        if chosen is not None:
            return {"optionId": chosen["id"]}
        out.line(f"Type a number from 1 to {len(options)}; Enter chooses nothing.", "bad")
    return None


def _confirm(params: Params, out: Terminal, lines: LineInput) -> Answer | None:
    """Everything but yes is no."""
    out.line(str(params.get("title")), "note")
    if params.get("message"):
        out.line(str(params["message"]))
    typed = lines.ask("y or n? ")
    return None if typed is None else {"confirmed": typed.strip().lower() in ("y", "yes")}


def _input(params: Params, out: Terminal, lines: LineInput) -> Answer | None:
    hint = f" ({params['placeholder']})" if params.get("placeholder") else ""
    out.line(f"{params.get('title')}{hint}", "note")
    typed = lines.ask("> ", preset=str(params.get("value") or ""))
    return None if typed is None else {"text": typed}


def _notify(params: Params, out: Terminal, _: LineInput) -> Answer | None:
    out.line(str(params.get("message")), "bad" if params.get("level") == "error" else "note")
    return {}


_ASK: dict[str, Callable[[Params, Terminal, LineInput], Answer | None]] = {
    "request_permission": _permission,
    "ui_select": _select,
    "ui_confirm": _confirm,
    "ui_input": _input,
    "ui_notify": _notify,
}
UNANSWERED: dict[str, Answer] = {
    "request_permission": {"cancelled": True},
    "ui_select": {"cancelled": True},
    "ui_confirm": {"confirmed": False},
    "ui_input": {"cancelled": True},
    "ui_notify": {},
}
"""By method, what a question comes to that the person ended with Ctrl-C or the end of input."""


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
