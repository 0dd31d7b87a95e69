"""May this call run? Asks the pure rules of `permissions`, with paths resolved as the disk has them now."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from rpc_agent.conversation.blocks import ToolCallBlock
from rpc_agent.permissions.decisions import Allow, Ask, Refuse, decide, unanswered
from rpc_agent.permissions.rules import Attempt, Mode, Place, Rule
from rpc_agent.runtime.client_port import ClientPort, PermissionQuestion
from rpc_agent.settings import PermissionRule
from rpc_agent.tools.base import Tool, ToolContext, ToolResult, error_result
from rpc_agent.tools.failure import ToolFailure
from rpc_agent.tools.paths import argument_paths

_NO_HOME = "\0"
"""No path has this character."""


class Permitted(Struct, frozen=True):
    """The call may run. `path` is where its argument `path` led: what was decided about, and so what may be opened."""

    path: Path | None


class PermissionGate:
    """`mode` is asked at each call: a client may change it at work. Answers "for this session" are kept."""

    def __init__(
        self,
        mode: Callable[[], Mode],
        rules: Sequence[PermissionRule],
        *,
        client: ClientPort,
        session_id: str,
        config_dir: Path,
        environment: Mapping[str, str],
    ) -> None:
        """`environment` is that of the tools: it says whose home `~` is."""
        self._mode = mode
        self._rules = [Rule(rule.tool, rule.match, rule.action) for rule in rules]
        self._client = client
        self._session_id = session_id
        self._environment = environment
        self._config_dir = os.path.realpath(config_dir)
        self._remembered: dict[tuple[str, str], bool] = {}
        """(tool, what it acts on) -> allowed; one answer counts for that very file or command."""

    async def check(self, tool: Tool, call: ToolCallBlock, cwd: Path) -> Permitted | ToolResult:
        """Lets the call pass, or gives the result that it gets instead, which says how to allow it."""
        try:
            return await self._check(tool, call, cwd)
        except ToolFailure as failure:
            return error_result(f"{tool.spec.name} was not run. {failure}")

    async def _check(self, tool: Tool, call: ToolCallBlock, cwd: Path) -> Permitted | ToolResult:
        attempt = self._attempt(tool, call, cwd)
        match decide(self._mode(), self._rules, attempt):
            case Allow():
                return _permitted(attempt)
            case Refuse(reason):
                return error_result(reason)
            case Ask():
                refusal = await self._ask(attempt, call)
                if refusal is None and self._attempt(tool, call, cwd) != attempt:
                    # While the person thought, a link was turned: what they allowed is not what would happen.
                    return error_result(f"{attempt.tool} was not run: what its path leads to changed meanwhile.")
                return _permitted(attempt) if refusal is None else refusal

    def is_denied(self, tool: str, path: str, cwd: Path) -> bool:
        """Whether a reading tool that comes upon `path` (resolved) keeps it to itself: nobody is asked in a search."""
        attempt = Attempt(tool=tool, access="read", place=self._place(cwd), paths=(path,))
        return not isinstance(decide(self._mode(), self._rules, attempt), Allow)

    async def _ask(self, attempt: Attempt, call: ToolCallBlock) -> ToolResult | None:
        key = (attempt.tool, attempt.command if attempt.command is not None else "\n".join(attempt.paths))
        allowed = self._remembered.get(key)
        if allowed is None:
            answer = await self._client.request_permission(
                PermissionQuestion(
                    session_id=self._session_id,
                    tool_call_id=call["id"],
                    tool_name=attempt.tool,
                    args=call["arguments"],
                    title=_title(attempt),
                )
            )
            if answer == "dismissed":
                # Nobody said no, so there is nothing to allow: the same question may be asked again.
                return error_result(f"{attempt.tool} was not run: the user closed the question without an answer.")
            if answer in ("unanswered", "unavailable"):
                return error_result(unanswered(attempt, was_asked=answer == "unanswered").reason)
            allowed = answer.startswith("allow")
            if answer.endswith("always"):
                self._remembered[key] = allowed
        return None if allowed else error_result(f"{attempt.tool} was not run: the user refused it.")

    def _attempt(self, tool: Tool, call: ToolCallBlock, cwd: Path) -> Attempt:
        """Raises ToolFailure for a path that none can be."""
        context = ToolContext(cwd=cwd, tool_call_id=call["id"], environment=self._environment)
        return Attempt(
            tool=tool.spec.name,
            access=tool.access,
            place=self._place(cwd),
            paths=_paths(tool, call, context),
            command=_text(call, "command"),
        )

    def _place(self, cwd: Path) -> Place:
        return Place(os.path.realpath(cwd), self._config_dir, _home())


def _home() -> str:
    """What `~` means in a rule."""
    try:
        return os.path.realpath(Path.home())
    except RuntimeError:
        # A user of a container that has none: such a rule is then about nothing.
        return _NO_HOME


def _permitted(attempt: Attempt) -> Permitted:
    return Permitted(Path(attempt.paths[0]) if attempt.paths else None)


def _title(attempt: Attempt) -> str:
    """One line for people."""
    what = attempt.command if attempt.command is not None else ", ".join(attempt.paths)
    return f"{attempt.tool}: {' '.join(what.split())}" if what else attempt.tool


def _paths(tool: Tool, call: ToolCallBlock, context: ToolContext) -> tuple[str, ...]:
    """Read as the tools read them: what is checked must be what is opened."""
    path = _text(call, "path")
    if path is None and tool.access == "read" and "path" in tool.spec.parameters.get("properties", {}):
        # A search without a place is one of the working directory.
        path = "."
    return () if path is None else tuple(map(str, argument_paths({"path": path}, context)))


def _text(call: ToolCallBlock, name: str) -> str | None:
    value = call["arguments"].get(name)
    return value if isinstance(value, str) else None
