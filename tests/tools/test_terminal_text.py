from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.tools.terminal_text import TerminalText

PIECES = [
    b"a",
    b"\n",
    b"\r",
    b"\r\n",
    b"\x1b[1;31m",
    b"\x1b]0;t\x07",
    b"\x1b]8;;u\x1b\\",
    b"\x1b(B",
    b"\x1bM",
    b"\xc3\xa9",
    b"\xff",
    b"\0",
    b"\x1b",
]


def text_of(*blocks: bytes) -> str:
    text = TerminalText()
    return "".join(map(text.feed, blocks)) + text.finish()


def test_controls_go_and_text_stays():
    assert text_of(b"".join(PIECES)) == "a\n\r\né\ufffd"


def test_a_sequence_that_never_ends_is_not_held_for_ever():
    text = TerminalText()
    assert text.feed(b"\x1b]" + b"x" * 10_000) != ""


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join), st.lists(st.integers(0, 40), max_size=5))
def test_where_the_bytes_are_cut_makes_no_difference(data: bytes, cuts: list[int]):
    places = sorted(min(cut, len(data)) for cut in cuts)
    blocks = [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]
    assert text_of(*blocks) == text_of(data)
