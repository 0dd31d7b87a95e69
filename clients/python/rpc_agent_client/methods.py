"""The server's methods as typed calls: a name, its params, its result. Everything goes through `request`.

Params are the protocol's, in snake_case; None leaves one out. Each raises RpcError with the server's reason, and
ServerExited when there is no server any more. A method that is not here is called by `request`.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, cast

from rpc_agent_client import types as t
from rpc_agent_client.messages import JsonObject

PROTOCOL_VERSION = 1


class Methods(ABC):
    @abstractmethod
    async def request(self, method: str, params: JsonObject | None = None, *, timeout: float | None = None) -> Any:
        """Call `method`; seconds to wait, None for as long as it takes."""

    # The connection.

    async def initialize(
        self,
        *,
        name: str = "rpc_agent_client",
        version: str = "0",
        title: str | None = None,
        capabilities: JsonObject | None = None,
        process_id: int | None = None,
    ) -> t.InitializeResult:
        """Say who asks and what it can do. The server ends when the process named does (default: this one; 0: none is
        named, for a server on another machine)."""
        params = given(
            protocolVersion=PROTOCOL_VERSION,
            clientInfo=given(name=name, version=version, title=title),
            processId=os.getpid() if process_id is None else process_id or None,
            capabilities=capabilities or {},
        )
        return cast(t.InitializeResult, await self.request("initialize", params))

    async def ping(self, *, timeout: float | None = None) -> None:
        await self.request("ping", {}, timeout=timeout)

    # Sessions.

    async def new_session(
        self,
        *,
        cwd: str | None = None,
        name: str | None = None,
        ephemeral: bool | None = None,
        parent_session: str | None = None,
        model: str | None = None,
        thinking_level: t.ThinkingLevel | None = None,
        tools: Sequence[str] | None = None,
        system_prompt: str | None = None,
    ) -> t.State:
        params = given(
            cwd=cwd,
            name=name,
            ephemeral=ephemeral,
            parentSession=parent_session,
            model=model,
            thinkingLevel=thinking_level,
            tools=None if tools is None else list(tools),
            systemPrompt=system_prompt,
        )
        return cast(t.State, await self.request("new_session", params))

    async def open_session(
        self,
        *,
        path: str | None = None,
        id: str | None = None,
        latest: Literal[True] | None = None,
        cwd: str | None = None,
        read_only: bool | None = None,
    ) -> t.State:
        """Exactly one of `path`, `id` (a unique beginning serves) and `latest`."""
        params = given(path=path, id=id, latest=latest, cwd=cwd, readOnly=read_only)
        return cast(t.State, await self.request("open_session", params))

    async def close_session(self, *, session_id: str | None = None) -> None:
        await self.request("close_session", given(sessionId=session_id))

    async def get_state(self, *, session_id: str | None = None) -> t.State:
        return cast(t.State, await self.request("get_state", given(sessionId=session_id)))

    async def get_messages(self, *, session_id: str | None = None) -> list[JsonObject]:
        """What the model would be sent now."""
        result = await self.request("get_messages", given(sessionId=session_id))
        return cast(list[JsonObject], result["messages"])

    async def get_context(self, *, session_id: str | None = None) -> t.Context:
        return cast(t.Context, await self.request("get_context", given(sessionId=session_id)))

    async def get_entries(
        self, *, since: str | None = None, limit: int | None = None, session_id: str | None = None
    ) -> t.Entries:
        """Entries in file order, strictly after `since`; go on with `nextCursor` as `since`."""
        params = given(since=since, limit=limit, sessionId=session_id)
        return cast(t.Entries, await self.request("get_entries", params))

    async def get_tree(
        self,
        *,
        root_id: str | None = None,
        depth: int | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        session_id: str | None = None,
    ) -> t.Tree:
        """The flat form. The nested one: `request("get_tree", {"form": "nested"})`."""
        params = given(rootId=root_id, depth=depth, cursor=cursor, limit=limit, sessionId=session_id)
        return cast(t.Tree, await self.request("get_tree", params))

    async def get_events(
        self, since: int, *, stream_id: str | None = None, limit: int | None = None, session_id: str | None = None
    ) -> t.Events:
        """Notifications after the `seq` given, from the server's buffer: what a reload of a window missed."""
        params = given(since=since, streamId=stream_id, limit=limit, sessionId=session_id)
        return cast(t.Events, await self.request("get_events", params))

    # Runs.

    async def prompt(
        self,
        message: t.MessageContent,
        *,
        wait: bool | None = None,
        images: Sequence[t.ContentBlock] | None = None,
        streaming_behavior: Literal["steer", "followUp"] | None = None,
        expected_leaf_id: str | None = None,
        max_turns: int | None = None,
        timeout_ms: int | None = None,
        session_id: str | None = None,
    ) -> t.PromptResult:
        """Start a run. With `wait` the result comes when the run has settled; a failed one has stopReason "error"."""
        params = given(
            message=message,
            wait=wait,
            images=None if images is None else list(images),
            streamingBehavior=streaming_behavior,
            expectedLeafId=expected_leaf_id,
            maxTurns=max_turns,
            timeoutMs=timeout_ms,
            sessionId=session_id,
        )
        return cast(t.PromptResult, await self.request("prompt", params))

    async def steer(self, message: t.MessageContent, *, session_id: str | None = None) -> t.PromptResult:
        """Have the message delivered after the tools of the current turn."""
        return cast(t.PromptResult, await self.request("steer", given(message=message, sessionId=session_id)))

    async def follow_up(self, message: t.MessageContent, *, session_id: str | None = None) -> t.PromptResult:
        """Have the message delivered when the run would stop."""
        return cast(t.PromptResult, await self.request("follow_up", given(message=message, sessionId=session_id)))

    async def abort(self, *, session_id: str | None = None) -> None:
        """End the run, its tools, any compaction and branch summary; returns when the session is idle."""
        await self.request("abort", given(sessionId=session_id))

    async def wait_for_idle(self, *, session_id: str | None = None) -> t.IdleResult:
        return cast(t.IdleResult, await self.request("wait_for_idle", given(sessionId=session_id)))

    # Compaction and the tree.

    async def compact(
        self,
        custom_instructions: str | None = None,
        *,
        keep_recent_tokens: int | None = None,
        fallback: bool | None = None,
        expected_leaf_id: str | None = None,
        session_id: str | None = None,
    ) -> t.CompactionResult:
        """Replace the older part of the context by a summary. RpcError reasons: nothingToCompact, alreadyCompacted,
        compactionCancelled, compactionFailed, noModel."""
        params = given(
            customInstructions=custom_instructions,
            keepRecentTokens=keep_recent_tokens,
            fallback=fallback,
            expectedLeafId=expected_leaf_id,
            sessionId=session_id,
        )
        return cast(t.CompactionResult, await self.request("compact", params))

    async def preview_compaction(
        self, *, keep_recent_tokens: int | None = None, session_id: str | None = None
    ) -> t.CompactionPreview:
        """What `compact` would do now; writes nothing and asks no model."""
        params = given(keepRecentTokens=keep_recent_tokens, sessionId=session_id)
        return cast(t.CompactionPreview, await self.request("preview_compaction", params))

    async def abort_compaction(self, *, session_id: str | None = None) -> bool:
        """Whether one ran. Returns after its compaction_end; context and file are as before it."""
        result = cast(t.Aborted, await self.request("abort_compaction", given(sessionId=session_id)))
        return result["aborted"]

    async def undo_compaction(self, entry_id: str | None = None, *, session_id: str | None = None) -> t.LeafResult:
        """Go back to before a compaction (default: the newest on the branch)."""
        params = given(entryId=entry_id, sessionId=session_id)
        return cast(t.LeafResult, await self.request("undo_compaction", params))

    async def navigate_tree(
        self,
        target_id: str | None,
        *,
        summarize: bool | None = None,
        custom_instructions: str | None = None,
        replace_instructions: bool | None = None,
        label: str | None = None,
        expected_leaf_id: str | None = None,
        session_id: str | None = None,
    ) -> t.NavigateResult:
        """Make `target_id` the place where the next message hangs (a user message: its parent, and its text comes
        back as editorText to be changed and sent again). None goes to before the first entry."""
        params = given(
            summarize=summarize,
            customInstructions=custom_instructions,
            replaceInstructions=replace_instructions,
            label=label,
            expectedLeafId=expected_leaf_id,
            sessionId=session_id,
        )
        return cast(t.NavigateResult, await self.request("navigate_tree", {"targetId": target_id, **params}))

    # Models.

    async def get_available_models(self) -> list[t.Model]:
        result = await self.request("get_available_models", {})
        return cast(list[t.Model], result["models"])

    async def set_model(self, provider: str, model_id: str, *, session_id: str | None = None) -> t.Model:
        params = given(provider=provider, modelId=model_id, sessionId=session_id)
        result = await self.request("set_model", params)
        return cast(t.Model, result["model"])


def given(**params: Any) -> JsonObject:
    """The params that have a value: None stands for "not given", which the protocol says by absence."""
    return {name: value for name, value in params.items() if value is not None}
