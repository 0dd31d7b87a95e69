"""The process that searches a session file: one question in, one answer out. It can be killed at any time."""

import json
import mmap
import sys
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from rpc_agent.storage.history_search import Found, read, search


class Question(Struct, frozen=True, kw_only=True):
    """`path` None: the lines come on stdin. Without `entry_id` the whole session is searched for `query`."""

    path: str | None
    query: str | None
    entry_id: str | None
    limit: int

    def to_argument(self) -> str:
        return json.dumps(asdict(self))


def main(argument: str) -> int:
    question = Question(**json.loads(argument))
    found = _answer(question)
    sys.stdout.buffer.write(json.dumps([asdict(each) for each in found]).encode())
    return 0


def _answer(question: Question) -> list[Found]:
    if question.path is None:
        return _ask(sys.stdin.buffer.read(), question)
    if Path(question.path).stat().st_size == 0:
        return []
    with (
        open(question.path, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        return _ask(data, question)


def _ask(data: bytes | mmap.mmap, question: Question) -> list[Found]:
    if question.entry_id is not None:
        return read(data, question.entry_id, question.limit)
    return search(data, question.query or "", question.limit)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
