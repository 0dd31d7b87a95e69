"""Methods that move through the tree and that write on it: navigation, labels, edits of the context."""

from rpc_agent.protocol.history import EditContextParams, SetLabelParams
from rpc_agent.protocol.tree import NavigateTreeParams
from rpc_agent.protocol.wire_model import SessionParams
from rpc_agent.runtime.navigator import NavigationOptions
from rpc_agent.server.dispatch import Request, Result, SessionHandler


async def navigate_tree(request: Request, params: NavigateTreeParams) -> Result:
    session = request.session
    await session.log.store.complete_index()
    if params.checks_leaf:
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


async def abort_branch_summary(request: Request, params: SessionParams) -> Result:
    return {"aborted": await request.session.parts.navigator.abort()}


async def set_label(request: Request, params: SetLabelParams) -> Result:
    await request.session.log.store.know(params.entry_id)
    entry_id = request.session.edits.set_label(params.entry_id, params.label or None)
    return {"entryId": entry_id}


async def edit_context(request: Request, params: EditContextParams) -> Result:
    if params.target_id not in (entry.id for entry in request.session.log.path):
        await request.session.log.store.complete_index()
    replacement = None if params.replacement is None else {"content": params.replacement.content}
    return {"entryId": request.session.edits.edit_context(params.target_id, replacement)}


SESSION_HANDLERS: dict[str, SessionHandler] = {
    "navigate_tree": navigate_tree,
    "abort_branch_summary": abort_branch_summary,
    "set_label": set_label,
    "edit_context": edit_context,
}
