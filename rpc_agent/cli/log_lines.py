"""What the log says, and how it begins. Loaded after the first answer: logging brings ten modules."""

import logging
from typing import TextIO

from rpc_agent.cli.controls import printable

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class _Lines(logging.Formatter):
    """Records hold names of files and words of services, and whoever reads a log reads it in a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def begin_log(level: str, stream: TextIO) -> None:
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Lines(_FORMAT))
    logging.basicConfig(level=level.upper(), handlers=[handler])
    for library in ("httpx", "httpcore"):
        # They log whole headers and addresses, in which services say keys back.
        logging.getLogger(library).setLevel(logging.WARNING)
