"""`rpc-agent chat`: a plain conversation in a terminal, or through a pipe. Shows and asks; decides nothing."""

import argparse
import io
import sys
from collections.abc import Sequence
from typing import TextIO

from rpc_agent_client import ClientError, RpcError, SyncClient

from rpc_agent import __version__
from rpc_agent.cli.advice import next_step
from rpc_agent.cli.arguments import Parser
from rpc_agent.cli.chat_commands import BY_NAME, COMMANDS, complete
from rpc_agent.cli.chat_sessions import recall
from rpc_agent.cli.conversation import Conversation, Inbox
from rpc_agent.cli.interrupts import Interrupts
from rpc_agent.cli.line_input import LineInput
from rpc_agent.cli.server_options import add_server_options, server_command, server_environment
from rpc_agent.cli.terminal import standard_output

_INTERRUPTED = 130


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    out, inbox = standard_output(), Inbox()
    with Interrupts() as ctrl_c:
        talk = Conversation(out, LineInput(_typed(), out, ctrl_c), inbox, ctrl_c)
        try:
            with SyncClient.spawn(server_command(options), env=server_environment(), on_stderr=inbox.put) as client:
                return Chat(talk, ctrl_c).begin(client)
        except KeyboardInterrupt:
            out.fresh_line()
            return _INTERRUPTED
        except ClientError as error:
            talk.show_log()
            talk.tell_error(error)
            return 1


def _typed() -> TextIO:
    """stdin, whose bytes need not be text; one that is closed has nothing to say."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    return sys.stdin or io.StringIO()


def _parser() -> argparse.ArgumentParser:
    names = "  ".join(f"/{command.name}" for command in COMMANDS)
    parser = Parser(
        prog="rpc-agent chat",
        description="Talk to the agent in this terminal. Also reads its lines from a pipe.",
        epilog=f"In the talk: {names}. /help tells what they do.",
    )
    add_server_options(parser)
    return parser


class Chat:
    """The loop: reads a line, does what it says."""

    def __init__(self, talk: Conversation, ctrl_c: Interrupts) -> None:
        self._talk, self._out, self._lines = talk, talk.out, talk.lines
        self._ctrl_c = ctrl_c

    def begin(self, client: SyncClient) -> int:
        """Until the person leaves or the input ends. Returns the exit code."""
        self._talk.connect(client)
        # Who cannot answer must not be asked: without the capability the agent only reads.
        capabilities = {"deltas": "merged", "permissions": self._lines.interactive, "ui": self._lines.interactive}
        client.initialize(name="rpc-agent chat", version=__version__, capabilities=capabilities)
        state = client.get_state()
        self._talk.enter(state)
        model = state.get("model")
        name = f"{model['provider']}/{model['id']}" if model else "no model yet"
        self._out.line(f"rpc-agent {__version__}, {name}, in {state['cwd']}. /help tells what can be typed.", "dim")
        recall(self._talk, state)
        self._lines.complete_by(lambda before, word: complete(before, word, self._talk))
        with self._ctrl_c.kept():
            return self._loop()

    def _loop(self) -> int:
        while (line := self._next_line()) is not None:
            if line.strip() in ("/quit", "/exit"):
                break
            if line.strip():
                self._obey(line.strip())
        return 0

    def _next_line(self) -> str | None:
        self._talk.catch_up()
        if self._lines.interactive and (gauge := self._talk.view.gauge()):
            self._out.line(gauge, "dim")
        return self._lines.read("> ")

    def _obey(self, line: str) -> None:
        name, _, rest = line.removeprefix("/").partition(" ")
        try:
            if not line.startswith("/") or "/" in name:
                self._prompt(line)
            elif name in BY_NAME:
                BY_NAME[name].run(self._talk, rest.strip())
            elif self._is_template(name):
                self._prompt(line)
            else:
                self._out.line(f"There is no command /{name}; /help lists them.", "bad")
        except RpcError as error:
            self._talk.tell_error(error)

    def _is_template(self, name: str) -> bool:
        # They are files, and may have come since we looked.
        if name not in self._talk.templates:
            self._talk.refresh_templates()
        return name in self._talk.templates

    def _prompt(self, text: str) -> None:
        result = self._talk.follow("prompt", {"message": text, "wait": True}, abort="abort")
        if result.get("stopReason") == "error":
            self._out.line(str(result.get("errorMessage") or "The run failed."), "bad")
            if advice := next_step((result.get("error") or {}).get("reason", "")):
                self._out.line(f"  {advice}", "dim")
        elif result.get("stopReason") == "length":
            self._out.line("The answer was cut off at the model's output limit; ask it to go on.", "note")
