"""Lines a person types, with history, editing and completion where the system has them; or lines of a pipe."""

import contextlib
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TextIO

from rpc_agent.cli.controls import printable
from rpc_agent.cli.interrupts import Interrupts, leave
from rpc_agent.cli.terminal import Terminal

try:
    import readline
except ImportError:  # Windows, whose console edits lines by itself.
    readline = None  # type: ignore[assignment]

Complete = Callable[[str, str], Sequence[str]]
"""(the line up to the word, the beginning of the word) to the words it could become."""

# How late a Ctrl-C may be heard (see _signals_are_heard): a person does not notice, a processor neither.
_TICK_SECONDS = 0.1


class LineInput:
    def __init__(self, source: TextIO, out: Terminal, ctrl_c: Interrupts | None = None) -> None:
        self._source, self._out, self._ctrl_c = source, out, ctrl_c or Interrupts()
        self.interactive = source.isatty() and out.is_tty
        """Whether a person can be asked, and sees what is asked."""
        self._suggestion = ""
        if self.interactive:
            _no_history_by_itself()

    def suggest(self, text: str) -> None:
        """Have `text` on the next line, to be changed and sent; where lines cannot be edited it is shown."""
        self._suggestion = printable(text)

    def remember(self, lines: Iterable[str]) -> None:
        """What the arrow keys bring back, oldest first; it replaces what they brought back until now."""
        if self.interactive and sys.platform != "win32" and readline is not None:
            readline.clear_history()
            for line in lines:
                readline.add_history(printable(line))

    def complete_by(self, complete: Complete) -> None:
        if self.interactive and sys.platform != "win32" and readline is not None:
            _complete_by(complete)

    def read(self, prompt: str) -> str | None:
        """The next line without its end; None at the end of input, and when Ctrl-C is pressed twice."""
        self._offer_suggestion()
        try:
            line = self._read(prompt)
        finally:
            self._suggestion = ""
            if self.interactive:
                _preset("")
        if line and self.interactive:
            _add_to_history(line)
        return line

    def ask(self, question: str, *, preset: str = "") -> str | None:
        """A person's answer to something else than "what next?"; None at the end of input and for Ctrl-C.

        `preset` is typed already, where lines can be edited.
        """
        self._out.fresh_line()
        _preset(printable(preset))
        try:
            return self._input(question)
        except (EOFError, KeyboardInterrupt):
            self._out.line()
        finally:
            _preset("")
        return None

    def _offer_suggestion(self) -> None:
        if not self._suggestion:
            return
        if not self.interactive or not _preset(self._suggestion):
            self._out.line(f"The message there was: {self._suggestion}", "dim")

    def _read(self, prompt: str) -> str | None:
        if not self.interactive:
            with self._ctrl_c.during(leave):
                line = self._source.readline()
            return line.rstrip("\r\n") if line else None
        self._out.fresh_line()
        for is_last in (False, True):
            try:
                return self._input(prompt)
            except EOFError:
                self._out.line()
                return None
            except KeyboardInterrupt:
                self._out.line("" if is_last else "\nCtrl-C again leaves.", "dim")
        return None

    def _input(self, prompt: str) -> str:
        with self._ctrl_c.during(leave), _signals_are_heard():
            return input(prompt)


@contextlib.contextmanager
def _signals_are_heard() -> Iterator[None]:
    """Within, a signal is acted upon soon, whenever it comes.

    readline shows the prompt and then waits in select(), and Python looks for signals only when select() is
    interrupted: a Ctrl-C between the two would not be heard before the next key. So select() is interrupted regularly.
    """
    if sys.platform == "win32":
        yield
        return
    earlier = signal.signal(signal.SIGALRM, lambda _number, _frame: None)
    signal.setitimer(signal.ITIMER_REAL, _TICK_SECONDS, _TICK_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)


def _no_history_by_itself() -> None:
    # Answers to questions are no messages, and input() would remember them too.
    if sys.platform != "win32" and readline is not None:
        readline.set_auto_history(False)


def _add_to_history(line: str) -> None:
    if sys.platform != "win32" and readline is not None:
        readline.add_history(line)


def _preset(text: str) -> bool:
    """Have `text` typed already when the next line is asked for; False where the system cannot."""
    if sys.platform == "win32" or readline is None:
        return False
    readline.set_startup_hook((lambda: readline.insert_text(text)) if text else None)
    return True


def _complete_by(complete: Complete) -> None:
    if sys.platform == "win32" or readline is None:
        return
    found: list[str] = []

    def nth(word: str, state: int) -> str | None:
        if state == 0:
            found[:] = complete(readline.get_line_buffer()[: readline.get_begidx()], word)
        return found[state] if state < len(found) else None

    readline.set_completer(nth)
    # A command begins with a slash and a model's name has one inside: both are one word.
    readline.set_completer_delims(" \t\n")
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
