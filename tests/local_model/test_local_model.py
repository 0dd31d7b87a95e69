"""A real model on a real llama.cpp server: `make test-local-model` fetches both; without it these tests are left out."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.agent_server import Home
from tests.support.serve_process import serve_process

WEIGHTS = os.environ.get("RPC_AGENT_LOCAL_MODEL", "")
WINDOW = 2048
PATIENCE = 180.0
"""A model on a processor that others use too may read a prompt for a minute without a word."""
pytestmark = pytest.mark.skipif(not WEIGHTS, reason="opt-in: make test-local-model")

SERVER = f"""
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.n_parallel, params.port = sys.argv[1], {WINDOW}, 1, 0
# Threads that wait for each other by spinning are many times slower than one as soon as the machine has other work.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, WEIGHTS],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def home_for(tmp_path: Path, address: str, window: int) -> Home:
    home = Home(tmp_path)
    model = {"id": "smollm2", "contextWindow": window, "maxTokens": 48}
    home.models(
        {"here": {"baseUrl": f"{address}/v1", "api": "openai-completions", "apiKey": "none", "models": [model]}}
    )
    home.settings(defaultModel="here/smollm2", tools=[], compaction={"keepRecentTokens": 300, "reserveTokens": 300})
    return home


def test_a_real_model_answers(tmp_path: Path, address: str) -> None:
    with serve_process(home_for(tmp_path, address, WINDOW), patience=PATIENCE) as server:
        server.request(1, "prompt", {"message": "Say hello.", "wait": True})
        result = server.answer(1)
        assert server.finish() == 0
    assert (bool(result["text"].strip()), result["stopReason"] in ("stop", "length")) == (True, True)


def test_a_session_that_overflows_a_real_window_recovers(tmp_path: Path, address: str) -> None:
    """models.json claims ten times the window, so that nothing but the server's refusal tells of it."""
    heard = []
    with serve_process(home_for(tmp_path, address, 10 * WINDOW), patience=PATIENCE) as server:
        for number in range(5):
            text = f"Part {number}: " + "the quick brown fox jumps over the lazy dog. " * 35
            server.request(number, "prompt", {"message": text, "wait": True})
            while (message := server.receive()).get("id") != number:
                heard.append(message)
            assert message["result"]["stopReason"] in ("stop", "length"), message
        server.request(9, "get_state")
        state = server.answer(9)
        assert server.finish() == 0
    reasons = [message["params"]["reason"] for message in heard if message.get("method") == "compaction_start"]
    assert "overflow" in reasons, "the window was passed and the session went on"
    assert state["model"]["effectiveContextWindow"] == WINDOW, "the limit was learned from the refusal"
