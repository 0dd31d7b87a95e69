"""What the model is sent and how full its window is: the projection, converted and counted. Writes nothing.

The expensive parts follow the projection as it grows: a turn converts and counts only what the turn before added.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from rpc_agent.agent.model_step import Answer
from rpc_agent.compaction.policy import effective_window
from rpc_agent.context.learning import Lessons, after_answer, after_refusal
from rpc_agent.context.model_blocks import Recipient
from rpc_agent.context.model_messages import ModelMessages, model_messages
from rpc_agent.context.projection import ProjectedMessage, Projection
from rpc_agent.context.running_estimate import RunningEstimate
from rpc_agent.context.system_state import SystemState, system_patch
from rpc_agent.context.tokens import SIMPLE, ContextWeight, MessageEstimates, TokenRule, calibrated, estimate_afresh
from rpc_agent.conversation.messages import Message, ModelMessage, SystemMessage
from rpc_agent.conversation.models import Model
from rpc_agent.conversation.usage import input_tokens
from rpc_agent.providers.base import ChatModel, ModelRequest
from rpc_agent.runtime.events import ContextUsageChanged, ContextWarning, SessionEvent
from rpc_agent.runtime.model_choice import ModelChoice
from rpc_agent.runtime.session_log import SessionLog
from rpc_agent.runtime.toolbox import SessionToolbox
from rpc_agent.session.entries import UnknownEntry

_LEAST_OUTPUT = 256
"""Asked for even when the estimate says that nothing is left: the estimate may be wrong, the service will tell."""

_NO_ENTRY = UnknownEntry(id="", parent_id=None, timestamp="", raw={})
"""Where messages come from that no entry holds."""


class ContextUsage(Struct, frozen=True):
    """`tokens` and `percent` are None from a compaction until a model reports usage again."""

    tokens: int | None
    context_window: int

    @property
    def percent(self) -> float | None:
        if self.tokens is None:
            return None
        return round(100 * self.tokens / self.context_window, 1)


class ModelContext:
    """The context of one session, for whichever model it uses at the moment."""

    def __init__(
        self,
        log: SessionLog,
        models: ModelChoice,
        toolbox: SessionToolbox,
        *,
        rule: TokenRule,
        images_blocked: bool,
        sections: Callable[[], dict[str, str]],
        routing_id: str,
        now_ms: Callable[[], int],
        emit: Callable[[SessionEvent], None],
    ) -> None:
        self._log = log
        self._models = models
        self._toolbox = toolbox
        self._rule = rule
        self._images_blocked = images_blocked
        self._sections = sections
        self._routing_id = routing_id
        self._now_ms = now_ms
        self._emit = emit
        self._conversion: tuple[Recipient, ModelMessages] | None = None
        self.estimate = MessageEstimates(rule)
        self._running = RunningEstimate(self.estimate)
        self._learns = rule is not SIMPLE
        self._lessons: dict[str, Lessons] = {}
        self._usage: tuple[tuple[str | None, Model | None, Lessons], ContextUsage | None] | None = None
        """The usage told last, and the leaf, the model and what is learned of it then: from these it follows."""
        self._sent: tuple[str, int] | None = None
        """The model of the last request, and our own count of it."""

    def system_patch(self) -> SystemMessage | None:
        """What the stored system messages lack of the prompt as it should be now."""
        wanted = SystemState(sections=self._sections(), tools=tuple(spec.to_json() for spec in self._toolbox.specs))
        stored = self._running.system(self._log.projection) or SystemState()
        # Unnamed text of the stored state was written by another program: it stays what it is.
        wanted = SystemState(stored.text, wanted.sections, wanted.tools)
        return system_patch(stored, wanted, timestamp=self._now_ms())

    def next_request(self) -> tuple[ModelRequest, ChatModel]:
        model, chat_model = self._models.for_a_run()
        self._sent = (model.ref, self.weight().tokens)
        request = ModelRequest(
            model=model,
            messages=self._converted(model),
            tools=self._toolbox.specs,
            max_tokens=self._room(model),
            thinking_level=self._models.thinking_level if model.reasoning else "off",
            routing_id=self._routing_id,
        )
        return request, chat_model

    def with_messages(self, request: ModelRequest, messages: Sequence[Message]) -> ModelRequest:
        """The request with other messages after our system prompt, checked as ours are, and counted for what they are.

        System messages among them are patches of the prompt.
        """
        system = [item for item in self._log.projection.messages if item.message["role"] == "system"]
        items = [*system, *(ProjectedMessage(_NO_ENTRY, message) for message in messages)]
        if self._sent is not None:
            count = estimate_afresh((item.message for item in items), MessageEstimates(self._rule))
            self._sent = (self._sent[0], count)
        converted = model_messages(Projection((), items), self._recipient(request.model))
        return replace(request, messages=converted)

    def heard(self, answer: Answer, entry_id: str) -> None:
        """An answer was recorded: its usage, or its refusal, tells something about the window."""
        self._learn(answer)
        self.announce_usage()

    def announce_usage(self) -> None:
        """Tells how full the context is, where anybody knows the window."""
        usage = self.usage()
        if usage is not None:
            self._emit(ContextUsageChanged(usage.tokens, usage.context_window, usage.percent))

    def tokens(self) -> int:
        """How large the next request will be, as far as anybody can tell."""
        return calibrated(self._running.projected(self._log.path, self._log.projection), self.ratio)

    def weight(self) -> ContextWeight:
        """What all messages come to by our own count."""
        return self._running.weight(self._log.projection)

    @property
    def ratio(self) -> float:
        """What the model's service counts for each token that we count, as far as its reports taught."""
        return self._lessons_of(self._models.model).ratio

    @property
    def window(self) -> int:
        """That of the current model; 0 where nobody knows."""
        return 0 if self._models.model is None else self.window_of(self._models.model)

    def window_of(self, model: Model) -> int:
        """The smallest of what a model declares and what its refusals taught; 0 where nobody knows."""
        return effective_window(model.context_window, learned=self._lessons_of(model).limit)

    def system_tokens(self) -> int:
        """System prompt and tools: the part that no compaction makes smaller."""
        return self._running.system_tokens(self._log.projection)

    def usage(self) -> ContextUsage | None:
        """None where nobody knows the window. Kept, for it is asked for more often than what it hangs on changes."""
        model = self._models.model
        hangs_on = (self._log.leaf_id, model, self._lessons_of(model))
        if self._usage is None or self._usage[0] != hangs_on:
            self._usage = (hangs_on, self._usage_now())
        return self._usage[1]

    def _usage_now(self) -> ContextUsage | None:
        window = self.window
        if not window:
            return None
        return ContextUsage(None if self._running.awaits_usage(self._log.path) else self.tokens(), window)

    def counted(self) -> Sequence[tuple[ProjectedMessage, int]]:
        """Every message of the context with its estimated tokens."""
        return [(item, self.estimate(item.message)) for item in self._log.projection.messages]

    def _converted(self, model: Model) -> Sequence[ModelMessage]:
        recipient = self._recipient(model)
        if self._conversion is None or self._conversion[0] != recipient:
            self._conversion = (recipient, ModelMessages(recipient))
        return self._conversion[1].update(self._log.projection)

    def _recipient(self, model: Model) -> Recipient:
        return Recipient(model.provider, model.id, model.input, self._images_blocked)

    def _lessons_of(self, model: Model | None) -> Lessons:
        return Lessons() if model is None else self._lessons.get(model.ref, Lessons())

    def _learn(self, answer: Answer) -> None:
        model = self._models.model
        if model is None or self._sent is None or self._sent[0] != model.ref or not self._learns:
            return
        lessons, failure = self._lessons_of(model), answer.failure
        if failure is not None:
            learned = after_refusal(lessons, stated=failure.limit, declared=model.context_window)
            if failure.kind == "overflow" and learned.limit != lessons.limit:
                self._lessons[model.ref] = learned
                self._emit(ContextWarning("limitLearned", {"model": model.ref, "limit": learned.limit}))
            return
        if answer.message["stopReason"] == "aborted":
            return
        counted = input_tokens(answer.message["usage"])
        self._lessons[model.ref], cut = after_answer(lessons, counted=counted, estimated=self._sent[1])
        if cut is not None:
            fields = {"model": model.ref, "sentTokens": cut.sent, "countedTokens": cut.counted}
            self._emit(ContextWarning("silentTruncation", fields))

    def _room(self, model: Model) -> int:
        """Most tokens of the answer: the model's limit, or what the window has left beside the context."""
        window = self.window
        if not window:
            return model.max_tokens
        left = max(window - self.tokens(), _LEAST_OUTPUT)
        return min(model.max_tokens, left) if model.max_tokens else left
