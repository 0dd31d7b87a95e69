"""How a tool is declared to a model."""

from dataclasses import dataclass
from typing import Any

from rpc_agent.conversation.json_values import JsonObject


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """Name, purpose and JSON Schema of the arguments, as a model is told them."""

    name: str
    description: str
    parameters: dict[str, Any]

    def to_json(self) -> JsonObject:
        return {"name": self.name, "description": self.description, "parameters": self.parameters}
