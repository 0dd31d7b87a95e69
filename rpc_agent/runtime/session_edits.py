"""What a client writes on a session beside talking: its name, labels, edits of the context. Each is one entry."""

from rpc_agent.context.projection import is_editable
from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.errors import EntryNotOnBranch, NotEditable
from rpc_agent.runtime.broadcast import Broadcast
from rpc_agent.runtime.events import SessionInfoChanged
from rpc_agent.runtime.session_log import SessionLog
from rpc_agent.session.names import clean_name


class SessionEdits:
    """All of them raise SessionReadOnly and StorageFailed."""

    def __init__(self, log: SessionLog, broadcast: Broadcast) -> None:
        self._log = log
        self._broadcast = broadcast

    def set_name(self, name: str) -> None:
        """Empty clears the name."""
        self._log.require_writable()
        self._log.append("session_info", {"name": clean_name(name)})
        self._broadcast.emit(SessionInfoChanged(self._log.store.session_name))

    def set_label(self, target_id: str, label: str | None) -> str:
        """Label an entry, or take its label away; returns the id of the label's own entry. Raises EntryNotFound."""
        self._log.require_writable()
        self._log.store.get(target_id)
        fields = {"targetId": target_id} if label is None else {"targetId": target_id, "label": label}
        return self._log.append("label", fields).id

    def edit_context(self, target_id: str, replacement: JsonObject | None) -> str:
        """Leave a message out of the context (None), or replace its content; returns the edit's entry id.

        Raises EntryNotFound, EntryNotOnBranch, NotEditable.
        """
        self._log.require_writable()
        target = self._log.store.get(target_id)
        if not self._log.store.is_on_branch(target.id):
            raise EntryNotOnBranch(target_id)
        if not is_editable(target):
            raise NotEditable(
                "Only messages of the user, the model, tools and extensions can be edited.", entryId=target_id
            )
        return self._log.append("context_edit", {"targetId": target_id, "replacement": replacement}).id
