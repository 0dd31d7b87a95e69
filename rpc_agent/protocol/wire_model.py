"""The two forms of a value that crosses the wire. Knows no method and no field of any.

What comes in is a `WireModel`, checked by pydantic. What goes out is a TypedDict in the wire's own spelling: the type
checker checks it where it is made, an absent field and a null one stay different, and it costs nothing to send.
The docstring under a field is its published description, so it is written for the authors of clients.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, with_config
from pydantic_core import CoreSchema
from typing_extensions import TypedDict

JsonObject = dict[str, Any]


def to_camel(name: str) -> str:
    """session_id -> sessionId. Ours, because pydantic's own costs 5 ms over all models of this package."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


class WireModel(BaseModel):
    """A value from the client: camelCase outside, snake_case inside, nothing converted, nothing unknown let in."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        frozen=True,
        extra="forbid",
        strict=True,
        # Building validators at import would cost more than the whole start-up may.
        defer_build=True,
        # `model_id` is a name of the field, not of pydantic.
        protected_namespaces=(),
    )

    meta: Annotated[Any, Field(alias="_meta", exclude=True, repr=False)] = None
    """Ignored by the server; room for a client's own notes."""

    def to_wire(self) -> JsonObject:
        """The value as the client spelled it, without what the client left out."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class NoParams(WireModel):
    """Nothing beside `_meta`."""


class SessionParams(WireModel):
    """What every method of a session takes."""

    session_id: str | None = None
    """The session that is meant. Absent: the connection's current session, the one it made or opened last; when
    there is none, a new one in the server's working directory."""


class SessionResult(TypedDict):
    """What every answer about a session says at least."""

    sessionId: str
    """The session that this is about."""


class Empty(TypedDict):
    """An empty object."""


class Documented:
    """Gives a loosely typed field the published shape of `shape`.

    The engine hands over its own typed dictionaries; for the type checker they are mappings, for readers of the
    contract they are the documented shape.
    """

    def __init__(self, shape: Any) -> None:
        self.shape = shape

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(self.shape)


AnyObject = Mapping[str, Any]

NullIsAValue = Field(json_schema_extra={"x-null": True})
"""For an optional parameter where null says something else than leaving it out; elsewhere the two mean the same."""


open_object = with_config(ConfigDict(extra="allow"))
"""Decorates an object in which other programs and later versions may have fields that nobody here knows."""
