"""The better token estimate: counts classes of characters and what stands beside what. Knows no vocabulary.

A tokenizer spends about one token on a word and its leading space, one on three digits, and more the less a text
looks like prose: changes of case, digits between letters, rare letters. Each such place is found by translating the
bytes to class letters and counting short patterns, which runs at the speed of memory; the weights were fitted to
o200k counts of some hundred kinds of text, aimed a little above the truth, because a context that is larger than
believed costs a failed call.
"""

import re
from collections.abc import Callable, Mapping
from itertools import chain

from rpc_agent.context.tokens import SIMPLE, TokenRule

_UNITS_PER_TOKEN_AT_MOST = 20
"""Not even rulers of dashes and empty lines get more characters into a token than this, on average."""


def _byte_table(class_of: Callable[[int], int]) -> bytes:
    return bytes(map(class_of, range(256)))


def _letters_merged(code: int) -> int:
    """Letters a, digits 0, space, newline n, other controls t, the rest a full stop."""
    char = chr(code)
    if code < 128 and char.isalpha():
        return ord("a")
    if code < 128 and char.isdigit():
        return ord("0")
    if char in "\r\n":
        return ord("n")
    if code < 32 or code == 127:
        return ord("t")
    return code if char == " " else ord(".")


def _cases_apart(code: int) -> int:
    """Like the first table, with capitals A and the letters that are rare in words of any language r."""
    char = chr(code)
    if char in "jqxzvkw":
        return ord("r")
    return ord("A") if "A" <= char <= "Z" else _letters_merged(code)


def _cases_only(code: int) -> int:
    return ord("A") if "A" <= chr(code) <= "Z" else _letters_merged(code)


_MERGED, _RARE, _CASES = map(_byte_table, (_letters_merged, _cases_apart, _cases_only))

_PATTERNS: Mapping[bytes, tuple[tuple[bytes, float], ...]] = {
    # The second ones are looked for only where the first occurs: each search goes through the whole text.
    b"a": (
        (b"a", 0.055),
        (b" a", 0.82),  # A word with its space.
        (b"a" * 32, 13.0),  # No word is that long: sequences of a laboratory, keys in letters.
    ),
    b"0": (
        (b"0a", 1.09),  # Hex and base64: letters that no word explains.
        (b" 0", 0.8),  # A space before a number is a token of its own.
        (b"0.", 0.57),
    ),
    b".": ((b".", 0.19), (b"a.", 0.57), (b" .", 1.13), (b"..", 0.46)),
    b"n": (
        (b"n", 1.28),
        (b".n", -1.2),  # Punctuation takes the end of the line with it.
        (b"nn", -1.1),  # Empty lines, and the two characters of a line's end, share a token.
    ),
    b"  ": tuple((before + b"  ", 0.92) for before in (b"a", b".", b"0", b"n")),  # A run is one token, however long.
    b"t": ((b"t", 0.53),),
}
_RULERS: tuple[bytes, ...] = tuple(char * 4 for char in (b"-", b"=", b"*", b"#", b"_", b"~"))
_RULER = -1.2
"""Repeated signs share tokens, so what the patterns counted for each sign is taken back."""
_DIGIT_GROUP, _RARE_LETTER, _CAPITAL, _TWO_CAPITALS, _LONE_SMALL = 1.25, 0.75, 0.246, -0.186, 3.39

_LEANING = 1.03
"""Centres the kinds of text that were not fitted between 0.85 and 1.35 of their true counts."""

_LATIN_LETTER, _LATIN_SIGN = 0.74, 0.3
"""Weights of U+00C0..U+00FF and U+0080..U+00BF."""
_BLOCKS: Mapping[str, tuple[float, tuple[range, ...]]] = {
    # By the high byte of a UTF-16 unit: weight of a unit, then the bytes.
    "latin extended": (0.59, (range(0x01, 0x03),)),
    "vietnamese": (0.1, (range(0x1E, 0x1F),)),
    "greek and accents": (0.38, (range(0x03, 0x04),)),
    "cyrillic": (0.285, (range(0x04, 0x05),)),
    "armenian, hebrew, arabic": (0.385, (range(0x05, 0x09), range(0xFB, 0xFC))),
    "joiners and small forms": (0.8, (range(0xFE, 0xFF),)),
    "india": (0.385, (range(0x09, 0x0E),)),
    "thai, burmese": (0.46, (range(0x0E, 0x0F), range(0x10, 0x11))),
    "tibetan": (1.5, (range(0x0F, 0x10),)),
    "ethiopic, cherokee": (2.2, (range(0x12, 0x14),)),
    "khmer": (0.69, (range(0x17, 0x18),)),
    "hangul": (0.72, (range(0x11, 0x12), range(0xAC, 0xD8))),
    "punctuation": (0.4, (range(0x20, 0x21),)),
    "arrows and mathematics": (2.0, (range(0x21, 0x24), range(0x29, 0x2C))),
    "boxes": (0.56, (range(0x24, 0x26),)),
    "braille": (2.4, (range(0x28, 0x29),)),
    "pictures": (2.3, (range(0x26, 0x28),)),
    "kana": (0.8, (range(0x30, 0x31),)),
    "han": (0.81, (range(0x31, 0xA0),)),
    "surrogates": (0.88, (range(0xD8, 0xE0),)),
    "full width": (1.4, (range(0xFF, 0x100),)),
}
_ANY_OTHER_BLOCK = 0.5
_NEIGHBOURS: Mapping[str, tuple[tuple[re.Pattern[str], float], ...]] = {
    # Scripts and letters that share the high bytes of a block, and what one of their units weighs more than it.
    "cyrillic": ((re.compile("[іїєґў]"), 0.9), (re.compile("[ђјљњћџ]"), 1.5), (re.compile("[қғңұәһ]"), -1.3)),
    "india": ((re.compile("[\u0a00-\u0a7f\u0d80-\u0dff]+"), 0.25),),  # Gurmukhi and Sinhala.
    "thai, burmese": ((re.compile("[\u0e80-\u0eff]+"), 1.42), (re.compile("[\u10a0-\u10ff]+"), -0.2)),  # Lao, Georgian.
}


