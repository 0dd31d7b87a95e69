"""What a live session is made of, what a client may switch in it, and a snapshot of it. Values; nothing works here."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from rpc_agent.conversation.models import Model
from rpc_agent.permissions.rules import Mode as PermissionMode
from rpc_agent.resources.commands import Command
from rpc_agent.runtime.auto_compaction import AutoCompaction
from rpc_agent.runtime.broadcast import Broadcast
from rpc_agent.runtime.compactor import Compactor
from rpc_agent.runtime.model_choice import ModelChoice
from rpc_agent.runtime.model_context import ContextUsage, ModelContext
from rpc_agent.runtime.navigator import Navigator
from rpc_agent.runtime.run_control import RunControl
from rpc_agent.runtime.session_hooks import SessionHooks
from rpc_agent.runtime.session_log import SessionLog
from rpc_agent.runtime.session_settings import SessionSettings
from rpc_agent.runtime.user_shell import UserShell


class SessionState(Struct, frozen=True):
    """A snapshot.

    `message_count` counts the messages of the context, `pending_message_count` those in the queues.
    """

    session_id: str
    stream_id: str
    session_file: Path | None
    session_name: str | None
    cwd: Path
    leaf_id: str | None
    model: Model | None
    thinking_level: str
    is_streaming: bool
    is_compacting: bool
    is_navigating: bool
    steering_mode: str
    follow_up_mode: str
    auto_compaction_enabled: bool
    auto_retry_enabled: bool
    message_count: int
    pending_message_count: int
    context_usage: ContextUsage | None
    read_only: bool
    permissions: str


class Switches(Struct):
    """What a client may change for this session alone, while it is open."""

    auto_compaction: bool
    auto_retry: bool
    permissions: PermissionMode


class SessionParts(Struct, frozen=True, kw_only=True):
    log: SessionLog
    models: ModelChoice
    context: ModelContext
    runs: RunControl
    compactor: Compactor
    navigator: Navigator
    shell: UserShell
    auto_compaction: AutoCompaction
    settings: SessionSettings
    commands: Sequence[Command]
    hooks: SessionHooks
    broadcast: Broadcast
    cwd: Path
    switches: Switches
