"""One line of a session file <-> JSON values. Knows where parsers differ; knows nothing of entries or files.

orjson does nearly all of the work. What it refuses or would alter (integers over 64 bits, lone surrogates, NaN,
deep nesting, stray bytes) is read once more by the standard library, which is ten times slower.
"""

import json
import math
import re
from typing import Any

import orjson

from rpc_agent.conversation.json_values import JsonObject, without_lone_surrogates
from rpc_agent.nesting import is_deeper, may_be_deeper

_AS_ZEROS = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))
_LONG_RUN = b"0" * 19
# orjson turns an integer beyond 64 bits into a float; the shortest such integer has 19 digits. Translating first
# finds them ten times faster than a regular expression would.

_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.S
)
_LONE_LENGTH = len(r"\ud800")
_MAX_INTEGER_DIGITS = 4000
# Python refuses to read integers of more than 4300 digits, and JSON readers elsewhere make them infinite.


MOST_LEVELS = 800
# Python's writer ends below a thousand calls, of which the server's own and what goes around an entry take some.


class NotJson(ValueError):
    """The bytes are not one complete JSON value."""


def read_json(line: bytes, *, exact: bool = True) -> Any:
    """The value of a line. Lone surrogates and stray bytes become U+FFFD; NaN and infinities null.

    `exact=False` skips the search for integers over 64 bits: enough for a reader that only wants ids.
    Raises NotJson.
    """
    if not exact or _LONG_RUN not in line.translate(_AS_ZEROS):
        try:
            return _followable(orjson.loads(line), line)
        except orjson.JSONDecodeError:
            pass
    return _followable(_read_slowly(readable_text(line)), line)


def readable_text(line: bytes) -> str:
    """The text of a line with what no UTF-8 text can hold replaced by U+FFFD."""
    return _ESCAPE.sub(_replace_lone, line.decode("utf-8", "replace"))


def has_lone_surrogate(line: bytes) -> bool:
    """Whether an escape in a line of JSON is one half of a surrogate pair, without the other."""
    return any(map(_is_lone, _ESCAPE.finditer(line.decode("utf-8", "replace"))))


def decoder() -> json.JSONDecoder:
    """A decoder of the standard library that makes of numbers what `read_json` makes of them."""
    return json.JSONDecoder(parse_constant=_as_null, parse_int=_integer, parse_float=_finite)


def write_json(value: object) -> bytes:
    """Compact JSON in UTF-8 without a newline. Lone surrogates become U+FFFD, NaN and infinities null."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return without_lone_surrogates(_dump_slowly(value)).encode("utf-8")


def write_object(value: JsonObject) -> tuple[bytes, JsonObject]:
    """The line of an object, and the object as a reader of that line will see it."""
    try:
        return orjson.dumps(value), value
    except TypeError:
        line = write_json(value)
        return line, read_json(line)


def _followable(value: Any, line: bytes) -> Any:
    """What we can read deeper than we can write it again would be an error of every question about the session."""
    if may_be_deeper(line, MOST_LEVELS) and is_deeper(value, MOST_LEVELS):
        raise NotJson("nested too deeply")
    return value


def _read_slowly(text: str) -> Any:
    try:
        return decoder().decode(text)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def _dump_slowly(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        finite = decoder().decode(json.dumps(value))
        return json.dumps(finite, ensure_ascii=False, separators=(",", ":"))


def _replace_lone(match: re.Match[str]) -> str:
    return "\ufffd" if _is_lone(match) else match[0]


def _is_lone(match: re.Match[str]) -> bool:
    escape = match[0]
    return len(escape) == _LONE_LENGTH and escape[2] in "dD"


def _as_null(_: str) -> None:
    return None


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= _MAX_INTEGER_DIGITS else None


def _finite(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None
