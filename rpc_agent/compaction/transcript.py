"""A conversation as text for a model that shall describe it, not continue it. No thinking, no images."""

from collections.abc import Iterable

from rpc_agent.compaction.ledger_text import without_ledger
from rpc_agent.context.js_json import compact_json
from rpc_agent.context.narration import narrated
from rpc_agent.conversation.blocks import blocks_text
from rpc_agent.conversation.json_values import without_lone_surrogates
from rpc_agent.conversation.messages import AssistantMessage, Message, ToolResultMessage, tool_calls

_RESULT_CHARACTERS = 2000
"""What a result contributed to the work is nearly always in its beginning; whole files would drown the rest."""


def transcript(messages: Iterable[Message]) -> str:
    """The messages in order, each between tags of its speaker; what the model never saw is left out."""
    return "\n\n".join(transcript_parts(messages))


def transcript_parts(messages: Iterable[Message]) -> list[str]:
    """The same in its pieces, none of which is ever empty."""
    return [without_lone_surrogates(part) for message in messages for part in _parts(message)]


# Tuples, because a generator costs more than most messages: there may be ten thousand.
def _parts(message: Message) -> tuple[str, ...]:
    match message["role"]:
        case "assistant":
            return _answer(message)
        case "user":
            return _tagged("user", blocks_text(message["content"]))
        case "toolResult":
            return _tagged(_result_tag(message), _cut(blocks_text(message["content"])))
        case "system":
            return ()
        case "branchSummary" | "compactionSummary":
            # A model wrote it, so it must not look like the user's words; and a ledger is no model's to rewrite.
            return _tagged("earlier-notes", without_ledger(message["summary"]))
        case _:
            content = narrated(message)
            return _tagged("user", "" if content is None else blocks_text(content))


def _answer(message: AssistantMessage) -> tuple[str, ...]:
    said = _tagged("assistant", blocks_text(message["content"]))
    calls = tool_calls(message)
    if not calls:
        return said
    return said + _tagged("tool-calls", "\n".join(_call(call["name"], call["arguments"]) for call in calls))


def _call(name: str, arguments: dict[str, object]) -> str:
    return f"{name}({', '.join(f'{key}={compact_json(value)}' for key, value in arguments.items())})"


def _result_tag(message: ToolResultMessage) -> str:
    return "tool-error" if message["isError"] else "tool-result"


def _tagged(tag: str, text: str) -> tuple[str, ...]:
    text = text.strip()
    return (f"<{tag}>\n{text}\n</{tag}>",) if text else ()


def _cut(text: str) -> str:
    if len(text) <= _RESULT_CHARACTERS:
        return text
    return f"{text[:_RESULT_CHARACTERS]}\n[{len(text) - _RESULT_CHARACTERS} more characters left out]"
