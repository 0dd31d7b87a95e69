"""A request of a conversation that grew, was cut or went another way is the one that a fresh client would send."""

from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpc_agent.conversation.models import Model
from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.connections import Connections
from rpc_agent.providers.streaming import StreamingModel
from tests.support.model_conversations import IMAGE, answer, call, result, system, text, user
from tests.support.provider_apis import APIS, Api

BIG = "word " * 20_000
"""Three of them are more than what is joined for good in one part."""


def stretches() -> list[list[dict[str, Any]]]:
    """Pieces of conversation that may follow each other in any order."""
    return [
        [system("Be brief.")],
        [user(text("one"))],
        [user(text(BIG))],
        [answer(text("a"))],
        [answer()],
        [answer(call("c1"), call("c2", says='"id":"c1"')), result("c1", text("r"), IMAGE), result("c2")],
        [answer(text("b"), call("c1")), result("c1", text(BIG), error=True)],
    ]


def sent(client: StreamingModel, model: Model, messages: list[Any]) -> bytes:
    body = client.begin(ModelRequest(model=model, messages=messages, routing_id="r")).body
    return body if isinstance(body, bytes) else b"".join(body)


@pytest.mark.parametrize("api", APIS, ids=[api.name for api in APIS])
@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.lists(st.sampled_from(stretches()), min_size=1, max_size=4)),
        min_size=1,
        max_size=6,
    )
)
def test_what_is_kept_changes_nothing(api: Api, steps: list[tuple[int, list[list[dict[str, Any]]]]]) -> None:
    model = api.model("http://127.0.0.1:1", input=("text", "image"))

    async def make() -> StreamingModel:
        return api.client(model, key=str, connections=Connections())

    kept = anyio.run(make)
    messages: list[Any] = []
    for forgotten, added in steps:
        messages = messages[: max(0, len(messages) - forgotten)]
        # New objects each time, as messages that are equal need not be the same.
        messages = [*messages, *({**message} for stretch in added for message in stretch)]
        assert sent(kept, model, messages) == sent(anyio.run(make), model, messages)
