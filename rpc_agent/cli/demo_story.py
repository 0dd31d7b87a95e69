"""How the demo is told: one line a message, a heading a step, a verdict, a summary. Knows nothing of what is asked."""

from collections.abc import Iterable
from typing import Any

from rpc_agent_client import Notification, RpcError

from rpc_agent.cli.arguments import program
from rpc_agent.cli.terminal import Style, Terminal
from rpc_agent.cli.words import counted, tell, tell_request, tell_result

_NAME_WIDTH = 22
_UPDATES = frozenset({"message_update", "compaction_progress", "tool_execution_update"})
"""Many small ones: shown as a line that counts, then as one line with their sum."""


class Story:
    """Everything a person reads. Without `out` (raw traffic is wanted) only faults are told, on `err`."""

    def __init__(self, out: Terminal | None, err: Terminal) -> None:
        self._out, self._err = out, err
        self.faults: list[str] = []
        self._updates: list[Notification] = []
        self._characters = 0

    def opening(self) -> None:
        self._line("rpc-agent demo: a program spawns a server and talks JSON-RPC with it.", "bold")
        self._line("The model is the built-in offline one, which follows rules; the rest is real.")
        sent, received, told = self._arrows()
        self._line(
            f"  {sent} a request we send   {received} its answer   {told} what the server tells meanwhile", "dim"
        )

    def heading(self, number: int, of: int, title: str) -> None:
        self._line()
        self._line(f"{number}/{of}  {title}", "bold")

    def request(self, method: str, params: dict[str, Any]) -> None:
        self._message(self._arrows()[0], method, tell_request(method, params), "note")

    def result(self, method: str, result: object) -> None:
        words = tell_result(method, result if isinstance(result, dict) else {})
        self._message(self._arrows()[1], method, words, "note")

    def error(self, method: str, error: RpcError) -> None:
        self._message(self._arrows()[1], method, f"error {error.code} {error.reason}: {error.message}", "note")

    def notification(self, event: Notification) -> None:
        if event.method in _UPDATES:
            self._update(event)
        else:
            self._message(self._arrows()[2], event.method, tell(event.method, event.params), "dim")

    def check(self, holds: bool, claim: str) -> None:
        """Say that `claim` was looked at, and whether it is so."""
        mark = self._out.glyph("✓", "ok") if self._out else ""
        if holds:
            self._line(f"  {mark} {claim}", "good")
        else:
            self.failed([f"This did not happen: {claim}"])

    def failed(self, lines: Iterable[str]) -> None:
        first, *others = lines
        self.faults.append(first)
        if self._out is None:
            self._err.line(f"rpc-agent demo: {first}", "bad")
        self._line(f"  {first}", "bad")
        for line in others:
            self._line(f"    {line}")

    def log(self, line: str) -> None:
        """What the server writes to stderr: nothing, unless something is wrong."""
        (self._out or self._err).line(f"  server: {line}", "dim")

    def ending(self, steps: int) -> None:
        self._line()
        if self.faults:
            self._line("The demo did not show all it should:", "bad")
            for fault in self.faults:
                self._line(f"  - {fault}")
            self._line("Please report it, with the output of: rpc-agent demo --json")
            return
        self._line(f"All {steps} steps did what they say.", "bold")
        for line in _SUMMARY.splitlines():
            self._line(line)
        typed = program()
        width = max(len(command) for command, _ in _NEXT)
        for command, what in _NEXT:
            line = f"  {typed} {command:{width}}  {what}"
            if len(line) <= _COLUMNS:
                self._line(line)
            else:
                self._line(f"  {typed} {command}")
                self._line(f"      {what}")

    # How lines are made.

    def _update(self, event: Notification) -> None:
        if self._updates and self._updates[0].method != event.method:
            self._sum_up()
        self._updates.append(event)
        self._characters += len(event.text_delta)
        if self._out is not None:
            self._out.progress(f"  {self._arrows()[2]} {event.method:{_NAME_WIDTH}} {self._so_far()} ...")

    def _so_far(self) -> str:
        last = self._updates[-1]
        return f"{self._characters} characters of text" if self._characters else tell(last.method, last.params)

    def _sum_up(self) -> None:
        if not self._updates:
            return
        method, words = self._updates[0].method, f"{self._so_far()}, in {counted(len(self._updates), 'piece')}"
        self._updates, self._characters = [], 0
        self._message(self._arrows()[2], method, words, "dim")

    def _message(self, arrow: str, method: str, words: str, style: Style) -> None:
        self._sum_up()
        if self._out is not None:
            self._out.line(self._out.clipped(f"  {arrow} {method:{_NAME_WIDTH}} {words}".rstrip()), style)

    def _line(self, text: str = "", style: Style = "plain") -> None:
        self._sum_up()
        if self._out is not None:
            self._out.line(text, style)

    def _arrows(self) -> tuple[str, str, str]:
        if self._out is not None and self._out.unicode:
            return "→", "←", "·"
        return ">", "<", "."


_SUMMARY = """\
You saw an agent use a tool, a compaction stopped half-way without a trace, one
carried out, and a step back in the tree that gave the exact earlier context.
Next:"""
_COLUMNS = 80
_NEXT = (
    ("chat", "talk to it in a folder of yours"),
    ('run "What files are here?"', "ask one thing, from a script too"),
    ("doctor", "what to set for a real model"),
    ("demo --json", "the same, as the messages on the wire"),
)
