"""A model that plays prepared replies: for tests of the engine, and for authors of clients. It understands nothing.

In Python:

    model = ScriptedModel([Reply(text="Looking.", tool_calls=[ScriptedCall("ls", {})]), Reply(text="Two files.")])

From a file, so that a client can be tested against a real server without a key; in models.json:

    {"providers": {"test": {"api": "scripted", "script": "replies.json", "models": [{"id": "m"}]}}}

and in replies.json (every field may be left out):

    {"replies": [
        {"thinking": "hm", "text": "Looking.", "toolCalls": [{"id": "call_1", "name": "ls", "arguments": {}}]},
        {"text": "Two files.", "usage": {"input": 900, "output": 3}, "stopReason": "stop", "paceMs": 5, "delayMs": 100},
        {"text": "half of", "error": {"kind": "rate", "message": "slow down", "status": 429, "retryAfter": 2}},
        {"text": "never done", "hang": true}
     ],
     "summaries": [{"text": "## Goal\n..."}],
     "repeat": false}

Requests with tools take the next of `replies`. Requests without tools are summaries and take the next of `summaries`;
where there is no such list they take from `replies` too. `repeat` starts a list again at its end; otherwise a request
past the end fails with an error that says so. `chunk` is the characters of one delta (default 16); `delayMs` waits
before the first delta, `paceMs` before each. An `error` comes after the reply's content; `hang` waits until the call is
cancelled. Tool arguments may be a text instead of an object, to play a model that writes bad JSON.
"""

import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast, get_args

import anyio
from msgspec import Struct, field

from rpc_agent.conversation.usage import Usage, make_usage
from rpc_agent.errors import SettingsError
from rpc_agent.providers.base import (
    FailureKind,
    ModelCallFailed,
    ModelRequest,
    Stopped,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageReport,
)
from rpc_agent.providers.request_size import estimate_request
from rpc_agent.settings.files import read_json_file
from rpc_agent.settings.shapes import AnyText, Flag, ListOf, MapOf, Number, OneOf, Record, Shape, Text, Whole

_CHUNK = 16
"""Characters a delta, about what services send."""
_FAILS = "the script says that this call fails"


