"""The tools of a session by name, and the boundary behind which a failing tool is a value."""

import logging
from collections.abc import Iterable, Iterator

from rpc_agent.conversation.blocks import ToolCallBlock
from rpc_agent.conversation.json_values import as_object
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.tools.arguments import fit_arguments
from rpc_agent.tools.base import Tool, ToolContext, ToolResult, error_result

_log = logging.getLogger(__name__)


class ToolRegistry:
    """A fixed set of tools; of two with one name the later counts, so that a client can replace ours."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {tool.spec.name: tool for tool in tools}

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)

    async def run(self, call: ToolCallBlock, context: ToolContext) -> ToolResult:
        """What the call came to. Never raises, except that cancellation passes through."""
        tool = self.find(call["name"])
        if tool is None:
            return error_result(f"There is no tool {call['name']!r}. Tools: {', '.join(self._tools) or 'none'}.")
        try:
            return await _run(tool, call["arguments"], context)
        except Exception:  # noqa: BLE001 - the boundary: whatever goes wrong in a tool, the run goes on
            # The model and the client get no traceback: it would tell of our insides, and be of no use to them.
            _log.exception("the tool %s failed in a way nobody foresaw", call["name"])
            return error_result(
                f"The tool {call['name']!r} failed inside. What it did before is unknown; look before trying again."
            )


async def _run(tool: Tool, arguments: object, context: ToolContext) -> ToolResult:
    fitted = fit_arguments(tool.spec.parameters, arguments)
    if fitted.problems:
        return error_result(_refusal(tool.spec, fitted.problems))
    return await tool.run(fitted.value, context)


def _refusal(spec: ToolSpec, problems: Iterable[str]) -> str:
    lines = [f"The arguments of {spec.name} do not fit, so nothing was done:", *(f"- {p}" for p in problems)]
    return "\n".join([*lines, _usage(spec)])


def _usage(spec: ToolSpec) -> str:
    required = spec.parameters.get("required")
    required = required if isinstance(required, list) else []
    names = [name if name in required else f"{name}?" for name in as_object(spec.parameters.get("properties"))]
    return f"{spec.name} takes {{{', '.join(names)}}}."
