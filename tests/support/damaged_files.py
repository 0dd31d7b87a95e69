"""Session files as no program should write them: links to anywhere, ids used twice, lines torn, glued and lost."""

from typing import Any

from hypothesis import strategies as st

from tests.support.sessions import line, raw_entry, session_bytes

_IDS = [f"e{n}" for n in range(16)]
_LENGTHS = (1, 20, 200)


@st.composite
def damaged_files(draw: st.DrawFn) -> bytes:
    """A header and up to 24 entries of a few hundred bytes, most of them sound and hung from the one before."""
    data = session_bytes()
    previous: str | None = None
    for n in range(draw(st.integers(1, 24))):
        entry_id = draw(st.sampled_from(_IDS)) if draw(st.integers(0, 9)) == 0 else f"n{n}"
        parent = (
            previous if draw(st.integers(0, 3)) else draw(st.sampled_from([None, "lost", "n2", "n9", "n20", *_IDS]))
        )
        raw = _entry(draw, entry_id, parent)
        if draw(st.integers(0, 24)) == 0:
            del raw["parentId"]
        data += _line(draw, line(raw))
        previous = entry_id
    return data


def _entry(draw: st.DrawFn, entry_id: str, parent: str | None) -> dict[str, Any]:
    target = draw(st.sampled_from(["n1", "n5", "n12", "e3", "nowhere"]))
    match draw(st.sampled_from(["message"] * 7 + ["compaction", "label", "session_info", "context_edit"])):
        case "compaction":
            fields: dict[str, Any] = {"summary": "s", "tokensBefore": 1, "firstKeptEntryId": target}
            return raw_entry(entry_id, parent, type="compaction", **fields)
        case "label":
            return raw_entry(entry_id, parent, type="label", targetId=target, label=draw(st.sampled_from(["L", None])))
        case "session_info":
            return raw_entry(entry_id, parent, type="session_info", name=draw(st.sampled_from(["N", ""])))
        case "context_edit":
            return raw_entry(entry_id, parent, type="context_edit", targetId=target, replacement=None)
        case _:
            return raw_entry(entry_id, parent, "t" * draw(st.sampled_from(_LENGTHS)))


def _line(draw: st.DrawFn, whole: bytes) -> bytes:
    cut = draw(st.integers(1, len(whole) - 1))
    damages = [whole[:cut] + b"\n", whole[:-1], whole[:cut], b"\0" * 30 + whole, b"\n" + whole, session_bytes() + whole]
    return draw(st.sampled_from([whole] * 30 + damages))
