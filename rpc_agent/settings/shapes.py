"""The shapes a setting can have: each says what is wrong with a value, and its JSON Schema. Pure; reads no file."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from msgspec import Struct, field

Problem = tuple[str, str]
"""(dotted path below the value, "" for the value itself; what is wrong with it)."""

_LONGEST_PATH = 4096
"""Characters: Linux takes no more in one call, macOS fewer, and on Windows nobody has longer ones."""
_LONGEST_NAME = 255
"""Characters of one name in a path, the same in the file systems of Linux, macOS and Windows."""
_MOST = (1 << 53) - 1
"""JSON readers disagree about larger whole numbers, and from some size on none of ours can calculate with them."""
_WORDS = {None: "null", True: "true", False: "false"}


class Shape(Protocol):
    """What a value must look like."""

    def problems(self, value: object) -> Iterator[Problem]: ...

    def schema(self) -> dict[str, Any]: ...


class Flag(Struct, frozen=True):
    def problems(self, value: object) -> Iterator[Problem]:
        if not isinstance(value, bool):
            yield "", f"must be true or false, not {shown(value)}"

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


class Whole(Struct, frozen=True):
    """A whole number, not negative."""

    def problems(self, value: object) -> Iterator[Problem]:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            yield "", f"must be a whole number, 0 or more, not {shown(value)}"
        elif value > _MOST:
            yield "", f"must be {_MOST} at most, not {shown(value)}"

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": 0, "maximum": _MOST}


class Number(Struct, frozen=True):
    """Any number, not negative. Python reads 1e999 as infinite, which nobody can pay and no JSON can hold."""

    def problems(self, value: object) -> Iterator[Problem]:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            yield "", f"must be a number, 0 or more, not {shown(value)}"

    def schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": 0}


class AnyText(Struct, frozen=True):
    """Any text, "" too."""

    def problems(self, value: object) -> Iterator[Problem]:
        if not isinstance(value, str):
            yield "", f"must be a text, not {shown(value)}"

    def schema(self) -> dict[str, Any]:
        return {"type": "string"}


class Percent(Struct, frozen=True):
    """More than 0 and at most 100; null takes an earlier value back."""

    def problems(self, value: object) -> Iterator[Problem]:
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 100:
            yield "", f"must be a number above 0 and at most 100, not {shown(value)}"

    def schema(self) -> dict[str, Any]:
        return {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 100}


class Text(Struct, frozen=True):
    """A text that is not empty; `pattern` and `meaning` narrow it, null takes an earlier value back if allowed."""

    pattern: str = ""
    meaning: str = "a text"
    nullable: bool = False

    def problems(self, value: object) -> Iterator[Problem]:
        if value is None and self.nullable:
            return
        if not isinstance(value, str) or not value or (self.pattern and not re.fullmatch(self.pattern, value)):
            yield "", f"must be {self.meaning}, not {shown(value)}"

    def schema(self) -> dict[str, Any]:
        kind: object = ["string", "null"] if self.nullable else "string"
        return {"type": kind, "minLength": 1} | ({"pattern": f"^(?:{self.pattern})$"} if self.pattern else {})


class FilePath(Struct, frozen=True):
    """A path that some system can have: saved although it cannot be one, it would break every later start."""

    def problems(self, value: object) -> Iterator[Problem]:
        if not isinstance(value, str) or not value:
            yield "", f"must be a path, not {shown(value)}"
        elif "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            yield "", f"must be a path, and {shown(value)} holds a character that no path can have"
        elif len(value) > _LONGEST_PATH or any(len(name) > _LONGEST_NAME for name in re.split(r"[/\\]", value)):
            yield "", f"must be a path, and {shown(value)} is longer than one can be"

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "maxLength": _LONGEST_PATH}


class OneOf(Struct, frozen=True):
    choices: tuple[str, ...]

    def problems(self, value: object) -> Iterator[Problem]:
        if value not in self.choices:
            yield "", f"must be one of {', '.join(self.choices)}, not {shown(value)}"

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.choices)}


class ListOf(Struct, frozen=True):
    item: Shape

    def problems(self, value: object) -> Iterator[Problem]:
        if not isinstance(value, list):
            yield "", f"must be a list, not {shown(value)}"
            return
        for index, item in enumerate(value):
            yield from below(str(index), self.item.problems(item))

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.item.schema()}


class Record(Struct, frozen=True):
    """An object with known fields; those in `required` must be there. Other fields are none of our business.

    `purposes` says of fields what they are for, in the words of the schema.
    """

    fields: Mapping[str, Shape]
    required: tuple[str, ...] = ()
    purposes: Mapping[str, str] = field(default_factory=dict)

    def problems(self, value: object) -> Iterator[Problem]:
        if not isinstance(value, Mapping):
            yield "", f"must be an object, not {shown(value)}"
            return
        for name in self.required:
            if name not in value:
                yield name, "is missing"
        for name, shape in self.fields.items():
            if name in value:
                yield from below(name, shape.problems(value[name]))

    def schema(self) -> dict[str, Any]:
        properties = {
            name: shape.schema() | ({"description": self.purposes[name]} if name in self.purposes else {})
            for name, shape in self.fields.items()
        }
        return {"type": "object", "properties": properties} | (
            {"required": list(self.required)} if self.required else {}
        )


class NarrowRecord(Record, frozen=True):
    """A record that a missing field makes wider. Without the field `narrowing` an unknown name is no harmless one:
    it is that field misspelt, and what was written for a few would hold for all."""

    narrowing: str = ""

    def problems(self, value: object) -> Iterator[Problem]:
        yield from super().problems(value)
        if isinstance(value, Mapping) and self.narrowing not in value:
            known = ", ".join(self.fields)
            unknown = (name for name in value if name not in self.fields and not name.startswith("$"))
            yield from ((name, f"is none of {known}") for name in unknown)


class MapOf(Struct, frozen=True):
    """An object whose names are free and whose values all have one shape."""

    item: Shape

    def problems(self, value: object) -> Iterator[Problem]:
        if not isinstance(value, Mapping):
            yield "", f"must be an object, not {shown(value)}"
            return
        for name, item in value.items():
            yield from below(name, self.item.problems(item))

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.item.schema()}


def unknown_names(shape: Shape, value: Any) -> Iterator[str]:
    """Dotted names in a value without problems that its shape does not know. Those of a record without fields are
    free, as are notes for other programs ($schema)."""
    match shape:
        case Record() if shape.fields:
            for name, inner in value.items():
                if name in shape.fields:
                    yield from _unknown_below(name, shape.fields[name], inner)
                elif not name.startswith("$"):
                    yield name
        case ListOf():
            for index, item in enumerate(value):
                yield from _unknown_below(str(index), shape.item, item)
        case MapOf():
            for name, item in value.items():
                yield from _unknown_below(name, shape.item, item)
        case _:
            pass


def _unknown_below(name: str, shape: Shape, value: Any) -> Iterator[str]:
    yield from (f"{name}.{path}" for path in unknown_names(shape, value))


def below(name: str, found: Iterator[Problem]) -> Iterator[Problem]:
    for path, message in found:
        yield (f"{name}.{path}" if path else name), message


def shown(value: object) -> str:
    """A value for a message: short, and never a whole file."""
    text = _WORDS[value] if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
