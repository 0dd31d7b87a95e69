"""Asking for a summary: what is asked, what is accepted, and what a failure says."""

import anyio
import anyio.lowlevel
import pytest

from rpc_agent.compaction.asking import SummaryModel, output_tokens
from rpc_agent.compaction.branch_summary import (
    branch_budget,
    branch_material,
    branch_summary_fields,
    is_worth_telling,
    summarize_branch,
)
from rpc_agent.compaction.compact import CompactionProgress, compact, compaction_fields
from rpc_agent.compaction.ledger_text import without_ledger
from rpc_agent.compaction.planning import plan_compaction
from rpc_agent.compaction.policy import CompactionBudget
from rpc_agent.compaction.transcript import transcript
from rpc_agent.context.projection import project
from rpc_agent.conversation.messages import message_text
from rpc_agent.conversation.usage import add_usage
from rpc_agent.errors import BranchSummaryFailed, CompactionFailed
from tests.support.context_cases import simple_estimates
from tests.support.conversations import (
    answer,
    branch_summary,
    call,
    compaction,
    edit,
    entries,
    label,
    note,
    result,
    said,
    shell,
    system,
)
from tests.support.summaries import PAID, ScriptedSummaries, notes

pytestmark = pytest.mark.anyio

LONG = "many words of no importance " * 30


def plan_of(*raws, keep=10, reserve=1000):
    path = entries(*raws)
    budget = CompactionBudget(keep_recent_tokens=keep, reserve_tokens=reserve)
    return plan_compaction(path, project(path), budget, simple_estimates())


def whole_turns(*before):
    return plan_of(*before, said(LONG), answer("a", call("1", "read", path="f.py")), result("1", "ok"), said("x" * 60))


def cut_turn(*before):
    return plan_of(*before, said("the task"), answer("", call("1")), result("1", LONG), answer("z" * 60))


async def run(plan, *answers, **options):
    summaries = ScriptedSummaries(*answers)
    with anyio.fail_after(5):
        return await compact(plan, summaries, **options), summaries.asked


async def test_one_call_summarises_whole_turns():
    seen = []
    outcome, asked = await run(whole_turns(), notes(), progress=seen.append)

    code = outcome.summary.splitlines()[-1].removeprefix("[end of ledger ").removesuffix("]")
    assert outcome.summary.splitlines() == [
        "notes",
        "",
        f"[ledger {code}]",
        "Copied from the session by the program; no model wrote this. It wins over the text above. Ids after # are for "
        "the tool history.",
        "",
        "What the user said, oldest first, word for word:",
        "",
        "#e0",
        *outcome.details["ledger"]["userMessages"][0]["text"].splitlines(),
        "",
        "Done, oldest first:",
        "- read f.py: ok #e1",
        "",
        "<read-files>",
        "f.py",
        "</read-files>",
        f"[end of ledger {code}]",
    ]
    assert (outcome.details["readFiles"], outcome.details["modifiedFiles"], outcome.usage) == (["f.py"], [], PAID)
    plan = outcome.plan
    assert outcome.estimated_tokens_after == plan.tokens_with(plan.weigh(outcome.summary)) < plan.tokens_before
    assert [(request.kind, request.max_tokens) for request in asked] == [("history", 800)]
    assert seen == [CompactionProgress("history", 1, 1)]
    for heading in (
        "Goal",
        "Constraints & Preferences",
        "Progress",
        "Done",
        "In Progress",
        "Blocked",
        "Key Decisions",
        "Next Steps",
        "Critical Context",
    ):
        assert f"# {heading}" in asked[0].prompt


async def test_a_cut_turn_is_asked_about_apart():
    outcome, asked = await run(cut_turn(said("old"), answer(LONG)), notes("HISTORY"), notes("PREFIX"))

    assert [(request.kind, request.max_tokens) for request in asked] == [("history", 800), ("turnPrefix", 500)]
    told = without_ledger(outcome.summary)
    assert told.startswith("HISTORY\n\n") and told.endswith("\n\nPREFIX")
    assert outcome.usage["totalTokens"] == 24


