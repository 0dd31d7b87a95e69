"""Session files of the sizes that are measured: written when first asked for, as they were after each use."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.report import progress
from bench.session_files import write_chain

SIZES = (1_000, 10_000, 100_000, 1_000_000)
"""Entries. The last is a file of about a gigabyte."""


class Files:
    """Chains of messages in `folder`, which goes when the harness ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sizes: dict[Path, int] = {}

    @contextmanager
    def chain(self, entries: int, *, compacted: bool = False) -> Iterator[Path]:
        """A session of `entries` entries; what is appended to it within the block is cut off again after it."""
        path = self._folder / f"{entries}{'-compacted' if compacted else ''}.jsonl"
        if path not in self._sizes:
            progress(f"nothing yet, writing {entries:,} entries")
            self._sizes[path] = write_chain(path, entries, compacted=compacted).stat().st_size
        try:
            yield path
        finally:
            os.truncate(path, self._sizes[path])
