"""Session files that somebody made to do harm: each opens or is refused, every question has an answer, nothing in it runs."""

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import PATIENCE, CheckingClient, Home, serving

pytestmark = pytest.mark.anyio

AT = "2026-01-01T00:00:00.000Z"
USAGE = {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2}
COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}


def entry(id: str, parent: str | None, message: object = None, **fields: Any) -> str:
    base = {"type": "message", "id": id, "parentId": parent, "timestamp": AT}
    if "type" not in fields:
        base["message"] = message or {"role": "user", "content": f"said {id}", "timestamp": 1}
    return json.dumps({**base, **fields})


def answer(*blocks: Any, **fields: Any) -> dict[str, Any]:
    base = {"api": "x", "provider": "scripted", "model": "m", "usage": {**USAGE, "cost": COST}, "stopReason": "toolUse"}
    return {"role": "assistant", "content": list(blocks), **base, "timestamp": 1, **fields}


def called(name: str, arguments: object, id: str = "c1") -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": name, "arguments": arguments}


def deep(levels: int, inner: str = "1") -> Any:
    return json.loads('{"a":' * levels + inner + "}" * levels)


def deep_line(kind: str, levels: int) -> str:
    """A line whose depth Python itself could not write."""
    nested = '{"a":' * levels + "1" + "}" * levels
    if kind == "data":
        return entry("b", "a", type="custom", customType="x", data="@").replace('"@"', nested)
    return entry("b", "a", answer(called("bash", "@"))).replace('"@"', nested)


MANY = 300
FILES: dict[str, Sequence[str]] = {
    "hundreds of children of one": [entry("a", None), *(entry(f"{n:08x}", "a") for n in range(MANY))],
    "a chain hundreds deep": [entry("0", None), *(entry(f"{n + 1}", f"{n}") for n in range(MANY))],
    "hundreds with one id": [entry("a", None)] * MANY,
    "hundreds that are their own parents": [entry(f"{n}", f"{n}") for n in range(MANY)],
    "a circle": [entry("a", "c"), entry("b", "a"), entry("c", "b")],
    "labels of everything": [entry("a", None), *(entry(f"{n}", "a", type="label", targetId="a", label=f"{n}") for n in range(MANY))],
    "compactions of compactions": [
        entry("a", None),
        *(
            entry(f"k{n}", f"k{n - 1}" if n else "a", type="compaction", summary="s" * 50, firstKeptEntryId="a", tokensBefore=1)
            for n in range(MANY)
        ),
    ],
    "a compaction that keeps itself": [entry("a", None), entry("k", "a", type="compaction", summary="s", firstKeptEntryId="k", tokensBefore=1)],
    "edits of edits": [entry("a", None), *(entry(f"{n}", "a", type="context_edit", targetId=f"{n - 1}", replacement=None) for n in range(MANY))],
    "a leaf that points nowhere": [entry("a", None), entry("l", "nowhere", type="custom", customType="leaf")],
    **{f"{kind} {levels} deep": [entry("a", None), deep_line(kind, levels)] for kind in ("arguments", "data") for levels in (300, 790, 960, 1020, 100_000)},
    "numbers beyond all": [entry("a", None), entry("b", "a", answer({"type": "text", "text": "x"}, usage={**USAGE, "input": 10**400, "cost": {**COST, "total": 10**400}}, timestamp=10**30))],
    "names and titles for a terminal": [entry("a", None), entry("n", "a", type="session_info", name="\x1b]0;x\x07\u202e\x9b31m")],
    "a text of one kind": [entry("a", None, {"role": "user", "content": "[" * 200_000, "timestamp": 1})],
    "paths of others": [
        entry("a", None, {"role": "bashExecution", "command": "x", "output": "y", "exitCode": 0, "cancelled": False, "truncated": True, "fullOutputPath": "/dev/zero", "timestamp": 1}),
        entry("k", "a", type="compaction", summary="s", firstKeptEntryId="a", tokensBefore=1, details={"readFiles": ["/dev/zero"], "modifiedFiles": ["/dev/full"]}),
    ],
}  # fmt: skip
TYPES = (
    "message", "compaction", "branch_summary", "context_edit", "label", "session_info", "model_change",
    "thinking_level_change", "usage", "custom", "custom_message", "nobody's",
)  # fmt: skip
ROLES = ("system", "user", "assistant", "toolResult", "bashExecution", "custom", "branchSummary", "compactionSummary")
FIELDS = (
    "message", "summary", "firstKeptEntryId", "tokensBefore", "targetId", "label", "replacement", "customType", "content",
    "name", "provider", "modelId", "thinkingLevel", "usage", "fromId", "details", "retainedTail", "systemMessage",
)  # fmt: skip
MESSAGE_FIELDS = (
    "content", "toolCallId", "toolName", "usage", "stopReason", "timestamp", "command", "output", "exitCode", "summary",
    "model", "provider", "api", "display", "details", "sections", "toolsAdded", "toolsRemoved",
)  # fmt: skip
WRONG: Sequence[Any] = ([], {}, [[]], {"a": {}}, 5, True, -1e308, "\x00", None)


