"""What the ledger keeps and costs: five compactions in a row over a long tool session, with a model that forgets all.

Counts, no times: the same figures on every machine.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

from bench.report import row
from rpc_agent.compaction.asking import SummaryAnswer, SummaryRequest
from rpc_agent.compaction.compact import compact, compaction_fields
from rpc_agent.compaction.ledger_record import recorded_ledger
from rpc_agent.compaction.ledger_text import without_ledger
from rpc_agent.compaction.planning import plan_compaction
from rpc_agent.compaction.policy import CompactionBudget
from rpc_agent.context.projection import project
from rpc_agent.context.token_classes import CLASSES
from rpc_agent.context.tokens import MessageEstimates
from rpc_agent.conversation.usage import make_usage
from rpc_agent.session.entries import Entry, MessageEntry, new_entry

_ROUNDS, _TOLD_AFTER = 5, (1, 3, 5)
_WINDOWS = (200_000, 32_000, 8_192)
_TURNS, _STEPS = 12, 6
"""Turns between two compactions, and tool calls in each."""
_TIME = "2026-01-01T00:00:00.000Z"
_WORDS = tuple("please keep the comments of the old file and tell me what all tests in that folder say".split())  # noqa: SIM905


def ledger() -> None:
    """Share of the user's words that are still there word for word, and the tokens the ledger takes for it."""
    for window in _WINDOWS:
        for number, share, tokens in asyncio.run(_figures(window)):
            row(f"ledger, window {window:,}, after {number} compactions", f"{share:.0%}", f"{tokens:,} tokens")


async def _figures(window: int) -> list[tuple[int, float, int]]:
    estimate = MessageEstimates(CLASSES)
    path: list[Entry] = []
    figures = []
    for number in range(1, _ROUNDS + 1):
        for turn in range(_TURNS):
            path += _turn(path, (number - 1) * _TURNS + turn)
        budget = CompactionBudget(keep_recent_tokens=1_000)
        plan = plan_compaction(path, project(path), budget, estimate, window=window, exact_keep=True)
        outcome = await compact(plan, _forgets)
        fields = compaction_fields(outcome, entry_id=f"c{number}", timestamp=0, thinking_level="off")
        path.append(_entry(path, "compaction", f"c{number}", fields))
        if number in _TOLD_AFTER:
            told = plan.weigh(outcome.summary) - plan.weigh(without_ledger(outcome.summary))
            figures.append((number, _share(path, outcome.details), told))
    return figures


async def _forgets(request: SummaryRequest) -> SummaryAnswer:
    return SummaryAnswer(text="## Goal\nSome work was done.")


def _turn(path: list[Entry], number: int) -> Iterator[Entry]:
    made = list(path)
    length = 8 + (number * 37) % 60
    wish = f"wish {number}: " + " ".join(_WORDS[(number + at * 5) % len(_WORDS)] for at in range(length))
    raws: list[Any] = [{"role": "user", "content": wish, "timestamp": 0}]
    for step in range(_STEPS):
        key = f"{number}.{step}"
        call = {
            "type": "toolCall",
            "id": key,
            "name": ("read", "edit", "bash")[step % 3],
            "arguments": _made(number, step),
        }
        raws.append(_answer([call], "toolUse"))
        output: list[Any] = [{"type": "text", "text": f"line of output {key} " * 60}]
        result = {"toolCallId": key, "toolName": call["name"], "content": output, "isError": step == 2}
        raws.append({"role": "toolResult", **result, "timestamp": 0})
    raws.append(_answer([{"type": "text", "text": f"Turn {number} is done. " * 10}], "stop"))
    for at, message in enumerate(raws):
        made.append(_entry(made, "message", f"m{number}.{at}", {"message": message}))
        yield made[-1]


def _made(number: int, step: int) -> dict[str, str]:
    return (
        {"command": f"pytest tests/part{number}"} if step % 3 == 2 else {"path": f"src/module{(number + step) % 40}.py"}
    )


def _answer(content: list[Any], stop: str) -> dict[str, object]:
    head = {"role": "assistant", "content": content, "api": "a", "provider": "p", "model": "m"}
    return {**head, "usage": make_usage(), "stopReason": stop, "timestamp": 0}


def _entry(path: list[Entry], kind: str, entry_id: str, fields: dict[str, object]) -> Entry:
    parent = path[-1].id if path else None
    return new_entry(kind, fields, entry_id=entry_id, parent_id=parent, timestamp=_TIME)


def _share(path: list[Entry], details: dict[str, object]) -> float:
    """Words of the user's messages that the ledger or the kept part still holds, of all there were."""
    said = {entry.id: str(entry.raw["message"]["content"]) for entry in path if _is_user(entry)}
    kept = {item.entry.id for item in project(path).messages if item.message["role"] == "user"}
    told = {each.entry_id for each in recorded_ledger(details).words if not each.cut}
    still = sum(len(text.split()) for entry_id, text in said.items() if entry_id in kept | told)
    return still / sum(len(text.split()) for text in said.values())


def _is_user(entry: Entry) -> bool:
    return isinstance(entry, MessageEntry) and entry.message["role"] == "user"
