"""Runs tools as the agent does: through the registry, in a folder, with an environment of their own."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rpc_agent.conversation.blocks import blocks_text
from rpc_agent.tools.base import ToolContext, ToolResult
from rpc_agent.tools.builtin import builtin_tools
from rpc_agent.tools.registry import ToolRegistry


@dataclass
class Workbench:
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    update: Callable[[ToolResult], None] = lambda partial: None
    registry: ToolRegistry = field(default_factory=lambda: ToolRegistry(builtin_tools()))

    async def run(self, name: str, **arguments: Any) -> ToolResult:
        context = ToolContext(cwd=self.cwd, tool_call_id="call", update=self.update, environment=self.environment)
        return await self.registry.run(
            {"type": "toolCall", "id": "call", "name": name, "arguments": arguments}, context
        )

    async def text(self, name: str, **arguments: Any) -> str:
        """The answer of a call that must succeed."""
        result = await self.run(name, **arguments)
        assert not result.is_error, result
        return blocks_text(result.content)

    async def error(self, name: str, **arguments: Any) -> str:
        """The answer of a call that must fail."""
        result = await self.run(name, **arguments)
        assert result.is_error, result
        return blocks_text(result.content)


def make_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root
