"""Session entries made from a few words, for tests that need a branch and not a file."""

from typing import Any

from rpc_agent.conversation.usage import make_usage
from rpc_agent.session.entries import Entry, read_entry

TIMESTAMP = "2026-01-01T00:00:00.000Z"


def entries(*raws: dict[str, Any]) -> list[Entry]:
    """A path of entries e0, e1, ...; a number where an entry id belongs becomes the id of that place."""
    path = []
    for at, raw in enumerate(raws):
        resolved = {
            name: _id(value) if name in ("firstKeptEntryId", "targetId") else value for name, value in raw.items()
        }
        base = {"id": f"e{at}", "parentId": f"e{at - 1}" if at else None, "timestamp": TIMESTAMP}
        entry = read_entry({**base, **resolved})
        assert entry is not None
        path.append(entry)
    return path


def _id(value: object) -> object:
    return f"e{value}" if isinstance(value, int) else value


def _message(**fields: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"timestamp": 1, **fields}}


def said(text: str) -> dict[str, Any]:
    return _message(role="user", content=[{"type": "text", "text": text}])


def call(call_id: str, name: str = "read", **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def answer(
    text: str = "", *blocks: dict[str, Any], stop: str = "stop", usage: Any = None, model: str = "p/m", error: str = ""
) -> dict[str, Any]:
    provider, _, model_id = model.partition("/")
    content = [*([{"type": "text", "text": text}] if text else []), *blocks]
    fields = {"errorMessage": error} if error else {}
    return _message(
        role="assistant",
        content=content,
        api="openai-completions",
        provider=provider,
        model=model_id,
        usage=usage or make_usage(),
        stopReason=stop,
        **fields,
    )


def result(call_id: str, text: str, *, error: bool = False) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return _message(role="toolResult", toolCallId=call_id, toolName="read", content=content, isError=error)


def shell(command: str, output: str = "", **fields: Any) -> dict[str, Any]:
    base = {"exitCode": 0, "cancelled": False, "truncated": False}
    return _message(role="bashExecution", command=command, output=output, **{**base, **fields})


def system(content: str = "", **fields: Any) -> dict[str, Any]:
    return _message(role="system", content=content, **fields)


def compaction(summary: str, *, keep: int | str, **fields: Any) -> dict[str, Any]:
    return {"type": "compaction", "summary": summary, "firstKeptEntryId": keep, "tokensBefore": 0, **fields}


def edit(target: int, replacement: Any = None) -> dict[str, Any]:
    return {"type": "context_edit", "targetId": target, "replacement": replacement}


def branch_summary(summary: str, **fields: Any) -> dict[str, Any]:
    return {"type": "branch_summary", "fromId": "x", "summary": summary, **fields}


def note(custom_type: str = "leaf") -> dict[str, Any]:
    return {"type": "custom", "customType": custom_type}


def label(target: int, text: str = "here") -> dict[str, Any]:
    return {"type": "label", "targetId": target, "label": text}
