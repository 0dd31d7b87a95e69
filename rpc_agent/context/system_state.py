"""The system prompt as a state that messages patch. Replays, renders and compares it; decides no wording."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from rpc_agent.conversation.json_values import JsonObject, as_object, as_text
from rpc_agent.conversation.messages import Message, SystemMessage

_SEPARATOR = "\n\n"


class SystemState(Struct, frozen=True):
    """Texts without a name, named sections in their order, and the tools as they were declared."""

    text: str = ""
    sections: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[JsonObject, ...] = ()


def replay_system(messages: Iterable[Message]) -> SystemState | None:
    """The state after all system messages among `messages`; None when there is none."""
    state: SystemState | None = None
    for message in messages:
        if message["role"] == "system":
            state = patched(state or SystemState(), message)
    return state


def patched(state: SystemState, patch: SystemMessage) -> SystemState:
    """Texts are joined, sections replaced by name (null removes), tools removed and then added."""
    text = _SEPARATOR.join(part for part in (state.text, patch["content"]) if part)
    sections = dict(state.sections)
    for name, section in as_object(patch.get("sections")).items():
        if isinstance(section, str):
            sections[name] = section
        else:
            sections.pop(name, None)
    tools = {as_text(tool.get("name")): tool for tool in state.tools}
    for tool in _tools(patch.get("toolsRemoved")):
        tools.pop(as_text(tool.get("name")), None)
    for tool in _tools(patch.get("toolsAdded")):
        tools[as_text(tool.get("name"))] = tool
    return SystemState(text, sections, tuple(tools.values()))


def system_message(state: SystemState, *, timestamp: int) -> SystemMessage:
    """The one message that stands for the whole state: a compaction's snapshot, or the first of a session."""
    message: SystemMessage = {"role": "system", "content": state.text, "timestamp": timestamp}
    if state.sections:
        message["sections"] = dict(state.sections)
    if state.tools:
        message["toolsAdded"] = list(state.tools)
    return message


def render_system(message: SystemMessage) -> str:
    """The text of a system message as a model reads it: its content, then its sections."""
    return _render(message["content"], as_object(message.get("sections")))


def render_state(state: SystemState) -> str:
    return _render(state.text, state.sections)


def system_patch(old: SystemState, new: SystemState, *, timestamp: int) -> SystemMessage | None:
    """The message that turns `old` into `new`, or None when nothing changed.

    Unnamed text can only be added to: what `new` has beyond the text of `old` is the patch's content, and a text
    that does not begin with the old one is added whole. Whatever may change later belongs into a section.
    """
    sections: dict[str, str | None] = {name: None for name in old.sections if name not in new.sections}
    sections |= {name: text for name, text in new.sections.items() if old.sections.get(name) != text}
    had = {as_text(tool.get("name")): tool for tool in old.tools}
    has = {as_text(tool.get("name")): tool for tool in new.tools}
    added = [tool for name, tool in has.items() if had.get(name) != tool]
    removed = [{"name": name} for name in had if name not in has]
    text = new.text.removeprefix(old.text).removeprefix(_SEPARATOR) if new.text != old.text else ""
    if not (sections or added or removed or text):
        return None
    patch: SystemMessage = {"role": "system", "content": text, "timestamp": timestamp}
    if sections:
        patch["sections"] = sections
    if added:
        patch["toolsAdded"] = added
    if removed:
        patch["toolsRemoved"] = removed
    return patch


def _render(text: str, sections: Mapping[str, Any]) -> str:
    return _SEPARATOR.join(part for part in (text, *sections.values()) if isinstance(part, str) and part)


def _tools(value: object) -> list[JsonObject]:
    return [dict(as_object(tool)) for tool in value if as_object(tool)] if isinstance(value, list) else []
