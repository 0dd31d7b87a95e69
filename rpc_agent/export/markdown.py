"""A session as Markdown. Headings are ours alone: whatever others wrote stands in quotes and in fences.

In quoted prose `<`, `[`, `&` and `\\` are escaped outside code, so that no reader of Markdown makes HTML, links or
images of it; code stays as it is.
"""

import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from rpc_agent.export.cards import Card, Folded, Part, Picture, Prose, Remark, Verbatim
from rpc_agent.export.document import Document, Section
from rpc_agent.export.fences import CodeLines, code_spans, fence_around, split_fences
from rpc_agent.export.plain_text import moment, one_line, plain
from rpc_agent.export.snapshot import SessionSnapshot

_IN_PROSE = re.compile(r"[\\<\[&`]")
_ON_A_LINE = re.compile(r"[\\<\[\]&`*_|~#]")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,20}\Z")


def export_markdown(snapshot: SessionSnapshot) -> str:
    """Head, outline, active branch, then the other branches."""
    return "\n".join(_lines(Document(snapshot))) + "\n"


def _lines(document: Document) -> Iterator[str]:
    yield from (f"# {_inline(document.title)}", "")
    for name, value in document.facts():
        yield f"- {name}: {_inline(value)}"
    for warning in document.warnings:
        yield f"- Damage: {_inline(warning)}"
    yield from ("", "## Outline", "")
    yield from _outline(document)
    for section in document.sections:
        yield from ("", f"## {_section_title(section)}")
        for card in document.cards(section):
            yield from _card(card)


def _outline(document: Document) -> Iterator[str]:
    for heading in document.headings():
        mark = "" if heading.is_active else " (other branch)"
        here = " ← the session goes on here" if heading.is_leaf else ""
        label = f" — label {_inline(heading.label)}" if heading.label else ""
        # Depth is not drawn: an item moved in far enough is code to a reader of Markdown.
        yield f"- #{heading.number} {heading.kind}: {_inline(heading.text)}{label}{mark}{here}"


def _section_title(section: Section) -> str:
    if section.branch.is_active:
        return "Conversation"
    return "Another beginning" if section.fork is None else f"Another branch, from entry #{section.fork}"


def _card(card: Card) -> Iterator[str]:
    told = (_inline(fact) for fact in (*card.facts, moment(card.timestamp)) if fact)
    title = f"{_inline(card.title)}{_label(card.label)}"
    if card.kind == "note":
        yield from ("", f"_{title}_ · {' · '.join((f'#{card.number}', *told))}")
    else:
        yield from ("", f"### {title}", "", " · ".join((f"#{card.number}", *told)))
    for part in card.parts:
        yield from _part(part)


def _part(part: Part) -> Iterator[str]:
    yield ""
    match part:
        case Prose():
            yield from _quoted(part.text)
        case Verbatim():
            yield from _fenced(plain(part.text).split("\n"), "text")
        case Picture():
            yield f"(an image of type {_inline(part.mime_type)})"
        case Remark():
            target = "" if part.target is None else f" #{part.target}"
            yield f"_{_inline(part.text)}{target}_"
        case Folded():
            place = "" if part.number is None else f" #{part.number}"
            hint = f" — {_inline(part.hint)}" if part.hint.strip() else ""
            yield f"**{_inline(part.title)}**{place}{hint}{_label(part.label)}"
            for inner in part.parts:
                yield from _part(inner)
        case _:
            assert_never(part)


def _quoted(text: str) -> Iterator[str]:
    for run in split_fences(plain(text)):
        if isinstance(run, CodeLines):
            language = run.language if _LANGUAGE.match(run.language) else ""
            yield from (f"> {line}" for line in _fenced(run.lines, language))
        else:
            yield from (f"> {_disarmed(line)}".rstrip() for line in run.lines)


def _disarmed(line: str) -> str:
    return "".join(piece if is_code else _IN_PROSE.sub(r"\\\g<0>", piece) for is_code, piece in code_spans(line))


def _fenced(lines: Sequence[str], language: str) -> Iterator[str]:
    fence = fence_around("\n".join(lines))
    yield from (f"{fence}{language}", *lines, fence)


def _inline(text: str) -> str:
    return _ON_A_LINE.sub(r"\\\g<0>", one_line(text))


def _label(label: str | None) -> str:
    return f" — label {_inline(label)}" if label else ""