async def test_the_previous_summary_is_given_to_the_call_without_its_file_lists():
    previous = "BEFORE\n\n<read-files>\nq.py\n</read-files>"
    outcome, asked = await run(
        whole_turns(said("kept"), compaction(previous, keep=0, details={"readFiles": ["q.py"]})), notes()
    )

    assert "<previous-summary>\nBEFORE\n</previous-summary>" in asked[0].prompt
    assert (outcome.details["readFiles"], outcome.details["modifiedFiles"]) == (["f.py", "q.py"], [])


async def test_the_previous_summary_is_carried_over_when_only_a_turn_is_cut():
    outcome, asked = await run(cut_turn(compaction("BEFORE", keep="none")), notes("PREFIX"))

    assert [request.kind for request in asked] == ["turnPrefix"]
    told = without_ledger(outcome.summary)
    assert told.startswith("BEFORE\n\n") and told.endswith("\n\nPREFIX")


async def test_custom_instructions_reach_every_call():
    _, asked = await run(
        cut_turn(said("old"), answer(LONG)), notes(), notes(), custom_instructions="keep the port number"
    )
    assert ["keep the port number" in request.prompt for request in asked] == [True, True]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (notes("", stop_reason="error", error_message="boom"), "error"),
        (notes("## Goal\nBuild the", stop_reason="length"), "length"),
        (notes("calling", called_tools=True), "toolCall"),
        (notes("call", stop_reason="toolUse", called_tools=True), "toolCall"),
        (notes(" \n"), "empty"),
        (notes(LONG * 3), "degenerate"),
        (notes("good start. " + "and so on " * 900), "degenerate"),
    ],
)
async def test_an_answer_that_is_no_summary_fails_with_its_reason(bad, reason):
    tries = [bad] if reason == "error" else [bad, notes("", stop_reason="error")]
    with pytest.raises(CompactionFailed) as failure:
        await run(whole_turns(), *tries)
    paid = PAID if len(tries) == 1 else add_usage(PAID, PAID)
    assert failure.value.details == {"reason": reason, "usage": paid}
    assert "Nothing was changed" in failure.value.message


async def test_a_failed_second_call_tells_what_both_cost():
    with pytest.raises(CompactionFailed) as failure:
        await run(cut_turn(said("old"), answer(LONG)), notes(), notes("", stop_reason="error"))
    assert failure.value.details["usage"]["totalTokens"] == 24


async def test_a_cancelled_call_leaves_nothing_behind():
    async def never(request):
        await anyio.sleep_forever()

    with anyio.move_on_after(0.01) as scope:
        await compact(whole_turns(), never)
    assert scope.cancelled_caught


@pytest.mark.parametrize(
    ("model", "prompt", "tokens"),
    [
        (SummaryModel(), 10**6, 2000),
        (SummaryModel(max_tokens=300), 0, 300),
        (SummaryModel(window=4000), 2188, 1300),
        (SummaryModel(window=4000), 9000, 1024),
    ],
)
def test_the_output_asked_for_fits_the_plan_the_model_and_the_room(model, prompt, tokens):
    assert output_tokens(2000, model, "x" * prompt, len) == tokens


async def test_the_entry_carries_what_a_reader_of_the_files_tail_needs():
    plan = plan_of(system(sections={"a": "A"}), said(LONG), answer("x"), said("y" * 60))
    outcome, _ = await run(plan, notes())
    fields = compaction_fields(
        outcome, entry_id="new", timestamp=7, thinking_level="high", model="p/m", session_name="n", self_contained=True
    )
    assert fields == {
        "summary": outcome.summary,
        "firstKeptEntryId": "e3",
        "tokensBefore": plan.tokens_before,
        "details": {
            "readFiles": [],
            "modifiedFiles": [],
            "ledger": {
                "userMessages": outcome.details["ledger"]["userMessages"],
                "userMessagesLeftOut": 0,
                "actions": [],
                "actionsLeftOut": 0,
                "files": {"read": [], "modified": []},
                "filesLeftOut": 0,
            },
        },
        "usage": PAID,
        "systemMessage": {"role": "system", "content": "", "sections": {"a": "A"}, "timestamp": 7},
        "retainedTail": list(plan.kept_messages),
        "thinkingLevel": "high",
        "model": "p/m",
        "sessionName": "n",
    }


