"""The tool `edit`: exact replacements in one file, all of them or none."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread

from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.platform.atomic_write import replace_real_file
from rpc_agent.tools.base import ToolContext, ToolResult, text_result
from rpc_agent.tools.edit_diff import unified_diff
from rpc_agent.tools.edit_match import Edit, Edited, Replacement, apply_edits
from rpc_agent.tools.editor_text import editor_text, known_text, written
from rpc_agent.tools.failure import ToolFailure, failure_text
from rpc_agent.tools.file_text import file_text
from rpc_agent.tools.function_tool import FunctionTool, object_schema
from rpc_agent.tools.path_locks import PathLocks
from rpc_agent.tools.paths import absolute_path, shown_path, target_path
from rpc_agent.tools.regular_file import open_real_regular

_DESCRIPTION = """\
Replace exact pieces of text in one file. Each oldText must be in the file exactly once; all edits are matched against \
the file as it is before any of them, and must not overlap. Everything outside stays byte for byte as it was, \
encoding and line ends too. Quote enough of the lines around a change to make it unique, and no more."""

_SPEC = ToolSpec(
    "edit",
    _DESCRIPTION,
    object_schema(
        {
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "The file, absolute or from the working directory.",
            },
            "edits": {
                "type": "array",
                "minItems": 1,
                "description": "The replacements.",
                "items": object_schema(
                    {
                        "oldText": {"type": "string", "description": "Text that is in the file exactly once."},
                        "newText": {"type": "string", "description": "What stands there afterwards."},
                    },
                    required=("oldText", "newText"),
                ),
            },
        },
        required=("path", "edits"),
    ),
)


def edit_tool(locks: PathLocks) -> FunctionTool:
    async def edit(arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        path = absolute_path(arguments["path"], context)
        edits = [Edit(item["oldText"], item["newText"]) for item in arguments["edits"]]
        async with locks.hold(path):
            target = await anyio.to_thread.run_sync(target_path, path, context)
            data = await anyio.to_thread.run_sync(_read, path, target)
            shown = await editor_text(path, data or b"", context)
            if data is None and shown is None:
                await anyio.to_thread.run_sync(_refuse_missing, path, target)
            edited = await anyio.to_thread.run_sync(apply_edits, _base(data or b"", shown), edits)
            await _save(path, data, edited, context)
        details = {
            "diff": unified_diff(edited.before, edited.after),
            "firstChangedLine": edited.replacements[0].first_line,
        }
        return text_result(_summary(shown_path(path, context), edited.replacements), details=details)

    return FunctionTool(spec=_SPEC, access="write", function=edit)


def _read(path: Path, target: Path) -> bytes | None:
    """None where there is no file, which an editor may have all the same."""
    try:
        if not target.exists():
            return None
        with open_real_regular(target) as file:
            return file.read()
    except OSError as error:
        raise ToolFailure(f"{path} was not edited: {failure_text(error)}.") from error


def _refuse_missing(path: Path, target: Path) -> None:
    try:
        open_real_regular(target).close()
    except OSError as error:
        raise ToolFailure(f"{path} was not edited: {failure_text(error)}.") from error


def _base(data: bytes, shown: str | None) -> bytes:
    """What is edited: unsaved text of an editor wins over the disk, in the encoding that the disk has."""
    return data if shown is None else file_text(data).to_bytes(shown)


async def _save(path: Path, data: bytes | None, edited: Edited, context: ToolContext) -> None:
    """Through the editor where it can tell the text's every byte, else to the disk."""
    text = known_text(edited.data) if context.editor.can_write else None
    # Asked before the write: an editor or a formatter may have saved meanwhile; its work is not to be lost.
    await anyio.to_thread.run_sync(_unchanged, path, data, context)
    if text is None or not await written(path, text.text, context):
        await anyio.to_thread.run_sync(_write, path, data, edited.data, context)


def _unchanged(path: Path, data: bytes | None, context: ToolContext) -> Path:
    """Where to write. Raises ToolFailure when the file is another by now."""
    target = target_path(path, context)
    if _read(path, target) != data:
        raise ToolFailure(f"{path} changed while it was being edited. It was not touched; read it again.")
    return target


def _write(path: Path, before: bytes | None, data: bytes, context: ToolContext) -> None:
    target = _unchanged(path, before, context)
    try:
        replace_real_file(target, data)
    except OSError as error:
        raise ToolFailure(f"{path} was not edited: {failure_text(error)}.") from error


def _summary(path: str, replacements: Sequence[Replacement]) -> str:
    places = ", ".join(
        str(r.first_line) if r.first_line == r.last_line else f"{r.first_line}-{r.last_line}" for r in replacements
    )
    count = f"{len(replacements)} replacement{'s' if len(replacements) > 1 else ''}"
    text = f"Edited {path}: {count}, at line(s) {places} of the old text."
    if all(replacement.exact for replacement in replacements):
        return text
    return (
        f"{text} An oldText differs from the file in line ends, spaces, quotes, dashes or accents; its place was clear."
    )
