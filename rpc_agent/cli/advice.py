"""What to do next when something failed, by the stable reason of the error. Words only."""

import re

from rpc_agent_client import CannotStart, ClientError, RpcError, ServerExited

_NEXT = {
    "authMissing": "Set the variable named above, or run: rpc-agent doctor",
    "noModel": "Set a provider's key (rpc-agent doctor lists the variables), or leave out --no-offline.",
    "modelNotFound": "Name it as provider/id; rpc-agent models tells which there are.",
    "providerFailed": (
        "Try again; if it goes on, check the network, the key (rpc-agent doctor names where it was found) "
        "and the address (OPENAI_BASE_URL or ANTHROPIC_BASE_URL, or baseUrl in models.json)."
    ),
    "contextOverflow": "Make the context smaller (/compact in chat), or choose a model with a larger window.",
    "sessionNotFound": "Leave out --session to begin a new one; rpc-agent sessions list --all tells which there are.",
    "sessionLocked": (
        "Close it there, or go on in a copy: rpc-agent sessions export ID --format jsonl -o copy.jsonl, "
        "then give --session copy.jsonl"
    ),
    "sessionBusy": "Wait for the run to end, or abort it.",
    "sessionUnreadable": "Look at the file named above; no session was changed.",
    "storageFailed": "Make room or correct the permissions of the path named above; what was written before is safe.",
    "nothingToCompact": "Go on; compaction makes sense when there is more to summarise.",
    "alreadyCompacted": "Go on; there is nothing new to summarise.",
    "methodNotFound": "This program and the server may be of different versions; install them together.",
    "internalError": "This is a fault of rpc-agent. The log above has the details; please report them.",
}


# For a value that was refused: what its message names, which is an option, a field of a file, or a parameter.
_REFUSED = (
    (".json: line ", "Correct the file there: a comma, a quote or a bracket is missing or too many."),
    (".json: file: cannot be read: ", "Give access to the file, or name another folder: --config-dir DIR."),
    (" sessions begin with ", "rpc-agent sessions list --all tells them apart."),
    ("settings.json", "Correct that field in the file, or take it out."),
    ("models.json", "Correct that field in the file, or take it out."),
    ("trust.json", "Correct that line of the file, or take it out; until then no session begins."),
    ("command line: defaultModel", "Give it as --model provider/id; rpc-agent models tells which there are."),
    ("cwd:", "Give a folder that exists."),
)


def next_step(reason: str, message: str = "") -> str:
    """What a person can do about an error with this reason and message; "" when nobody knows."""
    if reason == "invalidParams":
        return next((advice for named, advice in _REFUSED if named in message), "")
    return _NEXT.get(reason, "")


def explain(error: ClientError) -> list[str]:
    """What happened and why, and what to do next, as lines for a person."""
    match error:
        case RpcError(reason="sessionLocked"):
            # Behind the fact stands what a program can call; a person has other ways.
            named = re.search(r"_([^_ ]+)\.jsonl", error.message)
            advice = next_step(error.reason)
            lines = [
                f"{error.message.partition('. ')[0]}.",
                advice.replace("export ID", f"export {named[1]}") if named else advice,
            ]
        case RpcError():
            lines = [error.message, next_step(error.reason, error.message)]
        case ServerExited():
            # Its stderr was passed on while it ran, so it is not told again here.
            lines = [f"The server ended before it answered (exit code {error.code}).", "Its log above tells why."]
        case CannotStart():
            lines = [str(error), "Install rpc-agent again; its Python may have moved."]
        case _:
            lines = [str(error)]
    return [line for line in lines if line]