def _block_table() -> bytes:
    """0 for ASCII and Latin-1, then the blocks in their order, then all others."""
    blocks = {high: at for at, (_, ranges) in enumerate(_BLOCKS.values(), start=1) for high in chain(*ranges)}
    return _byte_table(lambda high: blocks.get(high, len(_BLOCKS) + 1) if high else 0)


_BLOCK_TABLE = _block_table()
_NEIGHBOURS_OF = tuple(_NEIGHBOURS.get(name, ()) for name in _BLOCKS)
_BLOCK_WEIGHTS = (*(weight for weight, _ in _BLOCKS.values()), _ANY_OTHER_BLOCK)
_LATIN_TABLE = _byte_table(lambda code: 2 if code >= 0xC0 else 1 if code >= 0x80 else 0)


def weigh(text: str) -> float:
    """Tokens of a text, as a fraction."""
    if text.isascii():
        return max(_ascii(text.encode()), len(text) / _UNITS_PER_TOKEN_AT_MOST)
    tokens = _ascii(text.encode("ascii", "ignore")) + _latin(text) + _others(text)
    return max(tokens, len(text) / _UNITS_PER_TOKEN_AT_MOST)


def _ascii(data: bytes) -> float:
    merged = data.translate(_MERGED)
    tokens = 0.0
    for present, patterns in _PATTERNS.items():
        if present in merged:
            for pattern, weight in patterns:
                tokens += merged.count(pattern) * weight
    tokens += data.translate(_RARE).count(b"r") * _RARE_LETTER
    if b"0" in merged:
        tokens += _digit_groups(merged) * _DIGIT_GROUP
    if not data.islower():
        cases = data.translate(_CASES)
        tokens += cases.count(b"A") * _CAPITAL + cases.count(b"AA") * _TWO_CAPITALS + cases.count(b"AaA") * _LONE_SMALL
    if b"...." in merged:
        tokens += _rulers(data) * _RULER
    return tokens * _LEANING


def _rulers(data: bytes) -> int:
    found = {ruler: data.count(ruler) for ruler in _RULERS}
    # Longer rulers share tokens again.
    return sum(found.values()) + sum(data.count(ruler * 4) for ruler, times in found.items() if times)


def _digit_groups(merged: bytes) -> int:
    """Numbers are cut into groups of up to three digits."""
    thirds = merged.replace(b"000", b"\x01")
    return thirds.count(b"\x01") + thirds.replace(b"00", b"0").count(b"0")


def _latin(text: str) -> float:
    classes = text.encode("latin-1", "ignore").translate(_LATIN_TABLE)
    return classes.count(2) * _LATIN_LETTER + classes.count(1) * _LATIN_SIGN


def _others(text: str) -> float:
    blocks = text.encode("utf-16-le", "surrogatepass")[1::2].translate(_BLOCK_TABLE)
    units = [blocks.count(at) for at in range(1, len(_BLOCK_WEIGHTS) + 1)]
    present = (rules for rules, times in zip(_NEIGHBOURS_OF, units, strict=False) if times)
    apart = (sum(map(len, script.findall(text))) * more for rules in present for script, more in rules)
    return sum(times * weight for times, weight in zip(units, _BLOCK_WEIGHTS, strict=True)) + sum(apart)


CLASSES = TokenRule("classes", weigh)


def token_rule(name: str) -> TokenRule:
    """The rule of the setting `tokens.estimate`: "simple", or "classes" for anything else."""
    return SIMPLE if name == SIMPLE.name else CLASSES
