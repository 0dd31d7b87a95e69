"""Methods that make the context smaller, and that take it back."""

from collections.abc import Mapping
from typing import Any

from rpc_agent.agent.abort import Abort
from rpc_agent.protocol.compaction import CompactParams, PreviewCompactionParams, UndoCompactionParams
from rpc_agent.protocol.runs import EnabledParams
from rpc_agent.protocol.wire_model import SessionParams
from rpc_agent.runtime.compactor import CompactionOptions
from rpc_agent.server.dispatch import Request, Result, SessionHandler


async def compact(request: Request, params: CompactParams) -> Result:
    if params.checks_leaf:
        request.session.expect_leaf(params.expected_leaf_id)
    withdrawn = Abort()
    request.call.on_cancel(withdrawn.request)
    options = CompactionOptions(
        custom_instructions=params.custom_instructions,
        keep_recent_tokens=params.keep_recent_tokens,
        fallback=params.fallback is True,
    )
    return (await request.session.compact(options, withdrawn)).result()


async def abort_compaction(request: Request, params: SessionParams) -> Result:
    return {"aborted": await request.session.abort_compaction()}


async def preview_compaction(request: Request, params: PreviewCompactionParams) -> Result:
    plan = request.session.compactor.plan(params.keep_recent_tokens)
    turn = {} if plan.turn_start_entry_id is None else {"turnStartEntryId": plan.turn_start_entry_id}
    return {
        "firstKeptEntryId": plan.first_kept_entry_id or "",
        "isSplitTurn": plan.is_split_turn,
        **turn,
        "tokensBefore": plan.tokens_before,
        "estimatedTokensAfter": plan.estimated_tokens_after,
        "summarizedEntryIds": list(plan.summarized_entry_ids),
        "keptEntryIds": list(plan.kept_entry_ids),
        "hasPreviousSummary": plan.previous_summary is not None,
        "files": _files(plan.file_operations.details()),
    }


async def undo_compaction(request: Request, params: UndoCompactionParams) -> Result:
    await request.session.log.store.complete_index()
    request.call.cannot_be_cancelled()
    previous = await request.session.undo_compaction(params.entry_id)
    return {"leafId": request.session.log.leaf_id, "previousLeafId": previous}


async def set_auto_compaction(request: Request, params: EnabledParams) -> Result:
    request.session.parts.switches.auto_compaction = params.enabled
    return {}


def _files(details: Mapping[str, Any]) -> dict[str, Any]:
    return {"read": details["readFiles"], "modified": details["modifiedFiles"]}


SESSION_HANDLERS: dict[str, SessionHandler] = {
    "compact": compact,
    "abort_compaction": abort_compaction,
    "preview_compaction": preview_compaction,
    "undo_compaction": undo_compaction,
    "set_auto_compaction": set_auto_compaction,
}
