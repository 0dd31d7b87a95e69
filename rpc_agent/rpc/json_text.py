"""Reads and writes JSON as the wire wants it, with the standard library. Refuses to know what the JSON means.

Reading stays with this module for good: orjson would turn integers above 64 bits into floats, and a request id
must come back as the same value. Writing moves to `fast_json` once that is loaded.
"""

import json
import re
from math import isinf
from typing import Any, NoReturn

_BOM = b"\xef\xbb\xbf"

_ESCAPE = (
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a whole pair stays
    r"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"  # half a pair
    r"|\\."  # any other escape: taken whole, so that the second half of "\\\\" starts nothing
)


class NotJson(ValueError):
    """The bytes are no JSON text; the message says why, without quoting them."""


class NotSerialisable(ValueError):
    """The value has no JSON form."""


def decode(data: bytes) -> Any:
    """The value of a JSON text. NaN and numbers beyond a double are refused, half a surrogate pair becomes U+FFFD.

    Raises NotJson, also for nesting deeper than the interpreter can follow.
    """
    try:
        return _DECODER.decode(_whole_characters(data.removeprefix(_BOM).decode()))
    except UnicodeDecodeError as error:
        raise NotJson(f"not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise NotJson(f"not JSON at character {error.pos}: {error.msg}") from None
    except RecursionError:
        raise NotJson("nested too deeply") from None
    except ValueError as error:
        # Ours (NaN, infinity), or CPython's limit of 4,300 digits for an integer.
        raise NotJson(f"not JSON: {error}") from None


def encode(value: Any) -> bytes:
    """The shortest JSON text of `value`, in UTF-8, without a line break. Raises NotSerialisable."""
    try:
        text = _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotSerialisable(str(error)) from error
    try:
        return text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()


def _whole_characters(text: str) -> str:
    # JSON may spell half a surrogate pair; UTF-8 cannot, so it would fail later, wherever the string is written.
    if "\\u" not in text or re.search(r"\\u[dD][89a-fA-F]", text) is None:
        return text
    return re.sub(_ESCAPE, lambda found: "\\ufffd" if found[1] else found[0], text)


def _finite(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise ValueError("a number beyond the range of a double")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse_constant)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
