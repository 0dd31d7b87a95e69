"""Everything a client can do wrong, in both framings, through a real process: each has its answer, and the next works."""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc.framing import Framing
from tests.support.hostile_messages import HOSTILE, REQUEST, brief
from tests.support.rpc import LIMIT, finish, split_headers, split_lines, start, talk, with_headers

GOLDEN = Path(__file__).parent.parent / "golden" / "rpc"
CASES = Path(os.environ.get("RPC_AGENT_CASES", Path(__file__).parents[3] / "shared" / "cases")) / "reports"


class Conversation:
    """One process that stays for a list of messages."""

    def __init__(self, framing: Framing) -> None:
        self.framing = framing
        self.process = start(stderr=subprocess.DEVNULL)

    def __enter__(self) -> "Conversation":
        return self

    def __exit__(self, *_: object) -> None:
        finish(self.process)

    def say(self, message: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(message + b"\n" if self.framing == "lines" else with_headers(message))
        self.process.stdin.flush()

    def hear(self) -> Any:
        assert self.process.stdout is not None
        if self.framing == "lines":
            return json.loads(self.process.stdout.readline())
        length = int(self.process.stdout.readline().removeprefix(b"Content-Length: "))
        self.process.stdout.readline()
        return json.loads(self.process.stdout.read(length))

    def answers_to(self, message: bytes) -> list[Any]:
        """What comes back before the answer to a good request that follows."""
        self.say(message)
        self.say(b'{"jsonrpc":"2.0","id":"the next one","method":"echo"}')
        answers = []
        while (answer := self.hear()) != {"jsonrpc": "2.0", "id": "the next one", "result": {}}:
            answers.append(answer)
        return answers

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(20)


@pytest.mark.parametrize("framing", ["lines", "headers"])
def test_each_hostile_message_gets_its_answer_and_the_next_request_works(framing: Framing) -> None:
    with Conversation(framing) as talk_on:
        talk_on.answers_to(REQUEST % b"0")
        for name, message, expected in HOSTILE:
            assert (name, [brief(answer) for answer in talk_on.answers_to(message)]) == (name, expected)
        assert talk_on.end() == 0


@pytest.mark.parametrize("framing", ["lines", "headers"])
def test_what_a_hostile_message_carried_is_what_the_methods_saw(framing: Framing) -> None:
    with Conversation(framing) as talk_on:
        talk_on.answers_to(REQUEST % b"0")
        cases = {
            rb"\ud800": "\ufffd",
            rb"\ud83d\ude00": "\U0001f600",
            "\u2028\u2029\u0085".encode(): "\u2028\u2029\u0085",
        }
        for raw, text in cases.items():
            (answer,) = talk_on.answers_to(b'{"id":1,"method":"echo","params":{"a":0,"a":"%b"}}' % raw)
            assert answer["result"] == {"a": text}
        (answer,) = talk_on.answers_to(b'{"id":1,"method":"echo","params":["%b"]}' % (b"x" * LIMIT))
        assert answer["error"]["data"] == {"reason": "messageTooLarge", "maxMessageBytes": LIMIT}


@pytest.mark.parametrize("framing", ["lines", "headers"])
@pytest.mark.parametrize("mebibytes", [1, 32])
def test_a_large_message_takes_time_in_proportion(framing: Framing, mebibytes: int) -> None:
    with Conversation(framing) as talk_on:
        talk_on.answers_to(REQUEST % b"0")
        begun = time.monotonic()
        message = b'{"id":1,"method":"measure","params":["%b"]}' % (b"x" * (mebibytes << 20))
        assert [brief(answer) for answer in talk_on.answers_to(message)] == [(1, "ok")]
        assert time.monotonic() - begun < 3 + mebibytes * 0.1


@pytest.mark.parametrize("framing", ["lines", "headers"])
def test_two_hundred_requests_in_one_write_are_all_answered(framing: Framing) -> None:
    messages = [REQUEST % b"%d" % id for id in range(200)]
    data = b"\n".join(messages) if framing == "lines" else with_headers(*messages)
    output, _ = talk(data)
    answers = split_lines(output) if framing == "lines" else split_headers(output)
    assert sorted(brief(answer) for answer in answers) == [(id, "ok") for id in range(200)]


def test_a_message_cut_by_the_end_of_input_is_a_parse_error_before_the_usual_end() -> None:
    output, log = talk(REQUEST % b"1" + b'\n{"jsonrpc":"2.0","id":2,"meth')
    assert sorted(map(brief, split_lines(output)), key=str) == [(1, "ok"), (None, -32700)]
    assert "ended: input-ended" in log
    output, log = talk(with_headers(REQUEST % b"1") + b"Content-Length: 90\r\n\r\n{")
    assert sorted(map(brief, split_headers(output)), key=str) == [(1, "ok"), (None, -32700)]
    assert "ended: input-ended" in log


def test_a_header_block_without_a_length_is_a_parse_error_and_the_next_block_is_read() -> None:
    output, _ = talk(b"Content-Type: json\r\n\r\n" + REQUEST % b"1" + with_headers(REQUEST % b"2"))
    assert sorted(map(brief, split_headers(output)), key=str) == [(2, "ok"), (None, -32700)]


def test_the_framing_can_be_forced() -> None:
    output, _ = talk(b"Content-Length: 4\n" + REQUEST % b"1" + b"\n", "lines")
    assert sorted(map(brief, split_lines(output)), key=str) == [(1, "ok"), (None, -32700)]
    output, _ = talk(REQUEST % b"1" + b"\n" + with_headers(REQUEST % b"2"), "headers")
    assert sorted(map(brief, split_headers(output)), key=str) == [(2, "ok"), (None, -32700)]


@pytest.mark.parametrize("folder", [GOLDEN, CASES], ids=["golden", "cases"])
def test_the_reported_inputs_of_other_agents_users(folder: Path) -> None:
    if not folder.is_dir():
        pytest.skip("the cases are not at hand")
    output, _ = talk((folder / "rpc_garbage.bin").read_bytes())
    assert sorted(map(brief, split_lines(output)), key=str) == [(2, "ok"), (None, -32700), (None, -32700)]
    output, _ = talk((folder / "rpc_u2028.bin").read_bytes())
    assert sorted(map(brief, split_lines(output)), key=str) == [(1, -32601), (2, "ok")]


def test_a_line_of_200_kilobytes_is_one_request() -> None:
    long = b'{"jsonrpc":"2.0","id":1,"method":"no_such_method","params":{"pad":"%b"}}\n' % (b"x" * 200_000)
    output, _ = talk(long + REQUEST % b"2" + b"\n")
    assert sorted(map(brief, split_lines(output)), key=str) == [(1, -32601), (2, "ok")]
