"""The short form of the fuzzers: what once broke something, what is known to go everywhere, and neighbours of it.

`make soak` runs the long form: the same targets, led by the coverage of the code.
"""

import itertools
import time
from random import Random

import pytest

from tests.fuzz.mutations import mutants, smallest
from tests.fuzz.targets import NAMES, corpus, failure, findings, kind_of, target

_SEED = 13
_NEIGHBOURS = 800
_SECONDS = 2.0
"""For the neighbours of one target: a slow machine tries fewer."""


@pytest.mark.parametrize("name", NAMES)
def test_what_once_broke_something_does_so_no_more(name: str) -> None:
    broken = [(broke, data, why) for broke, data in findings(name) if (why := failure(target(name), data))]
    assert broken == []


@pytest.mark.parametrize("name", NAMES)
def test_no_input_breaks_what_holds_for_all(name: str) -> None:
    tested = target(name)
    known = [*tested.seeds(), *corpus(name)]
    neighbours = itertools.islice(mutants(Random(_SEED), known, tested.TOKENS, tested.MAX_BYTES), _NEIGHBOURS)
    deadline = time.monotonic() + _SECONDS
    tried = 0
    for data in itertools.chain(known, neighbours):
        if tried > len(known) and time.monotonic() > deadline:
            break
        tried += 1
        if why := failure(tested, data):
            small = smallest(data, lambda shorter: kind_of(failure(tested, shorter)) == kind_of(why))
            pytest.fail(f"{small!r}\n{failure(tested, small)}")
    assert tried > len(known)


def test_the_smallest_input_is_found() -> None:
    assert smallest(b"0123456789", lambda data: b"3" in data and b"7" in data) == b"37"


def test_the_same_seed_gives_the_same_neighbours() -> None:
    one, other = ([*itertools.islice(mutants(Random(5), [b"abc"], [b"x"], 99), 50)] for _ in range(2))
    assert one == other and len(set(one)) > 25
