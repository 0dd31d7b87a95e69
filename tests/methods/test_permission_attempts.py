"""Attempts to get around the permissions, each through the whole server: what ran, and what was left untouched."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import Home, serving
from tests.support.hooks import initialize

pytestmark = pytest.mark.anyio
RULES = [
    {"tool": "bash", "match": "echo *", "action": "allow"},
    {"tool": "write", "match": "**/docs/**", "action": "allow"},
    {"tool": "*", "match": "**/private/**", "action": "deny"},
]


def world(root: Path) -> Home:
    """A project with links that lead out of it, into it, and to what is denied."""
    home = Home(root)
    (root / "outside").mkdir()
    (root / "outside" / "private").mkdir()
    (root / "outside" / "private" / "key").write_text("secret")
    (home.project / "docs").mkdir()
    (home.project / "docs" / "out").symlink_to(root / "outside")
    (home.project / "nice").symlink_to(root / "outside" / "private")
    (home.project / "chain").symlink_to(home.project / "nice")
    (home.project / "conf").symlink_to(home.config)
    (home.project / "inside").symlink_to(home.project / "docs")
    (home.project / "loop").symlink_to(home.project / "loop")
    (home.config / "models.json").write_text("{}")
    return home


def write(path: str) -> tuple[str, dict[str, Any]]:
    return "write", {"path": path, "content": "broken in"}


def read(path: str) -> tuple[str, dict[str, Any]]:
    return "read", {"path": path}


def bash(command: str) -> tuple[str, dict[str, Any]]:
    return "bash", {"command": command}


def look(tool: str, path: str | None = None, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return tool, arguments if path is None else {"path": path, **arguments}


ATTEMPTS = [
    # (mode, attempt, whether it runs; nobody can be asked)
    ("workspace", write("a.txt"), True),
    ("workspace", write("inside/a.txt"), True),
    ("workspace", write("docs/../a.txt"), True),
    ("workspace", write("../outside/a.txt"), False),
    ("workspace", write("docs/../../outside/a.txt"), False),
    ("workspace", write("docs/out/a.txt"), False),
    ("workspace", write("docs/out/../escaped.txt"), False),
    ("workspace", write("nice/key"), False),
    ("workspace", write("loop/a.txt"), False),
    ("workspace", write("~/a.txt"), False),
    ("workspace", write("../PROJECT/a.txt"), False),
    ("workspace", write("../project-2/a.txt"), False),
    ("workspace", bash("true"), False),
    # a rule is held against where a path leads, not what it is called
    ("read-only", write("docs/a.txt"), True),
    ("read-only", write("inside/a.txt"), True),
    ("read-only", write("docs/out/a.txt"), False),
    ("read-only", write("a.txt"), False),
    ("allow", read("nice/key"), False),
    ("allow", read("chain/key"), False),
    ("allow", read("docs/out/private/key"), False),
    ("allow", read("../outside/private/key"), False),
    # the configuration stays shut, however it is reached
    ("allow", read("conf/models.json"), False),
    ("allow", read("../config/models.json"), False),
    ("allow", read("../CONFIG/models.json"), False),
    ("allow", write("conf/settings.json"), False),
    # a chain never fits an allow rule
    ("read-only", bash("echo hi"), True),
    *[
        ("read-only", bash(command), False)
        for command in (
            "echo hi; touch owned",
            "echo hi && touch owned",
            "echo hi | tee owned",
            "echo `touch owned`",
            "echo $(touch owned)",
            "echo hi\ntouch owned",
            "echo hi & touch owned",
            "echo hi > owned",
            "echo hi >> owned",
            "echo hi &> owned",
            "echo hi >| owned",
            "echo ${x:='\\044(touch owned)'} ${x@P}",
            "ECHO hi; touch owned",
        )
    ],
]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize(("mode", "attempt", "runs"), ATTEMPTS)
async def test_an_attempt_ends_as_the_table_says(tmp_path: Path, mode: str, attempt: Any, runs: bool) -> None:
    home = world(tmp_path)
    name, arguments = attempt
    home.script({"toolCalls": [{"name": name, "arguments": arguments}]}, {"text": "done"})
    home.settings(permissions={"mode": mode, "rules": RULES})
    before = {path for path in tmp_path.rglob("*") if home.sessions not in path.parents}
    async with serving(home) as client:
        await initialize(client)
        await client.request("prompt", {"message": "go", "wait": True})
        (end,) = [n.params for n in client.notifications if n.method == "tool_execution_end"]
    assert end["isError"] is not runs, end["result"]
    if not runs:
        made = {path for path in tmp_path.rglob("*") if home.sessions not in path.parents} - before
        assert made <= {home.sessions}
        assert "secret" not in str(end["result"])
        assert (tmp_path / "outside" / "private" / "key").read_text() == "secret"


HIDDEN = [
    # what nobody may name is not come upon either, in a search from above
    look("grep", "..", pattern="secret"),
    look("grep", "../outside", pattern="secret", context=2),
    look("find", "..", pattern="key"),
    look("find", "../outside", pattern="*"),
    look("ls", "../outside"),
    look("grep", "../outside", pattern="secret", glob="*ey"),
]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("action", ["deny", "ask"])
@pytest.mark.parametrize("attempt", HIDDEN)
async def test_a_search_keeps_to_itself_what_may_not_be_named(tmp_path: Path, attempt: Any, action: str) -> None:
    home = world(tmp_path)
    (tmp_path / "outside" / "open").mkdir()
    (tmp_path / "outside" / "open" / "key").write_text("no secret")
    name, arguments = attempt
    home.script({"toolCalls": [{"name": name, "arguments": arguments}]}, {"text": "done"})
    rules = [{"tool": "*", "match": "**/private/**", "action": action}]
    home.settings(permissions={"mode": "allow", "rules": rules})
    async with serving(home) as client:
        await initialize(client)
        await client.request("prompt", {"message": "go", "wait": True})
        (end,) = [n.params for n in client.notifications if n.method == "tool_execution_end"]
    (block,) = end["result"]["content"]
    assert not end["isError"]
    assert "open/" in block["text"], "what may be named is found"
    assert "private/" not in block["text"]


async def test_who_may_not_read_a_file_does_not_grep_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.project / ".env").write_text("KEY=secret\n")
    (home.project / "a.txt").write_text("no secret\n")
    calls = [
        {"name": "grep", "arguments": {"pattern": "secret"}},
        {"name": "grep", "arguments": {"pattern": "secret", "path": ".env"}},
    ]
    home.script({"toolCalls": calls}, {"text": "done"})
    home.settings(permissions={"rules": [{"tool": "read", "match": "**/.env", "action": "deny"}]})
    async with serving(home) as client:
        await client.request("prompt", {"message": "go", "wait": True})
        ends = [n.params for n in client.notifications if n.method == "tool_execution_end"]
    # They work side by side, and end as they like.
    told = sorted(end["result"]["content"][0]["text"] for end in ends)
    assert told == ["(no line in .env fits)\n", "a.txt:1: no secret\n"]


async def test_a_number_for_a_text_is_held_to_the_rules_as_the_text_it_becomes(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for name in ("5", "7"):
        (home.project / name).write_text("secret\n")
    calls = [
        {"name": "read", "arguments": {"path": 5}},
        {"name": "write", "arguments": {"path": 7, "content": "x"}},
        {"name": "bash", "arguments": {"command": 9}},
    ]
    home.script({"toolCalls": calls}, {"text": "done"})
    denied = [{"tool": "*", "match": match, "action": "deny"} for match in ("**/5", "**/7", "9")]
    home.settings(permissions={"mode": "allow", "rules": denied})
    async with serving(home) as client:
        await client.request("prompt", {"message": "go", "wait": True})
        ends = [n.params for n in client.notifications if n.method == "tool_execution_end"]
    assert [(end["isError"], "denies it" in end["result"]["content"][0]["text"]) for end in ends] == [(True, True)] * 3
    assert (home.project / "7").read_text() == "secret\n"


@pytest.mark.parametrize("attempt", [look("ls"), look("find", pattern="*"), look("grep", pattern="x")])
async def test_a_search_without_a_place_is_one_of_the_working_directory(tmp_path: Path, attempt: Any) -> None:
    home = Home(tmp_path)
    name, arguments = attempt
    home.script({"toolCalls": [{"name": name, "arguments": arguments}]}, {"text": "done"})
    home.settings(permissions={"mode": "allow", "rules": [{"tool": name, "match": "**/project", "action": "deny"}]})
    async with serving(home) as client:
        await client.request("prompt", {"message": "go", "wait": True})
        (end,) = [n.params for n in client.notifications if n.method == "tool_execution_end"]
    assert end["isError"]
