"""The hooks of one session: extensions first, then the client. Asks and reads answers; what follows is for others.

A fault is an `ExtensionError` and nothing else, but for `tool_call`, where it blocks.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from rpc_agent.conversation.blocks import ToolCallBlock, UserBlock, read_block, text_block
from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.extensions.api import Asked, ExtensionApi, Person
from rpc_agent.extensions.hooks import (
    BadAnswer,
    Block,
    Cancel,
    HookName,
    InputAnswer,
    TreeAnswer,
    read_before_tree,
    read_input,
    read_tool_call,
    read_tool_result,
)
from rpc_agent.extensions.loader import LoadFault
from rpc_agent.extensions.runner import HOOK_SECONDS, HookFailed, HookFault, HookRunner, HookSource, PythonExtension
from rpc_agent.runtime.client_port import ClientFailed, ClientPort
from rpc_agent.runtime.events import ExtensionError, SessionEvent
from rpc_agent.tools.base import ToolResult

CLIENT = "client"
"""Whom a fault of the client's is reported as."""


class ClientSource:
    """The client as one more extension: the last one asked."""

    name = CLIENT

    def __init__(self, client: ClientPort, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    def hears(self, hook: HookName) -> bool:
        return hook in self._client.hooks

    async def ask(self, hook: HookName, event: dict[str, Any]) -> object:
        try:
            return await self._client.run_hook(self._session_id, hook, event)
        except ClientFailed as failure:
            raise HookFailed(str(failure)) from failure


class SessionHooks:
    def __init__(
        self,
        extensions: Iterable[ExtensionApi],
        client: ClientPort,
        session_id: str,
        emit: Callable[[SessionEvent], None],
        *,
        person: Person,
        unloaded: Sequence[LoadFault] = (),
        seconds: float = HOOK_SECONDS,
    ) -> None:
        """`unloaded` is told with the first message, when somebody listens."""
        asked = Asked(session_id, person)
        sources: list[HookSource] = [PythonExtension(api, asked) for api in extensions]
        sources.append(ClientSource(client, session_id))
        self._emit = emit
        self._unloaded = list(unloaded)
        self.runner = HookRunner(lambda: sources, self._report, seconds=seconds)

    def is_heard(self, hook: HookName) -> bool:
        return self.runner.is_heard(hook)

    def _report(self, fault: HookFault) -> None:
        self._emit(ExtensionError(fault.extension, fault.hook, fault.error))

    # The message that comes in

    async def input(self, text: str, images: Sequence[UserBlock]) -> InputAnswer:
        """What becomes of a message: another text (None: the same), or handled."""
        for fault in self._unloaded:
            self._emit(ExtensionError(fault.extension, "load", fault.error))
        self._unloaded.clear()
        handled = False

        def apply(event: dict[str, Any], answer: InputAnswer) -> dict[str, Any] | None:
            nonlocal handled
            handled = answer.handled
            if handled:
                return None
            return event if answer.text is None else {**event, "text": answer.text}

        event = await self.runner.chain("input", {"text": text, "images": list(images)}, read_input, apply)
        return InputAnswer(text=None if event["text"] == text else event["text"], handled=handled)

    # Tools

    async def tool_call(self, call: ToolCallBlock) -> ToolCallBlock | Block:
        """The call, its arguments perhaps changed; or why it is not made."""
        blocked: Block | None = None

        def apply(event: dict[str, Any], answer: Block | JsonObject) -> dict[str, Any] | None:
            nonlocal blocked
            if isinstance(answer, Block):
                blocked = answer
                return None
            return {**event, "args": answer}

        read: Callable[[object], Block | JsonObject | None] = read_tool_call
        event = await self.runner.chain("tool_call", _call(call), read, apply, on_fault=_blocks)
        if blocked is not None:
            return blocked
        return call if event["args"] is call["arguments"] else {**call, "arguments": event["args"]}

    async def tool_result(self, call: ToolCallBlock, result: ToolResult) -> ToolResult:
        """The result as the model is to see it."""
        if not self.is_heard("tool_result"):
            return result
        event: dict[str, Any] = {**_call(call), "result": _shown(result), "isError": result.is_error}

        def apply(event: dict[str, Any], answer: JsonObject) -> dict[str, Any]:
            shown = {name: answer[name] for name in ("content", "details") if name in answer}
            return {
                **event,
                "result": {**event["result"], **shown},
                "isError": answer.get("isError", event["isError"]) is True,
            }

        changed = await self.runner.chain("tool_result", event, _read_result, apply)
        shown = changed["result"]
        return ToolResult(
            tuple(shown["content"]), changed["isError"], details=shown.get("details"), ends_run=result.ends_run
        )

    # The tree

    async def before_tree(self, preparation: JsonObject) -> Cancel | TreeAnswer:
        """Anybody's veto, else what each field was answered with first."""
        answers: Sequence[Cancel | TreeAnswer] = await self.runner.ask_each(
            "session_before_tree",
            {"preparation": preparation},
            read_before_tree,
            ends=lambda answer: isinstance(answer, Cancel),
        )
        merged = TreeAnswer()
        for answer in answers:
            if isinstance(answer, Cancel):
                return answer
            merged = _merged(merged, answer)
        return merged

    async def tell(self, hook: HookName, event: Mapping[str, Any]) -> None:
        await self.runner.tell(hook, event)


def _merged(first: TreeAnswer, later: TreeAnswer) -> TreeAnswer:
    has_summary = first.summary is not None
    return TreeAnswer(
        summary=first.summary if has_summary else later.summary,
        details=first.details if has_summary else later.details,
        custom_instructions=_first(first.custom_instructions, later.custom_instructions),
        replace_instructions=_first(first.replace_instructions, later.replace_instructions),
        label=_first(first.label, later.label),
    )


def _first(first: Any, later: Any) -> Any:
    return later if first is None else first


def _call(call: ToolCallBlock) -> dict[str, Any]:
    return {"toolCallId": call["id"], "toolName": call["name"], "args": call["arguments"]}


def _shown(result: ToolResult) -> dict[str, Any]:
    shown: dict[str, Any] = {"content": list(result.content)}
    return shown if result.details is None else {**shown, "details": result.details}


def _blocks(fault: HookFault) -> Block | JsonObject:
    return Block(
        f"This call was not made: {fault.extension}, which checks calls, could not do so ({fault.error}). "
        "Go on without it, or tell the user."
    )


def _read_result(answer: object) -> JsonObject | None:
    fields = read_tool_result(answer)
    return None if fields is None else {**fields, "content": read_content(fields["content"])}


def read_content(content: object) -> list[UserBlock]:
    """Text or image blocks. Raises BadAnswer when one of them is neither."""
    if isinstance(content, str):
        return [text_block(content)] if content else []
    blocks = [read_block(item) for item in content] if isinstance(content, list) else [None]
    if any(block is None or block["type"] not in ("text", "image") for block in blocks):
        raise BadAnswer("content is a text or a list of text and image blocks")
    return cast(list[UserBlock], blocks)
