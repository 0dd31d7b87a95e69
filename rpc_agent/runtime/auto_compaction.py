"""The three check points of a run: looks at the context, lets `policy` decide, and carries the decision out."""

import math
from collections.abc import Callable, Sequence

from rpc_agent.agent.abort import Abort
from rpc_agent.agent.inbox import QueuedMessage
from rpc_agent.agent.model_step import Answer
from rpc_agent.compaction.payload import payload_edits
from rpc_agent.compaction.planning import is_credible
from rpc_agent.compaction.policy import (
    CheckPoint,
    Compact,
    CompactionState,
    Decision,
    Fuse,
    FuseSpent,
    LeaveAlone,
    NeverFits,
    decide_compaction,
    last_answer,
    quiet_until,
)
from rpc_agent.context.tokens import estimate_afresh
from rpc_agent.conversation.messages import AssistantMessage, user_message
from rpc_agent.conversation.models import Model
from rpc_agent.errors import CompactionCancelled, CompactionFailed, ContextOverflow, NothingToCompact, RequestError
from rpc_agent.providers.classify import classify
from rpc_agent.runtime.compactor import CompactionOptions, Compactor, compaction_budget
from rpc_agent.runtime.events import CompactionEnd, SessionEvent
from rpc_agent.runtime.model_choice import ModelChoice
from rpc_agent.runtime.model_context import ModelContext
from rpc_agent.runtime.session_log import SessionLog
from rpc_agent.runtime.unreachable_threshold import UnreachableThreshold
from rpc_agent.settings import CompactionSettings

_FUSE_MESSAGE = (
    "The context overflowed again after it was compacted, so it is not tried once more. Take something out of the "
    "context (edit_context, navigate_tree), or choose a model with a larger window."
)


