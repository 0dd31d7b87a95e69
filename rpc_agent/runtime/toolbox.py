"""The tools of one session: permission first, then the registry. A refusal is a result that says how to allow it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from rpc_agent.conversation.blocks import ToolCallBlock
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.providers.assembly import invalid_arguments
from rpc_agent.tools.base import Tool, ToolContext, ToolResult, error_result
from rpc_agent.tools.registry import ToolRegistry

_SHOWN_CHARS = 200
"""Enough for a model to see where its JSON went wrong."""


class Gate(Protocol):
    """Decides whether a call may run; None lets it pass."""

    async def refuse(self, tool: Tool, call: ToolCallBlock, cwd: Path) -> ToolResult | None: ...


class SessionToolbox:
    """`registry` holds just the tools that the model is offered; a call of any other is answered with what there is."""

    def __init__(
        self,
        registry: ToolRegistry,
        gate: Gate,
        *,
        cwd: Path,
        environment: Mapping[str, str],
        is_offered: Callable[[str], bool] = lambda name: True,
    ) -> None:
        """`is_offered` is asked each time: what a tool is good for may come and go with the context."""
        self._is_offered = is_offered
        self._registry = registry
        self._gate = gate
        self._cwd = cwd
        self._environment = environment

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
        tool = self._registry.find(call["name"])
        if tool is not None:
            refusal = await self._gate.refuse(tool, call, self._cwd)
            if refusal is not None:
                return refusal
        context = ToolContext(cwd=self._cwd, tool_call_id=call["id"], update=update, environment=self._environment)
        return await self._registry.run(call, context)
