"""What follows a growing conversation says the same as what goes through all of it, and asks about each message once."""

from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.context.growing import Fold, Growing, Headed
from rpc_agent.context.projection import Projector
from rpc_agent.context.running_estimate import RunningEstimate
from rpc_agent.context.tokens import SIMPLE, context_usage_tokens, estimate_message, estimate_projected
from rpc_agent.conversation.messages import Message
from rpc_agent.conversation.usage import make_usage
from tests.support.conversations import (
    answer,
    branch_summary,
    compaction,
    edit,
    entries,
    result,
    said,
    shell,
    system,
)

TEXT = st.sampled_from(["", "hello", "some more words", "你好"])
USAGE = st.sampled_from([None, make_usage(input=100, output=7), make_usage(input=3000)])
STEPS = st.one_of(
    TEXT.map(said),
    st.builds(
        lambda text, usage, stop: answer(text, usage=usage, stop=stop),
        TEXT,
        USAGE,
        st.sampled_from(["stop", "error", "aborted"]),
    ),
    TEXT.map(lambda text: result("1", text)),
    TEXT.map(lambda text: shell(text, text)),
    TEXT.map(lambda text: system(text, sections={"s": text})),
    TEXT.map(branch_summary),
    st.builds(lambda text, keep: compaction(text, keep=keep), TEXT, st.integers(0, 12)),
    # Back from where it stands: an edit comes after what it edits.
    st.integers(1, 5).map(lambda back: {"back": back}),
)


def path_of(steps):
    return entries(*(edit(max(at - step["back"], 0)) if "back" in step else step for at, step in enumerate(steps)))


@given(st.lists(STEPS, max_size=25), st.integers(0, 25))
def test_it_says_what_a_walk_through_everything_says(steps, jump):
    path = path_of(steps)
    running, projector = RunningEstimate(simple), Projector()
    for at, entry in enumerate(path):
        projector.append(entry)
        if at == jump:
            # Another branch in between, and back.
            projector.move_to(path[: at // 2])
            agree(running, projector)
            projector.move_to(path[: at + 1])
        agree(running, projector)


def agree(running, projector):
    path, projection = projector.path, projector.projection
    assert running.projected(path, projection) == estimate_projected(path, projection, simple)
    assert running.awaits_usage(path) == (context_usage_tokens(path, projection, simple) is None)


def simple(message: Message) -> int:
    return estimate_message(message, SIMPLE)


def test_a_turn_asks_about_its_own_messages_only():
    asked: list[Message] = []

    def estimate(message: Message) -> int:
        asked.append(message)
        return 1

    path = entries(system("be brief"), *[said("hi"), answer("yes")] * 500, said("new"))
    running, projector = RunningEstimate(estimate), Projector(path[:-1])
    running.projected(projector.path, projector.projection)
    asked.clear()
    projector.append(path[-1])
    running.projected(projector.path, projector.projection)
    assert not running.awaits_usage(projector.path)
    assert asked == [path[-1].message]


def test_a_fold_takes_a_step_for_each_new_item_and_starts_over_elsewhere():
    steps: list[int] = []

    def step(state: int, item: int) -> int:
        steps.append(item)
        return state + item

    growing, fold = Growing([1, 2, 3]), Fold(0, step)
    assert (fold.of(growing.view()), steps) == (6, [1, 2, 3])
    growing.append(4)
    assert (fold.of(growing.view()), steps) == (10, [1, 2, 3, 4])
    assert fold.of([5]) == 5
    assert fold.of(growing.view()) == 10


def test_a_view_stays_as_it_was_shown_when_an_item_is_put_in_another_place():
    growing = Growing(["a", "b"])
    shown = growing.view()
    growing.append("c")
    assert growing.with_item(2, "C") is growing
    other = growing.with_item(1, "B")
    assert (list(shown), list(growing.view()), list(other.view())) == (["a", "b"], ["a", "b", "C"], ["a", "B", "C"])


def test_a_head_and_a_view_are_one_sequence_that_knows_what_it_shares():
    growing = Growing([1, 2])
    head: tuple[int, ...] = (0,)
    first = Headed(head, growing.view())
    growing.append(3)
    second = Headed(head, growing.view())
    assert (list(second), second[0], second[-1], second[1:3], len(second)) == ([0, 1, 2, 3], 0, 3, (1, 2), 4)
    assert (first, second) == ([0, 1, 2], [0, 1, 2, 3])
    assert (second.shared_with(first), first.shared_with(second)) == (3, 0)
    assert Headed((9,), growing.view()).shared_with(first) == 0


def test_a_usage_from_before_a_compaction_or_an_edit_is_not_believed():
    told = answer("yes", usage=make_usage(input=5000))
    for change in (compaction("short", keep=1), edit(0)):
        path = entries(said("hi"), told, change, said("new"))
        running, projector = RunningEstimate(simple), Projector(path)
        agree(running, projector)
        assert running.projected(projector.path, projector.projection).tokens < 100
