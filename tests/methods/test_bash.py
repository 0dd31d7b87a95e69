"""bash and abort_bash: commands of the user, shown to the model without cutting its turns apart."""

import sys
from pathlib import Path

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import Home, serving
from tests.support.chat_server import ChatServer, text_reply

pytestmark = pytest.mark.anyio


async def test_it_runs_in_any_permission_mode_streams_and_is_recorded(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with serving(home) as client:
        result = await client.request("bash", {"command": "echo hi; exit 3"})
        assert (result["output"], result["exitCode"], result["cancelled"], result["truncated"]) == (
            "hi\n",
            3,
            False,
            False,
        )
        update = next(n.params for n in client.notifications if n.method == "bash_execution_update")
        assert (update["delta"], update["requestId"]) == ("hi\n", 1)
        messages = (await client.request("get_messages"))["messages"]
        assert [(m["role"], m["command"], m["output"]) for m in messages] == [
            ("bashExecution", "echo hi; exit 3", "hi\n")
        ]


async def test_excluded_it_is_kept_in_the_session_and_not_sent_to_the_model(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with ChatServer([text_reply("ok")]) as service:
        home.use_service(service.base_url)
        async with serving(home) as client:
            await client.request("bash", {"command": "echo shown"})
            await client.request("bash", {"command": "echo secret", "excludeFromContext": True})
            entries = (await client.request("get_entries"))["entries"]
            assert entries[1]["message"]["excludeFromContext"] is True
            await client.request("prompt", {"message": "hi", "wait": True})
        (body,) = service.raw_requests
        assert (b"echo shown" in body, b"secret" in body) == (True, False)


async def test_during_a_run_it_is_recorded_after_the_turns_tool_results(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"mode": "allow"})
    wait = {"command": "while [ ! -e go ]; do sleep 0.01; done"}
    home.script({"toolCalls": [{"name": "bash", "arguments": wait}]}, {"text": "done"})
    async with serving(home) as client:
        question = await client.ask("prompt", {"message": "start", "wait": True})
        await client.notification("tool_execution_start")
        await client.request("bash", {"command": "echo beside"})
        (home.project / "go").touch()
        await client.answer(question)
        roles = [m["role"] for m in (await client.request("get_messages"))["messages"]]
        assert roles == ["system", "user", "assistant", "toolResult", "bashExecution", "assistant"]


async def test_abort_bash_stops_it_and_keeps_what_it_said(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with serving(home) as client:
        question = await client.ask("bash", {"command": "echo begun; sleep 300"})
        await client.notification("bash_execution_update")
        await client.request("abort_bash")
        result = await client.answer(question)
        assert (result["output"], result["exitCode"], result["cancelled"]) == ("begun\n", None, True)


async def test_cancelling_the_call_gives_its_own_cancelled_form(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with serving(home) as client:
        question = await client.ask("bash", {"command": "echo begun; sleep 300"})
        await client.notification("bash_execution_update")
        await client.notify("$/cancelRequest", {"id": question[0]})
        assert (await client.answer(question))["cancelled"] is True


async def test_a_timeout_ends_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with serving(home) as client:
        result = await client.request("bash", {"command": "sleep 300", "timeout": 0.1})
        assert (result["exitCode"], result["cancelled"]) == (None, True)


def named(refusal: RpcError) -> tuple[int, str, list[str]]:
    """The code, the reason, and the fields that are to blame."""
    data = refusal.data or {}
    return refusal.code, data["reason"], [error["path"] for error in data["errors"]]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
async def test_a_command_that_cannot_be_started_is_refused_by_name_and_leaves_no_record(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with serving(home) as client:
        for command, said in (("echo \0", "NUL"), (": " + "x" * 3_000_000, "Put it into a file")):
            with pytest.raises(RpcError, match=said) as refusal:
                await client.request("bash", {"command": command})
            assert named(refusal.value) == (-32602, "invalidParams", ["command"])
        home.project.rmdir()
        with pytest.raises(RpcError, match="project: No such file or directory") as refusal:
            await client.request("bash", {"command": "true"})
        assert named(refusal.value) == (-32602, "invalidParams", ["cwd"])
        home.project.mkdir()
        await client.request("bash", {"command": "true"})
        assert [m["command"] for m in (await client.request("get_messages"))["messages"]] == ["true"]


@pytest.mark.parametrize("shell", ["/no/such/shell"])
async def test_a_shell_that_cannot_be_started_names_its_setting(tmp_path: Path, shell: str) -> None:
    home = Home(tmp_path)
    home.settings(shell={"path": shell})
    async with serving(home) as client:
        with pytest.raises(RpcError, match=r"shell\.path") as refusal:
            await client.request("bash", {"command": "true"})
        assert named(refusal.value) == (-32602, "invalidParams", ["shell.path"])


async def test_abort_leaves_the_users_own_command_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with serving(home) as client:
        question = await client.ask("bash", {"command": "echo begun; while [ ! -e go ]; do sleep 0.01; done"})
        await client.notification("bash_execution_update")
        await client.request("abort")
        (home.project / "go").touch()
        assert (await client.answer(question))["exitCode"] == 0
