"""Every request the server may send to a client that offered the capability, one row each, with its values.

Params go out, so they are TypedDicts; results come in, so they are models, and lenient: unknown fields are ignored.
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, Self

from msgspec import Struct
from pydantic import ConfigDict, RootModel, model_validator
from typing_extensions import TypedDict

from rpc_agent.protocol.content import InputContent
from rpc_agent.protocol.handshake import LenientModel
from rpc_agent.protocol.wire_model import SessionResult

_HOOK_SECONDS = 30
"""A hook stands in the way of a run."""
_FILE_SECONDS = 10
"""An editor answers from memory."""
_TOOL_SECONDS = 600
"""As long as a slow build."""
_PERSON_SECONDS = 15 * 60
"""A person may be at lunch, but not for ever."""


class PermissionOption(TypedDict):
    """One answer to choose from."""

    id: str
    """Give it back as optionId."""
    label: str
    """For people."""
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"]
    """`always` counts for the rest of this session."""


class RequestPermissionParams(SessionResult):
    """A tool wants to run."""

    toolCallId: str
    """The call's id."""
    toolName: str
    """The tool's name."""
    args: dict[str, Any]
    """Its arguments."""
    title: str
    """What it would do, one line for people."""
    options: list[PermissionOption]
    """What can be answered."""


class OptionResult(LenientModel):
    """What was chosen: an option, or cancelled: true."""

    option_id: str | None = None
    """The `id` of an option."""
    cancelled: bool | None = None
    """True: the person closed the question, or it is no longer of interest."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.option_id is None) != (self.cancelled is True):
            raise ValueError("give either optionId or cancelled: true")
        return self


class RunHookParams(SessionResult):
    """Something is about to happen, or has happened."""

    hook: str
    """The hook's name, one of those in initialize."""
    event: dict[str, Any]
    """What it is about; the shape is the hook's."""


class HookResult(RootModel[dict[str, Any] | None]):
    """The hook's answer; null leaves everything as it is."""

    model_config = ConfigDict(defer_build=True)


class CallToolParams(SessionResult):
    """The model asks for a tool of the client's."""

    toolCallId: str
    """The call's id."""
    name: str
    """The tool's name."""
    arguments: dict[str, Any]
    """They fit the tool's inputSchema."""


class CallToolResult(LenientModel):
    """What the tool answers."""

    content: str | list[InputContent]
    """What the model is told."""
    is_error: bool | None = None
    """True: the tool failed."""


class ReadFileParams(TypedDict):
    """A file that may be open in an editor."""

    path: str
    """Absolute path."""


class ReadFileResult(LenientModel):
    """The file's text, unsaved changes included."""

    content: str
    """All of it."""


class WriteFileParams(TypedDict):
    """A file to write."""

    path: str
    """Absolute path."""
    content: str
    """All of its new text."""


class DoneResult(LenientModel):
    """Nothing to say."""


class UiOption(TypedDict):
    """One thing to choose."""

    id: str
    """Give it back as optionId."""
    label: str
    """For people."""


class UiSelectParams(SessionResult):
    """A question with answers to choose from."""

    title: str
    """The question."""
    options: list[UiOption]
    """The answers."""


class UiConfirmParams(SessionResult):
    """A question with yes or no."""

    title: str
    """The question."""
    message: NotRequired[str]
    """More about it."""


class UiConfirmResult(LenientModel):
    """The answer."""

    confirmed: bool
    """False also when the question was closed."""


class UiInputParams(SessionResult):
    """A question with a text as its answer."""

    title: str
    """The question."""
    placeholder: NotRequired[str]
    """What to show while the field is empty."""
    value: NotRequired[str]
    """What the field holds at first."""


class UiInputResult(LenientModel):
    """The answer, or cancelled: true."""

    text: str | None = None
    """What was typed."""
    cancelled: bool | None = None
    """True: the question was closed."""


class UiNotifyParams(SessionResult):
    """Something to tell the person."""

    level: Literal["info", "warning", "error"]
    """How grave it is."""
    message: str
    """One or a few sentences."""


class ClientRequest(Struct, frozen=True):
    """One row. After `timeout` seconds without an answer, `safe_default` happens."""

    name: str
    params: type
    result: type[LenientModel] | type[HookResult]
    capability: str
    """The field of initialize.capabilities that allows it, dotted."""
    timeout: float
    safe_default: str
    summary: str
    since: int = 1


_ROWS = (
    ClientRequest(
        "request_permission",
        RequestPermissionParams,
        OptionResult,
        "permissions",
        _PERSON_SECONDS,
        "the tool is refused",
        "Ask the person whether a tool may run.",
    ),
    ClientRequest(
        "run_hook",
        RunHookParams,
        HookResult,
        "hooks",
        _HOOK_SECONDS,
        "the hook is passed over and extension_error sent; tool_call blocks",
        "Let the client look at something and change it.",
    ),
    ClientRequest(
        "call_tool",
        CallToolParams,
        CallToolResult,
        "tools",
        _TOOL_SECONDS,
        "the model is told that the tool failed",
        "Run a tool of the client's.",
    ),
    ClientRequest(
        "read_file",
        ReadFileParams,
        ReadFileResult,
        "fileSystem.read",
        _FILE_SECONDS,
        "the file is read from the disk",
        "Read a file as the editor shows it.",
    ),
    ClientRequest(
        "write_file",
        WriteFileParams,
        DoneResult,
        "fileSystem.write",
        _FILE_SECONDS,
        "the file is written to the disk",
        "Write a file through the editor.",
    ),
    ClientRequest(
        "ui_select",
        UiSelectParams,
        OptionResult,
        "ui",
        _PERSON_SECONDS,
        "cancelled",
        "Let the person choose.",
    ),
    ClientRequest(
        "ui_confirm",
        UiConfirmParams,
        UiConfirmResult,
        "ui",
        _PERSON_SECONDS,
        "not confirmed",
        "Ask the person yes or no.",
    ),
    ClientRequest(
        "ui_input",
        UiInputParams,
        UiInputResult,
        "ui",
        _PERSON_SECONDS,
        "cancelled",
        "Let the person type something.",
    ),
    ClientRequest(
        "ui_notify",
        UiNotifyParams,
        DoneResult,
        "ui",
        _PERSON_SECONDS,
        "nothing",
        "Tell the person something.",
    ),
)

CLIENT_REQUESTS: Mapping[str, ClientRequest] = {row.name: row for row in _ROWS}
