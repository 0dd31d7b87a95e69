"""An extension that blocks tool calls: nothing is written to the lock file, and nothing is force-pushed.

    rpc-agent chat --extension guard.py

If this code fails, the call is blocked too: a broken guard lets nobody pass.
"""

from pathlib import PurePath
from typing import Any


def register(api: Any) -> None:
    @api.on("tool_call")
    def guard(event: dict[str, Any]) -> dict[str, Any] | None:
        tool, args = event["toolName"], event["args"]
        if tool in ("write", "edit") and PurePath(args["path"]).name == "uv.lock":
            return {"block": True, "reason": "uv.lock is made by `uv lock`. Run that instead of editing the file."}
        if tool == "bash" and "push" in args["command"] and "--force" in args["command"]:
            return {"block": True, "reason": "No force pushes here. Push to a new branch, and say so."}
        return None
