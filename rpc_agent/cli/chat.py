"""`rpc-agent chat`: a plain conversation in a terminal, or through a pipe. Shows and asks; decides nothing."""

import argparse
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from rpc_agent_client import ClientError, RpcError, SyncClient
from rpc_agent_client.types import TreeNode

from rpc_agent import __version__
from rpc_agent.cli.advice import explain
from rpc_agent.cli.chat_tree import draw
from rpc_agent.cli.chat_view import ChatView
from rpc_agent.cli.line_input import LineInput
from rpc_agent.cli.server_options import add_server_options, server_command, server_environment
from rpc_agent.cli.terminal import Terminal, standard_output

_INTERRUPTED = 130
_HELP = """\
/compact [what to keep in mind]   replace the older part of the context by a summary
/tree                             draw the session's tree
/tree N                           go to line N of it, and go on from there
/help                             this text
/quit                             leave (so does the end of input)
Ctrl-C stops what the agent does; pressed again it leaves."""


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    out = standard_output()
    try:
        with SyncClient.spawn(
            server_command(options), env=server_environment(), on_stderr=lambda line: out.line(line, "dim")
        ) as client:
            client.initialize(name="rpc-agent chat", version=__version__, capabilities={"deltas": "merged"})
            return Chat(client, out, LineInput(sys.stdin, out)).talk()
    except KeyboardInterrupt:
        out.fresh_line()
        return _INTERRUPTED
    except ClientError as error:
        _tell_error(out, error)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rpc-agent chat",
        description="Talk to the agent in this terminal. Also reads its lines from a pipe.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_server_options(parser)
    return parser


class Chat:
    def __init__(self, client: SyncClient, out: Terminal, lines: LineInput) -> None:
        self._client, self._out, self._lines = client, out, lines
        self._view = ChatView(out)
        self._tree_ids: list[str] = []

    def talk(self) -> int:
        """Until the person leaves or the input ends. Returns the exit code."""
        state = self._client.get_state()
        self._view.usage = state.get("contextUsage")
        model = state.get("model")
        name = f"{model['provider']}/{model['id']}" if model else "no model yet"
        self._out.line(f"rpc-agent {__version__}, {name}, in {state['cwd']}. /help tells what can be typed.", "dim")
        while (line := self._lines.read(self._view.gauge())) is not None:
            if line.strip() in ("/quit", "/exit"):
                break
            if line.strip():
                self._obey(line.strip())
        return 0

    def _obey(self, line: str) -> None:
        command, _, rest = line.partition(" ")
        try:
            match command:
                case "/help":
                    self._out.line(_HELP, "dim")
                case "/compact":
                    self._compact(rest.strip())
                case "/tree":
                    self._tree(rest.strip())
                case _ if command.startswith("/") and "/" not in command[1:]:
                    self._out.line(f"There is no command {command}; /help lists them.", "bad")
                case _:
                    self._prompt(line)
        except RpcError as error:
            _tell_error(self._out, error)

    # What can be asked.

    def _prompt(self, text: str) -> None:
        result = self._follow("prompt", {"message": text, "wait": True}, abort="abort")
        if result.get("stopReason") == "error":
            self._out.line(str(result.get("errorMessage") or "The run failed."), "bad")

    def _compact(self, instructions: str) -> None:
        params: dict[str, object] = {"customInstructions": instructions} if instructions else {}
        try:
            self._follow("compact", params, abort="abort_compaction")
        except RpcError as error:
            # Its end has been told already, by compaction_end.
            if error.reason not in ("compactionCancelled", "compactionFailed"):
                raise

    def _tree(self, number: str) -> None:
        if number:
            self._go_to(number)
            return
        lines = draw(*self._whole_tree())
        self._tree_ids = [line.entry_id for line in lines]
        for index, line in enumerate(lines, 1):
            self._out.line(self._out.clipped(f"{index:4} {line.text}"), "bold" if line.is_leaf else "plain")
        self._out.line("/tree N goes to line N." if lines else "The session is empty.", "dim")

    def _whole_tree(self) -> tuple[list[TreeNode], str | None]:
        tree = self._client.get_tree()
        nodes = tree["nodes"]
        while cursor := tree.get("nextCursor"):
            tree = self._client.get_tree(cursor=cursor)
            nodes += tree["nodes"]
        return nodes, tree["leafId"]

    def _go_to(self, number: str) -> None:
        if not number.isdigit() or not 0 < int(number) <= len(self._tree_ids):
            self._out.line("Type /tree first, then /tree with the number of one of its lines.", "bad")
            return
        result = self._client.navigate_tree(self._tree_ids[int(number) - 1])
        if result["cancelled"]:
            self._out.line("The way there was refused; nothing has changed.", "bad")
            return
        self._out.line("Here we go on. What was said after this stays in the tree.", "dim")
        self._lines.suggest(result.get("editorText") or "")

    def _follow(self, method: str, params: dict[str, object], *, abort: str) -> dict[str, object]:
        """Ask, show what happens, return the result. Ctrl-C sends `abort`; a second one raises KeyboardInterrupt."""
        events = self._client.notifications()
        try:
            call = self._client.start(method, params)
            with self._interruptible(abort):
                for event in events.until(call):
                    self._view.show(event)
            self._out.fresh_line()
            result: dict[str, object] = call.result()
            return result
        finally:
            events.close()

    @contextmanager
    def _interruptible(self, abort: str) -> Iterator[None]:
        pressed = 0

        def interrupted(_number: int, _frame: FrameType | None) -> None:
            nonlocal pressed
            pressed += 1
            if pressed > 1:
                raise KeyboardInterrupt
            self._client.post(abort)

        earlier = signal.signal(signal.SIGINT, interrupted)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, earlier)


def _tell_error(out: Terminal, error: ClientError) -> None:
    first, *others = explain(error)
    out.line(first, "bad")
    for line in others:
        out.line(f"  {line}", "dim")
