"""The docstrings of models and fields, for the published contract. Reads the package's own source, only when exporting.

Python keeps no docstrings of fields, and pydantic's way to them would be paid for at every start.
"""

import ast
import inspect
import itertools
from collections.abc import Iterator, Sequence
from types import ModuleType

from msgspec import Struct, field


class Described(Struct, frozen=True):
    """A class or a named type: its text, the texts of its own fields by Python name, the names of its bases."""

    text: str
    fields: dict[str, str] = field(default_factory=dict)
    bases: tuple[str, ...] = ()


def read_descriptions(modules: Sequence[ModuleType]) -> dict[str, Described]:
    """By name of the class or type alias, with inherited fields filled in. Names are unique in the package."""
    own = {name: each for module in modules for name, each in _module(module)}
    return {name: Described(each.text, dict(_all_fields(name, own))) for name, each in own.items()}


def _all_fields(name: str, own: dict[str, Described]) -> Iterator[tuple[str, str]]:
    if name in own:
        for base in own[name].bases:
            yield from _all_fields(base, own)
        yield from own[name].fields.items()


def _module(module: ModuleType) -> Iterator[tuple[str, Described]]:
    body = ast.parse(inspect.getsource(module)).body
    for node in body:
        if isinstance(node, ast.ClassDef):
            bases = tuple(ast.unparse(base).rpartition(".")[2] for base in node.bases)
            yield node.name, Described(_one_line(ast.get_docstring(node)), dict(_documented(node.body)), bases)
    for name, text in _documented(body):
        yield name, Described(text)


def _documented(body: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Names with the string that stands right under their assignment."""
    for statement, below in itertools.pairwise(body):
        match statement, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, _one_line(text)


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())
