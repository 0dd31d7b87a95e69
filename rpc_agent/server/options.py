"""What `serve` was told on the command line. Plain values, so that the first answer waits for no parser's imports."""

from typing import BinaryIO, NamedTuple

from rpc_agent.rpc.framing import DEFAULT_MAX_MESSAGE_BYTES, Framing

MAX_IN_FLIGHT = 1024


class ServeOptions(NamedTuple):
    cwd: str = ""
    """"" is the process's working directory."""
    config_dir: str | None = None
    session_dir: str | None = None
    model: str | None = None
    thinking: str | None = None
    tools: tuple[str, ...] | None = None
    permissions: str | None = None
    session: str | None = None
    continue_latest: bool = False
    ephemeral: bool = False
    context_files: bool = True
    offline: bool = True
    extensions: tuple[str, ...] = ()
    """Python files to load, beside those that are installed or lie in the configuration."""
    framing: Framing | None = None
    """None: the first line decides."""
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    trace: BinaryIO | None = None
    """A file that gets both directions of the traffic."""
