"""What tests with the vendors' own libraries as peers have in common."""

from collections.abc import Iterable
from typing import Any


def all_of(value: Any) -> Any:
    """A value that a library's types accepted, read to its end: what they take one at a time is checked only then."""
    if isinstance(value, dict):
        return {name: all_of(inner) for name, inner in value.items()}
    return value if isinstance(value, str) or not isinstance(value, Iterable) else [all_of(inner) for inner in value]
