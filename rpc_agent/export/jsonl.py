"""A session as the lines of a session file, all branches: what this program and others can open again."""

from rpc_agent.export.snapshot import SessionSnapshot
from rpc_agent.session.json_lines import write_json


def export_jsonl(snapshot: SessionSnapshot) -> bytes:
    """The file byte for byte as it is stored; for a session without a file, the lines it would have."""
    if snapshot.stored is not None:
        return snapshot.stored
    return b"".join(write_json(raw) + b"\n" for raw in (snapshot.header, *(entry.raw for entry in snapshot.entries)))
