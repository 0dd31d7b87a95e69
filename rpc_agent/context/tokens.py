"""How many tokens a context takes: estimates of messages, and what a service's usage says. Counts; decides nothing.

Two rules exist. `SIMPLE` here is the base rule of the session format, a quarter of the UTF-16 units;
`token_classes` holds the better one. Everything below takes the rule, or a function made of it, as an argument.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median

from msgspec import Struct

from rpc_agent.context.js_json import compact_json
from rpc_agent.context.projection import ProjectedMessage, Projection
from rpc_agent.context.system_state import SystemState, replay_system, system_message
from rpc_agent.conversation.blocks import Block
from rpc_agent.conversation.json_values import as_object
from rpc_agent.conversation.messages import AssistantMessage, Message
from rpc_agent.conversation.usage import total_tokens
from rpc_agent.session.entries import CompactionEntry, ContextEditEntry, Entry, MessageEntry

Estimate = Callable[[Message], int]
"""Tokens of one message; `MessageEstimates` is one that remembers."""

_UNITS_PER_TOKEN = 4
_IMAGE_TOKENS = 1200
"""4800 units of the base rule: what a picture of ordinary size costs at the large services."""
RATIO_SAMPLES = 8
"""The latest reports of a model that its ratio is made of."""
_LOWEST_RATIO, _HIGHEST_RATIO = 0.5, 3.0
"""A service that reports less or more than this counts something else than the context."""


class TokenRule(Struct, frozen=True):
    """`weigh` gives the tokens of a text as a fraction, so that the pieces of a message are rounded up once."""

    name: str
    weigh: Callable[[str], float]


def utf16_units(text: str) -> int:
    """The length of a text as the session format counts it: a character beyond U+FFFF counts twice."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _quarter_of_units(text: str) -> float:
    return utf16_units(text) / _UNITS_PER_TOKEN


SIMPLE = TokenRule("simple", _quarter_of_units)


def estimate_message(message: Message, rule: TokenRule) -> int:
    """Tokens of one message, rounded up."""
    return math.ceil(sum(map(rule.weigh, _texts(message))) + _images(message) * _IMAGE_TOKENS)


class MessageEstimates:
    """`estimate_message` with a memory: messages never change, so each is counted once.

    Summaries are counted each time: a context has one at most, and while a compaction is planned, texts of all lengths
    are weighed as summaries that nobody asks for again.
    """

    def __init__(self, rule: TokenRule) -> None:
        self.rule = rule
        self._known: dict[int, tuple[Message, int]] = {}

    def __call__(self, message: Message) -> int:
        known = self._known.get(id(message))
        # The message is kept beside its count: an id is only good for as long as its object lives.
        if known is not None and known[0] is message:
            return known[1]
        tokens = estimate_message(message, self.rule)
        if message["role"] != "compactionSummary":
            self._known[id(message)] = (message, tokens)
        return tokens

    def __len__(self) -> int:
        """How many messages are remembered."""
        return len(self._known)

    def keep_only(self, messages: Iterable[Message]) -> None:
        """Forget all others; for after a compaction or a navigation."""
        wanted = {id(message) for message in messages}
        self._known = {key: known for key, known in self._known.items() if key in wanted}


class ContextEstimate(Struct, frozen=True):
    """`tokens` = what a service reported up to `last_usage_index` (a message's index) + an estimate of the rest."""

    tokens: int
    usage_tokens: int
    trailing_tokens: int
    last_usage_index: int | None


class ContextWeight(Struct, frozen=True):
    """What all messages add up to by our own count, whatever a service reported; and the system state among them."""

    system: SystemState | None
    spoken: int
    """All that are not system messages."""
    system_tokens: int

    @property
    def tokens(self) -> int:
        return self.spoken + self.system_tokens


def estimate_context(messages: Sequence[Message], estimate: Estimate) -> ContextEstimate:
    """From the last usable usage on; without one, the sum of all messages."""
    anchor = _anchor(messages)
    used = 0 if anchor is None else _usage(messages[anchor])
    trailing = sum(estimate(messages[at]) for at in range(0 if anchor is None else anchor + 1, len(messages)))
    return ContextEstimate(used + trailing, used, trailing, anchor)


