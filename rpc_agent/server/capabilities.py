"""What the client said it can do. Read leniently and without pydantic: `initialize` is answered before the imports."""

from collections.abc import Mapping
from typing import Any


class ClientCapabilities:
    """Unknown and malformed capabilities count as not given: an old server must serve a newer client."""

    def __init__(self, raw: object = None) -> None:
        self.raw: Mapping[str, Any] = raw if isinstance(raw, Mapping) else {}
        self.abort_on_eof = self.raw.get("abortOnEof") is True
        self.answers_permissions = self.raw.get("permissions") is True
        self.deltas = self.raw.get("deltas") if self.raw.get("deltas") in ("each", "merged", "none") else "each"
        names = self.raw.get("optOutNotifications")
        self._unwanted = frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()

    def wants(self, notification: str) -> bool:
        return notification not in self._unwanted
