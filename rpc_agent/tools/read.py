"""The tool `read`: a window of a text file, or a picture."""

import base64
import codecs
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import anyio.to_thread
from msgspec import Struct

from rpc_agent.conversation.blocks import ImageBlock, text_block
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.tools.base import ToolContext, ToolResult, text_result
from rpc_agent.tools.editor_text import unsaved_text
from rpc_agent.tools.failure import ToolFailure, failure_text
from rpc_agent.tools.function_tool import FunctionTool, object_schema
from rpc_agent.tools.paths import absolute_path, shown_path, target_path
from rpc_agent.tools.regular_file import open_real_regular
from rpc_agent.tools.truncation import MAX_BYTES, MAX_LINES, size_text, truncate_head

_BLOCK_BYTES = 1024 * 1024

_COUNTED_BYTES = 64 * 1024 * 1024
"""Knowing the number of all lines is nice to have; beyond this size it is not worth reading on for it."""

_IMAGE_BYTES = 5 * 1024 * 1024 * 3 // 4
"""The smallest of the providers' limits for one picture is 5 MiB, and it counts the base64: four bytes for three."""

_DESCRIPTION = f"""\
Read a file. Text comes from line `offset` on, at most {MAX_LINES} lines or {MAX_BYTES // 1024} KiB at a time; the \
answer's last line says how to go on when there is more. Pictures (PNG, JPEG, GIF, WebP) are shown."""

_SPEC = ToolSpec(
    "read",
    _DESCRIPTION,
    object_schema(
        {
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "The file, absolute or from the working directory.",
            },
            "offset": {"type": "integer", "minimum": 1, "description": "The first line to read, counted from 1."},
            "limit": {"type": "integer", "minimum": 1, "description": "How many lines at most."},
        },
        required=("path",),
    ),
)


class _Window(Struct, frozen=True, kw_only=True):
    """Lines of a file. `total_lines` is None when the file was too large to count them."""

    text: str
    total_lines: int | None
    valid: bool


def read_tool() -> FunctionTool:
    async def read(arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        path = absolute_path(arguments["path"], context)
        offset, limit = arguments.get("offset", 1), arguments.get("limit", MAX_LINES)
        name = shown_path(path, context)
        target = await anyio.to_thread.run_sync(target_path, path, context)
        unsaved = await unsaved_text(path, context)
        if unsaved is not None:
            return _text(_window(io.BytesIO(unsaved.encode()), "utf-8", offset, min(limit, MAX_LINES)), name, offset)
        return await anyio.to_thread.run_sync(_read, target, name, offset, limit, abandon_on_cancel=True)

    return FunctionTool(spec=_SPEC, access="read", function=read)


def _read(path: Path, name: str, offset: int, limit: int) -> ToolResult:
    try:
        with open_real_regular(path) as file:
            start = _first_bytes(file, name)
            file.seek(0)
            if mime_type := _image_type(start):
                return _image(file, name, mime_type)
            bom, encoding = _encoding(start)
            if encoding == "utf-8" and b"\0" in start:
                size = size_text(os.fstat(file.fileno()).st_size)
                raise ToolFailure(f"{name} is a binary file ({size}). Look at it with bash: file, strings, xxd.")
            file.seek(len(bom))
            return _text(_window(file, encoding, offset, min(limit, MAX_LINES)), name, offset)
    except OSError as error:
        raise ToolFailure(f"{name} cannot be read: {failure_text(error)}.") from error


def _first_bytes(file: BinaryIO, name: str) -> bytes:
    start: bytes | None = file.read(8192)
    if start is None:
        # Opened so as not to wait, some files of the system (a log of the kernel) answer so until more is written.
        raise ToolFailure(f"{name} has nothing to read now. Try again later, or wait for it with bash: timeout 5 head.")
    return start


def _image_type(start: bytes) -> str | None:
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if start.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if start.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if start.startswith(b"RIFF") and start[8:12] == b"WEBP" else None


def _image(file: BinaryIO, name: str, mime_type: str) -> ToolResult:
    data = file.read(_IMAGE_BYTES + 1)
    if len(data) > _IMAGE_BYTES:
        raise ToolFailure(
            f"{name} is a picture of more than {size_text(_IMAGE_BYTES)}, too large to send. Make it smaller."
        )
    image: ImageBlock = {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": mime_type}
    return ToolResult((text_block(f"{name}: {mime_type}, {size_text(len(data))}"), image))


def _encoding(start: bytes) -> tuple[bytes, str]:
    for bom, encoding in (
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe\0\0", "utf-32-le"),
        (b"\0\0\xfe\xff", "utf-32-be"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
    ):
        if start.startswith(bom):
            return bom, encoding
    return b"", "utf-8"


def _window(file: BinaryIO, encoding: str, offset: int, limit: int) -> _Window:
    """Goes through the file in blocks; keeps no more of it than an answer may hold."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    kept: list[str] = []
    room, newlines, last, bytes_read = MAX_BYTES + 1, 0, "\n", 0
    while True:
        # None is "nothing more by now": what there was is the answer.
        block = file.read(_BLOCK_BYTES) or b""
        text = decoder.decode(block, not block)
        if text:
            part = _lines_between(text, offset - 1 - newlines, offset - 1 - newlines + limit)[:room]
            kept.append(part)
            room -= len(part)
            newlines += text.count("\n")
            last = text[-1]
        bytes_read += len(block)
        enough = room <= 0 or newlines >= offset - 1 + limit
        if not block or (enough and bytes_read > _COUNTED_BYTES):
            break
    total = newlines + (last != "\n")
    shown = "".join(kept)
    return _Window(text=shown, total_lines=None if block else total, valid="\ufffd" not in shown)


def _lines_between(text: str, first: int, end: int) -> str:
    """The part of `text` from line `first` to before line `end`; its own first line is 0, whole or not."""
    start = _after_newlines(text, first)
    return text[start : _after_newlines(text, end, start, max(first, 0))]


def _after_newlines(text: str, count: int, at: int = 0, passed: int = 0) -> int:
    for _ in range(count - passed):
        newline = text.find("\n", at)
        if newline < 0:
            return len(text)
        at = newline + 1
    return at if count > 0 else 0


def _text(window: _Window, name: str, offset: int) -> ToolResult:
    if not window.text:
        if offset == 1:
            return text_result(f"({name} is empty)")
        raise ToolFailure(f"{name} has {window.total_lines} lines; there is no line {offset}.")
    cut = truncate_head(window.text)
    body = cut.text.replace("\r\n", "\n")
    notes = []
    if cut.cuts_line:
        notes.append(
            f"[Line {offset} is longer than {MAX_BYTES // 1024} KiB, this is its start. See the rest with bash.]"
        )
    next_line = offset + cut.kept_lines
    if window.total_lines is None or next_line <= window.total_lines:
        whole = f" of {window.total_lines}" if window.total_lines is not None else ""
        notes.append(f"[Lines {offset}-{next_line - 1}{whole}. Go on with offset={next_line}.]")
    if not window.valid:
        notes.append("[Some bytes are not valid in the file's encoding and are shown as \ufffd.]")
    if not notes:
        return text_result(body)
    return text_result(body + ("\n" if body.endswith("\n") else "\n\n") + "\n".join(notes))
