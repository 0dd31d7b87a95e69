"""The diagram in ARCHITECTURE.md is a test: who may import whom, what is pure, and how much of the code is."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "rpc_agent"

LAYERS = (
    {"errors"},
    {"settings", "platform", "conversation", "wildcards", "nesting"},
    {"session", "rpc", "providers", "tools", "permissions", "resources"},
    {"context", "storage", "protocol"},
    {"compaction", "export", "extensions"},
    {"agent"},
    {"runtime"},
    {"server"},
    {"cli", "__main__"},
)
PURE = {"errors", "conversation", "nesting", "wildcards", "session", "permissions", "context", "compaction", "export"}
"""Whole packages without file, clock, randomness, environment, network; compaction awaits only what it is given."""
PURE_MODULES = {
    "agent/events", "agent/inbox", "agent/retry",
    "protocol/advertised", "protocol/client_requests", "protocol/compaction", "protocol/content",
    "protocol/descriptions", "protocol/entries", "protocol/error_codes", "protocol/handshake", "protocol/history",
    "protocol/json_schema", "protocol/messages", "protocol/method", "protocol/methods", "protocol/models",
    "protocol/notifications", "protocol/openrpc", "protocol/param_faults", "protocol/parse_params",
    "protocol/run_events", "protocol/runs", "protocol/session_events", "protocol/sessions", "protocol/settings",
    "protocol/tree", "protocol/typescript", "protocol/wire_model",
    "providers/answer_stream", "providers/assembly", "providers/base", "providers/call_arguments",
    "providers/error_chunks", "providers/classify", "providers/failure_text", "providers/failure_words",
    "providers/finish_reasons", "providers/input_limit",
    "providers/json_bytes", "providers/pricing", "providers/request_size", "providers/retry_after", "providers/sse",
    "providers/offline/answering", "providers/offline/calling", "providers/offline/orders",
    "providers/offline/phrases", "providers/offline/summarising", "providers/offline/understanding",
    "providers/offline/wishes",
    "providers/notes", "providers/pieces", "providers/refusal", "providers/stream_json", "providers/timeouts", "providers/tool_schema",
    "providers/anthropic_messages/blocks", "providers/anthropic_messages/compat",
    "providers/anthropic_messages/request", "providers/anthropic_messages/response",
    "providers/anthropic_messages/turns",
    "providers/google_generative_ai/compat", "providers/google_generative_ai/contents",
    "providers/google_generative_ai/parts", "providers/google_generative_ai/request",
    "providers/google_generative_ai/response", "providers/google_generative_ai/schema",
    "providers/openai_completions/compat", "providers/openai_completions/reasoning",
    "providers/openai_completions/request", "providers/openai_completions/usage",
    "providers/openai_completions/response", "providers/openai_completions/tool_calls",
    "rpc/envelopes", "rpc/errors", "rpc/framing", "rpc/json_text",
    "runtime/events",
    "server/capabilities", "server/error_mapping", "server/notifications", "server/options",
    "settings/fields", "settings/merging", "settings/shapes", "settings/values",
    "tools/base", "tools/edit_match", "tools/globs", "tools/truncation",
}  # fmt: skip
MAY_KNOW_THE_ENGINE = {"serve", "doctor", "models", "schema", "sessions", "session_text"}
"""Commands that do their work themselves; all other modules of the command line talk to a server."""
IMPURE_IMPORTS = {
    "asyncio", "anyio", "httpx", "os", "random", "secrets", "socket", "subprocess", "tempfile", "threading", "time",
    "uuid", "shutil", "signal",
}  # fmt: skip


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).with_suffix("").as_posix(), path


def package_of(name: str) -> str:
    return name.split("/")[0]


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), level=0, names=names):
                yield module
                if module == "rpc_agent":
                    yield from (f"rpc_agent.{alias.name}" for alias in names)
            case ast.ImportFrom():
                yield "a relative import"
            case _:
                pass


def height(package: str) -> int:
    return next(level for level, row in enumerate(LAYERS) if package in row)


def test_every_package_has_a_place_in_the_layers() -> None:
    placed = set().union(*LAYERS)
    assert {package_of(name) for name, _ in modules()} - placed - {"__init__"} == set(), "add it to LAYERS"


def test_nothing_imports_upwards_or_sideways() -> None:
    faults = []
    for name, path in modules():
        package = package_of(name)
        for module in imported(path):
            parts = module.split(".")
            if parts[0] != "rpc_agent" or len(parts) < 2 or package == "__init__":
                continue
            target = parts[1]
            if target in {"__version__", package}:
                continue
            if height(target) >= height(package):
                faults.append(f"{name} imports {module}, which is not below it")
    assert faults == []


def test_only_server_and_the_exporter_and_cli_schema_know_the_protocol() -> None:
    users = {
        name
        for name, path in modules()
        for module in imported(path)
        if module.startswith("rpc_agent.protocol") and package_of(name) not in {"server", "protocol"}
    }
    assert users <= {"cli/schema"}


def test_front_ends_speak_through_the_client_and_never_to_the_engine() -> None:
    talking = [path for path in (SOURCE / "cli").glob("*.py") if path.stem not in MAY_KNOW_THE_ENGINE]
    known = {"rpc_agent", "rpc_agent.__version__"}
    faults = [
        f"{path.stem} imports {module}"
        for path in talking
        for module in imported(path)
        if module.split(".")[0] == "rpc_agent" and module not in known and not module.startswith("rpc_agent.cli")
    ]
    assert len(talking) > 5
    assert faults == []


def test_the_client_never_imports_the_agent() -> None:
    files = list((ROOT / "clients" / "python" / "rpc_agent_client").glob("*.py"))
    assert len(files) > 5
    assert {module for path in files for module in imported(path) if module.split(".")[0] == "rpc_agent"} == set()


def is_pure(name: str) -> bool:
    return package_of(name) in PURE or name in PURE_MODULES


def test_pure_modules_import_nothing_that_touches_the_world() -> None:
    faults = [
        f"{name} is pure but imports {module}"
        for name, path in modules()
        if is_pure(name)
        for module in imported(path)
        if module.split(".")[0] in IMPURE_IMPORTS
    ]
    assert faults == []


def test_pure_modules_open_no_file() -> None:
    calls = [
        f"{name}:{node.lineno}"
        for name, path in modules()
        if is_pure(name)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open"
    ]
    assert calls == []


def test_values_inside_are_structs_whose_classes_cost_no_start() -> None:
    faults = [name for name, path in modules() if "dataclasses" in imported(path)]
    assert faults == [], "a Struct of msgspec, frozen=True, is what a dataclass is here"


def test_the_list_of_pure_modules_names_only_files_that_exist() -> None:
    assert PURE_MODULES - {name for name, _ in modules()} == set()


def code_lines(path: Path) -> int:
    return sum(1 for line in path.read_text(encoding="utf-8").splitlines() if line.strip())


def test_the_engine_is_mostly_pure() -> None:
    """The command line and the clients are thin shells; of the rest, the share that ARCHITECTURE.md states is pure."""
    counted = [(name, code_lines(path)) for name, path in modules() if package_of(name) != "cli"]
    pure = sum(lines for name, lines in counted if is_pure(name))
    share = pure / sum(lines for _, lines in counted)
    assert share > 0.4, f"only {share:.0%} of the engine's lines are pure"


def test_every_invariant_in_the_map_names_a_test_that_exists() -> None:
    text = (SOURCE / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)
    assert named, "ARCHITECTURE.md names no test"
    missing = [
        f"{file}::{test}"
        for file, test in named
        if not (ROOT / file).is_file() or (test and f"def {test}(" not in (ROOT / file).read_text(encoding="utf-8"))
    ]
    assert missing == []


def test_every_runtime_dependency_is_justified_in_the_map() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(r"^dependencies = \[(.*?)^\]", project, re.S | re.M)
    assert block is not None
    names = re.findall(r'"([\w-]+)', block.group(1))
    text = (SOURCE / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert [name for name in names if f"| {name} |" not in text] == []
