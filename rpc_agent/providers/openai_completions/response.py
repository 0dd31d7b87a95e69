"""The events of a chat-completions stream -> stream events of the port. Pure: no connection, no clock.

Lenient in what servers really send (null chunks, usage in odd places, calls without an index), strict in one thing: an
answer whose end was not said is no answer.
"""

from typing import Any

from rpc_agent.conversation.json_values import as_object, as_text
from rpc_agent.providers.base import Stopped, StreamEvent, TextDelta, UsageReport
from rpc_agent.providers.error_chunks import ERROR_FIELDS, is_error
from rpc_agent.providers.finish_reasons import good_end, plain_reason
from rpc_agent.providers.json_bytes import to_json
from rpc_agent.providers.openai_completions.compat import Compat
from rpc_agent.providers.openai_completions.reasoning import ReasoningReader
from rpc_agent.providers.openai_completions.tool_calls import CallKeys, google_says
from rpc_agent.providers.openai_completions.usage import usage_in
from rpc_agent.providers.refusal import bad_finish, cut_short, failed
from rpc_agent.providers.stream_json import TextJoiner, read_event

_PLAIN_FIELDS = frozenset({"role", "content"})
"""All that nearly every delta has."""
_LEAST_REPEATED = 32
"""Characters from which a last delta that equals all that was said is that text once more, and no coincidence."""


class ChatCompletionReader:
    """Reads one answer. `finish` must be called when the stream ended well; it says whether the answer did."""

    def __init__(
        self,
        *,
        provider: str,
        call_prefix: str = "call",
        window: int = 0,
        estimate: int = 0,
        compat: Compat | None = None,
    ) -> None:
        self._provider = provider
        self._window, self._estimate = window, estimate
        self._compat = compat or Compat()
        self._calls = CallKeys(call_prefix)
        self._reasoning = ReasoningReader()
        self._finish_reason = ""
        self._response_id: str | None = None
        self._joiner = TextJoiner()
        self._said: list[str] = []
        self._streamed = False
        """Something came as deltas: a whole `message` behind them says the same once more."""
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
        choices = chunk.get("choices")
        if (choices is None or not ERROR_FIELDS.isdisjoint(chunk)) and is_error(chunk):
            self._fail(chunk)
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict):
                self._read_choice(choice, out)
        if ("usage" in chunk or "x_groq" in chunk) and (usage := usage_in(chunk)):
            out.append(UsageReport(usage))
        if self._response_id is None:
            self._response_id = as_text(chunk.get("id")) or None

    def finish(self) -> Stopped:
        """The end of the answer. Raises ModelCallFailed when it was cut or ended for a bad reason."""
        reason = self._finish_reason or self._unsaid_reason()
        end = good_end(reason)
        if end is None:
            raise bad_finish(self._provider, reason)
        return Stopped("toolUse" if end == "stop" and self._calls.any else end, self._response_id)

    def _unsaid_reason(self) -> str:
        """Some servers end an answer with [DONE] alone. That is believed of one that says something and is whole."""
        ended = self.done or not self._compat.supports_finish_reason
        if ended and (self._said or self._calls.any) and self._calls.all_whole:
            return "stop"
        raise cut_short()

    def _read_choice(self, choice: dict[str, Any], out: list[StreamEvent]) -> None:
        if choice.get("error"):
            # OpenRouter's place for what a maker's service said.
            self._fail(choice)
        # Google's address for chat completions has it under the other name alone.
        said = choice.get("finish_reason") or choice.get("finishReason")
        if said and (reason := plain_reason(said)):
            self._finish_reason = reason
        delta, before = choice.get("delta"), len(out)
        if delta and isinstance(delta, dict):
            self._read_delta(delta, out)
            self._streamed = self._streamed or len(out) > before
        elif isinstance(message := choice.get("message"), dict):
            self._read_message(message, out)
        if "usage" in choice and (usage := usage_in(choice)):
            out.append(UsageReport(usage))

    def _read_message(self, message: dict[str, Any], out: list[StreamEvent]) -> None:
        """A whole message; behind deltas only the calls of a server that streams none are new in it."""
        if not self._streamed:
            self._read_delta(message, out)
        elif not self._calls.any and message.get("tool_calls"):
            out.extend(self._calls.read(message["tool_calls"]))

    def _read_delta(self, delta: dict[str, Any], out: list[StreamEvent]) -> None:
        content = delta.get("content")
        if delta.keys() <= _PLAIN_FIELDS:
            # The per-delta path.
            if content:
                self._read_content(content, out)
            return
        self._reasoning.read(delta, out)
        if content and google_says(delta, "thought"):
            self._reasoning.say(as_text(content), out)
        elif content:
            self._read_content(content, out)
        if refusal := as_text(delta.get("refusal")):
            self._read_content(refusal, out)
        for calls in ("tool_calls", "function_call"):
            if delta.get(calls):
                out.extend(self._calls.read(delta[calls]))

    def _read_content(self, content: object, out: list[StreamEvent]) -> None:
        if not isinstance(content, str):
            content = self._read_parts(content, out)
        if self._finish_reason and self._is_said_again(content):
            return
        if text := self._joiner.join(content):
            self._said.append(text)
            out.append(TextDelta(text))

    def _read_parts(self, content: object, out: list[StreamEvent]) -> str:
        """Content as a list of parts, as Mistral and Databricks send it: the text, once the thinking is read."""
        given = content if isinstance(content, list) else [content]
        parts = [{"text": part} if isinstance(part, str) else as_object(part) for part in given]
        for part in parts:
            thoughts = part.get("thinking") or part.get("summary")
            texts = (
                [as_text(as_object(thought).get("text")) for thought in thoughts] if isinstance(thoughts, list) else []
            )
            self._reasoning.say("".join(texts) or as_text(thoughts), out)
        return "".join(as_text(part.get("text")) for part in parts)

    def _is_said_again(self, content: str) -> bool:
        """Some servers end with a delta that holds the whole text."""
        return len(content) >= _LEAST_REPEATED and len(self._said) > 1 and content == "".join(self._said)

    def _fail(self, said: dict[str, Any]) -> None:
        raise failed(self._provider, 200, to_json(said).decode(), window=self._window, estimate=self._estimate)
