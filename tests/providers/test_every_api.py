"""One table of conversations through all APIs, and what must hold for each of them."""

from typing import Any

import anyio
import pytest

from rpc_agent.conversation.messages import AssistantMessage, user_message
from rpc_agent.conversation.usage import make_usage
from rpc_agent.providers.assembly import Assembly
from rpc_agent.providers.base import ModelCallFailed, ModelRequest
from rpc_agent.providers.connections import Connections
from rpc_agent.providers.timeouts import Timeouts
from tests.support.chat_server import ServerReply, cut, error_reply
from tests.support.model_conversations import CONVERSATIONS, Conversation
from tests.support.provider_apis import APIS, KEY, Api, Said

pytestmark = pytest.mark.anyio

EVERY_API = pytest.mark.parametrize("api", APIS, ids=[api.name for api in APIS])
SIZES = pytest.mark.parametrize("size", [1, 7, 0], ids=["1-byte", "7-bytes", "whole"])
HI = [user_message("hi", timestamp=1)]
WHOLE = Said(thinking="Hm, 你好.", text="Looking 🌍.", calls=[("c1", "ls", {"path": "."}), ("c2", "ls", {})])


def without_signatures(message: AssistantMessage) -> list[dict[str, Any]]:
    signatures = ("thinkingSignature", "textSignature", "thoughtSignature")
    return [{name: value for name, value in block.items() if name not in signatures} for block in message["content"]]


def blocks_of(said: Said) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [{"type": "thinking", "thinking": said.thinking}] if said.thinking else []
    blocks += [{"type": "text", "text": said.text}] if said.text else []
    return blocks + [
        {"type": "toolCall", "id": call_id, "name": name, "arguments": dict(arguments)}
        for call_id, name, arguments in said.calls
    ]


@EVERY_API
@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda conversation: conversation.name.replace(" ", "-"))
async def test_a_strict_service_accepts_it_and_its_answer_is_assembled(conversation: Conversation, api: Api) -> None:
    async with api.server(api.say(conversation.said)) as server:
        kinds = ("text", "image") if conversation.sees else ("text",)
        messages = conversation.messages_for(api.name)
        message = await api.ask(server, messages, tools=conversation.tools, model={"input": kinds})
    usage = make_usage(input=7, output=5, cache_read=3)
    assert server.faults == []
    assert without_signatures(message) == blocks_of(conversation.said)
    assert message["stopReason"] == ("toolUse" if conversation.said.calls else "stop")
    assert {**message["usage"], "cost": usage["cost"]} == usage


@EVERY_API
@SIZES
async def test_an_answer_is_the_same_however_it_is_cut(size: int, api: Api) -> None:
    async with api.server(cut(api.say(WHOLE), size)) as server:
        message = await api.ask(server, HI)
    assert without_signatures(message) == blocks_of(WHOLE)


@EVERY_API
async def test_an_answer_goes_back_to_its_own_model_and_is_accepted(api: Api) -> None:
    results: list[Any] = [
        {"role": "toolResult", "toolCallId": name, "toolName": "ls", "content": [], "isError": False, "timestamp": 3}
        for name in ("c1", "c2")
    ]
    async with api.server(api.say(WHOLE), api.say(Said(text="done"))) as server:
        first = await api.ask(server, HI)
        history: list[Any] = [*HI, first, *results]
        await api.ask(server, history)
    assert server.faults == []
    assert ("Hm, 你好." in server.raw_requests[1].decode()) is True


@EVERY_API
async def test_thinking_and_signatures_go_to_no_other_model(api: Api) -> None:
    foreign: Any = {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "secret thought", "thinkingSignature": "foreign"},
            {"type": "thinking", "thinking": "", "thinkingSignature": "foreign", "redacted": True},
            {"type": "text", "text": "said", "textSignature": "foreign"},
            {"type": "toolCall", "id": "c1", "name": "ls", "arguments": {}, "thoughtSignature": "foreign"},
        ],
        "api": api.name, "provider": "test", "model": "another", "usage": make_usage(), "stopReason": "toolUse",
        "timestamp": 1,
    }  # fmt: skip
    result: Any = {
        "role": "toolResult", "toolCallId": "c1", "toolName": "ls", "content": [], "isError": False, "timestamp": 1,
    }  # fmt: skip
    async with api.server(api.say(Said(text="x"))) as server:
        await api.ask(server, [*HI, foreign, result])
    sent = server.raw_requests[0].decode()
    assert (server.faults, "secret thought" in sent, "foreign" in sent, "said" in sent) == ([], False, False, True)


@EVERY_API
async def test_the_key_goes_in_its_header_and_nowhere_else(api: Api) -> None:
    async with api.server(api.say(Said(text="x"))) as server:
        await api.ask(server, HI)
    name, value = api.key_header
    (headers,) = server.headers
    assert headers[name] == value
    assert [header for header, content in headers.items() if KEY in content] == [name]
    assert KEY not in server.paths[0] + server.raw_requests[0].decode()


