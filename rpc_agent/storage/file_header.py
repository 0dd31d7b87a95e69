"""The header of a session file, found at its beginning, whatever stands around it. Judges nothing else."""

from typing import BinaryIO

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.session.line_reader import read_line
from rpc_agent.session.replay import is_header


def first_records(file: BinaryIO, limit: int) -> list[JsonObject]:
    """The records of the first line that holds any; the file stands behind it then. [] for none in `limit` bytes."""
    at = 0
    while at < limit and (line := file.readline(limit)):
        at += len(line)
        if records := read_line(line.rstrip(b"\r\n"))[0]:
            return records
    return []


def header_in(records: list[JsonObject]) -> JsonObject | None:
    """The header, if the first record of a file is one."""
    return records[0] if records and is_header(records[0]) else None
