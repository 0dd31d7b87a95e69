"""What a turn costs beside the model: prompt to request, by the length of the context; a tool turn, by the file."""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.bare_post import posting
from bench.report import milliseconds, progress, row
from bench.server import Server, serving
from bench.service import loopback
from bench.session_files import write_chain

_CONTEXTS = (100, 1_000, 10_000)
_PROMPTS = 25
_PAIRS = 100
"""Prompts and bare POSTs: their difference is small beside either of them where megabytes are sent."""
_WARM = 5


def prompt_to_request() -> None:
    """Prompt written -> request complete at the service, minus a bare POST of the same bytes in the same run."""
    overheads: list[float] = []
    with loopback() as url, tempfile.TemporaryDirectory() as folder:
        for messages in _CONTEXTS:
            progress(f"prompt to request, {messages} messages")
            path = write_chain(Path(folder) / f"{messages}.jsonl", messages)
            ours, bare, size = _measure(url, path)
            overheads.append(ours - bare)
            ratio = f"{overheads[-1] / overheads[0]:.2f} of the first (aim: 1.5)"
            row(f"prompt to request, {messages:,} messages", milliseconds(ours), f"{size / 1024:,.0f} KiB sent")
            row("  minus a bare POST of the same bytes", milliseconds(overheads[-1]), ratio)


def _measure(url: str, path: Path) -> tuple[float, float, int]:
    """Seconds of ours and of the bare POST, taken by turns, both medians; and the bytes of the body."""
    ours, bare = [], []
    size = 0
    with serving("--model", "loopback/m", models=models(url)) as server, posting(url) as post:
        server.ask("open_session", {"path": str(path)})
        for _ in range(_WARM + _PAIRS):
            ours.append(_to_request(server))
            seconds, size = post()
            bare.append(seconds)
    return statistics.median(ours[_WARM:]), statistics.median(bare[_WARM:]), size


def _to_request(server: Server) -> float:
    started = time.perf_counter()
    result = server.ask("prompt", {"message": "prompt", "wait": True})
    return float(result["text"]) - started


def tool_turns(paths: dict[int, Path]) -> None:
    """A prompt that calls one tool, to its end: in a small file and in a large one with the same context."""
    times: list[float] = []
    with loopback() as url:
        for entries, path in paths.items():
            progress(f"tool turns, {entries} entries")
            with serving("--model", "loopback/m", models=models(url)) as server:
                server.ask("open_session", {"path": str(path)})
                times.append(_tool_turn(server))
            ratio = f"{times[-1] / times[0]:.2f} of the first (aim: 1)"
            row(f"a tool turn in a file of {entries:,} entries", milliseconds(times[-1]), ratio)


def _tool_turn(server: Server) -> float:
    taken = []
    for number in range(_PROMPTS + _WARM):
        started = time.perf_counter()
        result = server.ask("prompt", {"message": "call the tool", "wait": True})
        assert result["stopReason"] == "stop", result
        if number >= _WARM:
            taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def models(url: str) -> dict[str, Any]:
    model = {"id": "m", "contextWindow": 100_000_000, "maxTokens": 1000}
    return {"loopback": {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "none", "models": [model]}}
