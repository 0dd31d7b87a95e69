"""A session as lines of a terminal: who said what, output cut short. Decides no order and opens no file."""

from typing import assert_never

from rpc_agent.cli.terminal import Style, Terminal
from rpc_agent.export.cards import Card, Folded, Part, Picture, Prose, Remark, Verbatim
from rpc_agent.export.document import Document, Section
from rpc_agent.export.plain_text import moment, one_line, plain
from rpc_agent.export.snapshot import SessionSnapshot

_OUTPUT_LINES = 8
# Enough to see what a command did; the whole of it is what --full is for.
_TITLE: dict[str, Style] = {"user": "bold", "assistant": "bold", "summary": "note", "note": "dim", "system": "dim"}


def show(out: Terminal, snapshot: SessionSnapshot, *, full: bool) -> None:
    """Head and active branch; with `full` all output and the other branches too."""
    document = Document(snapshot)
    out.line(one_line(document.title), "bold")
    for name, value in document.facts():
        out.line(f"{name:10} {one_line(value)}", "dim")
    for warning in document.warnings:
        out.line(one_line(warning), "bad")
    first, *others = document.sections
    view = _View(out, full=full)
    view.section(document, first)
    for section in others if full else ():
        out.line()
        out.line(f"Another branch, from #{section.fork}" if section.fork else "Another beginning", "note")
        view.section(document, section)
    if others and not full:
        count = sum(len(section.branch.entries) for section in others)
        out.line()
        one = count == 1
        what = "1 entry of other branches is" if one else f"{count:,} entries of other branches are"
        out.line(f"{what} not shown; --full shows {'it' if one else 'them'}.", "dim")


class _View:
    def __init__(self, out: Terminal, *, full: bool) -> None:
        self._out, self._full = out, full

    def section(self, document: Document, section: Section) -> None:
        for card in document.cards(section):
            self._card(card)

    def _card(self, card: Card) -> None:
        label = f" [{card.label}]" if card.label else ""
        facts = "  ".join(one_line(fact) for fact in (f"#{card.number}", *card.facts, moment(card.timestamp)))
        if card.kind != "note":
            self._out.line()
        self._out.write(one_line(card.title + label), _TITLE.get(card.kind, "good"))
        self._out.write(f"  {facts}\n", "dim")
        for part in card.parts:
            self._part(part, "")

    def _part(self, part: Part, indent: str) -> None:
        match part:
            case Prose():
                self._lines(plain(part.text), indent, "plain")
            case Verbatim():
                self._output(plain(part.text), indent)
            case Picture():
                self._out.line(f"{indent}(an image of type {one_line(part.mime_type)})", "dim")
            case Remark():
                target = "" if part.target is None else f" #{part.target}"
                self._out.line(f"{indent}{one_line(part.text)}{target}", "bad" if part.tone == "bad" else "dim")
            case Folded():
                self._fold(part, indent)
            case _:
                assert_never(part)

    def _fold(self, part: Folded, indent: str) -> None:
        label = f" [{part.label}]" if part.label else ""
        title = self._out.clipped(f"{indent}{one_line(part.title)}  {one_line(part.hint)}{one_line(label)}")
        self._out.line(title, "bad" if part.tone == "bad" else "note")
        for inner in part.parts:
            if isinstance(inner, Prose) and part.tone == "dim":
                self._output(plain(inner.text), indent + "  ")
            else:
                self._part(inner, indent + "  ")

    def _output(self, text: str, indent: str) -> None:
        lines = text.rstrip("\n").split("\n")
        left_out = len(lines) - _OUTPUT_LINES
        if self._full or left_out <= 1:
            self._lines("\n".join(lines), indent, "dim")
            return
        clipped = (self._out.clipped(indent + line)[len(indent) :] for line in lines[:_OUTPUT_LINES])
        self._lines("\n".join(clipped), indent, "dim")
        self._out.line(f"{indent}... {left_out} more lines", "dim")

    def _lines(self, text: str, indent: str, style: Style) -> None:
        for line in text.split("\n"):
            self._out.line(indent + line, style)
