"""The port to a summary model, and what of its answers counts as a summary. Sends nothing itself."""

import zlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from msgspec import Struct

from rpc_agent.compaction.middle import Weigh, fits

_CHARACTERS_JUDGED = 800
"""Shorter texts compress badly whatever they say."""
_LOOP_RATIO = 0.08
"""Notes and lists of similar paths compress to a sixth of their size or more, a loop to a hundredth."""
_LEAST_ROOM = 1024
"""Asked for even where the window seems full: the count is an estimate, and the service knows better."""
_PROMPT_OVERHEAD = 512
"""Instructions, tags and what a service adds to each message."""

FailureReason = Literal["error", "length", "toolCall", "empty", "degenerate"]


class SummaryRequest(Struct, frozen=True, kw_only=True):
    """One call: no tools, a fresh routing id, nothing written to a prompt cache."""

    kind: Literal["history", "turnPrefix", "branch"]
    system: str
    prompt: str
    max_tokens: int


class SummaryAnswer(Struct, frozen=True, kw_only=True):
    """What came back. `usage` is the session's Usage object, where the service reported one."""

    text: str
    stop_reason: str = "stop"
    usage: Mapping[str, Any] | None = None
    called_tools: bool = False
    error_message: str | None = None


Ask = Callable[[SummaryRequest], Awaitable[SummaryAnswer]]
"""Retries and their events are inside; cancelling the scope around it ends the call."""


class SummaryModel(Struct, frozen=True):
    """Limits of the model that is asked, in tokens, 0 where unknown."""

    window: int = 0
    max_tokens: int = 0


class Refused(Struct, frozen=True):
    """Why an answer is no summary, as a reason for programs and a sentence for people."""

    reason: FailureReason
    sentence: str


def refusal(answer: SummaryAnswer) -> Refused | None:
    """None when the answer is a complete text."""
    if answer.stop_reason in ("error", "aborted"):
        said = answer.error_message or "it gave no reason"
        return Refused("error", f"The model that writes the summary failed: {said}")
    if answer.called_tools:
        return Refused("toolCall", "The model called a tool instead of writing the summary.")
    if answer.stop_reason == "length":
        return Refused("length", "The summary was cut off at the model's output limit, so it is not complete.")
    if not answer.text.strip():
        return Refused("empty", "The model answered with an empty summary.")
    if repeats_itself(answer.text):
        return Refused("degenerate", "The model's summary repeats itself over and over.")
    return None


def repeats_itself(text: str) -> bool:
    """Whether the second half of a text is a loop. A loop rarely starts with the first word."""
    tail = text[len(text) // 2 :]
    if len(tail) < _CHARACTERS_JUDGED:
        return False
    data = tail.encode("utf-8", "replace")
    return len(zlib.compress(data)) < len(data) * _LOOP_RATIO


def output_tokens(wanted: int, model: SummaryModel, prompt: str, weigh: Weigh) -> int:
    """How long an answer to ask for: what the plan wants, the model's own limit, and the room its window leaves."""
    most = max(wanted, 1)
    if model.max_tokens:
        most = min(most, model.max_tokens)
    room = model.window - _PROMPT_OVERHEAD
    if not model.window or fits(len(prompt), room - most, lambda: weigh(prompt)):
        return most
    return min(most, max(room - weigh(prompt), _LEAST_ROOM))
