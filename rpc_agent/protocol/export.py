"""Writes the published contract, or says which of its files are stale. Owns their names; `render` itself is pure."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rpc_agent.protocol.client_requests import CLIENT_REQUESTS
from rpc_agent.protocol.example_messages import read_examples
from rpc_agent.protocol.json_schema import DIALECT, Shapes, reachable, shapes
from rpc_agent.protocol.methods import CLIENT_NOTIFICATIONS, METHODS
from rpc_agent.protocol.notifications import NOTIFICATIONS
from rpc_agent.protocol.openrpc import openrpc_document
from rpc_agent.protocol.typescript import typescript_text
from rpc_agent.protocol.wire_model import JsonObject
from rpc_agent.providers.models_file import MODELS_SHAPE
from rpc_agent.settings.fields import settings_schema
from rpc_agent.settings.trust import TRUST_SHAPE

_FOLDER = Path(__file__).resolve().parents[2] / "protocol"


def render() -> dict[str, str]:
    """The files' names -> their whole text, always the same for the same models."""
    known = shapes()
    return {
        "openrpc.json": _json(openrpc_document(known, read_examples())),
        "schema.json": _json(_schema(known)),
        "session-file.schema.json": _json(_session_file_schema(known)),
        "settings.schema.json": _json(settings_schema()),
        "models.schema.json": _json(_models_schema()),
        "trust.schema.json": _json(_trust_schema()),
        "types.ts": typescript_text(known),
    }


def stale_files(folder: Path, wanted: Mapping[str, str]) -> list[str]:
    """Names of the files in `folder` that are not what the models say now. Bytes count: line ends are LF."""
    return sorted(name for name, text in wanted.items() if _bytes(folder / name) != text.encode())


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _json(document: JsonObject) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _schema(known: Shapes) -> JsonObject:
    return {
        "$schema": DIALECT,
        "title": "rpc-agent protocol",
        "description": "Every value that crosses the wire. The maps tell which definition belongs to which name.",
        "x-methods": {name: {"params": known.params[name], "result": known.results[name]} for name in METHODS},
        "x-clientNotifications": {name: known.params[name] for name in CLIENT_NOTIFICATIONS},
        "x-notifications": {name: known.params[name] for name in NOTIFICATIONS},
        "x-serverRequests": {
            name: {"params": known.params[name], "result": known.results[name]} for name in CLIENT_REQUESTS
        },
        "$defs": dict(known.definitions),
    }


def _session_file_schema(known: Shapes) -> JsonObject:
    return {
        "$schema": DIALECT,
        "title": "A line of an rpc-agent session file",
        "description": "The file is UTF-8 with one JSON object a line: first the header, then one entry a line. "
        "Unknown types and fields belong to other programs and are kept.",
        **known.session_file_line,
        "$defs": reachable(known.session_file_line, known.definitions),
    }


def _models_schema() -> JsonObject:
    return {
        "$schema": DIALECT,
        "title": "rpc-agent models.json",
        "description": "Providers and their models by name. One with a built-in's name adds to it and overrides it. "
        "Unknown fields are left alone.",
        **MODELS_SHAPE.schema(),
    }


def _trust_schema() -> JsonObject:
    return {
        "$schema": DIALECT,
        "title": "rpc-agent trust.json",
        "description": "Absolute directories, trusted or not. The nearest one above a project decides.",
        **TRUST_SHAPE.schema(),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """0: written, or all as it should be; 1: something is stale."""
    parser = argparse.ArgumentParser(prog="python -m rpc_agent.protocol.export", description=__doc__)
    todo = parser.add_mutually_exclusive_group(required=True)
    todo.add_argument("--write", action="store_true", help="write the files")
    todo.add_argument("--check", action="store_true", help="say which files are stale")
    parser.add_argument("--folder", type=Path, default=_FOLDER, help="where they are (default: %(default)s)")
    options = parser.parse_args(arguments)
    wanted = render()
    stale = stale_files(options.folder, wanted)
    if options.write:
        for name in stale:
            (options.folder / name).write_bytes(wanted[name].encode())
        return 0
    for name in stale:
        sys.stderr.write(f"{name} is stale; run: python -m rpc_agent.protocol.export --write\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
