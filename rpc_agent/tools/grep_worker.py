"""Searches files when ripgrep is not there, in a process of its own, and answers in ripgrep's JSON lines.

A process of its own because some regular expressions take for ever, and Python holds everything up meanwhile;
a process can be killed.
"""

import base64
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from rpc_agent.tools.globs import NAMED_CLASSES
from rpc_agent.tools.walk import walk

_LOOKED_AT = 64 * 1024
"""A NUL byte among the first so many means a binary file."""

_UTF16_BOMS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}

_CLASSES = {**NAMED_CLASSES, "ascii": r"\x00-\x7f", "word": "0-9A-Za-z_"}
"""Two more than in globs, as ripgrep has them."""


class Question(Struct, frozen=True, kw_only=True):
    """What to look for: a regular expression (or plain text) in a file or in a folder."""

    pattern: str
    path: str
    ignore_case: bool
    literal: bool

    def to_argument(self) -> str:
        return json.dumps(asdict(self))


def main(argument: str) -> int:
    """Exit codes as ripgrep's: 0 found, 1 nothing found, 2 the pattern is wrong (the reason on stderr)."""
    question = Question(**json.loads(argument))
    try:
        regex = _regex(question)
    except (re.error, OverflowError, RecursionError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    found = False
    for line in _answers(Path(question.path), regex):
        found = True
        sys.stdout.write(line)
        # Whoever reads may have enough with this one.
        sys.stdout.flush()
    return 0 if found else 1


def _regex(question: Question) -> re.Pattern[str]:
    pattern = re.escape(question.pattern) if question.literal else question.pattern
    if not question.literal:
        for name, characters in _CLASSES.items():
            pattern = pattern.replace(f"[:{name}:]", characters)
    return re.compile(pattern, re.IGNORECASE if question.ignore_case else 0)


def _answers(path: Path, regex: re.Pattern[str]) -> Iterator[str]:
    for file in _files(path):
        try:
            yield from _matches(file, regex)
        except OSError:
            # Gone meanwhile, or not ours to read: the others still count.
            continue


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for found in walk(path):
        file = path / found.path
        if not found.is_folder and not found.is_link and file.is_file():
            yield file


def _matches(path: Path, regex: re.Pattern[str]) -> Iterator[str]:
    for number, line in enumerate(_lines(path), start=1):
        if match := regex.search(line):
            start = len(line[: match.start()].encode("utf-8", "replace"))
            data = {
                "path": _text(str(path)),
                "lines": _text(line),
                "line_number": number,
                "submatches": [{"start": start}],
            }
            yield json.dumps({"type": "match", "data": data}, separators=(",", ":")) + "\n"


def _lines(path: Path) -> Iterator[str]:
    with open(path, "rb") as file:
        start = file.read(_LOOKED_AT)
        file.seek(0)
        if encoding := _UTF16_BOMS.get(start[:2]):
            text = file.read()[2:].decode(encoding, "replace")
            yield from (line.removesuffix("\r") for line in text.removesuffix("\n").split("\n"))
            return
        if b"\0" in start:
            return
        for line in file:
            if b"\0" in line:
                return
            yield (
                line.removesuffix(b"\n")
                .removesuffix(b"\r")
                .removeprefix(b"\xef\xbb\xbf")
                .decode("utf-8", "surrogateescape")
            )


def _text(text: str) -> dict[str, Any]:
    try:
        text.encode()
    except UnicodeEncodeError:
        return {"bytes": base64.b64encode(text.encode("utf-8", "surrogateescape")).decode()}
    return {"text": text}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
