"""A session as one HTML file that needs nothing else: no script, no network. Elements and attributes are all ours."""

from collections.abc import Iterator
from typing import assert_never

from rpc_agent.export.cards import Card, Folded, Part, Picture, Prose, Remark, Verbatim
from rpc_agent.export.document import Document, Heading, Section
from rpc_agent.export.html_style import CONTENT_POLICY, STYLE
from rpc_agent.export.html_text import picture, prose, shown, shown_on_a_line
from rpc_agent.export.plain_text import moment
from rpc_agent.export.snapshot import SessionSnapshot

_DEEPEST = 6
# Forks of forks further down are not moved in: the outline is as narrow as a phone.


def export_html(snapshot: SessionSnapshot) -> str:
    """The whole session: head, outline, active branch, then the other branches."""
    return "".join(_page(Document(snapshot)))


def _page(document: Document) -> Iterator[str]:
    yield from _head(document)
    yield from _outline(document)
    yield "<main>\n"
    for section in document.sections:
        yield _section_title(section)
        for card in document.cards(section):
            yield from _card(card)
    yield "</main>\n"
    yield "<footer>Written by rpc-agent. This file loads nothing and runs nothing.</footer>\n</div></body></html>\n"


def _head(document: Document) -> Iterator[str]:
    yield f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{CONTENT_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{shown_on_a_line(document.title)}</title>
<style>{STYLE}</style></head>
<body><div class="page">
<header><h1>{shown_on_a_line(document.title)}</h1>
<dl>"""
    for name, value in document.facts():
        yield f"<dt>{name}</dt><dd>{shown(value)}</dd>"
    yield "</dl>"
    for warning in document.warnings:
        yield f'<p class="remark bad">{shown(warning)}</p>'
    yield "</header>\n"


def _outline(document: Document) -> Iterator[str]:
    yield '<nav aria-label="Outline"><b>Outline</b><ol>\n'
    for heading in document.headings():
        yield _heading(heading)
    yield "</ol></nav>\n"


def _heading(heading: Heading) -> str:
    classes = [f"d{min(heading.depth, _DEEPEST)}"] if heading.depth else []
    classes += ["on"] if heading.is_active else []
    classes += ["here"] if heading.is_leaf else []
    here = ' <small class="kind">(the session goes on here)</small>' if heading.is_leaf else ""
    kind = "" if heading.kind == "user" else f'<span class="kind">{shown_on_a_line(heading.kind)}</span>'
    text = f"{kind}{shown_on_a_line(heading.text)}{_label(heading.label)}{here}"
    return f'<li class="{" ".join(classes)}"><a href="#e{heading.number}">{text or "…"}</a></li>\n'


def _section_title(section: Section) -> str:
    if section.branch.is_active:
        return "<h2>Conversation</h2>\n"
    if section.fork is None:
        return "<h2>Another beginning</h2>\n"
    return f'<h2>Another branch, <a href="#e{section.fork}">from entry {section.fork}</a></h2>\n'


def _card(card: Card) -> Iterator[str]:
    yield f'<article class="{card.kind}" id="e{card.number}"><h3>{shown_on_a_line(card.title)}{_label(card.label)}'
    for fact in (*card.facts, moment(card.timestamp)):
        if fact:
            yield f"<small>{shown_on_a_line(fact)}</small>"
    yield f'<a href="#e{card.number}">#{card.number}</a></h3>'
    for part in card.parts:
        yield from _part(part)
    yield "</article>\n"


def _part(part: Part) -> Iterator[str]:
    match part:
        case Prose():
            yield prose(part.text)
        case Verbatim():
            yield f"<pre>\n{shown(part.text)}</pre>"
        case Picture():
            yield picture(part.mime_type, part.data) or _remark(
                Remark(f"An image of type {part.mime_type}, not shown.")
            )
        case Remark():
            yield _remark(part)
        case Folded():
            yield from _folded(part)
        case _:
            assert_never(part)


def _folded(part: Folded) -> Iterator[str]:
    place = f' id="e{part.number}"' if part.number is not None else ""
    yield f'<details class="{part.tone}"{place}><summary><b>{shown_on_a_line(part.title)}</b>'
    yield f"<small>{shown_on_a_line(part.hint)}</small>{_label(part.label)}</summary>"
    # Folds hold folds of our own making only, three levels at most.
    for inner in part.parts:
        yield from _part(inner)
    yield "</details>"


def _remark(part: Remark) -> str:
    link = f' <a href="#e{part.target}">#{part.target}</a>' if part.target is not None else ""
    return f'<p class="remark {part.tone}">{shown(part.text)}{link}</p>'


def _label(label: str | None) -> str:
    return f' <span class="label">{shown_on_a_line(label)}</span>' if label else ""
