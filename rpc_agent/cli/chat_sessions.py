"""The commands of a chat about whole sessions: list, open, begin, name. Through the protocol only."""

from rpc_agent_client import RpcError
from rpc_agent_client.types import State

from rpc_agent.cli.conversation import Conversation
from rpc_agent.cli.local_time import local_time
from rpc_agent.cli.words import counted

_LISTED = 20


def sessions(talk: Conversation, which: str) -> None:
    paths = talk.listed.get("sessions", [])
    if which.isdecimal():
        if 0 < int(which) <= len(paths):
            switch(talk, talk.client.open_session(path=paths[int(which) - 1]))
        else:
            talk.out.line("Type /sessions first, then /sessions with the number of one of its lines.", "bad")
        return
    found = talk.client.request("list_sessions", {"limit": _LISTED, **({"query": which} if which else {})})["sessions"]
    talk.listed["sessions"] = [each["path"] for each in found]
    for number, each in enumerate(found, 1):
        is_current = each["id"] == talk.session_id
        what = " ".join(str(each.get("name") or each.get("firstMessage") or "").split())
        line = f"{number:4} {'>' if is_current else ' '} {local_time(each['modifiedAt'])} {what}"
        talk.out.line(talk.out.clipped(line), "bold" if is_current else "plain")
    talk.out.line("/sessions N opens one." if found else "There are none.", "dim")


def new_session(talk: Conversation, name: str) -> None:
    switch(talk, talk.client.new_session(name=name or None))


def name_session(talk: Conversation, name: str) -> None:
    talk.follow("set_session_name", {"name": name}, abort="abort")


def switch(talk: Conversation, state: State) -> None:
    """Go on in the session of `state`, and let go of the one before."""
    before = talk.session_id
    if before is not None and before != state["sessionId"]:
        talk.client.close_session(session_id=before)
    talk.enter(state)
    for warning in state.get("warnings", []):
        talk.out.line(f"The session's file: {warning['message']}", "note")
    talk.out.line(where_we_are(state), "dim")
    recall(talk, state)


def where_we_are(state: State) -> str:
    called = f"session {state['sessionName']}" if state.get("sessionName") else "a session without a name"
    return f"Now in {called}, {counted(state['messageCount'], 'message')} in the context."


def recall(talk: Conversation, state: State) -> None:
    """Of a session that goes on: what was said last, on a line each."""
    if not state.get("messageCount"):
        return
    try:
        asked = talk.client.request("get_fork_messages", {})["messages"]
        answered = talk.client.request("get_last_assistant_text", {})["text"]
    except RpcError:
        return
    for who, text in (("You", asked[-1]["text"] if asked else None), ("The agent", answered)):
        if text:
            talk.out.line(talk.out.clipped(f"{who}, last: {' '.join(text.split())}"), "dim")