def estimate_projected(path: Sequence[Entry], projection: Projection, estimate: Estimate) -> ContextEstimate:
    """Like `estimate_context`, but a usage from before the branch's latest compaction or edit is not believed.

    Without a believable one: the sum of the messages that are not system messages, and of the one system state
    they add up to.
    """
    anchor = _projected_anchor(projection.messages)
    if anchor is None or not _is_fresh(projection.messages[anchor].entry, path):
        tokens = estimate_afresh([item.message for item in projection.messages], estimate)
        return ContextEstimate(tokens, 0, tokens, None)
    used = _usage(projection.messages[anchor].message)
    trailing = sum(estimate(projection.messages[at].message) for at in range(anchor + 1, len(projection.messages)))
    return ContextEstimate(used + trailing, used, trailing, anchor)


def estimate_afresh(messages: Iterable[Message], estimate: Estimate) -> int:
    """The sum of all messages, with the system messages counted as the one state they add up to."""
    return weigh_context(messages, estimate).tokens


def weigh_context(messages: Iterable[Message], estimate: Estimate) -> ContextWeight:
    listed = list(messages)
    system = replay_system(listed)
    spoken = sum([estimate(message) for message in listed if message["role"] != "system"])
    return ContextWeight(system, spoken, estimate(system_message(system, timestamp=0)) if system else 0)


def context_usage_tokens(path: Sequence[Entry], projection: Projection, estimate: Estimate) -> int | None:
    """What a front end shows; None from a compaction until the next usage, because nobody knows by then."""
    if _awaits_usage(path):
        return None
    return estimate_projected(path, projection, estimate).tokens


def calibrated(estimated: ContextEstimate, ratio: float) -> int:
    """The estimated part corrected by what was learned; the reported part is right as it is."""
    return estimated.usage_tokens + math.ceil(estimated.trailing_tokens * ratio)


def learned_ratio(samples: Sequence[tuple[int, int]]) -> float:
    """Reported over estimated tokens of a model, from (reported, estimated) pairs, oldest first; 1.0 without any."""
    ratios = [reported / estimated for reported, estimated in samples if reported > 0 and estimated > 0]
    if not ratios:
        return 1.0
    return min(max(median(ratios[-RATIO_SAMPLES:]), _LOWEST_RATIO), _HIGHEST_RATIO)


def has_usage(message: Message) -> bool:
    """Whether the message's usage tells the size of the context it was an answer to."""
    return message["role"] == "assistant" and _counts(message)


def _counts(message: AssistantMessage) -> bool:
    return message["stopReason"] not in ("error", "aborted") and total_tokens(message["usage"]) > 0


def _usage(message: Message) -> int:
    return total_tokens(message["usage"]) if message["role"] == "assistant" else 0


def _anchor(messages: Sequence[Message]) -> int | None:
    return next((at for at in range(len(messages) - 1, -1, -1) if has_usage(messages[at])), None)


def _projected_anchor(messages: Sequence[ProjectedMessage]) -> int | None:
    return next((at for at in range(len(messages) - 1, -1, -1) if has_usage(messages[at].message)), None)


def _is_fresh(anchor: Entry, path: Sequence[Entry]) -> bool:
    for entry in reversed(path):
        if isinstance(entry, CompactionEntry | ContextEditEntry):
            return False
        if entry is anchor:
            return True
    return False


def _awaits_usage(path: Sequence[Entry]) -> bool:
    for entry in reversed(path):
        if isinstance(entry, CompactionEntry):
            return True
        if isinstance(entry, MessageEntry) and has_usage(entry.message):
            return False
    return False


def _texts(message: Message) -> Iterator[str]:
    match message["role"]:
        case "assistant":
            yield from _block_texts(message["content"])
        case "user" | "custom" | "toolResult":
            content = message["content"]
            yield from (content,) if isinstance(content, str) else _block_texts(content)
        case "bashExecution":
            yield message["command"]
            yield message["output"]
        case "branchSummary" | "compactionSummary":
            yield message["summary"]
        case "system":
            yield message["content"]
            yield from (text for text in as_object(message.get("sections")).values() if isinstance(text, str))
            if message.get("toolsAdded"):
                yield compact_json(message["toolsAdded"])


def _block_texts(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        match block["type"]:
            case "text":
                yield block["text"]
            case "thinking":
                yield block["thinking"]
            case "toolCall":
                yield block["name"]
                yield compact_json(block["arguments"])
            case "image":
                pass  # Counted by number, not by the length of its data.


def _images(message: Message) -> int:
    match message["role"]:
        case "user" | "custom" | "toolResult":
            content = message["content"]
            return 0 if isinstance(content, str) else sum(block["type"] == "image" for block in content)
        case _:
            return 0