def test_a_transcript_has_the_words_and_calls_and_no_thinking_or_images():
    path = entries(
        said("hello </conversation>"),
        answer("fine", {"type": "thinking", "thinking": "secret"}, call("1", "bash", command="ls", timeout=1.0)),
        result("1", "o" * 2100),
        result("2", "bad", error=True),
        shell("pwd", "/x\n"),
        shell("hidden", "y", excludeFromContext=True),
    )
    assert transcript(entry.message for entry in path) == "\n\n".join(
        (
            "<user>\nhello </conversation>\n</user>",
            "<assistant>\nfine\n</assistant>",
            '<tool-calls>\nbash(command="ls", timeout=1)\n</tool-calls>',
            f"<tool-result>\n{'o' * 2000}\n[100 more characters left out]\n</tool-result>",
            "<tool-error>\nbad\n</tool-error>",
            "<user>\nThe user ran a command: pwd\n```\n/x\n```\n</user>",
        )
    )


async def test_a_record_cannot_close_its_own_block():
    _, asked = await run(plan_of(said("</conversation> " + LONG), answer("a"), said("x" * 60)), notes())
    assert asked[0].prompt.count("</conversation>") == 1


@pytest.mark.parametrize(("window", "budget"), [(200_000, 183_616), (8_000, 4_000), (0, 16_000)])
def test_the_branch_budget_is_never_unlimited_and_never_nothing(window, budget):
    assert branch_budget(window, 16_384) == budget


def test_the_newest_messages_fill_the_budget_and_a_summary_may_exceed_it():
    path = entries(
        said("o" * 400),
        branch_summary("S" * 200),
        answer("", call("1", "write", path="f")),
        result("1", "r"),
        said("n" * 40),
        edit(4),
    )
    some = branch_material(path, 20, simple_estimates())
    full = branch_material([*path[:5]], 11, simple_estimates())

    assert [message["role"] for message in some.messages] == ["branchSummary", "assistant"]
    assert [message_text(message) for message in full.messages] == ["n" * 40]
    assert full.file_operations.modified_files == ["f"]


async def test_a_last_message_beyond_the_budget_is_told_without_its_middle():
    estimate = simple_estimates()
    material = branch_material(entries(said("early"), said("HEAD " + "m" * 4000 + " TAIL")), 100, estimate)
    summaries = ScriptedSummaries(notes("what was tried"))
    await summarize_branch(material, summaries, estimate)
    (asked,) = summaries.asked
    assert "HEAD m" in asked.prompt and "m TAIL" in asked.prompt and "characters left out" in asked.prompt
    assert asked.prompt.count("m" * 300) == 0 and "early" not in asked.prompt


def test_markers_and_what_an_edit_took_out_are_not_worth_telling():
    assert not is_worth_telling(entries(note(), label(0), said("x"), edit(2)))
    assert is_worth_telling(entries(note(), said("x")))


async def test_a_branch_summary_is_one_call():
    material = branch_material(
        entries(said("try this"), answer("", call("1", "edit", path="f"))), 1000, simple_estimates()
    )
    summaries = ScriptedSummaries(notes("what was tried"), notes("", stop_reason="error"))
    outcome = await summarize_branch(
        material, summaries, simple_estimates(), custom_instructions="Only the errors.", replace_instructions=True
    )

    assert branch_summary_fields(outcome, old_leaf_id=None) == {
        "fromId": "root",
        "summary": "what was tried\n\n<modified-files>\nf\n</modified-files>",
        "details": {"readFiles": [], "modifiedFiles": ["f"]},
        "usage": PAID,
    }
    assert (summaries.asked[0].kind, summaries.asked[0].max_tokens) == ("branch", 4096)
    assert "Only the errors." in summaries.asked[0].prompt and "## Goal" not in summaries.asked[0].prompt
    with pytest.raises(BranchSummaryFailed):
        await summarize_branch(material, summaries, simple_estimates())
