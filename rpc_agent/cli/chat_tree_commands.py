"""The commands of a chat about the tree: draw and walk it, name its entries, fork. Through the protocol only."""

import sys
from typing import Any

from rpc_agent_client.types import TreeNode

from rpc_agent.cli.chat_sessions import switch
from rpc_agent.cli.chat_tree import UNICODE_RAILS, Rails, TreeLine, draw
from rpc_agent.cli.conversation import Conversation
from rpc_agent.cli.keys import keys_of
from rpc_agent.cli.tree_walk import Walk, begin

_KEYS = "arrows move, Enter go, s go and sum up what is left, l label, f fork, q back"
# Of the screen's height: for the line of keys and the one that was typed.
_OTHER_ROWS = 3


def tree(talk: Conversation, which: str) -> None:
    number, _, rest = which.partition(" ")
    if number:
        line = numbered(talk, number)
        if line is not None:
            _go_with_words(talk, line, rest.strip())
        return
    load(talk)
    if not talk.tree:
        talk.out.line("The session is empty.", "dim")
    elif talk.lines.interactive and talk.out.moves and talk.out.rows > _OTHER_ROWS + 1:
        _walk(talk)
    else:
        _list(talk, talk.tree)
        talk.out.line("/tree N goes to line N; /tree N summarize sums up what is left behind.", "dim")


def label(talk: Conversation, words: str) -> None:
    number, _, text = words.partition(" ")
    if number.isdecimal():
        line = numbered(talk, number)
    else:
        load(talk)
        text, line = words, next((each for each in talk.tree if each.is_leaf), None)
        if line is None:
            talk.out.line("The session is empty.", "dim")
    if line is not None:
        _name(talk, line, text)


def fork(talk: Conversation, number: str) -> None:
    if not number:
        load(talk)
        _list(talk, [line for line in talk.tree if line.is_user])
        talk.out.line("/fork N begins a new session that ends before message N.", "dim")
        return
    line = numbered(talk, number)
    if line is not None:
        _fork(talk, line)


def load(talk: Conversation) -> None:
    """Have the tree as it is now; numbers mean its lines from here on."""
    answer = talk.client.get_tree()
    nodes: list[TreeNode] = answer["nodes"]
    while cursor := answer.get("nextCursor"):
        answer = talk.client.get_tree(cursor=cursor)
        nodes += answer["nodes"]
    talk.tree = draw(nodes, answer["leafId"], UNICODE_RAILS if talk.out.unicode else Rails())


def numbered(talk: Conversation, number: str) -> TreeLine | None:
    """The line with this number; None, and a word about it, when there is none."""
    if number.isdecimal() and 0 < int(number) <= len(talk.tree):
        return talk.tree[int(number) - 1]
    talk.out.line("Type /tree first, then the number of one of its lines.", "bad")
    return None


def _list(talk: Conversation, lines: list[TreeLine]) -> None:
    wanted = {line.entry_id for line in lines}
    for number, line in enumerate(talk.tree, 1):
        if line.entry_id in wanted:
            talk.out.line(talk.out.clipped(f"{number:4} {line.text}"), "bold" if line.is_leaf else "plain")


# Walking.


def _walk(talk: Conversation) -> None:
    walk = _choose(talk, begin(talk.tree, min(len(talk.tree), talk.out.rows - _OTHER_ROWS)))
    line = talk.tree[walk.at]
    match walk.choice:
        case "go":
            _go(talk, line, {})
        case "summarize":
            _go(talk, line, {"summarize": True})
        case "label":
            text = talk.lines.ask(f"Name of line {walk.at + 1} (empty: no name): ")
            if text is not None:
                _name(talk, line, text)
        case "fork":
            _fork(talk, line)


def _choose(talk: Conversation, walk: Walk) -> Walk:
    """Let the person move the cursor; the walk as they left it. What was drawn is taken away again."""
    with keys_of(sys.stdin.fileno()) as keys:
        _draw(talk, walk)
        for key in keys:
            walk = walk.press(key)
            talk.out.erase_lines(walk.rows + 1)
            if walk.choice is not None:
                break
            _draw(talk, walk)
    return walk


def _draw(talk: Conversation, walk: Walk) -> None:
    for number, line in walk.in_sight():
        is_here = number == walk.at + 1
        text = f"{'=>' if is_here else '  '}{number:4} {line.text}"
        talk.out.line(talk.out.clipped(text), "bold" if is_here else "plain")
    talk.out.line(talk.out.clipped(_KEYS), "dim")


# What is done at a line.


def _go_with_words(talk: Conversation, line: TreeLine, words: str) -> None:
    wish, _, hint = words.partition(" ")
    if wish not in ("", "summarize"):
        talk.out.line("/tree N goes to line N; /tree N summarize sums up what is left behind.", "bad")
        return
    params: dict[str, Any] = {"summarize": True} if wish else {}
    _go(talk, line, {**params, "customInstructions": hint.strip()} if hint.strip() else params)


def _go(talk: Conversation, line: TreeLine, params: dict[str, Any]) -> None:
    result = talk.follow("navigate_tree", {"targetId": line.entry_id, **params}, abort="abort_branch_summary")
    if result["cancelled"]:
        talk.out.line("We stay where we were; nothing has changed.", "dim")
        return
    talk.view.usage = talk.client.get_state().get("contextUsage")
    talk.out.line("Here we go on. What was said after this stays in the tree.", "dim")
    talk.lines.suggest(result.get("editorText") or "")


def _name(talk: Conversation, line: TreeLine, text: str) -> None:
    talk.client.request("set_label", {"entryId": line.entry_id, "label": text.strip() or None})
    talk.out.line(f"Its name is {text.strip()} now." if text.strip() else "It has no name now.", "dim")


def _fork(talk: Conversation, line: TreeLine) -> None:
    if not line.is_user:
        talk.out.line("A fork begins before a message of yours; /fork lists them.", "bad")
        return
    state = talk.client.request("fork_session", {"entryId": line.entry_id})
    switch(talk, state)
    talk.lines.suggest(state.get("text") or "")
