"""Cut points and decisions against the cases of the model system."""

import pytest

from rpc_agent.compaction.planning import plan_compaction
from rpc_agent.compaction.policy import (
    Compact,
    CompactionBudget,
    CompactionState,
    Fuse,
    FuseSpent,
    LeaveAlone,
    decide_compaction,
    last_answer,
    should_compact,
)
from rpc_agent.context.projection import project
from rpc_agent.context.tokens import estimate_message, estimate_projected
from rpc_agent.errors import AlreadyCompacted, NothingToCompact
from tests.support.context_cases import SIMPLE, option, read_path, session_runs, simple_estimates

PREPARATIONS, CHECKS = session_runs("projection"), session_runs("check")


def _names(runs):
    return [f"{file.parent.name}/{file.stem} {' '.join(args)}" for file, args, _ in runs]


def _budget(args):
    return CompactionBudget(
        enabled="--disabled" not in args,
        reserve_tokens=int(option(args, "--reserve", "16384")),
        keep_recent_tokens=int(option(args, "--keep", "20000")),
    )


def _sizes(messages):
    return [(message["role"], estimate_message(message, SIMPLE)) for message in messages]


@pytest.mark.parametrize(("file", "args", "expected"), PREPARATIONS, ids=_names(PREPARATIONS))
def test_a_plan_cuts_where_the_model_system_cuts(file, args, expected):
    path = read_path(file, option(args, "--leaf"))
    try:
        plan = plan_compaction(path, project(path), _budget(args), simple_estimates())
    except (AlreadyCompacted, NothingToCompact):
        assert expected["prepareCompaction"] is None
        return

    wanted = expected["prepareCompaction"]
    files = {"readFiles": plan.file_operations.read_files, "modifiedFiles": plan.file_operations.modified_files}
    # Ours: nested calls recorded inside a tool result are not counted, only what the model itself called.
    known_files = {
        name: [path for path in paths if path != "nested.txt"] for name, paths in wanted["fileLists"].items()
    }
    assert {
        "firstKeptEntryId": plan.first_kept_entry_id,
        "isSplitTurn": plan.is_split_turn,
        "tokensBefore": plan.tokens_before,
        "hasPreviousSummary": plan.previous_summary is not None,
        "messagesToSummarize": _sizes(plan.messages_to_summarize),
        "turnPrefixMessages": _sizes(plan.turn_prefix_messages),
        "fileLists": files,
    } == {
        "firstKeptEntryId": wanted["firstKeptEntryId"],
        "isSplitTurn": wanted["isSplitTurn"],
        "tokensBefore": wanted["tokensBefore"],
        "hasPreviousSummary": wanted["previousSummary"] is not None,
        "messagesToSummarize": [(item["role"], item["tokens"]) for item in wanted["messagesToSummarize"]],
        "turnPrefixMessages": [(item["role"], item["tokens"]) for item in wanted["turnPrefixMessages"]],
        "fileLists": known_files,
    }


@pytest.mark.parametrize(("file", "args", "expected"), PREPARATIONS, ids=_names(PREPARATIONS))
def test_the_threshold_is_passed_where_the_model_system_passes_it(file, args, expected):
    path = read_path(file, option(args, "--leaf"))
    wanted = expected["tokens"]

    tokens = estimate_projected(path, project(path), simple_estimates()).tokens

    assert should_compact(tokens, _budget(args), wanted["window"]) == wanted["shouldCompact"]


@pytest.mark.parametrize(("file", "args", "expected"), CHECKS, ids=_names(CHECKS))
def test_a_check_decides_as_the_model_system_decides(file, args, expected):
    path = read_path(file)
    projection, estimate = project(path), simple_estimates()
    answer = last_answer(path)
    provider, _, model_id = option(args, "--model", "mock/mock-model").partition("/")
    state = CompactionState(
        check_point="beforePrompt" if "--pre-prompt" in args else "afterRun",
        budget=_budget(args),
        window=int(option(args, "--window", "128000")),
        provider=provider,
        model_id=model_id,
        max_tokens=int(option(args, "--max-tokens", "4096")),
        path=path,
        projection=projection,
        tokens=estimate_projected(path, projection, estimate).tokens,
        overflow_reported="context length" in answer.message.get("errorMessage", ""),
        fuse=Fuse(spent="--fuse" in args),
    )

    assert answer.id == expected["lastAssistantEntry"]
    assert _as_case(decide_compaction(state, answer)) == {
        "compaction": expected["compaction"]
        and {name: expected["compaction"][name] for name in ("reason", "willRetry")},
        "omit": [event["target"] for event in expected["events"] if event["type"] == "entry_appended"],
        "spent": any(event["type"] == "compaction_end" for event in expected["events"]),
    }


def _as_case(decision):
    match decision:
        case Compact(reason, will_retry, omit):
            return {"compaction": {"reason": reason, "willRetry": will_retry}, "omit": list(omit), "spent": False}
        case FuseSpent(announce):
            return {"compaction": None, "omit": [], "spent": announce}
        case LeaveAlone():
            return {"compaction": None, "omit": [], "spent": False}
