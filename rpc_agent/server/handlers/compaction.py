"""Methods that make the context smaller, and that move through the tree."""

from rpc_agent.protocol.compaction import CompactParams
from rpc_agent.protocol.tree import NavigateTreeParams
from rpc_agent.protocol.wire_model import SessionParams
from rpc_agent.runtime.compactor import CompactionOptions
from rpc_agent.runtime.navigator import NavigationOptions
from rpc_agent.server.dispatch import Request, Result, SessionHandler


async def compact(request: Request, params: CompactParams) -> Result:
    if "expected_leaf_id" in params.model_fields_set:
        request.session.expect_leaf(params.expected_leaf_id)
    request.call.on_cancel(request.session.compactor.cancel)
    options = CompactionOptions(
        custom_instructions=params.custom_instructions, keep_recent_tokens=params.keep_recent_tokens
    )
    return (await request.session.compact(options)).result()


async def abort_compaction(request: Request, params: SessionParams) -> Result:
    return {"aborted": await request.session.compactor.abort()}


async def navigate_tree(request: Request, params: NavigateTreeParams) -> Result:
    session = request.session
    if "expected_leaf_id" in params.model_fields_set:
        session.expect_leaf(params.expected_leaf_id)
    request.call.on_cancel(session.parts.navigator.cancel)
    moved = await session.navigate(
        params.target_id,
        NavigationOptions(
            summarize=params.summarize or False,
            custom_instructions=params.custom_instructions,
            replace_instructions=params.replace_instructions or False,
            label=params.label,
        ),
    )
    optional = {
        "aborted": moved.aborted or None,
        "editorText": moved.editor_text,
        "summaryEntry": moved.summary_entry.raw if moved.summary_entry else None,
    }
    found = {name: value for name, value in optional.items() if value is not None}
    return {"cancelled": moved.cancelled, **found, "leafId": moved.leaf_id}


SESSION_HANDLERS: dict[str, SessionHandler] = {
    "compact": compact,
    "abort_compaction": abort_compaction,
    "navigate_tree": navigate_tree,
}
