"""How long a service asks us to wait. Pure: the clock is the service's own Date header."""

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

_IN_TEXT = re.compile(
    r"(?:try again|retry|reset)\w*\s+(?:in|after)\s+(\d+(?:\.\d+)?)\s*(ms|s|m)?(?:econds?|inutes?)?\b", re.I
)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}


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
        seconds = _until(value, headers.get("date"))
    return seconds if seconds is not None else _from_text(text)


def _number(value: str | None) -> float | None:
    return float(value) if value and re.fullmatch(r"\s*\d{1,9}(\.\d{1,9})?\s*", value) else None


def _until(date: str, now: str | None) -> float | None:
    until, since = _date(date), _date(now)
    return max(0.0, until.timestamp() - since.timestamp()) if until and since else None


def _date(value: str | None) -> datetime | None:
    try:
        return parsedate_to_datetime(value) if value else None
    except ValueError:
        return None


def _from_text(text: str) -> float | None:
    found = _IN_TEXT.search(text)
    return float(found[1]) * _UNITS[(found[2] or "s").lower()] if found else None
