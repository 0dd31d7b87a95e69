"""One line for each node of a tree, however its text begins."""

import pytest

from rpc_agent.server.tree_views import preview
from rpc_agent.session.entries import read_entry


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("read  the\n\tparser", "read the parser"),
        ("word " * 1000, ("word " * 24).rstrip() + " "),
        (" " * 5_000 + "behind a screen of blanks", "behind a screen of blanks"),
        ("a" + " " * 500 + "b" * 500, "a " + "b" * 118),
    ],
)
def test_a_preview_is_the_first_line_of_a_text_without_its_blanks(text: str, line: str) -> None:
    message = {"role": "user", "content": text, "timestamp": 0}
    entry = read_entry({"type": "message", "id": "a", "parentId": None, "timestamp": "", "message": message})
    assert entry is not None
    assert preview(entry) == line
