"""Values of the methods that start, steer and stop runs."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from rpc_agent.protocol.content import ImageContent, InputContent
from rpc_agent.protocol.messages import AnyUsage, StopReason
from rpc_agent.protocol.sessions import QueueMode
from rpc_agent.protocol.wire_model import NullIsAValue, SessionParams, SessionResult

Disposition = TypeAliasType("Disposition", Literal["started", "queued", "handled"])
"""What became of a message."""


class LeafGuardParams(SessionParams):
    """What every method takes that must not act on a branch the client does not know."""

    expected_leaf_id: Annotated[str | None, NullIsAValue] = None
    """The leafId that the client believes in (null: an empty session). When it is another, nothing happens and the
    answer is leafMoved. Absent: not checked."""

    @property
    def checks_leaf(self) -> bool:
        """Whether `expected_leaf_id` was given; null counts as given."""
        return "expected_leaf_id" in self.model_fields_set


class MessageParams(SessionParams):
    """A message for the model."""

    message: str | list[InputContent]
    """Text, or blocks of text and images."""
    images: list[ImageContent] | None = None
    """Images to put behind the text."""


class PromptParams(LeafGuardParams, MessageParams):
    """A message for the model, and what to do when it is busy."""

    streaming_behavior: Literal["steer", "followUp"] | None = None
    """While a run goes on: `steer` delivers the message after the current tools, `followUp` when the run would stop.
    Absent: a busy session answers sessionBusy."""
    wait: bool | None = None
    """True: the answer comes when the message has been worked on. Absent: as soon as it is accepted."""
    max_turns: Annotated[int, Field(ge=1)] | None = None
    """Most model calls of the run. Absent: no limit."""
    timeout_ms: Annotated[int, Field(ge=1)] | None = None
    """Milliseconds until the run is aborted. Absent: no limit."""


class RunError(TypedDict):
    """Why a run failed."""

    code: int
    """As in the table of errors."""
    reason: str
    """As in the table of errors: providerFailed, contextOverflow, storageFailed."""


class PromptResult(SessionResult):
    """What became of the message; with `wait`, also what came of it."""

    disposition: Disposition
    """`started`: a run began. `queued`: it waits for the current run. `handled`: a command or extension took it."""
    runId: NotRequired[str]
    """The run that works on it. Absent while it is queued, and when it was handled."""
    stopReason: NotRequired[StopReason]
    """With `wait`: how it ended. A failing model is `error` here and never an error of the request."""
    text: NotRequired[str]
    """With `wait`: the last text of the model before the next user message; empty if there is none."""
    usage: NotRequired[AnyUsage]
    """With `wait`: tokens and cost of the model calls made for it."""
    model: NotRequired[str]
    """With `wait`: which model answered, "provider/modelId"."""
    errorMessage: NotRequired[str]
    """With `wait`, after an error: for people."""
    error: NotRequired[RunError]
    """With `wait`, after an error: for programs."""


class QueuedResult(SessionResult):
    """What became of the message."""

    disposition: Disposition
    """`started`: nothing was running, so a run began. `queued`: it waits for its turn."""


class ClearedQueue(SessionResult):
    """The messages that were taken out, to put back into the input field."""

    steering: list[str]
    """Texts of the steering messages, oldest first."""
    followUp: list[str]
    """Texts of the follow-up messages, oldest first."""


class QueuedMessage(TypedDict):
    """A message that waits."""

    text: str
    """Its text."""


class QueueResult(SessionResult):
    """The messages that wait."""

    steering: list[QueuedMessage]
    """Delivered after the current tools, oldest first."""
    followUp: list[QueuedMessage]
    """Delivered when the run would stop, oldest first."""


class SetQueueModeParams(SessionParams):
    """How many queued messages are delivered at once."""

    mode: QueueMode
    """All of them, or one for each turn."""


class IdleResult(SessionResult):
    """How the last run ended."""

    stopReason: StopReason | None
    """Null: there was none yet."""
    text: str
    """The last text of the model; empty if there is none."""
    aborted: bool
    """True: somebody stopped it."""


class RunStarted(SessionResult):
    """The run that goes on."""

    runId: str
    """Its id, in all its notifications."""


class BashParams(SessionParams):
    """A command that the user runs, to be seen by the model too."""

    command: Annotated[str, Field(min_length=1)]
    """For the shell, in the session's working directory."""
    exclude_from_context: bool | None = None
    """True: the model is not shown it."""
    timeout: Annotated[float, Field(gt=0)] | None = None
    """Seconds until it is killed. Absent: no limit."""


class BashResult(SessionResult):
    """What the command did."""

    output: str
    """stdout and stderr as they came, the end of it when long."""
    exitCode: int | None
    """Null: killed before it ended."""
    cancelled: bool
    """True: stopped by abort_bash, $/cancelRequest or the timeout."""
    truncated: bool
    """True: `output` is only the end of it."""
    fullOutputPath: NotRequired[str]
    """A file with all of it, when truncated."""


class EnabledParams(SessionParams):
    """A switch."""

    enabled: bool
    """On or off, for this session."""
