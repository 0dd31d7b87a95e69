import string
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.compaction.prompts import branch_prompt, history_prompt, prefix_prompt
from rpc_agent.conversation.messages import AssistantMessage, ModelMessage, tool_calls, user_message
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.providers.assembly import Assembly
from rpc_agent.providers.base import ModelCallFailed, ModelRequest
from rpc_agent.providers.offline.answering import notice
from rpc_agent.providers.offline.description import OFFLINE_MODEL
from rpc_agent.providers.offline.model import OfflineModel
from rpc_agent.providers.offline.summarising import summarise

pytestmark = pytest.mark.anyio


def spec(name: str, *properties: str) -> ToolSpec:
    return ToolSpec(name, "", {"type": "object", "properties": {key: {} for key in properties}})


READ_TOOLS = (
    spec("read", "path", "offset", "limit"),
    spec("ls", "path"),
    spec("grep", "pattern", "path", "glob", "literal"),
    spec("find", "pattern", "path"),
)


async def ask(
    messages: Sequence[ModelMessage] | str, tools: Sequence[ToolSpec] = READ_TOOLS, **more: Any
) -> AssistantMessage:
    if isinstance(messages, str):
        messages = [user_message(messages, timestamp=1)]
    model, assembly = OfflineModel(first_line=more.pop("first_line", "")), Assembly()
    request = ModelRequest(model=OFFLINE_MODEL, messages=messages, tools=tools, **more)
    with anyio.fail_after(10):
        async for batch in model.stream(request):
            for event in batch:
                assembly.apply(event)
    assert assembly.stopped is not None
    return assembly.message(OFFLINE_MODEL, 2, assembly.stopped.reason)


def text_of(message: AssistantMessage) -> str:
    return "".join(block["text"] for block in message["content"] if block["type"] == "text")


def result(call_id: str, name: str, text: str, *, is_error: bool = False) -> ModelMessage:
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": name,
        "content": [{"type": "text", "text": text}],
        "isError": is_error,
        "timestamp": 3,
    }


async def test_a_wish_becomes_a_call_and_its_result_the_answer() -> None:
    question = user_message("What files are here?", timestamp=1)
    first = await ask([question])
    (call,) = tool_calls(first)
    assert (call["name"], call["arguments"], first["stopReason"], text_of(first)) == (
        "ls",
        {"path": "."},
        "toolUse",
        "",
    )
    second = await ask([question, first, result(call["id"], "ls", "a.txt\nsrc/")])
    assert (text_of(second), second["stopReason"]) == ("Files here:\na.txt\nsrc/", "stop")
    assert (second["model"], second["provider"]) == ("offline", "offline")
    assert second["usage"]["input"] > 0 and second["usage"]["output"] > 0


NAMES = st.lists(st.text(string.ascii_lowercase, min_size=3, max_size=9), min_size=1, max_size=8, unique=True)


@given(NAMES)
async def test_an_answer_holds_all_that_the_tools_found(names: list[str]) -> None:
    question = user_message("list the files and then search for needle", timestamp=1)
    first = await ask([question])
    ls, grep = tool_calls(first)
    found = [f"{name}.txt:3: the needle" for name in names]
    answer = text_of(
        await ask(
            [question, first, result(ls["id"], "ls", "\n".join(names)), result(grep["id"], "grep", "\n".join(found))]
        )
    )
    assert [line for line in [*names, *found] if line not in answer] == []


async def test_a_failed_tool_is_reported_as_failed() -> None:
    question = user_message("read gone.txt", timestamp=1)
    first = await ask([question])
    answer = await ask([question, first, result(tool_calls(first)[0]["id"], "read", "no such file", is_error=True)])
    assert text_of(answer) == "read gone.txt did not work:\nno such file"


@given(st.sampled_from(["ls", "read x.txt", "search for foo", "find *.py", "run: ls", "write a to b.txt", "replace a with b in c.py", "hello", "what?"]),
       st.sets(st.sampled_from(["ls", "read", "grep", "find", "bash", "write", "edit"])))  # fmt: skip
async def test_only_offered_tools_are_called(prompt: str, names: set[str]) -> None:
    message = await ask(prompt, [spec(name) for name in sorted(names)])
    calls = tool_calls(message)
    assert {call["name"] for call in calls} <= names
    assert calls or text_of(message)


async def test_arguments_that_a_tool_does_not_declare_are_left_out() -> None:
    (call,) = tool_calls(await ask("search for a.b in *.py", [spec("grep", "pattern", "glob")]))
    assert call["arguments"] == {"pattern": r"a\.b", "glob": "*.py"}


