"""Methods that read what a session holds: messages, context, entries, tree."""

from rpc_agent.conversation.messages import message_text
from rpc_agent.protocol.history import GetEntriesParams, GetTreeParams
from rpc_agent.protocol.sessions import EntryParams
from rpc_agent.protocol.wire_model import SessionParams
from rpc_agent.server.dispatch import QuickHandler, Request, Result, SessionHandler
from rpc_agent.server.tree_views import flat_tree, nested_tree
from rpc_agent.session.entries import MessageEntry
from rpc_agent.storage.gentle_reading import entry_pages, object_page


async def get_messages(request: Request, params: SessionParams) -> Result:
    return {"messages": [item.message for item in request.session.log.projection.messages]}


async def get_context(request: Request, params: SessionParams) -> Result:
    session = request.session
    usage = session.context.usage()
    threshold = session.compactor.threshold() if session.parts.switches.auto_compaction else None
    return {
        "messages": [
            {"entryId": item.entry.id, "message": item.message, "tokens": tokens}
            for item, tokens in session.context.counted()
        ],
        "tokens": session.context.tokens(),
        "contextWindow": usage.context_window if usage else 0,
        "thresholdTokens": threshold or 0,
        "percent": usage.percent if usage else None,
    }


async def get_entries(request: Request, params: GetEntriesParams) -> Result:
    page = await object_page(request.session.log.store, params.since, params.limit)
    cursor = {} if page.next_cursor is None else {"nextCursor": page.next_cursor}
    return {"entries": page.objects, "leafId": page.leaf_id, **cursor}


async def get_entry(request: Request, params: EntryParams) -> Result:
    store = request.session.log.store
    await store.know(params.entry_id)
    return {"entry": store.get(params.entry_id).raw}


async def get_fork_messages(request: Request, params: SessionParams) -> Result:
    return {
        "messages": [
            {"entryId": entry.id, "text": message_text(entry.message)}
            async for entries in entry_pages(request.session.log.store)
            for entry in entries
            if isinstance(entry, MessageEntry) and entry.message["role"] == "user"
        ]
    }


def get_last_assistant_text(request: Request, params: SessionParams) -> Result:
    answers = (
        message_text(item.message)
        for item in reversed(request.session.log.projection.messages)
        if item.message["role"] == "assistant"
    )
    return {"text": next((text for text in answers if text), None)}


async def get_tree(request: Request, params: GetTreeParams) -> Result:
    store = request.session.log.store
    if params.form == "nested":
        return await nested_tree(store, root_id=params.root_id, depth=params.depth)
    return await flat_tree(store, root_id=params.root_id, depth=params.depth, cursor=params.cursor, limit=params.limit)


SESSION_HANDLERS: dict[str, SessionHandler] = {
    "get_messages": get_messages,
    "get_context": get_context,
    "get_entries": get_entries,
    "get_tree": get_tree,
    "get_entry": get_entry,
    "get_fork_messages": get_fork_messages,
}
QUICK_HANDLERS: dict[str, QuickHandler] = {"get_last_assistant_text": get_last_assistant_text}
