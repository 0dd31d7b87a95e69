import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.tools.truncation import Truncation, size_text, truncate_head, truncate_tail

texts = st.text(st.sampled_from("ab\né😀"), max_size=60)


def test_a_short_text_stays_whole():
    whole = Truncation(text="a\nb", kept_lines=2, total_lines=2, total_bytes=3, truncated=False, cuts_line=False)
    assert truncate_head("a\nb") == truncate_tail("a\nb") == whole


def test_whole_lines_are_kept_from_the_chosen_end():
    text = "1\n2\n3\n"
    common = {"kept_lines": 2, "total_lines": 3, "total_bytes": 6, "truncated": True, "cuts_line": False}
    assert truncate_head(text, max_lines=2) == Truncation(text="1\n2\n", **common)
    assert truncate_tail(text, max_lines=2) == Truncation(text="2\n3\n", **common)
    assert truncate_head(text, max_bytes=5) == Truncation(text="1\n2\n", **common)
    assert truncate_tail(text, max_bytes=5) == Truncation(text="2\n3\n", **common)


def test_a_line_that_is_too_long_alone_is_cut_between_characters():
    text = "é" * 10
    common = {"kept_lines": 1, "total_lines": 1, "total_bytes": 20, "truncated": True, "cuts_line": True}
    assert truncate_head(text, max_bytes=5) == Truncation(text="éé", **common)
    assert truncate_tail(text, max_bytes=5) == Truncation(text="éé", **common)


@given(texts, st.integers(1, 6), st.integers(4, 20))
def test_what_is_kept_is_an_end_of_the_text_and_within_the_limits(text: str, max_lines: int, max_bytes: int):
    head = truncate_head(text, max_lines=max_lines, max_bytes=max_bytes)
    tail = truncate_tail(text, max_lines=max_lines, max_bytes=max_bytes)
    assert text.startswith(head.text) and text.endswith(tail.text)
    for cut in (head, tail):
        assert len(cut.text.encode()) <= max_bytes and cut.kept_lines <= max_lines
        assert cut.truncated == (cut.text != text)


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (1023, "1023 B"), (51200, "50.0 KiB"), (3 << 40, "3072.0 GiB")]
)
def test_sizes_are_written_for_people(count: int, shown: str):
    assert size_text(count) == shown
