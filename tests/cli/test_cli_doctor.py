"""`doctor`: what is configured, what is missing, and never a key."""

import json
from pathlib import Path

import anyio
import pytest

from rpc_agent.cli.doctor import Finding, examine, local_models
from tests.support.json_server import JsonServer

KEY = "sk-this-must-never-be-shown"


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {
        "RPC_AGENT_CONFIG_DIR": str(folder / "config"),
        "RPC_AGENT_SESSION_DIR": str(folder / "sessions"),
        "PATH": str(folder / "bin"),
        **more,
    }


def texts(findings: list[Finding], kind: str) -> list[str]:
    return [finding.text for finding in findings if finding.kind == kind]


def test_a_fresh_machine_works_and_is_told_how_to_get_a_model(tmp_path: Path) -> None:
    findings = examine(environment(tmp_path), tmp_path)
    assert texts(findings, "bad") == []
    assert texts(findings, "note") == [
        f"configuration folder: {tmp_path / 'config'}",
        "no provider's key is set",
        "the built-in offline model answers",
        "ripgrep is not on PATH",
    ]
    fixes = " ".join(finding.fix for finding in findings)
    assert "OPENAI_API_KEY" in fixes


def test_a_key_in_the_environment_is_named_and_never_shown(tmp_path: Path) -> None:
    findings = examine(environment(tmp_path, GROQ_API_KEY=KEY), tmp_path)
    assert "keys found in: GROQ_API_KEY" in texts(findings, "good")
    assert KEY not in str(findings)


def test_a_model_with_its_key_in_the_file_needs_no_variable(tmp_path: Path) -> None:
    mine = {"baseUrl": "http://127.0.0.1:9/v1", "apiKey": KEY, "api": "openai-completions", "models": [{"id": "m"}]}
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "models.json").write_text(json.dumps({"providers": {"mine": mine}}))
    findings = examine(environment(tmp_path), tmp_path)
    assert {"usable without a variable: mine", "mine/m is the model that answers"} <= set(texts(findings, "good"))
    assert texts(findings, "note") == ["ripgrep is not on PATH"]
    assert KEY not in str(findings)


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("settings.json", '{"compaction": {"keepRecentTokens": "many"}}', "compaction.keepRecentTokens"),
        ("settings.json", "{", "line 1"),
        ("models.json", '{"providers": {"mine": {"baseUrl": "ftp://x"}}}', "providers.mine.baseUrl"),
    ],
)
def test_a_bad_value_is_named_with_its_file(tmp_path: Path, file: str, content: str, told: str) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / file).write_text(content)
    [bad] = texts(examine(environment(tmp_path), tmp_path), "bad")
    assert told in bad
    assert str(tmp_path / "config" / file) in bad


def test_a_misspelt_field_of_a_model_is_named(tmp_path: Path) -> None:
    model = {"id": "m", "contextwindow": 1, "compat": {"anything": 1}}
    mine = {"baseUrl": "http://127.0.0.1:9/v1", "apikey": KEY, "api": "openai-completions", "models": [model]}
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "models.json").write_text(json.dumps({"$schema": "x", "providers": {"mine": mine}}))
    notes = "\n".join(texts(examine(environment(tmp_path), tmp_path), "note"))
    assert "providers.mine.apikey: unknown, ignored" in notes
    assert "providers.mine.models.0.contextwindow: unknown, ignored" in notes
    assert ("anything" in notes, "$schema" in notes, KEY in notes) == (False, False, False)


def test_a_bad_file_of_trust_is_a_fault_in_every_folder(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "trust.json").write_text('{"/x": 3}')
    [bad] = [finding for finding in examine(environment(tmp_path), tmp_path) if finding.kind == "bad"]
    assert bad.text.endswith("trust.json: /x: must be true or false, not 3")
    assert "no session begins" in bad.fix


def test_a_chosen_model_without_a_key_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.json").write_text(json.dumps({"defaultModel": "openai/gpt-5"}))
    assert texts(examine(environment(tmp_path), tmp_path), "bad") == ["openai/gpt-5 is chosen, but it has no key"]


def test_no_model_at_all_is_a_fault_when_the_offline_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.json").write_text('{"offline": false}')
    [bad] = texts(examine(environment(tmp_path), tmp_path), "bad")
    assert bad.startswith("no model answers")


@pytest.mark.parametrize(("where", "trusted"), [("config", False), ("project", True), ("project", False)])
def test_sessions_are_where_the_settings_put_them(tmp_path: Path, where: str, trusted: bool) -> None:
    project, chosen = tmp_path / "project", tmp_path / "chosen"
    folder = {"config": tmp_path / "config", "project": project / ".rpc-agent"}[where]
    for made in (tmp_path / "config", folder):
        made.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(json.dumps({"sessionDir": str(chosen)}))
    (tmp_path / "config" / "trust.json").write_text(json.dumps({str(project.resolve()): trusted}))
    project.mkdir(exist_ok=True)
    variables = {**environment(tmp_path), "RPC_AGENT_SESSION_DIR": "", "HOME": str(tmp_path)}
    told = f"sessions are kept in: {chosen}" in texts(examine(variables, project), "good")
    assert told is (where == "config" or trusted)
    # The variable wins over the setting.
    kept = f"sessions are kept in: {tmp_path / 'sessions'}"
    assert kept in texts(examine(environment(tmp_path), project), "good")


def test_a_sessions_folder_that_can_be_no_path_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.json").write_text(json.dumps({"sessionDir": "x" * 5000}))
    [bad] = texts(examine({**environment(tmp_path), "RPC_AGENT_SESSION_DIR": ""}, tmp_path), "bad")
    assert "sessionDir" in bad


def test_a_configuration_folder_that_can_be_no_path_is_the_only_finding(tmp_path: Path) -> None:
    (finding,) = examine(environment(tmp_path, RPC_AGENT_CONFIG_DIR="~nobodyhere/x"), tmp_path)
    assert finding.kind == "bad" and "configDir" in finding.text


def test_a_project_that_is_not_trusted_is_said_not_to_be_read(tmp_path: Path) -> None:
    (tmp_path / ".rpc-agent").mkdir()
    [untrusted] = [f for f in examine(environment(tmp_path), tmp_path) if "this project" in f.text]
    assert (untrusted.kind, str(tmp_path.resolve()) in untrusted.fix) == ("note", True)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "trust.json").write_text(json.dumps({str(tmp_path.resolve()): True}))
    [trusted] = [f for f in examine(environment(tmp_path), tmp_path) if "this project" in f.text]
    assert trusted.kind == "good"


@pytest.mark.anyio
async def test_a_model_server_on_this_machine_is_told_and_none_is_no_matter() -> None:
    async with JsonServer({"/v1/models": {"data": [{"id": "m", "max_model_len": 4096}]}}) as server:
        with anyio.fail_after(20):
            assert texts(await local_models({"vllm": server.port}), "good") == [
                "vllm runs on this machine, with 1 model(s): rpc-agent models"
            ]
            assert await local_models({"ollama": server.port}) == []
