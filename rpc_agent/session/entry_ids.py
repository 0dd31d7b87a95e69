"""New entry ids: short ones first, longer ones when they collide. Randomness is given in."""

from collections.abc import Callable

_SHORT_TRIES = 16
# Eight hex digits collide once in 4,000 draws at a million entries; sixteen collisions in a row mean a broken source.


def new_entry_id(
    draw: Callable[[], str], draw_uuid: Callable[[], str], is_taken: Callable[[str], bool], *, certain: bool = True
) -> str:
    """An id that no entry has. `draw` gives 8 hex digits, `draw_uuid` a whole uuid.

    `certain=False`: not all entries are known yet, so 16 digits make a collision with an unknown one improbable.
    """
    for _ in range(_SHORT_TRIES):
        entry_id = draw() if certain else draw() + draw()
        if not is_taken(entry_id):
            return entry_id
    while is_taken(entry_id := draw_uuid()):
        pass
    return entry_id
