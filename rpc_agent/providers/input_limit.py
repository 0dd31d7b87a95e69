"""The numbers in a refusal: which one is the limit of the input. Pure; trusts no number that cannot be one."""

import re

_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?![\w])|(?<![\w.])\d{3,9}(?![\w])")
_LEAST_LIMIT = 256
"""No model anybody uses reads fewer tokens; smaller numbers are ids, counts of things, HTTP statuses."""

_SUM = re.compile(r"\d\s*\+\s*\d[\d,]*\s*(?:>=?|exceeds)\s*(\d[\d,]{2,})")
"""Input and output asked for, added up against the window."""

_N = r"[\s:=(\[]*(\d[\d,]{2,})"
_LIMIT_FORMS = tuple(
    re.compile(form, re.I)
    for form in (
        r"(?:context|token|input|prompt)[ _-]?(?:length|window|size|limit)(?: limit)?(?: of this model)?"
        rf"(?: is| of| to|:|=|\()?{_N}",
        rf"n_ctx{_N}",
        rf"(?:上下文|最大|限制|上限)[^\d,，。;；]{{0,12}}?{_N}",
        r"\[\s*\d+\s*,\s*(\d[\d,]{2,})\s*\]",
        r"(?:<=|<|>=?)\s*(\d[\d,]{2,})(?![\d>])",
        r"(?:less than|at most|up to|no more than|cannot exceed|not exceed|limit of|limit is|limited to|maximum of"
        rf"|maximum is){_N}",
        rf"limit (?:for|of) (?:this|the) model is{_N}",
        r"(\d[\d,]{2,})(?: tokens?)? (?:maximum|max)\b",
        rf"(?:maximum|max|limit)[\w ]{{0,40}}?{_N}",
        r"(\d[\d,]{2,})[- ]token (?:limit|window|context)",
    )
)


def input_limit(text: str) -> int | None:
    """The limit in tokens that a refusal states; None when it states none that can be believed."""
    if total := _SUM.search(text):
        return _value(total[1])
    sizes = _sizes(text)
    stated = [
        limit for form in _LIMIT_FORMS for found in form.findall(text) if (limit := _value(found)) >= _LEAST_LIMIT
    ]
    # A limit was passed, so something larger stands beside it; or only a sum is larger, or nothing stands beside it.
    passed = [limit for limit in stated if limit < max(sizes, default=0)]
    if passed or stated:
        return (passed or stated)[0]
    return min(sizes) if len(set(sizes)) == 2 else None


def sizes_tell_overflow(text: str, *, estimate: int, window: int) -> bool:
    """Whether a text names a size near our estimate that is larger than another one near the window."""
    if not estimate or not window:
        return False
    sizes = _sizes(text)
    asked = [size for size in sizes if 0.5 * estimate <= size <= 2 * estimate]
    limits = [size for size in sizes if window / 16 <= size <= window]
    return bool(asked and limits and max(asked) > min(limits) and max(asked) > 0.5 * window)


def _sizes(text: str) -> list[int]:
    return [value for found in _NUMBER.findall(text) if (value := _value(found)) >= _LEAST_LIMIT]


def _value(digits: str) -> int:
    return int(digits.replace(",", "").strip() or "0")
