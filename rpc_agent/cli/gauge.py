"""How full the context is, as a small bar with numbers. Pure."""

from rpc_agent_client.types import ContextUsage

from rpc_agent.cli.words import tokens

_CELLS = 10


def gauge(usage: ContextUsage | None, *, full: str = "#", empty: str = "-") -> str:
    """One line below 60 columns; "" where the model's window is not known. `full` and `empty` are one column each."""
    if usage is None or not usage["contextWindow"]:
        return ""
    window, percent = tokens(usage["contextWindow"]), usage["percent"]
    if percent is None:
        return f"context [{'?' * _CELLS}] not counted yet, window {window}"
    filled = min(_CELLS, max(round(percent / 100 * _CELLS), int(percent > 0)))
    bar = full * filled + empty * (_CELLS - filled)
    return f"context [{bar}] {percent:.0f}%, {tokens(usage['tokens'])} of {window} tokens"
