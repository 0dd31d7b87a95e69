"""Words of models, tools and files, made fit to be shown: no terminal control, no invisible tricks. Escapes no markup.

Every renderer passes every text of a session through `plain` or `one_line` at its own single gate.
"""

import re
from datetime import UTC, datetime

from rpc_agent.conversation.json_values import without_lone_surrogates

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x9c|\x1b\\)"  # titles, links and other strings
    r"|\x1b[ -/]*[0-~]"  # character sets, single commands
)
_UNSEEN = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"}
# The two overrides make a text read as what it is not; marks and isolates are needed for right-to-left languages.
_OVERRIDES = dict.fromkeys((0x202D, 0x202E), "\ufffd")
_TABLE = {**_UNSEEN, **_OVERRIDES}
_SECONDS = len("2026-01-01T00:00:00")


def plain(text: str) -> str:
    """`text` without escape sequences and control characters; all line ends become newlines."""
    text = without_lone_surrogates(text)
    if "\x1b" in text or not text.isascii():
        text = _ESCAPE.sub("", text)
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_TABLE)


def one_line(text: str, limit: int | None = None) -> str:
    """`text` on one line, cut with an ellipsis where it has more than `limit` characters."""
    # Reading all of a megabyte for eighty characters of it would cost more than the rest of the page.
    beginning = text if limit is None else text[: 8 * limit]
    words = " ".join(plain(beginning).split())
    return words if limit is None or len(words) <= limit else words[: limit - 1].rstrip() + "…"


def moment(timestamp: str) -> str:
    """An ISO time as people write it, in UTC to the second; what is no time comes back as it is."""
    try:
        at = datetime.fromisoformat(timestamp)
    except ValueError:
        return one_line(timestamp, 40)
    return _to_utc(at).isoformat(" ")[:_SECONDS]


def _to_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC) if at.tzinfo else at
    except OverflowError:
        return at
