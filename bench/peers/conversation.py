"""One process of a peer on raw pipes, from its start to its end. Every wait in it ends with the life it was given."""

import json
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Generic, TypeVar

from bench import processes
from bench.peers.peer import DELTA, SETTLED, Peer, PeerFailed, Words

P = TypeVar("P", bound=Peer)

NO_SERVICE = "http://127.0.0.1:9/v1"
"""Where nobody listens: for work that needs no model."""
LIFE_SECONDS = 90
_END_SECONDS = 10
_PATH = re.compile(r"(/[^/\s:]+)+")
_BUFFER = 1 << 20
_EDGE = 200
"""An answer's id stands in its first or its last bytes; between them may be a hundred megabytes."""


class Conversation(Generic[P]):
    """A started process of `peer`, and the requests made to it."""

    def __init__(self, peer: P, service: str, life: float) -> None:
        self.peer = peer
        launch = peer.launch(service)
        self._stderr = peer.home / "stderr.txt"
        self._life = threading.Timer(life, self._expire)
        self._life.daemon = True
        self._seconds = life
        self._is_expired = False
        self._last_id = 0
        with self._stderr.open("wb") as stderr:
            self.started = time.perf_counter()
            self.process = subprocess.Popen(
                launch.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=peer.home,
                env=launch.environment,
                bufsize=_BUFFER,
            )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.stdin: IO[bytes] = self.process.stdin
        self.stdout: IO[bytes] = self.process.stdout
        self._life.start()

    def request(self, words: Words) -> bytes:
        """One line, with the next id."""
        self._last_id += 1
        return json.dumps({**words, "id": f"q{self._last_id}"}).encode() + b"\n"

    def write(self, data: bytes) -> None:
        try:
            self.stdin.write(data)
            self.stdin.flush()
        except OSError as error:
            raise self._failure() from error

    def line(self) -> bytes:
        line = self.stdout.readline()
        if not line:
            raise self._failure()
        return line

    def ask(self, words: Words) -> Any:
        return self.peer.result(json.loads(self.ask_unread(words)))

    def ask_unread(self, words: Words) -> bytes:
        """The whole line of the answer, because reading a hundred megabytes is the client's work."""
        self.write(self.request(words))
        wanted = b'"q%d"' % self._last_id
        while True:
            line = self.line()
            if wanted in line[:_EDGE] or wanted in line[-_EDGE:]:
                return line

    def prompt(self, words: Words) -> list[bytes]:
        """All lines from a prompt to the end of its run."""
        self.write(self.request(words))
        lines = [self.line()]
        while SETTLED not in lines[-1][:_EDGE]:
            lines.append(self.line())
        return lines

    def flood(self, words: Words) -> int:
        """How many deltas a prompt's run brings. Reads without looking, to be in nobody's way."""
        self.write(self.request(words))
        count, tail = 0, b""
        while SETTLED not in tail:
            chunk = os.read(self.stdout.fileno(), _BUFFER)
            if not chunk:
                raise self._failure()
            count += (tail[-len(DELTA) + 1 :] + chunk).count(DELTA)
            tail = (tail + chunk)[-4096:]
        return count

    def resident_mib(self) -> float:
        return processes.resident_mib(self.process.pid)

    def cpu_seconds(self) -> float:
        return processes.cpu_seconds(self.process.pid)

    def end(self) -> None:
        """By the end of its input, as a client ends; by force when that takes too long."""
        try:
            self.stdin.close()
        except OSError:
            pass  # It is gone already.
        try:
            self.process.wait(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self._life.cancel()
        self.stdout.close()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def _expire(self) -> None:
        self._is_expired = True
        self.process.kill()

    def _failure(self) -> PeerFailed:
        code = self.process.wait()
        return PeerFailed(
            f"not done within {self._seconds:g} s" if self._is_expired else f"ended with {code}{self._last_words()}"
        )

    def _last_words(self) -> str:
        """What it complained of, without the paths of this machine."""
        lines = self._stderr.read_text(encoding="utf-8", errors="replace").splitlines()
        told = next((line for line in reversed(lines) if re.search(r"error|exception", line, re.IGNORECASE)), "")
        return f": {_PATH.sub('', told).strip()[:_EDGE]}" if told else ""


@contextmanager
def talking(peer: P, service: str = NO_SERVICE, life: float = LIFE_SECONDS) -> Iterator[Conversation[P]]:
    """A process of `peer` that has ended after the block, and within `life` seconds in any case."""
    conversation = Conversation(peer, service, life)
    try:
        yield conversation
    except BaseException:
        conversation.kill()
        raise
    finally:
        conversation.end()
