"""What a service is sent: nothing it refuses, whatever a session file holds."""

import json
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.context.model_blocks import Recipient
from rpc_agent.context.model_messages import ModelMessages, model_messages
from rpc_agent.context.projection import Projector, project
from tests.support.context_cases import CASES, read_path
from tests.support.conversations import (
    answer,
    branch_summary,
    call,
    compaction,
    edit,
    entries,
    result,
    said,
    shell,
    system,
)

ME = Recipient("p", "m", ("text",))
IMAGE = {"type": "image", "data": "QQ==", "mimeType": "image/png"}


def sent(*raws, recipient=ME):
    return model_messages(project(entries(*raws)), recipient)


def roles(messages):
    return [message["role"] for message in messages]


def texts(message):
    content = message["content"]
    return content if isinstance(content, str) else [block.get("text") for block in content]


def test_ordinary_messages_are_the_very_objects_of_the_session():
    path = entries(said("hi ü"), answer("ok", call("1", path="ä")), result("1", "öut"), answer("done"))
    assert all(a is b.message for a, b in zip(model_messages(project(path), ME), path, strict=True))


def test_converting_again_gives_the_same_objects():
    path = entries(said("hi"), shell("ls", "a\n"), answer("", call("1"), {"type": "text", "text": " "}), said("more"))
    converter, projector = ModelMessages(ME), Projector(path[:3])
    first = converter.update(projector.projection)
    projector.append(path[3])
    second = converter.update(projector.projection)

    assert all(a is b for a, b in zip(first, second, strict=False))
    assert second == model_messages(project(path), ME)


def test_an_edit_keeps_the_objects_it_does_not_touch():
    path = entries(said("hi"), shell("ls", "a\n"), answer("bad"), edit(2))
    converter, projector = ModelMessages(ME), Projector(path[:3])
    first = converter.update(projector.projection)
    projector.append(path[3])
    second = converter.update(projector.projection)

    assert roles(second) == ["user", "user"]
    assert [a is b for a, b in zip(first, second, strict=False)] == [True, True]


def test_a_missing_result_is_filled_in_and_an_orphan_is_left_out():
    messages = sent(result("gone", "?"), said("go"), answer("", call("1"), call("2")), result("2", "two"), said("on"))

    assert roles(messages) == ["user", "assistant", "toolResult", "toolResult", "user"]
    assert [(m["toolCallId"], m["isError"]) for m in messages[2:4]] == [("1", True), ("2", False)]


def test_a_late_result_moves_to_its_call():
    messages = sent(said("go"), answer("", call("1")), said("meanwhile"), result("1", "late"))
    assert [texts(message) for message in messages] == [["go"], [None], ["late"], ["meanwhile"]]


def test_failed_answers_go_with_their_results():
    messages = sent(said("go"), answer("half", call("1"), stop="error"), result("1", "x"), answer("x", stop="aborted"))
    assert roles(messages) == ["user"]


def test_a_call_id_that_comes_again_belongs_to_the_newest_answer():
    messages = sent(answer("", call("0")), answer("", call("0")), result("0", "second"))
    assert [m["isError"] for m in messages if m["role"] == "toolResult"] == [True, False]


def test_a_silent_result_and_empty_blocks_are_never_sent_empty():
    messages = sent(said("go"), answer("", {"type": "text", "text": "\n"}, call("1")), result("1", ""), said(" "))
    assert [texts(message) for message in messages] == [["go"], [None], ["(no output)"]]


def test_arguments_nested_deeper_than_services_read_are_left_out():
    deep: object = 1
    for _ in range(500):
        deep = {"a": deep}
    _, sent_answer, *_ = sent(said("hi"), answer("", call("1", path=deep)), result("1", "ok"))
    assert sent_answer["content"][0]["arguments"] == {"omitted": "nested more than 100 deep"}


def test_reasoning_goes_only_to_the_model_that_made_it():
    thought = {"type": "thinking", "thinking": "hm", "thinkingSignature": "s"}
    signed = {**call("1"), "thoughtSignature": "t"}
    own = sent(answer("a", thought, signed), result("1", "x"))
    other = sent(answer("a", thought, signed, model="p/other"), result("1", "x"))

    assert [block["type"] for block in own[0]["content"]] == ["text", "thinking", "toolCall"]
    assert other[0]["content"] == [{"type": "text", "text": "a"}, call("1")]


@pytest.mark.parametrize(
    ("recipient", "kinds"),
    [
        (ME, ["text"]),
        (Recipient("p", "m", ("text", "image")), ["image"]),
        (Recipient("p", "m", ("image",), True), ["text"]),
    ],
)
def test_an_image_becomes_a_note_where_it_cannot_go(recipient, kinds):
    raw = said("")
    raw["message"]["content"] = [IMAGE]
    assert [block["type"] for block in sent(raw, recipient=recipient)[0]["content"]] == kinds


