"""Where a wildcard of a path pattern may end. Pure. Has never heard of a pattern's grammar; those who read one use it.

All places are followed at once: there are no more than the path has characters, however many wildcards a pattern has.
"""

import re
from collections.abc import Collection, Iterator

_SLASH = re.compile("/")


def ends_in_name(path: str, places: Collection[int]) -> Iterator[int]:
    """From `places` on, all up to the end of the name they lie in: what `*` may cover."""
    done = -1
    for place in sorted(places):
        if place > done:
            slash = path.find("/", place)
            done = slash if slash >= 0 else len(path)
            yield from range(place, done + 1)


def ends_of_folders(path: str, places: Collection[int]) -> Iterator[int]:
    """`places` themselves, and behind each later slash: what `**/` may cover."""
    if places:
        yield from places
        yield from (match.end() for match in _SLASH.finditer(path, min(places)))
