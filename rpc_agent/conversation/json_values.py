"""JSON as Python values. Owns the type names and the few total readers; parses nothing."""

from collections.abc import Mapping
from typing import Any

JsonObject = dict[str, Any]
"""A JSON object as it was read: unknown fields stay in it, so they survive a round trip."""


def as_object(value: object) -> Mapping[str, Any]:
    """`value` if it is an object, else an empty one: files of other programs hold anything."""
    return value if isinstance(value, Mapping) else {}


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def as_id(value: object) -> str:
    """An id, or what refers to one, as text; "" for everything that is neither text nor a whole number.

    Some writers make numbers of ids that look like one: their digits are the id (7.0 is 7; 10203e40 is a number too).
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value)) if abs(value) <= _MOST else str(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


_MOST = (1 << 53) - 1
"""Beyond it JSON readers disagree about numbers, and nothing that is counted here comes near it."""


def as_count(value: object) -> int:
    """A non-negative whole number; everything else (null, true, "3", NaN, more than there can be) counts as 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MOST:
        return 0
    return int(value)


def as_amount(value: object) -> float:
    """A non-negative number that need not be whole; everything else, as for `as_count`, is 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MOST:
        return 0.0
    return float(value)


def without_lone_surrogates(text: str) -> str:
    """UTF-8 has no lone surrogates and providers refuse them, so each becomes U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
