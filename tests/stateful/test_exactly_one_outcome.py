"""Whatever a client asks for and in whatever order: every request has one answer, and every run ends once.

Each sequence comes from a seed. To run one again: RPC_AGENT_SEED=n, with SOAK_SEQUENCES=1.
"""

import asyncio
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.interleaved_client import carry_out
from tests.support.interleavings import Plan, make_plan, smaller
from tests.support.outcome_checks import faults

_SEQUENCES = int(os.environ.get("SOAK_SEQUENCES", "100"))
_SECONDS = float("inf") if "SOAK_SEQUENCES" in os.environ else 10.0
"""Without a wish for more, the property must not be what everybody waits for."""
_SHRINK_SECONDS = 120.0
_TRIES = 3
"""A smaller plan counts as failing when one of so many attempts fails: the disk's threads make moments differ."""


def test_every_request_has_one_answer_and_every_run_one_end(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    first = int(os.environ.get("RPC_AGENT_SEED", "0"))
    place = tmp_path_factory.mktemp("sequences")
    started = time.monotonic()
    done = 0
    with capsys.disabled():
        print(f"\nsequences from seed {first}", flush=True)
    while done < _SEQUENCES and time.monotonic() - started < _SECONDS:
        plan = make_plan(first + done)
        found = _run(plan, place / str(done))
        if found:
            pytest.fail(_report(plan, found, place))
        shutil.rmtree(place / str(done))
        done += 1
    with capsys.disabled():
        print(f"{done} sequences, to seed {first + done - 1}, in {time.monotonic() - started:.0f} s")


def _run(plan: Plan, place: Path) -> list[str]:
    place.mkdir(parents=True)
    return faults(asyncio.run(carry_out(plan, place)))


def _report(plan: Plan, found: Sequence[str], place: Path) -> str:
    smallest, why = _shrunk(plan, found, place / "smaller")
    steps = "\n".join(f"  {step}" for step in smallest.steps)
    replies = "\n".join(f"  {str(reply)[:200]}" for reply in smallest.replies)
    sentences = "\n".join(f"  {sentence[:600]}" for sentence in why)
    return (
        f"seed {plan.seed} (RPC_AGENT_SEED={plan.seed} SOAK_SEQUENCES=1)\n{sentences}\nending: {smallest.ending}\n"
        f"settings: {dict(smallest.settings)}\nsteps:\n{steps}\nreplies:\n{replies}\nsummaries: {str(smallest.summaries)[:600]}"
    )


def _shrunk(plan: Plan, found: Sequence[str], place: Path) -> tuple[Plan, Sequence[str]]:
    """The smallest plan found in the time there is that fails too, and how it fails."""
    deadline = time.monotonic() + _SHRINK_SECONDS
    number = 0
    progress = True
    while progress and time.monotonic() < deadline:
        progress = False
        for candidate in smaller(plan):
            for _ in range(_TRIES):
                number += 1
                other = _run(candidate, place / str(number))
                if other:
                    break
            if other:
                plan, found, progress = candidate, other, True
                break
            if time.monotonic() > deadline:
                break
    return plan, found
