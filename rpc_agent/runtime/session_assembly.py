"""Puts a live session together from a store and the process's services. Wiring only: nothing here decides or works."""

import functools
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from rpc_agent.agent.abort import Abort
from rpc_agent.agent.inbox import Inbox
from rpc_agent.agent.loop import Machinery
from rpc_agent.agent.retry import RetryPolicy
from rpc_agent.context.system_prompt import ContextFile, PromptInputs, Skill, prompt_sections
from rpc_agent.context.token_classes import token_rule
from rpc_agent.conversation.models import Model
from rpc_agent.errors import InvalidValue
from rpc_agent.permissions.environment import child_environment
from rpc_agent.permissions.rules import Mode
from rpc_agent.providers.base import ChatModel
from rpc_agent.providers.catalog import Catalog, Choice
from rpc_agent.resources.context_files import read_context_files
from rpc_agent.runtime.auto_compaction import AutoCompaction
from rpc_agent.runtime.broadcast import Broadcast
from rpc_agent.runtime.compaction_hooks import CompactionHooks
from rpc_agent.runtime.compactor import Compactor
from rpc_agent.runtime.exchanges import Exchanges
from rpc_agent.runtime.gate import PermissionGate
from rpc_agent.runtime.lent import ClientEditor, ClientPerson, lent_tools
from rpc_agent.runtime.live_session import LiveSession
from rpc_agent.runtime.model_choice import ModelChoice
from rpc_agent.runtime.model_context import ModelContext
from rpc_agent.runtime.navigator import Navigator
from rpc_agent.runtime.run import Run
from rpc_agent.runtime.run_control import RunControl
from rpc_agent.runtime.run_hooks import RunHooks
from rpc_agent.runtime.services import Services
from rpc_agent.runtime.session_history import SessionHistory
from rpc_agent.runtime.session_hooks import SessionHooks
from rpc_agent.runtime.session_log import SessionLog
from rpc_agent.runtime.session_parts import SessionParts, Switches
from rpc_agent.runtime.session_settings import SessionSettings
from rpc_agent.runtime.summary_call import SummaryCaller
from rpc_agent.runtime.toolbox import SessionToolbox
from rpc_agent.runtime.user_shell import UserShell
from rpc_agent.session.entries import CompactionEntry
from rpc_agent.settings import CompactionSettings, Settings
from rpc_agent.storage.session_store import SessionStore
from rpc_agent.tools.base import Tool
from rpc_agent.tools.builtin import builtin_tools
from rpc_agent.tools.history import HISTORY, history_tool
from rpc_agent.tools.registry import ToolRegistry

_logger = logging.getLogger(__name__)


class SessionWishes(Struct, frozen=True, kw_only=True):
    """What the maker of a session asked for, beside the settings."""

    choice: Choice | None
    thinking_level: str
    tools: Sequence[str] | None = None
    system_prompt: str | None = None
    workspace_is_claimed: bool = False
    """A file of unknown origin says where it worked; that makes no folder one in which edits run unasked."""


def assemble(
    store: SessionStore,
    wishes: SessionWishes,
    *,
    cwd: Path,
    settings: Settings,
    catalog: Catalog,
    services: Services,
) -> LiveSession:
    return _Assembly(store, wishes, cwd, settings, catalog, services).session()


