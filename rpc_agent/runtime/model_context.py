"""What the model is sent and how full its window is: the projection, converted and counted. Writes nothing.

The expensive parts follow the projection as it grows: a turn converts and counts only what the turn before added.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rpc_agent.agent.model_step import Answer
from rpc_agent.context.model_blocks import Recipient
from rpc_agent.context.model_messages import ModelMessages
from rpc_agent.context.projection import ProjectedMessage
from rpc_agent.context.running_estimate import RunningEstimate
from rpc_agent.context.system_state import SystemState, system_patch
from rpc_agent.context.tokens import MessageEstimates, TokenRule
from rpc_agent.conversation.messages import ModelMessage, SystemMessage
from rpc_agent.conversation.models import Model
from rpc_agent.providers.base import ChatModel, ModelRequest
from rpc_agent.runtime.events import ContextUsageChanged, SessionEvent
from rpc_agent.runtime.model_choice import ModelChoice
from rpc_agent.runtime.session_log import SessionLog
from rpc_agent.runtime.toolbox import SessionToolbox

_LEAST_OUTPUT = 256
"""Asked for even when the estimate says that nothing is left: the estimate may be wrong, the service will tell."""


@dataclass(frozen=True, slots=True)
class ContextUsage:
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
        self._images_blocked = images_blocked
        self._sections = sections
        self._routing_id = routing_id
        self._now_ms = now_ms
        self._emit = emit
        self._conversion: tuple[Recipient, ModelMessages] | None = None
        self.estimate = MessageEstimates(rule)
        self._running = RunningEstimate(self.estimate)

    def system_patch(self) -> SystemMessage | None:
        """What the stored system messages lack of the prompt as it should be now."""
        wanted = SystemState(sections=self._sections(), tools=tuple(spec.to_json() for spec in self._toolbox.specs))
        stored = self._running.system(self._log.projection) or SystemState()
        # Unnamed text of the stored state was written by another program: it stays what it is.
        wanted = SystemState(stored.text, wanted.sections, wanted.tools)
        return system_patch(stored, wanted, timestamp=self._now_ms())

    def next_request(self) -> tuple[ModelRequest, ChatModel]:
        model, chat_model = self._models.for_a_run()
        request = ModelRequest(
            model=model,
            messages=self._converted(model),
            tools=self._toolbox.specs,
            max_tokens=self._room(model),
            thinking_level=self._models.thinking_level if model.reasoning else "off",
            routing_id=self._routing_id,
        )
        return request, chat_model

    def heard(self, answer: Answer, entry_id: str) -> None:
        usage = self.usage()
        if usage is not None:
            self._emit(ContextUsageChanged(usage.tokens, usage.context_window, usage.percent))

    def tokens(self) -> int:
        """How large the next request will be, as far as anybody can tell."""
        return self._running.projected(self._log.path, self._log.projection).tokens

    def system_tokens(self) -> int:
        """System prompt and tools: the part that no compaction makes smaller."""
        return self._running.system_tokens(self._log.projection)

    def usage(self) -> ContextUsage | None:
        """None where nobody knows the window."""
        model = self._models.model
        if model is None or not model.context_window:
            return None
        tokens = self._running.usage_tokens(self._log.path, self._log.projection)
        return ContextUsage(tokens, model.context_window)

    def counted(self) -> Sequence[tuple[ProjectedMessage, int]]:
        """Every message of the context with its estimated tokens."""
        return [(item, self.estimate(item.message)) for item in self._log.projection.messages]

    def _converted(self, model: Model) -> Sequence[ModelMessage]:
        recipient = Recipient(model.provider, model.id, model.input, self._images_blocked)
        if self._conversion is None or self._conversion[0] != recipient:
            self._conversion = (recipient, ModelMessages(recipient))
        return self._conversion[1].update(self._log.projection)

    def _room(self, model: Model) -> int:
        """Most tokens of the answer: the model's limit, or what the window has left beside the context."""
        if not model.context_window:
            return model.max_tokens
        left = max(model.context_window - self.tokens(), _LEAST_OUTPUT)
        return min(model.max_tokens, left) if model.max_tokens else left
