"""The events of a chat-completions stream -> stream events of the port. Pure: no connection, no clock.

Lenient in what servers really send (null chunks, usage in odd places, calls without an index), strict in one thing: an
answer whose end was not said is no answer.
"""

from collections.abc import Mapping
from typing import Any

from rpc_agent.conversation.json_values import as_count, as_object, as_text, without_lone_surrogates
from rpc_agent.conversation.usage import Usage, make_usage
from rpc_agent.providers.base import (
    Stopped,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    UsageReport,
)
from rpc_agent.providers.json_bytes import to_json
from rpc_agent.providers.openai_completions.compat import REASONING_FIELDS
from rpc_agent.providers.openai_completions.tool_calls import CallKeys
from rpc_agent.providers.refusal import bad_finish, cut_short, failed
from rpc_agent.providers.stream_json import TextJoiner, read_event

_STOPS = frozenset({"stop", "end_turn", "eos", "eos_token", "stop_sequence", "end", "complete", "completed"})
_LENGTHS = frozenset({"length", "max_tokens", "max_output_tokens", "max_completion_tokens"})
_CALLS = frozenset({"tool_calls", "tool_call", "tool_use", "function_call"})

_PLAIN_FIELDS = frozenset({"role", "content"})
"""All that nearly every delta has."""

_ERROR_FIELDS = ("error", "error_message", "base_resp", "detail")
"""Where services put an error inside a stream that began with status 200."""
_ERRORS = frozenset(_ERROR_FIELDS)


class ChatCompletionReader:
    """Reads one answer. `finish` must be called when the stream ended well; it says whether the answer did."""

    def __init__(self, *, provider: str, call_prefix: str = "call", window: int = 0, estimate: int = 0) -> None:
        self._provider = provider
        self._window, self._estimate = window, estimate
        self._calls = CallKeys(call_prefix)
        self._finish_reason = ""
        self._response_id: str | None = None
        self._text = TextJoiner()
        self.done = False
        """The service said that nothing follows."""

    @property
    def is_complete(self) -> bool:
        """Whether the answer's end was said, so that a connection lost after it loses nothing."""
        return bool(self._finish_reason)

    def read(self, data: bytes, out: list[StreamEvent]) -> None:
        """One event's data. Raises ModelCallFailed for an error inside the stream."""
        if data.startswith(b"[DONE]"):
            self.done = True
            return
        chunk = read_event(data)
        if not isinstance(chunk, dict):
            return
        if not _ERRORS.isdisjoint(chunk):
            for field in _ERROR_FIELDS:
                self._refuse_error(chunk, field)
        choices = chunk.get("choices")
        if choices and isinstance(choices, list) and isinstance(choices[0], dict):
            self._read_choice(choices[0], out)
        if chunk.get("usage"):
            out.append(UsageReport(read_usage(chunk["usage"])))
        if self._response_id is None:
            self._response_id = as_text(chunk.get("id")) or None

    def finish(self) -> Stopped:
        """The end of the answer. Raises ModelCallFailed when it was cut or ended for a bad reason."""
        reason = self._finish_reason
        if not reason:
            raise cut_short()
        if reason in _LENGTHS:
            return Stopped("length", self._response_id)
        if reason in _STOPS or reason in _CALLS:
            # Some servers say "stop" after tool calls, some "tool_calls" after none: what came decides.
            return Stopped("toolUse" if self._calls.any else "stop", self._response_id)
        raise bad_finish(self._provider, reason)

    def _read_choice(self, choice: dict[str, Any], out: list[StreamEvent]) -> None:
        # A server that does not stream sends one whole `message` in place of deltas.
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._read_delta(delta, out)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._finish_reason = reason.lower()
        if choice.get("usage"):
            out.append(UsageReport(read_usage(choice["usage"])))

    def _read_delta(self, delta: dict[str, Any], out: list[StreamEvent]) -> None:
        content = delta.get("content")
        if delta.keys() <= _PLAIN_FIELDS:
            # The per-delta path.
            self._read_content(content, out)
            return
        for field in REASONING_FIELDS:
            thinking = delta.get(field)
            if thinking and isinstance(thinking, str):
                out.append(ThinkingDelta(without_lone_surrogates(thinking), field))
                break
        self._read_content(content, out)
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            out.append(TextDelta(refusal))
        if delta.get("tool_calls"):
            out.extend(self._calls.read(delta["tool_calls"]))

    def _read_content(self, content: object, out: list[StreamEvent]) -> None:
        if content:
            text = self._text.join(content if isinstance(content, str) else _parts_text(content))
            if text:
                out.append(TextDelta(text))

    def _refuse_error(self, chunk: Mapping[str, Any], field: str) -> None:
        error = chunk.get(field)
        if not error or (field == "base_resp" and not as_object(error).get("status_code")):
            return
        raise failed(self._provider, 200, to_json(chunk).decode(), window=self._window, estimate=self._estimate)


def read_usage(value: object) -> Usage:
    """Tokens as the service counted them; what is missing or odd counts as 0.

    Its own total is not believed: the parts are what thresholds and prices are made of.
    """
    raw = as_object(value)
    details = as_object(raw.get("prompt_tokens_details"))
    # In turn OpenAI, DeepSeek, Moonshot.
    cached = max(
        as_count(details.get("cached_tokens")),
        as_count(raw.get("prompt_cache_hit_tokens")),
        as_count(raw.get("cached_tokens")),
    )
    written = as_count(details.get("cache_write_tokens"))
    prompt = as_count(raw.get("prompt_tokens"))
    usage = make_usage(
        input=max(0, prompt - cached - written),
        output=as_count(raw.get("completion_tokens")),
        cache_read=cached,
        cache_write=written,
    )
    reasoning = as_count(as_object(raw.get("completion_tokens_details")).get("reasoning_tokens"))
    if reasoning:
        usage["reasoning"] = reasoning
    return usage


def _parts_text(content: object) -> str:
    """Content as a list of parts, as Mistral sends it for thinking models."""
    parts = content if isinstance(content, list) else []
    return "".join(as_text(as_object(part).get("text")) for part in parts)
