"""Lists of names or hits as one text, with what was left out said at its end. Pure."""

from collections.abc import Sequence

from rpc_agent.tools.truncation import MAX_BYTES, truncate_head


def listing_text(lines: Sequence[str], *, found: int | None, limit: int, note: str = "", nothing: str) -> str:
    """The `lines` (at most `limit` were kept of `found`; None: of more than that), cut to what an answer may hold."""
    cut = truncate_head("".join(f"{line}\n" for line in lines), max_lines=max(len(lines), 1))
    notes = [note] if note else []
    if cut.truncated:
        notes.insert(0, f"[Cut at {MAX_BYTES // 1024} KiB: {cut.kept_lines} of {len(lines)} lines. Ask more narrowly.]")
    if found is None or found > len(lines):
        of = f" of {found}" if found is not None else ""
        notes.insert(0, f"[The first {limit}{of}. A larger limit shows more, a narrower question fewer.]")
    body = cut.text or f"{nothing}\n"
    return body + "\n" + "\n".join(notes) if notes else body
