"""Asks the hooks in their order, each within a time limit. A hook that throws, hangs or answers nonsense is reported
and passed over; only a failing `tool_call` hook counts as a refusal, because it may be what keeps a machine safe.
"""

import copy
import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

import anyio
from msgspec import Struct

from rpc_agent.extensions.api import ASKED, Asked, ExtensionApi
from rpc_agent.extensions.calling import call_handler
from rpc_agent.extensions.hooks import BadAnswer, HookName

HOOK_SECONDS = 30.0
"""Long enough for a question to a service, short enough that nobody thinks the agent is dead."""
A = TypeVar("A")
_logger = logging.getLogger(__name__)


class HookFailed(Exception):
    """A source could not answer; the message says why, for people."""


class _Limit:
    """The time that a hook has. It stands still while questions are open; a hook may ask several at once."""

    def __init__(self, scope: anyio.CancelScope) -> None:
        self._scope = scope
        self._questions = 0
        self._left = 0.0

    def stop(self) -> None:
        if not self._questions:
            self._left = self._scope.deadline - anyio.current_time()
            self._scope.deadline = math.inf
        self._questions += 1

    def go_on(self) -> None:
        self._questions -= 1
        if not self._questions:
            self._scope.deadline = anyio.current_time() + self._left


_LIMIT: ContextVar[_Limit | None] = ContextVar("limit", default=None)


@contextmanager
def unhurried() -> Iterator[None]:
    """While a person thinks, the hook that asked them is not out of time."""
    limit = _LIMIT.get()
    if limit is None:
        yield
        return
    limit.stop()
    try:
        yield
    finally:
        limit.go_on()


class HookSource(Protocol):
    """Somebody who may be asked: an extension, or the client."""

    @property
    def name(self) -> str: ...

    def hears(self, hook: HookName) -> bool: ...

    async def ask(self, hook: HookName, event: dict[str, Any]) -> object:
        """The answer, unchecked. May raise anything."""
        ...


class PythonExtension:
    """A HookSource made of an extension's handlers; the last one that answers counts.

    `asked` is what the extension may learn of the session it is asked for.
    """

    def __init__(self, api: ExtensionApi, asked: Asked | None = None) -> None:
        self._api = api
        self._asked = asked

    @property
    def name(self) -> str:
        return self._api.name

    def hears(self, hook: HookName) -> bool:
        return hook in self._api.handlers

    async def ask(self, hook: HookName, event: dict[str, Any]) -> object:
        answer: object = None
        token = ASKED.set(self._asked)
        try:
            for handler in self._api.handlers.get(hook, ()):
                # A copy each: what a handler does to its event is its own affair.
                given = await call_handler(handler, copy.deepcopy(event))
                answer = answer if given is None else given
        finally:
            ASKED.reset(token)
        return answer


class HookFault(Struct, frozen=True):
    """A hook that failed; `error` is for people and says nothing of our insides."""

    extension: str
    hook: HookName
    error: str


class Answered(Struct, frozen=True):
    """What one source said, read; `fault` is set when it failed, and then `value` is None."""

    source: str
    value: Any
    fault: HookFault | None = None


class HookRunner:
    """`report` hears of every fault, once."""

    def __init__(
        self,
        sources: Callable[[], Sequence[HookSource]],
        report: Callable[[HookFault], None],
        *,
        seconds: float = HOOK_SECONDS,
    ) -> None:
        self._sources = sources
        self._report = report
        self._seconds = seconds

    def is_heard(self, hook: HookName) -> bool:
        """Whether anybody hears this hook, so that its event is worth making."""
        return any(source.hears(hook) for source in self._sources())

    async def ask_each(
        self,
        hook: HookName,
        event: Mapping[str, Any],
        read: Callable[[object], A | None],
        *,
        ends: Callable[[A], bool] = lambda answer: False,
    ) -> Sequence[A]:
        """Everybody's answers to the same event, in order, without the silent; none is asked after one that `ends`."""
        answers: list[A] = []
        for source in self._sources():
            answered = await self._ask(source, hook, dict(event), read)
            if answered is not None and answered.value is not None:
                answers.append(answered.value)
                if ends(answered.value):
                    break
        return answers

    async def first(self, hook: HookName, event: Mapping[str, Any], read: Callable[[object], A | None]) -> A | None:
        """The first answer; those behind it are not asked."""
        answers = await self.ask_each(hook, event, read, ends=lambda answer: True)
        return answers[0] if answers else None

    async def chain(
        self,
        hook: HookName,
        event: Mapping[str, Any],
        read: Callable[[object], A | None],
        apply: Callable[[dict[str, Any], A], dict[str, Any] | None],
        *,
        on_fault: Callable[[HookFault], A] | None = None,
    ) -> dict[str, Any]:
        """The event after everybody changed it in turn; `apply` returns None to stop at this answer.

        `on_fault` gives the answer that a failing source counts as.
        """
        current = dict(event)
        for source in self._sources():
            answered = await self._ask(source, hook, dict(current), read)
            if answered is None:
                continue
            value = answered.value
            if answered.fault is not None and on_fault is not None:
                value = on_fault(answered.fault)
            if value is None:
                continue
            changed = apply(current, value)
            if changed is None:
                break
            current = changed
        return current

    async def tell(self, hook: HookName, event: Mapping[str, Any]) -> None:
        """Everybody hears it; answers do not matter."""
        for source in self._sources():
            await self._ask(source, hook, dict(event), lambda answer: None)

    async def _ask(
        self, source: HookSource, hook: HookName, event: dict[str, Any], read: Callable[[object], A | None]
    ) -> Answered | None:
        if not source.hears(hook):
            return None
        try:
            with anyio.move_on_after(self._seconds) as scope:
                token = _LIMIT.set(_Limit(scope))
                try:
                    return Answered(source.name, read(await source.ask(hook, event)))
                finally:
                    _LIMIT.reset(token)
            # Not `fail_after`: a handler that waited in vain for something of its own raises the same error.
            return self._fault(source, hook, f"it did not answer within {self._seconds:g} s")
        except BadAnswer as error:
            return self._fault(source, hook, f"its answer cannot be used: {error}")
        except HookFailed as error:
            return self._fault(source, hook, str(error))
        except Exception as error:
            # The extension boundary: somebody else's code, whatever it does, does not end the run.
            _logger.exception("the hook %s of %s failed", hook, source.name)
            return self._fault(source, hook, f"it failed: {type(error).__name__}: {error}")

    def _fault(self, source: HookSource, hook: HookName, error: str) -> Answered:
        fault = HookFault(source.name, hook, error)
        self._report(fault)
        return Answered(source.name, None, fault)
