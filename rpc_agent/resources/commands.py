"""Prompt templates and skills: what a person can start with "/name". Finds and reads them; runs nothing.

A template is a Markdown file in `prompts/`, its name the file's. A skill is a folder in `skills/` with a SKILL.md.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from rpc_agent.resources.front_matter import split_front_matter
from rpc_agent.resources.plain_text import decoded

_MOST_BYTES = 256 * 1024
"""More than any instructions have; a mistaken file must not fill the model's window."""
_PLACEHOLDER = re.compile(r"\$(?:ARGUMENTS|@|([1-9])(?!\d))")
"""More digits are a sum of money."""
_WORD = re.compile(r"""'([^']*)'(?!\S)|((?:"[^"]*"|\\ |\S)+)""")
"""Inside of a word an apostrophe is no quote, and a backslash is itself: it may be of a path or a pattern."""
_QUOTED = re.compile(r'"([^"]*)"')
_NAME = re.compile(r"[\w.:-]+")
_CALL = re.compile(r"/(\S+)\s*(.*)", re.DOTALL)
"""A line end parts a name from what it is given as a space does."""


class Command(Struct, frozen=True):
    """`description` is one line, "" where there is none; `body` is the file's text without its head."""

    name: str
    description: str
    source: Literal["prompt", "skill"]
    path: Path
    body: str


def find_commands(folders: Iterable[Path]) -> tuple[Command, ...]:
    """The commands in `prompts/` and `skills/` of each folder, by name; a later folder's win.

    A file that cannot be read is none.
    """
    found: dict[str, Command] = {}
    for folder in folders:
        for command in (*_templates(folder / "prompts"), *_skills(folder / "skills")):
            found[command.name] = command
    return tuple(found[name] for name in sorted(found))


def expand(text: str, commands: Iterable[Command]) -> str:
    """The message that "/name arguments" stands for; any other text is itself."""
    called = _CALL.fullmatch(text)
    name, rest = (called[1], called[2]) if called else ("", "")
    command = next((each for each in commands if each.name == name), None)
    if command is None:
        return text
    if command.source == "skill":
        body = f"Follow this skill ({command.path}; files it names are beside it):\n\n{command.body.strip()}"
        return f"{body}\n\nThe task: {rest.strip()}" if rest.strip() else body
    return _filled(command.body, rest.strip())


def _filled(body: str, arguments: str) -> str:
    """$ARGUMENTS and $@ are all arguments, $1 to $9 single ones; without any placeholder they are put at the end."""
    if not _PLACEHOLDER.search(body):
        return f"{body.strip()}\n\n{arguments}".strip()
    words = _words(arguments)

    def value(match: re.Match[str]) -> str:
        place = match.group(1)
        if place is None:
            return arguments
        return words[int(place) - 1] if int(place) <= len(words) else ""

    return _PLACEHOLDER.sub(value, body).strip()


def _words(arguments: str) -> list[str]:
    return [_word(match) for match in _WORD.finditer(arguments)]


def _word(match: re.Match[str]) -> str:
    if match[2] is None:
        return match[1]
    return _QUOTED.sub(r"\1", match[2].replace("\\ ", " "))


def _templates(folder: Path) -> Iterator[Command]:
    for path in _entries(folder):
        if path.suffix == ".md" and _NAME.fullmatch(path.stem) and (text := _read(path)) is not None:
            fields, body = split_front_matter(text)
            yield Command(path.stem, _line(fields.get("description", "")), "prompt", path, body)


def _skills(folder: Path) -> Iterator[Command]:
    for path in _entries(folder):
        file = path / "SKILL.md"
        if (text := _read(file)) is not None:
            fields, body = split_front_matter(text)
            name = fields.get("name") or path.name
            if _NAME.fullmatch(name):
                yield Command(name, _line(fields.get("description", "")), "skill", file, body)


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _read(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        return decoded(path.read_bytes())
    except OSError:
        return None


def _line(text: str) -> str:
    return " ".join(text.split())
