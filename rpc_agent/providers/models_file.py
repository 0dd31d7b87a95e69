"""models.json -> providers. Checks every field and names the one that is wrong; asks no service."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from rpc_agent.conversation.models import Model, PriceTier
from rpc_agent.errors import SettingsError
from rpc_agent.providers.builtin import Provider, service_address
from rpc_agent.providers.keys import read_key_source
from rpc_agent.providers.timeouts import read_timeouts
from rpc_agent.settings.files import read_json_file
from rpc_agent.settings.shapes import Flag, ListOf, MapOf, Number, OneOf, Record, Text, Whole, unknown_names

APIS = ("openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai", "scripted")

_COST = {name: Number() for name in ("input", "output", "cacheRead", "cacheWrite")}
_COST_PURPOSES = {
    "input": "US dollars for a million tokens of input",
    "output": "US dollars for a million tokens of output",
    "cacheRead": "US dollars for a million tokens read from the service's cache",
    "cacheWrite": "US dollars for a million tokens written to it",
}
_TIER = Record(
    {**_COST, "inputTokensAbove": Whole()},
    purposes={**_COST_PURPOSES, "inputTokensAbove": "the prices hold for requests with more input than this"},
)
_MODEL = Record(
    {
        "id": Text(),
        "name": Text(),
        "api": OneOf(APIS),
        "reasoning": Flag(),
        "input": ListOf(OneOf(("text", "image"))),
        "contextWindow": Whole(),
        "maxTokens": Whole(),
        "cost": Record(
            {**_COST, "tiers": ListOf(_TIER)},
            purposes={**_COST_PURPOSES, "tiers": "other prices for large requests"},
        ),
        "compat": Record({}),
        "thinkingLevelMap": Record({}),
    },
    required=("id",),
    purposes={
        "id": "what the service calls the model",
        "name": "what people call it",
        "api": "how the service is spoken to, where this model differs from its provider",
        "reasoning": "whether it can think before it answers",
        "input": "what a message may hold",
        "contextWindow": "tokens of input and output together",
        "maxTokens": "tokens of one answer at most",
        "cost": "prices; without them no cost is counted",
        "compat": "quirks of the service that differ from its API",
        "thinkingLevelMap": "thinking level -> the service's own word for it",
    },
)
_TIMEOUTS = Record(
    {"connectMs": Whole(), "idleMs": Whole()},
    purposes={
        "connectMs": "milliseconds until a connection must be there: 10,000 unless said, 0 for no limit",
        "idleMs": "milliseconds without a byte after which an answer has stalled: 300,000 unless said, 0 for no limit",
    },
)
_PROVIDER = Record(
    {
        "baseUrl": Text(r"https?://\S+", "an address that begins with http:// or https://"),
        "apiKey": Text(),
        "apiKeyEnv": Text(r"[A-Za-z_]\w*", "the name of a variable"),
        "api": OneOf(APIS),
        "headers": MapOf(Text()),
        "compat": Record({}),
        "timeouts": _TIMEOUTS,
        "script": Text(),
        "models": ListOf(_MODEL),
    },
    purposes={
        "baseUrl": "the service's address",
        "apiKey": "the key itself, $NAME for an environment variable, or !COMMAND whose first line of output it is",
        "apiKeyEnv": "the environment variable that holds the key",
        "api": "how the service is spoken to",
        "headers": "further HTTP headers of each request",
        "compat": "quirks of the service that differ from its API",
        "timeouts": "how long the service is waited for",
        "script": "for the API scripted: the file with the answers, beside this one",
        "models": "the provider's models",
    },
)
MODELS_SHAPE = Record(
    {"providers": MapOf(_PROVIDER)},
    required=("providers",),
    purposes={"providers": "services that have models, by name"},
)
"""The shape of a models.json."""


_KEY_FIELD = re.compile(r"\.(apiKey|apiKeyEnv|baseUrl|headers)(\.|$)")


def models_file(config_dir: Path) -> Path:
    return config_dir / "models.json"


def load_providers(file: Path, builtin: Mapping[str, Provider]) -> dict[str, Provider]:
    """The providers of a models.json, in its order; one with a built-in's name adds to that one and overrides it.

    A missing file has none. Raises SettingsError naming field and file.
    """
    raw = read_json_file(file)
    if not raw:
        return {}
    for path, message in MODELS_SHAPE.problems(raw):
        raise SettingsError(_without_key(path, message), field=path or "models", file=str(file))
    return {name: _read_provider(name, value, builtin.get(name), file) for name, value in raw["providers"].items()}


def unknown_model_fields(file: Path) -> list[str]:
    """Names in a models.json that can be used which nobody here knows: misspelt, or another program's."""
    return list(unknown_names(MODELS_SHAPE, read_json_file(file) or {}))


