"""Hooks in a run: input, context, tool_call, tool_result, turn_end, agent_before_settle."""

from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import CheckingClient, Home, names, serving
from tests.support.hooks import entries, errors, extension, hook, of, roles

pytestmark = pytest.mark.anyio
CALL = {"toolCalls": [{"id": "c1", "name": "write", "arguments": {"path": "a.txt", "content": "x"}}]}


async def prompt(client: CheckingClient, message: Any = "go", **params: Any) -> dict[str, Any]:
    answer: dict[str, Any] = await client.request("prompt", {"message": message, "wait": True, **params})
    return answer


def results(client: CheckingClient) -> list[tuple[bool, str]]:
    ends = [n.params for n in client.notifications if n.method == "tool_execution_end"]
    return [(end["isError"], "".join(block.get("text", "") for block in end["result"]["content"])) for end in ends]


def writing(home: Home) -> None:
    home.settings(permissions={"mode": "allow"})
    home.script(CALL, {"text": "done"})


# input


async def test_input_is_changed_before_anybody_reads_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "ok"})
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    async with serving(home) as client:
        asked = await hook(client, {"input": {"text": "changed"}})
        await prompt(client, "as typed", images=[image])
        assert asked == [("input", {"text": "as typed", "images": [image]})]
        said = next(m for m in (await client.request("get_messages"))["messages"] if m["role"] == "user")
        assert said["content"] == [{"type": "text", "text": "changed"}, image]


@pytest.mark.parametrize("method", ["prompt", "steer", "follow_up"])
async def test_input_that_was_handled_starts_nothing(tmp_path: Path, method: str) -> None:
    home = Home(tmp_path)
    home.script({"text": "never said"})
    async with serving(home) as client:
        await hook(client, {"input": {"handled": True}})
        answer = await client.request(method, {"message": "/mine"})
        assert (answer["disposition"], "runId" in answer, names(client)) == ("handled", False, [])


async def test_handled_input_settles_at_once_for_who_waits(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "never said"})
    async with serving(home) as client:
        await hook(client, {"input": {"handled": True}})
        answer = await prompt(client)
        assert (answer["disposition"], answer["stopReason"], answer["text"]) == ("handled", "stop", "")


async def test_each_hook_sees_the_input_as_the_one_before_left_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "ok"})
    code = """
@api.on("input")
def shout(event):
    return {"text": event["text"].upper()}
"""
    async with serving(home, extensions=(extension(tmp_path, code),)) as client:
        asked = await hook(client, {"input": None})
        await prompt(client, "quiet")
        assert of(asked, "input") == [{"text": "QUIET", "images": []}]


async def test_a_prompt_that_is_cancelled_while_a_hook_thinks_starts_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "never said"})
    async with serving(home) as client:
        await hook(client, {"input": None})
        del client.on_request["run_hook"]
        question = await client.ask("prompt", {"message": "go"})
        await client.wait(lambda: bool(client.requests))
        await client.notify("$/cancelRequest", {"id": question[0]})
        with pytest.raises(RpcError) as cancelled:
            await client.answer(question)
        assert cancelled.value.code == -32800
        taken_back = [n.params["id"] for n in client.notifications if n.method == "$/cancelRequest"]
        assert (taken_back, (await client.request("get_state"))["messageCount"]) == ([client.requests[0].id], 0)


async def test_a_busy_session_refuses_before_any_hook_is_asked(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "half", "hang": True})
    async with serving(home) as client:
        await client.request("prompt", {"message": "go"})
        asked = await hook(client, {"input": None})
        with pytest.raises(RpcError) as busy:
            await client.request("prompt", {"message": "again"})
        assert (busy.value.code, asked) == (-32011, [])
        await client.request("steer", {"message": "left"})
        assert of(asked, "input") == [{"text": "left", "images": []}]
        await client.request("abort")


# context


async def test_the_context_is_changed_for_the_model_and_never_stored(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"})
    long = "the question " * 4000
    only = [{"role": "user", "content": "something else", "timestamp": 1}]
    async with serving(home) as client:
        asked = await hook(client, {"context": {"messages": only}})
        answer = await prompt(client, long)
        assert answer["usage"]["input"] < 4000, "the model was sent the other messages"
        assert [message["role"] for message in of(asked, "context")[0]["messages"]] == ["user"]
        assert await roles(client) == ["system", "user", "assistant"]
        said = (await client.request("get_messages"))["messages"][1]["content"]
        assert said == long
        assert "context_warning" not in names(client), "nobody cut the input: less was sent"


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([], "has to be sent something"),
        ([{"role": "system", "content": "only that"}], "has to be sent something"),
        ([{"role": "nobody"}], "is no message"),
        (["text"], "a list of messages"),
    ],
)
async def test_a_context_that_cannot_be_sent_is_passed_over(tmp_path: Path, messages: Any, fault: str) -> None:
    home = Home(tmp_path)
    home.script({"text": "ok"})
    async with serving(home) as client:
        await hook(client, {"context": {"messages": messages}})
        assert (await prompt(client))["text"] == "ok"
        assert fault in errors(client)[0][2]


