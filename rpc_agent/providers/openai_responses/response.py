"""The events of a responses stream -> stream events of the port. Pure: no connection, no clock.

Pieces belong to the output item whose `output_index` they name: some proxies give an item another id in each event.
What a server did not stream comes with the finished item. An answer whose end was not said is no answer.
"""

from collections.abc import Callable, Mapping
from typing import Any

from rpc_agent.conversation.json_values import as_count, as_object, as_text
from rpc_agent.conversation.usage import Usage, make_usage
from rpc_agent.providers.base import (
    BlockStopped,
    ModelCallFailed,
    Stopped,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageReport,
)
from rpc_agent.providers.call_arguments import written_arguments
from rpc_agent.providers.classify import classify
from rpc_agent.providers.error_chunks import is_error
from rpc_agent.providers.json_bytes import to_json
from rpc_agent.providers.openai_responses.items import REASONING_FIELDS
from rpc_agent.providers.refusal import cut_short, failed
from rpc_agent.providers.stream_json import TextJoiner, read_event

Event = Mapping[str, Any]
Out = list[StreamEvent]

_UNFINISHED = ("cancelled", "in_progress", "queued")
"""Statuses of an answer that somebody stopped or nobody finished."""
_COMPLETED = "response.completed"
_ENDS = (_COMPLETED, "response.incomplete", "response.done")


class _Item:
    """What was told so far of one output item."""

    __slots__ = ("announced", "arguments", "call_key", "kind", "parts", "said", "thought")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.call_key = ""
        self.arguments: list[str] = []
        """What was passed on of a call's arguments."""
        self.announced = False
        """Its beginning was told."""
        self.said = False
        self.thought = False
        self.parts = 0


