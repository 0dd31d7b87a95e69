"""Words of files, models and services in every command: none of them drives the terminal of whoever reads."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.agent_server import Home
from tests.support.chat_server import call_reply, error_reply, serve_in_thread, text_reply
from tests.support.sessions import HEADER, line, raw_entry

if TYPE_CHECKING:
    from tests.support.terminal_program import TerminalProgram

SECONDS = 60
EVIL = "\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\x9d0;x\x9c\x08\u202etxt\u2066\u2069"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# A page is for a browser, which ends what an isolate began where its element ends.
KEPT_ON_PAGES = "\u2066\u2069"
# A name of a file cannot have all of it everywhere.
EVIL_NAME = "x\x1b]0;x\x07\u202ey" if sys.platform != "win32" else "x"


class Evil(Home):
    """A user whose project, session and service have names and words for a terminal."""

    def __init__(self, root: Path, base_url: str) -> None:
        super().__init__(root)
        self.project = root / EVIL_NAME
        self.project.mkdir()
        (self.project / ".rpc-agent").mkdir()
        (self.project / "AGENTS.md").symlink_to(root)
        models = [{"id": f"m{EVIL}", "name": f"n{EVIL}"}]
        self.models(
            {f"p{EVIL}": {"baseUrl": base_url, "api": "openai-completions", "apiKey": "none", "models": models}}
        )
        self.settings(defaultModel=f"p{EVIL}/m{EVIL}", retry={"enabled": False})
        folder = self.sessions / ("--" + str(self.project.resolve())[1:].replace("/", "-").replace(":", "-") + "--")
        folder.mkdir(parents=True)
        header = {**HEADER, "cwd": str(self.project.resolve()), "parentSession": EVIL}
        entries = (
            raw_entry("a", None, f"first {EVIL}"),
            {
                "type": "session_info",
                "id": "n",
                "parentId": "a",
                "timestamp": HEADER["timestamp"],
                "name": f"name {EVIL}",
            },
            {
                "type": "label",
                "id": "l",
                "parentId": "n",
                "timestamp": HEADER["timestamp"],
                "targetId": "a",
                "label": EVIL,
            },
            {"type": "custom", "id": "c", "parentId": "l", "timestamp": EVIL, "customType": EVIL, "data": {EVIL: EVIL}},
        )
        self.file = folder / f"2026-01-01T00-00-00-000Z_{HEADER['id']}.jsonl"
        self.file.write_bytes(b"".join(map(line, (header, *entries))))

    def variables(self) -> dict[str, str]:
        return {**os.environ, **self.environment, "PYTHONUTF8": "1", "TERM": "xterm-256color"}


def told(home: Evil, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "rpc_agent", *command],
        cwd=home.project, env=home.variables(), stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    return (done.stdout + done.stderr).decode()


CALL = call_reply((f"bash{EVIL}", {"command": f"echo {EVIL}", f"{EVIL}": EVIL}), ("ls", {"path": EVIL}))
COMMANDS: Mapping[str, tuple[list[str], str]] = {
    "doctor": (["doctor"], "project's .rpc-agent"),
    "models": (["models"], "p\ufffd"),
    "models as JSON": (["models", "--json"], "\\u001b"),
    "list": (["sessions", "list"], "name "),
    "list as JSON": (["sessions", "list", "--json"], "\\u001b"),
    "show": (["sessions", "show", "--full", str(HEADER["id"])], "first "),
    "as Markdown": (["sessions", "export", str(HEADER["id"]), "--format", "markdown"], "first "),
    "as HTML": (["sessions", "export", str(HEADER["id"]), "--format", "html"], "first "),
    "run": (["run", "--permissions", "allow", "hi"], "says "),
    "a wrong word": (["run", "--model", f"no{EVIL}/m", "hi"], "did you mean p\ufffd"),
    "an extension that is not there": (["run", "--extension", f"{EVIL_NAME}.py", "hi"], "there is no file"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="names of POSIX")
@pytest.mark.parametrize("name", COMMANDS)
def test_no_word_of_others_drives_a_terminal(tmp_path: Path, name: str) -> None:
    command, expected = COMMANDS[name]
    replies = [CALL, text_reply(f"says {EVIL}"), error_reply(400, {"error": {"message": f"no {EVIL}"}})]
    with serve_in_thread(replies if name == "run" else replies[1:]) as service:
        home = Evil(tmp_path, service.base_url)
        text = told(home, *command)
        refused = told(home, "run", "hi") if name == "run" else ""
    assert expected in text, text
    kept = KEPT_ON_PAGES if "export" in command else ""
    assert [found for found in OBEYED.findall(text + refused) if found not in kept] == []
    assert name != "run" or "no \ufffd" in refused


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_no_word_of_others_drives_the_terminal_of_a_chat(tmp_path: Path) -> None:
    with serve_in_thread([CALL, text_reply(f"says {EVIL}")]) as service:
        home = Evil(tmp_path, service.base_url)
        with chat(home, "--continue") as talk:
            talk.wait_for("> ")
            talk.press("hi\r")
            talk.wait_for("says ")
            talk.wait_for("> ")
            for typed, shown in (("/sessions", "name "), ("/tree", "first "), ("/model", "p\ufffd")):
                talk.press(f"{typed}\r")
                talk.wait_for(shown)
                talk.press("q" if typed == "/tree" else "\r")
                talk.wait_for("> ")
    assert own_words_only(talk.shown) == []


def own_words_only(shown: str) -> list[str]:
    """What is left when the escapes that the chat and readline write themselves are taken out."""
    ours = re.sub(r"\x1b\[[0-9;?]*[mKJHABCDGhlP]|\x1b[=>78]|[\r\x07\x08]", "", shown)
    return [ours[max(0, found.start() - 20) : found.end() + 20] for found in OBEYED.finditer(ours)] + [
        word for word in ("\x1b]52", "\x1b]0;", "\x1b[2J") if word in shown
    ]


def chat(home: Evil, *options: str) -> "TerminalProgram":
    from tests.support.terminal_program import TerminalProgram  # noqa: PLC0415 - Windows has no pseudo-terminals

    command = [sys.executable, "-P", "-m", "rpc_agent", "chat", *options]
    return TerminalProgram(command, cwd=home.project, env=home.variables())
