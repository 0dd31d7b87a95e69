"""JSON text as JavaScript prints it, because token counts of the session format are counts of that text."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

_SAFE_INTEGER = 2**53
"""Beyond it JavaScript has only doubles, and prints their shortest form."""


def compact_json(value: Any, *, sort_keys: bool = False) -> str:
    """`value` without spaces and with JavaScript's numbers: 1.0 is 1, 1e21 is 1e+21, NaN is null.

    A stack of its own: what came from a file or a model may be nested deeper than Python calls.
    """
    written: list[str] = []
    waiting: list[Any] = [_part(value)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            written.append(part)
        else:
            waiting += reversed(_object_parts(part, sort_keys) if isinstance(part, dict) else _array_parts(part))
    return "".join(written)


def _part(value: Any) -> Any:
    """JSON text, or an object or array whose text is still to be made."""
    return value if isinstance(value, dict | list | tuple) else _plain(value)


def _object_parts(value: Mapping[Any, Any], sort_keys: bool) -> list[Any]:
    parts: list[Any] = ["{"]
    for key in sorted(value) if sort_keys else value:
        parts += (f"{_text(str(key))}:", _part(value[key]), ",")
    return _closed(parts, "}")


def _array_parts(items: Sequence[Any]) -> list[Any]:
    parts: list[Any] = ["["]
    for item in items:
        parts += (_part(item), ",")
    return _closed(parts, "]")


def _closed(parts: list[Any], bracket: str) -> list[Any]:
    if len(parts) > 1:
        parts[-1] = bracket
    else:
        parts.append(bracket)
    return parts


def _plain(value: Any) -> str:
    match value:
        case str():
            return _text(value)
        case bool() | None:
            return json.dumps(value)
        case int() if -_SAFE_INTEGER <= value <= _SAFE_INTEGER:
            return str(value)
        case int() | float():
            return _number(value)
        case _:
            return "null"


def _text(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    if text.isascii():
        return quoted
    # A lone surrogate is printed as its escape; a whole character as itself.
    return "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in quoted)


def _number(value: float) -> str:
    try:
        number = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(number):
        return "null"
    digits, _, exponent = f"{number!r}".partition("e")
    if not exponent:
        return digits.removesuffix(".0") if number else "0"
    return _scaled(digits, int(exponent))


def _scaled(digits: str, exponent: int) -> str:
    """Python changes to exponents at 1e16 and 1e-5, JavaScript at 1e21 and 1e-7."""
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    whole, _, fraction = digits.partition(".")
    fraction = "" if fraction == "0" else fraction
    if 0 <= exponent < 21:
        return sign + whole + fraction.ljust(exponent, "0")
    if -7 < exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{whole}{fraction}"
    point = f".{fraction}" if fraction else ""
    return f"{sign}{whole}{point}e{'+' if exponent > 0 else '-'}{abs(exponent)}"
