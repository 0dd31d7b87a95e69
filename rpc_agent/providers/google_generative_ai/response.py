"""The chunks of a streamGenerateContent answer -> stream events of the port. Pure: no connection, no clock.

Unknown parts are passed over; an answer whose end was not said is no answer, and one that ended for a bad reason fails
with the reason's own name.
"""

from collections.abc import Mapping
from typing import Any

from rpc_agent.conversation.json_values import as_count, as_object, as_text, without_lone_surrogates
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
from rpc_agent.providers.google_generative_ai.parts import MADE_ID
from rpc_agent.providers.json_bytes import to_json
from rpc_agent.providers.refusal import bad_finish, cut_short, failed
from rpc_agent.providers.stream_json import TextJoiner, read_event

_UNSAID = "UNSPECIFIED"
"""Ends the name of a reason that is none."""


class GenerateContentReader:
    """Reads one answer. `finish` must be called when the stream ended well; it says whether the answer did.

    `call_tag` tells the calls of this answer from those of others where the service names neither calls nor answers.
    """

    done = False
    """The service has no word for the end of the stream; the body ends."""

    def __init__(self, *, provider: str, call_tag: str = "", window: int = 0, estimate: int = 0) -> None:
        self._provider = provider
        self._call_tag = call_tag
        self._window, self._estimate = window, estimate
        self._joiner = TextJoiner()
        self._open = ""
        """The kind of block that a signature without text belongs to."""
        self._calls = 0
        self._finish_reason = ""
        self._explanation = ""
        self._response_id = ""

    @property
    def is_complete(self) -> bool:
        """Whether the answer's end was said, so that a connection lost after it loses nothing."""
        return bool(self._finish_reason)

    def read(self, data: bytes, out: list[StreamEvent]) -> None:
        """One event's data, or a whole answer. Raises ModelCallFailed for an error inside the stream."""
        value = read_event(data)
        # Without alt=sse, which some proxies lose, the answer is one list of chunks.
        for chunk in value if isinstance(value, list) else [value]:
            if isinstance(chunk, dict):
                self._read_chunk(chunk, out)

    def finish(self) -> Stopped:
        """The end of the answer. Raises ModelCallFailed when it was cut or ended for a bad reason."""
        reason = self._finish_reason
        if not reason:
            raise cut_short()
        end = good_end(plain_reason(reason))
        if end is None:
            raise bad_finish(self._provider, reason, self._explanation)
        return Stopped("toolUse" if end == "stop" and self._calls else end, self._response_id or None)

    def _read_chunk(self, chunk: Mapping[str, Any], out: list[StreamEvent]) -> None:
        inner = chunk.get("response")
        if "candidates" not in chunk and isinstance(inner, dict):
            # Google's other addresses put each chunk into an envelope.
            chunk = inner
        if chunk.get("error") or ("candidates" not in chunk and is_error(chunk)):
            body = to_json(chunk).decode()
            raise failed(self._provider, 200, body, window=self._window, estimate=self._estimate)
        self._response_id = self._response_id or as_text(chunk.get("responseId"))
        candidates = chunk.get("candidates")
        if isinstance(candidates, list) and candidates:
            self._read_candidate(as_object(candidates[0]), out)
        if chunk.get("usageMetadata"):
            out.append(UsageReport(read_usage(chunk["usageMetadata"])))
        feedback = as_object(chunk.get("promptFeedback"))
        blocked = as_text(feedback.get("blockReason"))
        if blocked and not blocked.endswith(_UNSAID):
            explanation = as_text(feedback.get("blockReasonMessage"))
            raise bad_finish(self._provider, blocked, f"the prompt was refused. {explanation}".strip())

    def _read_candidate(self, candidate: Mapping[str, Any], out: list[StreamEvent]) -> None:
        parts = as_object(candidate.get("content")).get("parts")
        for part in parts if isinstance(parts, list) else ():
            self._read_part(as_object(part), out)
        reason = as_text(candidate.get("finishReason")).upper()
        if reason and not reason.endswith(_UNSAID):
            self._finish_reason = reason
            self._explanation = as_text(candidate.get("finishMessage"))

    def _read_part(self, part: Mapping[str, Any], out: list[StreamEvent]) -> None:
        # Older servers put it inside the call.
        call = part.get("functionCall")
        signature = as_text(part.get("thoughtSignature")) or as_text(as_object(call).get("thoughtSignature"))
        if isinstance(call, dict):
            self._read_call(call, signature, out)
        else:
            self._read_text(as_text(part.get("text")), part.get("thought") is True, signature, out)

    def _read_text(self, raw: str, thought: bool, signature: str, out: list[StreamEvent]) -> None:
        """Text and thinking come in pieces; what is signed ends with its signature, which may come alone."""
        if raw:
            self._open = "thinking" if thought else "text"
        text = self._joiner.join(raw)
        if not self._open or not (text or signature):
            return
        event = ThinkingDelta if self._open == "thinking" else TextDelta
        out.append(event(text, signature or None))
        if signature:
            # More text is not covered by this signature, so it is a block of its own.
            out.append(BlockStopped())
            self._open = ""

    def _read_call(self, call: Mapping[str, Any], signature: str, out: list[StreamEvent]) -> None:
        """Calls come whole."""
        self._open = ""
        self._calls += 1
        made = f"{MADE_ID}{self._response_id or self._call_tag}_{self._calls}"
        call_id = without_lone_surrogates(as_text(call.get("id"))) or made
        written = written_arguments(call.get("args"))
        # The key is another for each call, also where a server repeats an id.
        key = f"{self._calls}"
        out.append(ToolCallDelta(key, call_id, as_text(call.get("name")), written, signature or None))


def read_usage(value: object) -> Usage:
    """Tokens as the service counted them: thinking is output, and what the cache gave is part of the prompt."""
    raw = as_object(value)
    cached = as_count(raw.get("cachedContentTokenCount"))
    prompt = as_count(raw.get("promptTokenCount")) + as_count(raw.get("toolUsePromptTokenCount"))
    thoughts = as_count(raw.get("thoughtsTokenCount"))
    usage = make_usage(
        input=max(0, prompt - cached),
        output=as_count(raw.get("candidatesTokenCount")) + thoughts,
        cache_read=cached,
    )
    if thoughts:
        usage["reasoning"] = thoughts
    return usage
