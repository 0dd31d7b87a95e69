"""The commands of a chat, one row each: name, arguments, words for /help, what it does through the protocol."""

from collections.abc import Callable, Sequence

from msgspec import Struct
from rpc_agent_client import RpcError

from rpc_agent.cli.chat_sessions import name_session, new_session, sessions
from rpc_agent.cli.chat_tree_commands import fork, label, tree
from rpc_agent.cli.conversation import Conversation
from rpc_agent.cli.option_values import CHOICES
from rpc_agent.cli.words import tokens

_PERMISSION_MODES = CHOICES["permissions"]
_HELP_COLUMN = 28


class Command(Struct, frozen=True):
    name: str
    arguments: str
    purpose: str
    """At most 50 columns, so that help fits into 80."""
    run: Callable[[Conversation, str], None]


def compact(talk: Conversation, instructions: str) -> None:
    params: dict[str, object] = {"customInstructions": instructions} if instructions else {}
    try:
        talk.follow("compact", params, abort="abort_compaction")
    except RpcError as error:
        # Its end has been told already, by compaction_end.
        if error.reason not in ("compactionCancelled", "compactionFailed"):
            raise


def undo(talk: Conversation, _: str) -> None:
    try:
        talk.client.undo_compaction()
    except RpcError as error:
        if error.reason != "nothingToCompact":
            raise
        talk.out.line("There is no compaction on this branch to take back.", "bad")
        return
    talk.view.usage = talk.client.get_state().get("contextUsage")
    talk.out.line("The context is as it was before the compaction. /tree leads back to it.", "note")


def model(talk: Conversation, which: str) -> None:
    if not which:
        _list_models(talk)
        return
    refs = talk.listed.get("model") or _model_refs(talk)
    wanted = refs[int(which) - 1] if which.isdecimal() and 0 < int(which) <= len(refs) else which
    provider, slash, model_id = wanted.partition("/")
    if not slash:
        talk.out.line("Name a model as provider/id, or by its number in /model.", "bad")
        return
    chosen = talk.client.set_model(provider, model_id)
    talk.view.usage = talk.client.get_state().get("contextUsage")
    talk.out.line(f"{chosen['provider']}/{chosen['id']} answers from here on.", "dim")


def permissions(talk: Conversation, mode: str) -> None:
    if mode not in _PERMISSION_MODES:
        now = talk.client.get_state()["permissions"]
        talk.out.line(f"Permissions are {now}. Choose with /permissions {'|'.join(_PERMISSION_MODES)}.", "dim")
        return
    talk.client.request("set_permissions", {"mode": mode})
    talk.out.line(f"Permissions are {mode} for this session.", "dim")


def help_text(talk: Conversation, _: str) -> None:
    for command in COMMANDS:
        talk.out.line(_help_line(f"/{command.name} {command.arguments}", command.purpose), "dim")
    talk.refresh_templates()
    for name, purpose in talk.templates.items():
        talk.out.line(talk.out.clipped(_help_line(f"/{name}", purpose or "a prompt template")), "dim")
    talk.out.line("Ctrl-C stops what the agent does; pressed again it leaves.", "dim")


def complete(before: str, word: str, talk: Conversation) -> Sequence[str]:
    """What `word` could become, after the line `before` it."""
    match before.split():
        case []:
            names = [command.name for command in COMMANDS] + list(talk.templates)
            return [f"/{name} " for name in names if word and f"/{name}".startswith(word)]
        case ["/model"]:
            return [ref for ref in _model_refs(talk) if ref.startswith(word)]
        case ["/permissions"]:
            return [mode for mode in _PERMISSION_MODES if mode.startswith(word)]
    return []


def _list_models(talk: Conversation) -> None:
    current = talk.client.get_state().get("model")
    models = talk.client.get_available_models()
    talk.listed["model"] = [f"{each['provider']}/{each['id']}" for each in models]
    for number, each in enumerate(models, 1):
        is_current = current is not None and (each["provider"], each["id"]) == (current["provider"], current["id"])
        ref, window = talk.listed["model"][number - 1], each.get("contextWindow")
        size = f", window {tokens(window)}" if window else ""
        line = f"{number:4} {'>' if is_current else ' '} {ref}{size}"
        talk.out.line(talk.out.clipped(line), "bold" if is_current else "plain")
    talk.out.line("/model N or /model PROVIDER/ID chooses another.", "dim")


def _model_refs(talk: Conversation) -> list[str]:
    return [f"{each['provider']}/{each['id']}" for each in talk.client.get_available_models()]


def _help_line(command: str, purpose: str) -> str:
    return f"{command.strip():{_HELP_COLUMN}} {purpose}"


def _quit(_talk: Conversation, _: str) -> None:
    """The loop of the chat ends before it comes to this."""


COMMANDS = (
    Command("compact", "[INSTRUCTIONS]", "put a summary in place of the older context", compact),
    Command("undo", "", "take the newest compaction back", undo),
    Command("tree", "[N [summarize [HINT]]]", "walk through the session's tree, or go to line N", tree),
    Command("label", "[N] [TEXT]", "name where we are, or line N; no text: unname", label),
    Command("fork", "[N]", "a new session that ends before user message N", fork),
    Command("sessions", "[N|WORDS]", "list sessions, those with WORDS, or open the Nth", sessions),
    Command("new", "[NAME]", "begin a new session", new_session),
    Command("name", "[NAME]", "name this session; no name: unname", name_session),
    Command("model", "[N|PROVIDER/ID]", "list the models, or choose one", model),
    Command("permissions", "[MODE]", "what tools may do without asking", permissions),
    Command("help", "", "this list", help_text),
    Command("quit", "", "leave (so does the end of input)", _quit),
)
BY_NAME = {command.name: command for command in COMMANDS}
