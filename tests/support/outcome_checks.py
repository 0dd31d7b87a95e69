"""What must hold of everything a server said, whatever it was asked and in which order. Pure but for reading files.

`faults` gives sentences; an empty list is a pass.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.support.interleaved_client import Asked, Kept, Record
from tests.support.interleavings import HUGE

_CANCELLED = -32800
_ACCEPTING = ("prompt", "steer", "follow_up")


@dataclass(frozen=True, slots=True)
class Heard:
    """A notification, and its place among everything that came."""

    place: int
    name: str
    params: Mapping[str, Any]


def faults(record: Record) -> list[str]:
    """Everything that is wrong, as sentences."""
    found = [f"not answered: {request}" for request in record.unanswered]
    found += [f"not at rest: {sentence}" for sentence in record.restless]
    found += [f"does not fit the contract: {sentence}" for sentence in record.misfits]
    found += [f"logged: {text}" for text in record.logged]
    found += [] if record.ended else ["the server did not end"]
    lives = list(_lives(record))
    for check in (_answers, _prompt_answers, _queue_answers, _kept, _announced_in_file, _sent_tools):
        found += check(record)
    for life in lives:
        found += _Life().check(life)
    found += _delivered(record, lives)
    found += _runs_end(record, lives)
    return found


# Answers


def _responses(record: Record) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for place, message in enumerate(record.received):
        if isinstance(message, dict) and "method" not in message:
            yield place, message


def _answers(record: Record) -> Iterator[str]:
    counts = Counter(message["id"] for _, message in _responses(record))
    for id, asked in record.asked.items():
        if counts[id] > 1:
            yield f"{asked.method} ({id}) was answered {counts[id]} times"
    for _, message in _responses(record):
        error = message.get("error")
        if error and (error["code"] == -32603 or "reason" not in error.get("data", {})):
            yield f"{record.asked[message['id']]} was answered {error}"
        result = message.get("result")
        if isinstance(result, dict) and (result.get("error") or {}).get("reason") == "internalError":
            yield f"{record.asked[message['id']]} came to {result}"


def _prompt_answers(record: Record) -> Iterator[str]:
    """The answer to a prompt that does not wait comes before everything of its run."""
    for place, message in _responses(record):
        asked = record.asked.get(message["id"], Asked("", {}))
        result = message.get("result") or {}
        is_told_first = asked.method == "continue_run" or (asked.method == "prompt" and not asked.params.get("wait"))
        if is_told_first and "runId" in result and result.get("disposition", "started") == "started":
            first = next((n.place for n in _heard(record) if n.params.get("runId") == result["runId"]), None)
            if first is not None and first < place:
                yield f"the run {result['runId']} spoke before its {asked.method} was answered"


def _queue_answers(record: Record) -> Iterator[str]:
    """get_queue says what the last queue_update said."""
    last: dict[str, tuple[list[str], list[str]]] = {}
    streams: dict[str, str] = {}
    for message in record.received:
        params = message.get("params") or {}
        state = message.get("result") or {}
        if "streamId" in state and streams.setdefault(state["sessionId"], state["streamId"]) != state["streamId"]:
            # Opened anew: another life, whose queue begins empty though it has said nothing yet.
            streams[state["sessionId"]] = state["streamId"]
            last.pop(state["sessionId"], None)
        if message.get("method") == "queue_update":
            last[params["sessionId"]] = (params["steering"], params["followUp"])
        elif params.get("seq") == 1:
            last.pop(params["sessionId"], None)
        asked = record.asked.get(message.get("id"), Asked("", {}))
        result = message.get("result")
        if asked.method == "close_session" and result:
            # Nobody may have asked for the state of the life that ends here.
            last.pop(result["sessionId"], None)
        if asked.method == "get_queue" and result:
            told = tuple([each["text"] for each in result[name]] for name in ("steering", "followUp"))
            if told != last.get(result["sessionId"], ([], [])):
                yield f"get_queue said {told} after queue_update {last.get(result['sessionId'])}"


# One life of one session


def _heard(record: Record) -> Iterator[Heard]:
    for place, message in enumerate(record.received):
        if isinstance(message, dict) and "method" in message:
            yield Heard(place, message["method"], message["params"])


def _lives(record: Record) -> Iterator[list[Heard]]:
    """The notifications of each life of each session: a session that is opened again counts from 1 again."""
    current: dict[str, list[Heard]] = {}
    for heard in _heard(record):
        session_id = heard.params["sessionId"]
        if heard.params["seq"] == 1 and session_id in current:
            yield current.pop(session_id)
        current.setdefault(session_id, []).append(heard)
    yield from current.values()


@dataclass(slots=True)
class _Life:
    """Walks through one life and keeps what is open."""

    agent: bool = False
    turn: bool = False
    message: str | None = None
    tools: set[str] = field(default_factory=set)
    compaction: str | None = None
    branch: bool = False
    retrying: bool = False
    run: str | None = None
    queue: tuple[list[str], list[str]] = ([], [])
    before: tuple[list[str], list[str]] = ([], [])
    settled: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    def check(self, life: Sequence[Heard]) -> list[str]:
        for count, heard in enumerate(life, start=1):
            if heard.params["seq"] != count:
                self.wrong.append(f"seq {heard.params['seq']} where {count} was due")
            self._take(heard)
        if self._open() or self.run:
            self.wrong.append(f"still open at the end: {self._open()} {self.run or ''}")
        session = life[0].params["sessionId"]
        return [f"session {session[-6:]}: {sentence}" for sentence in self.wrong]

    def _open(self) -> list[str]:
        names = ("agent", "turn", "message", "tools", "compaction", "branch", "retrying")
        return [name for name in names if getattr(self, name)]

    def _take(self, heard: Heard) -> None:
        run = heard.params.get("runId")
        if run is not None:
            self._expect(run not in self.settled, heard, f"came after its run {run} had settled")
            self._expect(self.run in (None, run), heard, f"belongs to run {run} while {self.run} is at work")
            self.run = run
        step: Callable[[Heard], None] | None = getattr(self, f"_{heard.name}", None)
        if step is not None:
            step(heard)

    def _expect(self, holds: bool, heard: Heard, sentence: str) -> None:
        if not holds:
            self.wrong.append(f"{heard.name} (seq {heard.params['seq']}) {sentence}; open: {self._open()}")

    def _agent_start(self, heard: Heard) -> None:
        self._expect(not self.agent and not self.compaction, heard, "within another")
        self.agent = True

    def _agent_end(self, heard: Heard) -> None:
        self._expect(self.agent and not self.turn, heard, "without agent_start, or within a turn")
        self.agent = False

    def _agent_settled(self, heard: Heard) -> None:
        self._expect(not self._open(), heard, "while something was open")
        self._expect(self.run is not None, heard, "without a run")
        self.settled.add(heard.params.get("runId", ""))
        self.run = None

    def _turn_start(self, heard: Heard) -> None:
        self._expect(self.agent and not self.turn and not self.compaction, heard, "at the wrong place")
        self.turn = True

    def _turn_end(self, heard: Heard) -> None:
        self._expect(self.turn and not self.message and not self.tools, heard, "with something open")
        self.turn = False

    def _message_start(self, heard: Heard) -> None:
        self._expect(self.turn and self.message is None, heard, "outside a turn or within another message")
        self.message = heard.params["message"]["role"]
        if self.message == "user":
            self._check_turn(heard, heard.params["message"]["content"])

    def _check_turn(self, heard: Heard, text: str) -> None:
        """A message leaves the queue before it is delivered, and those before it of its kind went first."""
        steering, follow_ups = self.before
        if text in (*steering, *follow_ups):
            self._expect(text == [*steering, *follow_ups][0], heard, f"of {text!r} out of turn: {self.before}")
        self._expect(text not in (*self.queue[0], *self.queue[1]), heard, f"of {text!r}, which is still queued")

    def _queue_update(self, heard: Heard) -> None:
        self.before, self.queue = self.queue, (heard.params["steering"], heard.params["followUp"])

    def _message_update(self, heard: Heard) -> None:
        self._expect(self.message == "assistant", heard, "outside an answer")

    def _message_end(self, heard: Heard) -> None:
        self._expect(self.message == heard.params["message"]["role"], heard, "without its message_start")
        self.message = None

    def _tool_execution_start(self, heard: Heard) -> None:
        self._expect(self.turn and heard.params["toolCallId"] not in self.tools, heard, "outside a turn, or twice")
        self.tools.add(heard.params["toolCallId"])

    def _tool_execution_end(self, heard: Heard) -> None:
        self._expect(heard.params["toolCallId"] in self.tools, heard, "without its start")
        self.tools.discard(heard.params["toolCallId"])

    def _compaction_start(self, heard: Heard) -> None:
        self._expect(not self.compaction and not self.turn, heard, "within another, or within a turn")
        self.compaction = heard.params["compactionId"]

    def _compaction_end(self, heard: Heard) -> None:
        params = heard.params
        fuse_only = self.compaction is None and params["status"] == "failed" and "errorMessage" in params
        self._expect(fuse_only or self.compaction == params["compactionId"], heard, "without its start")
        self._expect(("result" in params) == (params["status"] == "completed"), heard, "with a result that lies")
        self.compaction = None

    def _branch_summary_start(self, heard: Heard) -> None:
        self._expect(not self.branch and self.run is None, heard, "within another or within a run")
        self.branch = True

    def _branch_summary_end(self, heard: Heard) -> None:
        self._expect(self.branch, heard, "without its start")
        self.branch = False

    def _auto_retry_start(self, heard: Heard) -> None:
        self.retrying = True

    def _auto_retry_end(self, heard: Heard) -> None:
        self._expect(self.retrying, heard, "without a start")
        self.retrying = False


# Across lives


def _runs_end(record: Record, lives: Sequence[Sequence[Heard]]) -> Iterator[str]:
    """A run that was promised to somebody settles, once."""
    settled = Counter(h.params.get("runId") for life in lives for h in life if h.name == "agent_settled")
    for _, message in _responses(record):
        run = (message.get("result") or {}).get("runId")
        if run is not None and settled[run] != 1:
            yield f"the run {run} settled {settled[run]} times"


def _delivered(record: Record, lives: Sequence[Sequence[Heard]]) -> Iterator[str]:
    """An accepted message is delivered once, or given back, or still in the queue; a refused one is nowhere."""
    delivered = Counter(_label(text) for life in lives for text in _user_texts(life))
    queued = {_label(text) for life in lives for text in _last_queue(life)}
    given_back = {_label(text) for text in _given_back(record)}
    for _, message in _responses(record):
        asked = record.asked.get(message["id"], Asked("", {}))
        if asked.method not in _ACCEPTING or asked.params["message"] == "fresh":
            continue
        label = _label(asked.params["message"])
        places = delivered[label] + (label in queued) + (label in given_back)
        if "error" in message:
            if delivered[label] or label in queued:
                yield f"{label} was refused ({message['error']}) and still delivered or queued"
        elif places != 1 and not (len(asked.params["message"]) >= len(HUGE) and places == 0):
            yield f"{label} ({asked.method}) was delivered {delivered[label]} times; " + (
                f"queued: {label in queued}, given back: {label in given_back}"
            )


def _label(text: str) -> str:
    return text.split(" ", 1)[0]


def _user_texts(life: Sequence[Heard]) -> Iterator[str]:
    for heard in life:
        message = heard.params.get("message") if heard.name == "message_end" else None
        if message and message["role"] == "user":
            yield message["content"]


def _last_queue(life: Sequence[Heard]) -> Sequence[str]:
    updates = [heard.params for heard in life if heard.name == "queue_update"]
    return [*updates[-1]["steering"], *updates[-1]["followUp"]] if updates else []


def _given_back(record: Record) -> Iterator[str]:
    for _, message in _responses(record):
        if record.asked.get(message["id"], Asked("", {})).method == "clear_queue" and "result" in message:
            yield from (*message["result"]["steering"], *message["result"]["followUp"])


# What stays


def _kept(record: Record) -> Iterator[str]:
    for kept in record.kept:
        if kept.warnings:
            yield f"opened again with warnings: {kept.warnings}"
        for name in kept.before:
            if kept.before[name] != kept.after.get(name):
                yield f"{name} differs after opening again: {_difference(kept, name)}"


def _difference(kept: Kept, name: str) -> str:
    before, after = json.dumps(kept.before[name], indent=1), json.dumps(kept.after.get(name), indent=1)
    lines = zip_longest(before.splitlines(), after.splitlines())
    return next((f"{one} / {other}" for one, other in lines if one != other), "")[:300]


def _announced_in_file(record: Record) -> Iterator[str]:
    announced: dict[str, set[str]] = {}
    for heard in _heard(record):
        if heard.name == "entry_appended":
            announced.setdefault(heard.params["sessionId"], set()).add(heard.params["entry"]["id"])
    for kept in record.kept:
        lines = [json.loads(line) for line in Path(kept.file).read_text(encoding="utf-8").splitlines()]
        missing = announced.get(kept.session_id, set()) - {line["id"] for line in lines}
        if missing:
            yield f"announced and not in the file: {sorted(missing)}"


def _sent_tools(record: Record) -> Iterator[str]:
    """In what a model was sent each tool call has its one result, right behind the message that made it."""
    for request in record.requests:
        due: list[str] = []
        for message in request.messages:
            if message["role"] == "toolResult":
                if message["toolCallId"] not in due:
                    yield f"a result of {message['toolCallId']}, which nothing asked for"
                else:
                    due.remove(message["toolCallId"])
            elif due:
                yield f"no result of {due} before a message of {message['role']}"
                due = []
            if message["role"] == "assistant":
                due = [block["id"] for block in message["content"] if block["type"] == "toolCall"]
        if due:
            yield f"no result of {due}"
