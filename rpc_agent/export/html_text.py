"""The single gate between a session's words and HTML: every text of others goes through `shown` or `prose`."""

import re
from html import escape

from rpc_agent.export.fences import CodeLines, ProseLines, code_spans, split_fences
from rpc_agent.export.plain_text import one_line, plain

_BOLD = re.compile(r"\*\*[^*\n]+\*\*")
_HEADING = re.compile(r" {0,3}#{1,6} ")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
# Pixels only: an SVG is a document of its own.


def shown(text: str) -> str:
    """Text as it is, for element content and for quoted attributes."""
    return escape(plain(text))


def shown_on_a_line(text: str) -> str:
    return escape(one_line(text))


def prose(text: str) -> str:
    """Markdown as its own source, code, headings and stress made visible. Loses no character, makes no link."""
    return "".join(_code(run) if isinstance(run, CodeLines) else _prose(run) for run in split_fences(plain(text)))


def picture(mime_type: str, data: str) -> str | None:
    """An image element, None for a type that is no plain image and for what is no Base64."""
    packed = "".join(data.split())
    if mime_type not in _IMAGE_TYPES or not _BASE64.fullmatch(packed):
        return None
    return f'<img alt="" src="data:{mime_type};base64,{packed}">'


def _prose(run: ProseLines) -> str:
    text = "\n".join(map(_line, run.lines)).strip("\n")
    return f'<div class="prose">{text}</div>' if text else ""


def _line(line: str) -> str:
    inside = "".join(
        f"<code>{escape(piece)}</code>" if is_code else _bold(piece) for is_code, piece in code_spans(line)
    )
    return f"<b>{inside}</b>" if _HEADING.match(line) else inside


def _bold(piece: str) -> str:
    return _BOLD.sub(lambda found: f"<b>{found[0]}</b>", escape(piece))


def _code(run: CodeLines) -> str:
    # The line end behind <pre> is eaten by browsers, so the first line may be empty.
    body = escape("\n".join(run.lines))
    closing = "" if run.closing is None else f'\n<span class="mark">{escape(run.closing)}</span>'
    return f'<pre>\n<span class="mark">{escape(run.opening)}</span>\n{body}{closing}</pre>'
