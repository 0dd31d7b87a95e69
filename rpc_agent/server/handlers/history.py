"""Methods that read what a session holds: messages, context, entries, tree."""


from rpc_agent.protocol.history import GetEntriesParams, GetTreeParams
from rpc_agent.protocol.wire_model import SessionParams
from rpc_agent.server.dispatch import Request, Result, SessionHandler
from rpc_agent.server.tree_views import flat_tree, nested_tree


async def get_messages(request: Request, params: SessionParams) -> Result:
    return {"messages": [item.message for item in request.session.log.projection.messages]}


async def get_context(request: Request, params: SessionParams) -> Result:
    session = request.session
    usage = session.context.usage()
    return {
        "messages": [
            {"entryId": item.entry.id, "message": item.message, "tokens": tokens}
            for item, tokens in session.context.counted()
        ],
        "tokens": session.context.tokens(),
        "contextWindow": usage.context_window if usage else 0,
        "thresholdTokens": session.compactor.threshold(),
        "percent": usage.percent if usage else None,
    }


async def get_entries(request: Request, params: GetEntriesParams) -> Result:
    page = request.session.log.store.entries(params.since, params.limit)
    cursor = {} if page.next_cursor is None else {"nextCursor": page.next_cursor}
    return {"entries": [entry.raw for entry in page.entries], "leafId": page.leaf_id, **cursor}


async def get_tree(request: Request, params: GetTreeParams) -> Result:
    store = request.session.log.store
    if params.form == "nested":
        return nested_tree(store, root_id=params.root_id, depth=params.depth)
    return flat_tree(
        store, root_id=params.root_id, depth=params.depth, cursor=params.cursor, limit=params.limit
    )


SESSION_HANDLERS: dict[str, SessionHandler] = {
    "get_messages": get_messages,
    "get_context": get_context,
    "get_entries": get_entries,
    "get_tree": get_tree,
}

