"""Decides about one attempt of a tool. Pure: the same attempt, mode and rules give the same answer."""

from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct

from rpc_agent.permissions.matching import allows, forbids, is_inside
from rpc_agent.permissions.rules import Attempt, Mode, Rule


class Allow(Struct, frozen=True):
    pass


class Ask(Struct, frozen=True):
    """The user decides; where nobody can be asked, `unanswered` says what becomes of it."""


class Refuse(Struct, frozen=True):
    """`reason` is for the model and the user: what is not allowed, why, and how to allow it."""

    reason: str


Decision = Allow | Ask | Refuse


def decide(mode: Mode, rules: Sequence[Rule], attempt: Attempt) -> Decision:
    """Deny rules, then ask rules, then allow rules; without any the mode."""
    for rule in rules:
        if rule.action == "deny" and forbids(rule, attempt):
            return Refuse(_denied(rule, attempt))
    if any(rule.action == "ask" and forbids(rule, attempt) for rule in rules):
        return Ask()
    if any(rule.action == "allow" and allows(rule, attempt) for rule in rules):
        return Allow()
    # The configuration holds keys, and what it says decides what is allowed; so no mode opens it.
    if any(is_inside(path, attempt.place.config_dir, ignore_case=True) for path in attempt.paths):
        return Refuse(_configuration(attempt))
    return _by_mode(mode, attempt)


def unanswered(attempt: Attempt, *, was_asked: bool) -> Refuse:
    """What an Ask becomes when no client can answer, or none does."""
    why = "the question got no answer that could be used" if was_asked else "nobody could be asked"
    return Refuse(f"{attempt.tool} was not run: it needs permission, and {why}. {_HOW_TO_ALLOW}")


def _by_mode(mode: Mode, attempt: Attempt) -> Decision:
    if mode == "allow" or attempt.access == "read":
        return Allow()
    match mode:
        case "read-only":
            return Refuse(
                f"{attempt.tool} was not run: this session may only read (permissions: read-only). {_HOW_TO_ALLOW}"
            )
        case "ask":
            return Ask()
        case "workspace":
            return Allow() if _stays_in_workspace(attempt) else Ask()
        case _:
            assert_never(mode)


def _stays_in_workspace(attempt: Attempt) -> bool:
    return (
        attempt.access == "write"
        and bool(attempt.paths)
        and all(is_inside(path, attempt.place.workspace, ignore_case=False) for path in attempt.paths)
    )


_HOW_TO_ALLOW = (
    "The user can allow it: start rpc-agent with `--permissions allow` (or `workspace` for edits inside the working "
    'directory), call set_permissions, or set "permissions" in settings.json, where rules can allow single tools.'
)


def _denied(rule: Rule, attempt: Attempt) -> str:
    return (
        f'{attempt.tool} was not run: the rule {{"tool": "{rule.tool}", "match": "{rule.match}"}} denies it. '
        "Only the user can change that rule, in settings.json; do not look for a way around it."
    )


def _configuration(attempt: Attempt) -> str:
    return (
        f"{attempt.tool} was not run: {attempt.place.config_dir} holds rpc-agent's own configuration and keys. "
        "A rule in settings.json that allows the path would open it."
    )
