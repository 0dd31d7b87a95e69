"""Every kind of damage with every other in one file: nothing complete is lost, each is told once, the next entry stays."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from rpc_agent.session.replay import read_session
from rpc_agent.storage.session_store import SessionStore
from tests.support.sessions import CountingIdentity, line, raw_entry, session_bytes, user

Lines = list[bytes]
Damage = Callable[[Lines, int], list[str]]
"""Does something to the line at a place, and says which warnings that is worth."""


def before(noise: bytes, *kinds: str) -> Damage:
    def spoil(lines: Lines, at: int) -> list[str]:
        lines[at] = noise + lines[at]
        return list(kinds)

    return spoil


def behind(noise: bytes, *kinds: str) -> Damage:
    def spoil(lines: Lines, at: int) -> list[str]:
        lines[at] = lines[at][:-1] + noise + b"\n"
        return list(kinds)

    return spoil


def instead(old: bytes, new: bytes, *kinds: str) -> Damage:
    def spoil(lines: Lines, at: int) -> list[str]:
        lines[at] = lines[at].replace(old, new)
        return list(kinds)

    return spoil


def joined(lines: Lines, at: int) -> list[str]:
    lines[at : at + 2] = [lines[at][:-1] + lines[at + 1]]
    return ["joinedLine"]


def twice(lines: Lines, at: int) -> list[str]:
    lines[at] = lines[at].replace(b'"x"', b'"old"') + lines[at]
    return ["duplicateId"]


def in_a_circle(lines: Lines, at: int) -> list[str]:
    lines[at] = line(raw_entry(f"r{at}", f"s{at}")) + line(raw_entry(f"s{at}", f"r{at}")) + lines[at]
    return ["cycle"]


TORN = line(raw_entry("torn", None))[:-30]
DEEP = (
    b'{"type":"custom","id":"deep","parentId":null,"timestamp":"t","data":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
)
DAMAGES: dict[str, Damage] = {
    "a blank line": before(b"\n", "blankLine"),
    "NUL bytes in front": before(b"\0" * 600, "nulBytes"),
    "NUL bytes behind": behind(b"\0\0\0", "nulBytes"),
    "a mark": before(b"\xef\xbb\xbf", "bom"),
    "a line that is no JSON": before(b"<<<<<<< HEAD\n", "unreadableLine"),
    "a torn line": before(TORN + b"\n", "unreadableLine"),
    "a line too deep for any reader": before(DEEP, "unreadableLine"),
    "a torn piece glued": before(TORN, "gluedLine"),
    "something behind": behind(b"}xx", "gluedLine"),
    "JSON that is no entry": before(b'[{"type":"message","id":"q"}]\n', "notAnEntry"),
    "an entry without an id": before(line({"type": "message", "parentId": None}), "notAnEntry"),
    "a second header": before(session_bytes(), "extraHeader"),
    "a stray byte": instead(b'"x"', b'"\xe4\xbd"', "invalidUtf8"),
    "half a pair": instead(b'"x"', b'"\\udc00"', "loneSurrogate"),
    "null content": instead(b'"x"', b"null", "nullContent"),
    "a parent of no kind": instead(b'"parentId":"', b'"parentId":{},"was":"', "brokenLink"),
    "a parent that is nowhere": instead(b'"parentId":"', b'"parentId":"no-', "brokenLink"),
    "two in a line": joined,
    "an id twice": twice,
    "a circle": in_a_circle,
}


@pytest.mark.parametrize("limit", [1 << 40, 300], ids=["whole", "from the tail"])
@pytest.mark.parametrize("first", DAMAGES)
def test_two_damages_cost_no_more_than_themselves(tmp_path: Path, first: str, limit: int) -> None:
    for second, is_open in itertools.product(DAMAGES, (False, True)):
        # Nothing before the compaction is needed, so that a reader from the tail stops there.
        last = raw_entry("e7", "e6", type="compaction", summary="s", firstKeptEntryId="", tokensBefore=1)
        lines = [*(line(raw_entry(f"e{n}", f"e{n - 1}" if n else None)) for n in range(7)), line(last)]
        # The later one first, so that the places stay what they are.
        expected = DAMAGES[second](lines, 5) + DAMAGES[first](lines, 2)
        if is_open:
            lines[-1] = lines[-1][:-1]
        path = tmp_path / "s.jsonl"
        path.write_bytes(session_bytes() + b"".join(lines))
        check(path, expected, limit)


def check(path: Path, expected: list[str], limit: int) -> None:
    data = path.read_bytes()
    store = SessionStore.open(path, identity=CountingIdentity(first_id=1 << 28), whole_limit=limit)
    ids = [entry.id for entry in store.entries().entries]
    assert {f"e{n}" for n in range(8)} <= set(ids), data
    assert len(ids) == 8 + 2 * expected.count("cycle"), data
    whole = read_session(data, draw_id=CountingIdentity().draw_id)
    places = [(warning.kind, warning.line) for warning in (*whole.warnings, *whole.tree.warnings.all())]
    assert sorted(map(str, places)) == sorted(str((warning.kind, warning.line)) for warning in store.warnings), data
    kinds = [warning.kind for warning in store.warnings]
    links = [kind for kind in kinds if kind in ("missingParent", "bridgedParent")]
    assert len(links) == expected.count("brokenLink"), data
    told = [kind for kind in kinds if kind not in links]
    assert sorted(told) == sorted(kind for kind in expected if kind != "brokenLink"), data
    added = store.append("message", {"message": user("next")})
    store.close()
    assert path.read_bytes() == data + (b"" if data.endswith(b"\n") else b"\n") + line(added.raw)
    again = SessionStore.open(path, identity=CountingIdentity(), whole_limit=limit, read_only=True)
    assert ([entry.id for entry in again.entries().entries], again.leaf_id) == ([*ids, added.id], added.id), data
    again.close()
