"""Writes a session out for people and other programs. What it looks like is `export`'s."""

from pathlib import Path

import anyio.to_thread

from rpc_agent.errors import StorageFailed
from rpc_agent.export.render import Format, render
from rpc_agent.export.snapshot import take_snapshot
from rpc_agent.platform.atomic_write import replace_file
from rpc_agent.storage.session_store import SessionStore


async def export_session(store: SessionStore, format: Format) -> bytes:
    """The whole session, all branches, as UTF-8. Rendering a large one takes a while, so it is done in a thread."""
    await store.complete_index()
    stored = await _stored(store) if format == "jsonl" else None
    snapshot = take_snapshot(store, stored=stored)
    rendered = await anyio.to_thread.run_sync(render, snapshot, format)
    return rendered if isinstance(rendered, bytes) else rendered.encode()


async def write_export(path: Path, data: bytes) -> None:
    """Replace or make the file. Raises StorageFailed; then the old file is untouched."""
    try:
        await anyio.to_thread.run_sync(replace_file, path, data)
    except OSError as error:
        message = f"{path} could not be written: {error.strerror}. The session itself is untouched."
        raise StorageFailed(message, errno=error.errno, path=str(path)) from error


async def _stored(store: SessionStore) -> bytes | None:
    """The file up to where it ends now: what a run appends while it is read may be there in part."""
    if not store.is_on_disk or store.path is None:
        return None
    try:
        return await anyio.to_thread.run_sync(_beginning, store.path, store.file_bytes)
    except OSError as error:
        message = f"{store.path} could not be read: {error.strerror}."
        raise StorageFailed(message, errno=error.errno, path=str(store.path)) from error


def _beginning(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)
