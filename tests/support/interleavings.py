"""Random plans of what a client does to a server and when, from a seed; and smaller plans of one that failed.

A plan is data: which script the model plays, which steps follow each other, how it ends. Nothing runs here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Literal

from rpc_agent.conversation.models import THINKING_LEVELS

Ending = Literal["abort", "close", "input-end", "shutdown"]
LONG = "word " * 1_000
"""Enough that two exchanges reach the threshold of the small window."""
HUGE = "word " * 12_000
"""More than the window: it can never fit."""
WINDOW = 8_000
UNKNOWN_ENTRY = "00000000"


@dataclass(frozen=True, slots=True)
class EntryPick:
    """An entry of the session, counted back from its newest one; chosen when the step is taken."""

    back: int


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that is not waited for. `session` counts back from the newest session; None names none."""

    method: str
    params: Mapping[str, Any] = field(default_factory=dict)
    session: int | None = None


@dataclass(frozen=True, slots=True)
class Cancel:
    """`$/cancelRequest` for a request in flight, counted back from the newest."""

    back: int


@dataclass(frozen=True, slots=True)
class Pause:
    """Let the server go on for so many steps of the event loop."""

    turns: int


@dataclass(frozen=True, slots=True)
class Until:
    """Wait a moment for the next notification of this name; go on without it when it does not come."""

    notification: str


@dataclass(frozen=True, slots=True)
class Answered:
    """Wait a moment for the newest request's answer."""


Step = Ask | Cancel | Pause | Until | Answered


@dataclass(frozen=True, slots=True)
class Plan:
    seed: int
    settings: Mapping[str, Any]
    replies: Sequence[Mapping[str, Any]]
    summaries: Sequence[Mapping[str, Any]]
    steps: Sequence[Step]
    ending: Ending


def make_plan(seed: int) -> Plan:
    """The same plan for the same seed, in every process."""
    return _Maker(Random(seed)).plan(seed)


def smaller(plan: Plan) -> Iterator[Plan]:
    """Plans with something left out, the largest cuts first."""
    size = len(plan.steps)
    while size > 0:
        for start in range(0, len(plan.steps), size):
            yield replace(plan, steps=[*plan.steps[:start], *plan.steps[start + size :]])
        size //= 2
    for index in range(len(plan.replies) - 1):
        yield replace(plan, replies=[*plan.replies[:index], *plan.replies[index + 1 :]])


_FAILURES: Sequence[Mapping[str, Any]] = (
    {"kind": "rate", "status": 429, "message": "slow down"},
    {"kind": "overloaded", "status": 529, "message": "too much to do"},
    {"kind": "transport", "message": "the connection broke"},
    {"kind": "auth", "status": 401, "message": "no such key"},
    {"kind": "quota", "status": 429, "message": "the budget is spent"},
    {"kind": "other", "status": 400, "message": "no"},
    {"kind": "overflow", "status": 400, "message": f"prompt is too long: 9000 tokens > {WINDOW} maximum"},
    {"kind": "overflow", "status": 400, "message": f"prompt is too long: 9000 tokens > {WINDOW} maximum"},
)
_CALLS: Sequence[Mapping[str, Any]] = (
    {"name": "ls", "arguments": {}},
    {"name": "read", "arguments": {"path": "notes.txt"}},
    {"name": "read", "arguments": {"path": "missing.txt"}},
    {"name": "write", "arguments": {"path": "out.txt", "content": "x"}},
    {"name": "nonsense", "arguments": {}},
    {"name": "read", "arguments": "{not json"},
    {"name": "bash", "arguments": {"command": "echo hello"}},
)
_READING = (
    "get_state",
    "get_messages",
    "get_context",
    "get_entries",
    "get_tree",
    "get_queue",
    "get_queue",
    "get_session_stats",
    "get_last_assistant_text",
    "get_fork_messages",
)
_STOPPING = (
    "abort",
    "abort",
    "abort_retry",
    "abort_compaction",
    "abort_branch_summary",
    "abort_bash",
    "clear_queue",
)
_MOMENTS = (
    "agent_start",
    "message_start",
    "message_update",
    "tool_execution_start",
    "message_end",
    "turn_end",
    "compaction_start",
    "branch_summary_start",
    "auto_retry_start",
    "agent_end",
    "agent_settled",
)


