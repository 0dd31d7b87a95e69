import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.providers.sse import SseEvent, SseSplitter, SseTooLong


def events_of(body: bytes, size: int = 0) -> list[SseEvent]:
    splitter = SseSplitter()
    step = size or len(body) or 1
    return [event for at in range(0, len(body), step) for event in splitter.feed(body[at : at + step])]


TEXTS = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))


@given(st.lists(st.lists(TEXTS, min_size=1), max_size=5), st.sampled_from(["\n", "\r", "\r\n"]), st.integers(1, 9))
def test_any_events_come_out_whole_whatever_the_line_end_and_the_cut(
    events: list[list[str]], end: str, size: int
) -> None:
    body = "".join("".join(f"data: {line}{end}" for line in lines) + end for lines in events)
    expected = [SseEvent("", "\n".join(lines).encode()) for lines in events]
    assert events_of(body.encode(), size) == events_of(body.encode()) == expected


@given(st.binary(max_size=200), st.integers(1, 20))
def test_any_bytes_give_the_same_events_however_they_are_cut(body: bytes, size: int) -> None:
    assert events_of(body, size) == events_of(body)


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_comments_and_other_fields_are_ignored_and_names_hold_for_one_event(size: int) -> None:
    body = b"\xef\xbb\xbf: hello\nevent: error\nid: 7\nretry: 3\ndata:x\n\nevent: lost\n\ndata: y\ndata\nfoo\n\n"
    assert events_of(body, size) == [SseEvent("error", b"x"), SseEvent("", b"y\n")]


def test_an_event_without_its_blank_line_is_not_given() -> None:
    assert events_of(b"data: a\n\ndata: b\n") == [SseEvent("", b"a")]


def test_a_mark_in_front_of_a_single_line_without_end_is_no_part_of_it() -> None:
    splitter = SseSplitter()
    assert (splitter.feed(b'\xef\xbb\xbf{"error":1}'), splitter.end()) == ([], SseEvent("", b'{"error":1}'))


@pytest.mark.parametrize("body", [b"data: " + b"x" * 100, b"data: 1234567\n" * 20])
def test_an_endless_event_is_refused(body: bytes) -> None:
    splitter = SseSplitter(max_event_bytes=64)
    with pytest.raises(SseTooLong):
        for at in range(len(body)):
            splitter.feed(body[at : at + 1])


def test_many_small_events_do_not_add_up_to_a_large_one() -> None:
    splitter = SseSplitter(max_event_bytes=64)
    assert sum(len(splitter.feed(b"data: 12345678\n\n")) for _ in range(100)) == 100


@pytest.mark.parametrize("silence", [b": still here\n\n", b": still here\n", b"\n", b"id: 1\r\n\r\n"])
def test_keep_alives_do_not_add_up_to_a_large_event(silence: bytes) -> None:
    splitter = SseSplitter(max_event_bytes=64)
    assert [event for _ in range(100) for event in splitter.feed(silence)] == []
    assert splitter.feed(b"data: x\n\n") == [SseEvent("", b"x")]
