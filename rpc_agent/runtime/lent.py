"""What the client lends a session: its tools, its open files, and the person in front of it."""

import logging
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from rpc_agent.conversation.blocks import UserBlock, read_block, text_block
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.extensions.api import NoticeLevel
from rpc_agent.extensions.runner import unhurried
from rpc_agent.runtime.client_port import ClientFailed, ClientPort, LentResult, LentTool
from rpc_agent.tools.base import Tool, ToolContext, ToolResult, error_result
from rpc_agent.tools.function_tool import FunctionTool
from rpc_agent.tools.truncation import MAX_BYTES, MAX_LINES, truncate_head

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every service takes as the name of a tool; one bad name would fail every request."""
_logger = logging.getLogger(__name__)


def lent_tools(client: ClientPort, session_id: str) -> Sequence[Tool]:
    """The client's tools as they are offered at this moment.

    They count as reading: the client runs them itself, so what they may do is its own to decide. Rules still apply.
    """
    tools: list[Tool] = []
    for lent in client.tools:
        if _NAME.fullmatch(lent.name):
            tools.append(_tool(client, session_id, lent))
        else:
            _tell_of_bad_name(lent.name)
    return tools


@lru_cache
def _tell_of_bad_name(name: str) -> None:
    """Once, although the tools are asked for many times in every turn."""
    _logger.warning("the client's tool %r is not offered: no service takes that name", name)


def _tool(client: ClientPort, session_id: str, lent: LentTool) -> Tool:
    async def call(arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        try:
            answer = await client.call_tool(session_id, context.tool_call_id, lent.name, arguments)
        except ClientFailed as failure:
            return error_result(f"{lent.name} failed: {failure}. What it did before is unknown.")
        return _result(lent.name, answer)

    schema = {"type": "object", **lent.input_schema}
    return FunctionTool(spec=ToolSpec(lent.name, lent.description, schema), access="read", function=call)


def _result(name: str, answer: LentResult) -> ToolResult:
    given = [text_block(answer.content)] if isinstance(answer.content, str) else map(read_block, answer.content)
    blocks: list[UserBlock] = []
    for block in given:
        if block is None or block["type"] not in ("text", "image"):
            return error_result(f"{name} failed: the client answered with something that is neither text nor image.")
        blocks.append(_cut(block["text"]) if block["type"] == "text" else block)
    return ToolResult(tuple(blocks), is_error=answer.is_error)


def _cut(text: str) -> UserBlock:
    cut = truncate_head(text)
    if not cut.truncated:
        return text_block(text)
    return text_block(f"{cut.text}\n[Cut here: a result may have {MAX_LINES} lines or {MAX_BYTES // 1024} KiB.]")


class ClientEditor:
    """Implements the tools' Editor by a client that can read or write files, or neither."""

    def __init__(self, client: ClientPort) -> None:
        self._client = client

    @property
    def can_read(self) -> bool:
        return self._client.reads_files

    @property
    def can_write(self) -> bool:
        return self._client.writes_files

    async def read(self, path: str) -> str | None:
        return await self._client.read_file(path)

    async def write(self, path: str, content: str) -> bool:
        return await self._client.write_file(path, content)


class ClientPerson:
    """Implements the extensions' Person. While the person thinks, the hook that asked is not out of time."""

    def __init__(self, client: ClientPort, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    async def select(self, title: str, options: Sequence[str]) -> str | None:
        with unhurried():
            return await self._client.ui_select(self._session_id, title, options)

    async def confirm(self, title: str, message: str | None) -> bool:
        with unhurried():
            return await self._client.ui_confirm(self._session_id, title, message)

    async def input(self, title: str, placeholder: str | None, value: str | None) -> str | None:
        with unhurried():
            return await self._client.ui_input(self._session_id, title, placeholder, value)

    async def notify(self, message: str, level: NoticeLevel) -> None:
        with unhurried():
            await self._client.ui_notify(self._session_id, level, message)
