"""What a client can do wrong on the wire, and the answer to each. `echo` stands for any method that takes anything."""

from typing import Any

from tests.support.rpc import LIMIT

REQUEST = b'{"jsonrpc":"2.0","id":%b,"method":"echo"}'

HOSTILE: list[tuple[str, bytes, list[Any]]] = [
    # name, message, answers as (id, code or "ok"); a list for the answer of a batch
    ("not JSON", b"ls -la", [(None, -32700)]),
    ("half a message", b'{"jsonrpc":"2.0","id":1,', [(None, -32700)]),
    ("null", b"null", [(None, -32600)]),
    ("a number", b"42", [(None, -32600)]),
    ("a string", b'"x"', [(None, -32600)]),
    ("an empty batch", b"[]", [(None, -32600)]),
    (
        "a batch with a bad item",
        b'[{"id":1,"method":"echo"},7,{"id":2,"method":"ping"}]',
        [[(1, "ok"), (None, -32600), (2, "ok")]],
    ),
    ("a batch of notifications", b'[{"method":"echo"},{"method":"x"}]', []),
    ("a blank line", b"", []),
    ("spaces", b"   ", []),
    ("a CR at the end", REQUEST % b"1" + b"\r", [(1, "ok")]),
    ("a BOM", b"\xef\xbb\xbf" + REQUEST % b"1", [(1, "ok")]),
    ("an unknown method", b'{"id":1,"method":"x"}', [(1, -32601)]),
    ("a very long unknown method", b'{"id":1,"method":"%b"}' % (b"x" * 1_000_000), [(1, -32601)]),
    ("params that are a string", b'{"id":1,"method":"echo","params":"x"}', [(1, -32602)]),
    ("params that are null", b'{"id":1,"method":"echo","params":null}', [(1, -32602)]),
    ("id null", REQUEST % b"null", [(None, "ok")]),
    ("id 1.5", REQUEST % b"1.5", [(1.5, "ok")]),
    ("id 2^70", REQUEST % b"1180591620717411303424", [(2**70, "ok")]),
    ("id -0", REQUEST % b"-0", [(0, "ok")]),
    ("id true", REQUEST % b"true", [(None, -32600)]),
    ("id {}", REQUEST % b"{}", [(None, -32600)]),
    ("id []", REQUEST % b"[]", [(None, -32600)]),
    ("no jsonrpc", b'{"id":1,"method":"echo"}', [(1, "ok")]),
    ("another jsonrpc", b'{"jsonrpc":"1.0","id":1,"method":"echo"}', [(1, -32600)]),
    ("an unknown notification", b'{"method":"x"}', []),
    ("a notification with bad params", b'{"method":"x","params":1}', []),
    ("a response to nothing", b'{"jsonrpc":"2.0","id":1,"result":1}', []),
    ("an error to nothing", b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}', []),
    ("invalid UTF-8", b'{"id":1,"method":"echo","params":["\xff"]}', [(None, -32700)]),
    ("a surrogate in UTF-8", b'{"id":1,"method":"echo","params":["\xed\xa0\x80"]}', [(None, -32700)]),
    ("half a surrogate pair", rb'{"id":1,"method":"echo","params":["\ud800"]}', [(1, "ok")]),
    ("line separators", '{"id":1,"method":"echo","params":["\u2028\u2029\u0085"]}'.encode(), [(1, "ok")]),
    ("a NUL", b'{"id":1,\x00"method":"echo"}', [(None, -32700)]),
    ("NaN", b'{"id":1,"method":"echo","params":[NaN]}', [(None, -32700)]),
    ("duplicate keys", b'{"id":1,"id":2,"method":"x","method":"echo"}', [(2, "ok")]),
    ("100,000 brackets", b"[" * 100_000, [(None, -32700)]),
    ("100,000 pairs of brackets", b"[" * 100_000 + b"]" * 100_000, [(None, -32700)]),
    ("400 pairs of brackets", b'{"id":1,"method":"echo","params":%b}' % (b"[" * 400 + b"]" * 400), [(1, "ok")]),
    ("600 pairs of brackets", b'{"id":1,"method":"echo","params":%b}' % (b"[" * 600 + b"]" * 600), [(None, -32700)]),
    ("two requests with one id", b'[{"id":1,"method":"echo"},{"id":1,"method":"echo"}]', [[(1, "ok"), (1, "ok")]]),
    ("a second initialize", b'{"id":1,"method":"initialize"}', [(1, "ok")]),
    ("too large", b'{"id":1,"method":"echo","params":["%b"]}' % (b"x" * LIMIT), [(None, -32600)]),
]


def brief(answer: Any) -> Any:
    if isinstance(answer, list):
        return [brief(one) for one in answer]
    assert answer["jsonrpc"] == "2.0"
    return answer["id"], answer["error"]["code"] if "error" in answer else "ok"
