"""Calls of one answer that were given the same id, or none: each is sent with an id of its own, and so is its result."""

from rpc_agent.context.model_blocks import Recipient
from rpc_agent.context.model_messages import ModelMessages
from rpc_agent.context.projection import Projector
from rpc_agent.conversation.messages import tool_calls
from tests.support.conversations import answer, call, entries, result, said

ME = Recipient("p", "m", ("text",))


def sent_ids(messages):
    calls = [block["id"] for message in messages if message["role"] == "assistant" for block in tool_calls(message)]
    results = [
        (message["toolCallId"], message["content"][0]["text"])
        for message in messages
        if message["role"] == "toolResult"
    ]
    return calls, results


def test_calls_with_one_id_get_ids_of_their_own_and_results_follow_their_order():
    path = entries(
        said("go"),
        answer("", call("a"), call("a"), call(""), call("a_2"), call("")),
        result("a", "first"),
        result("a", "second"),
        result("", "third"),
        result("a_2", "fourth"),
        result("", "fifth"),
    )
    converter, projector = ModelMessages(ME), Projector(path)
    ids = ["a", "a_3", "call_2", "a_2", "call_3"]
    texts = ["first", "second", "third", "fourth", "fifth"]
    messages = converter.update(projector.projection)
    assert sent_ids(messages) == (ids, list(zip(ids, texts, strict=True)))
    # The session keeps what it has.
    assert [block["id"] for block in tool_calls(path[1].message)] == ["a", "a", "", "a_2", ""]
    projector.append(entries(*[said("x")] * 9)[-1])
    again = converter.update(projector.projection)
    assert all(old is new for old, new in zip(messages, again, strict=False))


def test_results_find_calls_whose_ids_became_numbers():
    path = entries(
        said("go"),
        answer("", {**call("c"), "id": 7}, call("8")),
        result(8.0, "of the second"),
        result(7, "of the first"),
    )
    assert sent_ids(ModelMessages(ME).update(Projector(path).projection)) == (
        ["7", "8"],
        [("7", "of the first"), ("8", "of the second")],
    )
