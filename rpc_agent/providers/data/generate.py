"""Makes models.json out of two packages' data. Run by hand in an environment that has them; nothing imports it.

    python -m venv scratch && scratch/bin/pip install litellm genai-prices
    scratch/bin/python -P rpc_agent/providers/data/generate.py --as-of YYYY-MM-DD [--check]

Same packages and same day give the same bytes. `--check` writes nothing and exits 1 when the file would change.
Models that their maker has switched off by that day are left out. The notices of both packages are in NOTICE.
"""

import argparse
import importlib
import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
TABLE = _HERE / "models.json"

# Run as a script it finds its neighbour, without our package being installed beside the sources.
sys.path.insert(0, str(_HERE))
rows = importlib.import_module("rows")
sys.path.pop(0)

_MISSING = "a source is not installed here: scratch/bin/pip install litellm genai-prices"
_LIMITS_FILE = "model_prices_and_context_window_backup.json"

PROVIDERS: dict[str, tuple[str, str, str]] = {
    "anthropic": ("anthropic", "", "anthropic"),
    "openai": ("openai", "", "openai"),
    "google": ("gemini", "gemini/", "google"),
    "groq": ("groq", "groq/", "groq"),
    "mistral": ("mistral", "mistral/", "mistral"),
    "deepseek": ("deepseek", "deepseek/", "deepseek"),
    "xai": ("xai", "xai/", "x-ai"),
    "cerebras": ("cerebras", "cerebras/", "cerebras"),
    "moonshot": ("moonshot", "moonshot/", "moonshotai"),
    "zai": ("zai", "zai/", "zai"),
    "dashscope": ("dashscope", "dashscope/", ""),
    "together": ("together_ai", "together_ai/", "together"),
    "fireworks": ("fireworks_ai", "fireworks_ai/", "fireworks"),
}
"""Our provider -> its name in the first source, the prefix of its models there, its name in the second."""
RESELLER = "openrouter"
"""Known to the second source alone."""


def table(records: Mapping[str, Any], second: Mapping[str, Any], as_of: str, versions: Mapping[str, str]) -> str:
    """The text of models.json. `second` is what `second_source` makes: provider -> model -> [window, prices]."""
    efforts = rows.EffortMaps()
    providers: dict[str, dict[str, Any]] = {}
    for name, (source, prefix, other) in PROVIDERS.items():
        tiers = {model: prices[1] for model, (_, prices) in second.get(other, {}).items()}
        providers[name] = {
            model_id: rows.row_of(model_id, record, tiers.get(model_id, []), efforts)
            for model_id, record in rows.listed(records, source, prefix, as_of)
        }
    providers[RESELLER] = _resold(records, second.get(RESELLER, {}), efforts)
    head = {"asOf": as_of, "sources": dict(sorted(versions.items())), "efforts": efforts.maps}
    return encode(head, providers)


def _resold(records: Mapping[str, Any], models: Mapping[str, Any], efforts: Any) -> dict[str, Any]:
    makers = rows.Makers(records)
    return {
        model_id: rows.resold_row(model_id, window, prices, makers.record(model_id), efforts)
        for model_id, (window, prices) in sorted(models.items())
        if window and prices[0] and rows.is_conversational(model_id)
    }


def encode(head: Mapping[str, Any], providers: Mapping[str, Mapping[str, Any]]) -> str:
    """Compact, a model a line, so that a new edition of the sources reads well as a difference."""
    parts = [f"{_json(name)}:{_json(value)}" for name, value in head.items()]
    blocks = []
    for name, models in providers.items():
        lines = ",\n".join(f"{_json(model_id)}:{_json(row)}" for model_id, row in models.items())
        blocks.append(f"{_json(name)}:{{\n{lines}\n}}")
    return "{" + ",\n".join([*parts, '"providers":{' + ",\n".join(blocks) + "}"]) + "}\n"


def second_source(providers: Any, as_of: date) -> dict[str, dict[str, Any]]:
    """What is used of the second package: provider -> model -> [window, [prices, tiers]], in plain numbers."""
    return {
        provider.id: {
            model.id: [model.context_window or 0, _second_prices(model.prices, as_of)]
            for model in provider.models
            if not model.deprecated
        }
        for provider in providers
    }


def _second_prices(prices: Any, as_of: date) -> list[Any]:
    if isinstance(prices, list):
        valid = [
            choice.prices
            for choice in prices
            if choice.constraint is None or getattr(choice.constraint, "start_date", date.max) <= as_of
        ]
        prices = valid[-1] if valid else None
    if prices is None:
        return [[], []]
    fields = [getattr(prices, f"{name}_mtok", None) for name in ("input", "output", "cache_read", "cache_write")]
    steps = sorted({tier.start for field in fields for tier in getattr(field, "tiers", ())})
    return [_at(fields, 0), [[step, *_at(fields, step)] for step in steps]]


def _at(fields: list[Any], step: int) -> list[float]:
    values: list[float] = []
    for field in fields:
        value = getattr(field, "base", field) or 0
        for tier in getattr(field, "tiers", ()):
            value = tier.price if tier.start <= step else value
        number = float(value)
        values.append(int(number) if number.is_integer() else number)
    while values and not values[-1]:
        values.pop()
    return values


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _first_source() -> dict[str, Any]:
    # Found, not imported: importing the package takes seconds and wants all its dependencies.
    found = importlib.util.find_spec("litellm")
    if found is None or not found.submodule_search_locations:
        sys.exit(_MISSING)
    return dict(json.loads(Path(found.submodule_search_locations[0], _LIMITS_FILE).read_text(encoding="utf-8")))


def main() -> int:
    parser = argparse.ArgumentParser(description="Make models.json from the installed litellm and genai-prices.")
    parser.add_argument("--as-of", required=True, type=date.fromisoformat, metavar="YYYY-MM-DD")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the file would change")
    options = parser.parse_args()
    if importlib.util.find_spec("genai_prices") is None:
        sys.exit(_MISSING)
    second = importlib.import_module("genai_prices.data").providers
    versions = {name: importlib.metadata.version(name) for name in ("litellm", "genai-prices")}
    text = table(_first_source(), second_source(second, options.as_of), options.as_of.isoformat(), versions)
    if options.check:
        return int(TABLE.read_text(encoding="utf-8") != text)
    TABLE.write_text(text, encoding="utf-8", newline="\n")
    sys.stdout.write(f"{TABLE.name}: {len(text.encode())} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
