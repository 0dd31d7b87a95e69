"""Views and their heads read as the lists they stand for, whatever part of them is asked for."""

from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.context.growing import Growing, Headed

PLACES = st.none() | st.integers(-9, 9)


@given(
    st.lists(st.integers(), max_size=6),
    st.lists(st.integers(), max_size=6),
    PLACES,
    PLACES,
    st.sampled_from([1, 2, -1]),
)
def test_a_part_is_the_part_of_the_list(head: list[int], rest: list[int], start: int, stop: int, step: int) -> None:
    growing = Growing(rest)
    view = growing.view()
    growing.append(99)
    headed = Headed(tuple(head), view)
    asked = slice(start, stop, step)
    assert list(view[asked]) == rest[asked]
    assert list(headed[asked]) == [*head, *rest][asked]
    assert list(headed) == [*head, *rest]
