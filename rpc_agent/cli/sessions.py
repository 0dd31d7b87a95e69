"""`rpc-agent sessions`: the sessions that are there, one to read, one as a file. Changes none of them."""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rpc_agent.cli.advice import next_step
from rpc_agent.cli.arguments import Parser, here, with_config_dir
from rpc_agent.cli.local_time import local_time
from rpc_agent.cli.session_text import show
from rpc_agent.cli.terminal import Terminal, standard_error, standard_output
from rpc_agent.errors import InvalidValue, RpcAgentError, SessionNotFound, SettingsError
from rpc_agent.export.plain_text import one_line
from rpc_agent.export.render import Format, render
from rpc_agent.export.snapshot import SessionSnapshot, take_snapshot
from rpc_agent.platform.paths import config_dir
from rpc_agent.runtime.identity import SystemIdentity
from rpc_agent.settings import is_trusted, load_settings, load_trust
from rpc_agent.storage.listing import SessionDirectory, SessionSummary
from rpc_agent.storage.paths import SUFFIX, sessions_dir
from rpc_agent.storage.session_store import SessionStore

_ID_CHARACTERS = 13
# A version 7 UUID begins with its time in milliseconds: the first two groups tell nearly all sessions apart.
_MOST_LISTED = 50
_STDOUT = "-"
_FORMATS: Mapping[str, Format] = {".md": "markdown", ".markdown": "markdown", ".jsonl": "jsonl"}


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(_with_command(arguments))
    try:
        return int(options.run(options, dict(os.environ)))
    except SessionNotFound as error:
        standard_error().line(error.message, "bad")
        standard_error().line("rpc-agent sessions list --all tells which there are.", "dim")
    except RpcAgentError as error:
        standard_error().line(error.message, "bad")
        if isinstance(error, InvalidValue | SettingsError):
            standard_error().line(next_step("invalidParams", error.message), "dim")
    except OSError as error:
        if error.filename is None:
            raise  # Not a file but our own output: told as it is of every command.
        standard_error().line(f"{error.filename}: {error.strerror or error}. Nothing was changed.", "bad")
        standard_error().line("Give another file to --output, in a folder that is there.", "dim")
    return 1


def _with_command(arguments: Sequence[str]) -> Sequence[str]:
    """Without a command it is `list`, for that is what the plain word asks."""
    is_list = not arguments or (arguments[0].startswith("-") and arguments[0] not in ("-h", "--help"))
    return ["list", *arguments] if is_list else arguments


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="rpc-agent sessions",
        description="List sessions, read one, or export one. Session files are only read.",
    )
    commands = parser.add_subparsers(title="commands (list, when none is given)", required=True, metavar="COMMAND")
    listing = _command(commands, "list", "the sessions of this folder, the newest first")
    listing.set_defaults(run=_list)
    listing.add_argument("--all", action="store_true", help="those of all folders")
    listing.add_argument(
        "--query", default="", metavar="TEXT", help="only those with TEXT in name, beginning or folder"
    )
    listing.add_argument("--limit", type=_positive, default=_MOST_LISTED, metavar="N", help="default: %(default)s")
    listing.add_argument("--json", action="store_true", help="as a JSON array")
    showing = _command(commands, "show", "the conversation, in this terminal")
    showing.set_defaults(run=_show)
    showing.add_argument("--full", action="store_true", help="with all output and all branches")
    exporting = _command(commands, "export", "the whole session as one file")
    exporting.set_defaults(run=_export)
    exporting.add_argument(
        "--format", choices=("html", "markdown", "jsonl"), help="default: what FILE ends with, else html"
    )
    exporting.add_argument(
        "-o", "--output", metavar="FILE", help="write there and not to stdout (-); FILE must not exist yet"
    )
    for command in (showing, exporting):
        command.add_argument("session", metavar="ID|PATH", help="the beginning of its id, or the path of its file")
    return parser


def _command(commands: "argparse._SubParsersAction[Parser]", name: str, what: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
    command.add_argument("--session-dir", metavar="DIR", help="where sessions are kept")
    command.add_argument("--config-dir", metavar="DIR", help="where settings.json is")
    return command


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"a number above 0 is expected, not {text!r}")
    return int(text)


def _list(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    cwd = None if options.all else str(here())
    found = _directory(options, environment).list(cwd=cwd, query=options.query, limit=options.limit)
    out = standard_output()
    if options.json:
        out.write(json.dumps([each.to_json() for each in found.sessions], indent=2) + "\n")
        return 0
    _table(out, found.sessions, with_folder=options.all)
    if not found.sessions:
        standard_error().line("There is no session here." if options.all else "No session of this folder; try --all.")
    elif found.next_cursor is not None:
        out.line(f"There are more; --limit {2 * options.limit} shows more of them.", "dim")
    return 0


def _table(out: Terminal, sessions: Sequence[SessionSummary], *, with_folder: bool) -> None:
    if sessions:
        out.line(f"{'ID':{_ID_CHARACTERS}}  {'CHANGED':16}  {'MESS.':5}  NAME OR BEGINNING", "dim")
    for each in sessions:
        count = "?" if each.message_count is None else str(each.message_count)
        what = one_line(each.name or each.first_message or "", out.width)
        where = f"  {one_line(each.cwd)}" if with_folder else ""
        when = local_time(each.modified_at)
        out.line(out.clipped(f"{one_line(each.id, 36)[:_ID_CHARACTERS]}  {when}  {count:>5}  {what}"))
        if where:
            out.line(out.clipped(" " * _ID_CHARACTERS + where), "dim")


def _show(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    show(standard_output(), _read(_path(options, environment)), full=options.full)
    return 0


def _export(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    name = _STDOUT if options.output is None else options.output
    chosen: Format = options.format or _FORMATS.get(Path(name).suffix.lower(), "html")
    snapshot = _read(_path(options, environment), with_file=chosen == "jsonl")
    made = render(snapshot, chosen)
    data = made if isinstance(made, bytes) else made.encode("utf-8", "replace")
    if name == _STDOUT:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return 0
    # "x": a mistyped name must not cost a file, least of all the session itself.
    with open(name, "xb") as file:
        file.write(data)
    standard_error().line(f"Written to {name} ({len(data):,} bytes).", "dim")
    return 0


def _read(path: Path, *, with_file: bool = False) -> SessionSnapshot:
    store = SessionStore.open(path, identity=SystemIdentity(), read_only=True)
    try:
        return take_snapshot(store, stored=path.read_bytes() if with_file else None)
    finally:
        store.close()


def _path(options: argparse.Namespace, environment: Mapping[str, str]) -> Path:
    """What the person named: a file, else an id. Raises SessionNotFound, InvalidValue."""
    named = Path(options.session)
    if options.session.endswith(SUFFIX) or len(named.parts) > 1 or named.is_file():
        return named
    return _directory(options, environment).find(options.session)


def _directory(options: argparse.Namespace, environment: Mapping[str, str]) -> SessionDirectory:
    if options.session_dir:
        return SessionDirectory(sessions_dir(environment, option=options.session_dir))
    config = config_dir(with_config_dir(environment, options.config_dir))
    cwd = here().resolve()
    settings = load_settings(config, cwd if is_trusted(load_trust(config), cwd) else None)
    return SessionDirectory(sessions_dir(environment, setting=settings.session_dir))
