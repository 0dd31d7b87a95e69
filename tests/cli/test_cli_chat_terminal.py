"""`chat` in a terminal of 80 columns, as a person uses it: keys, questions, completion; real server, offline model."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rpc_agent.providers.catalog import OFFLINE_PACE_VARIABLE
from tests.support.fake_server import FakeServer

if TYPE_CHECKING:
    from tests.support.terminal_program import TerminalProgram

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")

UP, DOWN, HOME = "\x1b[A", "\x1b[B", "\x1b[H"
CTRL_C, TAB, ENTER = "\x03", "\t", "\r"

# The signal comes from C code, after readline has shown the prompt and before it waits: no Python code runs in between.
PRESSED_TOO_EARLY = """
import ctypes, functools, readline, signal, sys
from rpc_agent.cli.interrupts import Interrupts
from rpc_agent.cli.line_input import LineInput
from rpc_agent.cli.terminal import standard_output

readline.set_pre_input_hook(functools.partial(ctypes.CDLL(None)["raise"], int(signal.SIGINT)))
with Interrupts() as ctrl_c:
    print("read:", LineInput(sys.stdin, standard_output(), ctrl_c).read("> "))
"""

CURIOUS = """
def register(api):
    @api.on("input")
    async def ask(event):
        bird = await api.ui_select("Which bird?", ["robin", "heron"])
        sure = await api.ui_confirm(f"Really a {bird}?")
        name = await api.ui_input("Its name", placeholder="one word", value="Greta")
        await api.ui_notify(f"{bird} {sure} {name}")
"""

# A chat with the server of the arguments.
TALK_TO = """
import sys
from rpc_agent_client import SyncClient
from rpc_agent.cli.chat import Chat
from rpc_agent.cli.conversation import Conversation, Inbox
from rpc_agent.cli.interrupts import Interrupts
from rpc_agent.cli.line_input import LineInput
from rpc_agent.cli.terminal import standard_output

out = standard_output()
with Interrupts() as ctrl_c:
    talk = Conversation(out, LineInput(sys.stdin, out, ctrl_c), Inbox(), ctrl_c)
    try:
        with SyncClient.spawn(sys.argv[1:]) as client:
            Chat(talk, ctrl_c).begin(client)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "README.md").write_text("# Herons\n\n" + "Herons stand still for a long time.\n" * 40)
    return folder


