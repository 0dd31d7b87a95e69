"""The generated table: what is in it, that it is written one way only, and what prices and levels come of it."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.conversation.models import Model, PriceTier
from rpc_agent.conversation.usage import make_usage
from rpc_agent.providers.builtin import BUILTIN_PROVIDERS
from rpc_agent.providers.data import rows
from rpc_agent.providers.model_table import TABLE, read_table, table_models
from rpc_agent.providers.pricing import with_cost
from rpc_agent.providers.thinking import available_thinking_levels, clamp_thinking_level, reasoning_effort

KNOWN = {model.ref: model for provider in BUILTIN_PROVIDERS for model in provider.models}
generate: Any = import_module("rpc_agent.providers.data.generate")


def test_every_built_in_provider_has_models_and_its_first_choices_are_among_them() -> None:
    assert {provider.name: bool(provider.models) for provider in BUILTIN_PROVIDERS} == dict.fromkeys(
        ("anthropic", "openai", "google", "openrouter", "groq", "mistral", "deepseek", "xai", "cerebras", "moonshot",
         "zai", "dashscope", "together", "fireworks"), True
    )  # fmt: skip
    for provider in BUILTIN_PROVIDERS:
        alphabetical = table_models(provider.name, "a", "u", {}, ())
        assert len(alphabetical) == len(provider.models)
        # A name that the table lacks would be passed over without a word.
        assert provider.models[0].id in provider.first
        assert [model.id for model in provider.models[: len(provider.first)]] == list(provider.first)


def test_a_row_of_the_table_becomes_a_model() -> None:
    assert KNOWN["anthropic/claude-haiku-5-5"] == Model(
        id="claude-haiku-5-5",
        provider="anthropic",
        api="anthropic-messages",
        base_url="https://api.anthropic.com",
        reasoning=True,
        input=("text", "image"),
        context_window=1_000_000,
        max_tokens=128_000,
        cost={"input": 0.1, "output": 0.5, "cacheRead": 0.01, "cacheWrite": 0.125},
        price_tiers=(PriceTier(100_000, {"input": 0.5, "output": 2.5, "cacheRead": 0.05, "cacheWrite": 0.625}),),
        compat={
            "reasoningEffortMap": {"xhigh": "xhigh"},
            "supportsReasoningEffort": True,
            "supportsAdaptiveThinking": True,
            "supportsThinkingDisabled": True,
        },
    )


def test_every_model_has_a_window_and_every_price_is_sane() -> None:
    assert [ref for ref, model in KNOWN.items() if model.context_window < 1000] == []
    # Dollars per million tokens: a price per token or per thousand would be far outside.
    prices = [price for model in KNOWN.values() for price in model.cost.values()]
    assert (min(prices) >= 0, max(prices) <= 1000) == (True, True)
    assert sum(bool(model.cost) for model in KNOWN.values()) > 500


def test_the_file_is_small_written_one_way_and_names_no_address() -> None:
    raw = TABLE.read_bytes()
    table = json.loads(raw)
    providers = table.pop("providers")
    assert raw == generate.encode(table, providers).encode()
    assert len(raw) < 120_000
    assert b"://" not in raw
    notice = (TABLE.parent / "NOTICE").read_text(encoding="utf-8")
    assert ("litellm" in notice, "genai-prices" in notice, notice.count("Permission is hereby granted")) == (
        True,
        True,
        2,
    )
    assert set(table["sources"]) == {"litellm", "genai-prices"}
    assert read_table()["asOf"] == table["asOf"]


def test_the_same_sources_give_the_same_table_with_what_is_of_use() -> None:
    def chat(source: str, **more: Any) -> dict[str, Any]:
        return {"litellm_provider": source, "mode": "chat", "supports_function_calling": True, "max_input_tokens": 1000, **more}  # fmt: skip

    first = {
        "o-model": chat(
            "openai", max_output_tokens=10, supports_reasoning=True, input_cost_per_token=8e-07,
            input_cost_per_token_above_200k_tokens=1.6e-06, output_cost_per_token=1e-06, mode="responses",
        ),
        "o-gone": chat("openai", deprecation_date="2026-01-01"),
        "o-audio": chat("openai"),
        "o-embedding": chat("openai", mode="embedding"),
        "o-toolless": chat("openai", supports_function_calling=False),
        "groq/a": chat("groq", supports_vision=True),
        "groq/stepped": chat("groq", tiered_pricing=[
            {"range": [0, 32_000], "input_cost_per_token": 1e-06}, {"range": [32_000, 9], "input_cost_per_token": 2e-06}
        ]),
    }  # fmt: skip
    second = {
        "groq": {"a": [0, [[1], [[200_000, 2]]]]},
        "openrouter": {"openai/o.model": [2000, [[1, 2], []]], "x/free": [0, [[1], []]], "x/gone": [2000, [[], []]]},
    }
    text = generate.table(first, second, "2026-06-01", {"b": "2", "a": "1"})
    assert text == generate.table(dict(reversed(first.items())), second, "2026-06-01", {"a": "1", "b": "2"})
    made = json.loads(text)
    assert made["efforts"] == [{"off": None, "minimal": None}]
    assert {name: models for name, models in made["providers"].items() if models} == {
        "openai": {"o-model": [1000, 10, "rR", [0.8, 1], [[200_000, 1.6, 1]], 0]},
        "groq": {"a": [1000, 0, "i", [], [[200_000, 2]]], "stepped": [1000, 0, "", [1], [[32_000, 2]]]},
        "openrouter": {"openai/o.model": [2000, 10, "r", [1, 2], [], 0]},
    }


def test_a_price_per_token_is_rounded_to_what_was_meant() -> None:
    assert rows.prices_of({"input_cost_per_token": 2.8e-07, "output_cost_per_token": 0.0}) == ([0.28], [])


@pytest.mark.parametrize(
    ("ref", "levels", "off", "xhigh"),
    [
        ("openai/gpt-5", "minimal low medium high", "minimal", "high"),
        ("openai/gpt-5.1", "off low medium high", "none", "high"),
        ("openai/gpt-5.5", "off low medium high xhigh", "none", "xhigh"),
        ("openai/gpt-4o", "off", None, None),
        ("groq/openai/gpt-oss-120b", "low medium high", "low", "high"),
        ("together/moonshotai/Kimi-K3.1-Pro", "off low medium high", None, "high"),
        ("moonshot/kimi-k3", "low high xhigh", "low", "max"),
        ("deepseek/deepseek-v4-pro", "off", None, None),
        ("anthropic/claude-opus-5-5", "minimal low medium high xhigh", "minimal", "xhigh"),
    ],
)
def test_each_model_has_its_own_thinking_levels(ref: str, levels: str, off: str | None, xhigh: str | None) -> None:
    model = KNOWN[ref]
    assert " ".join(available_thinking_levels(model)) == levels
    assert (reasoning_effort(model, "off"), reasoning_effort(model, "xhigh")) == (off, xhigh)


def test_a_level_that_a_model_lacks_becomes_the_nearest_below_or_the_lowest() -> None:
    gaps = Model(id="m", provider="p", api="a", reasoning=True, compat={"reasoningEffortMap": {"off": None, "minimal": None, "medium": None, "xhigh": "max", "bogus": 1}})  # fmt: skip
    asked = ("off", "minimal", "low", "medium", "high", "xhigh", "unheard-of")
    assert [clamp_thinking_level(gaps, level) for level in asked] == [
        "low",
        "low",
        "low",
        "low",
        "high",
        "xhigh",
        "low",
    ]


def test_the_highest_tier_that_a_call_reached_prices_all_of_it() -> None:
    tiers = (PriceTier(200_000, {"input": 4, "cacheRead": 2}), PriceTier(100_000, {"input": 3}))
    prices = {"input": 2, "output": 10, "cacheRead": 1}

    def cost(fresh: int, cached: int) -> dict[str, float]:
        usage = make_usage(input=fresh, output=1_000_000, cache_read=cached)
        return dict(with_cost(usage, prices, tiers)["cost"])

    assert cost(100_000, 0) == {"input": 0.2, "output": 10.0, "cacheRead": 0.0, "cacheWrite": 0.0, "total": 10.2}
    assert cost(100_000, 100_000) == {"input": 0.3, "output": 10.0, "cacheRead": 0.1, "cacheWrite": 0.0, "total": 10.4}
    assert cost(100_001, 100_000)["input"] == pytest.approx(0.400004)
    assert cost(100_001, 100_000)["cacheRead"] == 0.2


def test_the_script_says_what_it_needs_where_the_sources_are_missing(tmp_path: Path) -> None:
    script = TABLE.with_name("generate.py")
    command = [sys.executable, "-I", str(script), "--as-of", "2026-01-01", "--check"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "pip install litellm genai-prices" in done.stderr