class _Maker:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.sent = 0
        self.may_hang = False

    def plan(self, seed: int) -> Plan:
        random = self.random
        ending = random.choices(("abort", "close", "input-end", "shutdown"), (70, 10, 12, 8))[0]
        # Once the input has ended nobody can stop an answer that never ends.
        self.may_hang = ending != "input-end"
        replies = [self._reply() for _ in range(random.randint(3, 14))]
        summaries = [self._summary() for _ in range(random.randint(1, 5))]
        steps: list[Step] = []
        if random.random() < 0.5:
            # Half of the plans begin with a conversation that is worth compacting and navigating.
            steps = [
                step
                for _ in range(random.randint(2, 4))
                for step in (Ask("prompt", {"message": self._text(LONG), "wait": True}), Answered())
            ]
        steps += [step for _ in range(random.randint(4, 16)) for step in self._moment()]
        if (deltas := Random(f"deltas {seed}").choice(("each", "each", "merged", "none"))) != "each":
            client = {"protocolVersion": 1, "clientInfo": {"name": "test", "version": "1"}}
            steps.insert(0, Ask("initialize", {**client, "capabilities": {"deltas": deltas}}))
        # The last reply ends a run that only calls tools.
        return Plan(seed, self._settings(), [*replies, {"text": "so be it"}], summaries, steps, ending)

    def _settings(self) -> Mapping[str, Any]:
        random = self.random
        return {
            "tokens": {"estimate": "simple"},
            "compaction": {"enabled": random.random() < 0.8, "keepRecentTokens": 500, "reserveTokens": 3_000},
            "retry": {"baseDelayMs": 1, "maxRetries": random.randint(0, 3)},
            "permissions": {"mode": "allow"},
            "steeringMode": random.choice(("all", "one-at-a-time")),
            "followUpMode": random.choice(("all", "one-at-a-time")),
        }

    # The model

    def _reply(self) -> Mapping[str, Any]:
        random = self.random
        kind = random.choices(
            ("text", "long", "tools", "error", "hang", "slow", "length", "cut tools"), (30, 20, 22, 14, 4, 4, 3, 3)
        )[0]
        match kind:
            case "text":
                return {"text": "a word or two", **random.choice(({}, {"thinking": "hm"}))}
            case "long":
                return {"text": LONG, "chunk": 500}
            case "tools":
                calls = [random.choice(_CALLS) for _ in range(random.randint(1, 3))]
                return {"text": random.choice(("", "let me look")), "toolCalls": calls}
            case "error":
                return {"text": random.choice(("", "half of")), "error": random.choice(_FAILURES)}
            case "hang":
                return {"text": "never done", "hang": True} if self.may_hang else {"text": "done"}
            case "slow":
                return {"text": "one two three four", "chunk": 4, "paceMs": 2}
            case "length":
                return {"text": "cut sh", "stopReason": "length"}
            case _:
                return {"toolCalls": [random.choice(_CALLS)], "stopReason": "length"}

    def _summary(self) -> Mapping[str, Any]:
        random = self.random
        kind = random.choices(
            ("good", "empty", "endless", "error", "hang", "tools", "length"), (60, 5, 5, 12, 8, 5, 5)
        )[0]
        match kind:
            case "good":
                return {"text": "## Goal\nShort notes."}
            case "empty":
                return {"text": ""}
            case "endless":
                return {"text": "again " * 20_000, "chunk": 20_000}
            case "error":
                return {"error": random.choice(_FAILURES)}
            case "hang":
                return {"text": "never", "hang": True} if self.may_hang else {"text": "## Goal\nNotes."}
            case "tools":
                return {"toolCalls": [_CALLS[0]]}
            case _:
                return {"text": "## Go", "stopReason": "length"}

    # The client

    def _moment(self) -> Iterator[Step]:
        random = self.random
        asked = self._ask()
        yield asked
        begun = {"compact": "compaction_start", "navigate_tree": "branch_summary_start"}.get(asked.method)
        if begun and random.random() < 0.5:
            yield Until(begun)
            yield self._beside_a_summary()
        if random.random() < 0.12:
            yield Cancel(random.randint(0, 2))
        kind = random.choices(("at once", "pause", "until", "answered"), (30, 35, 25, 10))[0]
        match kind:
            case "pause":
                yield Pause(random.choice((1, 2, 3, 5, 8, 13, 21, 40)))
            case "until":
                yield Until(random.choice(_MOMENTS))
            case "answered":
                yield Answered()
        if random.random() < 0.1:
            yield Cancel(random.randint(0, 3))

    def _ask(self) -> Ask:
        random = self.random
        session = random.choice((None, None, None, 0, 0, 1))
        makers = (
            (30, self._prompt),
            (12, self._queue),
            (14, lambda: (random.choice(_STOPPING), {})),
            (14, lambda: (random.choice(_READING), {})),
            (9, self._compaction),
            (9, self._navigation),
            (12, self._change),
            (5, lambda: ("wait_for_idle", {})),
            (5, lambda: ("continue_run", {})),
            (4, lambda: ("bash", {"command": random.choice(("echo hi", "exit 3"))})),
            (7, self._session),
        )
        method, params = random.choices([maker for _, maker in makers], [weight for weight, _ in makers])[0]()
        takes_session = method not in ("new_session", "open_session", "list_sessions")
        return Ask(method, params, session if takes_session else None)

    def _beside_a_summary(self) -> Step:
        """What is worth trying while a summary is being written."""
        behavior = self.random.choice(("steer", "followUp"))
        message = {"message": self._text(), "wait": self.random.random() < 0.5}
        return self.random.choice(
            (
                Cancel(0),
                Ask("abort"),
                Ask("abort_compaction"),
                Ask("abort_branch_summary"),
                Ask("close_session"),
                Ask("prompt", {**message, "streamingBehavior": behavior}),
                Ask("prompt", message),
                Ask("bash", {"command": "echo beside"}),
            )
        )

    def _text(self, body: str = "") -> str:
        self.sent += 1
        return f"m{self.sent} {body}".strip()

    def _prompt(self) -> tuple[str, Mapping[str, Any]]:
        random = self.random
        params: dict[str, Any] = {"message": self._text(random.choices(("", LONG, HUGE), (70, 28, 2))[0])}
        if random.random() < 0.4:
            params["wait"] = True
        if random.random() < 0.4:
            params["streamingBehavior"] = random.choice(("steer", "followUp"))
        if random.random() < 0.1:
            params["expectedLeafId"] = EntryPick(random.choice((0, 0, 1)))
        if random.random() < 0.1:
            params["maxTurns"] = random.randint(1, 2)
        if random.random() < 0.07:
            params["timeoutMs"] = random.choice((1, 5, 20))
        return "prompt", params

    def _queue(self) -> tuple[str, Mapping[str, Any]]:
        return self.random.choice(("steer", "follow_up")), {"message": self._text()}

    def _compaction(self) -> tuple[str, Mapping[str, Any]]:
        random = self.random
        method = random.choice(("compact", "compact", "compact", "preview_compaction", "undo_compaction"))
        params: dict[str, Any] = {}
        if method == "compact" and random.random() < 0.2:
            params["expectedLeafId"] = EntryPick(random.choice((0, 0, 2)))
        if method == "compact" and random.random() < 0.2:
            params["keepRecentTokens"] = random.choice((0, 100, 2_000))
        return method, params

    def _navigation(self) -> tuple[str, Mapping[str, Any]]:
        random = self.random
        target = None if random.random() < 0.1 else EntryPick(random.randint(0, 12))
        params: dict[str, Any] = {"targetId": target}
        if random.random() < 0.6:
            params["summarize"] = True
        if random.random() < 0.2:
            params["label"] = "here"
        return "navigate_tree", params

    def _change(self) -> tuple[str, Mapping[str, Any]]:
        random = self.random
        replacement = random.choice((None, {"content": "edited"}))
        return random.choice(
            (
                ("set_steering_mode", {"mode": random.choice(("all", "one-at-a-time"))}),
                ("set_follow_up_mode", {"mode": random.choice(("all", "one-at-a-time"))}),
                ("set_label", {"entryId": EntryPick(random.randint(0, 5)), "label": random.choice(("a", None))}),
                ("edit_context", {"targetId": EntryPick(random.randint(0, 8)), "replacement": replacement}),
                ("set_session_name", {"name": random.choice(("", "a name"))}),
                ("set_model", {"provider": "scripted", "modelId": random.choice(("m", "larger"))}),
                ("set_model", {"provider": "keyless", "modelId": "m"}),
                ("cycle_model", {}),
                ("set_thinking_level", {"level": random.choice(THINKING_LEVELS)}),
                ("set_auto_retry", {"enabled": random.random() < 0.5}),
                ("set_auto_compaction", {"enabled": random.random() < 0.6}),
            )
        )

    def _session(self) -> tuple[str, Mapping[str, Any]]:
        random = self.random
        return random.choice(
            (
                ("new_session", {"ephemeral": random.random() < 0.3}),
                ("open_session", {"latest": True}),
                ("fork_session", {"entryId": EntryPick(random.randint(0, 8))}),
                ("clone_session", {}),
                ("close_session", {}),
                ("delete_session", {}),
            )
        )
