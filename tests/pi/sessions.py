"""Conversations that between them use every kind of entry, held with our server or with Pi."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from tests.pi.pi_process import PiProcess

LONG = "word " * 2000
LOOK = {
    "text": "I look.",
    "toolCalls": [{"name": "ls", "arguments": {}}, {"name": "read", "arguments": {"path": "n.txt"}}],
}
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Ask(Protocol):
    """Calls a method of our server."""

    def __call__(self, method: str, /, **params: Any) -> Any: ...


def say(ask: Ask, *texts: str) -> None:
    for text in texts:
        ask("prompt", message=text, wait=True)


def user_ids(ask: Ask) -> list[str]:
    return [message["entryId"] for message in ask("get_fork_messages")["messages"]]


def compacted(ask: Ask) -> None:
    say(ask, f"one {LONG}", f"two {LONG}", "three")
    ask("compact", keepRecentTokens=100)


def compacted_twice(ask: Ask) -> None:
    compacted(ask)
    say(ask, "after", f"five {LONG}", "six")
    ask("compact", keepRecentTokens=50)
    say(ask, "at the end")


def undone(ask: Ask) -> None:
    compacted(ask)
    ask("undo_compaction")
    say(ask, "as before")


def other_way(ask: Ask) -> None:
    say(ask, "one", "two", "three")
    ask("navigate_tree", targetId=user_ids(ask)[1], summarize=True, label="here")
    say(ask, "the other way")


def gone_back(ask: Ask) -> None:
    say(ask, "one", "two")
    ask("navigate_tree", targetId=user_ids(ask)[1])


def anew(ask: Ask) -> None:
    say(ask, "one")
    ask("navigate_tree", targetId=None)
    say(ask, "anew")


def choices(ask: Ask) -> None:
    ask("set_thinking_level", level="high")
    say(ask, "one")
    ask("set_model", provider="p", modelId="m2")
    ask("set_session_name", name="  A\nname ")
    first, *_, last = ask("get_entries")["entries"]
    for entry, label in ((last, "kept"), (first, "taken off"), (first, None)):
        ask("set_label", entryId=entry["id"], label=label)
    say(ask, "two")


def edits(ask: Ask) -> None:
    say(ask, "one", "two", "three")
    messages = [e for e in ask("get_entries")["entries"] if e["type"] == "message" and e["message"]["role"] != "system"]
    for entry, replacement in zip(messages, (None, {"content": "a string"}, {"content": []}), strict=False):
        ask("edit_context", targetId=entry["id"], replacement=replacement)
    say(ask, "four")


def commands(ask: Ask) -> None:
    say(ask, "one")
    ask("bash", command="echo hi; exit 3")
    ask("bash", command="echo for me alone", excludeFromContext=True)
    say(ask, "two")


def forked(ask: Ask) -> None:
    say(ask, "one", "two")
    ask("set_label", entryId=user_ids(ask)[0], label="first")
    ask("fork_session", entryId=user_ids(ask)[1])
    say(ask, "another second")


def cloned(ask: Ask) -> None:
    compacted_twice(ask)
    ask("set_label", entryId=user_ids(ask)[-1], label="kept")
    ask("clone_session")
    say(ask, "in the copy")


def pictured(ask: Ask) -> None:
    image = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
    ask("prompt", message="What is this?", images=[image], wait=True)


ANSWERS = [{"text": f"answer {n} {LONG}"} for n in range(8)]
WITH_OURS: Mapping[str, tuple[Callable[[Ask], None], Sequence[Mapping[str, Any]]]] = {
    "plain": (lambda ask: say(ask, "one", "two"), ANSWERS),
    "tools": (lambda ask: say(ask, "look", "again"), [LOOK, {"text": "done"}] * 2),
    "failed": (lambda ask: say(ask, "one", "two"), [{"error": {"message": "bad key", "status": 401}}, {"text": "b"}]),
    "picture": (pictured, ANSWERS),
    "compacted": (compacted, ANSWERS),
    "compacted twice": (compacted_twice, ANSWERS),
    "undone": (undone, ANSWERS),
    "other way": (other_way, ANSWERS),
    "gone back": (gone_back, ANSWERS),
    "anew": (anew, ANSWERS),
    "choices": (choices, ANSWERS),
    "edits": (edits, ANSWERS),
    "commands": (commands, ANSWERS),
    "forked": (forked, ANSWERS),
    "cloned": (cloned, ANSWERS),
}


def pi_compacts(pi: PiProcess) -> None:
    for text in (f"one {LONG}", f"two {LONG}", "three"):
        pi.prompt(text)
    pi.ask("compact")
    pi.prompt("after")


def pi_forks(pi: PiProcess) -> None:
    pi.prompt("one")
    pi.prompt("two")
    pi.ask("set_session_name", name="named")
    pi.ask("fork", entryId=pi.ask("get_fork_messages")["messages"][1]["entryId"])
    pi.prompt("three")


def pi_clones(pi: PiProcess) -> None:
    pi_compacts(pi)
    pi.ask("clone")
    pi.prompt("more")


def pi_chooses(pi: PiProcess) -> None:
    pi.prompt("one")
    pi.ask("bash", command="echo hi; exit 3")
    pi.ask("bash", command="echo for me alone", excludeFromContext=True)
    pi.ask("set_model", provider="p", modelId="m2")
    pi.ask("set_thinking_level", level="high")
    pi.prompt("two")


WITH_PI: Mapping[str, Callable[[PiProcess], None]] = {
    "compacted": pi_compacts,
    "forked": pi_forks,
    "cloned": pi_clones,
    "choices": pi_chooses,
}