class _Assembly:
    """The parts while they are being connected."""

    def __init__(
        self,
        store: SessionStore,
        wishes: SessionWishes,
        cwd: Path,
        settings: Settings,
        catalog: Catalog,
        services: Services,
    ) -> None:
        self.wishes = wishes
        self.cwd = cwd
        self.held = SessionSettings(services, cwd, settings)
        self.services = services
        self.identity = services.identity
        self.broadcast = Broadcast()
        self.emit = self.broadcast.emit
        self.switches = Switches(
            auto_compaction=settings.compaction.enabled,
            auto_retry=settings.retry.enabled,
            permissions=self._mode(settings),
        )
        self.log = SessionLog(store, self.emit)
        self.models = ModelChoice(catalog, wishes.choice, thinking_level=wishes.thinking_level)
        self.environment = child_environment(services.environment, catalog.secret_variables(), settings.shell.pass_env)
        self.commands = services.commands(cwd)
        self.hooks = self._hooks()
        self.compaction_hooks = CompactionHooks(self.hooks, self.log, self.models)
        self.toolbox = self._toolbox()
        self.context = self._context(store.session_id)
        self.run_hooks = RunHooks(
            self.hooks, self.compaction_hooks, self.log, self.context, now_ms=self.identity.now_ms
        )
        self.inbox = Inbox(settings.steering_mode, settings.follow_up_mode)
        self.exchanges = Exchanges()
        self.shell = UserShell(
            self.log,
            cwd=cwd,
            environment=self.environment,
            shell=lambda: self.settings.shell.path,
            is_running=lambda: self.broadcast.run_id is not None,
            now_ms=self.identity.now_ms,
            emit=self.emit,
        )

    @property
    def settings(self) -> Settings:
        return self.held.current

    def _mode(self, settings: Settings) -> Mode:
        mode = settings.permissions.mode or ("ask" if self.services.client.answers_permissions else "read-only")
        return "ask" if mode == "workspace" and self.wishes.workspace_is_claimed else mode

    def session(self) -> LiveSession:
        compactor = Compactor(
            self.log,
            self.models,
            self.context,
            settings=self._compaction_settings,
            make_caller=self._caller,
            identity=self.identity,
            hooks=self.compaction_hooks,
            emit=self.emit,
        )
        auto = AutoCompaction(
            compactor,
            self.log,
            self.context,
            self.models,
            settings=self._compaction_settings,
            emit=self.emit,
            fresh_id=lambda: self.identity.draw_id(16),
        )
        runs = RunControl(
            self.inbox,
            self.exchanges,
            lambda: self._run(auto),
            broadcast=self.broadcast,
            spawn=self.services.spawn,
        )
        return LiveSession(
            SessionParts(
                log=self.log,
                models=self.models,
                context=self.context,
                runs=runs,
                compactor=compactor,
                navigator=self._navigator(),
                broadcast=self.broadcast,
                shell=self.shell,
                auto_compaction=auto,
                settings=self.held,
                commands=self.commands,
                hooks=self.hooks,
                cwd=self.cwd,
                switches=self.switches,
            )
        )

    def _hooks(self) -> SessionHooks:
        found = self.services.extensions_for(self.cwd)
        session_id, client = self.log.store.session_id, self.services.client
        return SessionHooks(
            found.extensions,
            client,
            session_id,
            self.emit,
            person=ClientPerson(client, session_id),
            unloaded=found.faults,
        )

    def _toolbox(self) -> SessionToolbox:
        settings = self.settings
        gate = PermissionGate(
            lambda: self.switches.permissions,
            settings.permissions.rules,
            client=self.services.client,
            session_id=self.log.store.session_id,
            config_dir=self.services.launch.config_dir,
            environment=self.environment,
        )
        tools = builtin_tools(
            shell=settings.shell.path,
            private_folders=[self.services.launch.config_dir],
            is_denied=lambda tool, path: gate.is_denied(tool, path, self.cwd),
        )
        chosen = self._chosen(tools)
        if chosen:
            # Whoever allows a tool at all allows the session to read itself.
            chosen.append(history_tool(SessionHistory(self.log.store, self.environment)))
        return SessionToolbox(
            ToolRegistry(chosen),
            gate,
            cwd=self.cwd,
            environment=self.environment,
            hooks=self.hooks,
            lent=lambda: lent_tools(self.services.client, self.log.store.session_id),
            editor=ClientEditor(self.services.client),
            is_offered=lambda name: name != HISTORY or self._is_compacted(),
        )

    def _chosen(self, tools: Sequence[Tool]) -> list[Tool]:
        """Raises InvalidValue for the name of no tool in what was asked for; one in the settings is warned of: it may
        be of a later version."""
        asked, settings = self.wishes.tools, self.settings.tools
        wanted = asked if asked is not None else settings
        if wanted is None:
            return list(tools)
        known = [tool.spec.name for tool in (*tools, *lent_tools(self.services.client, self.log.store.session_id))]
        for place, name in enumerate(wanted):
            if name in (*known, HISTORY):
                continue
            if asked is not None:
                raise InvalidValue(f"tools.{place}", f"there is no tool {name!r}; there are {', '.join(known)}")
            _tell_of_unknown_tool(name)
        return [tool for tool in tools if tool.spec.name in wanted]

    def _is_compacted(self) -> bool:
        """Whether the context begins with a summary, so that there is something to look up."""
        entries = self.log.projection.entries
        return bool(entries) and isinstance(entries[0], CompactionEntry)

    def _context(self, session_id: str) -> ModelContext:
        files = self._context_files()
        inputs = PromptInputs(
            cwd=str(self.cwd),
            context_files=files,
            skills=[
                Skill(each.name, each.description, str(each.path)) for each in self.commands if each.source == "skill"
            ],
            preamble=self.wishes.system_prompt,
        )
        return ModelContext(
            self.log,
            self.models,
            self.toolbox,
            rule=token_rule(self.settings.tokens_estimate),
            images_blocked=self.settings.images_block,
            sections=lambda: prompt_sections(replace(inputs, tools=self.toolbox.specs)),
            routing_id=session_id,
            now_ms=self.identity.now_ms,
            emit=self.emit,
        )

    def _context_files(self) -> Sequence[ContextFile]:
        launch = self.services.launch
        if not launch.context_files:
            return ()
        found = read_context_files(self.cwd, launch.config_dir)
        for sentence in found.unreadable:
            _logger.warning("a context file was left out: %s", sentence)
        return [ContextFile(str(file.path), file.text) for file in found.files]

    def _navigator(self) -> Navigator:
        return Navigator(
            self.log,
            self.models,
            self.context,
            make_caller=lambda: self._caller(*self.models.require(), lambda count: None, None),
            reserve_tokens=lambda: self.settings.branch_summary_reserve_tokens,
            hooks=self.hooks,
            emit=self.emit,
        )

    def _caller(
        self, model: Model, chat_model: ChatModel, received: Callable[[int], None], compaction_id: str | None
    ) -> SummaryCaller:
        return SummaryCaller(
            model,
            chat_model,
            thinking_level=self.models.thinking_level,
            retry_policy=self._retry_policy(),
            fresh_id=self.identity.session_id,
            now_ms=self.identity.now_ms,
            emit=self.emit,
            received=received,
            compaction_id=compaction_id,
        )

    def _run(self, auto: AutoCompaction) -> Run:
        self.models.require()
        return Run(
            self.identity.draw_id(16),
            log=self.log,
            context=self.context,
            compaction=auto,
            hooks=self.run_hooks,
            machinery=Machinery(
                toolbox=self.toolbox,
                abort=Abort(),
                emit=self.emit,
                drained=self.broadcast.drained,
                now_ms=self.identity.now_ms,
            ),
            inbox=self.inbox,
            exchanges=self.exchanges,
            retry_policy=self._retry_policy,
            emit=self.emit,
            before_turn_end=self.shell.flush,
        )

    def _retry_policy(self) -> RetryPolicy:
        retry = self.settings.retry
        return RetryPolicy(
            enabled=self.switches.auto_retry,
            max_retries=retry.max_retries,
            base_delay_ms=retry.base_delay_ms,
            max_delay_ms=retry.max_delay_ms,
        )

    def _compaction_settings(self) -> CompactionSettings:
        model = self.models.model
        settings = self.settings.compaction_settings(model.ref if model else "")
        if settings.enabled == self.switches.auto_compaction:
            return settings
        return replace(settings, enabled=self.switches.auto_compaction)


@functools.lru_cache
def _tell_of_unknown_tool(name: str) -> None:
    """Once: each session has the same settings."""
    _logger.warning("the setting tools names %r, and there is no such tool", name)
