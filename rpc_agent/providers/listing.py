"""What a service's own list of models says of their limits, whatever it calls them. Pure; asks nobody."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rpc_agent.conversation.json_values import as_count, as_object, as_text
from rpc_agent.conversation.models import Model

_WINDOW_FIELDS = (
    "context_length",  # OpenRouter, Together, Fireworks, xAI
    "context_window",  # Groq
    "max_context_length",  # Mistral, LM Studio
    "max_model_len",  # vLLM
    "max_input_tokens",  # Anthropic
    "inputTokenLimit",  # Google
)
_OUTPUT_FIELDS = ("max_completion_tokens", "max_output_tokens", "outputTokenLimit")


class Listed(Struct, frozen=True):
    """One model of a list; 0 where the list does not say."""

    id: str
    context_window: int = 0
    max_tokens: int = 0


def read_listing(payload: object) -> list[Listed]:
    """The models of a list in any of the usual shapes: {"data": [...]}, {"models": [...]}, [...]."""
    lists = (as_object(payload).get("data"), as_object(payload).get("models"), payload)
    rows = next((found for found in lists if isinstance(found, list)), [])
    return [listed for row in rows if (listed := _read(as_object(row))).id]


def _read(row: Mapping[str, Any]) -> Listed:
    # Google's names are paths.
    model_id = (as_text(row.get("id")) or as_text(row.get("name"))).removeprefix("models/")
    output = _first(row, _OUTPUT_FIELDS) or as_count(as_object(row.get("top_provider")).get("max_completion_tokens"))
    return Listed(model_id, _first(row, _WINDOW_FIELDS), output)


def _first(row: Mapping[str, Any], names: Sequence[str]) -> int:
    return next((count for name in names if (count := as_count(row.get(name)))), 0)


def with_listing(models: Sequence[Model], listed: Iterable[Listed], new: Model) -> tuple[Model, ...]:
    """The known models with the limits that the service states; behind them those nobody knew, made from `new`.

    Where models are known, a new one needs a window: lists also hold what makes pictures or speech, nameless as such.
    """
    stated = {row.id: row for row in listed}
    known = [_updated(model, stated.pop(model.id, None)) for model in models]
    added = [row for row in stated.values() if row.context_window or not models]
    return (*known, *(_updated(replace(new, id=row.id), row) for row in added))


def _updated(model: Model, row: Listed | None) -> Model:
    if row is None:
        return model
    return replace(
        model,
        context_window=row.context_window or model.context_window,
        max_tokens=row.max_tokens or model.max_tokens,
    )
