"""What an extension written in Python gets: `register(api)` is called once, and `api.on` says what it wants to hear.

    def register(api):
        @api.on("tool_call")
        def no_force_push(event):
            if event["toolName"] == "bash" and "push --force" in event["args"].get("command", ""):
                return {"block": True, "reason": "Force pushes are not allowed here."}

A handler is a function, which runs in a thread of its own and may block, or a coroutine function, which runs beside
everything else and must not. It gets a JSON object of its own and answers with one, or with None.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Literal, Protocol, TypeVar

from rpc_agent.extensions.hooks import HOOK_NAMES, HookName

HookHandler = Callable[[dict[str, Any]], Mapping[str, Any] | Awaitable[Mapping[str, Any] | None] | None]
H = TypeVar("H", bound=HookHandler)
NoticeLevel = Literal["info", "warning", "error"]


class Person(Protocol):
    """Whoever sits in front of the client. Nobody there is no error: each question has its safe answer."""

    async def select(self, title: str, options: Sequence[str]) -> str | None: ...
    async def confirm(self, title: str, message: str | None) -> bool: ...
    async def input(self, title: str, placeholder: str | None, value: str | None) -> str | None: ...
    async def notify(self, message: str, level: NoticeLevel) -> None: ...


class Asked:
    """The hook being asked at the moment: in which session, and who can be asked back."""

    def __init__(self, session_id: str, person: Person) -> None:
        self.session_id = session_id
        self.person = person


ASKED: ContextVar[Asked | None] = ContextVar("asked", default=None)
"""Set while a handler runs; a handler of one session must not ask the person in front of another."""


class ExtensionApi:
    """One per extension. `name` is how its faults are reported."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.handlers: dict[HookName, list[HookHandler]] = {}

    def on(self, hook: HookName) -> Callable[[H], H]:
        """Register the decorated handler. Raises ValueError for a hook that does not exist."""
        if hook not in HOOK_NAMES:
            raise ValueError(f"there is no hook {hook!r}; hooks are {', '.join(HOOK_NAMES)}")

        def register(handler: H) -> H:
            self.handlers.setdefault(hook, []).append(handler)
            return handler

        return register

    @property
    def session_id(self) -> str | None:
        """The session whose hook is being asked; None outside a handler."""
        asked = ASKED.get()
        return None if asked is None else asked.session_id

    # Questions to the person, for coroutine handlers. The time they take is not counted against the hook.

    async def ui_select(self, title: str, options: Sequence[str]) -> str | None:
        """One of `options`; None when the question was closed, or nobody can be asked."""
        asked = ASKED.get()
        return None if asked is None else await asked.person.select(title, options)

    async def ui_confirm(self, title: str, message: str | None = None) -> bool:
        """Yes or no; no when the question was closed, or nobody can be asked."""
        asked = ASKED.get()
        return False if asked is None else await asked.person.confirm(title, message)

    async def ui_input(self, title: str, *, placeholder: str | None = None, value: str | None = None) -> str | None:
        """What was typed; None when the question was closed, or nobody can be asked."""
        asked = ASKED.get()
        return None if asked is None else await asked.person.input(title, placeholder, value)

    async def ui_notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Tell the person something; nothing happens where nobody can be told."""
        asked = ASKED.get()
        if asked is not None:
            await asked.person.notify(message, level)
