"""Sources' records of models -> rows of our table. Pure: picks, renames and rounds; fetches and writes nothing.

A row is [window, most output, marks, prices, tiers, effort map], trailing empty fields left out.
Marks: "r" it can think, "i" it reads images, "R" only the responses API answers for it, "a" it thinks as much as it
finds useful ("adaptive"), "d" it thinks unless thinking is switched off. Prices are dollars per million tokens: [input,
output, cache read, cache write]. A tier is [tokens above which it holds for the whole call, *prices]. The last field is
a place in the table of effort maps.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

Row = list[Any]
Record = Mapping[str, Any]

_NO_AGENT = re.compile(
    r"audio|tts|image|live|realtime|transcribe|embed|computer-use|deep-research|robotics|lyria|guard|container|^ft:"
    r"|moderation|ocr|voxtral|-fim-|search|customtools|multi-agent|omni|together-ai-|:batch$|^~|-exp-|whisper|safeguard"
)
"""Parts of names of models that do something else than hold a conversation with tools."""

_PRICE_FIELDS = (
    "input_cost_per_token",
    "output_cost_per_token",
    "cache_read_input_token_cost",
    "cache_creation_input_token_cost",
)
_TIER = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
_VENDORS = {
    "anthropic": "anthropic",
    "deepseek": "deepseek",
    "google": "gemini",
    "mistralai": "mistral",
    "moonshotai": "moonshot",
    "openai": "openai",
    "qwen": "dashscope",
    "x-ai": "xai",
    "z-ai": "zai",
}
"""Makers as a reseller names them, and as the first source does."""


_NOT_RESOLD = str.maketrans("", "", "Rad")
"""Marks that hold for the maker's own API alone."""


def is_conversational(model_id: str) -> bool:
    """Whether the name speaks of nothing but a conversation."""
    return not _NO_AGENT.search(model_id)


def is_agent_model(model_id: str, record: Record, as_of: str) -> bool:
    """Whether a model of the first source is of use here on the day `as_of` (ISO): it talks, calls tools, runs."""
    return (
        record.get("mode") in ("chat", "responses")
        and bool(record.get("supports_function_calling"))
        and bool(_count(record.get("max_input_tokens")))
        and str(record.get("deprecation_date", "9999")) > as_of
        and is_conversational(model_id)
    )


def row_of(model_id: str, record: Record, tiers: list[list[float]], efforts: "EffortMaps") -> Row:
    """The row of one model of the first source. `tiers` are those of the second, used where the first has none."""
    prices, own_tiers = prices_of(record)
    return _trimmed(
        [
            _count(record["max_input_tokens"]),
            _count(record.get("max_output_tokens")),
            _marks(record),
            prices,
            own_tiers or tiers,
            efforts.place(effort_map(model_id, record)),
        ]
    )


def resold_row(model_id: str, window: int, prices: list[Any], record: Record, efforts: "EffortMaps") -> Row:
    """The row of a reseller's model: its own window and prices; `record` (may be empty) is the maker's model."""
    output = _count(record.get("max_output_tokens"))
    marks = _marks(record).translate(_NOT_RESOLD)
    flat, tiers = prices
    place = efforts.place(effort_map(model_id, record)) if record else None
    return _trimmed([window, min(output, window), marks, flat, tiers, place])


def prices_of(record: Record) -> tuple[list[float], list[list[float]]]:
    """Prices and tiers; ([], []) where the source has none."""
    stepped = record.get("tiered_pricing")
    if stepped and "range" in stepped[0]:
        steps = [(int(step["range"][0]), _prices(step)) for step in stepped]
        return steps[0][1], [[above, *prices] for above, prices in steps[1:]]
    tiers: list[list[float]] = []
    for field in sorted(record):
        if found := _TIER.fullmatch(field):
            suffix = f"_above_{found[1]}k_tokens"
            # A price without a value of its own at this step stays what it was.
            step = {name: record.get(name + suffix, record.get(name)) for name in _PRICE_FIELDS}
            tiers.append([int(found[1]) * 1000, *_prices(step)])
    return _prices(record), sorted(tiers)


