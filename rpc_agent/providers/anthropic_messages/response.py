"""The events of a messages stream -> stream events of the port. Pure: no connection, no clock.

Unknown events and blocks are passed over, as the API asks; an answer whose end was not said is no answer.
"""

from collections.abc import Mapping
from typing import Any

from rpc_agent.conversation.json_values import as_count, as_object, as_text
from rpc_agent.conversation.usage import Usage, make_usage
from rpc_agent.providers.base import (
    BlockStopped,
    Stopped,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageReport,
)
from rpc_agent.providers.call_arguments import written_arguments
from rpc_agent.providers.error_chunks import is_error
from rpc_agent.providers.finish_reasons import good_end, plain_reason
from rpc_agent.providers.json_bytes import to_json
from rpc_agent.providers.refusal import bad_finish, cut_short, failed
from rpc_agent.providers.stream_json import TextJoiner, read_event

_PAUSE = "pause_turn"
"""Said for tools of the service's own, of which we ask for none; what came is whole."""

_TEXT_FIELDS = {"text_delta": "text", "thinking_delta": "thinking"}

_COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_OTHER_NAMES = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
"""What gateways leave of the counts of chat completions."""


class MessagesReader:
    """Reads one answer. `finish` must be called when the stream ended well; it says whether the answer did."""

    def __init__(self, *, provider: str, call_prefix: str = "call", window: int = 0, estimate: int = 0) -> None:
        self._provider = provider
        self._prefix = call_prefix
        self._window, self._estimate = window, estimate
        self._blocks: dict[int, _Block] = {}
        self._counts: dict[str, int] = {}
        self._reasoning = 0
        self._stop_reason = ""
        self._explanation = ""
        self._response_id: str | None = None
        self._begun = 0
        self._any_calls = False
        self.done = False
        """The service said that nothing follows."""

    @property
    def is_complete(self) -> bool:
        """Whether the answer's end was said, so that a connection lost after it loses nothing."""
        return self.done or bool(self._stop_reason)

    def read(self, data: bytes, out: list[StreamEvent]) -> None:
        """One event's data, or a whole answer. Raises ModelCallFailed for an error inside the stream."""
        event = read_event(data)
        if not isinstance(event, dict):
            return
        match event.get("type"):
            case "content_block_delta":
                self._block(event).grow(as_object(event.get("delta")), out)
            case "content_block_start":
                self._start(event, out)
            case "content_block_stop":
                self._block(event).stop(out)
            case "message_start":
                self._begin(as_object(event.get("message")), out)
            case "message_delta":
                self._end(as_object(event.get("delta")), event.get("usage"), out)
            case "message_stop":
                self._count(event.get("usage"), out)
                self.done = True
            case "message":
                self._read_whole(event, out)
            case kind if kind == "error" or event.get("error") or (not kind and is_error(event)):
                raise failed(self._provider, 200, to_json(event).decode(), window=self._window, estimate=self._estimate)
            case _:
                pass

    def finish(self) -> Stopped:
        """The end of the answer. Raises ModelCallFailed when it was cut or ended for a bad reason."""
        if not self.is_complete or not (self._stop_reason or self._begun):
            raise cut_short()
        reason = self._stop_reason
        end = "stop" if not reason or reason == _PAUSE else good_end(plain_reason(reason))
        if end is None:
            raise bad_finish(self._provider, reason, self._explanation)
        return Stopped("toolUse" if end == "stop" and self._any_calls else end, self._response_id)

    def _begin(self, message: Mapping[str, Any], out: list[StreamEvent]) -> None:
        self._response_id = as_text(message.get("id")) or None
        self._count(message.get("usage"), out)

    def _start(self, event: Mapping[str, Any], out: list[StreamEvent]) -> None:
        # Some gateways give all blocks one index.
        call_id = f"{self._prefix}_{self._begun}"
        self._begun += 1
        block = self._blocks[as_count(event.get("index"))] = _Block(as_object(event.get("content_block")), call_id)
        self._any_calls = self._any_calls or block.kind == "tool_use"
        block.begin(out)

    def _block(self, event: Mapping[str, Any]) -> "_Block":
        """The block that an event is about; one of no kind when its beginning was never sent."""
        index = as_count(event.get("index"))
        return self._blocks.get(index) or self._blocks.setdefault(index, _Block({}, ""))

    def _end(self, delta: Mapping[str, Any], usage: object, out: list[StreamEvent]) -> None:
        self._stop_reason = as_text(delta.get("stop_reason")) or self._stop_reason
        self._explanation = as_text(as_object(delta.get("stop_details")).get("explanation"))
        self._count(usage, out)

    def _read_whole(self, message: Mapping[str, Any], out: list[StreamEvent]) -> None:
        """The answer of a server that does not stream. Behind a stream it says the same once more."""
        self._begin(message, out)
        content = message.get("content") if not self._blocks else None
        for index, block in enumerate(content if isinstance(content, list) else ()):
            self._start({"index": index, "content_block": block}, out)
            self._blocks[index].stop(out)
        self._end(message, None, out)
        self.done = True

    def _count(self, usage: object, out: list[StreamEvent]) -> None:
        """Counts are cumulative; some servers send the input at the start, some at the end and 0 at the start."""
        raw = as_object(usage)
        for name in _COUNTS:
            count = as_count(raw.get(name)) or as_count(raw.get(_OTHER_NAMES.get(name, "")))
            self._counts[name] = count or self._counts.get(name, 0)
        details = as_object(raw.get("output_tokens_details"))
        self._reasoning = as_count(details.get("thinking_tokens")) or self._reasoning
        if raw:
            out.append(UsageReport(self._usage()))

    def _usage(self) -> Usage:
        fresh, output, read, written = (self._counts[name] for name in _COUNTS)
        usage = make_usage(input=fresh, output=output, cache_read=read, cache_write=written)
        if self._reasoning:
            usage["reasoning"] = self._reasoning
        return usage


