"""Keys in everything that a user or a client may come to see, when services say them back in every way."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.agent_server import PATIENCE, Home
from tests.support.chat_server import ChatServer, ServerReply, error_reply, serve_in_thread, text_reply
from tests.support.serve_process import serve_process

KEY = "sk-test/9+abcDEF0123456789xyz"
HEADER = "tenant-0f1e2d3c4b5a-secret"
PASSWORD = "hunter2-of-the-proxy"
SECRETS = (KEY, KEY.replace("/", "\\/"), quote(KEY, safe=""), KEY[:20], HEADER, PASSWORD)

APIS = ("openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai")
ECHO = {"x-echo": f"Bearer {KEY}", "www-authenticate": f'Bearer realm="{KEY}"', "x-tenant-echo": HEADER}
TOLD = f"Incorrect API key provided: {KEY} (tenant {HEADER}, {quote(KEY, safe='')})"

REPLIES = {
    "in a body": error_reply(401, {"error": {"message": TOLD}}, ECHO),
    "in JSON in JSON": error_reply(500, {"error": {"message": json.dumps({"error": TOLD}).replace("/", "\\/")}}, ECHO),
    "in a page": ServerReply(status=502, body=f"<html>{TOLD}</html>".encode(), headers={**ECHO, "content-type": "text/html"}),
    "cut at the end of what is shown": error_reply(400, {"error": {"message": "x" * 1985 + KEY}}, ECHO),
    "in an error of a stream": ServerReply(body=b"data: " + json.dumps({"error": {"message": TOLD}}).encode() + b"\n\n"),
}  # fmt: skip


def home_for(tmp_path: Path, service: ChatServer) -> Home:
    """A provider of each API with the key in the file, and two that find it elsewhere."""
    home = Home(tmp_path)
    address = service.base_url.replace("http://", f"http://user:{PASSWORD}@")
    provider = {"headers": {"x-tenant": HEADER}, "models": [{"id": "m"}]}
    one = {**provider, "api": APIS[0]}
    home.models(
        {
            **{api: {**provider, "api": api, "baseUrl": service.base_url, "apiKey": KEY} for api in APIS},
            "named": {**one, "baseUrl": address, "apiKeyEnv": "MY_OWN_KEY"},
            "asked": {**one, "baseUrl": service.base_url, "apiKey": f"!echo '{KEY}'"},
        }
    )
    home.settings(defaultModel=f"{APIS[0]}/m", retry={"baseDelayMs": 1, "maxRetries": 1})
    return home


def secrets_in(place: str, text: str) -> list[tuple[str, str]]:
    return [(place, text[max(0, text.find(secret) - 80) :][:160]) for secret in SECRETS if secret in text]


def secrets_below(*folders: Path) -> list[tuple[str, str]]:
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    assert files, "nothing was written, so nothing is shown by this test"
    return [found for file in files for found in secrets_in(str(file), file.read_text(encoding="utf-8"))]


def told_everything(tmp_path: Path, home: Home, *chosen: str) -> str:
    """Prompts on each provider and asks for all that is told of models and sessions: messages and log."""
    log = tmp_path / "logs"
    log.mkdir()
    options = ("--trace", str(log / "trace"), "--log-level", "debug", "--log-file", str(log / "log"))
    with serve_process(home, *options, MY_OWN_KEY=KEY) as server:
        said = []
        for provider in chosen:
            said += server.heard("set_model", provider=provider, modelId="m")
            said += server.heard("prompt", message="hello", wait=True)
            assert said[-1]["result"]["stopReason"] == "error"
        for method in ("get_available_models", "get_settings", "get_state", "get_entries"):
            said += server.heard(method)
        assert server.finish() == 0
    return json.dumps(said, ensure_ascii=False) + server.stderr


@pytest.mark.parametrize("name", REPLIES)
def test_a_key_that_a_service_says_back_is_nowhere(tmp_path: Path, name: str) -> None:
    with serve_in_thread([*[REPLIES[name]] * 3 * len(APIS)]) as service:
        home = home_for(tmp_path, service)
        said = told_everything(tmp_path, home, *APIS)
        assert str(service.headers).count(KEY) >= len(APIS), "the key was sent"
    assert secrets_in("stdout and stderr", said) + secrets_below(home.sessions, tmp_path / "logs") == []


@pytest.mark.parametrize("chosen", ["named", "asked"])
def test_a_key_of_a_variable_or_a_command_is_nowhere(tmp_path: Path, chosen: str) -> None:
    with serve_in_thread([REPLIES["in a body"]] * 3) as service:
        home = home_for(tmp_path, service)
        said = told_everything(tmp_path, home, chosen)
    assert secrets_in("stdout and stderr", said) + secrets_below(home.sessions, tmp_path / "logs") == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_key_follows_no_redirect_to_another_host(tmp_path: Path, status: int) -> None:
    with serve_in_thread([text_reply("you should not be here")]) as elsewhere:
        place = elsewhere.base_url.replace("127.0.0.1", "localhost") + f"?key={quote(KEY)}"
        with serve_in_thread([error_reply(status, TOLD, {**ECHO, "location": place})] * 3 * len(APIS)) as service:
            home = home_for(tmp_path, service)
            said = told_everything(tmp_path, home, *APIS)
        assert elsewhere.headers == [], "nothing was sent there"
    assert secrets_in("stdout and stderr", said) + secrets_below(home.sessions, tmp_path / "logs") == []


@pytest.mark.parametrize("command", [["models"], ["models", "--json"], ["doctor"]])
def test_no_command_prints_a_key(tmp_path: Path, command: list[str]) -> None:
    with serve_in_thread([REPLIES["in a body"]] * 20) as service:
        home = home_for(tmp_path, service)
        done = subprocess.run(
            [sys.executable, "-m", "rpc_agent", *command],
            env={**home.environment, "MY_OWN_KEY": KEY}, cwd=home.project, capture_output=True, text=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
    assert APIS[0] in done.stdout
    assert secrets_in("output", done.stdout + done.stderr) == []


@pytest.mark.parametrize(
    "broken",
    [
        f'{{"providers": {{"mine": {{"apiKey": "{KEY}", "headers": {{"a": ["{HEADER}"]}}}}}}}}',
        f'{{"providers": {{"mine": {{"apiKey": ["{KEY}"]}}}}}}',
        f'{{"providers": {{"openai": "{KEY}"}}}}',
        f'{{"providers": {{"mine": {{"apiKey": "{KEY}" "{HEADER}"}}}}}}',
        f'{{"providers": {{"mine": {{"apiKeyEnv": "{KEY}"}}}}}}',
        f'{{"providers": {{"mine": {{"apiKey": "{KEY}", "baseUrl": "ftp://u:{PASSWORD}@x", "api": "openai-completions"}}}}}}',
    ],
)  # fmt: skip
def test_a_faulty_models_file_is_told_without_its_keys(tmp_path: Path, broken: str) -> None:
    home = Home(tmp_path)
    (home.config / "models.json").write_text(broken, encoding="utf-8")
    with serve_process(home, "--log-level", "debug") as server:
        said = server.heard("get_available_models") + server.heard("prompt", message="hi", wait=True)
        server.finish()
    assert "models.json" in json.dumps(said) + server.stderr
    assert secrets_in("stdout and stderr", json.dumps(said, ensure_ascii=False) + server.stderr) == []


LOOKS: list[tuple[str, dict[str, Any]]] = [
    ("bash", {"command": "env"}),
    ("bash", {"command": "tr '\\0' '\\n' < /proc/self/environ"}),
    ("read", {"path": "/proc/self/environ"}),
    ("read", {"path": "/proc/thread-self/environ"}),
    ("read", {"path": "/proc/PID/environ", "offset": 2}),
    ("read", {"path": "/proc/self/mem"}),
    ("read", {"path": "link"}),
    ("read", {"path": "../config/models.json"}),
    ("grep", {"pattern": "sk-", "path": "/proc/self/environ"}),
    ("grep", {"pattern": "sk-", "path": "/proc/PID/environ"}),
    ("grep", {"pattern": "sk-", "path": "/proc/PID/task"}),
    ("grep", {"pattern": "sk-", "path": ".."}),
    ("grep", {"pattern": "sk-", "path": "../config"}),
    ("find", {"pattern": "*sk-*", "path": ".."}),
    ("edit", {"path": "../config/models.json", "edits": [{"oldText": "sk-", "newText": "x"}]}),
]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_no_tool_comes_upon_a_key(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.project / "link").symlink_to("/proc/self/environ")
    (home.project / "AGENTS.md").symlink_to("/proc/self/environ")
    replies = home.config / "replies.json"
    scripted = {"api": "scripted", "script": str(replies), "models": [{"id": "s"}]}
    asked = {"baseUrl": "http://127.0.0.1:9/v1", "api": APIS[0], "models": [{"id": "m"}]}
    home.models({"scripted": scripted, "mine": {**asked, "apiKey": KEY}, "named": {**asked, "apiKeyEnv": "MY_OWN_KEY"}})
    home.settings(defaultModel="scripted/s", permissions={"mode": "allow"})
    keys = {"MY_OWN_KEY": KEY, "OPENAI_API_KEY": KEY, "UNDER_ANOTHER_NAME": KEY}
    with serve_process(home, **keys) as server:
        calls = [{"toolCalls": [{"name": name, "arguments": given}]} for name, given in LOOKS]
        script = json.dumps({"replies": [*calls, {"text": "done"}]})
        replies.write_text(script.replace("PID", str(server.process.pid)), encoding="utf-8")
        said = server.heard("prompt", message="look", wait=True)
        assert said[-1]["result"]["text"] == "done"
        assert server.finish() == 0
    ends = [message for message in said if message.get("method") == "tool_execution_end"]
    assert len(ends) == len(LOOKS)
    assert "PATH=" in str(ends[0]), "the environment was shown"
    assert secrets_in("stdout and stderr", json.dumps(said, ensure_ascii=False) + server.stderr) == []
    assert secrets_below(home.sessions) == []
