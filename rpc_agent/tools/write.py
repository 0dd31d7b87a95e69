"""The tool `write`: a whole file, made or replaced at once."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread

from rpc_agent.conversation.json_values import without_lone_surrogates
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.platform.atomic_write import replace_real_file
from rpc_agent.platform.real_folder import real_folder
from rpc_agent.tools.base import ToolContext, ToolResult, text_result
from rpc_agent.tools.editor_text import written
from rpc_agent.tools.failure import ToolFailure, failure_text
from rpc_agent.tools.function_tool import FunctionTool, object_schema
from rpc_agent.tools.path_locks import PathLocks
from rpc_agent.tools.paths import absolute_path, shown_path, target_path
from rpc_agent.tools.truncation import size_text

_SPEC = ToolSpec(
    "write",
    "Write a whole text file: make it, with its folders, or replace everything in it. To change a part of it use edit.",
    object_schema(
        {
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "The file, absolute or from the working directory.",
            },
            "content": {"type": "string", "description": "All of the file's new text, written as UTF-8."},
        },
        required=("path", "content"),
    ),
)


def write_tool(locks: PathLocks) -> FunctionTool:
    async def write(arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        path = absolute_path(arguments["path"], context)
        content = without_lone_surrogates(arguments["content"])
        data = content.encode()
        async with locks.hold(path):
            target = await anyio.to_thread.run_sync(target_path, path, context)
            existed = await anyio.to_thread.run_sync(_prepare, path, target)
            if not await written(path, content, context):
                await anyio.to_thread.run_sync(_write, path, target, data)
        verb = "Replaced" if existed else "Made"
        return text_result(f"{verb} {shown_path(path, context)} ({size_text(len(data))}).")

    return FunctionTool(spec=_SPEC, access="write", function=write)


def _prepare(path: Path, target: Path) -> bool:
    """Whether there is a file already; its folders are there afterwards."""
    try:
        if target.is_dir():
            raise ToolFailure(f"{path} is a folder, not a file. Nothing was written.")
        with real_folder(target.parent, make=True) as folder:
            return folder.status(target.name) is not None
    except OSError as error:
        raise ToolFailure(f"{path} was not written: {failure_text(error)}.") from error


def _write(path: Path, target: Path, data: bytes) -> None:
    try:
        replace_real_file(target, data)
    except OSError as error:
        raise ToolFailure(f"{path} was not written: {failure_text(error)}.") from error
