"""`rpc-agent schema`: the published contract on stdout. Makes nothing of its own: protocol/export does."""

import sys
from collections.abc import Sequence

from rpc_agent.cli.arguments import Parser
from rpc_agent.protocol.export import render

_FILES = {"openrpc": "openrpc.json", "jsonschema": "schema.json", "typescript": "types.ts"}


def main(arguments: Sequence[str]) -> int:
    parser = Parser(
        prog="rpc-agent schema",
        description="Print the protocol this version speaks, for generators of clients and for editors.",
    )
    parser.add_argument("what", nargs="?", choices=sorted(_FILES), help="the same as --format")
    parser.add_argument("--format", choices=sorted(_FILES), default="openrpc", help="default: %(default)s")
    options = parser.parse_args(arguments)
    # Bytes, so that the output is the published file on every system, whatever its line ends and encoding.
    sys.stdout.buffer.write(render()[_FILES[options.what or options.format]].encode("utf-8"))
    sys.stdout.flush()
    return 0
