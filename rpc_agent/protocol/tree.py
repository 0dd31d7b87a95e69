"""Values of the methods that move through the session's tree."""

from typing import NotRequired

from rpc_agent.protocol.entries import AnyEntry
from rpc_agent.protocol.runs import LeafGuardParams
from rpc_agent.protocol.wire_model import SessionResult


class NavigateTreeParams(LeafGuardParams):
    """Where to go, and what to take along."""

    target_id: str | None
    """The entry to go to. A user message or custom_message: to the place before it, with its text as editorText.
    Null: before the first entry."""
    summarize: bool | None = None
    """True: summarise the branch that is left, and put the summary at the new place."""
    custom_instructions: str | None = None
    """What the summary shall pay attention to."""
    replace_instructions: bool | None = None
    """True: customInstructions stand for the built-in instructions instead of following them."""
    label: str | None = None
    """A name for the new place."""


class NavigationResult(SessionResult):
    """Where the session stands now."""

    cancelled: bool
    """True: nothing has changed."""
    aborted: NotRequired[bool]
    """True: cancelled because abort or abort_branch_summary stopped the summary."""
    editorText: NotRequired[str]
    """The text of the user message that was gone back to, to put into the input field."""
    summaryEntry: NotRequired[AnyEntry]
    """The branch_summary entry, when one was made."""
    leafId: str | None
    """The leaf now."""
