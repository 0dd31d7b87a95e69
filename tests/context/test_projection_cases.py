"""The projection against the cases of the model system: ids, roles, texts, tokens."""

import pytest

from rpc_agent.context.projection import Projector, project
from rpc_agent.context.tokens import estimate_context, estimate_projected
from rpc_agent.session.entries import Entry
from tests.support.context_cases import described, option, read_path, session_runs, simple_estimates

RUNS = session_runs("projection")
NAMES = [f"{file.parent.name}/{file.stem} {' '.join(args)}" for file, args, _ in RUNS]


@pytest.mark.parametrize(("file", "args", "expected"), RUNS, ids=NAMES)
def test_a_session_projects_to_the_known_context(file, args, expected):
    projection = project(read_path(file, option(args, "--leaf")))

    assert [entry.id for entry in projection.entries] == expected["contextIds"]
    known = [{name: value for name, value in item.items() if name != "text"} for item in expected["messages"]]
    assert [described(item.message, item.entry.id) for item in projection.messages] == known


@pytest.mark.parametrize(("file", "args", "expected"), RUNS, ids=NAMES)
def test_a_session_counts_the_known_tokens(file, args, expected):
    path = read_path(file, option(args, "--leaf"))
    projection, estimate = project(path), simple_estimates()
    messages = [item.message for item in projection.messages]

    counted = {
        "context": _as_case(estimate_context(messages, estimate)),
        "projected": _as_case(estimate_projected(path, projection, estimate)),
        "sum": sum(map(estimate, messages)),
    }

    assert counted == {name: expected["tokens"][name] for name in counted}


@pytest.mark.parametrize(("file", "args", "expected"), RUNS, ids=NAMES)
def test_appending_entry_by_entry_gives_the_same_projection(file, args, expected):
    path: list[Entry] = read_path(file, option(args, "--leaf"))
    projector = Projector()

    for at, entry in enumerate(path, start=1):
        projector.append(entry)
        assert projector.projection == project(path[:at])


def _as_case(estimate):
    return {
        "tokens": estimate.tokens,
        "usageTokens": estimate.usage_tokens,
        "trailingTokens": estimate.trailing_tokens,
        "lastUsageIndex": estimate.last_usage_index,
    }
