"""The tools of one session, ours and the client's: hooks first, then permission, then the call, then hooks again.

A refusal is a result that says how to allow it.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from rpc_agent.conversation.blocks import ToolCallBlock
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.extensions.hooks import Block
from rpc_agent.providers.assembly import invalid_arguments
from rpc_agent.runtime.gate import Permitted
from rpc_agent.tools.arguments import fit_arguments
from rpc_agent.tools.base import Editor, NoEditor, Tool, ToolContext, ToolResult, error_result
from rpc_agent.tools.registry import ToolRegistry

_SHOWN_CHARS = 200
"""Enough for a model to see where its JSON went wrong."""


class Gate(Protocol):
    """Decides whether a call may run, or gives the result that it gets instead."""

    async def check(self, tool: Tool, call: ToolCallBlock, cwd: Path) -> Permitted | ToolResult: ...


class Hooks(Protocol):
    """Extensions and the client, before and after a call."""

    async def tool_call(self, call: ToolCallBlock) -> ToolCallBlock | Block: ...

    async def tool_result(self, call: ToolCallBlock, result: ToolResult) -> ToolResult: ...


class SessionToolbox:
    """`registry` holds just the tools that the model is offered; a call of any other is answered with what there is."""

    def __init__(
        self,
        registry: ToolRegistry,
        gate: Gate,
        *,
        cwd: Path,
        environment: Mapping[str, str],
        hooks: Hooks,
        lent: Callable[[], Sequence[Tool]] = tuple,
        editor: Editor | None = None,
        is_offered: Callable[[str], bool] = lambda name: True,
    ) -> None:
        """`is_offered` is asked each time: what a tool is good for may come and go with the context.

        `lent` too: a client may say anew what it has. Its tools stand in place of ours of the same name.
        """
        self._is_offered = is_offered
        self._own = registry
        self._lent = lent
        self._hooks = hooks
        self._editor = editor or NoEditor()
        self._gate = gate
        self._cwd = cwd
        self._environment = environment

    @property
    def _registry(self) -> ToolRegistry:
        lent = self._lent()
        return ToolRegistry([*self._own, *lent]) if lent else self._own

    @property
    def specs(self) -> Sequence[ToolSpec]:
        return tuple(spec for spec in self._registry.specs() if self._is_offered(spec.name))

    def is_sequential(self, name: str) -> bool:
        tool = self._registry.find(name)
        return tool is not None and tool.sequential

    async def run(self, call: ToolCallBlock, update: Callable[[ToolResult], None]) -> ToolResult:
        broken = invalid_arguments(call)
        if broken is not None:
            return error_result(f"Not run: the arguments of {call['name']} are no JSON object: {broken[:_SHOWN_CHARS]}")
        registry = self._registry
        tool = registry.find(call["name"])
        if tool is None:
            return await registry.run(call, self._context(call, update))
        if not self._is_offered(call["name"]):
            offered = ", ".join(spec.name for spec in self.specs)
            return error_result(f"There is no tool {call['name']!r} now. Tools: {offered}.")
        checked = await self._hooks.tool_call(call)
        if isinstance(checked, Block):
            return error_result(checked.reason)
        # Behind the hooks, and as the tool will be given them: what is permitted must be what is done. A path that is
        # a number becomes a text for the tool, and would be none for the gate.
        checked = {**checked, "arguments": fit_arguments(tool.spec.parameters, checked["arguments"]).value}
        decided = await self._gate.check(tool, checked, self._cwd)
        if isinstance(decided, ToolResult):
            return decided
        result = await registry.run(checked, self._context(checked, update, decided.path))
        return await self._hooks.tool_result(checked, result)

    def _context(
        self, call: ToolCallBlock, update: Callable[[ToolResult], None], permitted: Path | None = None
    ) -> ToolContext:
        return ToolContext(
            cwd=self._cwd,
            tool_call_id=call["id"],
            update=update,
            environment=self._environment,
            editor=self._editor,
            permitted_path=permitted,
        )
