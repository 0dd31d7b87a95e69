"""How long a service asks us to wait. Pure: the clock is the service's own Date header."""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

_SECONDS = {
    **dict.fromkeys(("ms", "millisecond"), 0.001),
    **dict.fromkeys(("s", "sec", "second"), 1.0),
    **dict.fromkeys(("m", "min", "minute"), 60.0),
    **dict.fromkeys(("h", "hour"), 3600.0),
    **dict.fromkeys(("d", "day"), 86_400.0),
}
_IN_TEXT = re.compile(
    r"(?:(?:try again|retry|reset|available)\w{0,9}(?:\s+(?:your|the|this) request)?(?:\s+again)?\s+(?:in|after)"
    r"|please\s+wait(?:\s+for)?)"
    r"(?:\s+(?:about|around|approximately|at least))?(?=\s+\d)",
    re.I,
)
_IN_FIELD = re.compile(
    r"\b(?:retry[-_]?(?:after|delay)|resets?[-_](?:in|after))(?:[-_]seconds)?[\\\"']*\s*[:=]\s*[\\\"']*(?=\d)", re.I
)
"""What an error's JSON, or the headers quoted in it, say beside the message."""
_PART = re.compile(
    rf"\s*(?:,\s*|and\s+)?(\d{{1,9}}(?:\.\d{{1,18}})?)(?!\d)\s*"
    rf"(?:({'|'.join(sorted(_SECONDS, key=len, reverse=True))})s?)?(?![A-Za-z])",
    re.I,
)
"""A number and its unit: "20s", "6m0s" and "2 hours and 5 minutes" are made of such."""


def retry_after(headers: Mapping[str, str], text: str = "") -> float | None:
    """Seconds to wait, from `retry-after-ms`, `retry-after` (seconds or a date) or the message; None if not said.

    Header names are lower case.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is None and value:
        # Some write the unit, which no standard knows.
        with_unit = re.fullmatch(r"\s*\d[\d.a-z\s]*", value, re.I)
        seconds = _duration(value) if with_unit else _until(value, headers.get("date"))
    return seconds if seconds is not None else _from_text(text)


def _number(value: str | None) -> float | None:
    return float(value) if value and re.fullmatch(r"\s*\d{1,9}(\.\d{1,9})?\s*", value) else None


def _until(date: str, now: str | None) -> float | None:
    try:
        until, since = (parsedate_to_datetime(value) for value in (date, now or ""))
        return max(0.0, until.timestamp() - since.timestamp())
    except (ValueError, OverflowError):
        return None


def _from_text(text: str) -> float | None:
    asked = _IN_TEXT.search(text) or _IN_FIELD.search(text)
    return _duration(text, asked.end()) if asked else None


def _duration(text: str, at: int = 0) -> float | None:
    """Without a unit the number is seconds, and nothing behind it belongs to it."""
    part = _PART.match(text, at)
    if part is None or not part[2]:
        return float(part[1]) if part else None
    seconds = 0.0
    while part is not None and part[2]:
        seconds += float(part[1]) * _SECONDS[part[2].lower()]
        part = _PART.match(text, part.end())
    return seconds
