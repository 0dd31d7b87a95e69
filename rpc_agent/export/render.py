"""One function for all formats of an export."""

from typing import Literal

from rpc_agent.export.html_page import export_html
from rpc_agent.export.jsonl import export_jsonl
from rpc_agent.export.markdown import export_markdown
from rpc_agent.export.snapshot import SessionSnapshot

Format = Literal["html", "markdown", "jsonl"]


def render(snapshot: SessionSnapshot, format: Format) -> str | bytes:
    """The session in a format: text for html and markdown (to be written as UTF-8), bytes for jsonl."""
    match format:
        case "html":
            return export_html(snapshot)
        case "markdown":
            return export_markdown(snapshot)
        case "jsonl":
            return export_jsonl(snapshot)
