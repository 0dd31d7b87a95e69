"""The hooks in a run: what the model is sent, and what is added at the end of a turn and of the run."""

from collections.abc import Callable, Sequence
from typing import cast

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.conversation.messages import AssistantMessage, Message, ToolResultMessage, read_message
from rpc_agent.extensions.hooks import BadAnswer, Drafts, HookName, read_context, read_drafts
from rpc_agent.providers.base import ModelRequest
from rpc_agent.runtime.compaction_hooks import CompactionHooks
from rpc_agent.runtime.model_context import ModelContext
from rpc_agent.runtime.own_entries import OwnEntry, checked_entries
from rpc_agent.runtime.session_hooks import SessionHooks
from rpc_agent.runtime.session_log import SessionLog


class RunHooks:
    """`compaction` knows how a summary of a hook's becomes an entry."""

    def __init__(
        self,
        hooks: SessionHooks,
        compaction: CompactionHooks,
        log: SessionLog,
        context: ModelContext,
        *,
        now_ms: Callable[[], int],
    ) -> None:
        self._hooks = hooks
        self._compaction = compaction
        self._log = log
        self._context = context
        self._now_ms = now_ms

    async def context(self, request: ModelRequest) -> ModelRequest:
        """The request with the messages that `context` hooks made of it; checked as every request is, never stored."""
        if not self._hooks.is_heard("context"):
            return request
        given = [item.message for item in self._log.projection.messages if item.message["role"] != "system"]
        event = await self._hooks.runner.chain(
            "context", {"messages": given}, _read_messages, lambda event, messages: {**event, "messages": messages}
        )
        return request if event["messages"] is given else self._context.with_messages(request, event["messages"])

    async def turn_end(self, message: AssistantMessage, results: Sequence[ToolResultMessage]) -> bool:
        """Whether the run is to go on although it would stop."""
        return await self._add("turn_end", {"message": message, "toolResults": list(results)})

    async def before_settle(self, messages: Sequence[Message]) -> bool:
        return await self._add("agent_before_settle", {"messages": list(messages)})

    async def _add(self, hook: HookName, event: JsonObject) -> bool:
        def read(answer: object) -> tuple[list[OwnEntry], bool] | None:
            drafts = read_drafts(answer)
            return None if drafts is None else (checked_entries(drafts, self._log), self._may_go_on(drafts))

        answers = await self._hooks.runner.ask_each(hook, event, read)
        entries = [entry for added, _ in answers for entry in added]
        if entries:
            self._append(entries)
            await self._log.sync()
        return any(goes_on for _, goes_on in answers)

    def _may_go_on(self, drafts: Drafts) -> bool:
        """A model is asked again only when somebody said something: to its own last word it has no answer."""
        if not drafts.go_on:
            return False
        said = [item.message["role"] for item in self._log.projection.messages if item.message["role"] != "system"]
        adds = any(draft["type"] == "custom_message" for draft in drafts.entries)
        if not adds and (not said or said[-1] == "assistant"):
            raise BadAnswer("continue needs something to answer: add a custom_message")
        return True

    def _append(self, entries: Sequence[OwnEntry]) -> None:
        tokens = self._context.tokens()
        ids = [self._log.store.reserve_id() if entry.compaction else None for entry in entries]
        drafts = []
        for entry, entry_id in zip(entries, ids, strict=True):
            fields = entry.fields
            if entry.compaction is not None and entry_id is not None:
                fields = self._compaction.fields(
                    entry.compaction, entry_id=entry_id, tokens_before=tokens, timestamp=self._now_ms()
                )
            drafts.append((entry.kind, fields))
        self._log.append_many(drafts, ids)
        if any(entry.kind != "custom" for entry in entries):
            self._context.announce_usage()


def _read_messages(answer: object) -> list[Message] | None:
    messages = read_context(answer)
    if messages is None:
        return None
    read = [read_message(message) for message in messages]
    if None in read:
        raise BadAnswer("messages holds something that is no message")
    if not any(message is not None and message["role"] != "system" for message in read):
        raise BadAnswer("messages is empty: a model has to be sent something")
    return cast(list[Message], read)
