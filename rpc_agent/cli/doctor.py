"""`rpc-agent doctor`: what is configured, what is missing, how to fix it. Changes nothing and shows no key."""

import asyncio
import os
import platform
import textwrap
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct
from rpc_agent_client import Client, ClientError

from rpc_agent import __version__
from rpc_agent.cli.advice import next_step
from rpc_agent.cli.arguments import Parser, here, program, with_config_dir
from rpc_agent.cli.server_options import serve_here, server_environment
from rpc_agent.cli.terminal import Terminal, standard_output
from rpc_agent.errors import RpcAgentError
from rpc_agent.platform.given_paths import checked_path
from rpc_agent.platform.paths import config_dir
from rpc_agent.platform.programs import find_program
from rpc_agent.providers.catalog import Catalog, load_catalog
from rpc_agent.providers.local_models import LocalKind
from rpc_agent.providers.local_servers import USUAL_PORTS, find_local_servers
from rpc_agent.providers.models_file import models_file, unknown_model_fields
from rpc_agent.providers.offline.description import OFFLINE_MODEL
from rpc_agent.settings import Settings, is_trusted, load_settings, load_trust, user_settings_file
from rpc_agent.settings.files import PROJECT_DIR
from rpc_agent.settings.trust import trust_file
from rpc_agent.storage.paths import sessions_dir

# The server answers in a twentieth of a second; ten seconds are for a cold, loaded machine.
_START_SECONDS = 10.0
_KERNEL_TREES = ("/proc", "/sys")

Kind = Literal["good", "note", "bad"]


class Finding(Struct, frozen=True):
    """`bad` keeps the agent from working; `note` is worth knowing. `fix` says what to do."""

    kind: Kind
    text: str
    fix: str = ""


def main(arguments: Sequence[str]) -> int:
    parser = Parser(
        prog="rpc-agent doctor",
        description="Tell what is configured, what is missing and how to fix it. Exit code 1 when something is broken.",
    )
    parser.add_argument("--config-dir", metavar="DIR", help="where settings.json and models.json are")
    options = parser.parse_args(arguments)
    environment = with_config_dir(os.environ, options.config_dir)
    findings = [*examine(environment, here()), *asyncio.run(_running(environment))]
    out = standard_output()
    out.line(f"rpc-agent {__version__}, Python {platform.python_version()}, {platform.system()}", "bold")
    for finding in findings:
        _show(out, finding)
    return _conclude(out, findings)


def examine(environment: Mapping[str, str], cwd: Path) -> list[Finding]:
    """Everything that can be seen without starting a server."""
    try:
        config = config_dir(environment)
    except RpcAgentError as error:
        return [Finding("bad", f"configuration folder: {error}", "Give a folder with --config-dir.")]
    settings, about_settings = _settings(config, cwd)
    catalog, about_models = _models(config, environment)
    answering = [_who_answers(settings, catalog)] if settings and catalog else []
    return [
        _config_dir(config),
        *about_settings,
        *about_models,
        *answering,
        _sessions(environment, settings),
        _search_tool(environment),
        *_project(config, cwd),
    ]


def _config_dir(config: Path) -> Finding:
    if config.is_dir():
        return Finding("good", f"configuration folder: {config}")
    if not _can_be_made(config):
        fix = "Give another folder with --config-dir or RPC_AGENT_CONFIG_DIR, or make room for this one."
        return Finding("bad", f"configuration folder: {config} is no folder and cannot be made one", fix)
    fix = "It is not there, and need not be: the defaults hold. Make it to change something."
    return Finding("note", f"configuration folder: {config}", fix)


def _settings(config: Path, cwd: Path) -> tuple[Settings | None, list[Finding]]:
    file = user_settings_file(config)
    try:
        settings = load_settings(config, cwd if _is_trusted(config, cwd) else None)
    except RpcAgentError as error:
        return None, [Finding("bad", f"settings: {error}", next_step("invalidParams", str(error)))]
    found = [Finding("good", f"settings: {file}")] if file.exists() else []
    return settings, found + [Finding("note", f"settings: {warning}") for warning in settings.warnings]


def _models(config: Path, environment: Mapping[str, str]) -> tuple[Catalog | None, list[Finding]]:
    file = models_file(config)
    try:
        catalog = load_catalog(config, environment)
    except RpcAgentError as error:
        return None, [Finding("bad", f"models: {error}", next_step("invalidParams", str(error)))]
    found = [Finding("good", f"models: {file}")] if file.exists() else []
    found += [Finding("note", f"models: {file}: {name}: unknown, ignored") for name in unknown_model_fields(file)]
    set_here = [name for name in catalog.key_variables() if environment.get(name, "").strip()]
    usable = dict.fromkeys(model.provider for model in catalog.available_models() if model != OFFLINE_MODEL)
    other = [name for name in usable if not catalog.key_variable(name)]
    if set_here:
        found.append(Finding("good", f"keys found in: {', '.join(set_here)}"))
    if other:
        found.append(Finding("good", f"usable without a variable: {', '.join(other)}"))
    if not set_here and not other:
        fix = f"Set one of {', '.join(catalog.key_variables())}, or describe a server of yours in {file}."
        found.append(Finding("note", "no provider's key is set", fix))
    return catalog, found


