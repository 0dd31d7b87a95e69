"""What was written before there was an event loop: early requests are answered, everything else is kept in order."""

import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc.envelopes import Params
from rpc_agent.rpc.errors import invalid_params
from rpc_agent.rpc.framing import AutoDecoder, Damaged
from rpc_agent.rpc.opening import Opening, answer_early

Ends = tuple[int, int, int, int]


def refuse(params: Params) -> Any:
    raise invalid_params("x", "must not be")


def large(params: Params) -> Any:
    return "x" * 10_000


EARLY: dict[str, Callable[[Params], Any]] = {"echo": lambda params: params, "refuse": refuse, "large": large}


@pytest.fixture(params=["pipes", "sockets"])
def ends(request: pytest.FixtureRequest) -> Iterator[Ends]:
    """Where we read, where we write; where the other side writes, where it reads."""
    if request.param == "pipes":
        (our_input, their_output), (their_input, our_output) = os.pipe(), os.pipe()
    else:
        ours, theirs = socket.socketpair()
        our_input, their_output = ours.detach(), theirs.detach()
        our_output, their_input = os.dup(our_input), os.dup(their_output)
    yield our_input, our_output, their_output, their_input
    for fd in (our_input, our_output, their_output, their_input):
        os.close(fd)


def opened(ends: Ends, sent: bytes) -> tuple[Opening, bytes]:
    """What became of it, and what was answered."""
    our_input, our_output, their_output, their_input = ends
    os.write(their_output, sent)
    opening = answer_early(our_input, our_output, AutoDecoder(), EARLY)
    os.set_blocking(their_input, False)
    try:
        return opening, os.read(their_input, 1 << 16)
    except BlockingIOError:
        return opening, b""


def call(method: str, id: int = 1) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": {"a": 1}}).encode()


def test_requests_at_the_beginning_are_answered_and_the_rest_is_kept(ends: Ends) -> None:
    rest = [call("other", 3), call("echo", 4)]
    opening, answers = opened(ends, b"\n".join([call("echo"), call("refuse", 2), *rest, b'{"cut']))
    assert [(answer["id"], answer.get("result")) for answer in map(json.loads, answers.splitlines())] == [
        (1, {"a": 1}),
        (2, None),
    ]
    assert (list(opening.received), opening.has_answered) == (rest, True)
    assert opening.decoder.feed(b'":1}\n') == [b'{"cut":1}']


def test_the_framing_of_the_question_is_that_of_the_answer(ends: Ends) -> None:
    body = call("echo")
    opening, answer = opened(ends, b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    expected = b'{"jsonrpc":"2.0","id":1,"result":{"a":1}}'
    assert (answer, opening.decoder.framing) == (b"Content-Length: %d\r\n\r\n%b" % (len(expected), expected), "headers")


@pytest.mark.parametrize(
    "first",
    [call("other"), call("large"), b"nonsense", b"[%b]" % call("echo"), b'{"jsonrpc":"2.0","method":"echo"}', b"\xff"],
)
def test_what_only_the_loop_can_answer_waits_for_it_and_so_does_all_behind(ends: Ends, first: bytes) -> None:
    opening, answer = opened(ends, first + b"\n" + call("echo") + b"\n")
    assert (list(opening.received), opening.has_answered, answer) == ([first, call("echo")], False, b"")


def test_a_damaged_frame_is_kept_too(ends: Ends) -> None:
    opening, answer = opened(ends, b"Content-Length: x\r\n\r\n")
    assert (answer, [type(frame) for frame in opening.received]) == (b"", [Damaged])


def test_nothing_to_read_is_not_waited_for(ends: Ends) -> None:
    opening = answer_early(ends[0], ends[1], AutoDecoder(), EARLY)
    assert (list(opening.received), opening.has_answered) == ([], False)


def test_a_reader_that_is_gone_or_stuck_is_left_to_the_loop(ends: Ends) -> None:
    our_input, our_output, their_output, _ = ends
    os.set_blocking(our_output, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(our_output, b"x" * 4096)
    os.write(their_output, call("echo") + b"\n")
    opening = answer_early(our_input, our_output, AutoDecoder(), EARLY)
    assert (list(opening.received), opening.has_answered) == ([call("echo")], False)


def test_a_file_is_left_to_the_loop(tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(call("echo") + b"\n")
    with (tmp_path / "input").open("rb") as given, (tmp_path / "output").open("wb") as output:
        opening = answer_early(given.fileno(), output.fileno(), AutoDecoder(), EARLY)
        assert (list(opening.received), opening.has_answered, given.read()) == ([], False, call("echo") + b"\n")
