"""What the demo does: four steps, each a few requests and the claims that must hold after them."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from rpc_agent_client import Client, Notification, RpcError
from rpc_agent_client.messages import JsonObject

from rpc_agent import __version__
from rpc_agent.cli.demo_story import Story

_QUESTIONS = ("What files are here?", "Read notes/tasting.md", "Read README.md", "Search for TODO")


class Demo:
    """The client, told aloud: every request, answer and notification goes through the story."""

    def __init__(self, client: Client, story: Story, sample: Path) -> None:
        self.client, self.story, self.sample = client, story, sample
        self.heard: list[Notification] = []
        self.leaf_before_compaction: str | None = None
        self.messages_before_compaction: list[JsonObject] = []
        client.on("*", self._hear)

    async def ask(self, method: str, params: JsonObject | None = None) -> Any:
        """The result of a request. RpcError is the caller's to take, and told already."""
        self.story.request(method, params or {})
        try:
            result = await self.client.request(method, params)
        except RpcError as error:
            self.story.error(method, error)
            raise
        self.story.result(method, result)
        return result

    async def messages(self) -> list[JsonObject]:
        """What the model would be sent; asked silently, to check a claim."""
        return await self.client.get_messages()

    def _hear(self, event: Notification) -> None:
        self.heard.append(event)
        self.story.notification(event)


async def prompt_with_a_tool(demo: Demo, number: int) -> None:
    demo.story.heading(number, len(STEPS), "prompt: the agent answers with the help of its tools")
    await demo.ask("initialize", _handshake())
    await demo.ask("new_session", {"cwd": str(demo.sample)})
    for question in _QUESTIONS:
        result = await demo.ask("prompt", {"message": question, "wait": True})
        demo.story.check(
            result.get("stopReason") == "stop" and bool(result.get("text")), "the run ended with an answer"
        )
    tools = [e for e in demo.heard if e.method == "tool_execution_end"]
    demo.story.check(
        len(tools) >= len(_QUESTIONS) and not any(e.params.get("isError") for e in tools),
        f"the agent used its tools {len(tools)} times, without an error",
    )


async def abort_a_compaction(demo: Demo, number: int) -> None:
    demo.story.heading(number, len(STEPS), "compact, and abort_compaction while the summary is being written")
    before = await demo.messages()
    async with demo.client.notifications("compaction_progress", "compaction_end") as events:
        demo.story.request("compact", {})
        compaction = demo.client.start("compact")
        aborted = await _abort_when_the_summary_comes(demo, events, compaction.answer)
        try:
            demo.story.result("compact", await compaction)
        except RpcError as error:
            demo.story.error("compact", error)
            demo.story.check(error.reason == "compactionCancelled", "compact answered that it was cancelled")
    demo.story.check(aborted, "the compaction was running when it was stopped")
    demo.story.check(await demo.messages() == before, "the context is what it was before, to the letter")


async def complete_a_compaction(demo: Demo, number: int) -> None:
    demo.story.heading(number, len(STEPS), "compact: the older part of the context becomes a summary")
    demo.leaf_before_compaction = (await demo.client.get_state())["leafId"]
    demo.messages_before_compaction = await demo.messages()
    result = await demo.ask("compact")
    before, after = result["tokensBefore"], result["estimatedTokensAfter"]
    demo.story.check(after < before, f"the context is smaller: {before} tokens before, {after} now")
    now, earlier = await demo.messages(), len(demo.messages_before_compaction)
    demo.story.check(
        any(message.get("role") == "compactionSummary" for message in now),
        f"the model is sent {len(now)} messages, a summary among them, where it was {earlier}",
    )


async def navigate_back(demo: Demo, number: int) -> None:
    demo.story.heading(number, len(STEPS), "navigate_tree: back to before the compaction; nothing is ever lost")
    result = await demo.ask("navigate_tree", {"targetId": demo.leaf_before_compaction})
    demo.story.check(not result["cancelled"], "the session is where it was before the compaction")
    demo.story.check(
        await demo.messages() == demo.messages_before_compaction, "the exact earlier context is back, to the letter"
    )
    state = await demo.client.get_state()
    demo.story.check(bool(state.get("sessionFile")), "all of it is in one append-only session file")


Step = Callable[[Demo, int], Awaitable[None]]
STEPS: tuple[Step, ...] = (prompt_with_a_tool, abort_a_compaction, complete_a_compaction, navigate_back)


async def _abort_when_the_summary_comes(demo: Demo, events: Any, answer: Any) -> bool:
    async for event in events.until(answer):
        # The first progress: the model has been asked, and writes for a while yet.
        if event.method == "compaction_progress":
            result = await demo.ask("abort_compaction")
            return bool(result["aborted"])
    return False


def _handshake() -> JsonObject:
    return {
        "protocolVersion": 1,
        "clientInfo": {"name": "rpc-agent demo", "version": __version__},
        "capabilities": {"deltas": "each"},
    }
