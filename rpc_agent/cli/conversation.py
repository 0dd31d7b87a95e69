"""A talk with the server: what is asked, what happens until the answer is there, and questions in between.

Everything that comes waits in one queue, which only the main thread empties: nothing is written into a line that a
person is typing, and a question waits until the one before it is answered.
"""

import asyncio
import contextlib
import queue
from collections.abc import Callable
from functools import partial
from typing import Any

from rpc_agent_client import ClientError, Notification, RpcError, SyncCall, SyncClient
from rpc_agent_client.types import State

from rpc_agent.cli.advice import explain
from rpc_agent.cli.chat_questions import UNANSWERED, answer
from rpc_agent.cli.chat_tree import TreeLine
from rpc_agent.cli.chat_view import ChatView
from rpc_agent.cli.interrupts import Interrupts, leave
from rpc_agent.cli.line_input import LineInput
from rpc_agent.cli.terminal import Terminal

# Windows does not interrupt a wait for Ctrl-C, so waits are short and repeated.
_WAIT_SECONDS = 0.25


class Question:
    """A request of the server's on its way to a person."""

    def __init__(self, method: str, params: dict[str, Any]) -> None:
        self.method, self.params = method, params
        self.answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.is_open = True

    def reply(self, result: dict[str, Any]) -> None:
        # The connection may have ended while the person was thinking.
        with contextlib.suppress(RuntimeError):
            self.answer.get_loop().call_soon_threadsafe(self._settle, result)

    def _settle(self, result: dict[str, Any]) -> None:
        if not self.answer.done():
            self.answer.set_result(result)


Item = Notification | Question | SyncCall | str
"""A string is a line of the server's log."""


class Inbox:
    """What came from the server, in its order, from whichever thread."""

    def __init__(self) -> None:
        self._items: queue.SimpleQueue[Item] = queue.SimpleQueue()

    def put(self, item: Item) -> None:
        self._items.put(item)

    def take(self) -> Item:
        """The next one; waits for it."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self._items.get(timeout=_WAIT_SECONDS)

    def take_all(self) -> list[Item]:
        """What is there already."""
        items = []
        with contextlib.suppress(queue.Empty):
            while True:
                items.append(self._items.get_nowait())
        return items

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Handles a question on the connection's loop; the server may take it back meanwhile."""
        question = Question(method, params)
        self.put(question)
        try:
            return await question.answer
        finally:
            question.is_open = False


class Conversation:
    """Of use from `connect` on."""

    client: SyncClient

    def __init__(self, out: Terminal, lines: LineInput, inbox: Inbox, ctrl_c: Interrupts) -> None:
        self.out, self.lines = out, lines
        self.view = ChatView(out)
        self._inbox, self._ctrl_c = inbox, ctrl_c
        self.session_id: str | None = None
        self.templates: dict[str, str] = {}
        """Names of prompt templates and skills, each with what it does."""
        self.tree: list[TreeLine] = []
        """The lines that numbers mean: those of the tree drawn last."""
        self.listed: dict[str, list[str]] = {}
        """By command, what its numbers mean."""

    def connect(self, client: SyncClient) -> None:
        self.client = client
        client.on("*", self._inbox.put)
        if self.lines.interactive:
            for method in UNANSWERED:
                client.handle(method, partial(self._inbox.ask, method))

    def enter(self, state: State) -> None:
        """Another session is the current one from here on."""
        self.session_id = state["sessionId"]
        self.view.usage = state.get("contextUsage")
        self.tree, self.listed = [], {}
        if self.lines.interactive:
            self.refresh_templates()
            messages = self.client.request("get_fork_messages", {})["messages"]
            self.lines.remember(" ".join(message["text"].split()) for message in messages)

    def refresh_templates(self) -> None:
        with contextlib.suppress(RpcError):
            commands = self.client.request("get_commands", {})["commands"]
            self.templates = {command["name"]: command.get("description", "") for command in commands}

    def catch_up(self) -> None:
        """Show what came while nothing was asked."""
        for item in self._inbox.take_all():
            self._take(item, "abort")

    def show_log(self) -> None:
        """Show what the server has logged, and nothing else: it has ended."""
        for item in self._inbox.take_all():
            if isinstance(item, str):
                self.out.line(item, "dim")

    def follow(self, method: str, params: dict[str, Any], *, abort: str) -> dict[str, Any]:
        """Ask, show what happens, return the result. Ctrl-C sends `abort`; a second one raises KeyboardInterrupt."""
        pressed = _OnceThenLeave(lambda: self.client.post(abort))
        call = self.client.start(method, params)
        call.when_done(lambda: self._inbox.put(call))
        with self._ctrl_c.during(pressed):
            while (item := self._inbox.take()) is not call:
                self._take(item, abort)
        self.out.fresh_line()
        result: dict[str, Any] = call.result()
        return result

    def tell_error(self, error: ClientError) -> None:
        first, *others = explain(error)
        self.out.line(first, "bad")
        for line in others:
            self.out.line(f"  {line}", "dim")

    def _take(self, item: Item, abort: str) -> None:
        match item:
            case Notification():
                # A session that was left may still have something to say.
                if item.session_id in (None, self.session_id):
                    self.view.show(item)
            case Question() if item.is_open:
                self._ask(item, abort)
            case str():
                self.out.line(item, "dim")

    def _ask(self, question: Question, abort: str) -> None:
        result = answer(question.method, question.params, self.out, self.lines)
        if not question.is_open:
            self.out.line("The question was no longer open.", "dim")
        question.reply(UNANSWERED[question.method] if result is None else result)
        if result is None:
            self.client.post(abort)


class _OnceThenLeave:
    def __init__(self, first: Callable[[], None]) -> None:
        self._first, self._pressed = first, False

    def __call__(self) -> None:
        if self._pressed:
            leave()
        self._pressed = True
        self._first()
