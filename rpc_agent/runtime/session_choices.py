"""What a client chooses for a session while it is open: model, thinking level, settings. Each choice is told."""

from collections.abc import Mapping
from typing import Any

from rpc_agent.conversation.models import Model
from rpc_agent.errors import AuthMissing, ModelNotFound
from rpc_agent.providers.offline.description import OFFLINE_MODEL
from rpc_agent.runtime.events import ModelChanged, ThinkingLevelChanged
from rpc_agent.runtime.session_parts import SessionParts
from rpc_agent.runtime.session_settings import Scope
from rpc_agent.session.branch_state import branch_state


class SessionChoices:
    """Models and levels are entries, so they come back with the session; switches and queue modes are not."""

    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts

    def set_model(self, provider: str, model_id: str) -> Model:
        """Raises ModelNotFound. The choice is an entry, so it comes back with the session."""
        self._parts.log.require_writable()
        return self._use(self._parts.models.find(provider, model_id))

    def cycle_model(self) -> Model | None:
        """The next model that could answer; None when there is no other."""
        self._parts.log.require_writable()
        model = self._parts.models.next_model()
        return None if model is None else self._use(model)

    def _use(self, model: Model) -> Model:
        self._parts.log.append("model_change", {"provider": model.provider, "modelId": model.id})
        self._parts.models.select(model)
        self._announce(model)
        return model

    def _announce(self, model: Model) -> None:
        self._parts.broadcast.emit(ModelChanged(model, self._parts.context.window_of(model)))

    def set_thinking_level(self, level: str) -> None:
        """Raises InvalidValue. A level that the model cannot do becomes the nearest below."""
        self._parts.log.require_writable()
        possible = self._parts.models.nearest_level(level)
        self._parts.log.append("thinking_level_change", {"thinkingLevel": possible})
        self._parts.models.select_thinking(possible)
        self._parts.broadcast.emit(ThinkingLevelChanged(possible))

    def cycle_thinking_level(self) -> str | None:
        """The next level of the model; None when it has only one."""
        level = self._parts.models.next_level()
        if level is not None:
            self.set_thinking_level(level)
        return level

    def update_settings(self, patch: Mapping[str, Any], scope: Scope) -> None:
        """Change settings for this session or in a file; what the session can change at work it takes up at once.

        Raises InvalidValue naming the field, StorageFailed.
        """
        held, switches = self._parts.settings, self._parts.switches
        before = held.current
        held.update(patch, scope)
        now = held.current
        # A switch that the client threw stays as it is unless this very update changes the setting behind it.
        if now.compaction.enabled != before.compaction.enabled:
            switches.auto_compaction = now.compaction.enabled
        if now.retry.enabled != before.retry.enabled:
            switches.auto_retry = now.retry.enabled
        if now.permissions.mode != before.permissions.mode and now.permissions.mode is not None:
            switches.permissions = now.permissions.mode
        self._parts.runs.inbox.steering_mode = now.steering_mode
        self._parts.runs.inbox.follow_up_mode = now.follow_up_mode

    def follow_branch(self) -> None:
        """Take up the model and the thinking level that the branch we are on now was left with.

        A file opened anew gets them from its path; moving about in it must not lead to anything else.
        """
        state = branch_state(self._parts.log.path)
        if state.provider and state.model_id:
            self._follow_model(state.provider, state.model_id)
        level = state.thinking_level
        if level is not None and level != self._parts.models.thinking_level:
            self._parts.models.select_thinking(level)
            self._parts.broadcast.emit(ThinkingLevelChanged(level))

    def _follow_model(self, provider: str, model_id: str) -> None:
        models = self._parts.models
        # Nobody chose the offline model where it answered for want of another: it is not gone back to.
        if provider == OFFLINE_MODEL.provider and models.model is not None:
            return
        try:
            model = models.find(provider, model_id)
            models.chat_model(model)
        except (ModelNotFound, AuthMissing):
            # The file may come from another machine: the session goes on with what there is here.
            return
        if model != models.model:
            models.select(model)
            self._announce(model)
