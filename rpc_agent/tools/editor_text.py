"""Files that are open in an editor: their text as it shows it, where the disk has text or nothing.

What an editor cannot know byte for byte (another encoding, pictures, binaries) stays a matter of the disk.
"""

import os
from pathlib import Path

import anyio.to_thread

from rpc_agent.conversation.json_values import without_lone_surrogates
from rpc_agent.tools.base import ToolContext
from rpc_agent.tools.failure import ToolFailure
from rpc_agent.tools.file_text import FileText, file_text

_BOM = "\ufeff"
_LARGEST = 8 * 1024 * 1024
"""No editor is asked for more: a log of that size is nobody's unsaved work."""


async def unsaved_text(path: Path, context: ToolContext) -> str | None:
    """The editor's text of a file when it differs from the disk's; None leaves the disk in charge."""
    if not context.editor.can_read:
        return None
    disk = await anyio.to_thread.run_sync(disk_bytes, path)
    return None if disk is None else await editor_text(path, disk, context)


async def editor_text(path: Path, disk: bytes, context: ToolContext) -> str | None:
    """As `unsaved_text`, for a file whose bytes are known."""
    on_disk = known_text(disk) if context.editor.can_read else None
    if on_disk is None:
        return None
    shown = await context.editor.read(sent_path(path))
    if shown is None:
        return None
    shown = without_lone_surrogates(shown).removeprefix(_BOM)
    return None if _unified(shown) == _unified(on_disk.text) else shown


def disk_bytes(path: Path) -> bytes | None:
    """What the disk has, b"" where there is no file yet; None for what an editor is not to be asked about."""
    try:
        if not os.path.lexists(path):
            return b""
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        return path.read_bytes()
    except OSError:
        return None


def known_text(data: bytes) -> FileText | None:
    """None for bytes whose encoding we cannot tell."""
    try:
        text = file_text(data)
    except ToolFailure:
        return None
    return text if text.encoding_known and "\0" not in text.text else None


async def written(path: Path, text: str, context: ToolContext) -> bool:
    """Whether the editor took the file's new text; else the caller writes to the disk."""
    return context.editor.can_write and await context.editor.write(sent_path(path), text)


def sent_path(path: Path) -> str:
    """Absolute, links as they are: the path under which a person opened the file."""
    return os.path.abspath(path)


def _unified(text: str) -> str:
    """Editors have line ends of their own in memory; a difference in these alone is no change."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
