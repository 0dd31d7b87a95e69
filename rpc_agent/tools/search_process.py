"""Runs the program that searches and reads its answers line by line, until it has enough or is told to stop."""

import base64
import json
import os
import re
import subprocess
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import IO, Any

from msgspec import Struct

from rpc_agent.platform.memory_limit import limit_memory
from rpc_agent.platform.process_tree import guarded


class Hit(Struct, frozen=True):
    """`start` is where in `text` (in bytes of UTF-8) the match begins."""

    path: str
    line: int
    text: str
    start: int


class SearchFailed(Exception):
    """The program does not understand what it was asked, or broke on what it found; the message is its own."""


_MOST_MEMORY = 1024 * 1024 * 1024
"""A search needs a few dozen MB. ripgrep reads a .gitignore whole, also one that is a link to /dev/zero."""

_LONGEST_ANSWER = 16 * 1024 * 1024
"""Bytes of one hit that are kept. A file may be a single line of gigabytes, and each of its characters may fit."""

_LINE_NUMBER = re.compile(rb'"line_number":(\d+),')
_LINE_NUMBER_BYTES = 64
_START = re.compile(rb'"start":(\d+)')
# What stands in a string has its quotes escaped, so these words are the program's own.
_PATH = re.compile(rb'\{"type":"match","data":\{"path":(\{"(?:text|bytes)":"(?:[^"\\]|\\.)*"\})')
_SUBMATCHES = b',"submatches":['


class SearchProcess:
    """One search, used in a thread. `stop`, from any thread, ends it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def hits(self, command: Sequence[str], environment: Mapping[str, str]) -> Generator[Hit, None, None]:
        """The hits in the program's order. Raises SearchFailed when it gives an error or dies."""
        with self._lock:
            if self._stopped:
                return
            self._process = process = subprocess.Popen(
                command,
                # A named pipe in the place of a .gitignore holds it for ever, and we may be killed meanwhile.
                env=guarded(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        limit_memory(process.pid, _MOST_MEMORY)
        with process:
            assert process.stdout is not None and process.stderr is not None
            try:
                yield from (hit for line, rest in _lines(process.stdout) if (hit := _hit(line, rest)))
                message = process.stderr.read().decode("utf-8", "replace").strip()
            except BaseException:
                # Whoever has enough does not read on, and the program would wait for ever to be read.
                process.kill()
                raise
        if process.returncode not in (0, 1) and not self._stopped:
            raise SearchFailed(message or f"the search ended with {process.returncode}")

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()


def _lines(stream: IO[bytes]) -> Iterator[tuple[bytes, int | None]]:
    """Lines, whole with None; of one that is too long the beginning, and the line number that stands in its rest."""
    while line := stream.readline(_LONGEST_ANSWER):
        is_whole = len(line) < _LONGEST_ANSWER or line.endswith(b"\n")
        yield line, None if is_whole else _number_in_rest(stream)


def _number_in_rest(stream: IO[bytes]) -> int:
    """0 when there is none. Reads the line to its end."""
    found, before = None, b""
    while more := stream.readline(_LONGEST_ANSWER):
        # It may stand where two pieces meet.
        found = found or _LINE_NUMBER.search(before + more)
        before = more[-_LINE_NUMBER_BYTES:]
        if more.endswith(b"\n"):
            break
    return int(found[1]) if found else 0


def _hit(line: bytes, number_in_rest: int | None) -> Hit | None:
    if number_in_rest is not None:
        is_known = _SUBMATCHES in line
        return _hit_with_many_matches(line) if is_known else _hit_in_a_long_line(line, number_in_rest)
    message = json.loads(line)
    if message.get("type") != "match":
        return None
    data = message["data"]
    matches = data.get("submatches") or [{"start": 0}]
    return _hit_of(data, matches[0]["start"])


def _hit_of(data: Mapping[str, Any], start: int) -> Hit:
    text = _text(data["lines"]).removesuffix("\n").removesuffix("\r")
    return Hit(_path(data["path"]), data["line_number"], text, start)


def _hit_with_many_matches(beginning: bytes) -> Hit:
    whole, _, matches = beginning.partition(_SUBMATCHES)
    start = _START.search(matches)
    return _hit_of(json.loads(whole + b"}}")["data"], int(start[1]) if start else 0)


def _hit_in_a_long_line(beginning: bytes, number: int) -> Hit | None:
    path = _PATH.match(beginning)
    return Hit(_path(json.loads(path[1])), number, "(a line too long to be shown)", 0) if path else None


def _text(value: Mapping[str, Any]) -> str:
    return _raw(value).decode("utf-8", "replace")


def _path(value: Mapping[str, Any]) -> str:
    return os.fsdecode(_raw(value))


def _raw(value: Mapping[str, Any]) -> bytes:
    return base64.b64decode(value["bytes"]) if "bytes" in value else str(value["text"]).encode()
