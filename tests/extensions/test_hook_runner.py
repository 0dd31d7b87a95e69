"""The runner: order, isolation, time limits, and what each answer may be."""

from typing import Any

import anyio
import pytest

from rpc_agent.extensions.api import ExtensionApi
from rpc_agent.extensions.hooks import (
    BadAnswer,
    Block,
    Cancel,
    Drafts,
    InputAnswer,
    OwnCompaction,
    TreeAnswer,
    read_before_compact,
    read_before_tree,
    read_context,
    read_drafts,
    read_input,
    read_tool_call,
    read_tool_result,
)
from rpc_agent.extensions.runner import HookFault, HookRunner, PythonExtension, unhurried

pytestmark = pytest.mark.anyio


def extension(name: str, hook: Any, handler: Any) -> PythonExtension:
    api = ExtensionApi(name)
    api.on(hook)(handler)
    return PythonExtension(api)


def runner(*sources: PythonExtension, seconds: float = 5.0) -> tuple[HookRunner, list[HookFault]]:
    faults: list[HookFault] = []
    return HookRunner(lambda: sources, faults.append, seconds=seconds), faults


async def test_the_first_answer_counts_and_those_behind_it_are_not_asked() -> None:
    asked: list[str] = []

    def silent(event: dict[str, Any]) -> None:
        asked.append("silent")

    async def decides(event: dict[str, Any]) -> dict[str, Any]:
        asked.append("decides")
        return {"cancel": True}

    def late(event: dict[str, Any]) -> dict[str, Any]:
        raise AssertionError("asked although it was decided")

    hook = "session_before_compact"
    hooks, faults = runner(*(extension(f.__name__, hook, f) for f in (silent, decides, late)))
    assert await hooks.first(hook, {"reason": "manual"}, read_before_compact) == Cancel()
    assert (asked, faults) == (["silent", "decides"], [])


async def test_a_chain_hands_each_change_on_and_nobody_shares_an_event() -> None:
    def first(event: dict[str, Any]) -> dict[str, Any]:
        event["args"]["spoiled"] = True
        return {"args": {"n": 1}}

    def second(event: dict[str, Any]) -> dict[str, Any]:
        return {"args": {"n": event["args"]["n"] + 1}}

    def apply(event: dict[str, Any], answer: Any) -> dict[str, Any]:
        return {**event, "args": answer}

    given = {"args": {"n": 0}}
    hooks, _ = runner(extension("a", "tool_call", first), extension("b", "tool_call", second))
    assert await hooks.chain("tool_call", given, read_tool_call, apply) == {"args": {"n": 2}}
    assert given == {"args": {"n": 0}}


async def test_a_hook_that_throws_hangs_or_talks_nonsense_is_reported_and_passed_over() -> None:
    def throws(event: dict[str, Any]) -> None:
        raise RuntimeError("broken")

    async def hangs(event: dict[str, Any]) -> None:
        await anyio.sleep_forever()

    def nonsense(event: dict[str, Any]) -> dict[str, Any]:
        return {"cancle": True}

    def good(event: dict[str, Any]) -> dict[str, Any]:
        return {"cancel": True}

    hook = "session_before_compact"
    hooks, faults = runner(*(extension(f.__name__, hook, f) for f in (throws, hangs, nonsense, good)), seconds=0.05)
    with anyio.fail_after(5):
        assert await hooks.first(hook, {}, read_before_compact) == Cancel()
    assert [(fault.extension, fault.error) for fault in faults] == [
        ("throws", "it failed: RuntimeError: broken"),
        ("hangs", "it did not answer within 0.05 s"),
        ("nonsense", "its answer cannot be used: unknown: cancle; this hook answers with cancel, compaction"),
    ]


async def test_a_timeout_of_a_hooks_own_is_not_told_as_its_lateness() -> None:
    async def waits_for_a_service(event: dict[str, Any]) -> None:
        raise TimeoutError("no answer from the service")

    hooks, faults = runner(extension("asks", "turn_end", waits_for_a_service))
    await hooks.tell("turn_end", {})
    assert faults == [HookFault("asks", "turn_end", "it failed: TimeoutError: no answer from the service")]


