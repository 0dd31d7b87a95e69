"""The tool `edit`: exact replacements in one file, all of them or none."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread

from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.platform.atomic_write import replace_file
from rpc_agent.tools.base import ToolContext, ToolResult, text_result
from rpc_agent.tools.edit_diff import unified_diff
from rpc_agent.tools.edit_match import Edit, Edited, Replacement, apply_edits
from rpc_agent.tools.failure import ToolFailure, failure_text
from rpc_agent.tools.function_tool import FunctionTool, object_schema
from rpc_agent.tools.path_locks import PathLocks
from rpc_agent.tools.paths import absolute_path, real_path, shown_path
from rpc_agent.tools.regular_file import open_regular

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
            edited = await anyio.to_thread.run_sync(_edit, path, edits)
        details = {
            "diff": unified_diff(edited.before, edited.after),
            "firstChangedLine": edited.replacements[0].first_line,
        }
        return text_result(_summary(shown_path(path, context), edited.replacements), details=details)

    return FunctionTool(spec=_SPEC, access="write", function=edit)


def _edit(path: Path, edits: Sequence[Edit]) -> Edited:
    target = real_path(path)
    try:
        with open_regular(target) as file:
            data = file.read()
        edited = apply_edits(data, edits)
        # An editor or a formatter may have saved meanwhile; its work is not to be lost.
        if target.read_bytes() != data:
            raise ToolFailure(f"{path} changed while it was being edited. It was not touched; read it again.")
        replace_file(target, edited.data)
    except OSError as error:
        raise ToolFailure(f"{path} was not edited: {failure_text(error)}.") from error
    return edited


def _summary(path: str, replacements: Sequence[Replacement]) -> str:
    places = ", ".join(
        str(r.first_line) if r.first_line == r.last_line else f"{r.first_line}-{r.last_line}" for r in replacements
    )
    count = f"{len(replacements)} replacement{'s' if len(replacements) > 1 else ''}"
    text = f"Edited {path}: {count}, at line(s) {places} of the old text."
    if all(replacement.exact for replacement in replacements):
        return text
    return f"{text} An oldText differed from the file in line ends, spaces, quotes or dashes, but its place was clear."
