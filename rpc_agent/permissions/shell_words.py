"""The words of the simple commands in a shell's line: quotes, redirections and substitutions as a shell reads them.

Pure, and linear in the line. Refuses to expand anything: what a variable or a substitution becomes stays unknown.
"""

import re
from collections.abc import Iterator

# Bounded, as a run of digits is looked at from each of them.
_REDIRECTION = r"(?:\d{1,9}|\{\w{1,99}\})?(?:&>>?|[<>]&|<<<|<<-?|<>|>>|>\||[<>](?!\())"
_TOKEN = re.compile(
    r"(?P<gap>(?:[ \t\f\v]|\$IFS\b|\$\{IFS\})+)"
    rf"|(?P<redirection>{_REDIRECTION})"
    r"|(?P<open>\$\(|[<>]\(|\$\{|\$?\"|\()|(?P<close>[)}`])|(?P<end>[;&|\n\r])"
    r"|(?P<text>\$?'[^']*'|\\.|[^\s;&|()<>`\"'\\$}{\d]+|.)",
    re.DOTALL,
)
_IN_QUOTES = re.compile(r"(?P<open>\$\(|\$\{)|(?P<close>[\"`])|(?P<text>\\.|[^\\$`\"]+|.)", re.DOTALL)
_CLOSERS = {"(": ")", "{": "}", '"': '"', "`": "`"}

_NO_PROGRAM = re.compile(r"\w+(?:\[[^\]]*\])?\+?=|\$\w+$")
"""Assignments, and what may become nothing (`$SUDO rm x`)."""
_RESERVED = frozenset(("!", "{", "if", "then", "elif", "else", "while", "until", "do", "time", "coproc"))

Words = list[str]


class _Frame:
    """What stands between a bracket or quote and its end; the line itself has no `closer`."""

    def __init__(self, closer: str = "") -> None:
        self.closer = closer
        self._words: Words = []
        self.word: str | None = None
        self._is_redirected = False

    def add(self, text: str) -> None:
        self.word = (self.word or "") + text

    def redirect(self) -> None:
        """The next word is a file."""
        self.end_word()
        self._is_redirected = True

    def end_word(self) -> None:
        if self.word is not None:
            if not self._is_redirected:
                self._words.append(self.word)
            self.word, self._is_redirected = None, False

    def end_command(self) -> Words:
        self.end_word()
        words, self._words, self._is_redirected = self._words, [], False
        return words


def simple_commands(line: str) -> Iterator[Words]:
    """The words of each command, those inside of substitutions too, from the program's name on."""
    line = line.replace("\\\n", "")
    frames, at = [_Frame()], 0
    while at < len(line):
        token = (_IN_QUOTES if frames[-1].closer == '"' else _TOKEN).match(line, at)
        assert token is not None, "one character always is a text"
        at = token.end()
        yield from map(_from_program, _take(frames, str(token.lastgroup), token[0]))
    # Where a bracket or a quote has no end, all of it counts.
    yield from (_from_program(frame.end_command()) for frame in frames)


def _take(frames: list[_Frame], kind: str, text: str) -> Iterator[Words]:
    """One token; the commands that it ends."""
    frame = frames[-1]
    match kind:
        case "gap":
            frame.end_word()
        case "redirection":
            frame.redirect()
        case "end":
            yield frame.end_command()
        case "close" if frame.closer == text:
            yield from _close(frames)
        case "close" if text == ")":
            # As behind the pattern of a case.
            yield frame.end_command()
        case "open" | "close" if text != "}":
            if text == "(" and not (frame.word or "").endswith("="):
                yield frame.end_command()
            frames.append(_Frame(_CLOSERS[text[-1]]))
        case _:
            frame.add(_unquoted(text))


def _close(frames: list[_Frame]) -> Iterator[Words]:
    inner = frames.pop()
    if inner.closer == '"':
        frames[-1].add(inner.word or "")
    else:
        yield inner.end_command()
        # A substitution is a part of a word, a group is none; an empty part changes nothing in what follows a group.
        if frames[-1].word is not None or inner.closer != ")":
            frames[-1].add("")


def _unquoted(text: str) -> str:
    if len(text) > 1 and text.endswith("'"):
        return text[text.index("'") + 1 : -1] if text[0] != "\\" else "'"
    return text[1:] if text[0] == "\\" and len(text) > 1 else text


def _from_program(words: Words) -> Words:
    """Without what stands before it."""
    at = 0
    while at < len(words) and (before := _before_program(words, at)):
        at += before
    return words[at:]


def _before_program(words: Words, at: int) -> int:
    match words[at : at + 3]:
        case ["function", *_] | ["coproc", _, "{"] | ["time", "-p" | "--", *_]:
            return 2
        case [word, *_] if word in _RESERVED or _NO_PROGRAM.match(word):
            return 1
        case _:
            return 0
