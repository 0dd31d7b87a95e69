"""The numbers in a refusal: which one is the limit of the input. Pure; trusts no number that cannot be one."""

import re

_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?![\w])|(?<![\w.])\d{3,9}(?![\w])")
_LEAST_LIMIT = 256
"""No model anybody uses reads fewer tokens; smaller numbers are ids, counts of things, HTTP statuses."""

_MOST_DIGITS = 18

_SUM = re.compile(r"\d\s*\+\s*\d[\d,]*\s*(?:>=?|exceeds)\s*(\d[\d,]{2,})")
"""Input and output asked for, added up against the window."""

_SHORT = re.compile(r"(?<![\w.])(\d{1,4}) ?([km])\b", re.I)
"""128K may be 128,000 or 131,072: the smaller is sure to fit, and what passes teaches the larger."""
_BY = re.compile(r"\bby \d[\d,]*")
"""How much it is too much."""
_ANSWER = re.compile(r"\bmax_(?:new_|output_|completion_)?tokens\b[`'\"]?\s*[(=:]?\s*\d[\d,]*")
"""The size of the answer that we asked for."""
_SMALL, _ROUND = 4096, (16, 100)
"""Below this a number that is no multiple of one of those is a code."""

_N = r"[\s:=(\[]*(\d[\d,]{2,})"
# Not compiled, because most processes never hear of a refusal: `re` does it at the first look, and remembers.
_LIMIT_FORMS = (
    r"\d\)?[^\d.;>]{0,30}(?:exceed(?:s|ed)?|(?:greater|larger|longer|more|bigger|higher) than|beyond)\D{0,40}?"
    r"(\d[\d,]{2,})",
    r"(?:context|token|input|prompt)[ _-]?(?:length|window|size|limit)(?: limit)?(?: of this model)?"
    rf"(?: is| of| to|:|=|\()?{_N}",
    rf"(?:n_ctx|context(?: of)?){_N}",
    rf"(?:上下文|最大|限制|上限)[^\d,，。;；]{{0,12}}?{_N}",
    r"\[\s*\d+\s*,\s*(\d[\d,]{2,})\s*\]",
    r"(?:<=|<|>=?)\s*(\d[\d,]{2,})(?![\d>])",
    r"(?:less than|at most|up to|no more than|cannot exceed|not exceed|limit of|limit is|limited to|maximum of"
    rf"|maximum is){_N}",
    rf"limit (?:for|of) (?:this|the) model is{_N}",
    r"(\d[\d,]{2,})(?: tokens?)? (?:maximum|max)\b",
    rf"(?:maximum|max|limit)[\w ]{{0,40}}?{_N}",
    r"(\d[\d,]{2,})[- ]token (?:limit|window|context)",
    rf"(?:only [a-z]+|exceeds?){_N}",
    r"\d ?/ ?(\d[\d,]{2,})",
)


def input_limit(text: str) -> int | None:
    """The limit in tokens that a refusal states; None when it states none that can be believed."""
    text = _with_long_numbers(_ANSWER.sub("", _BY.sub("", text)))
    if total := _SUM.search(text):
        return _value(total[1])
    sizes, stated = _sizes(text), _stated(text)
    # A limit was passed, so something larger stands beside it; or only a sum is larger, or nothing stands beside it.
    passed = [limit for limit in stated if limit < max(sizes, default=0)]
    if passed:
        return passed[0]
    likely = [limit for limit in stated if limit >= _SMALL or any(limit % step == 0 for step in _ROUND)]
    if stated:
        return likely[0] if likely else None
    return min(sizes) if len(set(sizes)) == 2 else None


def passes_limit(text: str) -> bool:
    """Whether a text states a limit and a size above it."""
    text = _with_long_numbers(text)
    return any(limit < max(_sizes(text), default=0) for limit in _stated(text))


def sizes_tell_overflow(text: str, *, estimate: int, window: int) -> bool:
    """Whether a text names a size near our estimate that is larger than another one near the window."""
    if not estimate or not window:
        return False
    sizes = _sizes(text)
    asked = [size for size in sizes if 0.5 * estimate <= size <= 2 * estimate]
    limits = [size for size in sizes if window / 16 <= size <= window]
    return bool(asked and limits and max(asked) > min(limits) and max(asked) > 0.5 * window)


def _with_long_numbers(text: str) -> str:
    zeros = {"k": "000", "m": "000000"}
    return _SHORT.sub(lambda found: found[1] + zeros[found[2].lower()], text)


def _stated(text: str) -> list[int]:
    values = [_value(found) for form in _LIMIT_FORMS for found in re.findall(form, text, re.I)]
    return [value for value in values if value >= _LEAST_LIMIT]


def _sizes(text: str) -> list[int]:
    return [value for found in _NUMBER.findall(text) if (value := _value(found)) >= _LEAST_LIMIT]


def _value(digits: str) -> int:
    """0 for what is too long to be a count of anything; Python reads no number of thousands of digits."""
    plain = digits.replace(",", "").strip()
    return int(plain) if 0 < len(plain) <= _MOST_DIGITS else 0
