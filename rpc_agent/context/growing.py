"""A list that only grows, and views of it that never change: a snapshot costs nothing however long the list is."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Generic, TypeVar, overload

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
S = TypeVar("S")


class Growing(Generic[T]):
    """Append-only. What a view showed once it shows for ever."""

    __slots__ = ("_items", "_shown")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items = list(items)
        self._shown = 0

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, at: int) -> T:
        return self._items[at]

    def append(self, item: T) -> None:
        self._items.append(item)

    def extend(self, items: Iterable[T]) -> None:
        self._items.extend(items)

    def with_item(self, at: int, item: T) -> "Growing[T]":
        """The list with another item in a place: this one where no view has shown the place yet, else a copy."""
        changed = Growing(self._items) if at < self._shown else self
        changed._items[at] = item
        return changed

    def view(self) -> "View[T]":
        self._shown = len(self._items)
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
            start, stop, step = index.indices(self._length)
            return tuple(self._items[start:stop:step] if step > 0 else self._items[: self._length][index])
        at = index + self._length if index < 0 else index
        if not 0 <= at < self._length:
            raise IndexError(index)
        return self._items[at]

    def __iter__(self) -> Iterator[T_co]:
        return islice(self._items, self._length)

    def __reversed__(self) -> Iterator[T_co]:
        return (self._items[at] for at in range(self._length - 1, -1, -1))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, View | list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return repr(list(self))


class Headed(Sequence[T_co]):
    """A few items in front of a view, without a copy; equals any sequence of equal items."""

    __slots__ = ("_head", "_rest")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, head: "Sequence[T_co]", rest: View[T_co]) -> None:
        self._head = head
        self._rest = rest

    def shared_with(self, earlier: object) -> int:
        """How many items at the beginning are the very ones of `earlier`, as far as that is known without looking."""
        if not isinstance(earlier, Headed) or self._head is not earlier._head:
            return 0
        return len(earlier) if self._rest.continues(earlier._rest) else 0

    def __len__(self) -> int:
        return len(self._head) + len(self._rest)

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T_co]: ...
    def __getitem__(self, index: int | slice) -> T_co | Sequence[T_co]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            head = len(self._head)
            if step == 1 and start >= head:
                return self._rest[start - head : max(stop - head, 0)]
            return tuple(self)[index]
        at = index + len(self) if index < 0 else index
        if at < 0:
            raise IndexError(index)
        return self._head[at] if at < len(self._head) else self._rest[at - len(self._head)]

    def __iter__(self) -> Iterator[T_co]:
        return chain(self._head, self._rest)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Headed | View | list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return repr(list(self))


class Fold(Generic[T, S]):
    """A value made of a sequence step by step; of one that only grew, nothing is gone through again.

    `step(state, item)` gives the state after an item and never changes the one it was given.
    """

    __slots__ = ("_last", "_start", "_state", "_step")

    def __init__(self, start: S, step: Callable[[S, T], S]) -> None:
        self._start = start
        self._step = step
        self._last: Sequence[T] = ()
        self._state = start

    def of(self, items: Sequence[T]) -> S:
        grew = isinstance(items, View) and items.continues(self._last)
        state, done = (self._state, len(self._last)) if grew else (self._start, 0)
        if grew and done == len(items):
            return state
        # By index: an iterator would walk over what is done.
        for at in range(done, len(items)):
            state = self._step(state, items[at])
        self._last, self._state = items, state
        return state
