"""A tool made of its declaration and a function. Turns what the function could not do into an error result."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from msgspec import Struct

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.tools.base import ToolContext, ToolResult, error_result
from rpc_agent.tools.failure import ToolFailure, failure_text

ToolFunction = Callable[[Mapping[str, Any], ToolContext], Awaitable[ToolResult]]


class FunctionTool(Struct, frozen=True, kw_only=True):
    """A `Tool`; the function may raise ToolFailure or OSError, both become results."""

    spec: ToolSpec
    access: Literal["read", "write", "execute"]
    function: ToolFunction
    sequential: bool = False

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        try:
            return await self.function(arguments, context)
        except ToolFailure as failure:
            return error_result(str(failure), details=failure.details)
        except OSError as error:
            return error_result(failure_text(error))


def object_schema(properties: JsonObject, *, required: tuple[str, ...] = ()) -> JsonObject:
    """The JSON Schema of a tool's arguments; anything not named is refused, so that a slip is noticed."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