class _Block:
    """One block of the answer while it comes."""

    __slots__ = ("_call_id", "_held", "_joiner", "_raw", "_signature", "_whole_input", "kind")

    def __init__(self, raw: Mapping[str, Any], call_id: str) -> None:
        self.kind = as_text(raw.get("type"))
        self._raw = raw
        self._call_id = call_id
        """The key of the call, and its id where the server gave none."""
        self._joiner = TextJoiner()
        self._signature = ""
        self._held = as_text(raw.get(self.kind)) if self.kind in _TEXT_FIELDS.values() else ""
        """What the beginning says already; some servers say it once more in the first piece."""
        self._whole_input = written_arguments(raw.get("input") or "")
        """Some servers send the arguments with the beginning and no piece of them after it."""

    def begin(self, out: list[StreamEvent]) -> None:
        raw = self._raw
        match self.kind:
            case "thinking":
                self.grow({**raw, "type": "signature_delta"}, out)
            case "redacted_thinking" if raw.get("data"):
                out.append(ThinkingDelta("", as_text(raw["data"]), redacted=True))
            case "tool_use":
                call_id = as_text(raw.get("id")) or self._call_id
                out.append(ToolCallDelta(self._call_id, call_id, as_text(raw.get("name"))))
            case _:
                pass

    def grow(self, delta: Mapping[str, Any], out: list[StreamEvent]) -> None:
        match delta.get("type"):
            case "text_delta" | "thinking_delta" as kind:
                field = _TEXT_FIELDS[kind]
                text, held = as_text(delta.get(field)), self._held
                if held:
                    self._held = ""
                    text = text if text.startswith(held) else held + text
                self._say(field, text, out)
            case "signature_delta" if delta.get("signature"):
                self._signature += as_text(delta["signature"])
                out.append(ThinkingDelta("", self._signature))
            case "input_json_delta" if self.kind == "tool_use":
                piece = written_arguments(delta.get("partial_json"))
                self._whole_input = "" if piece else self._whole_input
                out.append(ToolCallDelta(self._call_id, arguments=piece))
            case _:
                pass

    def _say(self, field: str, raw: str, out: list[StreamEvent]) -> None:
        if text := self._joiner.join(raw):
            out.append(TextDelta(text) if field == "text" else ThinkingDelta(text))

    def stop(self, out: list[StreamEvent]) -> None:
        self._say(self.kind, self._held, out)
        self._held = ""
        if self.kind == "tool_use" and self._whole_input:
            out.append(ToolCallDelta(self._call_id, arguments=self._whole_input))
        elif self.kind in ("text", "thinking", "redacted_thinking"):
            # Each thinking block has a signature of its own, so two of them are never one.
            out.append(BlockStopped())
