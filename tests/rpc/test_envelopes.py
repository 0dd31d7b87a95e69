"""What a message is, and how its answer is spelled."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.rpc import fast_json, json_text
from rpc_agent.rpc.envelopes import (
    Batch,
    Encoded,
    Ignored,
    Invalid,
    Notification,
    Request,
    Response,
    encode_notification,
    encode_result,
    parse,
)

ENCODERS = [json_text.encode, fast_json.encode]


def fault(message: Any) -> tuple[Any, int]:
    assert isinstance(message, Invalid), message
    return message.id, message.error.code


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"{", (None, -32700)),
        (b"", (None, -32700)),
        (b'{"id":1,"method":"m","params":[NaN]}', (None, -32700)),
        (b'{"id":1,"method":"m","params":[-Infinity]}', (None, -32700)),
        (b'{"id":1,"method":"m","params":[1e999]}', (None, -32700)),
        (b'{"id":1,"method":"m","params":["\xff"]}', (None, -32700)),
        (b'{"id":1,"method":"m","params":["\xed\xa0\x80"]}', (None, -32700)),
        (b'{"id":1,"method":"m","params":["\x01"]}', (None, -32700)),
        (b"[" * 100_000, (None, -32700)),
        (b"[" * 100_000 + b"]" * 100_000, (None, -32700)),
        (b'{"a":' * 100_000, (None, -32700)),
        (b"9" * 5000, (None, -32700)),
        (b"null", (None, -32600)),
        (b"42", (None, -32600)),
        (b'"x"', (None, -32600)),
        (b"[]", (None, -32600)),
        (b"{}", (None, -32600)),
        (b'{"id":true,"method":"m"}', (None, -32600)),
        (b'{"id":{},"method":"m"}', (None, -32600)),
        (b'{"id":[],"method":"m"}', (None, -32600)),
        (b'{"id":7,"method":7}', (7, -32600)),
        (b'{"id":7}', (7, -32600)),
        (b'{"method":7}', (None, -32600)),
        (b'{"jsonrpc":"1.0","id":"a","method":"m"}', ("a", -32600)),
        (b'{"jsonrpc":null,"id":"a","method":"m"}', ("a", -32600)),
        (b'{"jsonrpc":2.0,"id":"a","method":"m"}', ("a", -32600)),
        (b'{"id":7,"method":"m","params":"x"}', (7, -32602)),
        (b'{"id":null,"method":"m","params":null}', (None, -32602)),
    ],
)
def test_a_bad_message_gets_its_code_and_keeps_a_usable_id(data: bytes, expected: tuple[Any, int]) -> None:
    assert fault(parse(data)) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"id":1,"method":"m"}', Request(1, "m", {})),
        (b'\xef\xbb\xbf {"jsonrpc":"2.0","id":null,"method":"m","params":[1]} ', Request(None, "m", [1])),
        (b'{"id":1.5,"method":"m","extra":0}', Request(1.5, "m", {})),
        (b'{"id":1180591620717411303424,"method":"m"}', Request(2**70, "m", {})),
        (b'{"id":1,"id":2,"method":"m","params":{"a":1,"a":2}}', Request(2, "m", {"a": 2})),
        (b'{"method":"m"}', Notification("m", {})),
        (b'{"id":3,"result":null}', Response(3, None, None)),
        (b'{"id":3,"error":{"code":1}}', Response(3, None, {"code": 1})),
        (b'{"jsonrpc":"1.0","id":{},"result":1}', Response({}, 1, None)),
        (b'[{"method":"a"},{"id":1,"method":"b"}]', Batch([Notification("a", {}), Request(1, "b", {})])),
    ],
)
def test_a_good_message_is_what_it_says(data: bytes, expected: Any) -> None:
    assert parse(data) == expected


def test_a_notification_with_bad_params_is_no_reason_to_answer() -> None:
    assert isinstance(parse(b'{"method":"m","params":"x"}'), Ignored)


def test_the_items_of_a_batch_are_judged_one_by_one() -> None:
    batch = parse(b'[1,[],{"id":4,"method":"m"},{"id":5}]')
    assert isinstance(batch, Batch)
    bad, nested, good, incomplete = batch.items
    assert [fault(bad), fault(nested), fault(incomplete)] == [(None, -32600), (None, -32600), (5, -32600)]
    assert good == Request(4, "m", {})


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (r"\ud800", "\ufffd"),
        (r"\udc00\ud83d", "\ufffd\ufffd"),
        (r"\ud83d\ude00", "\U0001f600"),
        (r"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (r"\\ud800", r"\ud800"),
        (r"\\\ud800", "\\\ufffd"),
        (r"\uD800\n\u0041", "\ufffd\nA"),
    ],
)
def test_half_a_surrogate_pair_becomes_the_replacement_character(escaped: str, text: str) -> None:
    assert json_text.decode(f'"{escaped}"'.encode()) == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize("encode", ENCODERS)
@given(value=JSON)
def test_what_is_written_reads_back_the_same_and_has_no_line_break(encode: Any, value: Any) -> None:
    text = encode(value)
    assert b"\n" not in text and b"\r" not in text
    assert json_text.decode(text) == value


@pytest.mark.parametrize("encode", ENCODERS)
def test_a_large_integer_and_deep_nesting_and_a_half_pair_are_written(encode: Any) -> None:
    deep: Any = []
    for _ in range(400):
        deep = [deep]
    assert json.loads(encode([2**70, deep, "\ud800"])) == [2**70, deep, "\ufffd"]


@pytest.mark.parametrize("encode", ENCODERS)
def test_a_value_without_a_json_form_is_refused(encode: Any) -> None:
    circle: list[Any] = []
    circle.append(circle)
    for value in ({1}, object(), b"x", circle):
        with pytest.raises(json_text.NotSerialisable):
            encode(value)


@given(data=st.binary() | st.text().map(str.encode))
def test_no_bytes_make_the_parser_raise(data: bytes) -> None:
    parse(data)


def test_a_fragment_that_is_json_already_is_taken_as_it_is() -> None:
    assert encode_result("a", Encoded(b"[1, 2]")) == b'{"jsonrpc":"2.0","id":"a","result":[1, 2]}'
    assert encode_notification("n", Encoded(b"{}")) == b'{"jsonrpc":"2.0","method":"n","params":{}}'
