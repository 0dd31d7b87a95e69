"""The table of every setting: its dotted name, its shape, its default, what it is for. Pure; reads no file."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from rpc_agent.settings.shapes import (
    FilePath,
    Flag,
    ListOf,
    MapOf,
    NarrowRecord,
    OneOf,
    Percent,
    Problem,
    Record,
    Shape,
    Text,
    Whole,
    unknown_names,
)

THINKING_LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh")
PERMISSION_MODES = ("read-only", "ask", "workspace", "allow")
"""From the strictest to the freest."""
QUEUE_MODES = ("one-at-a-time", "all")

_MODEL_REF = Text(r"[^/\s]+/\S.*", 'a model as "provider/modelId"')
_OPTIONAL_MODEL_REF = Text(r"[^/\s]+/\S.*", 'a model as "provider/modelId"', nullable=True)
_RULE = NarrowRecord(
    {"tool": Text(), "match": Text(), "action": OneOf(("deny", "ask", "allow"))},
    required=("tool", "action"),
    purposes={
        "tool": "a pattern for the tool's name",
        "match": "a pattern for the resolved path or the whole command; absent: any",
        "action": "deny goes before ask, ask before allow",
    },
    narrowing="match",
)


class Field(Struct, frozen=True):
    name: str
    shape: Shape
    default: Any
    """As `get_settings` shows it when nobody set it."""
    purpose: str


_COMPACTION = (
    Field("enabled", Flag(), True, "compact by itself when the context grows too large"),
    Field("reserveTokens", Whole(), 16_384, "tokens of the window kept free"),
    Field("keepRecentTokens", Whole(), 20_000, "tokens of recent messages that stay as they are"),
    Field("thresholdPercent", Percent(), None, "compact above this share of the window, instead of reserveTokens"),
    Field("model", _OPTIONAL_MODEL_REF, None, "the model that writes summaries"),
    Field("selfContained", Flag(), False, "write the kept messages into the compaction entry too"),
)
_OVERRIDES = MapOf(
    Record(
        {field.name: field.shape for field in _COMPACTION},
        purposes={field.name: field.purpose for field in _COMPACTION},
    )
)

FIELDS: tuple[Field, ...] = (
    Field("defaultModel", _MODEL_REF, None, "the model of a new session"),
    Field("defaultThinkingLevel", OneOf(THINKING_LEVELS), None, "how much a new session's model thinks"),
    *(Field(f"compaction.{field.name}", field.shape, field.default, field.purpose) for field in _COMPACTION),
    Field("compaction.modelOverrides", _OVERRIDES, {}, 'compaction fields for one model, by "provider/modelId"'),
    Field("branchSummary.reserveTokens", Whole(), 16_384, "tokens of the window a branch summary leaves free"),
    Field("tokens.estimate", OneOf(("classes", "simple")), "classes", "how tokens are estimated"),
    Field("retry.enabled", Flag(), True, "try a failed model call again"),
    Field("retry.maxRetries", Whole(), 3, "tries after the first one"),
    Field("retry.baseDelayMs", Whole(), 2_000, "wait before the first retry; doubled each time"),
    Field("retry.maxDelayMs", Whole(), 60_000, "longest wait"),
    Field("permissions.mode", OneOf(PERMISSION_MODES), None, "what tools may do unasked"),
    Field("permissions.rules", ListOf(_RULE), [], "exceptions from the mode, per tool and pattern"),
    Field("steeringMode", OneOf(QUEUE_MODES), "one-at-a-time", "how many steering messages are delivered at once"),
    Field("followUpMode", OneOf(QUEUE_MODES), "one-at-a-time", "how many follow-up messages are delivered at once"),
    Field("tools", ListOf(Text()), None, "names of the tools to offer"),
    Field("sessionDir", FilePath(), None, "where session files are kept"),
    Field("shell.path", FilePath(), None, "the shell that runs commands"),
    Field("shell.passEnv", ListOf(Text()), [], "variables with keys that child processes may see"),
    Field("images.block", Flag(), False, "send no image to any model"),
    Field("offline", Flag(), True, "let the built-in offline model answer when no model has a key"),
)

_BY_NAME = {field.name: field for field in FIELDS}
_SECTIONS = frozenset(field.name.partition(".")[0] for field in FIELDS if "." in field.name)


def problems(values: object) -> Iterator[Problem]:
    """(dotted field, what is wrong) for each bad value of a settings object."""
    if not isinstance(values, Mapping):
        yield "", "must be a JSON object"
        return
    for section in _SECTIONS & values.keys():
        if not isinstance(values[section], Mapping):
            yield section, "must be an object"
            return
    for name, value in _named(values):
        field = _BY_NAME.get(name)
        for path, message in field.shape.problems(value) if field else ():
            yield (f"{name}.{path}" if path else name), message


def unknown_fields(values: Mapping[str, Any]) -> list[str]:
    """Names nobody here knows, of values without problems: of a later version, or misspelt."""
    return [unknown for name, value in flatten(values).items() for unknown in _unknown(name, value)]


def _unknown(name: str, value: Any) -> Iterator[str]:
    field = _BY_NAME.get(name)
    if field is not None:
        yield from (f"{name}.{path}" for path in unknown_names(field.shape, value))
    elif not name.startswith("$"):
        yield name


def flatten(values: Mapping[str, Any]) -> dict[str, Any]:
    """By dotted name; only our own sections are opened. Of a setting in both forms the later one counts."""
    return dict(_named(values))


def unfold(values: Mapping[str, Any]) -> dict[str, Any]:
    """The form of the file: what a dotted name says stands in its section, over what the section says itself."""
    unfolded = {name: value for name, value in values.items() if not _is_dotted(name)}
    for name in filter(_is_dotted, values):
        section, _, part = name.partition(".")
        inner = unfolded.get(section, {})
        # A section that is no object is left for `problems` to tell.
        if isinstance(inner, Mapping):
            unfolded[section] = {**inner, part: values[name]}
    return unfolded


def _is_dotted(name: str) -> bool:
    section, dot, _ = name.partition(".")
    return bool(dot) and section in _SECTIONS


def _named(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(dotted name, value); twice for a setting that is there in both forms."""
    for name, value in values.items():
        if name in _SECTIONS and isinstance(value, Mapping):
            yield from ((f"{name}.{part}", inner) for part, inner in value.items())
        else:
            yield name, value


def settings_schema() -> dict[str, Any]:
    """The JSON Schema of a settings.json."""
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rpc-agent settings.json",
        "description": "Of the user, in the configuration folder, or of a trusted project, in .rpc-agent/. "
        "Unknown names are a warning.",
        "type": "object",
        "properties": {},
    }
    for field in FIELDS:
        section, _, part = field.name.rpartition(".")
        properties = schema["properties"]
        if section:
            properties = properties.setdefault(section, {"type": "object", "properties": {}})["properties"]
        properties[part] = {**field.shape.schema(), "description": field.purpose}
        # Null stands for "nobody chose": where it is no value, an editor must not offer it as one.
        if field.default is not None or not any(field.shape.problems(None)):
            properties[part]["default"] = field.default
    return schema
