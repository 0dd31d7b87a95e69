"""The port between the agent and a tool, and what a tool answers."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from rpc_agent.conversation.blocks import UserBlock, text_block
from rpc_agent.conversation.tool_spec import ToolSpec


class ToolResult(Struct, frozen=True):
    """What the model is told (`content`), and what a front end may show besides (`details`)."""

    content: tuple[UserBlock, ...]
    is_error: bool = False
    details: Any = None
    ends_run: bool = False
    """The tool asks that the run stops after this batch."""


def text_result(text: str, *, details: Any = None) -> ToolResult:
    return ToolResult((text_block(text),), details=details)


def error_result(text: str, *, details: Any = None) -> ToolResult:
    return ToolResult((text_block(text),), is_error=True, details=details)


class Editor(Protocol):
    """A program in which files may be open with changes that are not on the disk yet. Paths are absolute."""

    @property
    def can_read(self) -> bool: ...

    @property
    def can_write(self) -> bool: ...

    async def read(self, path: str) -> str | None:
        """The text as it shows it; None when it does not have the file."""
        ...

    async def write(self, path: str, content: str) -> bool:
        """Whether it took the file's new text; else the caller writes to the disk."""
        ...


class NoEditor:
    """The disk is all there is."""

    can_read = False
    can_write = False

    async def read(self, path: str) -> str | None:
        return None

    async def write(self, path: str, content: str) -> bool:
        return False


class ToolContext(Struct, frozen=True, kw_only=True):
    """What a call gets beside its arguments."""

    cwd: Path
    tool_call_id: str
    update: Callable[[ToolResult], None] = lambda partial: None
    """Shows a partial result to the front end; cheap, never waits."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The whole environment of child processes, keys already taken out."""
    editor: Editor = field(default_factory=NoEditor)
    permitted_path: Path | None = None
    """Where the argument `path` led when the call was permitted: nothing else may be opened."""


class Tool(Protocol):
    """One tool. `run` gets arguments that fit the schema and raises only when cancelled."""

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def access(self) -> Literal["read", "write", "execute"]:
        """What it does to the machine; permissions decide by it."""
        ...

    @property
    def sequential(self) -> bool:
        """Whether the whole batch it is in must run one call after another."""
        ...

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult: ...
