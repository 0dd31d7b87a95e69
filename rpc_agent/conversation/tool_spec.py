"""How a tool is declared to a model."""

from typing import Any

from msgspec import Struct

from rpc_agent.conversation.json_values import JsonObject


class ToolSpec(Struct, frozen=True):
    """Name, purpose and JSON Schema of the arguments, as a model is told them."""

    name: str
    description: str
    parameters: dict[str, Any]

    def to_json(self) -> JsonObject:
        return {"name": self.name, "description": self.description, "parameters": self.parameters}
