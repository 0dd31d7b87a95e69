"""`rpc-agent demo`: the four calls the product is about, on a real server, each message told in words and checked."""

import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rpc_agent_client import Client, ClientError

from rpc_agent.cli.advice import explain
from rpc_agent.cli.arguments import Parser
from rpc_agent.cli.demo_steps import STEPS, Demo
from rpc_agent.cli.demo_story import Story
from rpc_agent.cli.server_options import serve_here, server_environment
from rpc_agent.cli.terminal import raw_messages, standard_error, standard_output

# Small enough that three prompts are worth compacting.
_SETTINGS = {"compaction": {"keepRecentTokens": 200}}
# The offline model's own name for it (a test holds the two together; the engine is not imported here).
PACE_VARIABLE = "RPC_AGENT_OFFLINE_PACE_MS"
# Before each dozen characters. Slow enough to be stopped half-way, and, where somebody watches, to be followed.
_PACE_MS, _PACE_WATCHED_MS = "6", "15"
# Nothing in the demo takes a tenth of it; a hang must not look like thinking.
_TIME_LIMIT_SECONDS = 120

_TEAS = ("green", "black", "mint", "rooibos")
_PLACES = ("kitchen", "garden", "old boat house")
_WORDS = ("far too strong", "just right", "rather weak", "better than the day before", "worth a second cup")
_SAMPLE_FILES = {
    "README.md": """\
# Tea timer

A small program that tells when the tea is ready.

- `timer.py` counts the seconds down
- `teas.json` says how long each tea takes
- `notes/ideas.md` is what could come next

Start it with `python timer.py green`. It rings once, waits a minute, and rings again.
""",
    "timer.py": """\
import json
import sys
import time


def minutes(tea: str) -> float:
    with open("teas.json", encoding="utf-8") as file:
        return json.load(file)[tea]


def main() -> None:
    # TODO: say how much time is left
    time.sleep(minutes(sys.argv[1]) * 60)
    print("\\aready")


main()
""",
    "teas.json": """\
{
  "green": 2,
  "black": 4,
  "mint": 7,
  "rooibos": 8
}
""",
    # Long enough that a context with it in is worth making smaller.
    "notes/tasting.md": "# What we drank\n\n"
    + "".join(
        f"- On day {day} we drank {_TEAS[day % 4]} tea in the {_PLACES[day % 3]}; it was {_WORDS[day % 5]}.\n"
        for day in range(1, 46)
    ),
    "notes/ideas.md": """\
# Ideas

- TODO: a second ring when nobody came
- colours for cold tea
- a list of cups drunk today
""",
}


def main(arguments: Sequence[str]) -> int:
    parser = Parser(
        prog="rpc-agent demo",
        description="Watch a server do its main job on the built-in offline model: no key, no network, nothing kept.",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the raw messages of both directions and nothing else"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="rpc-agent-demo-", ignore_cleanup_errors=True) as folder:
        return asyncio.run(_play(Path(folder), raw=options.json))


async def _play(folder: Path, *, raw: bool) -> int:
    out, err = standard_output(), standard_error()
    story = Story(None if raw else out, err)
    command = prepare(folder)
    try:
        async with asyncio.timeout(_TIME_LIMIT_SECONDS):
            story.opening()
            async with Client.spawn(
                command,
                env=_environment(out.is_tty),
                on_stderr=story.log,
                on_traffic=raw_messages(out) if raw else None,
            ) as client:
                demo = Demo(client, story, folder / "sample")
                for number, step in enumerate(STEPS, 1):
                    await step(demo, number)
                    if out.fault is not None:
                        raise out.fault
    except ClientError as error:
        story.failed(explain(error))
    except TimeoutError:
        story.failed(
            [
                f"The demo was not done within {_TIME_LIMIT_SECONDS} s.",
                "Run it again with --json to see where it stops.",
            ]
        )
    story.ending(len(STEPS))
    return 1 if story.faults else 0


def prepare(folder: Path) -> list[str]:
    """Write the sample project and a configuration of its own into `folder`; the command that serves them."""
    sample, config = folder / "sample", folder / "config"
    for name, text in _SAMPLE_FILES.items():
        file = sample / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    config.mkdir()
    (config / "settings.json").write_text(json.dumps(_SETTINGS), encoding="utf-8")
    return [
        *serve_here(),
        *("--cwd", str(sample)),
        *("--config-dir", str(config)),
        *("--session-dir", str(folder / "sessions")),
        *("--model", "offline/offline"),
    ]


def _environment(is_watched: bool) -> dict[str, str]:
    return {**server_environment(), PACE_VARIABLE: _PACE_WATCHED_MS if is_watched else _PACE_MS}
