"""Markdown: the structure is ours whatever is quoted, and what is quoted can be read."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpc_agent.export.fences import code_spans, fence_around, split_fences
from rpc_agent.export.markdown import export_markdown
from rpc_agent.export.plain_text import plain
from rpc_agent.export.snapshot import SessionSnapshot
from tests.support.exports import chain, entries_of, message, session_of_every_kind, squeezed
from tests.support.sessions import HEADER

hostile = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="`~#<[]!&\\> \n-=ab", max_size=40),
    st.sampled_from(
        ["# head", "a\n===", "```\n# x", "~~~\n</script>", "\n\n# x\n", "- # x", "1. ```\n# x", "<script>"]
    ),
)


def outside_fences(markdown: str) -> list[str]:
    """The lines that are not inside one of our code blocks, quoted or not."""
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        bare = line.removeprefix("> ")
        if fence:
            fence = "" if bare == fence else fence
        elif found := re.match(r"(`{3,})[\w+#.-]*\Z", bare):
            fence = found[1]
        else:
            lines.append(line)
    assert not fence, "a block was left open"
    return lines


def headings(markdown: str) -> list[str]:
    return [line.split()[0] for line in outside_fences(markdown) if line.startswith("#")]


def live_markup(markdown: str) -> list[str]:
    """Characters outside code that a reader of Markdown could make HTML, links or images of."""
    prose = [piece for line in outside_fences(markdown) for piece in _prose_of(line)]
    return [piece for piece in prose if re.search(r"[<\[&]", re.sub(r"\\.", "", piece))]


def _prose_of(line: str) -> list[str]:
    """As readers of Markdown take it: a backslash escapes what follows it, but not within a code span."""
    pieces, at = [""], 0
    while at < len(line):
        run = re.compile("`*").match(line, at)
        ticks = run[0] if run else ""
        end = re.compile(f"(?<!`){ticks}(?!`)").search(line, at + len(ticks)) if ticks else None
        if end:
            pieces.append("")
            at = end.end()
            continue
        taken = ticks or line[at : at + (2 if line[at] == "\\" else 1)]
        pieces[-1] += taken
        at += len(taken)
    return pieces


def test_a_backslash_within_a_code_span_escapes_nothing() -> None:
    assert [live_markup(line) for line in ("`<\\`", "\\`<\\`", "\\\\`<`", "``<` `` <")] == [[], ["\\`<\\`"], [], [" <"]]


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_no_text_in_any_place_makes_a_heading_a_link_or_html(data: st.DataObject) -> None:
    markdown = export_markdown(session_of_every_kind(lambda: data.draw(hostile)))
    benign = export_markdown(session_of_every_kind(lambda: "x"))
    assert (headings(markdown), live_markup(markdown)) == (headings(benign), [])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(st.characters(exclude_characters="`~\\>"), max_size=40), min_size=1, max_size=6))
def test_every_text_of_a_conversation_is_in_it(texts: list[str]) -> None:
    raws = chain(*(message("assistant", content=[{"type": "text", "text": text}]) for text in texts))
    markdown = export_markdown(SessionSnapshot(header=HEADER, entries=entries_of(raws), leaf_id=raws[-1]["id"]))
    shown = squeezed(markdown.replace("\\", "").replace("\n>", "\n"))
    assert [text for text in texts if squeezed(plain(text)) not in shown] == []


@settings(deadline=None)
@given(st.text(alphabet="`~ \nab", max_size=60))
def test_cutting_text_into_prose_and_code_loses_nothing(text: str) -> None:
    lines: list[str] = []
    for run in split_fences(text):
        opening = [getattr(run, "opening")] if hasattr(run, "opening") else []  # noqa: B009
        closing = [each] if (each := getattr(run, "closing", None)) is not None else []
        lines += [*opening, *run.lines, *closing]
    assert "\n".join(lines) == text
    assert all("".join(piece for _, piece in code_spans(line)) == line for line in text.split("\n"))


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("a `b` c", [(False, "a "), (True, "`b`"), (False, " c")]),
        ("``a`b``", [(True, "``a`b``")]),
        ("a ` b", [(False, "a ` b")]),
        ("`` ` ``` `", [(False, "`` "), (True, "` ``` `")]),
        ("", []),
    ],
)
def test_code_in_a_line_is_found_as_markdown_finds_it(line: str, pieces: list[tuple[bool, str]]) -> None:
    assert list(code_spans(line)) == pieces


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        # A backtick that opens nothing on its line must not pair with one on the next and set the tag there free.
        ("a ` b\n` <script> `", ["> a \\` b", "> ` <script> `"]),
        ("a <b> `<c>` [d] \\<e>", ["> a \\<b> `<c>` \\[d] \\\\\\<e>"]),
        ("x\n~~~ py <s>\n```\n# <y>", ["> x", "> ````py", "> ```", "> # <y>", "> ````"]),
    ],
)
def test_prose_is_quoted_and_disarmed_and_code_is_quoted_as_it_is(text: str, quoted: list[str]) -> None:
    raws = chain(message("user", content=text))
    markdown = export_markdown(SessionSnapshot(header=HEADER, entries=entries_of(raws), leaf_id="id0"))
    assert markdown.splitlines()[-len(quoted) :] == quoted


@pytest.mark.parametrize(("text", "fence"), [("", "```"), ("a ``` b", "````"), ("`````", "``````"), ("``", "```")])
def test_a_fence_is_longer_than_every_run_inside(text: str, fence: str) -> None:
    assert fence_around(text) == fence


def test_the_markdown_is_the_one_that_people_looked_at(golden: SessionSnapshot, golden_folder: Path) -> None:
    told = "look at it, then: rpc-agent sessions export session.jsonl --format markdown > session.md"
    assert export_markdown(golden) == (golden_folder / "session.md").read_text(encoding="utf-8"), told