async def test_two_questions_at_once_neither_use_up_the_time_of_a_hook_nor_end_its_limit() -> None:
    answered = anyio.Event()

    async def ask(seconds: float) -> None:
        with unhurried():
            await anyio.sleep(seconds)

    async def asks_twice_and_hangs(event: dict[str, Any]) -> None:
        async with anyio.create_task_group() as questions:
            questions.start_soon(ask, 0.1)
            questions.start_soon(ask, 0.5)
        answered.set()
        await anyio.sleep_forever()

    hooks, faults = runner(extension("asks", "turn_end", asks_twice_and_hangs), seconds=0.2)
    with anyio.fail_after(10):
        await hooks.tell("turn_end", {})
    assert answered.is_set()
    assert faults == [HookFault("asks", "turn_end", "it did not answer within 0.2 s")]


async def test_a_failing_source_can_count_as_an_answer() -> None:
    def throws(event: dict[str, Any]) -> None:
        raise RuntimeError("broken")

    blocked: list[Block] = []

    def apply(event: dict[str, Any], answer: Any) -> dict[str, Any] | None:
        blocked.append(answer)
        return None

    hooks, _ = runner(extension("guard", "tool_call", throws))
    await hooks.chain("tool_call", {}, read_tool_call, apply, on_fault=lambda fault: Block(fault.error))
    assert blocked == [Block("it failed: RuntimeError: broken")]


def test_a_hook_that_does_not_exist_cannot_be_registered() -> None:
    with pytest.raises(ValueError, match="session_before_compact"):
        ExtensionApi("x").on("before_compact")  # type: ignore[arg-type]


GOOD = [
    (read_before_compact, None, None),
    (read_before_compact, {}, None),
    (read_before_compact, {"cancel": True}, Cancel()),
    (
        read_before_compact,
        {"compaction": {"summary": "s", "firstKeptEntryId": None}},
        OwnCompaction(summary="s", first_kept_entry_id=None),
    ),
    (read_before_tree, {"label": "x", "replaceInstructions": True}, TreeAnswer(label="x", replace_instructions=True)),
    (read_before_tree, {"summary": {"summary": "s"}}, TreeAnswer(summary="s")),
    (read_context, {"messages": [{"role": "user"}]}, [{"role": "user"}]),
    (read_tool_call, {"block": True, "reason": "no"}, Block("no")),
    (read_tool_call, {"args": {"a": 1}}, {"a": 1}),
    (read_tool_result, {"content": "x"}, {"content": "x"}),
    (read_input, {"text": "x"}, InputAnswer(text="x")),
    (read_input, {"handled": True}, InputAnswer(handled=True)),
    (
        read_drafts,
        {"entries": [{"type": "custom"}], "continue": True},
        Drafts(entries=({"type": "custom"},), go_on=True),
    ),
]


@pytest.mark.parametrize(("read", "answer", "value"), GOOD)
def test_good_answers_are_read(read: Any, answer: Any, value: Any) -> None:
    assert read(answer) == value


@pytest.mark.parametrize(
    ("read", "answer"),
    [
        (read_before_compact, "yes"),
        (read_before_compact, {"compaction": {"firstKeptEntryId": "a"}}),
        (read_before_compact, {"compaction": {"summary": " "}}),
        (read_before_compact, {"compaction": {"summary": "s", "firstKeptEntryId": 3}}),
        (read_before_tree, {"summary": "text"}),
        (read_context, {"messages": ["hi"]}),
        (read_tool_call, {"args": []}),
        (read_tool_result, {"content": 5}),
        (read_input, {"text": 5}),
        (read_drafts, {"entries": [{"type": "message"}]}),
        (read_drafts, {"entries": [{"type": ["custom"]}]}),
    ],
)
def test_bad_answers_are_told(read: Any, answer: Any) -> None:
    with pytest.raises(BadAnswer):
        read(answer)
