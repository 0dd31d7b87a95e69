"""Random bytes on the stdin of a real server, in both framings: none of them keeps the next request from its answer.

SOAK_EXAMPLES is how many inputs each property tries (`make soak`: thousands). A failure prints its seed.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.support.agent_server import Home
from tests.support.hostile_messages import HOSTILE
from tests.support.serve_process import Framing, ServeProcess, serve_process

EXAMPLES = int(os.environ.get("SOAK_EXAMPLES", "150"))
SEEDED = "SOAK_EXAMPLES" in os.environ
"""The short form tries the same inputs each time."""
NEXT = "the next one"

PIECES = st.one_of(
    st.binary(max_size=200),
    st.sampled_from([message for _, message, _ in HOSTILE if len(message) < 10_000]),
    st.sampled_from(
        [b'{"jsonrpc":"2.0","id":', b'"method":"ping"', b"}", b"[", b"]", b'"', b"\\u", b"\xed\xa0\x80", b"\r", b"\0"]
    ),
)
BODIES = st.lists(PIECES, max_size=8).map(b"".join)


@pytest.fixture(scope="module", params=["lines", "headers"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    framing: Framing = request.param
    started = time.monotonic()
    with serve_process(Home(tmp_path_factory.mktemp("home")), framing=framing) as process:
        process.request(1, "get_available_models")
        process.answer(1)
        yield process
        assert process.finish() == 0
        assert "Traceback" not in process.stderr
    seed = request.config.getoption("hypothesis_seed", None) if SEEDED else "that never changes"
    said = f"random input in {framing}: seed {seed}, {2 * EXAMPLES} inputs in {time.monotonic() - started:.0f} s"
    with request.config.pluginmanager.get_plugin("capturemanager").global_and_fixture_disabled():
        print(f"\n{said}")


def is_answered(server: ServeProcess) -> None:
    server.send({"jsonrpc": "2.0", "id": NEXT, "method": "get_available_thinking_levels"})
    while True:
        message = server.receive()
        assert message is not None, server.stderr
        if isinstance(message, dict) and message.get("id") == NEXT:
            assert "result" in message
            return


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not SEEDED,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.lists(BODIES, min_size=1, max_size=20))
def test_whatever_messages_hold_the_next_request_is_answered(server: ServeProcess, bodies: list[bytes]) -> None:
    for body in bodies:
        # With lines, a line break only makes two messages of one.
        server.send_bytes(body)
    is_answered(server)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not SEEDED,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(BODIES)
@example(b"\n\n\r\n")
@example(b"x" * 100_000)
def test_whatever_stands_between_messages_the_next_request_is_answered(server: ServeProcess, noise: bytes) -> None:
    # A length that is announced is waited for, whatever comes: that is what a length is for. And what ends in a letter
    # makes another name of the header behind it.
    noise = noise.replace(b":", b";") + b"}"
    assert server.process.stdin is not None
    server.process.stdin.write(noise + (b"\n" if server.framing == "lines" else b""))
    is_answered(server)


@pytest.mark.parametrize(
    ("framing", "start"),
    [
        ("lines", b""),
        ("lines", b"\xef\xbb\xbf"),
        ("lines", b"{"),
        ("headers", b"A: b\n\n"),
        ("headers", b"Content-Length: 5\r\n\r\n"),
        ("headers", b"Content-Length: 99999999999999\r\n\r\n"),
    ],
)
def test_whatever_comes_first_the_end_of_input_is_the_end(tmp_path: Path, framing: Framing, start: bytes) -> None:
    with serve_process(Home(tmp_path), framing=framing) as server:
        assert server.process.stdin is not None
        server.process.stdin.write(start + bytes(range(256)) * 100)
        assert server.finish() == 0
        assert "Traceback" not in server.stderr
