"""Commands that the user runs beside the model (`bash`): run at once, and told to the model in its turn.

During a run the record waits for the end of the turn: between a tool call and its result nothing may stand.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import anyio

from rpc_agent.conversation.messages import BashExecutionMessage
from rpc_agent.errors import InvalidValue, RequestError
from rpc_agent.runtime.events import BashExecutionUpdate, SessionEvent
from rpc_agent.runtime.session_log import SessionLog
from rpc_agent.tools.command import CommandNotStarted, CommandOutcome, run_command

RequestId = str | int | float | None


class UserShell:
    """`is_running` says whether a run is at work, so that records have to wait."""

    def __init__(
        self,
        log: SessionLog,
        *,
        cwd: Path,
        environment: Mapping[str, str],
        shell: Callable[[], str | None],
        is_running: Callable[[], bool],
        now_ms: Callable[[], int],
        emit: Callable[[SessionEvent], None],
    ) -> None:
        self._log = log
        self._cwd = cwd
        self._environment = environment
        self._shell = shell
        self._is_running = is_running
        self._now_ms = now_ms
        self._emit = emit
        self._stops: set[anyio.Event] = set()
        self._idle = anyio.Event()
        self._waiting: list[BashExecutionMessage] = []

    async def run(
        self, command: str, *, exclude_from_context: bool, timeout: float | None, request_id: RequestId
    ) -> CommandOutcome:
        """`timeout` is in seconds. Raises InvalidValue when it cannot be started, by what is wrong with it."""
        stop = anyio.Event()
        self._stops.add(stop)
        try:
            return await self._run(command, exclude_from_context, timeout, request_id, stop)
        except CommandNotStarted as refusal:
            if refusal.fault is None:
                raise RequestError(str(refusal)) from refusal
            raise InvalidValue(refusal.fault, str(refusal)) from refusal
        finally:
            self._stops.discard(stop)
            if not self._stops:
                self._idle.set()
                self._idle = anyio.Event()

    async def _run(
        self, command: str, exclude_from_context: bool, timeout: float | None, request_id: RequestId, stop: anyio.Event
    ) -> CommandOutcome:
        outcome = await run_command(
            command,
            cwd=self._cwd,
            environment=self._environment,
            shell=self._shell(),
            timeout=timeout,
            on_output=lambda text: self._emit(BashExecutionUpdate(text, request_id)),
            stop=stop,
        )
        self._waiting.append(self._message(command, outcome, exclude_from_context))
        if not self._is_running():
            self.flush()
        return outcome

    def abort(self) -> bool:
        """Stop every command; False when there is none."""
        stopped = bool(self._stops)
        for stop in self._stops:
            stop.set()
        return stopped

    async def idle(self) -> None:
        """Returns when no command runs, and what ran is recorded or waits for the turn's end."""
        while self._stops:
            await self._idle.wait()

    def cancel(self) -> None:
        self.abort()

    def flush(self) -> None:
        """Record what waits: called where the conversation may take it. Raises StorageFailed; what is left waits on."""
        while self._waiting:
            self._log.append("message", {"message": self._waiting[0]})
            del self._waiting[0]

    def _message(self, command: str, outcome: CommandOutcome, exclude: bool) -> BashExecutionMessage:
        message: BashExecutionMessage = {
            "role": "bashExecution",
            "command": command,
            "output": outcome.output,
            "exitCode": outcome.exit_code,
            "cancelled": outcome.cancelled or outcome.timed_out,
            "truncated": outcome.truncated,
            "timestamp": self._now_ms(),
        }
        if outcome.full_output_path is not None:
            message["fullOutputPath"] = outcome.full_output_path
        if exclude:
            message["excludeFromContext"] = True
        return message
