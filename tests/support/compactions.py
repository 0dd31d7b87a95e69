"""Conversations that a compaction has something to do in, for tests over the protocol."""

from pathlib import Path
from typing import Any

from rpc_agent.rpc.in_memory import InMemoryClient
from tests.support.agent_server import Home

LONG = "word " * 400
SUMMARY = {"text": "## Goal\nShort notes."}
TOO_LONG = {"error": {"kind": "overflow", "message": "prompt is too long: 10500 tokens > 10000 maximum", "status": 400}}


def keep_little(home: Home, **settings: Any) -> None:
    """Let a compaction keep about one turn of `talk`. `settings` are more of its settings."""
    home.settings(tokens={"estimate": "simple"}, compaction={"keepRecentTokens": 600, **settings})


def chatty(home: Home, *summaries: dict[str, Any], turns: int = 3, **model: Any) -> None:
    """A model with long answers."""
    keep_little(home)
    home.script(*[{"text": f"answer {n} {LONG}"} for n in range(turns)], summaries=list(summaries), **model)


def recovering_home(
    tmp_path: Path, *replies: dict[str, Any], summaries: list[dict[str, Any]] | None = None, **model: Any
) -> Home:
    """A home where every failure is tried again at once."""
    home = Home(tmp_path)
    keep_little(home)
    home.settings(retry={"baseDelayMs": 1})
    home.script(*replies, summaries=[SUMMARY] if summaries is None else summaries, **model)
    return home


async def talk(client: InMemoryClient, turns: int = 3) -> None:
    """Long questions."""
    for number in range(turns):
        await client.request("prompt", {"message": f"question {number} {LONG}", "wait": True})
