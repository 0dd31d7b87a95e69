"""What the client said it can do. Read leniently and without pydantic: `initialize` is answered before the imports."""

from collections.abc import Mapping
from typing import Any


class ClientCapabilities:
    """Unknown and malformed capabilities count as not given: an old server must serve a newer client."""

    def __init__(self, raw: object = None) -> None:
        self._raw: Mapping[str, Any] = raw if isinstance(raw, Mapping) else {}
        files = self._raw.get("fileSystem")
        files = files if isinstance(files, Mapping) else {}
        self.abort_on_eof = _offered(self._raw.get("abortOnEof"))
        self.answers_permissions = _offered(self._raw.get("permissions"))
        self.reads_files = _offered(files.get("read"))
        self.writes_files = _offered(files.get("write"))
        self.shows_ui = _offered(self._raw.get("ui"))
        self.hooks = frozenset(_texts(self._raw.get("hooks")))
        self.tools = [tool for each in _list(self._raw.get("tools")) if (tool := _tool(each)) is not None]
        """(name, description, input schema) each."""
        self.deltas = self._raw.get("deltas") if self._raw.get("deltas") in ("each", "merged", "none") else "each"
        self._unwanted = frozenset(_texts(self._raw.get("optOutNotifications")))

    def wants(self, notification: str) -> bool:
        return notification not in self._unwanted


def _offered(value: object) -> bool:
    """True, or an object with room for details."""
    return value is True or isinstance(value, Mapping)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: object) -> list[str]:
    return [text for text in _list(value) if isinstance(text, str)]


def _tool(value: object) -> tuple[str, str, dict[str, Any]] | None:
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str) or not value["name"]:
        return None
    description, schema = value.get("description"), value.get("inputSchema")
    shape = dict(schema) if isinstance(schema, Mapping) else {"type": "object"}
    return value["name"], description if isinstance(description, str) else "", shape
