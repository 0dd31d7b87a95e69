"""The engine's questions to the client, as requests over the wire: each with its time limit and its safe default.

A client that dies, never answers, answers twice or answers nonsense blocks nothing for ever.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from rpc_agent.extensions.api import NoticeLevel
from rpc_agent.protocol.client_requests import CLIENT_REQUESTS
from rpc_agent.protocol.param_faults import faults, in_words
from rpc_agent.rpc.errors import Disconnected, RpcError
from rpc_agent.rpc.peer import Peer
from rpc_agent.runtime.client_port import (
    ClientFailed,
    LentResult,
    LentTool,
    PermissionAnswer,
    PermissionQuestion,
)
from rpc_agent.server.capabilities import ClientCapabilities

_OPTIONS: tuple[tuple[PermissionAnswer, str], ...] = (
    ("allow_once", "Allow"),
    ("allow_always", "Allow for this session"),
    ("reject_once", "Reject"),
    ("reject_always", "Reject for this session"),
)
_logger = logging.getLogger(__name__)


class WireClient:
    """Implements the runtime's ClientPort for one connection; capabilities may change with a second `initialize`."""

    def __init__(self, peer: Peer, capabilities: Callable[[], ClientCapabilities]) -> None:
        self._peer = peer
        self._capabilities = capabilities

    @property
    def answers_permissions(self) -> bool:
        return self._capabilities().answers_permissions

    @property
    def reads_files(self) -> bool:
        return self._capabilities().reads_files

    @property
    def writes_files(self) -> bool:
        return self._capabilities().writes_files

    @property
    def shows_ui(self) -> bool:
        return self._capabilities().shows_ui

    @property
    def hooks(self) -> frozenset[str]:
        return self._capabilities().hooks

    @property
    def tools(self) -> Sequence[LentTool]:
        return [
            LentTool(name=name, description=description, input_schema=schema)
            for name, description, schema in self._capabilities().tools
        ]

    async def request_permission(self, question: PermissionQuestion) -> PermissionAnswer:
        if not self.answers_permissions:
            return "unavailable"
        params = {
            "sessionId": question.session_id,
            "toolCallId": question.tool_call_id,
            "toolName": question.tool_name,
            "args": dict(question.args),
            "title": question.title,
            "options": [{"id": kind, "label": label, "kind": kind} for kind, label in _OPTIONS],
        }
        try:
            answer = await self._ask("request_permission", params)
        except ClientFailed as failure:
            _logger.warning("request_permission for %s: %s", question.tool_name, failure)
            return "unanswered"
        chosen = getattr(answer, "option_id", None)
        if chosen is None:
            return "dismissed"
        known = next((kind for kind, _ in _OPTIONS if kind == chosen), None)
        if known is None:
            _logger.warning(
                "request_permission for %s: the client answered optionId %r; it can be one of %s",
                question.tool_name,
                chosen,
                ", ".join(kind for kind, _ in _OPTIONS),
            )
        return known or "unanswered"

    async def call_tool(
        self, session_id: str, tool_call_id: str, name: str, arguments: Mapping[str, Any]
    ) -> LentResult:
        answer = await self._ask(
            "call_tool",
            {"sessionId": session_id, "toolCallId": tool_call_id, "name": name, "arguments": dict(arguments)},
        )
        content = answer.content
        blocks = content if isinstance(content, str) else [block.to_wire() for block in content]
        return LentResult(blocks, answer.is_error or False)

    async def run_hook(self, session_id: str, hook: str, event: Mapping[str, Any]) -> object:
        answer = await self._ask("run_hook", {"sessionId": session_id, "hook": hook, "event": dict(event)})
        return answer.root

    async def read_file(self, path: str) -> str | None:
        try:
            return str((await self._ask("read_file", {"path": path})).content)
        except ClientFailed:
            return None

    async def write_file(self, path: str, content: str) -> bool:
        try:
            await self._ask("write_file", {"path": path, "content": content})
        except ClientFailed:
            return False
        return True

    # For extensions in Python: whatever goes wrong, their question has its safe answer.

    async def ui_select(self, session_id: str, title: str, options: Sequence[str]) -> str | None:
        offered = [{"id": str(number), "label": label} for number, label in enumerate(options)]
        answer = await self._ask_person("ui_select", {"sessionId": session_id, "title": title, "options": offered})
        chosen = None if answer is None else answer.option_id
        return next((label for number, label in enumerate(options) if str(number) == chosen), None)

    async def ui_confirm(self, session_id: str, title: str, message: str | None) -> bool:
        params = {"sessionId": session_id, "title": title, **_given(message=message)}
        answer = await self._ask_person("ui_confirm", params)
        return answer is not None and answer.confirmed is True

    async def ui_input(self, session_id: str, title: str, placeholder: str | None, value: str | None) -> str | None:
        params = {"sessionId": session_id, "title": title, **_given(placeholder=placeholder, value=value)}
        answer = await self._ask_person("ui_input", params)
        return None if answer is None or answer.cancelled or answer.text is None else str(answer.text)

    async def ui_notify(self, session_id: str, level: NoticeLevel, message: str) -> None:
        await self._ask_person("ui_notify", {"sessionId": session_id, "level": level, "message": message})

    async def _ask_person(self, name: str, params: Mapping[str, Any]) -> Any:
        """The answer; None without the capability, and when the client failed."""
        if not self.shows_ui:
            return None
        try:
            return await self._ask(name, params)
        except ClientFailed as failure:
            _logger.warning("%s: %s", name, failure)
            return None

    async def _ask(self, name: str, params: Mapping[str, Any]) -> Any:
        """The answer as the row's result model. Raises ClientFailed."""
        row = CLIENT_REQUESTS[name]
        try:
            answer = await self._peer.request(name, dict(params), timeout=row.timeout)
            return row.result.model_validate(answer, by_alias=True, by_name=False)
        except RpcError as error:
            raise ClientFailed(f"the client refused: {error.message}") from error
        except ValidationError as error:
            # In our words: pydantic's show the values, which may be secrets.
            problems = in_words(faults(error, answer if isinstance(answer, Mapping) else {}, row.result))
            _logger.warning("the client's answer to %s cannot be used: %s", name, problems)
            raise ClientFailed("the client answered with something that cannot be used") from error
        except TimeoutError as error:
            raise ClientFailed(f"the client did not answer within {row.timeout:g} s") from error
        except Disconnected as error:
            raise ClientFailed("the client can no longer answer") from error


def _given(**fields: str | None) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value is not None}
