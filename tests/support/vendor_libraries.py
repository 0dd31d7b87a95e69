"""What tests with the vendors' own libraries as peers have in common."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from rpc_agent.conversation.messages import AssistantMessage, user_message
from rpc_agent.conversation.tool_spec import ToolSpec
from tests.support.chat_server import ChatServer, ServerReply
from tests.support.provider_apis import Api, Said

SAID: Mapping[str, Said] = {
    "text": Said(text="Hello 你好 🌍."),
    "thinking and a call": Said(
        thinking="Let me see.", calls=[("call_1", "ls", {"path": "a b", "deep": {"x": [1, None]}})]
    ),
    "text and two calls": Said(text="I look.", calls=[("call_1", "ls", {}), ("call_2", "read", {"path": "ü"})]),
}
TOOL = ToolSpec("ls", "Lists files.", {"type": "object", "properties": {"path": {"type": "string"}}})
_IMAGE: Any = {"type": "image", "data": "QUJD", "mimeType": "image/png"}
_SYSTEM: Any = {"role": "system", "content": "Be brief.", "sections": {"cwd": "/x"}, "timestamp": 1}
QUESTION: Any = user_message([{"type": "text", "text": "look"}, _IMAGE], timestamp=1)


def conversation(answer: AssistantMessage) -> list[Any]:
    """Messages of every kind: an answer to QUESTION and the results of its calls, the second of them failed."""
    calls = [block for block in answer["content"] if block["type"] == "toolCall"]
    results = [
        {
            "role": "toolResult",
            "toolCallId": call["id"],
            "toolName": call["name"],
            "content": [{"type": "text", "text": "a.txt"}, *([_IMAGE] if at == 0 else [])],
            "isError": at == 1,
            "timestamp": 3,
        }
        for at, call in enumerate(calls)
    ]
    return [_SYSTEM, QUESTION, answer, *results]


async def read_by_both(
    api: Api,
    body: bytes,
    anew: bytes,
    ask_the_library: Callable[[ChatServer, dict[str, Any]], Awaitable[Any]],
    tool: ToolSpec = TOOL,
) -> tuple[AssistantMessage, AssistantMessage, Any]:
    """Our answer to a stream, that to the stream as the library writes it, and the library's to the same request."""
    async with api.server(*(ServerReply(body=each) for each in (body, anew, body))) as server:
        question = [user_message("hi", timestamp=1)]
        ours, again = [await api.ask(server, question, tools=[tool]) for _ in range(2)]
        theirs = await ask_the_library(server, server.requests[0])
    assert server.faults == []
    assert ours["usage"] == again["usage"]
    return ours, again, theirs


def all_of(value: Any) -> Any:
    """A value that a library's types accepted, read to its end: what they take one at a time is checked only then."""
    if isinstance(value, dict):
        return {name: all_of(inner) for name, inner in value.items()}
    return value if isinstance(value, str) or not isinstance(value, Iterable) else [all_of(inner) for inner in value]