async def test_what_is_not_understood_or_not_offered_is_said() -> None:
    assert text_of(await ask("Refactor the parser.")).startswith("I do not understand this: Refactor the parser.")
    assert "'bash', which is not offered" in text_of(await ask("run: ls"))
    assert "not a language model" in text_of(await ask("who are you?"))


async def test_chosen_implicitly_its_first_line_says_what_it_is_and_what_would_give_a_real_one() -> None:
    line = notice(["OPENAI_API_KEY", "GROQ_API_KEY"])
    question = user_message("ls", timestamp=1)
    first = await ask([question], first_line=line)
    answer = await ask([question, first, result(tool_calls(first)[0]["id"], "ls", "a")], first_line=line)
    assert text_of(answer).splitlines()[0] == line
    assert "OPENAI_API_KEY" in line and "not a language model" in line


async def test_input_beyond_the_window_is_refused_as_a_service_would() -> None:
    with pytest.raises(ModelCallFailed, match=r"too long: \d+ tokens > 32768 maximum") as caught:
        await ask("list " + "x" * 140_000)
    assert (caught.value.kind, caught.value.limit) == ("overflow", 32_768)


async def test_an_answer_longer_than_allowed_stops_by_length() -> None:
    message = await ask("who are you?", max_tokens=5)
    assert (message["stopReason"], len(text_of(message))) == ("length", 20)


async def test_after_a_summary_only_the_new_request_counts() -> None:
    text = "Earlier work:\n<summary>\nread secret.txt\n</summary>"
    assert text_of(await ask(text)).startswith("I do not understand this: (there is no new request)")
    messages = [user_message(text, timestamp=1), user_message("read new.txt", timestamp=2)]
    assert tool_calls(await ask(messages))[0]["arguments"] == {"path": "new.txt"}


async def test_a_paced_answer_can_be_cancelled_between_two_deltas() -> None:
    model, deltas = OfflineModel(pace_ms=1), 0
    with anyio.fail_after(10), anyio.CancelScope() as scope:
        async for batch in model.stream(
            ModelRequest(model=OFFLINE_MODEL, messages=[user_message("hello", timestamp=1)])
        ):
            deltas += len(batch)
            if deltas == 3:
                scope.cancel()
    assert (scope.cancelled_caught, deltas) == (True, 3)


RECORD = """<user>
Please add a parser to the project. You must never touch config.toml.
</user>

<assistant>
I decided to write it by hand because the grammar is small.
</assistant>

<tool-calls>
write(path="src/parser.py", content="...")
read(path="README.md")
</tool-calls>

<tool-result>
The project reads files of settings and has 3 modules.
</tool-result>

<user>
Now write the tests for the parser, and keep them short. {filler}
</user>"""


async def test_a_summary_is_made_of_lines_of_the_conversation_under_the_headings_asked_for() -> None:
    record = RECORD.format(filler="This goes on for a while. " * 40)
    summary = text_of(await ask(history_prompt(record, previous_summary=None, custom_instructions=None), tools=()))
    assert summary.startswith("## Goal\n- Please add a parser to the project. You must never touch config.toml.")
    headings = [line[3:] for line in summary.splitlines() if line.startswith("## ")]
    assert headings == [
        "Goal",
        "Constraints & Preferences",
        "Progress",
        "Key Decisions",
        "Next Steps",
        "Critical Context",
    ]
    assert '- Done: write(path="src/parser.py", content="...")' in summary
    assert "- I decided to write it by hand because the grammar is small." in summary
    assert len(summary) < len(record) / 2


def test_a_summary_of_a_cut_turn_and_of_a_branch_have_their_own_headings() -> None:
    record = RECORD.format(filler="x " * 400)
    prefix = summarise(prefix_prompt(record, custom_instructions=None))
    branch = summarise(branch_prompt(record, custom_instructions=None, replace_instructions=False))
    assert [line[3:] for line in prefix.splitlines() if line.startswith("## ")] == [
        "Original Request",
        "Progress So Far",
        "Context Needed",
    ]
    assert "Critical Context" not in branch and "## Next Steps" in branch


def test_a_previous_summary_is_carried_on() -> None:
    record = RECORD.format(filler="x " * 400)
    previous = "## Goal\n- Build a compiler for the Foo language."
    summary = summarise(history_prompt(record, previous_summary=previous, custom_instructions=None))
    assert "Build a compiler for the Foo language." in summary


@given(st.text(min_size=1, max_size=3000), st.integers(0, 200))
def test_a_summary_is_always_smaller_than_its_input_and_never_empty(record: str, max_tokens: int) -> None:
    summary = summarise(history_prompt(record, previous_summary=None, custom_instructions=None), max_tokens=max_tokens)
    assert summary
    assert len(summary) <= max(1, (len(record) + 2) // 2)
