"""Params become models, or errors that tell a person what to mend."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.protocol.compaction import CompactParams
from rpc_agent.protocol.content import ImageContent, TextContent
from rpc_agent.protocol.handshake import ClientCapabilities, ClientInfo, ClientTool, InitializeParams
from rpc_agent.protocol.history import EditContent, EditContextParams, SetLabelParams
from rpc_agent.protocol.models import SetModelParams
from rpc_agent.protocol.parse_params import InvalidParams, parse_params
from rpc_agent.protocol.runs import PromptParams
from rpc_agent.protocol.tree import NavigateTreeParams
from rpc_agent.protocol.wire_model import NoParams, WireModel
from rpc_agent.server.handlers.runs import user_content
from tests.support.contract import EVERY_METHOD


def parse(name: str, params: Any = None) -> WireModel:
    return parse_params(EVERY_METHOD[name], params)


def faults(name: str, params: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidParams) as caught:
        parse(name, params)
    assert caught.value.details == {"errors": caught.value.errors}
    return [(fault["path"], fault["message"]) for fault in caught.value.errors]


GOOD: list[tuple[str, Any, WireModel]] = [
    ("ping", None, NoParams()),
    ("ping", {}, NoParams()),
    ("ping", [], NoParams()),
    ("prompt", {"message": "hi", "sessionId": "s"}, PromptParams(message="hi", session_id="s")),
    ("prompt", {"message": "hi", "sessionId": None, "wait": None}, PromptParams(message="hi")),
    ("prompt", ["hi"], PromptParams(message="hi")),
    (
        "prompt",
        {
            "message": [{"type": "text", "text": "a"}, {"type": "image", "data": "AA==", "mimeType": "image/png"}],
            "streamingBehavior": "followUp",
            "maxTurns": 3,
        },
        PromptParams(
            message=[
                TextContent(type="text", text="a"),
                ImageContent(type="image", data="AA==", mime_type="image/png"),
            ],
            streaming_behavior="followUp",
            max_turns=3,
        ),
    ),
    *[
        (
            "prompt",
            {"message": "x", "images": [{"type": "image", "data": data, "mimeType": "image/png"}]},
            PromptParams(message="x", images=[ImageContent(type="image", data="AA==", mime_type="image/png")]),
        )
        for data in ("AA", "A\r\nA=\n=", "data:image/png;base64,AA==")
    ],
    ("set_model", ["openrouter", "a/b"], SetModelParams(provider="openrouter", model_id="a/b")),
    ("set_label", ["e1", None], SetLabelParams(entry_id="e1", label=None)),
    ("navigate_tree", {"targetId": None}, NavigateTreeParams(target_id=None)),
    ("compact", {"keepRecentTokens": 0}, CompactParams(keep_recent_tokens=0)),
    (
        "edit_context",
        {"targetId": "e1", "replacement": {"content": "short"}},
        EditContextParams(target_id="e1", replacement=EditContent(content="short")),
    ),
]


@pytest.mark.parametrize(("name", "params", "wanted"), GOOD)
def test_good_params_become_the_methods_model(name: str, params: Any, wanted: WireModel) -> None:
    parsed = parse(name, params)
    assert type(parsed) is type(wanted)
    assert parsed.model_dump() == wanted.model_dump()


def test_a_whole_number_may_come_with_a_point() -> None:
    parsed = parse("prompt", {"message": "x", "maxTurns": 2.0, "timeoutMs": 5000.0})
    assert parsed == PromptParams(message="x", max_turns=2, timeout_ms=5000)


BAD: list[tuple[str, Any, list[tuple[str, str]]]] = [
    ("prompt", None, [("message", "is missing")]),
    ("prompt", {"message": 5}, [("message", "must be a string or an array, not a number")]),
    ("prompt", {"message": None}, [("message", "must be a string or an array, not null")]),
    ("prompt", {"message": ["x"]}, [("message.0", "must be an object, not a string")]),
    ("prompt", {"message": [{"type": "video"}]}, [("message.0.type", 'must be "text" or "image"')]),
    ("prompt", {"message": [{"text": "x"}]}, [("message.0.type", "is missing")]),
    (
        "prompt",
        {"message": "x", "images": [{"type": "image", "data": "AA==", "mimeType": "image/png"}, {"type": "image"}]},
        [("images.1.data", "is missing"), ("images.1.mimeType", "is missing")],
    ),
    (
        "prompt",
        {"message": [{"type": "image", "data": "data:image/png,AA==", "mimeType": "png"}]},
        [
            ("message.0.data", "must be the bytes of an image in base64"),
            ("message.0.mimeType", "must be the type of an image, such as image/png"),
        ],
    ),
    ("prompt", {"message": "x", "maxTurns": 0.0, "timeoutMs": 5.0}, [("maxTurns", "must be at least 1")]),
    (
        "prompt",
        {"message": "x", "maxTurns": 2.0, "timeoutMs": 1e400},
        [("timeoutMs", "must be a whole number, not a fraction")],
    ),
    ("prompt", {"message": "x", "mesage": "y"}, [("mesage", "is not known here; did you mean message?")]),
    ("prompt", {"message": "x", "zzz": 1}, [("zzz", "is not known here")]),
    ("open_session", {"sessionId": "s", "id": "s"}, [("sessionId", "is not known here; did you mean id?")]),
    ("export_session", {"format": "html", "path": "p"}, [("path", "is not known here; did you mean outputPath?")]),
    ("prompt", {"message": "x", "session_id": "s"}, [("session_id", "is not known here; did you mean sessionId?")]),
    (
        "prompt",
        {"message": "x", "streamingBehavior": "now", "wait": 1, "maxTurns": 0, "timeoutMs": 1.5},
        [
            ("streamingBehavior", 'must be "steer" or "followUp"'),
            ("wait", "must be true or false, not a number"),
            ("maxTurns", "must be at least 1"),
            ("timeoutMs", "must be a whole number, not a fraction"),
        ],
    ),
    ("set_model", ["openai"], [("modelId", "is missing")]),
    ("set_model", ["a", "b", "c"], [("", "takes at most 2 parameters by position: provider, modelId")]),
    ("set_model", {"provider": "", "modelId": "x"}, [("provider", "must not be empty")]),
    ("ping", ["x"], [("", "takes its parameters by name: send an object")]),
    ("ping", {"x": 1}, [("x", "is not known here")]),
    ("open_session", {}, [("", "give exactly one of path, id and latest: true")]),
    ("open_session", {"path": "a", "latest": True}, [("", "give exactly one of path, id and latest: true")]),
    ("set_auto_retry", {"enabled": "yes"}, [("enabled", "must be true or false, not a string")]),
    ("get_events", {"since": True}, [("since", "must be a whole number, not true or false")]),
    ("get_events", {"since": -1}, [("since", "must be at least 0")]),
    ("bash", {"command": "ls", "timeout": 0}, [("timeout", "must be greater than 0")]),
    (
        "set_thinking_level",
        ["huge"],
        [("level", 'must be "off", "minimal", "low", "medium", "high" or "xhigh"')],
    ),
    ("edit_context", {"targetId": "e"}, [("replacement", "is missing")]),
    ("edit_context", {"targetId": "e", "replacement": {}}, [("replacement.content", "is missing")]),
    ("edit_context", ["e", {"content": "x", "role": "user"}], [("replacement.role", "is not known here")]),
    ("navigate_tree", {}, [("targetId", "is missing")]),
    ("initialize", {}, [("protocolVersion", "is missing")]),
    ("initialize", {"protocolVersion": 1, "clientInfo": {}}, [("clientInfo.name", "is missing")]),
    ("initialize", {"protocolVersion": 1, "rootUri": "x"}, [("rootUri", "is not known here")]),
]


@pytest.mark.parametrize(("name", "params", "wanted"), BAD)
def test_bad_params_are_told_by_place_and_in_words(name: str, params: Any, wanted: list[tuple[str, str]]) -> None:
    assert faults(name, params) == wanted


def test_the_error_itself_names_method_place_and_fault() -> None:
    with pytest.raises(InvalidParams, match=r"^prompt: message is missing$"):
        parse("prompt")
    with pytest.raises(InvalidParams, match=r"^prompt: message is missing, and text is not known here$"):
        parse("prompt", {"text": "hi"})
    with pytest.raises(InvalidParams, match=r"^set_model: provider is missing, and modelId is missing \(1 more\)$"):
        parse("set_model", {"model": "a/b"})
    with pytest.raises(InvalidParams, match=r"^ping: takes its parameters by name: send an object$"):
        parse("ping", [1])


@pytest.mark.parametrize("name", EVERY_METHOD)
def test_meta_is_ignored_in_the_params_of_every_method(name: str) -> None:
    paths = set()
    try:
        parse(name, {"_meta": {"anything": [1]}})
    except InvalidParams as error:
        paths = {fault["path"] for fault in error.errors}
    assert "_meta" not in paths


def test_meta_inside_a_block_is_ignored_and_goes_no_further() -> None:
    parsed = parse("prompt", {"message": [{"type": "text", "text": "a", "_meta": 1}]})
    assert isinstance(parsed, PromptParams)
    assert user_content(parsed) == [{"type": "text", "text": "a"}]


def test_a_leaf_that_is_expected_to_be_null_is_told_from_none_expected() -> None:
    expecting = parse("prompt", {"message": "x", "expectedLeafId": None})
    silent = parse("prompt", {"message": "x"})
    assert isinstance(expecting, PromptParams) and isinstance(silent, PromptParams)
    assert (expecting.checks_leaf, silent.checks_leaf) == (True, False)


def test_no_message_shows_the_value_that_was_sent() -> None:
    secret = "sk-0123456789"
    told = faults("prompt", {"message": 1, "streamingBehavior": secret, "images": secret, "wait": secret})
    assert secret not in repr(told)


def test_what_is_said_of_capabilities_is_read_leniently() -> None:
    parsed = parse(
        "initialize",
        {
            "protocolVersion": 1,
            "clientInfo": {"name": "ed"},
            "capabilities": {
                "permissions": {},
                "ui": "perhaps",
                "hooks": ["turn_end", 5],
                "deltas": "fast",
                "fileSystem": [1],
                "tools": [{"name": "t", "description": "d", "inputSchema": {}, "icon": "x"}, {"name": "broken"}],
                "fromTheFuture": True,
            },
        },
    )
    assert parsed == InitializeParams(
        protocol_version=1,
        client_info=ClientInfo(name="ed"),
        capabilities=ClientCapabilities(
            permissions=True,
            ui=None,
            hooks=["turn_end"],
            deltas=None,
            file_system=None,
            tools=[ClientTool(name="t", description="d", input_schema={})],
        ),
    )


@pytest.mark.parametrize("version", [1, 2, "2025-06-18"])
def test_any_protocol_version_is_listened_to(version: int | str) -> None:
    parsed = parse("initialize", {"protocolVersion": version})
    assert isinstance(parsed, InitializeParams) and parsed.protocol_version == version


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(
    name=st.sampled_from(list(EVERY_METHOD)),
    params=st.dictionaries(
        st.sampled_from(["message", "images", "sessionId", "targetId", "replacement", "capabilities", "mode", "x"]),
        JSON,
    )
    | st.lists(JSON, max_size=3),
)
def test_whatever_is_sent_gives_a_model_or_faults_with_a_place_and_words(name: str, params: Any) -> None:
    try:
        parse(name, params)
    except InvalidParams as error:
        assert error.errors
        for fault in error.errors:
            assert fault["message"]
            assert "pydantic" not in fault["message"] and "Input" not in fault["message"]
