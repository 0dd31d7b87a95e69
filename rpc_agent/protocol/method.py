"""What a row of the method table says. Knows no method."""

from typing import Any, Literal

from msgspec import Struct

from rpc_agent.protocol.wire_model import WireModel

Ordering = Literal["in-order", "alongside", "connection"]
Scope = Literal["connection", "session"]


class Method(Struct, frozen=True):
    """One method of the server.

    `params` is a model, `result` the TypedDict (or a union of them, or None) that a handler returns.
    """

    name: str
    params: type[WireModel]
    result: Any
    summary: str
    ordering: Ordering
    """in-order: after the session's earlier calls of this kind, in the order they were read.
    alongside: at once. connection: it decides what later requests mean (which session is the current one),
    so those read after it wait for it."""
    scope: Scope
    """session: takes sessionId?, and its result carries sessionId."""
    positional: tuple[str, ...] = ()
    """Names of the params, as on the wire, that an array gives in this order; empty: only an object (or []) will do."""
    errors: tuple[str, ...] = ()
    """Reasons it may answer, beside those that every method may (error_codes)."""
    since: int = 1
    """The protocol version that brought it."""


class ClientNotification(Struct, frozen=True):
    """A notification from the client."""

    name: str
    params: type[WireModel]
    summary: str
