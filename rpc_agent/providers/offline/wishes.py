"""What the offline model can be asked for. Values only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ListFolder:
    path: str = "."


@dataclass(frozen=True, slots=True)
class ReadFile:
    path: str


@dataclass(frozen=True, slots=True)
class SearchText:
    """`glob` and `path` narrow the search."""

    text: str
    path: str = "."
    glob: str = ""


@dataclass(frozen=True, slots=True)
class FindFiles:
    glob: str
    path: str = "."


@dataclass(frozen=True, slots=True)
class RunCommand:
    command: str


@dataclass(frozen=True, slots=True)
class WriteFile:
    path: str
    content: str


@dataclass(frozen=True, slots=True)
class ReplaceText:
    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Introduce:
    """A greeting, or a question about the model itself."""


Wish = ListFolder | ReadFile | SearchText | FindFiles | RunCommand | WriteFile | ReplaceText | Introduce
