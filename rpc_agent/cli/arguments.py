"""The command line of a person: one sentence about what is wrong with it, and what was probably meant."""

import argparse
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

_USAGE_ERROR = 2


class Parser(argparse.ArgumentParser):
    """Options are written in full. `many_words`: what to say to somebody who gave more words than there is room for."""

    def __init__(self, *, many_words: str = "", **how: Any) -> None:
        super().__init__(**{**how, "allow_abbrev": False})
        self._many_words = many_words

    def parse_args(  # type: ignore[override]  # its overloads say what kind of namespace comes back
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        options, extra = self.parse_known_args(args, namespace)
        if extra:
            self.error(self._about(extra))
        return options

    def error(self, message: str) -> NoReturn:
        stop = "" if message.endswith("?") else "."
        self.exit(_USAGE_ERROR, f"{self.prog}: {message}{stop} Try: {self.prog} --help\n")

    def _about(self, extra: Sequence[str]) -> str:
        unknown = next((word.partition("=")[0] for word in extra if word.startswith("-")), None)
        if unknown is None:
            return self._many_words or f"nothing is known of {' '.join(extra)!r}"
        close = get_close_matches(unknown, list(_option_names(self)), n=1)
        return f"there is no option {unknown}" + (f"; did you mean {close[0]}?" if close else "")


def here() -> Path:
    """The folder the person is in. Leaves the program with one sentence when it was deleted meanwhile."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise SystemExit(
            "rpc-agent: the folder you are in no longer exists; cd somewhere, or give --cwd to a command that has it."
        ) from None


def with_config_dir(environment: Mapping[str, str], folder: str | None) -> dict[str, str]:
    """The environment in which the configuration is where --config-dir says, if it was given."""
    return {**environment, **({"RPC_AGENT_CONFIG_DIR": folder} if folder else {})}


def program() -> str:
    """What to type for this program: its name when that works, else the path beside this Python."""
    if shutil.which("rpc-agent"):
        return "rpc-agent"
    installed = shutil.which("rpc-agent", path=str(Path(sys.executable).parent))
    if installed is None:
        return f"{sys.executable} -m rpc_agent"
    path = Path(installed)
    return str(path.relative_to(here())) if path.is_relative_to(here()) else installed


def _option_names(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _option_names(command)
