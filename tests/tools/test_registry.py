from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.tools.base import ToolContext, ToolResult, error_result, text_result
from rpc_agent.tools.failure import ToolFailure
from rpc_agent.tools.function_tool import FunctionTool, object_schema
from rpc_agent.tools.registry import ToolRegistry

pytestmark = pytest.mark.anyio


def tool(name: str, outcome: ToolResult | Exception) -> FunctionTool:
    async def function(arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return FunctionTool(
        spec=ToolSpec(name, "", object_schema({"n": {"type": "integer"}})), access="read", function=function
    )


def call(name: str, arguments: Any) -> Any:
    return {"type": "toolCall", "id": "1", "name": name, "arguments": arguments}


CONTEXT = ToolContext(cwd=Path("/"), tool_call_id="1")


async def test_a_call_gets_the_tools_answer():
    registry = ToolRegistry([tool("one", text_result("1")), tool("two", text_result("2"))])
    assert await registry.run(call("two", None), CONTEXT) == text_result("2")


async def test_an_unknown_tool_is_an_error_that_names_those_there_are():
    registry = ToolRegistry([tool("one", text_result("1")), tool("two", text_result("2"))])
    assert await registry.run(call("three", {}), CONTEXT) == error_result("There is no tool 'three'. Tools: one, two.")


async def test_arguments_that_do_not_fit_are_an_error_that_says_what_is_allowed():
    registry = ToolRegistry([tool("one", text_result("1"))])
    assert await registry.run(call("one", {"n": "x"}), CONTEXT) == error_result(
        'The arguments of one do not fit, so nothing was done:\n- n must be a whole number, got "x"\none takes {n?}.'
    )


@pytest.mark.parametrize(
    ("failure", "told"),
    [(ToolFailure("no luck"), "no luck"), (OSError(28, "No space left on device"), "No space left on device")],
)
async def test_a_failure_of_the_work_is_told_as_it_is(failure: Exception, told: str):
    assert await ToolRegistry([tool("one", failure)]).run(call("one", {}), CONTEXT) == error_result(told)


async def test_an_unforeseen_failure_tells_the_log_and_not_the_model(caplog: pytest.LogCaptureFixture):
    result = await ToolRegistry([tool("one", KeyError("our secret insides"))]).run(call("one", {}), CONTEXT)
    assert result == error_result(
        "The tool 'one' failed inside. What it did before is unknown; look before trying again."
    )
    assert "our secret insides" in caplog.text


async def test_cancellation_passes_through():
    async def wait(arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        await anyio.sleep_forever()
        return text_result("")

    registry = ToolRegistry([FunctionTool(spec=ToolSpec("wait", "", {}), access="read", function=wait)])
    with anyio.move_on_after(0.05) as scope:
        await registry.run(call("wait", {}), CONTEXT)
    assert scope.cancelled_caught


def test_the_later_of_two_tools_with_one_name_counts():
    first, second = tool("one", text_result("1")), tool("one", text_result("2"))
    assert ToolRegistry([first, second]).find("one") is second


def test_declarations_come_in_the_order_of_the_tools():
    registry = ToolRegistry([tool(name, text_result("")) for name in ("a", "b", "c")])
    assert [spec.name for spec in registry.specs()] == ["a", "b", "c"]