def _without_key(path: str, message: str) -> str:
    """What is wrong, without the value where it may be a key: that of such a field, or one put for a whole object."""
    may_be_key = _KEY_FIELD.search(path) or message.startswith("must be an object")
    return message.partition(", not ")[0] if may_be_key else message


def _read_provider(name: str, raw: Mapping[str, Any], old: Provider | None, file: Path) -> Provider:
    given = service_address(raw.get("baseUrl", ""))
    if old and given:
        old = old.moved(given)
    api = raw.get("api") or (old.api if old else "")
    base_url = given or (old.base_url if old else "")
    _require(name, api, base_url, raw, file)
    key = read_key_source(raw.get("apiKey"), raw.get("apiKeyEnv"))
    provider = Provider(
        name=name,
        api=api,
        base_url=base_url,
        # An address of the file's own is not replaced by a variable.
        base_url_variable=old.base_url_variable if old and "baseUrl" not in raw else "",
        api_elsewhere=old.api_elsewhere if old and "api" not in raw else "",
        key=key if key.kind != "none" or old is None else old.key,
        headers={**(old.headers if old else {}), **raw.get("headers", {})},
        compat={**(old.compat if old else {}), **raw.get("compat", {})},
        timeouts=read_timeouts(raw.get("timeouts", {})),
        script=str(file.parent / raw["script"]) if "script" in raw else "",
    )
    return replace(provider, models=_models(provider, raw, old))


def _models(provider: Provider, raw: Mapping[str, Any], old: Provider | None) -> tuple[Model, ...]:
    """The file's models first, then the built-in ones that it does not name, with what the file says of all."""
    known = {model.id: model for model in old.models} if old else {}
    own = {model["id"]: _read_model(provider, model, known.get(model["id"])) for model in raw.get("models", ())}
    api, compat = raw.get("api"), raw.get("compat")
    if api or compat:
        known = {
            model_id: replace(model, api=api or model.api, compat={**model.compat, **(compat or {})})
            for model_id, model in known.items()
        }
    return (*own.values(), *(model for model_id, model in known.items() if model_id not in own))


def _require(name: str, api: str, base_url: str, raw: Mapping[str, Any], file: Path) -> None:
    missing = ""
    if "/" in name or not name:
        raise SettingsError("a provider's name has no slash", field=f"providers.{name}", file=str(file))
    if not api:
        missing = "api"
    elif api == "scripted":
        missing = "" if "script" in raw else "script"
    elif not base_url:
        missing = "baseUrl"
    if missing:
        raise SettingsError("is missing", field=f"providers.{name}.{missing}", file=str(file))


def _read_model(provider: Provider, raw: Mapping[str, Any], old: Model | None) -> Model:
    """A model of the file; what it leaves out comes from the built-in model of the same id."""
    base = old or Model(id=raw["id"], provider=provider.name, api=provider.api)
    compat = {**provider.compat, **base.compat, **raw.get("compat", {})}
    if "thinkingLevelMap" in raw:
        compat["reasoningEffortMap"] = raw["thinkingLevelMap"]
    cost = raw.get("cost")
    return Model(
        id=raw["id"],
        provider=provider.name,
        api=raw.get("api", base.api if old else provider.api),
        name=raw.get("name", base.name),
        base_url=provider.base_url,
        reasoning=raw.get("reasoning", base.reasoning),
        input=tuple(raw.get("input", base.input)),
        context_window=raw.get("contextWindow", base.context_window),
        max_tokens=raw.get("maxTokens", base.max_tokens),
        cost=base.cost if cost is None else _prices(cost),
        price_tiers=base.price_tiers if cost is None else _tiers(cost),
        compat=compat,
    )


def _prices(cost: Mapping[str, Any]) -> dict[str, float]:
    return {name: value for name, value in cost.items() if name in _COST}


def _tiers(cost: Mapping[str, Any]) -> tuple[PriceTier, ...]:
    return tuple(PriceTier(tier.get("inputTokensAbove", 0), _prices(tier)) for tier in cost.get("tiers", ()))
