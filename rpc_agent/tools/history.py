"""The tool `history`: what was said and done earlier in this session, after compaction took it out of the context."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.tools.base import ToolContext, ToolResult, text_result
from rpc_agent.tools.failure import ToolFailure
from rpc_agent.tools.function_tool import FunctionTool, object_schema
from rpc_agent.tools.listing import listing_text
from rpc_agent.tools.truncation import MAX_BYTES, truncate_head

HISTORY = "history"
_LIMIT = 20
_MOST = 200
"""More hits than that answer no question."""


class PastEntry(Struct, frozen=True):
    """`text` is a snippet in one line where entries were searched, else all of it."""

    id: str
    speaker: str
    timestamp: str
    text: str


class PastEntries(Protocol):
    """The session's own entries. Both raise ToolFailure when they cannot be read."""

    async def search(self, query: str, limit: int) -> Sequence[PastEntry]:
        """Those that hold all words of the query, or match it as a regular expression; newest first."""
        ...

    async def read(self, entry_id: str, count: int) -> Sequence[PastEntry]:
        """One entry and those after it, `count` in all; empty when there is none of that id."""
        ...


_SPEC = ToolSpec(
    HISTORY,
    "Look up what was said and done earlier in this session, word for word, also before a summary. Give query to "
    "search (words that must all occur, or a regular expression; newest first), or entryId to read one entry whole "
    f"(limit: how many from there on). At most {_LIMIT} hits unless limit says otherwise.",
    object_schema(
        {
            "query": {
                "type": "string",
                "minLength": 1,
                "description": "Words, or a regular expression. With entryId: only the lines of that entry that fit.",
            },
            "entryId": {"type": "string", "minLength": 1, "description": "The id of an entry, such as a ledger names."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": _MOST,
                "description": "How many hits, or with entryId how many entries.",
            },
        }
    ),
)


def history_tool(entries: PastEntries) -> FunctionTool:
    async def history(arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        query, entry_id = arguments.get("query"), arguments.get("entryId")
        if entry_id is not None:
            entry_id = str(entry_id).removeprefix("#")
            return text_result(await _read(entries, entry_id, query, arguments.get("limit", 1)))
        if query is None or not query.strip():
            raise ToolFailure("Give query to search the session, or entryId to read one entry.")
        return text_result(await _search(entries, query, arguments.get("limit", _LIMIT)))

    return FunctionTool(spec=_SPEC, access="read", function=history)


async def _search(entries: PastEntries, query: str, limit: int) -> str:
    # One more than asked for, so that more is known to be there.
    found = await entries.search(query, limit + 1)
    lines = [f"#{each.id} {each.speaker}, {each.timestamp}: {each.text}" for each in found[:limit]]
    total = None if len(found) > limit else len(found)
    note = "[entryId with one of these ids shows it whole]" if lines else ""
    nothing = f"(nothing in this session fits {query!r}; try fewer or other words)"
    return listing_text(lines, found=total, limit=limit, note=note, nothing=nothing)


async def _read(entries: PastEntries, entry_id: str, query: str | None, count: int) -> str:
    found = await entries.read(entry_id, count)
    if not found:
        raise ToolFailure(
            f"There is no entry {entry_id!r} with words in this session. Search with query to find the id."
        )
    text = "\n\n".join(f"#{each.id} {each.speaker}, {each.timestamp}:\n{_fitting(each.text, query)}" for each in found)
    cut = truncate_head(text)
    if not cut.truncated:
        return text
    return (
        f"{cut.text}\n[Cut at {cut.kept_lines} of {cut.total_lines} lines or {MAX_BYTES // 1024} KiB. "
        "With query beside entryId only the lines that fit are shown.]"
    )


def _fitting(text: str, query: str | None) -> str:
    """Only lines with one of the words: which, a person reading would pick out too."""
    if query is None:
        return text
    words = [word.casefold() for word in re.findall(r"\w+", query)]
    lines = [line for line in text.splitlines() if any(word in line.casefold() for word in words)]
    return "\n".join(lines) if lines else f"(no line has one of the words {query!r})"
