"""`rpc-agent run`: one prompt, the answer as plain text on stdout, everything else on stderr."""

import argparse
import asyncio
import sys
from collections.abc import Sequence

from rpc_agent_client import Client, ClientError, Notification
from rpc_agent_client.types import PromptResult

from rpc_agent import __version__
from rpc_agent.cli.advice import explain, next_step
from rpc_agent.cli.arguments import Parser
from rpc_agent.cli.piped_text import TooMuchText, read_piped
from rpc_agent.cli.server_options import add_server_options, server_command, server_environment
from rpc_agent.cli.terminal import Terminal, raw_messages, standard_error, standard_output
from rpc_agent.cli.words import tool_call, tool_outcome

_FROM_STDIN = "-"
_PIPE_SECONDS = 3.0
"""For the first byte behind a text: long enough for whatever feeds a pipe to start, short enough to be waited for."""


def main(arguments: Sequence[str]) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    text = _asked(parser, options.text)
    try:
        return asyncio.run(_run(options, text))
    except KeyboardInterrupt:
        standard_error().line("rpc-agent run: stopped", "bad")
        raise


def _asked(parser: Parser, given: str | None) -> str:
    """The text that was given, the one that was piped in, or the one with the other behind it."""
    # No stdin: whoever started us closed it.
    is_piped = sys.stdin is not None and not sys.stdin.isatty()
    if given is None and not is_piped:
        parser.error('what to ask is missing, as in: rpc-agent run "What files are here?"')
    if given in (None, _FROM_STDIN):
        text = _piped(parser, None) if sys.stdin is not None else ""
    else:
        piped = _piped(parser, _PIPE_SECONDS) if is_piped else ""
        text = f"{given}\n\n{piped}" if piped.strip() else str(given)
    if not text.strip():
        parser.error("the prompt is empty; give a text, or pipe one in")
    return text


def _piped(parser: Parser, first_within: float | None) -> str:
    try:
        piped = read_piped(sys.stdin.fileno(), first_within=first_within)
    except TooMuchText as error:
        parser.error(str(error))
    if piped is None:
        told = f"nothing came through the pipe within {first_within:g} s, so the text alone is asked"
        standard_error().line(f"rpc-agent run: {told}; with < /dev/null nobody waits", "dim")
    return piped or ""


def _parser() -> Parser:
    parser = Parser(
        prog="rpc-agent run",
        many_words='only one text is asked; put it in quotes: rpc-agent run "What files are here?"',
        description="Ask one thing. The answer goes to stdout, what the agent does to stderr. Exit code 1 on an error.",
    )
    parser.add_argument("text", nargs="?", help="what to ask; piped text comes behind it, or alone")
    parser.add_argument("--json", action="store_true", help="print the raw messages of both directions instead")
    add_server_options(parser)
    return parser


async def _run(options: argparse.Namespace, text: str) -> int:
    out, err = standard_output(), standard_error()
    answer = Answer(out, err, quiet=options.json)
    try:
        async with Client.spawn(
            server_command(options),
            env=server_environment(),
            on_stderr=lambda line: err.line(line, "dim"),
            on_traffic=raw_messages(out) if options.json else None,
        ) as client:
            await client.initialize(name="rpc-agent run", version=__version__, capabilities={"deltas": "merged"})
            result = await ask(client, text, answer)
    except ClientError as error:
        _complain(err, explain(error))
        return 1
    return _verdict(result, err)


async def ask(client: Client, text: str, answer: "Answer") -> PromptResult:
    """Send the prompt and show everything that happens until it has settled."""
    async with client.notifications() as events:
        call = client.start("prompt", {"message": text, "wait": True})
        async for event in events.until(call.answer):
            answer.show(event)
            answer.require_reader()
        answer.end()
        result: PromptResult = await call
        answer.require_reader()
        return result


class Answer:
    """The answer's text as it comes; tool calls beside it. `quiet`: something else is shown instead."""

    def __init__(self, out: Terminal, err: Terminal, *, quiet: bool = False) -> None:
        self._out, self._err, self._quiet = out, err, quiet
        self._some_text = False

    def require_reader(self) -> None:
        """Raises what keeps the answer from being read, BrokenPipeError if nobody wants to."""
        if self._out.fault is not None:
            raise self._out.fault

    def show(self, event: Notification) -> None:
        if self._quiet:
            return
        match event.method:
            case "message_update":
                self._some_text = self._some_text or bool(event.text_delta)
                self._out.write(event.text_delta)
            case "message_end":
                self.end()
            case "tool_execution_start":
                self._err.line(tool_call(event.params), "dim")
            case "tool_execution_end" if event.params.get("isError"):
                self._err.line(tool_outcome(event.params), "dim")
            case "auto_retry_start":
                self._err.line(f"{event.params.get('errorMessage')}; trying again", "dim")

    def end(self) -> None:
        """Close the line, so that the next text, or the shell's prompt, begins on one of its own."""
        if self._some_text:
            self._out.fresh_line()
            self._some_text = False


def _verdict(result: PromptResult, err: Terminal) -> int:
    match result.get("stopReason"):
        case "error":
            error = result.get("error")
            advice = next_step(error["reason"]) if error else ""
            _complain(err, [result.get("errorMessage") or "The run failed.", advice])
            return 1
        case "aborted":
            _complain(err, ["The run was aborted before it was done."])
            return 1
        case "length":
            err.line("The answer was cut off at the model's output limit. Ask it to go on, with --continue.", "dim")
    return 0


def _complain(err: Terminal, lines: list[str]) -> None:
    first, *others = [line for line in lines if line]
    err.line(f"rpc-agent run: {first}", "bad")
    for line in others:
        err.line(f"  {line}")
