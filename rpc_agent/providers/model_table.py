"""The generated table of models (data/models.json) -> models. Read when it is first needed; asks no service."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from rpc_agent.conversation.models import Model, PriceTier

TABLE = Path(__file__).with_name("data") / "models.json"

_PRICES = ("input", "output", "cacheRead", "cacheWrite")


@cache
def read_table() -> Mapping[str, Any]:
    """The table as it was generated; `data.rows` says what a row holds. 1 ms."""
    table: Mapping[str, Any] = orjson.loads(TABLE.read_bytes())
    return table


def table_models(
    provider: str, api: str, base_url: str, compat: Mapping[str, Any], first: Sequence[str]
) -> list[Model]:
    """The models of one provider, those named in `first` before the others; a name the table lacks is passed over."""
    table = read_table()
    known: Mapping[str, Sequence[Any]] = table["providers"].get(provider, {})
    order = [model_id for model_id in first if model_id in known]
    order += [model_id for model_id in known if model_id not in first]
    return [_model(provider, model_id, known[model_id], api, base_url, compat, table["efforts"]) for model_id in order]


def prices(values: Sequence[float]) -> dict[str, float]:
    """Prices by name, for those that are known."""
    return dict(zip(_PRICES, values, strict=False))


def _model(
    provider: str,
    model_id: str,
    row: Sequence[Any],
    api: str,
    base_url: str,
    compat: Mapping[str, Any],
    efforts: Sequence[Mapping[str, str | None]],
) -> Model:
    # Rows are cut behind their last known field.
    window, output, marks, flat, tiers, effort = (*row, *_ROW_END[len(row) :])
    return Model(
        id=model_id,
        provider=provider,
        api=api,
        base_url=base_url,
        reasoning="r" in marks,
        input=("text", "image") if "i" in marks else ("text",),
        context_window=window,
        max_tokens=output,
        cost=prices(flat),
        price_tiers=tuple(PriceTier(above, prices(step)) for above, *step in tiers),
        compat=_compat(compat, marks, None if effort is None else efforts[effort]),
    )


_ROW_END: Sequence[Any] = (0, 0, "", (), (), None)


def _compat(shared: Mapping[str, Any], marks: str, efforts: Mapping[str, str | None] | None) -> Mapping[str, Any]:
    own: dict[str, Any] = {}
    if efforts is not None:
        # A model whose efforts are known can be told them, whatever holds for the others of its provider.
        own |= {"reasoningEffortMap": efforts, "supportsReasoningEffort": True}
    if "a" in marks:
        own["supportsAdaptiveThinking"] = True
    if "d" in marks:
        own["supportsThinkingDisabled"] = True
    if "R" in marks:
        own["responsesOnly"] = True
    return {**shared, **own} if own else shared
