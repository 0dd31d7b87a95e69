"""What an extension written in Python gets: `register(api)` is called once, and `api.on` says what it wants to hear.

    def register(api):
        @api.on("tool_call")
        def no_force_push(event):
            if event["toolName"] == "bash" and "push --force" in event["args"].get("command", ""):
                return {"block": True, "reason": "Force pushes are not allowed here."}

A handler is a function or a coroutine function. It gets a JSON object of its own and answers with one, or with None.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from rpc_agent.extensions.hooks import HOOK_NAMES, HookName

HookHandler = Callable[[dict[str, Any]], Mapping[str, Any] | Awaitable[Mapping[str, Any] | None] | None]
H = TypeVar("H", bound=HookHandler)


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