class ResponsesReader:
    """Reads one answer. `finish` must be called when the stream ended well; it says whether the answer did."""

    def __init__(self, *, provider: str, call_prefix: str = "call", window: int = 0, estimate: int = 0) -> None:
        self._provider, self._call_prefix = provider, call_prefix
        self._window, self._estimate = window, estimate
        self._items: dict[int, _Item] = {}
        self._ids: dict[str, int] = {}
        """The ids of the items, for a server that numbers none."""
        self._calls: set[str] = set()
        self._text, self._thoughts = TextJoiner(), TextJoiner()
        self._status = ""
        self._reason = ""
        self._response_id: str | None = None
        self._readers: dict[str, Callable[[Event, Out], None]] = {
            "response.output_item.added": self._item_added,
            "response.output_item.done": self._item_done,
            "response.output_text.delta": self._text_delta,
            "response.output_text.done": self._text_done,
            "response.refusal.delta": self._text_delta,
            "response.reasoning_summary_part.added": self._part_added,
            "response.reasoning_summary_text.delta": self._thinking_delta,
            "response.reasoning_text.delta": self._thinking_delta,
            "response.function_call_arguments.delta": self._arguments_delta,
            "response.function_call_arguments.done": self._arguments_done,
        }

    @property
    def done(self) -> bool:
        """The service said that nothing follows."""
        return self.is_complete

    @property
    def is_complete(self) -> bool:
        """Whether the answer's end was said, so that a connection lost after it loses nothing."""
        return bool(self._status)

    def read(self, data: bytes, out: Out) -> None:
        """One event's data, or a whole answer. Raises ModelCallFailed for an error inside the stream."""
        if data.startswith(b"[DONE]"):
            return
        event = read_event(data)
        if not isinstance(event, dict):
            return
        kind = as_text(event.get("type"))
        reader = self._readers.get(kind)
        if reader is not None:
            reader(event, out)
        elif kind in _ENDS:
            self._end(as_object(event.get("response")), out, completed=kind == _COMPLETED)
        elif kind == "response.failed":
            raise self._failure(as_object(event.get("response")))
        elif kind == "error" or not kind or event.get("error"):
            self._read_untyped(event, out)
        elif self._response_id is None:
            self._response_id = as_text(as_object(event.get("response")).get("id")) or None

    def finish(self) -> Stopped:
        """The end of the answer. Raises ModelCallFailed when it was cut or ended for a bad reason."""
        if not self._status:
            raise cut_short()
        if self._status == "completed":
            return Stopped("toolUse" if self._calls else "stop", self._response_id)
        if self._status == "incomplete" and self._reason in ("max_output_tokens", "max_tokens", "length"):
            return Stopped("length", self._response_id)
        raise self._bad_end(self._reason or self._status)

    def _bad_end(self, said: str) -> ModelCallFailed:
        if said == "content_filter":
            return ModelCallFailed("the service's content filter stopped the answer (content_filter)", kind="other")
        if said in _UNFINISHED:
            return ModelCallFailed(f"the answer ended before it was complete ({said})", kind="transport")
        failure = classify(provider=self._provider, body=f"finish_reason: {said}", finish_reason=said)
        return ModelCallFailed(f"the answer ended for the reason {said!r}", kind=failure.kind)

    def _read_untyped(self, event: Event, out: Out) -> None:
        """An error, or a whole answer of a server that does not stream."""
        if event.get("error") or ("output" not in event and is_error(event)):
            raise failed(self._provider, 200, to_json(event).decode(), window=self._window, estimate=self._estimate)
        if event.get("status") == "failed":
            raise self._failure(event)
        if isinstance(event.get("output"), list):
            self._end(event, out)

    def _failure(self, response: Event) -> ModelCallFailed:
        # Only the error is judged: the rest of the response repeats the request.
        error = response.get("error") or {"message": "the answer failed without an explanation"}
        return failed(
            self._provider, 200, to_json({"error": error}).decode(), window=self._window, estimate=self._estimate
        )

    def _end(self, response: Event, out: Out, *, completed: bool = False) -> None:
        if response.get("status") == "failed" or (response.get("error") and response.get("status") != "completed"):
            raise self._failure(response)
        self._read_unseen(response.get("output"), out)
        if response.get("usage"):
            out.append(UsageReport(read_usage(response["usage"])))
        self._reason = as_text(as_object(response.get("incomplete_details")).get("reason"))
        status = as_text(response.get("status"))
        # Some say in the response that they are still at it, or not done for no reason, and in the event that they are.
        self._status = "completed" if not status or (completed and not self._reason) else status
        self._response_id = as_text(response.get("id")) or self._response_id

    def _read_unseen(self, output: object, out: Out) -> None:
        """What some servers tell with the end alone: everything, or the calls behind a text that they streamed."""
        begun = bool(self._items)
        for raw in map(as_object, output if isinstance(output, list) else ()):
            call_id = as_text(raw.get("call_id")) if raw.get("type") == "function_call" else ""
            if not begun or (call_id and call_id not in self._calls):
                self._item_done({"output_index": max(self._items, default=-1) + 1, "item": raw}, out)

    def _item(self, event: Event, kind: str) -> _Item:
        index = event.get("output_index")
        if not isinstance(index, int):
            # A server that numbers nothing names the items, or sends one after the other.
            index = self._ids.get(as_text(event.get("item_id") or as_object(event.get("item")).get("id")))
        at = index if index is not None else max(self._items, default=0)
        item = self._items.get(at)
        if item is None:
            item = self._items[at] = _Item(kind)
        return item

    def _item_added(self, event: Event, out: Out) -> None:
        raw = as_object(event.get("item"))
        kind = as_text(raw.get("type"))
        index = event.get("output_index")
        at = index if isinstance(index, int) else max(self._items, default=-1) + 1
        item = self._items.get(at)
        if item is None or item.announced:
            # Some servers give all items one number.
            item = self._items[at] = _Item(kind)
        item.announced = True
        if item_id := as_text(raw.get("id")):
            self._ids[item_id] = at
        if kind == "function_call":
            self._start_call(item, raw, out)

    def _start_call(self, item: _Item, raw: Event, out: Out) -> None:
        number = len(self._calls) + 1
        item.call_key = as_text(raw.get("call_id")) or f"{self._call_prefix}_{number}"
        if item.call_key in self._calls:
            item.call_key += f"_{number}"
        self._calls.add(item.call_key)
        out.append(ToolCallDelta(item.call_key, item.call_key, as_text(raw.get("name"))))
        self._pass_arguments(item, written_arguments(raw.get("arguments")), out)

    def _arguments_delta(self, event: Event, out: Out) -> None:
        item = self._item(event, "function_call")
        if not item.call_key:
            self._start_call(item, event, out)
        self._pass_arguments(item, as_text(event.get("delta")), out)

    def _arguments_done(self, event: Event, out: Out) -> None:
        """Some servers tell arguments here alone."""
        item = self._item(event, "function_call")
        if item.call_key:
            self._complete_arguments(item, event.get("arguments"), out)

    def _complete_arguments(self, item: _Item, whole: object, out: Out) -> None:
        """What was not streamed. Some proxies write the whole anew, with other spaces: then the pieces are believed."""
        passed, written = "".join(item.arguments), written_arguments(whole)
        if written.startswith(passed):
            self._pass_arguments(item, written[len(passed) :], out)

    def _pass_arguments(self, item: _Item, arguments: str, out: Out) -> None:
        if arguments:
            item.arguments.append(arguments)
            out.append(ToolCallDelta(item.call_key, arguments=arguments))

    def _text_delta(self, event: Event, out: Out) -> None:
        if text := self._text.join(as_text(event.get("delta"))):
            self._item(event, "message").said = True
            out.append(TextDelta(text))

    def _text_done(self, event: Event, out: Out) -> None:
        """Some servers tell the text here alone."""
        if not self._item(event, "message").said:
            self._text_delta({**event, "delta": event.get("text")}, out)

    def _part_added(self, event: Event, out: Out) -> None:
        item = self._item(event, "reasoning")
        item.parts += 1
        if item.parts > 1:
            out.append(ThinkingDelta("\n\n"))

    def _thinking_delta(self, event: Event, out: Out) -> None:
        if text := self._thoughts.join(as_text(event.get("delta"))):
            self._item(event, "reasoning").thought = True
            out.append(ThinkingDelta(text))

    def _item_done(self, event: Event, out: Out) -> None:
        raw = as_object(event.get("item"))
        kind = as_text(raw.get("type"))
        item = self._item(event, kind)
        match kind:
            case "message":
                _finish_message(item, raw, out)
            case "reasoning":
                _finish_reasoning(item, raw, out)
            case "function_call":
                self._finish_call(item, raw, out)
            case _:
                pass  # Tools of the service's own are not asked for.

    def _finish_call(self, item: _Item, raw: Event, out: Out) -> None:
        if not item.call_key:
            self._start_call(item, raw, out)
            return
        if name := as_text(raw.get("name")):
            # Few say it with the end alone.
            out.append(ToolCallDelta(item.call_key, name=name))
        self._complete_arguments(item, raw.get("arguments"), out)