def of_wrong_kind(value: object) -> list[str]:
    """Every type of entry and every role, with this value in every field."""
    fields, message = dict.fromkeys(FIELDS, value), dict.fromkeys(MESSAGE_FIELDS, value)
    messages = [{**message, "role": role} for role in (*ROLES, value)]
    blocks = [
        {"type": type, "text": value, "id": value, "name": value, "arguments": value} for type in ("text", "toolCall")
    ]
    messages += [{**message, "role": role, "content": blocks} for role in ("user", "assistant")]
    kinds = [{**fields, "type": type} for type in TYPES] + [{"type": "message", "message": each} for each in messages]
    return [entry(f"{n}", f"{n - 1}" if n else None, **kind) for n, kind in enumerate(kinds)]


NOTHING_TO_DO = {-32020, -32021, -32023, -32025}
"""Nothing to compact, compacted already, or a summary that is no shorter."""
QUESTIONS: Sequence[tuple[str, dict[str, Any]]] = (
    ("get_tree", {}),
    ("get_tree", {"form": "nested"}),
    ("get_entries", {}),
    ("get_messages", {}),
    ("get_context", {}),
    ("get_session_stats", {}),
    ("get_fork_messages", {}),
    ("preview_compaction", {}),
    ("export_session", {"format": "html"}),
    ("export_session", {"format": "markdown"}),
    ("prompt", {"message": "go on", "wait": True}),
    ("compact", {"keepRecentTokens": 1}),
    ("navigate_tree", {"targetId": None, "summarize": True}),
    ("clone_session", {}),
    ("list_sessions", {}),
)


def written(home: Home, name: str, lines: Sequence[str]) -> Path:
    header = json.dumps({"type": "session", "version": 3, "id": "s1", "timestamp": AT, "cwd": str(home.project)})
    file = home.sessions / "--x--" / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
    return file


async def outcomes(client: CheckingClient, file: Path) -> dict[str, int]:
    """The codes of what was refused, by method."""
    refused: dict[str, int] = {}
    for method, params in (("open_session", {"path": str(file)}), *QUESTIONS):
        try:
            with anyio.fail_after(PATIENCE):
                result = await client.request(method, params)
        except RpcError as error:
            refused[method] = error.code
        else:
            if method == "prompt":
                assert result["stopReason"] == "stop", result
    return refused


def scripted(root: Path) -> Home:
    home = Home(root)
    home.script(*[{"text": "ok"}] * 3, summaries=[{"text": "## Goal\nshort"}] * 3)
    home.settings(permissions={"mode": "allow"})
    return home


@pytest.mark.parametrize("name", FILES)
async def test_every_question_about_a_hostile_file_has_an_answer(tmp_path: Path, name: str) -> None:
    home = scripted(tmp_path)
    file = written(home, "a", FILES[name])
    async with serving(home) as client:
        refused = await outcomes(client, file)
    assert {method: code for method, code in refused.items() if code not in NOTHING_TO_DO} == {}


@pytest.mark.parametrize("value", WRONG)
async def test_a_value_of_the_wrong_kind_in_every_field_is_no_internal_error(tmp_path: Path, value: object) -> None:
    home = scripted(tmp_path)
    refused: dict[str, int] = {}
    # Entries of nobody's format are handed out as they are, so they may fit no schema.
    with contextlib.suppress(AssertionError):
        async with serving(home) as client:
            refused = await outcomes(client, written(home, "a", of_wrong_kind(value)))
            refused["the end"] = 0
    assert refused.pop("the end") == 0
    assert {method: code for method, code in refused.items() if code not in NOTHING_TO_DO} == {}


@pytest.mark.parametrize("ended", ["toolUse", "stop", "length", "aborted"])
async def test_a_call_that_a_file_ends_with_is_never_run(tmp_path: Path, ended: str) -> None:
    home = scripted(tmp_path)
    ran = tmp_path / "ran"
    calls = [
        called("bash", {"command": f"touch '{ran}'"}, "c1"),
        called("write", {"path": str(ran), "content": ""}, "c2"),
    ]
    file = written(home, "a", [entry("a", None), entry("b", "a", answer(*calls, stopReason=ended))])
    async with serving(home) as client:
        await client.request("open_session", {"path": str(file)})
        await client.request("prompt", {"message": "go on", "wait": True})
        await client.request("continue_run")
        await client.request("wait_for_idle")
        assert not [n for n in client.notifications if n.method.startswith("tool_execution")]
    assert not ran.exists()


async def test_the_model_that_a_file_names_gets_no_key_that_is_not_its_services(tmp_path: Path) -> None:
    home = Home(tmp_path)
    models = [{"id": "m"}]
    home.models(
        {"mine": {"baseUrl": "http://127.0.0.1:9/v1", "api": "openai-completions", "apiKey": "k", "models": models}}
    )
    lines = [
        entry("a", None, type="model_change", provider="http://evil.invalid/v1", modelId="m"),
        entry("b", "a", answer({"type": "text", "text": "x"}, provider="evil", model="m", api="openai-completions", baseUrl="http://evil.invalid", stopReason="stop")),
    ]  # fmt: skip
    async with serving(home) as client:
        state = await client.request("open_session", {"path": str(written(home, "a", lines))})
        assert (state["model"]["provider"], state["model"]["baseUrl"]) == ("mine", "http://127.0.0.1:9/v1")
