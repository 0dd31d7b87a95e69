"""How a conversation looks: text as it streams, thinking dimmed, a tool call on one line, compaction in words."""

from rpc_agent_client import Notification
from rpc_agent_client.types import ContextUsage

from rpc_agent.cli.terminal import Terminal
from rpc_agent.cli.words import shrunk, tell, tool_call, tool_outcome


class ChatView:
    """Shows notifications, and remembers of them how full the context is."""

    def __init__(self, out: Terminal) -> None:
        self._out = out
        self.usage: ContextUsage | None = None

    def gauge(self) -> str:
        """What stands before the cursor when it is the person's turn."""
        percent = self.usage["percent"] if self.usage else None
        return f"[{percent:.0f}% of context] > " if percent is not None else "> "

    def show(self, event: Notification) -> None:
        params = event.params
        match event.method:
            case "message_update":
                self._out.write(event.thinking_delta, "dim")
                self._out.write(event.text_delta)
                if params.get("assistantMessageEvent", {}).get("type") in ("thinking_end", "text_end"):
                    self._out.fresh_line()
            case "message_end":
                self._out.fresh_line()
            case "tool_execution_start":
                self._out.progress(f"  {tool_call(params)} ...")
            case "tool_execution_end":
                self._out.line(
                    self._out.clipped(f"  {tool_outcome(params)}"), "bad" if params.get("isError") else "dim"
                )
            case "context_usage_changed":
                self.usage = {
                    "tokens": params["tokens"],
                    "contextWindow": params["contextWindow"],
                    "percent": params["percent"],
                }
            case _:
                self._show_rare(event)

    def _show_rare(self, event: Notification) -> None:
        params = event.params
        match event.method:
            case "agent_settled" if params.get("aborted"):
                self._out.line("Stopped. What was written so far is kept.", "dim")
            case "compaction_start":
                why = {"threshold": "the context is nearly full", "overflow": "the context was too large"}
                because = why.get(str(params.get("reason")))
                self._out.line(
                    "Compacting" + (f", because {because}" if because else "") + " (Ctrl-C stops it) ...", "note"
                )
            case "compaction_progress":
                self._out.progress(f"  {tell(event.method, params)}")
            case "compaction_end" if params.get("status") == "completed":
                result = params.get("result") or {}
                self._out.line(f"Done: {shrunk(result)}. /tree leads back to before it.", "note")
            case "compaction_end":
                self._out.line(f"Compaction {tell(event.method, params)}.", "note")
            case "auto_retry_start":
                self._out.line(f"{params.get('errorMessage')}; trying again.", "note")
            case "context_warning":
                self._out.line(f"A warning about {tell(event.method, params)}.", "note")
