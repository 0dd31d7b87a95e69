"""For tests of exports: a session in which every text is ours to choose, and what an HTML page consists of."""

from collections.abc import Callable, Iterable
from html.parser import HTMLParser
from typing import Any

from rpc_agent.export.snapshot import SessionSnapshot
from rpc_agent.session.entries import Entry, read_entry
from tests.support.sessions import HEADER

Texts = Callable[[], str]
TIME = "2026-01-01T00:00:01.000Z"


def entries_of(raws: Iterable[dict[str, Any]]) -> list[Entry]:
    return [entry for raw in raws if (entry := read_entry(raw)) is not None]


def chain(*payloads: dict[str, Any]) -> list[dict[str, Any]]:
    """Records of entries, each below the one before."""
    return [
        {"id": f"id{at}", "parentId": f"id{at - 1}" if at else None, "timestamp": TIME, **payload}
        for at, payload in enumerate(payloads)
    ]


def message(role: str, **fields: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "timestamp": 0, **fields}}


def session_of_every_kind(text: Texts) -> SessionSnapshot:
    """Every kind of entry and message, with a text of the caller wherever a text can stand."""
    blocks = [{"type": "text", "text": text()}, {"type": "image", "mimeType": text(), "data": text()}]
    calls = [
        {"type": "thinking", "thinking": text()},
        {"type": "text", "text": text()},
        {"type": "toolCall", "id": "c1", "name": text(), "arguments": {text(): text(), "more": [text()]}},
        {"type": "toolCall", "id": "c2", "name": text(), "arguments": {}},
    ]
    tools = [{"name": text()}]
    system = {"role": "system", "content": text(), "sections": {text(): text(), "gone": None}, "toolsAdded": tools}
    raws = chain(
        {"type": "message", "message": system},
        {"type": "model_change", "provider": text(), "modelId": text()},
        {"type": "thinking_level_change", "thinkingLevel": text()},
        message("user", content=text()),
        message("user", content=blocks),
        message("assistant", content=calls, provider=text(), model=text(), stopReason="error", errorMessage=text()),
        message("toolResult", toolCallId="c1", toolName=text(), content=blocks, isError=True),
        message("toolResult", toolCallId="unasked", toolName=text(), content=blocks),
        message("bashExecution", command=text(), output=text(), exitCode=text(), truncated=True, fullOutputPath=text()),
        message("custom", customType=text(), content=text(), display=True),
        message("branchSummary", summary=text(), fromId=text()),
        {"type": "custom_message", "customType": text(), "content": text(), "display": False},
        {"type": "custom", "customType": text(), "data": {text(): text()}},
        {"type": "branch_summary", "fromId": text(), "summary": text(), "fromHook": True},
        {"type": "context_edit", "targetId": text(), "replacement": {"content": text()}},
        {"type": "context_edit", "targetId": "id3", "replacement": None},
        {"type": "usage", "kind": text(), "usage": {"input": 1, "cost": {"total": 1}}},
        {"type": "label", "targetId": "id3", "label": text()},
        {"type": "session_info", "name": text()},
        {
            "type": "compaction",
            "summary": text(),
            "firstKeptEntryId": text(),
            "systemMessage": {"role": "system", "content": text()},
            "retainedTail": [{"role": "user", "content": text()}],
        },
        {"type": text(), "whatever": text()},
        {"type": "message", "message": {"role": text(), "content": text()}},
    )
    raws.append({**raws[3], "id": "other", "parentId": "id2", "timestamp": text()})
    header = {**HEADER, "id": text(), "cwd": text(), "timestamp": text(), "parentSession": text()}
    return SessionSnapshot(
        header=header,
        entries=entries_of(raws),
        leaf_id=raws[-2]["id"],
        labels={"id3": text(), "id6": text()},
        name=text(),
        warnings=[text()],
    )


class Page(HTMLParser):
    """What a page consists of: its elements with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.other: list[str] = []
        self._texts: list[str] = []
        self.feed(html)
        self.close()

    @property
    def text(self) -> str:
        return "".join(self._texts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self._texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)

    def unknown_decl(self, data: str) -> None:
        self.other.append(data)


def squeezed(text: str) -> str:
    return "".join(text.split())
