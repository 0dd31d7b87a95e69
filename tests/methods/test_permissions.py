"""Permissions with a client that can be asked: what it sees, what its answers do, and what happens without one."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import CheckingClient, Home, names, serving

pytestmark = pytest.mark.anyio


def writes(*paths: str) -> list[dict[str, Any]]:
    """A script that writes each file in a turn of its own."""
    return [{"toolCalls": [{"name": "write", "arguments": {"path": path, "content": "y"}}]} for path in paths]


async def begin(client: CheckingClient, answer: Any = None) -> list[dict[str, Any]]:
    """Say that permissions can be asked, and answer so; returns the list that the questions go to."""
    asked: list[dict[str, Any]] = []

    def reply(params: Any) -> Any:
        asked.append(params)
        return answer(params) if callable(answer) else answer

    if answer is not None:
        client.on_request["request_permission"] = reply
    capabilities = {"permissions": True}
    await client.request(
        "initialize", {"protocolVersion": 1, "clientInfo": {"name": "t"}, "capabilities": capabilities}
    )
    return asked


def results(client: CheckingClient) -> list[bool]:
    return [n.params["isError"] for n in client.notifications if n.method == "tool_execution_end"]


async def test_a_client_that_can_answer_is_asked_and_sees_what_would_happen(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(*writes("a.txt"), {"text": "done"})
    async with serving(home) as client:
        asked = await begin(client, {"optionId": "allow_once"})
        assert (await client.request("get_state"))["permissions"] == "ask"
        await client.request("prompt", {"message": "go", "wait": True})
        (question,) = asked
        assert (question["toolName"], question["args"]["path"]) == ("write", "a.txt")
        assert question["title"] == f"write: {home.project.resolve() / 'a.txt'}"
        assert [option["kind"] for option in question["options"]] == [
            "allow_once", "allow_always", "reject_once", "reject_always",
        ]  # fmt: skip
        assert (home.project / "a.txt").read_text() == "y"


async def test_always_counts_for_the_same_thing_in_this_session(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(*writes("a.txt", "a.txt", "b.txt"), {"text": "done"})
    async with serving(home) as client:
        asked = await begin(client, {"optionId": "allow_always"})
        await client.request("prompt", {"message": "go", "wait": True})
        assert [question["args"]["path"] for question in asked] == ["a.txt", "b.txt"]


@pytest.mark.parametrize(
    "answer", [{"optionId": "reject_once"}, {"cancelled": True}, {"optionId": "no such"}, {}, "yes", 7]
)
async def test_a_refusal_and_nonsense_do_not_run_the_tool_and_the_run_goes_on(tmp_path: Path, answer: Any) -> None:
    home = Home(tmp_path)
    home.script(*writes("a.txt"), {"text": "done"})
    async with serving(home) as client:
        await begin(client, answer)
        result = await client.request("prompt", {"message": "go", "wait": True})
        assert (result["text"], results(client), (home.project / "a.txt").exists()) == ("done", [True], False)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"cancelled": True}, "write was not run: the user closed the question without an answer."),
        ({"optionId": "no such"}, "write was not run: it needs permission, and the question got no answer"),
    ],
)
async def test_a_closed_dialog_is_told_apart_from_an_answer_that_cannot_be_used(
    tmp_path: Path, answer: Any, says: str
) -> None:
    home = Home(tmp_path)
    home.script(*writes("a.txt"), {"text": "done"})
    async with serving(home) as client:
        await begin(client, answer)
        await client.request("prompt", {"message": "go", "wait": True})
        (ended,) = [n.params for n in client.notifications if n.method == "tool_execution_end"]
        assert ended["result"]["content"][0]["text"].startswith(says)


async def test_an_abort_takes_the_question_back(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(*writes("a.txt"))
    async with serving(home) as client:
        await begin(client)
        await client.request("prompt", {"message": "go"})
        await client.wait(lambda: bool(client.requests))
        await client.request("abort")
        question = client.requests[0]
        cancels = [n.params for n in client.notifications if n.method == "$/cancelRequest"]
        assert cancels == [{"id": question.id}]


async def test_the_end_of_input_is_the_safe_answer(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(*writes("a.txt"), {"text": "done"})
    async with serving(home) as client:
        await begin(client)
        waiting = await client.ask("prompt", {"message": "go", "wait": True})
        await client.wait(lambda: bool(client.requests))
        client.transport.end()
        assert (await client.answer(waiting))["text"] == "done"
    assert not (home.project / "a.txt").exists()


async def test_in_the_workspace_edits_run_and_the_rest_is_asked(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"mode": "workspace"})
    (tmp_path / "elsewhere").mkdir()
    (home.project / "link").symlink_to(tmp_path / "elsewhere")
    home.script(*writes("in.txt", "../out.txt", "link/out.txt"), {"text": "done"})
    async with serving(home) as client:
        asked = await begin(client, {"optionId": "reject_once"})
        await client.request("prompt", {"message": "go", "wait": True})
        assert [question["args"]["path"] for question in asked] == ["../out.txt", "link/out.txt"]
        assert results(client) == [False, True, True]


async def test_a_path_that_changes_while_the_person_thinks_is_not_written(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.project / "dir").mkdir()
    (tmp_path / "elsewhere").mkdir()
    home.script(*writes("dir/x.txt"), {"text": "done"})

    def swap(params: Any) -> Any:
        (home.project / "dir").rmdir()
        (home.project / "dir").symlink_to(tmp_path / "elsewhere")
        return {"optionId": "allow_once"}

    async with serving(home) as client:
        await begin(client, swap)
        await client.request("prompt", {"message": "go", "wait": True})
        assert (results(client), list((tmp_path / "elsewhere").iterdir())) == ([True], [])


async def test_rules_override_the_mode(tmp_path: Path) -> None:
    home = Home(tmp_path)
    rules = [
        {"tool": "write", "match": "**/*.md", "action": "allow"},
        {"tool": "write", "match": "**/secret.md", "action": "deny"},
    ]
    home.settings(permissions={"mode": "read-only", "rules": rules})
    home.script(*writes("notes.md", "secret.md", "code.py"), {"text": "done"})
    async with serving(home) as client:
        await client.request("prompt", {"message": "go", "wait": True})
        assert results(client) == [False, True, True]
        assert "agent_settled" in names(client)