class AutoCompaction:
    """Implements the run's `Compaction`. One per session: the fuse and the quiet outlive a run."""

    def __init__(
        self,
        compactor: Compactor,
        log: SessionLog,
        context: ModelContext,
        models: ModelChoice,
        *,
        settings: Callable[[], CompactionSettings],
        emit: Callable[[SessionEvent], None],
        fresh_id: Callable[[], str],
    ) -> None:
        self._compactor = compactor
        self._log = log
        self._context = context
        self._models = models
        self._settings = settings
        self._emit = emit
        self._fresh_id = fresh_id
        self._fuse = Fuse()
        self._quiet_until = 0
        self._unreachable = UnreachableThreshold(emit)
        self._is_lightened = False
        """Pictures and giant results were taken out for the message at work; a second time would find none."""

    async def before_prompt(self, incoming: Sequence[QueuedMessage], abort: Abort) -> None:
        tokens = sum(self._context.estimate(user_message(message.content, timestamp=0)) for message in incoming)
        await self._carry_out(self._decide("beforePrompt", incoming_tokens=tokens), abort)
        if incoming:
            self._fuse, self._quiet_until, self._is_lightened = Fuse(), 0, False

    async def between_turns(self, abort: Abort) -> None:
        await self._carry_out(self._decide("betweenTurns"), abort)

    async def after_attempt(self, answer: Answer, abort: Abort) -> bool:
        """Whether the model is to be asked again, in the smaller context."""
        self._fuse = self._fuse.after_answer(answer.message)
        if answer.failure is not None and answer.failure.kind == "payloadBytes":
            return self._lighten()
        overflowed = answer.failure is not None and answer.failure.kind == "overflow"
        return await self._carry_out(self._decide("afterRun", overflowed=overflowed), abort)

    def _lighten(self) -> bool:
        """After a refusal of the bytes: take out what is heavy and leave the failed try out; whether to ask again."""
        edits = payload_edits(self._log.projection.messages, self._weigh)
        failed = last_answer(self._log.path)
        if self._is_lightened or not edits or failed is None:
            return False
        self._is_lightened = True
        for fields in edits:
            self._log.append("context_edit", fields)
        self._log.omit([failed.id])
        return True

    def _weigh(self, text: str) -> int:
        return math.ceil(self._context.estimate.rule.weigh(text))

    def rest(self) -> None:
        """The threshold rests until the context grew: somebody undid a compaction, and wants it so."""
        self._quiet_until = quiet_until(self._context.tokens(), self._context.window)

    async def _carry_out(self, decision: Decision, abort: Abort) -> bool:
        match decision:
            case LeaveAlone():
                return False
            case Compact("threshold") if self._is_out_of_reach():
                self._give_up()
                return False
            case Compact(reason, will_retry, omit):
                self._log.omit(omit)
                if will_retry:
                    self._fuse = self._fuse.used()
                try:
                    await self._compactor.compact(reason, CompactionOptions(), aborts=[abort], will_retry=will_retry)
                except NothingToCompact:
                    if reason == "threshold" and self._is_above_threshold():
                        self._give_up()
                    return False
                except (RequestError, CompactionFailed, CompactionCancelled):
                    # Said by compaction_end where there was one; the run goes on or settles with what it has.
                    if reason == "threshold":
                        # What failed now would fail at each turn, and each try may be paid for.
                        self.rest()
                    return False
                self.rest()
                if self._is_above_threshold():
                    self._give_up()
                return will_retry
            case FuseSpent(announce):
                if announce:
                    self._fuse = self._fuse.told()
                    self._emit(CompactionEnd(self._fresh_id(), "overflow", "failed", False, None, _FUSE_MESSAGE))
                return False
            case NeverFits(tokens, room):
                raise ContextOverflow(
                    f"This message needs about {tokens} tokens and the model's window has {room}: it can never fit. "
                    "Make it shorter, put long material into a file, or choose a model with a larger window."
                )

    def _is_above_threshold(self) -> bool:
        threshold = self._compactor.threshold()
        return threshold is not None and self._context.tokens() > threshold

    def _is_out_of_reach(self) -> bool:
        """Whether system prompt and tools alone are above the threshold, by the ruler of the context's size."""
        threshold, tokens = self._compactor.threshold(), self._context.tokens()
        if threshold is None or tokens <= threshold or not is_credible(self._scale(tokens)):
            return False
        return self._fixed_tokens(tokens) > threshold

    def _fixed_tokens(self, tokens: int) -> int:
        return round(self._context.system_tokens() * self._scale(tokens))

    def _scale(self, tokens: int) -> float:
        estimated = estimate_afresh((item.message for item in self._log.projection.messages), self._context.estimate)
        return tokens / estimated if estimated else 1.0

    def _give_up(self) -> None:
        model, threshold, tokens = self._models.model, self._compactor.threshold(), self._context.tokens()
        if model is not None and threshold is not None:
            self._unreachable.give_up(
                tokens=tokens,
                fixed_tokens=self._fixed_tokens(tokens),
                threshold=threshold,
                window=self._context.window,
            )

    def _decide(self, check_point: CheckPoint, *, incoming_tokens: int = 0, overflowed: bool = False) -> Decision:
        """`overflowed`: the call that just failed said so, be it in words that the stored text does not have."""
        model = self._models.model
        if model is None:
            return LeaveAlone("there is no model")
        message = last_answer(self._log.path)
        answer = message.message if message is not None and message.message["role"] == "assistant" else None
        return decide_compaction(
            CompactionState(
                check_point=check_point,
                budget=compaction_budget(self._settings()),
                window=self._context.window,
                provider=model.provider,
                model_id=model.id,
                max_tokens=model.max_tokens,
                path=self._log.path,
                projection=self._log.projection,
                tokens=self._context.tokens(),
                overflow_reported=overflowed or (answer is not None and _reports_overflow(answer, model)),
                incoming_tokens=incoming_tokens,
                fixed_tokens=self._context.system_tokens() if incoming_tokens else 0,
                quiet_until=max(self._quiet_until, self._unreachable.rests_until(self._compactor.threshold())),
                fuse=self._fuse,
            ),
            message,
        )


def _reports_overflow(answer: AssistantMessage, model: Model) -> bool:
    """From the stored text, so that a session opened again knows it too."""
    message = answer.get("errorMessage")
    if answer["stopReason"] != "error" or message is None:
        return False
    return classify(provider=model.provider, body=message, window=model.context_window).kind == "overflow"