def _who_answers(settings: Settings, catalog: Catalog) -> Finding:
    try:
        choice = catalog.choose_default(default=settings.default_model, allow_offline=settings.offline)
    except RpcAgentError as error:
        return Finding("bad", f"no model answers: {error.message}", "Set a key, or correct defaultModel.")
    if choice.implicit_offline:
        return Finding(
            "note",
            "the built-in offline model answers",
            "It is no language model: it lists, reads and searches files. A key gives a real one.",
        )
    if not catalog.has_key(choice.model.provider):
        fix = f"Set the variable or the apiKey of {choice.model.provider}, or choose another defaultModel."
        return Finding("bad", f"{choice.model.ref} is chosen, but it has no key", fix)
    fix = 'Its service was not asked, so the key and the address are not tried: rpc-agent run "Hello" does.'
    return Finding("good", f"{choice.model.ref} is the model that answers", fix)


def _sessions(environment: Mapping[str, str], settings: Settings | None) -> Finding:
    folder = sessions_dir(environment, setting=settings.session_dir if settings else None)
    try:
        checked_path("sessionDir", folder)
    except RpcAgentError as error:
        return Finding("bad", f"sessions cannot be written: {error.message}", "Correct sessionDir in settings.json.")
    if _can_be_made(folder):
        return Finding("good", f"sessions are kept in: {folder}")
    fix = "Correct its permissions, or give another folder: sessionDir in settings.json, or --session-dir."
    return Finding("bad", f"sessions cannot be written: {folder} is not writable for you, or cannot be made", fix)


def _can_be_made(folder: Path) -> bool:
    """Whether one may write there, or make it: what is nearest to it must be a folder that lets us. Makes nothing."""
    existing = next((place.resolve() for place in (folder, *folder.parents) if os.path.exists(place)), None)
    if existing is None:
        return False  # A drive of Windows that is not there.
    # The kernel's own trees say yes to root, and take no folder all the same.
    kernel = any(existing.is_relative_to(tree) for tree in _KERNEL_TREES) and os.name == "posix"
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK) and not kernel


def _search_tool(environment: Mapping[str, str]) -> Finding:
    found = find_program("rg", environment.get("PATH"))
    if found:
        return Finding("good", f"searches use ripgrep: {found}")
    return Finding(
        "note", "ripgrep is not on PATH", "Searches work without it; with it they are faster in large trees."
    )


def _is_trusted(config: Path, cwd: Path) -> bool:
    try:
        return is_trusted(load_trust(config), cwd.resolve())
    except RpcAgentError:
        # Told where it is asked for; a broken file trusts nobody.
        return False


def _project(config: Path, cwd: Path) -> list[Finding]:
    try:
        trusted = is_trusted(load_trust(config), cwd.resolve())
    except RpcAgentError as error:
        return [Finding("bad", f"trust: {error}", next_step("invalidParams", str(error)))]
    if not (cwd / PROJECT_DIR).is_dir():
        return []
    if trusted:
        return [Finding("good", f"this project's {PROJECT_DIR} is read: it is trusted")]
    fix = f'To trust it, put "{cwd.resolve()}": true into {trust_file(config)}.'
    return [Finding("note", f"this project's {PROJECT_DIR} is not read: it is not trusted", fix)]


async def _running(environment: Mapping[str, str]) -> list[Finding]:
    return [*await local_models(), await _server(environment)]


async def local_models(ports: Mapping[LocalKind, int] = USUAL_PORTS) -> list[Finding]:
    """The model servers that run on this machine; nothing where there is none, for nobody needs one."""
    servers = await find_local_servers(ports)
    return [
        Finding("good", f"{server.kind} runs on this machine, with {len(server.models)} model(s): rpc-agent models")
        for server in servers
    ]


async def _server(environment: Mapping[str, str]) -> Finding:
    started = time.perf_counter()
    try:
        async with Client.spawn(serve_here(), env={**server_environment(), **environment}) as client:
            await client.ping(timeout=_START_SECONDS)
            milliseconds = round((time.perf_counter() - started) * 1000)
    except ClientError as error:
        return Finding("bad", f"the server does not start: {error}", "Install rpc-agent again, with its dependencies.")
    return Finding("good", f"the server starts, and answered after {milliseconds} ms")


def _show(out: Terminal, finding: Finding) -> None:
    marks = {
        "good": out.glyph("\u2713", "ok"),
        "note": out.glyph("\u00b7", "--"),
        "bad": out.glyph("\u2717", "!!"),
    }
    out.line(f"{marks[finding.kind]} {finding.text}", "plain" if finding.kind == "note" else finding.kind)
    for line in textwrap.wrap(finding.fix, width=max(20, out.width - 5), break_on_hyphens=False):
        out.line(f"    {line}", "dim")


def _conclude(out: Terminal, findings: Sequence[Finding]) -> int:
    broken = sum(finding.kind == "bad" for finding in findings)
    out.line()
    if broken:
        out.line(f"{broken} thing{'s' if broken > 1 else ''} to mend, marked above.", "bad")
        return 1
    out.line(f'All is well. Try: {program()} run "What files are here?"', "good")
    return 0
