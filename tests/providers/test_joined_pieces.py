"""A body whose parts are kept from request to request is the body that is made anew, and is sent as it is."""

import itertools
import json
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpc_agent.conversation.messages import ModelMessage
from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.connections import Connections
from rpc_agent.providers.openai_completions.client import OpenAICompletions
from rpc_agent.providers.pieces import Conversations, JoinedPieces, Pieces
from tests.support.chat_server import ChatServer, text_reply
from tests.support.model_conversations import IMAGE, answer, call, result, text, user
from tests.support.provider_apis import COMPLETIONS

LARGE = "x" * 150_000
"""More than a part that a long conversation is first written in."""


def client(**compat: Any) -> OpenAICompletions:
    model = COMPLETIONS.model("http://127.0.0.1:9/v1", input=("text", "image"), compat=compat)
    return OpenAICompletions(model, key=lambda: "", connections=Connections())


def body(client: OpenAICompletions, messages: list[Any]) -> bytes:
    made = client.begin(ModelRequest(model=client._model, messages=messages, routing_id="one")).body
    return made if isinstance(made, bytes) else b"".join(made)


MESSAGES = st.one_of(
    st.sampled_from(["hi", LARGE]).map(lambda words: user(text(words))),
    st.sampled_from(["yes", LARGE]).map(lambda words: answer(text(words))),
    st.just(answer(call("c1"), call("c2"))),
    st.sampled_from([text("found"), IMAGE]).map(lambda block: result("c1", block)),
    # Nothing of it can be sent.
    st.just(answer()),
)
CHANGES = st.lists(
    st.tuples(st.integers(0, 6), st.lists(MESSAGES, max_size=6)),
    min_size=1,
    max_size=6,
)
"""How many messages at the end go, and what comes in their place."""


@settings(max_examples=60, deadline=None)
@given(CHANGES, st.booleans())
def test_it_is_the_same_however_the_conversation_changed_since(changes: list[Any], between: bool) -> None:
    compat = {"requiresAssistantAfterToolResult": between}
    kept = client(**compat)
    messages: list[Any] = []
    for gone, added in changes:
        messages = messages[: max(len(messages) - gone, 0)] + [dict(message) for message in added]
        fresh = client(**compat)
        assert body(kept, messages) == body(fresh, messages)
        json.loads(body(fresh, messages))


@settings(max_examples=30, deadline=None)
@given(st.lists(MESSAGES, max_size=6))
def test_a_request_that_stands_alone_has_the_same_body_without_a_copy_of_what_is_long(messages: list[Any]) -> None:
    alone = ModelRequest(model=client()._model, messages=messages, cache=False)
    parts = client().begin(alone).body
    assert not isinstance(parts, bytes)
    assert b"".join(parts) == body(client(), messages)
    assert all(part.count(b"x" * 150_000) <= 1 for part in parts)


def test_nothing_is_kept_of_a_request_that_stands_alone() -> None:
    kept: Conversations[list[str]] = Conversations(list)
    model = client()._model
    one, alone = (ModelRequest(model=model, messages=[], routing_id="one", cache=cache) for cache in (True, False))
    assert kept.of(one) is kept.of(one)
    assert kept.of(alone) is not kept.of(one) and kept.of(alone) is not kept.of(alone)


@pytest.mark.anyio
async def test_addresses_without_tls_share_a_client_and_all_others_another() -> None:
    connections = Connections()
    with anyio.fail_after(20):
        plain, again, secure = [await connections.http(f"{scheme}://x/v1") for scheme in ("http", "HTTP", "https")]
        await connections.aclose()
    assert plain is again and plain is not secure


def test_a_request_writes_only_what_is_new_and_copies_nothing_of_the_rest() -> None:
    written: list[bytes] = []

    def write(piece: bytes, state: None) -> tuple[list[bytes], None]:
        written.append(piece)
        return [piece], None

    pieces: Pieces[bytes] = Pieces()
    joined: JoinedPieces[bytes, None] = JoinedPieces(write, None)
    messages: list[ModelMessage] = [user(text(LARGE)) for _ in range(8)]  # type: ignore[misc]

    def encode(message: ModelMessage) -> bytes:
        return str(message["content"]).encode()

    def ask() -> list[bytes]:
        return joined.of(pieces.of(messages, encode), pieces.unchanged)[0]

    ask()
    for _ in range(2):
        messages = [*messages, user(text("new"))]  # type: ignore[list-item]
        before = ask()
    written.clear()
    messages = [*messages, user(text("new"))]  # type: ignore[list-item]
    again = ask()
    assert [len(piece) < 200 for piece in written] == [True]
    assert before[0] is again[0]
    assert sum(map(len, again[1:])) < len(LARGE)


def test_of_a_last_message_that_changes_each_time_only_its_neighbourhood_is_written_anew() -> None:
    written: list[bytes] = []

    def write(piece: bytes, state: None) -> tuple[list[bytes], None]:
        written.append(piece)
        return [piece], None

    joined: JoinedPieces[bytes, None] = JoinedPieces(write, None)
    pieces = [b"x" * 1000 for _ in range(2000)]
    joined.of(pieces, 0)
    for turn in range(200):
        written.clear()
        # Another one in the last place, and two before it that stay.
        pieces[-1:] = [b"%d" % turn, b"y" * 1000, b"changing"]
        parts, _ = joined.of(pieces, len(pieces) - 3)
        assert b"".join(parts) == b",".join(pieces)
        assert sum(map(len, written)) <= 128 * 1024


def test_a_long_conversation_is_sent_in_few_parts_however_it_grew() -> None:
    joined: JoinedPieces[bytes, None] = JoinedPieces(lambda piece, state: ([piece], state), None)
    pieces = [LARGE.encode()] * 200
    for count in range(1, len(pieces) + 1):
        parts, _ = joined.of(pieces[:count], count - 1)
        assert b"".join(parts) == b",".join(pieces[:count])
    assert len(parts) <= 4
    assert all(len(one) >= 8 * len(next) for one, next in itertools.pairwise(parts[:-1]))


@pytest.mark.anyio
async def test_a_body_in_parts_arrives_whole_and_with_its_length_even_when_it_is_sent_twice() -> None:
    async with ChatServer([text_reply("one"), text_reply("two", repeat=True)]) as server:
        model = COMPLETIONS.model(server.base_url)
        connections = Connections()
        asking = OpenAICompletions(model, key=lambda: "", connections=connections)
        messages: list[Any] = [user(text(LARGE)) for _ in range(7)]
        try:
            with anyio.fail_after(20):
                for _ in range(2):
                    async for _ in asking.stream(ModelRequest(model=model, messages=messages)):
                        pass
                    messages.append(user(text("more")))
        finally:
            await connections.aclose()
    assert server.faults == []
    assert [len(request["messages"]) for request in server.requests] == [7, 8]
    assert [int(headers["content-length"]) for headers in server.headers] == [len(raw) for raw in server.raw_requests]
    assert not any("transfer-encoding" in headers for headers in server.headers)
