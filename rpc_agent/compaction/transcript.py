"""A conversation as text for a model that shall describe it, not continue it. No thinking, no images."""

from collections.abc import Iterable, Sequence
from itertools import chain, repeat

from rpc_agent.compaction.ledger_text import without_ledger
from rpc_agent.context.js_json import compact_json
from rpc_agent.context.narration import narrated
from rpc_agent.conversation.blocks import blocks_text
from rpc_agent.conversation.json_values import without_lone_surrogates
from rpc_agent.conversation.messages import AssistantMessage, Message, ToolResultMessage

Part = tuple[str, ...]
"""A piece of a record: strings that stand right behind each other, so that a text of a session is in it uncopied."""
Record = Sequence[Part]
"""A conversation in its pieces, between which stands an empty line. Whoever sends it joins it, once."""

_SEPARATOR = "\n\n"
_RESULT_CHARACTERS = 2000
"""What a result contributed to the work is nearly always in its beginning; whole files would drown the rest."""


def transcript(messages: Iterable[Message]) -> str:
    """The messages in order, each between tags of its speaker; what the model never saw is left out."""
    return joined(transcript_parts(messages))


def joined(record: Record, before: str = "", after: str = "") -> str:
    """The text of a record between two others."""
    strings = [before, *chain.from_iterable(chain.from_iterable(zip(record, repeat((_SEPARATOR,)))))]
    # In place of the separator behind the last part.
    strings[max(len(strings) - 1, 1) :] = [after]
    return "".join(strings)


def length(record: Record) -> int:
    """The characters of a record once it is joined."""
    return sum(map(len, chain.from_iterable(record))) + len(_SEPARATOR) * max(len(record) - 1, 0)


def transcript_parts(messages: Iterable[Message]) -> list[Part]:
    """The messages as a record, in which no part is empty."""
    parts: list[Part] = []
    for message in messages:
        add_parts(parts, message)
    return parts


def add_parts(parts: list[Part], message: Message) -> None:
    """Put a message down behind the others. Quick where it is one text, as most of ten thousand may be."""
    match message["role"]:
        case "user":
            before, after = _USER
        case "assistant":
            before, after = _ASSISTANT
        case _:
            parts += _other(message)
            return
    content = message["content"]
    if not isinstance(content, str) and len(content) == 1 and (block := content[0])["type"] == "text":
        text = block["text"].strip()
    else:
        text = blocks_text(content).strip()
    if text:
        parts.append((before, text if text.isascii() else without_lone_surrogates(text), after))
    if message["role"] == "assistant" and (len(content) > 1 or not text):
        parts += _calls(message)


def _other(message: Message) -> tuple[Part, ...]:
    match message["role"]:
        case "toolResult":
            return _tagged(_result_tag(message), _cut(blocks_text(message["content"])))
        case "branchSummary" | "compactionSummary":
            # A model wrote it, so it must not look like the user's words; and a ledger is no model's to rewrite.
            return _tagged("earlier-notes", without_ledger(message["summary"]))
        case "bashExecution" | "custom":
            content = narrated(message)
            return _tagged("user", "" if content is None else blocks_text(content))
        case _:
            return ()


def _calls(message: AssistantMessage) -> tuple[Part, ...]:
    calls = [_call(block["name"], block["arguments"]) for block in message["content"] if block["type"] == "toolCall"]
    return _tagged("tool-calls", "\n".join(calls)) if calls else ()


def _call(name: str, arguments: dict[str, object]) -> str:
    return f"{name}({', '.join(f'{key}={compact_json(value)}' for key, value in arguments.items())})"


def _result_tag(message: ToolResultMessage) -> str:
    return "tool-error" if message["isError"] else "tool-result"


def _tags(tag: str) -> tuple[str, str]:
    return f"<{tag}>\n", f"\n</{tag}>"


_USER, _ASSISTANT = _tags("user"), _tags("assistant")


def _tagged(tag: str, text: str) -> tuple[Part, ...]:
    text = without_lone_surrogates(text.strip())
    before, after = _tags(tag)
    return ((before, text, after),) if text else ()


def _cut(text: str) -> str:
    if len(text) <= _RESULT_CHARACTERS:
        return text
    return f"{text[:_RESULT_CHARACTERS]}\n[{len(text) - _RESULT_CHARACTERS} more characters left out]"
