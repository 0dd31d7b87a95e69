"""Session files broken in every way that programs and users break them, as hypothesis strategies."""

from typing import Any

from hypothesis import strategies as st

TEXTS = st.sampled_from(
    ["hello", "", " ", "\n", "half \ud83d an emoji", "\udc00", "你好 🌍", "line\u2028end\x00", "w " * 300]
)
IDS = st.sampled_from(["c1", "c1", "c1", "c2", "functions.ls:0", "", "call_1|fc_" + "z" * 80])
KEYS = st.sampled_from(["path", "\ud800", "a"])
ARGUMENTS = st.one_of(
    st.none(), st.just({}), st.dictionaries(KEYS, TEXTS, max_size=2), TEXTS, st.just([1]), st.just({"n": 2**70})
)
IMAGE = {"type": "image", "data": "QUJD", "mimeType": "image/png"}
BROKEN_IMAGES = [{**IMAGE, "data": data} for data in ("", "QUJ", "QUJD\n", "data:image/png;base64,QUJD")]
IMAGES = st.sampled_from([IMAGE, *BROKEN_IMAGES, {**IMAGE, "mimeType": "text/html"}])
TEXT_BLOCKS = st.builds(lambda text: {"type": "text", "text": text}, TEXTS)
SPOKEN = st.one_of(TEXTS, st.none(), st.lists(st.one_of(TEXT_BLOCKS, IMAGES), max_size=3))
SIGNATURES = st.sampled_from([None, "", "c2ln", "reasoning_content"])
OWN = "own"
AUTHORS = st.sampled_from([OWN, OWN, "openai-responses", "somebody"])
STOPS = st.sampled_from(["stop", "toolUse", "toolUse", "length", "error", "aborted"])


def _thinking(thinking: str, signature: str | None) -> dict[str, Any]:
    signed = {} if signature is None else {"thinkingSignature": signature}
    return {"type": "thinking", "thinking": thinking, **signed}


def _call(call_id: str, arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": "ls", "arguments": arguments}


def _message(**fields: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"timestamp": 1, **fields}}


def _answer(content: Any, author: str, stop: str) -> dict[str, Any]:
    usage = {"input": 10, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 11}
    return _message(
        role="assistant", content=content, api=author, provider=author, model="m", usage=usage, stopReason=stop
    )


def _result(call_id: str, content: Any, failed: bool) -> dict[str, Any]:
    return _message(role="toolResult", toolCallId=call_id, toolName="ls", content=content, isError=failed)


CALLS = st.builds(_call, IDS, ARGUMENTS)
ANSWER_BLOCKS = st.one_of(TEXT_BLOCKS, st.builds(_thinking, TEXTS, SIGNATURES), CALLS, CALLS, CALLS)
ANSWERS = st.builds(_answer, st.one_of(st.lists(ANSWER_BLOCKS, max_size=4), TEXTS, st.none()), AUTHORS, STOPS)
RESULTS = st.builds(_result, IDS, SPOKEN, st.booleans())
PLACES = st.integers(0, 40)
"""Which earlier or later entry is meant; taken modulo the number of entries, and some are nowhere."""

STEPS = st.one_of(
    ANSWERS,
    ANSWERS,
    RESULTS,
    RESULTS,
    st.builds(lambda content: _message(role="user", content=content), SPOKEN),
    st.builds(lambda text, named: _message(role="system", content=text, sections={"rules": named}), TEXTS, TEXTS),
    st.builds(
        lambda command, output, hidden: _message(
            role="bashExecution", command=command, output=output, exitCode=0, cancelled=False, truncated=False,
            excludeFromContext=hidden,
        ),
        TEXTS, TEXTS, st.booleans(),
    ),
    st.builds(lambda text: {"type": "custom_message", "customType": "x", "content": text, "display": True}, SPOKEN),
    st.builds(lambda text: {"type": "branch_summary", "fromId": "root", "summary": text}, TEXTS),
    st.builds(
        lambda text, kept: {"type": "compaction", "summary": text, "firstKeptEntryId": kept, "tokensBefore": 9},
        TEXTS, PLACES,
    ),
    st.builds(
        lambda target, content: {"type": "context_edit", "targetId": target, "replacement": content},
        PLACES, st.one_of(st.none(), st.builds(lambda content: {"content": content}, SPOKEN)),
    ),
    st.sampled_from([{"type": "custom", "customType": "x"}, {"type": "from the future", "x": 1}]),
)  # fmt: skip

HISTORIES = st.lists(st.tuples(STEPS, st.one_of(*[st.just(-1)] * 9, PLACES)), max_size=25)
"""Entries, and what each hangs from: -1 the one before, else any place."""


def entries_of(history: list[tuple[dict[str, Any], int]], api: str) -> list[dict[str, Any]]:
    """The entries of a file whose own model is "<api>/m"."""
    count = len(history)
    made = []
    for at, (step, parent) in enumerate(history):
        base = {"id": f"e{at}", "parentId": _parent(at, parent, count), "timestamp": "2026-01-01T00:00:00.000Z"}
        made.append({**base, **_resolved(step, count, api)})
    return made


def _parent(at: int, parent: int, count: int) -> str | None:
    if parent < 0:
        return f"e{at - 1}" if at else None
    return f"e{parent % (count + 1)}"


def _resolved(step: dict[str, Any], count: int, api: str) -> dict[str, Any]:
    resolved = dict(step)
    for name in ("firstKeptEntryId", "targetId"):
        if name in resolved:
            resolved[name] = f"e{resolved[name] % (count + 1)}"
    message = resolved.get("message", {})
    if message.get("provider") == OWN:
        resolved["message"] = {**message, "api": api, "provider": api}
    return resolved