def environment(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
    places = {"RPC_AGENT_CONFIG_DIR": str(folder / "config"), "RPC_AGENT_SESSION_DIR": str(folder / "sessions")}
    return {**kept, **places, "TERM": "xterm", "PYTHONUTF8": "1", "NO_COLOR": "1", **more}


@contextmanager
def program(work: Path, *command: str, **more: str) -> "Iterator[TerminalProgram]":
    from tests.support.terminal_program import TerminalProgram  # noqa: PLC0415 - not on Windows

    with TerminalProgram([sys.executable, *command], cwd=work, env=environment(work.parent, more)) as running:
        yield running


@contextmanager
def chat(work: Path, *options: str, **more: str) -> "Iterator[TerminalProgram]":
    with program(work, "-m", "rpc_agent", "chat", "--model", "offline/offline", *options, **more) as talk:
        talk.wait_for("/help tells what can be typed.")
        talk.wait_for("> ")
        yield talk


def say(talk: "TerminalProgram", line: str, shown: str) -> None:
    """Type a line, see the answer, and be asked again."""
    talk.press(line + ENTER)
    talk.wait_for(shown)
    talk.wait_for("\n> ")


def test_a_ctrl_c_between_the_prompt_and_the_wait_for_keys_is_heard(work: Path) -> None:
    with program(work, "-c", PRESSED_TOO_EARLY) as reader:
        reader.wait_for("Ctrl-C again leaves.")
        reader.wait_for("read: None")
        assert reader.wait_for_exit() == 0


def test_the_context_is_shown_as_a_bar_with_percent_and_tokens(work: Path) -> None:
    with chat(work, LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii") as talk:
        talk.press("Read README.md" + ENTER)
        talk.wait_for("read(path=README.md) gave 42 lines")
        talk.wait_for("context [#")
        talk.wait_for("%, ")
        talk.wait_for(" of 33k tokens")
        talk.press("/quit" + ENTER)
        assert talk.wait_for_exit() == 0
    assert talk.shown.isascii()


def test_a_tool_that_needs_permission_is_asked_for_and_runs_when_allowed(work: Path) -> None:
    with chat(work) as talk:
        talk.press("run: echo made > made.txt" + ENTER)
        talk.wait_for("The agent asks to use bash:")
        talk.wait_for("echo made > made.txt")
        talk.wait_for("y allow, a allow for this session, n reject, d reject for this session; Enter rejects")
        talk.press("what?" + ENTER)
        talk.wait_for("Type one of y, a, n, d.")
        talk.press("y" + ENTER)
        talk.wait_for("bash(command=echo made > made.txt) gave")
        talk.wait_for("\n> ")
    assert (work / "made.txt").read_text() == "made\n"


def test_enter_rejects_and_the_model_is_told(work: Path) -> None:
    with chat(work) as talk:
        talk.press("run: touch never.txt" + ENTER)
        talk.wait_for("Allow it? ")
        talk.press(ENTER)
        talk.wait_for("failed: ")
        talk.wait_for("\n> ")
    assert not (work / "never.txt").exists()


def test_ctrl_c_at_a_question_stops_the_run(work: Path) -> None:
    with chat(work) as talk:
        talk.press("run: touch never.txt" + ENTER)
        talk.wait_for("Allow it? ")
        talk.press(CTRL_C)
        talk.wait_for("Stopped.")
        talk.wait_for("\n> ")
    assert not (work / "never.txt").exists()


def test_questions_of_extensions_are_asked_in_the_terminal(work: Path) -> None:
    (work / "curious.py").write_text(CURIOUS)
    with chat(work, "--extension", "curious.py") as talk:
        talk.press("What files are here?" + ENTER)
        talk.wait_for("Which bird?")
        talk.wait_for("   2 heron")
        talk.wait_for("Which? ")
        talk.press("3" + ENTER)
        talk.wait_for("Type a number from 1 to 2")
        talk.press("2" + ENTER)
        talk.wait_for("Really a heron?")
        talk.press("y" + ENTER)
        talk.wait_for("Its name (one word)")
        talk.wait_for("> Greta")
        talk.press(ENTER)
        talk.wait_for("heron True Greta")
        talk.wait_for("README.md")
        talk.wait_for("\n> ")


def test_a_second_ctrl_c_leaves_a_run_that_does_not_stop(work: Path) -> None:
    script: dict[str, list[dict[str, Any]]] = {
        "get_state": [{"answer": {"sessionId": "s", "cwd": "/w"}}],
        "get_fork_messages": [{"answer": {"messages": []}}],
        "prompt": [{"notify": ["message_update", {"assistantMessageEvent": {"type": "text_delta", "delta": "on"}}]}],
        "abort": [
            {"notify": ["message_update", {"assistantMessageEvent": {"type": "text_delta", "delta": " and on"}}]}
        ],
    }
    server = FakeServer(work, script)
    with program(work, "-c", TALK_TO, *server.command) as talk:
        talk.wait_for("\n> ")
        talk.press("stop if you can" + ENTER)
        talk.wait_for("on")
        talk.press(CTRL_C)
        talk.wait_for(" and on")
        talk.press(CTRL_C)
        assert talk.wait_for_exit() == 130
    assert "abort" in [message["method"] for message in server.received()]


def test_the_tree_is_walked_with_the_arrow_keys(work: Path) -> None:
    with chat(work) as talk:
        say(talk, "What files are here?", "README.md")
        say(talk, "Read README.md", "Herons")
        talk.press("/tree" + ENTER)
        talk.wait_for("=>   8 > assistant")
        talk.wait_for("q back")
        talk.press(UP)
        talk.wait_for("=>   7 * tool")
        talk.press(HOME)
        talk.wait_for("=>   1 * user: What files are here?")
        talk.wait_for("q back")
        talk.press("5" + ENTER)
        talk.wait_for("=>   5 * user: Read README.md")
        talk.wait_for("Here we go on.")
        talk.wait_for("> Read README.md")
        talk.press(ENTER)
        talk.wait_for("read(path=README.md) gave")
        talk.wait_for("\n> ")
        talk.press("/tree" + ENTER)
        talk.wait_for("├─ user: Read README.md")
        talk.wait_for("└─ user: Read README.md")
        talk.wait_for("q back")
        talk.press("q")
        talk.wait_for("\n> ")
    assert [line for line in talk.shown.splitlines() if "=>" in line and len(line) > 80] == []


def test_where_the_cursor_cannot_move_the_tree_is_a_list_with_numbers(work: Path) -> None:
    with chat(work, TERM="dumb") as talk:
        say(talk, "What files are here?", "README.md")
        say(talk, "/tree", "   4 > assistant: ")
        say(talk, "/tree 2", "Here we go on.")
        say(talk, "/tree", "   2 > assistant: ")
    assert "\x1b[" not in talk.shown.replace("\x1b[?2004h", "").replace("\x1b[?2004l", "")


def test_a_line_of_the_tree_is_labelled_and_forked_from_within_the_walk(work: Path) -> None:
    with chat(work) as talk:
        say(talk, "What files are here?", "README.md")
        talk.press("/tree" + ENTER)
        talk.wait_for("q back")
        talk.press(HOME + "l")
        talk.wait_for("Name of line 1 (empty: no name): ")
        talk.press("start" + ENTER)
        talk.wait_for("Its name is start now.")
        talk.press("/tree" + ENTER)
        talk.wait_for("user [start]: What files are here?")
        talk.wait_for("q back")
        talk.press(HOME + "f")
        talk.wait_for("Now in a session without a name")
        talk.wait_for("> What files are here?")
    assert len(list((work.parent / "sessions").rglob("*.jsonl"))) == 1


def test_commands_and_templates_complete_and_a_template_is_expanded_by_the_server(work: Path) -> None:
    prompts = work.parent / "config" / "prompts"
    prompts.mkdir(parents=True)
    (prompts / "look.md").write_text("---\ndescription: look into a file\n---\nRead $1\n")
    with chat(work) as talk:
        talk.press("/he" + TAB)
        talk.wait_for("/help ")
        talk.press(ENTER)
        talk.wait_for("/look")
        talk.wait_for("look into a file")
        talk.wait_for("\n> ")
        talk.press("/lo" + TAB + "README.md" + ENTER)
        talk.wait_for("read(path=README.md) gave")


def test_what_was_said_comes_back_with_the_arrow_keys_also_after_continue(work: Path) -> None:
    with chat(work) as talk:
        say(talk, "What files are here?", "README.md")
        talk.press(UP)
        talk.wait_for("What files are here?")
        talk.press(CTRL_C)
        talk.wait_for("Ctrl-C again leaves.")
        talk.press(CTRL_C)
        assert talk.wait_for_exit() == 0
    with program(work, "-m", "rpc_agent", "chat", "--model", "offline/offline", "--continue") as again:
        again.wait_for("You, last: What files are here?")
        again.wait_for("The agent, last: ")
        again.wait_for("> ")
        again.press(UP)
        again.wait_for("What files are here?")


def test_a_compaction_is_told_in_words_stopped_by_ctrl_c_and_taken_back(work: Path) -> None:
    config = work.parent / "config"
    config.mkdir()
    (config / "settings.json").write_text(json.dumps({"compaction": {"keepRecentTokens": 100}}))
    with chat(work, **{OFFLINE_PACE_VARIABLE: "20"}) as talk:
        say(talk, "Read README.md", "README.md says")
        say(talk, "What files are here?", "Files here")
        talk.press("/compact" + ENTER)
        talk.wait_for("compacting... (Ctrl-C stops it)")
        talk.press(CTRL_C)
        talk.wait_for("Compaction stopped; nothing was changed.")
        talk.wait_for("\n> ")
        say(talk, "/compact keep the herons", "tokens became a summary of ")
        say(talk, "/undo", "The context is as it was before the compaction.")
        say(talk, "/undo", "There is no compaction on this branch to take back.")
