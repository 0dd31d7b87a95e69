"""The entries of a session as the tool `history` asks for them. Starts the process that searches; searches nothing."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from rpc_agent.session.json_lines import write_json
from rpc_agent.storage.history_worker import Question
from rpc_agent.storage.session_store import SessionStore
from rpc_agent.tools.failure import ToolFailure
from rpc_agent.tools.history import PastEntry

_SECONDS = 20.0
"""The largest session takes a few; only a regular expression without an end takes longer."""

_START = """\
import sys
sys.path.insert(0, sys.argv[1])
from rpc_agent.storage.history_worker import main
sys.exit(main(sys.argv[2]))
"""


class SessionHistory:
    """Implements `PastEntries`. Asks for what is in the file now, the branch that was left included."""

    def __init__(self, store: SessionStore, environment: Mapping[str, str], *, seconds: float = _SECONDS) -> None:
        self._store = store
        self._environment = environment
        self._seconds = seconds

    async def search(self, query: str, limit: int) -> Sequence[PastEntry]:
        return await self._ask(query=query, entry_id=None, limit=limit)

    async def read(self, entry_id: str, count: int) -> Sequence[PastEntry]:
        return await self._ask(query=None, entry_id=entry_id, limit=count)

    async def _ask(self, *, query: str | None, entry_id: str | None, limit: int) -> Sequence[PastEntry]:
        on_disk = self._store.is_on_disk and self._store.path is not None
        path = str(self._store.path) if on_disk else None
        question = Question(path=path, query=query, entry_id=entry_id, limit=limit)
        root = str(Path(__file__).parents[2])
        command = [sys.executable, "-I", "-X", "utf8", "-c", _START, root, question.to_argument()]
        lines = b"" if on_disk else b"".join(write_json(entry.raw) + b"\n" for entry in self._store.entries().entries)
        try:
            with anyio.fail_after(self._seconds):
                # Killed when the call is cancelled or takes too long.
                done = await anyio.run_process(command, input=lines, check=False, env=self._environment)
        except TimeoutError as error:
            raise ToolFailure(
                f"The search took more than {self._seconds:g} s and was stopped. Search for plain words."
            ) from error
        if done.returncode != 0:
            raise ToolFailure("The session could not be searched. Search for plain words, or read the files again.")
        return [PastEntry(**found) for found in json.loads(done.stdout)]
