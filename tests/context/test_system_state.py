"""System messages as patches of one state, and the sections we write."""

from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.context.system_prompt import ContextFile, PromptInputs, Skill, prompt_sections
from rpc_agent.context.system_state import (
    SystemState,
    patched,
    render_state,
    replay_system,
    system_message,
    system_patch,
)
from rpc_agent.conversation.tool_spec import ToolSpec

NAMES = st.sampled_from(["a", "b", "c"])
STATES = st.builds(
    lambda sections, tools: SystemState("", sections, tuple({"name": name, "v": v} for name, v in tools.items())),
    st.dictionaries(NAMES, st.text(min_size=1, max_size=3)),
    st.dictionaries(NAMES, st.integers(0, 2)),
)


@given(STATES, STATES)
def test_a_patch_turns_one_state_into_the_other(old, new):
    patch = system_patch(old, new, timestamp=1)
    after = old if patch is None else patched(old, patch)

    assert dict(after.sections) == dict(new.sections)
    assert {tool["name"]: tool for tool in after.tools} == {tool["name"]: tool for tool in new.tools}
    assert (patch is None) == (_as_maps(old) == _as_maps(new))


def _as_maps(state):
    return dict(state.sections), {tool["name"]: tool for tool in state.tools}


@given(STATES)
def test_a_snapshot_replays_to_the_state_it_was_made_of(state):
    assert replay_system([system_message(state, timestamp=1)]) == state


def test_added_text_is_only_what_is_new():
    patch = system_patch(SystemState("one"), SystemState("one\n\ntwo"), timestamp=1)
    assert patch == {"role": "system", "content": "two", "timestamp": 1}


def test_without_system_messages_there_is_no_state():
    assert replay_system([{"role": "user", "content": "hi", "timestamp": 0}]) is None


def test_the_sections_come_in_their_order_and_empty_ones_are_left_out():
    full = PromptInputs(
        cwd="/home/me/project",
        tools=[ToolSpec("read", "Reads a file.\nMore.", {})],
        context_files=[ContextFile("AGENTS.md", "Use tabs.\n")],
        skills=[Skill("release", "Makes a release.", "/skills/release.md")],
        rules=["write, edit and bash are refused"],
    )
    sections = prompt_sections(full)

    assert list(sections) == ["preamble", "tools", "rules", "project_context", "skills", "cwd"]
    assert list(prompt_sections(PromptInputs(cwd="/x", preamble=""))) == ["tools", "rules", "cwd"]
    for piece in (
        "- read: Reads a file.",
        "Use tabs.",
        "- release: Makes a release. (/skills/release.md)",
        "are refused",
    ):
        assert piece in render_state(SystemState("", sections))
