"""Random neighbours of known inputs, from a seed, and the smallest input that still fails. Knows no target."""

from collections.abc import Callable, Iterator, Sequence
from random import Random

_INTERESTING = (0, 1, 9, 10, 13, 32, 34, 92, 0x7F, 0x80, 0xC0, 0xED, 0xFF)


def mutants(random: Random, known: Sequence[bytes], tokens: Sequence[bytes], most: int) -> Iterator[bytes]:
    """For ever: one of the known inputs, changed in one to six places, and no longer than `most` bytes."""
    while True:
        data = bytearray(random.choice(known))
        for _ in range(random.randint(1, 6)):
            _change(random, data, known, tokens)
        yield bytes(data[:most])


def _change(random: Random, data: bytearray, known: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    at = random.randint(0, len(data))
    end = min(len(data), at + random.choice((1, 1, 2, 4, 16, 64, 256)))
    match random.randrange(7):
        case 0:
            data[at:end] = b""
        case 1:
            data[at:at] = random.choice(tokens)
        case 2:
            data[at:end] = random.choice(tokens)
        case 3:
            data[at : at + 1] = bytes([random.choice((random.randrange(256), random.choice(_INTERESTING)))])
        case 4:
            data[at:at] = data[at:end] * random.choice((1, 1, 2, 8))
        case 5:
            other = random.choice(known)
            start = random.randint(0, len(other))
            data[at:at] = other[start : start + random.choice((8, 64, 512))]
        case _:
            other = random.choice(known)
            data[at:] = other[random.randint(0, len(other)) :]


def smallest(data: bytes, fails: Callable[[bytes], bool], *, tries: int = 3000) -> bytes:
    """A part of `data` that fails too, and of which no piece can be left out any more."""
    size = len(data) // 2
    while size and tries:
        at = 0
        while at < len(data) and tries:
            tries -= 1
            shorter = data[:at] + data[at + size :]
            if fails(shorter):
                data = shorter
            else:
                at += size
        size //= 2
    return data