def effort_map(model_id: str, record: Record) -> dict[str, str | None]:
    """Thinking level -> the service's word; None where the model has no such level. What is usual is left out."""
    if not record.get("supports_reasoning"):
        return {}
    levels = record.get("reasoning_effort_levels")
    if levels:
        return _map_of(set(levels))
    if record.get("litellm_provider") == "openai":
        return _openai_map(record)
    if "gpt-oss" in model_id:
        return {"off": None, "minimal": None}
    efforts: dict[str, str | None] = {}
    if record.get("thinking_always_on"):
        efforts["off"] = None
    if record.get("supports_minimal_reasoning_effort") is False:
        efforts["minimal"] = None
    if top := _top(record):
        efforts["xhigh"] = top
    return efforts


class EffortMaps:
    """The few different maps, in order of appearance."""

    def __init__(self) -> None:
        self.maps: list[dict[str, str | None]] = []

    def place(self, efforts: dict[str, str | None]) -> int | None:
        if not efforts:
            return None
        if efforts not in self.maps:
            self.maps.append(efforts)
        return self.maps.index(efforts)


class Makers:
    """Finds the maker's own record of a model that a reseller offers under a longer name."""

    def __init__(self, records: Mapping[str, Record]) -> None:
        self._records: dict[tuple[str, str], Record] = {}
        for name, record in sorted(records.items()):
            self._records.setdefault((str(record.get("litellm_provider")), _plain(name)), record)

    def record(self, model_id: str) -> Record:
        """Empty where the maker's model is not known."""
        vendor, _, name = model_id.partition("/")
        found = self._records.get((_VENDORS.get(vendor, vendor), _plain(name)))
        return found or self._records.get(("vercel_ai_gateway", _plain(name))) or {}


def _plain(name: str) -> str:
    return name.rpartition("/")[2].partition(":")[0].lower().replace(".", "-")


def _openai_map(record: Record) -> dict[str, str | None]:
    efforts: dict[str, str | None] = {"off": "none" if record.get("supports_none_reasoning_effort") else None}
    if not record.get("supports_minimal_reasoning_effort"):
        efforts["minimal"] = None
    if record.get("supports_low_reasoning_effort") is False:
        efforts["low"] = None
    if top := _top(record):
        efforts["xhigh"] = top
    return efforts


def _map_of(levels: set[str]) -> dict[str, str | None]:
    efforts: dict[str, str | None] = {"off": "none" if "none" in levels else None}
    efforts |= {level: None for level in ("minimal", "low", "medium", "high") if level not in levels}
    if top := next((word for word in ("xhigh", "max") if word in levels), None):
        efforts["xhigh"] = top
    return efforts


def _top(record: Record) -> str | None:
    if record.get("supports_xhigh_reasoning_effort"):
        return "xhigh"
    return "max" if record.get("supports_max_reasoning_effort") else None


def _marks(record: Record) -> str:
    holds = {
        "r": record.get("supports_reasoning"),
        "i": record.get("supports_vision"),
        "R": record.get("mode") == "responses" and record.get("litellm_provider") == "openai",
        "a": record.get("supports_adaptive_thinking"),
        "d": record.get("thinking_on_by_default") and not record.get("thinking_always_on"),
    }
    return "".join(mark for mark, held in holds.items() if held)


def _prices(record: Record) -> list[float]:
    values = [_per_million(record.get(name)) for name in _PRICE_FIELDS]
    return _without_end(values, 0)


def _per_million(price: object) -> float:
    # Rounded, because a price per token times a million is 0.7999999 where 0.8 was meant.
    value = round(float(price) * 1_000_000, 6) if isinstance(price, int | float) else 0.0
    return int(value) if value.is_integer() else value


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) and value > 0 else 0


def _trimmed(row: Row) -> Row:
    return _without_end(row, None, [], "")


def _without_end(values: list[Any], *empty: object) -> list[Any]:
    kept = list(values)
    while kept and any(kept[-1] == nothing and type(kept[-1]) is type(nothing) for nothing in empty):
        kept.pop()
    return kept


def listed(records: Mapping[str, Record], source: str, prefix: str, as_of: str) -> Iterator[tuple[str, Record]]:
    """The models of one provider of the first source, by the id that the service itself knows."""
    for name, record in sorted(records.items()):
        if record.get("litellm_provider") != source:
            continue
        model_id = name.removeprefix(prefix)
        # Fireworks has short aliases beside the ids its service lists.
        if source == "fireworks_ai" and not model_id.startswith("accounts/fireworks/models/"):
            continue
        if is_agent_model(model_id, record, as_of):
            yield model_id, record
