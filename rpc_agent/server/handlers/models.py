"""Methods about which model answers."""

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.conversation.models import Model
from rpc_agent.protocol.models import SetModelParams, SetThinkingLevelParams
from rpc_agent.protocol.wire_model import SessionParams
from rpc_agent.server.dispatch import QuickHandler, Request, Result, SessionHandler


async def get_available_models(request: Request, params: SessionParams) -> Result:
    await request.session.models.look_for_local_servers()
    return {"models": [_to_wire(request, model) for model in request.session.models.available()]}


async def cycle_model(request: Request, params: SessionParams) -> Result:
    model = request.session.choices.cycle_model()
    return {
        "model": _to_wire(request, model) if model else None,
        "thinkingLevel": request.session.models.thinking_level,
    }


async def set_thinking_level(request: Request, params: SetThinkingLevelParams) -> Result:
    request.session.choices.set_thinking_level(params.level)
    return {"level": request.session.models.thinking_level}


async def cycle_thinking_level(request: Request, params: SessionParams) -> Result:
    return {"level": request.session.choices.cycle_thinking_level()}


def get_available_thinking_levels(request: Request, params: SessionParams) -> Result:
    return {"levels": list(request.session.models.thinking_levels())}


async def set_model(request: Request, params: SetModelParams) -> Result:
    return {"model": _to_wire(request, request.session.choices.set_model(params.provider, params.model_id))}


def _to_wire(request: Request, model: Model) -> JsonObject:
    return model.to_json(request.session.context.window_of(model))


SESSION_HANDLERS: dict[str, SessionHandler] = {
    "get_available_models": get_available_models,
    "set_model": set_model,
    "cycle_model": cycle_model,
    "set_thinking_level": set_thinking_level,
    "cycle_thinking_level": cycle_thinking_level,
}
QUICK_HANDLERS: dict[str, QuickHandler] = {"get_available_thinking_levels": get_available_thinking_levels}
