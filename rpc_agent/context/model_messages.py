"""The projection -> the messages a service is sent, with everything a service would refuse taken out.

Holds the checked invariant: one leading system message at most, each tool call has its one result right behind its
message, no empty blocks, no lone surrogates, no reasoning of another model. Knows no service and no API.
"""

import itertools
from collections import deque
from collections.abc import Sequence

from rpc_agent.context.growing import Growing, Headed, View
from rpc_agent.context.model_blocks import Recipient, assistant_for, shown_content, tool_result_for
from rpc_agent.context.narration import narrated
from rpc_agent.context.projection import ProjectedMessage, Projection
from rpc_agent.context.system_state import SystemState, patched, render_state
from rpc_agent.conversation.blocks import AssistantBlock, ToolCallBlock, UserBlock, text_block
from rpc_agent.conversation.json_values import without_lone_surrogates
from rpc_agent.conversation.messages import (
    AssistantMessage,
    Message,
    ModelMessage,
    SystemMessage,
    ToolResultMessage,
    UserMessage,
    tool_calls,
)

_NO_RESULT = "This call has no recorded result: it was interrupted, or its result was removed. It may have had effects."


def model_messages(projection: Projection, recipient: Recipient) -> list[ModelMessage]:
    """What `recipient` is sent for `projection`, checked. Use a `ModelMessages` where the same branch is sent again."""
    return list(ModelMessages(recipient).update(projection))


class ModelMessages:
    """The conversion of a growing projection: only what is new is converted, what stayed keeps its object."""

    def __init__(self, recipient: Recipient) -> None:
        self._recipient = recipient
        self._converted: dict[int, tuple[Message, ModelMessage | None]] = {}
        self._last: Sequence[ProjectedMessage]
        self._start_over()

    def update(self, projection: Projection) -> Headed[ModelMessage]:
        """The messages to send now: a view that never changes, as the messages in it never do."""
        messages = projection.messages
        if not self._is_continued_by(messages):
            self._start_over()
        # Looked up by index: an iterator would walk over what is already converted.
        for at in range(len(self._seen), len(messages)):
            self._add(messages[at])
        self._last = messages
        return Headed(self._system, self._sent.view())

    def _is_continued_by(self, messages: Sequence[ProjectedMessage]) -> bool:
        """Whether what was converted is still the beginning of the projection."""
        if isinstance(messages, View) and messages.continues(self._last):
            return True
        # Rebuilt after an edit or on another branch: any message may differ, so each is compared, by identity.
        seen = self._seen
        return len(seen) <= len(messages) and all(mine is theirs for mine, theirs in zip(seen, messages, strict=False))

    def _start_over(self) -> None:
        self._seen: list[ProjectedMessage] = []
        self._last = ()
        self._sent: Growing[ModelMessage] = Growing()
        self._system: tuple[SystemMessage, ...] = ()
        self._state = SystemState()
        self._places: dict[str, deque[int]] = {}
        previous, self._converted = self._converted, {}
        self._previous = previous

    def _add(self, item: ProjectedMessage) -> None:
        self._seen.append(item)
        message = item.message
        match message["role"]:
            case "system":
                self._patch_system(message)
            case "assistant":
                self._add_assistant(message)
            case "toolResult":
                self._add_result(message)
            case _:
                converted = self._once(message)
                if converted is not None:
                    self._sent.append(converted)

    def _patch_system(self, message: SystemMessage) -> None:
        # Patches become part of the one leading message: many chat templates refuse a system message further down.
        self._state = patched(self._state, message)
        text = without_lone_surrogates(render_state(self._state))
        self._system = ({"role": "system", "content": text, "timestamp": message["timestamp"]},) if text.strip() else ()

    def _add_assistant(self, message: AssistantMessage) -> None:
        calls = tool_calls(message)
        for call in calls:
            # Some servers count call ids anew in each answer: the results that follow belong to the newest.
            self._places.pop(call["id"], None)
        converted = None if message["stopReason"] in ("error", "aborted") else self._once(message)
        if converted is None:
            return
        self._sent.append(converted)
        for call, sent in zip(calls, _sent_calls(converted), strict=True):
            self._places.setdefault(call["id"], deque()).append(len(self._sent))
            self._sent.append(_missing_result(sent["id"], call["name"], message["timestamp"]))

    def _add_result(self, message: ToolResultMessage) -> None:
        """A result takes the place kept for it; one whose call is gone, or already has a result, is left out."""
        places = self._places.get(message["toolCallId"])
        converted = self._once(message) if places else None
        if places and converted is not None:
            at = places.popleft()
            result = self._with_call_id(message, converted, self._sent[at])
            self._sent = self._sent.with_item(at, result)

    def _with_call_id(self, message: Message, converted: ModelMessage, placeholder: ModelMessage) -> ModelMessage:
        """The result under the id that its call is sent with."""
        if converted["role"] != "toolResult" or placeholder["role"] != "toolResult":
            return converted
        if converted["toolCallId"] == placeholder["toolCallId"]:
            return converted
        renamed: ToolResultMessage = {**converted, "toolCallId": placeholder["toolCallId"]}
        self._converted[id(message)] = (message, renamed)
        return renamed

    def _once(self, message: Message) -> ModelMessage | None:
        known = self._converted.get(id(message)) or self._previous.get(id(message))
        if known is None or known[0] is not message:
            known = (message, _convert(message, self._recipient))
        self._converted[id(message)] = known
        return known[1]


def _convert(message: Message, recipient: Recipient) -> ModelMessage | None:
    match message["role"]:
        case "assistant":
            answer = assistant_for(message, recipient)
            return None if answer is None else _with_distinct_calls(answer)
        case "toolResult":
            return tool_result_for(message, recipient)
        case "user":
            return _user(message, message["content"], recipient)
        case "system":
            return message
        case _:
            content = narrated(message)
            return None if content is None else _user(message, content, recipient)


def _with_distinct_calls(message: AssistantMessage) -> AssistantMessage:
    """Small servers give several calls of one answer the same id, or none; a service would refuse them."""
    ids = [call["id"] for call in tool_calls(message)]
    if len(set(ids)) == len(ids) and all(ids):
        return message
    taken = set(ids)
    seen: set[str] = {""}
    blocks: list[AssistantBlock] = []
    for block in message["content"]:
        if block["type"] == "toolCall":
            if block["id"] in seen:
                name = block["id"] or "call"
                free = next(each for n in itertools.count(2) if (each := f"{name}_{n}") not in taken)
                taken.add(free)
                block = {**block, "id": free}
            seen.add(block["id"])
        blocks.append(block)
    return {**message, "content": blocks}


def _sent_calls(message: ModelMessage) -> list[ToolCallBlock]:
    return tool_calls(message) if message["role"] == "assistant" else []


def _user(message: Message, content: str | list[UserBlock], recipient: Recipient) -> UserMessage | None:
    shown = shown_content(content, recipient)
    if not shown:
        return None
    if message["role"] == "user" and shown is content:
        return message
    return {"role": "user", "content": shown, "timestamp": message["timestamp"]}


def _missing_result(call_id: str, name: str, timestamp: int) -> ToolResultMessage:
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": name,
        "content": [text_block(_NO_RESULT)],
        "isError": True,
        "timestamp": timestamp,
    }
