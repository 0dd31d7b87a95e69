"""The published files are what the models say now, and valid for those who read them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rpc_agent.protocol.error_codes import ERRORS
from rpc_agent.protocol.export import main, render, stale_files
from rpc_agent.protocol.json_schema import references
from rpc_agent.protocol.methods import CLIENT_NOTIFICATIONS, METHODS
from tests.support.contract import contract
from tests.support.openrpc_meta_schema import OPENRPC_META_SCHEMA

PROTOCOL = Path(__file__).resolve().parents[2] / "protocol"
CONFIGURATION = ("settings.schema.json", "models.schema.json", "trust.schema.json")
GENERATED = {"openrpc.json", "schema.json", "session-file.schema.json", "types.ts", *CONFIGURATION}


@pytest.fixture(scope="module")
def rendered() -> dict[str, str]:
    return render()


def test_the_checked_in_files_are_what_the_models_say(rendered: dict[str, str]) -> None:
    assert stale_files(PROTOCOL, rendered) == [], "run: python -m rpc_agent.protocol.export --write"


def test_nothing_in_the_folder_is_neither_generated_nor_known_to_be_written_by_hand(rendered: dict[str, str]) -> None:
    assert set(rendered) == GENERATED
    by_hand = {"README.md", "CHANGELOG.md", "examples"}
    unknown = {path.name for path in PROTOCOL.iterdir()} - GENERATED - by_hand
    assert {name for name in unknown if name.endswith((".json", ".ts"))} == set()


def test_rendering_twice_gives_the_same_bytes_with_line_feeds_only(rendered: dict[str, str]) -> None:
    assert render() == rendered
    assert all("\r" not in text and text.endswith("\n") for text in rendered.values())


def test_check_names_a_stale_file_and_write_mends_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--write", "--folder", str(tmp_path)]) == 0
    assert main(["--check", "--folder", str(tmp_path)]) == 0
    (tmp_path / "types.ts").write_text("old")
    assert main(["--check", "--folder", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "types.ts is stale; run: python -m rpc_agent.protocol.export --write\n"
    assert main(["--write", "--folder", str(tmp_path)]) == 0
    assert main(["--check", "--folder", str(tmp_path)]) == 0


def test_a_checkout_with_other_line_ends_counts_as_stale(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x\r\n")
    (tmp_path / "b").write_bytes(b"x\n")
    assert stale_files(tmp_path, {"a": "x\n", "b": "x\n", "c": "x\n"}) == ["a", "c"]


def test_the_openrpc_document_follows_the_rules_of_openrpc(rendered: dict[str, str]) -> None:
    document = json.loads(rendered["openrpc.json"])
    errors = [
        f"{each.json_path}: {each.message}" for each in Draft202012Validator(OPENRPC_META_SCHEMA).iter_errors(document)
    ]
    assert errors == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda document: document.pop("info"),
        lambda document: document["methods"][0].pop("params"),
        lambda document: document["methods"][0].update(ordering="alongside"),
        lambda document: document["methods"][0]["params"][0]["schema"].update(type="text"),
    ],
)
def test_the_rules_of_openrpc_notice_a_fault(rendered: dict[str, str], spoil: Any) -> None:
    document = json.loads(rendered["openrpc.json"])
    spoil(document)
    assert not Draft202012Validator(OPENRPC_META_SCHEMA).is_valid(document)


def test_the_openrpc_document_refers_only_to_what_it_holds(rendered: dict[str, str]) -> None:
    document = json.loads(rendered["openrpc.json"])
    held = {**document["components"]["schemas"], **document["components"]["errors"]}
    assert set(references(document)) <= set(held)
    assert [method["name"] for method in document["methods"]] == [*METHODS, *CLIENT_NOTIFICATIONS]


def test_params_with_positions_come_first_and_in_their_order(rendered: dict[str, str]) -> None:
    methods = {each["name"]: each for each in json.loads(rendered["openrpc.json"])["methods"]}
    for name, row in METHODS.items():
        names = tuple(each["name"] for each in methods[name]["params"])
        assert names[: len(row.positional)] == row.positional
        assert methods[name]["paramStructure"] == ("either" if row.positional else "by-name")


@pytest.mark.parametrize("name", ["schema.json", "session-file.schema.json"])
def test_the_schemas_are_json_schema_and_refer_only_to_what_they_hold(rendered: dict[str, str], name: str) -> None:
    schema = json.loads(rendered[name])
    Draft202012Validator.check_schema(schema)
    assert set(references(schema)) <= set(schema["$defs"])


@pytest.mark.parametrize("name", sorted(contract().definitions))
def test_every_shape_and_every_field_is_described(name: str) -> None:
    schema = contract().definitions[name]
    assert schema.get("description", "").endswith(".")
    fields = schema.get("properties", {})
    bare = [field for field, each in fields.items() if "const" not in each and not each.get("description", "").strip()]
    assert [field for field in bare if field not in ("text",)] == []


def test_an_optional_param_is_shown_without_null_unless_null_says_something() -> None:
    prompt = contract().definitions["PromptParams"]["properties"]
    assert prompt["wait"]["type"] == "boolean"
    assert prompt["expectedLeafId"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    target = contract().definitions["NavigateTreeParams"]["properties"]["targetId"]
    assert target["anyOf"] == [{"type": "string"}, {"type": "null"}]


HEADER = {"type": "session", "version": 3, "id": "x", "timestamp": "2026-11-30T09:12:44.120Z", "cwd": "/home/ada"}
ENTRY = {"type": "label", "id": "a1", "parentId": None, "timestamp": "2026-11-30T09:12:44.120Z", "targetId": "a0"}


@pytest.mark.parametrize("line", [HEADER, ENTRY, {**ENTRY, "type": "of_another_program"}, {**ENTRY, "more": 1}])
def test_a_line_of_a_session_file_fits_its_schema(rendered: dict[str, str], line: dict[str, Any]) -> None:
    Draft202012Validator(json.loads(rendered["session-file.schema.json"])).validate(line)


@pytest.mark.parametrize("line", [{**HEADER, "version": 9}, {**ENTRY, "parentId": 7}, {"type": "label"}, 42])
def test_what_is_no_line_of_a_session_file_does_not_fit(rendered: dict[str, str], line: Any) -> None:
    assert not Draft202012Validator(json.loads(rendered["session-file.schema.json"])).is_valid(line)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("settings.schema.json", {"retry": {"maxRetries": 1}, "more": 1}, {"retry": {"maxRetries": "1"}}),
        ("models.schema.json", {"providers": {"a": {"models": [{"id": "b"}]}}}, {"providers": {"a": {"models": [{}]}}}),
        ("trust.schema.json", {"/home/ada/birds": True}, {"/home/ada/birds": "yes"}),
    ],
)
def test_a_configuration_file_is_held_to_its_schema(rendered: dict[str, str], name: str, good: Any, bad: Any) -> None:
    schema = json.loads(rendered[name])
    Draft202012Validator.check_schema(schema)
    assert [Draft202012Validator(schema).is_valid(each) for each in (good, bad)] == [True, False]


@pytest.mark.parametrize("name", CONFIGURATION)
def test_every_name_in_a_configuration_file_is_described_and_its_default_is_a_good_value(
    rendered: dict[str, str], name: str
) -> None:
    schema = json.loads(rendered[name])
    assert schema["description"].endswith(".")
    for path, field in _fields(schema):
        # A section only holds fields.
        assert field.get("description") or field.get("properties"), path
        assert "default" not in field or Draft202012Validator(field).is_valid(field["default"]), path


def _fields(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, field in schema.get("properties", {}).items():
        yield f"{path}.{name}", field
        yield from _fields(field, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from _fields(schema[key], path)


def test_the_readme_holds_every_error_with_what_to_do() -> None:
    readme = (PROTOCOL / "README.md").read_text(encoding="utf-8")
    rows = [
        f"| {row.code} | {row.reason}{'*' if row.retryable else ''} | {row.when} | {row.action} | {', '.join(row.data)} |"
        for row in ERRORS.values()
    ]
    assert [row for row in rows if row not in readme] == []


def test_the_typescript_client_has_the_contract_of_today() -> None:
    copy = PROTOCOL.parent / "clients" / "typescript" / "src" / "protocol.ts"
    assert copy.read_text() == (PROTOCOL / "types.ts").read_text(), "run: make generate"