class ScriptedCall(Struct, frozen=True):
    """`arguments` as an object, or as the very text the model writes. Without an id one is made from the place."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""


class ScriptedError(Struct, frozen=True):
    """`retry_after` is in seconds."""

    kind: FailureKind = "other"
    message: str = _FAILS
    status: int | None = None
    retry_after: float | None = None
    limit: int | None = None


class Reply(Struct, frozen=True, kw_only=True):
    """One answer. Without `usage` the input is estimated from the request; without `stop_reason` the calls decide."""

    text: str = ""
    thinking: str = ""
    tool_calls: Sequence[ScriptedCall] = ()
    usage: Usage | None = None
    stop_reason: Literal["stop", "length", "toolUse"] | None = None
    error: ScriptedError | None = None
    hang: bool = False
    delay_ms: int = 0
    pace_ms: int = 0
    chunk: int = _CHUNK


class ScriptedModel:
    """A ChatModel. `asked` holds every request it got, in order."""

    def __init__(
        self, replies: Sequence[Reply], *, summaries: Sequence[Reply] | None = None, repeat: bool = False
    ) -> None:
        self.asked: list[ModelRequest] = []
        self._replies = _Script("replies", replies, repeat)
        self._summaries = _Script("summaries", summaries, repeat) if summaries is not None else self._replies

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[StreamEvent], None]:
        self.asked.append(request)
        reply = (self._replies if request.tools else self._summaries).next()
        if reply.delay_ms:
            await anyio.sleep(reply.delay_ms / 1000)
        for event in _content(reply, len(self.asked)):
            # A checkpoint each, so that the fastest script can still be cancelled.
            await anyio.sleep(reply.pace_ms / 1000)
            yield [event]
        if reply.hang:
            await anyio.sleep_forever()
        yield [UsageReport(reply.usage or _usage(reply, request))]
        if reply.error:
            raise _failure(reply.error)
        yield [Stopped(reply.stop_reason or ("toolUse" if reply.tool_calls else "stop"))]


class _Script:
    """One list of replies and the place in it."""

    def __init__(self, name: str, replies: Sequence[Reply], repeat: bool) -> None:
        self._name = name
        self._replies = list(replies)
        self._repeat = repeat
        self._next = 0

    def next(self) -> Reply:
        if self._replies and self._repeat:
            self._next %= len(self._replies)
        if self._next >= len(self._replies):
            raise ModelCallFailed(
                f"the script has no reply left: all {len(self._replies)} of its {self._name!r} were played; "
                'add one, or set "repeat"',
                kind="other",
            )
        self._next += 1
        return self._replies[self._next - 1]


def _content(reply: Reply, call_number: int) -> Iterator[StreamEvent]:
    for piece in _pieces(reply.thinking, reply.chunk):
        yield ThinkingDelta(piece)
    for piece in _pieces(reply.text, reply.chunk):
        yield TextDelta(piece)
    for index, call in enumerate(reply.tool_calls):
        call_id = call.id or f"call_{call_number}_{index + 1}"
        text = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        yield ToolCallDelta(call_id, call_id, call.name)
        for piece in _pieces(text, reply.chunk):
            yield ToolCallDelta(call_id, arguments=piece)


def _pieces(text: str, size: int) -> Iterator[str]:
    size = max(1, size)
    return (text[at : at + size] for at in range(0, len(text), size))


def _usage(reply: Reply, request: ModelRequest) -> Usage:
    calls = "".join(str(call.arguments) for call in reply.tool_calls)
    return make_usage(
        input=estimate_request(request), output=-(-(len(reply.text) + len(reply.thinking) + len(calls)) // 4)
    )


def _failure(error: ScriptedError) -> ModelCallFailed:
    return ModelCallFailed(
        error.message, kind=error.kind, status=error.status, retry_after=error.retry_after, limit=error.limit
    )


class _Arguments:
    def problems(self, value: object) -> Iterator[tuple[str, str]]:
        if not isinstance(value, Mapping | str):
            yield "", "must be an object, or the text that the model writes"

    def schema(self) -> dict[str, Any]:
        return {"type": ["object", "string"]}


_ERROR = Record(
    {
        "kind": OneOf(get_args(FailureKind)),
        "message": AnyText(),
        "status": Whole(),
        "retryAfter": Number(),
        "limit": Whole(),
    }
)
_REPLY = Record(
    {
        "text": AnyText(),
        "thinking": AnyText(),
        "toolCalls": ListOf(Record({"id": Text(), "name": Text(), "arguments": _Arguments()}, required=("name",))),
        "usage": MapOf(Number()),
        "stopReason": OneOf(("stop", "length", "toolUse")),
        "error": _ERROR,
        "hang": Flag(),
        "delayMs": Whole(),
        "paceMs": Whole(),
        "chunk": Whole(),
    }
)
SCRIPT_SHAPE: Shape = Record(
    {"replies": ListOf(_REPLY), "summaries": ListOf(_REPLY), "repeat": Flag()}, required=("replies",)
)
"""The shape of a script file."""


def load_script(file: Path) -> ScriptedModel:
    """The model a script file describes. Raises SettingsError naming file and field."""
    raw = read_json_file(file)
    if raw is None:
        raise SettingsError("there is no such file", field="script", file=str(file))
    for path, message in SCRIPT_SHAPE.problems(raw):
        raise SettingsError(message, field=path or "script", file=str(file))
    summaries = raw.get("summaries")
    return ScriptedModel(
        [read_reply(reply) for reply in raw["replies"]],
        summaries=None if summaries is None else [read_reply(reply) for reply in summaries],
        repeat=raw.get("repeat", False),
    )


def read_reply(raw: Mapping[str, Any]) -> Reply:
    """A reply from its JSON form, already checked."""
    usage = raw.get("usage")
    error = raw.get("error")
    return Reply(
        text=raw.get("text", ""),
        thinking=raw.get("thinking", ""),
        tool_calls=tuple(map(_read_call, raw.get("toolCalls", ()))),
        usage=None if usage is None else _read_usage(usage),
        stop_reason=raw.get("stopReason"),
        error=None if error is None else _read_error(error),
        hang=raw.get("hang", False),
        delay_ms=raw.get("delayMs", 0),
        pace_ms=raw.get("paceMs", 0),
        chunk=raw.get("chunk", _CHUNK),
    )


def _read_call(raw: Mapping[str, Any]) -> ScriptedCall:
    return ScriptedCall(raw["name"], raw.get("arguments", {}), raw.get("id", ""))


def _read_usage(raw: Mapping[str, Any]) -> Usage:
    usage = make_usage(
        input=int(raw.get("input", 0)),
        output=int(raw.get("output", 0)),
        cache_read=int(raw.get("cacheRead", 0)),
        cache_write=int(raw.get("cacheWrite", 0)),
    )
    usage["totalTokens"] = int(raw.get("totalTokens", usage["totalTokens"]))
    return usage


def _read_error(raw: Mapping[str, Any]) -> ScriptedError:
    return ScriptedError(
        kind=cast(FailureKind, raw.get("kind", "other")),
        message=raw.get("message", _FAILS),
        status=raw.get("status"),
        retry_after=raw.get("retryAfter"),
        limit=raw.get("limit"),
    )
