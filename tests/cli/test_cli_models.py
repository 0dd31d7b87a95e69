"""`models`: what can be chosen, what it costs, where a missing key goes, and never a key."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from rpc_agent.cli.models import Listing, list_models, main, matching, show
from rpc_agent.cli.terminal import Terminal
from tests.support.json_server import JsonServer

pytestmark = pytest.mark.anyio

KEY = "sk-this-must-never-be-shown"


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {"RPC_AGENT_CONFIG_DIR": str(folder / "config"), **more}


def configure(folder: Path, provider: dict[str, Any], where: str = "config") -> None:
    (folder / where).mkdir(parents=True)
    (folder / where / "models.json").write_text(json.dumps({"providers": {"mine": provider}}), encoding="utf-8")


def shown(listing: Listing, *words: str, everything: bool = False) -> list[str]:
    out = io.StringIO()
    show(Terminal(out, {}), matching(listing.offers, words), everything=everything)
    return out.getvalue().splitlines()


async def test_a_provider_with_a_key_shows_all_its_models_and_others_a_few(tmp_path: Path) -> None:
    lines = shown(await list_models(environment(tmp_path, GROQ_API_KEY=KEY), tmp_path, ports={}))
    groq, openai = lines.index("groq: key in GROQ_API_KEY"), lines.index("openai: set OPENAI_API_KEY to use it")
    assert lines[groq + 1].split() == (
        ["groq/openai/gpt-oss-120b", "131k", "window", "66k", "output", "$0.15", "in,", "$0.6", "out", "per", "million"]
    )
    assert lines[openai + 1].startswith("  openai/gpt-6.1-terra ")
    assert lines[openai + 1].endswith("(more above 272k)")
    assert lines[openai + 4] == "  and 55 more (--all)"
    assert lines[-2:] == ["offline: ready", f"  {'offline/offline':44}    33k window     4k output"]
    assert KEY not in "\n".join(lines)


async def test_words_and_all_show_what_has_no_key_too(tmp_path: Path) -> None:
    listing = await list_models(environment(tmp_path), tmp_path, ports={})
    assert not [line for line in shown(listing, everything=True) if "--all" in line]
    named = shown(listing, "GPT-5", "mini", everything=True)
    assert [line.split()[0] for line in named if line.startswith("  openai/")] == ["openai/gpt-5-mini", "openai/gpt-5-mini-2025-08-07", "openai/gpt-5.4-mini", "openai/gpt-5.4-mini-2026-03-17"]  # fmt: skip
    assert shown(listing, "no-such-model") == [
        "No model has such a name. Without a word, rpc-agent models names them all."
    ]


async def test_a_local_server_is_listed_with_its_address(tmp_path: Path) -> None:
    async with JsonServer({"/v1/models": {"data": [{"id": "qwen", "max_model_len": 32_768}]}}) as server:
        with anyio.fail_after(20):
            listing = await list_models(environment(tmp_path), tmp_path, ports={"vllm": server.port})
    lines = shown(listing, "vllm/")
    assert lines[0] == f"vllm: runs on this machine at {server.root}/v1"
    assert lines[1].split() == ["vllm/qwen", "33k", "window", "?", "output"]
    [offer] = matching(listing.offers, ["vllm/"])
    assert (offer.available, offer.local, offer.variable) == (True, True, "")


async def test_the_users_files_come_first_and_a_projects_only_when_it_is_trusted(tmp_path: Path) -> None:
    configure(tmp_path, {"baseUrl": "http://x/v1", "api": "openai-completions", "apiKey": KEY, "models": [{"id": "a"}]})
    project = {"providers": {"theirs": {"baseUrl": "http://y", "api": "openai-completions", "models": [{"id": "b"}]}}}
    (tmp_path / ".rpc-agent").mkdir()
    (tmp_path / ".rpc-agent" / "models.json").write_text(json.dumps(project), encoding="utf-8")
    before = await list_models(environment(tmp_path), tmp_path, ports={})
    (tmp_path / "config" / "trust.json").write_text(json.dumps({str(tmp_path.resolve()): True}), encoding="utf-8")
    after = await list_models(environment(tmp_path), tmp_path, ports={})
    assert [offer.model.ref for offer in before.offers[:1]] == ["mine/a"]
    assert "theirs/b" not in [offer.model.ref for offer in before.offers]
    assert [offer.model.ref for offer in after.offers[:2]] == ["mine/a", "theirs/b"]
    assert KEY not in json.dumps([offer.to_json() for offer in after.offers])


async def test_refresh_asks_those_with_a_key_and_tells_who_could_not_be_asked(tmp_path: Path) -> None:
    provider = {"api": "openai-completions", "apiKey": KEY, "models": [{"id": "a"}]}
    async with JsonServer({"/models": {"data": [{"id": "a", "context_length": 77_000}]}}) as server:
        configure(tmp_path / "one", {**provider, "baseUrl": server.root})
        configure(tmp_path / "two", {**provider, "baseUrl": f"{server.root}/nothing-here"})
        with anyio.fail_after(20):
            good = await list_models(environment(tmp_path / "one"), tmp_path, ports={}, refresh=True)
            bad = await list_models(environment(tmp_path / "two"), tmp_path, ports={}, refresh=True)
    assert (good.offers[0].model.context_window, good.troubles) == (77_000, [])
    assert bad.offers[0].model.context_window == 0
    [trouble] = bad.troubles
    assert trouble.startswith("mine was not asked for its models: mine answered 404")
    assert KEY not in trouble


def test_json_holds_everything_of_every_model(tmp_path: Path) -> None:
    done = run(tmp_path, "--json", "--no-local", ANTHROPIC_API_KEY=KEY)
    assert (done.returncode, done.stderr) == (0, "")
    models = {model["ref"]: model for model in json.loads(done.stdout)["models"]}
    assert len(models) > 500
    haiku = models["anthropic/claude-haiku-5-5"]
    assert {name: haiku[name] for name in ("available", "variable", "local", "thinkingLevels", "priceTiers")} == {
        "available": True,
        "variable": "ANTHROPIC_API_KEY",
        "local": False,
        "thinkingLevels": ["off", "minimal", "low", "medium", "high", "xhigh"],
        "priceTiers": [
            {"inputTokensAbove": 100_000, "input": 0.5, "output": 2.5, "cacheRead": 0.05, "cacheWrite": 0.625}
        ],
    }
    assert (models["openai/gpt-4o"]["available"], models["offline/offline"]["variable"]) == (False, None)
    assert KEY not in done.stdout


def test_a_bad_models_file_is_told_and_nothing_is_listed(tmp_path: Path) -> None:
    configure(tmp_path, {"baseUrl": "ftp://x"})
    done = run(tmp_path, "--no-local")
    assert (done.returncode, done.stdout) == (1, "")
    fault, advice = done.stderr.splitlines()
    assert "providers.mine.baseUrl" in fault
    assert advice == "  Correct that field in the file, or take it out."


def test_an_unknown_option_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--bogus"])
    assert "--bogus" in capsys.readouterr().err


def run(folder: Path, *arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
    keys = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
    return subprocess.run(
        [sys.executable, "-m", "rpc_agent", "models", *arguments],
        env={**keys, **environment(folder), "PYTHONUTF8": "1", **more},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
