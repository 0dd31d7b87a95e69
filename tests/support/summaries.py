"""A summary model that gives prepared answers, for tests of compaction without a service."""

from typing import Any

import anyio.lowlevel

from rpc_agent.compaction.asking import SummaryAnswer, SummaryRequest
from rpc_agent.conversation.usage import make_usage

PAID = make_usage(input=10, output=2)


class ScriptedSummaries:
    """Gives the answers in order and remembers what it was asked."""

    def __init__(self, *answers: SummaryAnswer) -> None:
        self._answers = iter(answers)
        self.asked: list[SummaryRequest] = []

    async def __call__(self, request: SummaryRequest) -> SummaryAnswer:
        self.asked.append(request)
        await anyio.lowlevel.checkpoint()
        return next(self._answers)


def notes(text: str = "notes", **fields: Any) -> SummaryAnswer:
    return SummaryAnswer(text=text, usage=PAID, **fields)
