"""The reasons for which an answer ends well, in the words of all APIs: gateways and local servers mix them. Pure."""

from typing import Literal

_STOPS = frozenset(
    {"stop", "end_turn", "eos", "eos_token", "stop_sequence", "stop_token", "end", "complete", "completed", "done"}
    | {"finish", "finished", "normal"}
)
_LENGTHS = frozenset(
    {"length", "max_tokens", "max_output_tokens", "max_completion_tokens", "max_length", "max_len", "token_limit"}
    | {"max_tokens_reached", "length_limit"}
)
_CALLS = frozenset({"tool_calls", "tool_call", "toolcalls", "tool_use", "function_call", "function_calls"})
_UNSAID = frozenset({"", "null", "none"})
"""What some servers write where no reason is given yet."""
_PREFIXES = ("finishreason.", "finish_reason_", "reason_")
"""The name of the enumeration, which some programs print with its member."""


def plain_reason(said: object) -> str:
    """The reason without its writer's habits; "" where none is given."""
    if not isinstance(said, str):
        return ""
    reason = said.strip().lower().replace("-", "_")
    for prefix in _PREFIXES:
        reason = reason.removeprefix(prefix)
    return "" if reason in _UNSAID else reason


def good_end(reason: str) -> Literal["stop", "length"] | None:
    """How the answer of a plain reason ended; None for a bad one.

    Some servers say "stop" after tool calls and some "tool_calls" after none, so what came decides about calls.
    """
    if reason in _LENGTHS:
        return "length"
    return "stop" if reason in _STOPS or reason in _CALLS else None
