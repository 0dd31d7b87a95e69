"""How the four kinds of message that no service has a role for are told to a model, as a user's words."""

import re

from rpc_agent.conversation.blocks import UserBlock
from rpc_agent.conversation.messages import (
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
)

_COMPACTION_INTRODUCTION = """\
The earlier part of this conversation was replaced by the summary below to save space. A model wrote it, so it may \
leave things out or get them wrong. Where it ends in a ledger, that part was copied from the session and is right \
where the two differ. Files, command output and the session itself are the truth: to see what was really said or done, \
search the session with the tool `history` (query: words or a regular expression), or read an entry by its id \
(entryId). Check again before you do anything destructive."""

_BRANCH_INTRODUCTION = """\
Before this point the conversation went another way and was taken back to here. This is what was done there; files \
changed there are still changed."""


def narrated(
    message: BashExecutionMessage | CustomMessage | BranchSummaryMessage | CompactionSummaryMessage,
) -> str | list[UserBlock] | None:
    """The message as user content; None for a command that the user kept from the model."""
    match message["role"]:
        case "custom":
            return message["content"]
        case "bashExecution":
            return None if message.get("excludeFromContext") is True else _command(message)
        case "compactionSummary":
            return _summary(_COMPACTION_INTRODUCTION, message["summary"])
        case "branchSummary":
            return _summary(_BRANCH_INTRODUCTION, message["summary"])


def _summary(introduction: str, summary: str) -> str:
    return f"{introduction}\n\n<summary>\n{summary}\n</summary>"


def _command(message: BashExecutionMessage) -> str:
    parts = [f"The user ran a command: {message['command']}"]
    output = message["output"]
    if output.strip():
        fence = _fence(output)
        parts.append(f"{fence}\n{output.removesuffix(chr(10))}\n{fence}")
    else:
        parts.append("It printed nothing.")
    return "\n".join(parts + _notes(message))


def _notes(message: BashExecutionMessage) -> list[str]:
    notes = []
    if message["cancelled"]:
        notes.append("It was cancelled before it ended.")
    elif message["exitCode"]:
        notes.append(f"Exit code: {message['exitCode']}")
    if message["truncated"]:
        place = message.get("fullOutputPath")
        notes.append(f"Only the end of its output is shown; all of it is in {place}." if place else "Output was cut.")
    return notes


def _fence(text: str) -> str:
    """A code fence longer than any in the text, so that output cannot end its own block."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    return "`" * (longest + 1)
