"""What the engine may ask of whoever embeds it. Knows no wire; without a client everything has its safe default."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from rpc_agent.extensions.api import NoticeLevel

PermissionAnswer = Literal[
    "allow_once", "allow_always", "reject_once", "reject_always", "dismissed", "unanswered", "unavailable"
]
"""`unavailable`: there is nobody to ask. `dismissed`: they closed the question. `unanswered`: no usable answer came."""


class PermissionQuestion(Struct, frozen=True, kw_only=True):
    """`title` says in one line what the call would do."""

    session_id: str
    tool_call_id: str
    tool_name: str
    args: Mapping[str, Any]
    title: str


class LentTool(Struct, frozen=True, kw_only=True):
    """A tool of the client's. `input_schema` is the JSON Schema of its arguments."""

    name: str
    description: str
    input_schema: dict[str, Any]


class LentResult(Struct, frozen=True):
    """`content` is a text or content blocks as JSON, unchecked."""

    content: str | Sequence[Any]
    is_error: bool


class ClientPort(Protocol):
    """The client of a session, as far as it said what it can do. Only cancellation and ClientFailed are raised."""

    @property
    def answers_permissions(self) -> bool: ...
    @property
    def reads_files(self) -> bool: ...
    @property
    def writes_files(self) -> bool: ...
    @property
    def shows_ui(self) -> bool: ...
    @property
    def hooks(self) -> frozenset[str]: ...
    @property
    def tools(self) -> Sequence[LentTool]: ...

    async def request_permission(self, question: PermissionQuestion) -> PermissionAnswer: ...

    async def call_tool(
        self, session_id: str, tool_call_id: str, name: str, arguments: Mapping[str, Any]
    ) -> LentResult: ...

    async def run_hook(self, session_id: str, hook: str, event: Mapping[str, Any]) -> object:
        """The hook's answer, unchecked; None leaves everything as it is."""
        ...

    async def read_file(self, path: str) -> str | None:
        """The text as an editor has it; None when the client does not have the file."""
        ...

    async def write_file(self, path: str, content: str) -> bool:
        """Whether the client wrote it; else the caller does."""
        ...

    async def ui_select(self, session_id: str, title: str, options: Sequence[str]) -> str | None:
        """The option that was chosen; None when none was, or nobody answered."""
        ...

    async def ui_confirm(self, session_id: str, title: str, message: str | None) -> bool: ...

    async def ui_input(self, session_id: str, title: str, placeholder: str | None, value: str | None) -> str | None: ...

    async def ui_notify(self, session_id: str, level: NoticeLevel, message: str) -> None: ...


class ClientFailed(Exception):
    """The client refused, answered nonsense, was too slow or is gone; the message says which, for a model to read."""


class NoClient:
    """Nobody can be asked."""

    answers_permissions = False
    reads_files = False
    writes_files = False
    shows_ui = False
    hooks: frozenset[str] = frozenset()
    tools: Sequence[LentTool] = ()

    async def request_permission(self, question: PermissionQuestion) -> PermissionAnswer:
        return "unavailable"

    async def call_tool(
        self, session_id: str, tool_call_id: str, name: str, arguments: Mapping[str, Any]
    ) -> LentResult:
        raise ClientFailed("no client is there")

    async def run_hook(self, session_id: str, hook: str, event: Mapping[str, Any]) -> object:
        return None

    async def read_file(self, path: str) -> str | None:
        return None

    async def write_file(self, path: str, content: str) -> bool:
        return False

    async def ui_select(self, session_id: str, title: str, options: Sequence[str]) -> str | None:
        return None

    async def ui_confirm(self, session_id: str, title: str, message: str | None) -> bool:
        return False

    async def ui_input(self, session_id: str, title: str, placeholder: str | None, value: str | None) -> str | None:
        return None

    async def ui_notify(self, session_id: str, level: NoticeLevel, message: str) -> None:
        return None
