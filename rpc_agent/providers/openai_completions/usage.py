"""The counts of a chat-completions server -> usage. Pure. What is missing or odd counts as 0."""

from collections.abc import Mapping
from typing import Any

from rpc_agent.conversation.json_values import as_count, as_object
from rpc_agent.conversation.usage import Usage, make_usage


def usage_in(chunk: Mapping[str, Any]) -> Usage | None:
    """The counts that a chunk or a choice holds; None where it holds none, or nothing but zeros, which some servers
    send behind the true ones."""
    raw = chunk.get("usage") or as_object(chunk.get("x_groq")).get("usage")
    usage = read_usage(raw) if raw else None
    return usage if usage and usage["totalTokens"] else None


def read_usage(value: object) -> Usage:
    """Tokens as the service counted them.

    Its own total is not believed: the parts are what thresholds and prices are made of.
    """
    raw = as_object(value)
    details = as_object(raw.get("prompt_tokens_details")) or as_object(raw.get("input_tokens_details"))
    # In turn OpenAI, DeepSeek, Moonshot, and gateways that count as Anthropic does.
    cached = max(
        as_count(details.get("cached_tokens")),
        as_count(raw.get("prompt_cache_hit_tokens")),
        as_count(raw.get("cached_tokens")),
        as_count(raw.get("cache_read_input_tokens")),
    )
    # In turn OpenRouter, and LiteLLM in two places.
    written = max(
        as_count(details.get("cache_write_tokens")),
        as_count(details.get("cache_creation_tokens")),
        as_count(raw.get("cache_creation_input_tokens")),
    )
    # Gateways pass the counts of other APIs on under their own names.
    prompt = as_count(raw.get("prompt_tokens")) or as_count(raw.get("input_tokens"))
    reasoning = _reasoning(raw)
    usage = make_usage(
        input=max(0, prompt - cached - written),
        output=_output(raw, prompt, reasoning),
        cache_read=cached,
        cache_write=written,
    )
    if reasoning:
        usage["reasoning"] = reasoning
    return usage


def _reasoning(raw: Mapping[str, Any]) -> int:
    details = as_object(raw.get("completion_tokens_details")) or as_object(raw.get("output_tokens_details"))
    return as_count(details.get("reasoning_tokens")) or as_count(raw.get("reasoning_tokens"))


def _output(raw: Mapping[str, Any], prompt: int, reasoning: int) -> int:
    output = as_count(raw.get("completion_tokens")) or as_count(raw.get("output_tokens"))
    # xAI counts thinking beside the completion, all others within it; the total tells which.
    beside = reasoning and as_count(raw.get("total_tokens")) == prompt + output + reasoning
    return output + reasoning if beside else output
