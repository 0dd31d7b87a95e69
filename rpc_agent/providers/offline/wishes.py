"""What the offline model can be asked for. Values only."""

from msgspec import Struct


class ListFolder(Struct, frozen=True):
    path: str = "."


class ReadFile(Struct, frozen=True):
    path: str


class SearchText(Struct, frozen=True):
    """`glob` and `path` narrow the search."""

    text: str
    path: str = "."
    glob: str = ""


class FindFiles(Struct, frozen=True):
    glob: str
    path: str = "."


class RunCommand(Struct, frozen=True):
    command: str


class WriteFile(Struct, frozen=True):
    path: str
    content: str


class ReplaceText(Struct, frozen=True):
    path: str
    old: str
    new: str


class Introduce(Struct, frozen=True):
    """A greeting, or a question about the model itself."""


Wish = ListFolder | ReadFile | SearchText | FindFiles | RunCommand | WriteFile | ReplaceText | Introduce
