"""The table of conversations that every API must be able to carry: what is sent, and what comes back."""

from dataclasses import dataclass, field
from typing import Any

from rpc_agent.conversation.messages import ModelMessage
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.conversation.usage import make_usage
from tests.support.provider_apis import Said

IMAGE = {"type": "image", "data": "QUJD", "mimeType": "image/png"}
LS = ToolSpec("ls", "Lists a folder.", {"type": "object", "properties": {"path": {"type": "string"}}})
NOW = ToolSpec("now", "Tells the time.", {"type": "object", "properties": {}})


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """`messages` are sent to the model "test/m" of the API in question; OWN as a message's api, provider and model
    stands for that one. `said` is what it answers."""

    name: str
    messages: list[Any]
    said: Said = field(default_factory=lambda: Said(text="Good."))
    tools: tuple[ToolSpec, ...] = (LS, NOW)
    sees: bool = True

    def messages_for(self, api: str) -> list[ModelMessage]:
        return [_owned(message, api) for message in self.messages]


def _owned(message: Any, api: str) -> Any:
    return {**message, "api": api, "provider": "test", "model": "m"} if message.get("api") == "OWN" else message


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content), "timestamp": 1}


def system(value: str) -> dict[str, Any]:
    return {"role": "system", "content": value, "timestamp": 1}


def call(call_id: str, name: str = "ls", **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def answer(*content: Any, api: str = "OWN", stop: str = "stop") -> dict[str, Any]:
    return {
        "role": "assistant", "content": list(content), "api": api, "provider": "other", "model": "other",
        "usage": make_usage(), "stopReason": stop, "timestamp": 1,
    }  # fmt: skip


def result(call_id: str, *content: Any, error: bool = False, name: str = "ls") -> dict[str, Any]:
    return {
        "role": "toolResult", "toolCallId": call_id, "toolName": name, "content": list(content), "isError": error,
        "timestamp": 1,
    }  # fmt: skip


CONVERSATIONS = (
    Conversation(name="a question", messages=[user(text("hi"))], tools=()),
    Conversation(
        name="a plain string, a system prompt and an answer before",
        messages=[
            system("Be brief."),
            {"role": "user", "content": "hi", "timestamp": 1},
            answer(text("yes")),
            user(text("go")),
        ],
        said=Said(thinking="Let me think, 你好 🌍.", text="Привет 🌍, done."),
    ),
    Conversation(
        name="calls side by side",
        messages=[
            system("Be brief."),
            user(text("look")),
            answer(text("I look."), call("c1", path="."), call("c2", "now")),
            result("c1", text("a.txt")),
            result("c2", text("noon"), name="now"),
            user(text("and?")),
        ],
        said=Said(text="Once more.", calls=[("c3", "ls", {"path": "b\u2028🌍"}), ("c4", "now", {})]),
    ),
    Conversation(
        name="results without words, with images, and failed ones",
        messages=[
            user(text("look")),
            answer(call("c1"), call("c2"), call("c3"), call("c4")),
            result("c1"),
            result("c2", IMAGE),
            result("c3", text("no such folder"), IMAGE, error=True),
            result("c4", text("  \n")),
        ],
        said=Said(calls=[("c5", "now", {})]),
    ),
    Conversation(
        name="messages of one role in a row, and empty ones among them",
        messages=[
            user(text("one")),
            user(text("two"), IMAGE),
            answer(text("a")),
            answer(text("b")),
            user(text("three")),
            {"role": "user", "content": "", "timestamp": 1},
            answer(),
        ],
    ),
    Conversation(
        name="images for a model without eyes",
        messages=[user(IMAGE), answer(call("c1")), result("c1", IMAGE)],
        sees=False,
    ),
    Conversation(
        name="thinking of its own with a call",
        messages=[
            user(text("look")),
            answer(
                {"type": "thinking", "thinking": "I must look.", "thinkingSignature": "c2ln"},
                {**call("c1"), "thoughtSignature": "Y2FsbA=="},
            ),
            result("c1", text("a.txt")),
        ],
    ),
    Conversation(
        name="a history of other models with their ids",
        messages=[
            user(text("look")),
            answer(
                {"type": "thinking", "thinking": "Hm.", "thinkingSignature": "foreign"},
                {**text("I look."), "textSignature": "foreign"},
                {**call("functions.ls:0"), "thoughtSignature": "foreign"},
                api="openai-responses",
            ),
            result("functions.ls:0", text("a")),
            answer(call("functions.ls:0"), call("call_x|fc_y" + "z" * 80), api="openai-responses"),
            result("functions.ls:0", text("b")),
            result("call_x|fc_y" + "z" * 80, text("c")),
            answer(call("functions.ls:0"), api="openai-responses"),
            result("functions.ls:0", text("d")),
        ],
    ),
    Conversation(name="one that begins with an answer", messages=[answer(text("Well?")), user(text("go"))]),
    Conversation(
        name="what no JSON writer likes",
        messages=[
            user(text("half \ud83d an emoji")),
            answer(call("c1", big=2**70, half="\ude00", deep={"a": [[[]]]})),
            result("c1", text("\ud800")),
        ],
        said=Said(calls=[("c2", "ls", {"path": 'q"uo\\te\n'})]),
    ),
)
