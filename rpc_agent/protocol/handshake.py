"""Values of `initialize` and of the few messages about the connection itself.

What a client says of its capabilities is read leniently: an unknown word is ignored, a value that cannot be
understood counts as not said, because a client of a later version must still be served.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from typing_extensions import TypedDict

from rpc_agent.protocol.wire_model import JsonObject, WireModel


def _or_absent(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    return next(_understood(value, validate), None)


def _usable_items(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    """Of an array the items that can be understood; of anything else nothing."""
    if not isinstance(value, list):
        return None
    return [item for each in value for found in _understood([each], validate) for item in found]


def _understood(value: Any, validate: ValidatorFunctionWrapHandler) -> Iterator[Any]:
    try:
        yield validate(value)
    except ValidationError:
        return


def _as_switch(value: Any) -> Any:
    # LSP and ACP clients say `{}` for "I have it".
    return True if isinstance(value, dict) else value


Lenient = WrapValidator(_or_absent)
LenientItems = WrapValidator(_usable_items)
Switch = Annotated[bool | None, Lenient, BeforeValidator(_as_switch)]


class LenientModel(WireModel):
    """Something that may hold words of a later version."""

    model_config = ConfigDict(extra="ignore")


class ClientInfo(WireModel):
    """Who is speaking, for the server's log."""

    name: str
    """The program's name, such as my-editor."""
    version: str | None = None
    """The program's version."""
    title: str | None = None
    """The program's name for people."""


class FileSystemCapability(LenientModel):
    """Which files the client lends: unsaved editor buffers win over the disk."""

    read: Switch = None
    """True: the client answers read_file."""
    write: Switch = None
    """True: the client answers write_file."""


class ClientTool(LenientModel):
    """A tool that the client runs itself."""

    name: str
    """What the model calls it; letters, digits, - and _."""
    description: str
    """Tells the model what it does and when to use it."""
    input_schema: JsonObject
    """JSON Schema of its arguments, an object."""


class ClientCapabilities(LenientModel):
    """What the client can do for the server. What is not said is not there."""

    permissions: Switch = None
    """True: the client answers request_permission; the permission mode is then `ask` unless something else was set."""
    hooks: Annotated[list[str] | None, LenientItems] = None
    """Hooks that the client answers with run_hook, such as session_before_compact."""
    ui: Switch = None
    """True: the client answers ui_select, ui_confirm, ui_input and ui_notify."""
    file_system: Annotated[FileSystemCapability | None, Lenient] = None
    """Which file requests the client answers."""
    tools: Annotated[list[ClientTool] | None, LenientItems] = None
    """Tools that the client runs by call_tool."""
    opt_out_notifications: Annotated[list[str] | None, LenientItems] = None
    """Notifications that are not to be sent. They take no `seq`, so the numbers stay without gaps."""
    deltas: Annotated[Literal["each", "merged", "none"] | None, Lenient] = None
    """How a streamed answer is sent. `each` (default): every delta; `merged`: at most one a block in 16 ms;
    `none`: only starts and ends."""
    abort_on_eof: Switch = None
    """True: the end of stdin aborts everything, also requests that still wait for their answers."""


class InitializeParams(WireModel):
    """Who the client is and what it can do."""

    protocol_version: int | str
    """1. A version the server does not know gets the newest that it speaks."""
    client_info: ClientInfo | None = None
    """Who is speaking."""
    process_id: int | None = None
    """The client's process id: the server ends when that process has died."""
    capabilities: Annotated[ClientCapabilities | None, Lenient] = None
    """What the client can do. Absent: nothing, so the server asks nothing."""


class ServerInfo(TypedDict):
    """Who is answering."""

    name: str
    """rpc-agent."""
    version: str
    """The server's version, such as 0.1.0; not the protocol's."""


class ServerCapabilities(TypedDict):
    """What this server offers, by name. Ask here instead of comparing versions."""

    methods: list[str]
    """Methods that it answers."""
    notifications: list[str]
    """Notifications that it may send."""
    serverRequests: list[str]
    """Requests that it may send to a client with the capability."""


class Limits(TypedDict):
    """How much the server takes at once."""

    maxMessageBytes: int
    """A larger message is skipped and answered messageTooLarge."""
    maxInFlight: int
    """With more requests unanswered than this, the next one is answered overloaded."""


class InitializeResult(TypedDict):
    """What the server is."""

    protocolVersion: int
    """The version that is spoken from here on."""
    serverInfo: ServerInfo
    """Who is answering."""
    capabilities: ServerCapabilities
    """What it offers."""
    limits: Limits
    """How much it takes."""


class CancelRequestParams(WireModel):
    """The request that need not go on."""

    id: str | int | float | None
    """The id that the request was sent with."""


class CancelRequestIdParams(WireModel):
    """The request that need not go on, as ACP spells it."""

    request_id: str | int | float | None
    """The id that the request was sent with."""
