"""May this call run? Asks the pure rules of `permissions`, with paths resolved as the disk has them now."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from rpc_agent.conversation.blocks import ToolCallBlock
from rpc_agent.permissions.decisions import Allow, Refuse, decide, unanswered
from rpc_agent.permissions.rules import Attempt, Mode, Place, Rule
from rpc_agent.settings import PermissionRule
from rpc_agent.tools.base import Tool, ToolResult, error_result


class PermissionGate:
    """`mode` is asked at each call: a client may change it while a run is at work."""

    def __init__(self, mode: Callable[[], Mode], rules: Sequence[PermissionRule], *, config_dir: Path) -> None:
        self._mode = mode
        self._rules = [Rule(rule.tool, rule.match, rule.action) for rule in rules]
        self._config_dir = os.path.realpath(config_dir)

    async def refuse(self, tool: Tool, call: ToolCallBlock, cwd: Path) -> ToolResult | None:
        """None lets the call pass; else the result it gets instead, which says how to allow it."""
        attempt = self._attempt(tool, call, cwd)
        decision = decide(self._mode(), self._rules, attempt)
        match decision:
            case Allow():
                return None
            case Refuse(reason):
                return error_result(reason)
            case _:
                # No client can be asked yet, so the safe answer stands.
                return error_result(unanswered(attempt).reason)

    def _attempt(self, tool: Tool, call: ToolCallBlock, cwd: Path) -> Attempt:
        return Attempt(
            tool=tool.spec.name,
            access=tool.access,
            place=Place(os.path.realpath(cwd), self._config_dir, os.path.realpath(Path.home())),
            paths=_paths(call, cwd),
            command=_text(call, "command"),
        )


def _paths(call: ToolCallBlock, cwd: Path) -> tuple[str, ...]:
    path = _text(call, "path")
    return () if path is None else (os.path.realpath(os.path.join(cwd, os.path.expanduser(path))),)


def _text(call: ToolCallBlock, name: str) -> str | None:
    value = call["arguments"].get(name)
    return value if isinstance(value, str) else None