@EVERY_API
async def test_a_header_of_the_users_takes_the_place_of_the_key(api: Api) -> None:
    async with api.server(api.say(Said(text="x"))) as server:
        model = api.model(server.base_url)
        connections = Connections()
        client = api.client(model, key=lambda: KEY, connections=connections, headers={"Authorization": "Bearer own"})
        with anyio.fail_after(20):
            async for _ in client.stream(ModelRequest(model=model, messages=HI)):
                pass
        await connections.aclose()
    (headers,) = server.headers
    assert (headers["authorization"], KEY in str(headers)) == ("Bearer own", False)


async def failure_of(api: Api, *replies: ServerReply, timeouts: Timeouts | None = None) -> ModelCallFailed:
    async with api.server(*replies) as server:
        with pytest.raises(ModelCallFailed) as caught:
            await api.ask(server, HI, timeouts=timeouts)
    return caught.value


@EVERY_API
@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"error": {"message": f"invalid key {KEY}"}}, "auth"),
        (429, {"error": {"message": "rate limit"}}, "rate"),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded"),
        (400, {"error": {"message": "prompt is too long: 300 tokens > 200 maximum"}}, "overflow"),
        (400, [{"error": {"code": 400, "message": "The input token count (300) exceeds the maximum number of tokens allowed (200).", "status": "INVALID_ARGUMENT"}}], "overflow"),
    ],
)  # fmt: skip
async def test_a_refusal_is_understood_and_quotes_no_key(status: int, body: object, kind: str, api: Api) -> None:
    failure = await failure_of(api, error_reply(status, body, {"Retry-After": "7"}))
    assert (failure.kind, failure.status, failure.retry_after) == (kind, status, 7.0)
    assert KEY not in failure.message


@EVERY_API
async def test_an_error_with_status_200_is_a_failure(api: Api) -> None:
    failure = await failure_of(api, error_reply(200, {"error": {"message": "Overloaded", "code": 503}}))
    assert (failure.kind, "Overloaded" in failure.message) == ("overloaded", True)


@EVERY_API
@SIZES
async def test_a_stream_that_ends_anywhere_before_its_end_is_a_failure_that_may_be_retried(size: int, api: Api) -> None:
    whole = api.say(WHOLE).body
    events = [event + b"\n\n" for event in whole.replace(b"\r\n", b"\n").split(b"\n\n") if event]
    for kept in range(len(events) - 3):
        half = ServerReply(body=b"".join(events[:kept]), cut=size)
        assert (await failure_of(api, half)).kind == "transport"


@EVERY_API
@SIZES
async def test_what_came_before_a_failure_is_shown_however_it_was_cut(size: int, api: Api) -> None:
    """Of the 60 events of a long answer all but the last ten, then something broken."""
    events = api.say(Said(text="abc" * 60)).body.replace(b"\r\n", b"\n").split(b"\n\n")
    broken = b"\n\n".join([*events[:50], b'data: {"error":{"message":"Overloaded"}}', b""])
    assembly = Assembly()
    async with api.server(ServerReply(body=broken, cut=size)) as server:
        with pytest.raises(ModelCallFailed, match="Overloaded"):
            await api.ask(server, HI, assembly=assembly)
    (shown,) = assembly.message(api.model(""), 1, "error")["content"]
    assert shown["type"] == "text"
    assert shown["text"] == "abc" * (len(shown["text"]) // 3)
    assert len(shown["text"]) >= 47 * 3


@EVERY_API
async def test_a_page_of_a_proxy_is_no_answer(api: Api) -> None:
    failure = await failure_of(api, ServerReply(body=b"<html>Welcome</html>", headers={"content-type": "text/html"}))
    assert failure.kind == "transport"


@EVERY_API
async def test_a_stalled_stream_is_a_failure_that_may_be_retried(api: Api) -> None:
    half = ServerReply(body=api.say(WHOLE).body[:60], stall=True)
    failure = await failure_of(api, half, timeouts=Timeouts(idle=0.1))
    assert (failure.kind, failure.message) == ("transport", "the stream stalled: no byte for 0.1 s")


@EVERY_API
async def test_closing_the_stream_ends_the_connection_at_once(api: Api) -> None:
    body = api.say(Said(text="a long answer")).body
    async with api.server(ServerReply(body=body[: len(body) // 2], stall=True)) as server:
        connections = Connections()
        model = api.model(server.base_url)
        client = api.client(model, key=lambda: KEY, connections=connections)
        with anyio.fail_after(20):
            with anyio.CancelScope() as scope:
                async for _ in client.stream(ModelRequest(model=model, messages=HI)):
                    scope.cancel()
            assert scope.cancelled_caught
            await server.client_closed.wait()
        await connections.aclose()


@EVERY_API
async def test_the_limit_of_the_answer_is_the_smaller_of_the_room_and_the_models_own(api: Api) -> None:
    async with api.server(*[api.say(Said(text="x"))] * 2) as server:
        await api.ask(server, HI, max_tokens=300, model={"max_tokens": 4000})
        await api.ask(server, HI, max_tokens=4000, model={"max_tokens": 4000})
    limits = [request.get("generationConfig", request) for request in server.requests]
    names = ("max_tokens", "max_output_tokens", "maxOutputTokens")
    sent = [next(limit[name] for name in names if name in limit) for limit in limits]
    assert sent == [300, 4000]