# tool_call and tool_result


async def test_an_extension_blocks_a_call_and_the_model_is_told_why(tmp_path: Path) -> None:
    home = Home(tmp_path)
    writing(home)
    code = """
@api.on("tool_call")
def block(event):
    if event["args"]["path"] == "a.txt":
        return {"block": True, "reason": "Leave a.txt alone."}
"""
    async with serving(home, extensions=(extension(tmp_path, code),)) as client:
        await prompt(client)
        assert (results(client), (home.project / "a.txt").exists()) == ([(True, "Leave a.txt alone.")], False)


async def test_changed_arguments_are_what_is_permitted_and_done(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings(permissions={"mode": "workspace"})
    home.script(CALL, CALL, {"text": "done"})
    places = iter(["b.txt", "../outside.txt"])
    async with serving(home) as client:
        asked = await hook(client, {"tool_call": lambda event: {"args": {"path": next(places), "content": "y"}}})
        await prompt(client)
        assert asked[0][1] == {"toolCallId": "c1", "toolName": "write", "args": {"path": "a.txt", "content": "x"}}
        assert [is_error for is_error, _ in results(client)] == [False, True]
        assert sorted(path.name for path in home.project.iterdir()) == ["b.txt"]
        assert not (tmp_path / "outside.txt").exists()


@pytest.mark.parametrize("answer", [{"block": "maybe", "args": 7}, [], {"allow": True}])
async def test_a_failing_check_blocks_the_call(tmp_path: Path, answer: Any) -> None:
    home = Home(tmp_path)
    writing(home)
    async with serving(home) as client:
        await hook(client, {"tool_call": answer})
        assert (await prompt(client))["text"] == "done"
        ((is_error, text),) = results(client)
        assert (is_error, "client, which checks calls, could not do so" in text) == (True, True)
        assert (home.project / "a.txt").exists() is False
        assert [(name, hooked) for name, hooked, _ in errors(client)] == [("client", "tool_call")]


async def test_a_client_that_dies_while_it_checks_a_call_blocks_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    writing(home)
    async with serving(home) as client:
        await hook(client, {"tool_call": None})
        del client.on_request["run_hook"]
        waiting = await client.ask("prompt", {"message": "go", "wait": True})
        await client.wait(lambda: bool(client.requests))
        client.transport.end()
        assert (await client.answer(waiting))["text"] == "done"
    assert not (home.project / "a.txt").exists()


async def test_a_second_answer_to_a_question_is_nobodys(tmp_path: Path) -> None:
    home = Home(tmp_path)
    writing(home)
    async with serving(home) as client:
        await hook(client, {"tool_call": None})
        del client.on_request["run_hook"]
        waiting = await client.ask("prompt", {"message": "go", "wait": True})
        await client.wait(lambda: bool(client.requests))
        for result in (b"null", b'{"block":true,"reason":"too late"}'):
            await client.send(b'{"jsonrpc":"2.0","id":%d,"result":%s}' % (client.requests[0].id, result))
        assert (await client.answer(waiting))["text"] == "done"
        assert (results(client)[0][0], errors(client)) == (False, [])


async def test_a_result_is_replaced_for_the_model(tmp_path: Path) -> None:
    home = Home(tmp_path)
    writing(home)
    async with serving(home) as client:
        asked = await hook(client, {"tool_result": {"content": "All new.", "isError": True, "details": {"by": 1}}})
        await prompt(client)
        event = of(asked, "tool_result")[0]
        assert (event["toolName"], event["isError"], event["result"]["content"][0]["type"]) == ("write", False, "text")
        stored = next(e["message"] for e in await entries(client) if e.get("message", {}).get("role") == "toolResult")
        assert (stored["content"], stored["isError"], stored["details"]) == (
            [{"type": "text", "text": "All new."}],
            True,
            {"by": 1},
        )


# turn_end and agent_before_settle


async def test_drafts_at_the_end_of_a_turn_are_on_the_branch_before_it_is_announced(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"})
    drafts = [
        {"type": "custom", "customType": "notes", "data": {"n": 1}},
        {"type": "custom_message", "customType": "hint", "content": "mind the gap"},
    ]
    async with serving(home) as client:
        asked = await hook(client, {"turn_end": {"entries": drafts}})
        await prompt(client)
        (event,) = of(asked, "turn_end")
        assert (event["message"]["role"], event["toolResults"]) == ("assistant", [])
        added = [entry for entry in await entries(client) if entry["type"].startswith("custom")]
        assert [{name: e[name] for name in e if name not in ("id", "parentId", "timestamp")} for e in added] == [
            drafts[0],
            {**drafts[1], "display": True},
        ]
        assert names(client)[-6:-2] == ["entry_appended", "entry_appended", "context_usage_changed", "turn_end"]


@pytest.mark.parametrize("name", ["turn_end", "agent_before_settle"])
async def test_a_hook_makes_the_run_go_on(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"}, {"text": "two"})
    more = {"type": "custom_message", "customType": "again", "content": "Check your work.", "display": False}
    answers = iter([{"entries": [more], "continue": True}])
    async with serving(home) as client:
        asked = await hook(client, {name: lambda event: next(answers, None)})
        assert (await prompt(client))["text"] == "two"
        assert await roles(client) == ["system", "user", "assistant", "custom", "assistant"]
        assert names(client).count("agent_settled") == 1
        if name == "agent_before_settle":
            told = [[message["role"] for message in event["messages"]] for event in of(asked, name)]
            assert told == [["user", "assistant"], ["user", "assistant", "assistant"]]


async def test_going_on_without_anything_to_answer_is_a_fault_and_the_run_ends(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"}, {"text": "never asked"})
    async with serving(home) as client:
        await hook(client, {"turn_end": {"continue": True}})
        assert (await prompt(client))["text"] == "one"
        assert "needs something to answer" in errors(client)[0][2]


async def test_the_turn_limit_of_a_prompt_holds_against_a_hook_that_always_goes_on(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script(*[{"text": str(n)} for n in range(9)])
    more = {"type": "custom_message", "customType": "again", "content": "More.", "display": False}
    async with serving(home) as client:
        await hook(
            client, {name: {"entries": [more], "continue": True} for name in ("turn_end", "agent_before_settle")}
        )
        assert (await prompt(client, maxTurns=3))["text"] == "2"


GOOD = {"type": "custom", "customType": "fine"}


@pytest.mark.parametrize(
    ("draft", "fault"),
    [
        ({"type": "message", "message": {"role": "user", "content": "x"}}, "cannot be added"),
        ({"type": "custom", "customType": "leaf"}, "engine's own"),
        ({"type": "custom", "data": 1}, "needs a customType"),
        (
            {"type": "custom_message", "customType": "x", "content": [{"type": "thinking", "thinking": "x"}]},
            "content is",
        ),
        ({"type": "custom_message", "customType": "x", "content": "y", "display": "yes"}, "display is"),
        ({"type": "context_edit", "targetId": "nowhere", "replacement": None}, "no entry of the active branch"),
        ({"type": "context_edit", "targetId": "nowhere"}, "replacement is null or"),
        ({"type": "compaction", "summary": "x", "firstKeptEntryId": "nowhere"}, "not in the context"),
        ({"type": "custom", "customType": "x", "id": "mine"}, "has no id"),
    ],
)
async def test_one_bad_draft_and_none_is_appended(tmp_path: Path, draft: Any, fault: str) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"})
    async with serving(home) as client:
        await hook(client, {"agent_before_settle": {"entries": [GOOD, draft, GOOD]}})
        await prompt(client)
        assert [entry["type"] for entry in await entries(client)][-1] == "message"
        ((_, name, error),) = errors(client)
        assert (name, fault in error) == ("agent_before_settle", True), error


async def test_a_hook_edits_the_context_and_compacts_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"}, {"text": "two"})
    async with serving(home) as client:
        turns = iter(range(9))

        def answer(event: Any) -> Any:
            if next(turns) == 0:
                return None
            own = {"type": "compaction", "summary": "So far so good.", "firstKeptEntryId": None, "details": {"k": 1}}
            return {"entries": [own, {"type": "custom", "customType": "behind"}]}

        await hook(client, {"agent_before_settle": answer})
        await prompt(client)
        await prompt(client)
        compaction, behind = (await entries(client))[-2:]
        assert (compaction["firstKeptEntryId"], compaction["fromHook"]) == (compaction["id"], True)
        assert behind["parentId"] == compaction["id"]
        assert await roles(client) == ["system", "compactionSummary"]


async def test_an_abort_ends_the_wait_for_a_hook_and_the_run_settles(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "one"})
    async with serving(home) as client:
        await hook(client, {"turn_end": None})
        del client.on_request["run_hook"]
        waiting = await client.ask("prompt", {"message": "go", "wait": True})
        await client.wait(lambda: bool(client.requests))
        await client.request("abort")
        assert (await client.answer(waiting))["text"] == "one"
        assert names(client)[-1] == "agent_settled"
