"""Writes the table of a comparison as Markdown. Measures nothing, and rounds nothing that it compares."""

from collections.abc import Mapping, Sequence

from bench.peers.comparing import Aim, Cell, Row, Unit

_OURS, _PI, _CODEX = "rpc-agent", "Pi", "Codex app-server"
_HEAD = """\
# Beside peers

Written by `make bench-peers`, not by hand. The same work is done by our server and by programs that anybody can
install, by turns, each time in a new process; the figures are medians. Machines drift by a quarter within minutes, so
only the ratios mean something: ours divided by the peer's.
"""
_NOTES = """\
## How

- Every program runs in a home of its own, offline, without anybody's keys. What it could keep for its next start
  (compiled code, databases) it has kept from a start that is not counted. Pi is run as its package runs it, from its
  bundle; Codex is its native program, without the launcher in front of it.
- The model is a service on loopback, the same for both: chat completions that are answered at once, that push 50,000
  small deltas as fast as the reader takes them, or that send 200 a second with the time in each.
- Session files are chains of messages of about 1 KB. "Opening" is the request that opens the file and a `get_state`, in
  a process that is past its start. The files that turns are measured in are compacted near their end, so that the
  context is the same whatever the size of the file.
- A tree and its entries are read to their end: ours come in pages, Pi's in one answer.
- Aims stand where the project has set one. Rows without an aim show where the work is, also where a peer is faster.
- Where we are not ahead, [LIMITS.md](LIMITS.md) says why.
- Memory is what is resident then. A processor second is one of the program, its threads included, and not of the
  service or of the reader.
"""


def render(rows: Sequence[Row], facts: Mapping[str, str], versions: Mapping[str, str], date: str) -> str:
    measured = [f"{name} {version}" for name, version in versions.items()]
    lines = [_HEAD, "## What", "", f"- measured on {date}: {', '.join(measured)}"]
    lines += [f"- {name}: {fact}" for name, fact in facts.items()]
    lines += ["", "## Beside Pi", "", *table(rows, _PI)]
    lines += ["", "## Beside Codex", "", *table([row for row in rows if _CODEX in row.cells], _CODEX)]
    return "\n".join([*lines, "", _NOTES])


def table(rows: Sequence[Row], peer: str) -> list[str]:
    """The lines of one; the aims are those beside Pi."""
    lines = [f"| | {_OURS} | {peer} | ratio |", "|---|---:|---:|---:|"]
    if peer == _PI:
        lines = [f"{lines[0]} aim | |", f"{lines[1]}---|---|"]
    for row in rows:
        ours, theirs = row.cells[_OURS], row.cells.get(peer, "not measured")
        cells = [row.figure.name, _shown(ours, row.figure.unit), _shown(theirs, row.figure.unit), _ratio(ours, theirs)]
        if peer == _PI:
            cells += [_told(row.figure.aim), verdict(row.figure.aim, ours, theirs)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def verdict(aim: Aim | None, ours: Cell, theirs: Cell) -> str:
    """Empty where nothing was aimed at. A peer that cannot do the work at all is behind."""
    if aim is None:
        return ""
    if isinstance(ours, str):
        return "**no**"
    if aim.of == "figure" or aim.value is None:
        return _yes(aim.holds(ours))
    return _yes(isinstance(theirs, str) or aim.holds(_quotient(ours, theirs)))


def _yes(holds: bool) -> str:
    return "yes" if holds else "**no**"


def _told(aim: Aim | None) -> str:
    if aim is None or aim.value is None:
        return aim.bound if aim else ""
    return f"{aim.bound} {aim.value:,g}{' of ours' if aim.of == 'figure' else ''}"


def _ratio(ours: Cell, theirs: Cell) -> str:
    if isinstance(ours, str) or isinstance(theirs, str):
        return ""
    return f"{_quotient(ours, theirs):.3g}"


def _quotient(ours: float, theirs: float) -> float:
    return ours / theirs if theirs else float("inf")


def _shown(cell: Cell, unit: Unit) -> str:
    if isinstance(cell, str):
        return cell.replace("|", "\\|")
    return f"{_rounded(cell)} {unit}"


def _rounded(value: float) -> str:
    """Three figures at least."""
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"
