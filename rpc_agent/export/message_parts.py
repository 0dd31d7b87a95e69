"""A message -> the parts of its card. Pairs each tool call with its result where the caller found one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from rpc_agent.conversation.blocks import Block, ToolCallBlock, read_blocks
from rpc_agent.conversation.json_values import as_count, as_object, as_text
from rpc_agent.conversation.messages import (
    AssistantMessage,
    BashExecutionMessage,
    Message,
    SystemMessage,
    ToolResultMessage,
    message_text,
)
from rpc_agent.conversation.usage import total_cost
from rpc_agent.export.cards import Folded, Part, Picture, Prose, Remark, Verbatim
from rpc_agent.session.json_lines import write_json

Outcome = Callable[[ToolCallBlock], Folded | None]
"""The folded result of a call, None while there is none."""

_HINT = 100
# Longer than any line of the page: what does not fit is seen when the fold is opened.


def counted(count: int, noun: str, plural: str = "") -> str:
    """As "1 line" and "2 lines"; `plural` where that is not the noun with an s."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def content_parts(content: str | Sequence[Block]) -> tuple[Part, ...]:
    """Text and images of a person's message."""
    blocks = read_blocks(content) if isinstance(content, str) else content
    return tuple(part for block in blocks if (part := _shown(block, Prose)) is not None)


def answer_parts(message: AssistantMessage, outcome: Outcome) -> tuple[Part, ...]:
    """Thinking, text and calls in the order they came, and how the answer ended if it ended badly."""
    parts: list[Part] = []
    for block in message["content"]:
        match block["type"]:
            case "text":
                parts.append(Prose(block["text"]))
            case "thinking":
                parts.append(_thinking(block["thinking"]))
            case "toolCall":
                parts.append(_call(block, outcome(block)))
    return (*parts, *_ending(message))


def result_fold(message: ToolResultMessage, *, number: int, label: str | None, title: str) -> Folded:
    blocks = message["content"]
    parts = tuple(part for block in blocks if (part := _shown(block, Verbatim)) is not None)
    failed = message["isError"]
    return Folded(
        title=f"{title} (failed)" if failed else title,
        hint=_size(message_text(message)),
        parts=parts or (Remark("It printed nothing."),),
        tone="bad" if failed else "plain",
        number=number,
        label=label,
    )


def command_parts(message: BashExecutionMessage) -> tuple[Part, ...]:
    """A command that a person ran beside the model."""
    output = message["output"]
    remarks = []
    if message["cancelled"]:
        remarks.append(Remark("It was cancelled.", "bad"))
    elif message["exitCode"]:
        remarks.append(Remark(f"Exit code {message['exitCode']}.", "bad"))
    if message["truncated"]:
        place = as_text(message.get("fullOutputPath"))
        remarks.append(Remark(f"The output was cut; all of it is in {place}." if place else "The output was cut."))
    if message.get("excludeFromContext") is True:
        remarks.append(Remark("The model was not told of it."))
    shown = Folded("Output", _size(output), (Verbatim(output),)) if output.strip() else Remark("It printed nothing.")
    return (Verbatim(message["command"]), shown, *remarks)


def system_fold(message: SystemMessage, title: str) -> Folded:
    """The system prompt or a patch of it, with its sections and tools."""
    parts: list[Part] = [Prose(message["content"])] if message["content"] else []
    for name, text in as_object(message.get("sections")).items():
        parts += [Remark(f"Section {name}" + (" was removed" if text is None else "")), *_prose(as_text(text))]
    for field, word in (("toolsAdded", "Tools"), ("toolsRemoved", "Tools removed")):
        tools = message.get(field)
        names = [as_text(as_object(tool).get("name")) for tool in tools] if isinstance(tools, list) else []
        if names:
            parts.append(Remark(f"{word}: {', '.join(names)}"))
    return Folded(title, _size(message["content"]), tuple(parts), tone="dim")


def message_parts(message: Message) -> tuple[Part, ...]:
    """Any message on its own, its calls without their results."""
    match message["role"]:
        case "system":
            return (system_fold(message, "System prompt"),)
        case "assistant":
            return answer_parts(message, lambda _: None)
        case "bashExecution":
            return command_parts(message)
        case "toolResult":
            return tuple(part for block in message["content"] if (part := _shown(block, Verbatim)) is not None)
        case "branchSummary" | "compactionSummary":
            return _prose(message["summary"])
        case "user" | "custom":
            return content_parts(message["content"])


def usage_facts(usage: Mapping[str, Any]) -> tuple[str, ...]:
    """Tokens and price of one call, as far as they were reported."""
    cached = as_count(usage.get("cacheRead"))
    counts = [
        f"{as_count(usage.get(part)):,} {word}"
        for part, word in (("input", "in"), ("output", "out"))
        if usage.get(part)
    ]
    counts += [f"{cached:,} cached"] if cached else []
    tokens = (", ".join(counts) + " tokens",) if counts else ()
    cost = total_cost(usage)
    return (*tokens, dollars(cost)) if cost else tokens


def dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"


def json_text(value: object) -> str:
    """A value as indented JSON; nested deeper than writers go, as a word of ours."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        pass
    try:
        return write_json(value).decode("utf-8", "replace")
    except RecursionError:
        return "(nested too deeply to be shown)"


def _shown(block: Block, as_written: type[Prose] | type[Verbatim]) -> Part | None:
    match block["type"]:
        case "text":
            return as_written(block["text"]) if block["text"] else None
        case "image":
            return Picture(block["mimeType"], block["data"])
        case "thinking":
            return _thinking(block["thinking"])
        case "toolCall":
            return _call(block, None)


def _thinking(text: str) -> Part:
    if not text.strip():
        return Remark("Thinking that the service did not show.")
    return Folded("Thinking", _size(text), (Prose(text),), tone="dim")


def _call(block: ToolCallBlock, outcome: Folded | None) -> Folded:
    arguments = block["arguments"]
    hint = " ".join(_brief(value) for value in list(arguments.values())[:3])
    given = "\n".join(_argument(name, value) for name, value in arguments.items())
    parts: tuple[Part, ...] = (Verbatim(given),) if given else ()
    if outcome is None:
        return Folded(block["name"] or "a tool", hint[:_HINT], (*parts, Remark("No result was recorded.")))
    return Folded(block["name"] or "a tool", hint[:_HINT], (*parts, outcome), tone=outcome.tone)


def _argument(name: str, value: object) -> str:
    text = value if isinstance(value, str) else json_text(value)
    return f"{name}:\n{text}" if "\n" in text else f"{name}: {text}"


def _brief(value: object) -> str:
    return value[:_HINT] if isinstance(value, str) else ""


def _ending(message: AssistantMessage) -> tuple[Part, ...]:
    reason = message["stopReason"]
    said = as_text(message.get("errorMessage"))
    if reason in ("error", "aborted") or said:
        how = "Stopped by the user" if reason == "aborted" else "The call failed"
        return (Remark(f"{how}: {said}" if said else f"{how}.", "bad"),)
    return (Remark("Cut off at the output limit.", "bad"),) if reason == "length" else ()


def _prose(text: str) -> tuple[Part, ...]:
    return (Prose(text),) if text else ()


def _size(text: str) -> str:
    return counted(text.count("\n") + 1, "line") if text else ""
