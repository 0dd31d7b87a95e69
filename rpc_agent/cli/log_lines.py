"""What the log says, and how it begins. Loaded after the first answer: logging brings ten modules."""

import contextlib
import logging
import sys
from typing import TextIO

from rpc_agent.cli.controls import printable

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class _Lines(logging.Formatter):
    """Records hold names of files and words of services, and whoever reads a log reads it in a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


class _Handler(logging.StreamHandler[TextIO]):
    """A disk that is full would have cost forty lines of stderr for each line of the log."""

    def handleError(self, record: logging.LogRecord) -> None:
        error = sys.exception()
        if not isinstance(error, OSError):
            return super().handleError(record)
        self.setLevel(logging.CRITICAL + 1)
        if sys.stderr and self.stream is not sys.stderr:
            with contextlib.suppress(OSError):
                sys.stderr.write(f"rpc-agent: the log ends here, its file could not be written: {error}\n")
        return None


def begin_log(level: str, stream: TextIO) -> None:
    handler = _Handler(stream)
    handler.setFormatter(_Lines(_FORMAT))
    logging.basicConfig(level=level.upper(), handlers=[handler])
    for library in ("httpx", "httpcore"):
        # They log whole headers and addresses, in which services say keys back.
        logging.getLogger(library).setLevel(logging.WARNING)