def _finish_message(item: _Item, raw: Event, out: Out) -> None:
    if not item.said and (text := _texts(raw.get("content"), "text", "refusal")):
        item.said = True
        out.append(TextDelta(text))
    if item.said:
        if phase := as_text(raw.get("phase")):
            out.append(TextDelta("", to_json({"phase": phase}).decode()))
        out.append(BlockStopped())


def _finish_reasoning(item: _Item, raw: Event, out: Out) -> None:
    if not item.thought:
        text = _texts(raw.get("summary"), "text", join="\n\n") or _texts(raw.get("content"), "text")
        item.thought = bool(text)
        if text:
            out.append(ThinkingDelta(text))
    if raw.get("encrypted_content") or raw.get("content"):
        kept = {name: raw[name] for name in REASONING_FIELDS if raw.get(name) is not None}
        out.append(ThinkingDelta("", to_json(kept).decode(), redacted=not item.thought))
    out.append(BlockStopped())


def _texts(parts: object, *names: str, join: str = "") -> str:
    """The texts of a list of parts."""
    found = [as_text(as_object(part).get(name)) for part in parts for name in names] if isinstance(parts, list) else []
    return join.join(text for text in found if text)


def read_usage(value: object) -> Usage:
    """Tokens as the service counted them; what is missing or odd counts as 0."""
    raw = as_object(value)
    details = as_object(raw.get("input_tokens_details"))
    cached, written = as_count(details.get("cached_tokens")), as_count(details.get("cache_write_tokens"))
    usage = make_usage(
        input=max(0, _count(raw, "input_tokens", "prompt_tokens") - cached - written),
        output=_count(raw, "output_tokens", "completion_tokens"),
        cache_read=cached,
        cache_write=written,
    )
    if reasoning := as_count(as_object(raw.get("output_tokens_details")).get("reasoning_tokens")):
        usage["reasoning"] = reasoning
    return usage


def _count(raw: Event, name: str, other_name: str) -> int:
    """Gateways pass the counts of chat completions on under their own names."""
    return as_count(raw.get(name)) or as_count(raw.get(other_name))
