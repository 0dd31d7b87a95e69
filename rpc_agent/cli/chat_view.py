"""How a conversation looks: text as it streams, thinking dimmed, a tool call on one line, everything rare in words."""

from typing import Any

from rpc_agent_client import Notification
from rpc_agent_client.types import ContextUsage

from rpc_agent.cli.gauge import gauge
from rpc_agent.cli.terminal import Style, Terminal
from rpc_agent.cli.words import became_summary, content_text, outcome_of, tell, tool_call

Params = dict[str, Any]


class ChatView:
    """Shows notifications, and remembers of them how full the context is and which tools run."""

    def __init__(self, out: Terminal) -> None:
        self._out = out
        self._calls: dict[str, str] = {}
        self._thinks = False
        self.usage: ContextUsage | None = None

    def gauge(self) -> str:
        """How full the context is, on one line; "" when that is not known."""
        return gauge(self.usage, full=self._out.glyph("█", "#"), empty=self._out.glyph("░", "-"))

    def show(self, event: Notification) -> None:
        params = event.params
        match event.method:
            case "message_update":
                self._show_piece(event)
            case "message_end":
                self._thinks = False
                self._out.fresh_line()
            case "tool_execution_start":
                self._calls[str(params.get("toolCallId"))] = tool_call(params)
                self._out.progress(f"  {tool_call(params)} ...")
            case "tool_execution_update":
                self._show_tool_at_work(params)
            case "tool_execution_end":
                self._show_tool_done(params)
            case "context_usage_changed":
                self.usage = {
                    "tokens": params["tokens"],
                    "contextWindow": params["contextWindow"],
                    "percent": params["percent"],
                }
            case _:
                self._show_rare(event.method, params)

    # The answer.

    def _show_piece(self, event: Notification) -> None:
        if event.thinking_delta:
            self._begin_thinking()
            self._out.write(event.thinking_delta, "dim")
        self._out.write(event.text_delta)
        if event.params.get("assistantMessageEvent", {}).get("type") in ("thinking_end", "text_end"):
            self._thinks = False
            self._out.fresh_line()

    def _begin_thinking(self) -> None:
        # Where nothing can be dimmed a word tells thinking from the answer.
        if not self._thinks and not self._out.has_colour:
            self._out.fresh_line()
            self._out.write("(thinking) ")
        self._thinks = True

    # Tools.

    def _show_tool_at_work(self, params: Params) -> None:
        lines = content_text((params.get("partialResult") or {}).get("content")).splitlines()
        last = next((line for line in reversed(lines) if line.strip()), "")
        self._out.progress(f"  {tool_call(params)} ... {last.strip()}")

    def _show_tool_done(self, params: Params) -> None:
        call = self._calls.pop(str(params.get("toolCallId")), f"{params.get('toolName')}()")
        outcome = outcome_of(params)
        # Of a line that is too long the call is cut, for how it ended is what matters.
        room = max(20, self._out.width - len(outcome) - 3)
        style: Style = "bad" if params.get("isError") else "dim"
        self._out.line(self._out.clipped(f"  {self._out.clipped(call, room)} {outcome}"), style)
        if self._calls:
            self._out.progress(f"  {next(reversed(self._calls.values()))} ...")

    # What happens now and then.

    def _show_rare(self, method: str, params: Params) -> None:
        match method:
            case "agent_settled" if params.get("aborted"):
                self._out.line("Stopped. What was written so far is kept.", "dim")
            case "compaction_start" | "compaction_progress" | "compaction_end":
                self._show_compaction(method, params)
            case "auto_retry_start" | "summarization_retry_scheduled":
                self._out.line(_retry(method, params), "note")
            case "auto_retry_end" | "summarization_retry_finished" if not params.get("success"):
                self._out.line(f"Gave up after {int(params.get('attempt') or 0) + 1} tries.", "note")
            case "branch_summary_start":
                self._out.line("Summarizing the branch that is left (Ctrl-C stops it) ...", "note")
            case "branch_summary_end":
                self._out.line(f"The summary of the branch: {tell(method, params)}.", "note")
            case "context_warning":
                self._out.line(f"Note: {params.get('message') or tell(method, params)}", "note")
            case "extension_error":
                self._out.line(f"An extension failed and was passed over: {tell(method, params)}", "note")
            case "session_info_changed":
                self._out.line(f"Now {tell(method, params)}.", "dim")

    def _show_compaction(self, method: str, params: Params) -> None:
        match method:
            case "compaction_start":
                because = _REASONS.get(str(params.get("reason")), "")
                self._out.line(f"compacting...{because} (Ctrl-C stops it)", "note")
            case "compaction_progress":
                self._out.progress(f"  {tell(method, params)}")
            case "compaction_end" if params.get("status") == "completed":
                self._out.line(f"{became_summary(params.get('result') or {})}. /undo takes it back.", "note")
            case "compaction_end":
                self._out.line(f"Compaction {tell(method, params)}.", "note")
        if method == "compaction_end" and params.get("willRetry"):
            self._out.line("trying again", "note")


_REASONS = {"threshold": " the context is nearly full", "overflow": " the context was too large for the model"}


def _retry(method: str, params: Params) -> str:
    what = "The summary failed" if method.startswith("summarization") else "The model's service failed"
    seconds = f"{(params.get('delayMs') or 0) / 1000:.1f}".removesuffix(".0")
    number = f"{params.get('attempt')} of {params.get('maxAttempts')}"
    return f"{what}: {params.get('errorMessage')}; trying again in {seconds} s ({number})"
