"""A list that only grows, and views of it that never change: a snapshot costs nothing however long the list is."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Generic, TypeVar, overload

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Growing(Generic[T]):
    """Append-only. What a view showed once it shows for ever."""

    __slots__ = ("_items",)

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items = list(items)

    def append(self, item: T) -> None:
        self._items.append(item)

    def extend(self, items: Iterable[T]) -> None:
        self._items.extend(items)

    def view(self) -> "View[T]":
        return View(self._items, len(self._items))


class View(Sequence[T_co]):
    """The first `length` items of a list that its owner only appends to; equals any sequence of equal items."""

    __slots__ = ("_items", "_length")
    __hash__ = None  # type: ignore[assignment]  # Equal to lists, which have no hash either.

    def __init__(self, items: "list[T_co]", length: int) -> None:
        self._items = items
        self._length = length

    def continues(self, earlier: object) -> bool:
        """Whether `earlier` is a view of the same list from when it was shorter: then only the rest is new."""
        return isinstance(earlier, View) and earlier._items is self._items and earlier._length <= self._length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T_co]: ...
    def __getitem__(self, index: int | slice) -> T_co | Sequence[T_co]:
        if isinstance(index, slice):
            return tuple(self._items[at] for at in range(*index.indices(self._length)))
        at = index + self._length if index < 0 else index
        if not 0 <= at < self._length:
            raise IndexError(index)
        return self._items[at]

    def __iter__(self) -> Iterator[T_co]:
        return islice(self._items, self._length)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, View | list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return repr(list(self))