@pytest.mark.parametrize(
    "broken",
    [{"data": ""}, {"data": "QQQQQ"}, {"data": "QQ=="[::-1]}, {"data": "data:,QQ=="}, {"mimeType": "text/html"}],
)
def test_what_is_recorded_as_an_image_and_is_none_becomes_a_note(broken):
    raw = said("")
    raw["message"]["content"] = [{**IMAGE, **broken}]
    recipient = Recipient("p", "m", ("text", "image"))
    assert [block["type"] for block in sent(raw, recipient=recipient)[0]["content"]] == ["text"]


@pytest.mark.parametrize("written", ["QQ==\n", "Q\r\nQ=\n=", "QQ", "data:image/png;base64,QQ=="])
def test_an_image_goes_out_as_services_want_its_data_written(written):
    raw = said("")
    raw["message"]["content"] = [{**IMAGE, "data": written}]
    recipient = Recipient("p", "m", ("text", "image"))
    assert sent(raw, recipient=recipient)[0]["content"] == [{**IMAGE, "data": "QQ=="}]


def test_system_messages_become_one_in_front():
    messages = sent(system(sections={"a": "A", "b": "B"}), said("hi"), system(sections={"a": None, "c": "C"}))
    assert [(m["role"], texts(m)) for m in messages] == [("system", "B\n\nC"), ("user", ["hi"])]


def test_the_other_roles_are_told_by_the_user():
    messages = sent(
        compaction("what was", keep="none"),
        branch_summary("elsewhere"),
        shell("ls", "```\n", exitCode=2),
        shell("secret", "x", excludeFromContext=True),
        {"type": "custom_message", "customType": "x", "content": "from a plugin", "display": True},
    )
    assert roles(messages) == ["user"] * 4
    assert "<summary>\nwhat was\n</summary>" in texts(messages[0])
    assert "<summary>\nelsewhere\n</summary>" in texts(messages[1])
    assert texts(messages[2]) == "The user ran a command: ls\n````\n```\n````\nExit code: 2"
    assert texts(messages[3]) == "from a plugin"


@pytest.mark.skipif(not CASES.is_dir(), reason="the collection of cases is not beside this checkout")
def test_the_reported_session_files_project_to_what_a_service_accepts():
    orphan, surrogate, null = (
        model_messages(project(read_path(CASES / "reports" / f"session_{name}.jsonl")), ME)
        for name in ("orphan_result", "lone_surrogate", "null_args")
    )
    assert roles(orphan) == ["user", "user"]
    body = json.dumps(surrogate, ensure_ascii=False).encode("utf-8").decode()
    assert "🚀" in body and "\ufffd" in body
    assert [m["content"][0].get("arguments") for m in null if m["role"] == "assistant"] == [{}]


TEXT = st.sampled_from(["", " ", "hello", "\ud83d…", "🚀", "ü"])
IDS = st.sampled_from(["1", "2", "3", ""])
STEPS = st.one_of(
    TEXT.map(said),
    TEXT.map(lambda text: {"type": "message", "message": {"role": "user", "content": text, "timestamp": 1}}),
    TEXT.map(lambda text: {"type": "custom_message", "customType": "x", "content": text, "display": True}),
    st.builds(
        lambda text, ids, stop, model, thought: answer(
            text,
            *([{"type": "thinking", "thinking": thought}] if thought else []),
            *map(call, ids),
            stop=stop,
            model=model,
        ),
        TEXT,
        st.lists(IDS, max_size=3),
        st.sampled_from(["stop", "toolUse", "error", "aborted", "length"]),
        st.sampled_from(["p/m", "p/other"]),
        TEXT,
    ),
    st.builds(result, IDS, TEXT),
    st.builds(shell, TEXT, TEXT, excludeFromContext=st.booleans()),
    TEXT.map(lambda text: system(text, sections={"s": text})),
    TEXT.map(branch_summary),
    st.builds(lambda text, keep: compaction(text, keep=keep), TEXT, st.integers(0, 12)),
    st.integers(0, 12).map(edit),
)


@given(st.lists(STEPS, max_size=25))
def test_whatever_happened_before_the_invariant_holds(raws):
    path = entries(*raws)
    projector, converter = Projector(), ModelMessages(ME)
    messages = converter.update(projector.projection)
    for entry in path:
        projector.append(entry)
        messages = converter.update(projector.projection)

    assert messages == model_messages(project(path), ME)
    assert [m["role"] for m in messages].count("system") <= 1
    assert "system" not in roles(messages)[1:]
    json.dumps(list(messages), ensure_ascii=False).encode("utf-8")
    for message in messages:
        assert _has_only_full_blocks(message), message
        assert message.get("stopReason") not in ("error", "aborted")
    _assert_each_call_has_its_result(messages)


def _has_only_full_blocks(message):
    content = message["content"]
    if isinstance(content, str):
        return bool(content.strip())
    return bool(content) and all(block.get("text", block.get("thinking", "x")).strip() for block in content)


def _assert_each_call_has_its_result(messages):
    calls = []
    for is_result, group in groupby(messages, key=lambda message: message["role"] == "toolResult"):
        group = list(group)
        if is_result:
            assert [message["toolCallId"] for message in group] == calls
            calls = []
            continue
        for message in group:
            assert calls == []
            if message["role"] == "assistant":
                calls = [block["id"] for block in message["content"] if block["type"] == "toolCall"]
    assert calls == []
