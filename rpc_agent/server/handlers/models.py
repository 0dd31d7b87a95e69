"""Methods about which model answers."""

from rpc_agent.protocol.models import SetModelParams
from rpc_agent.protocol.wire_model import SessionParams
from rpc_agent.server.dispatch import Request, Result, SessionHandler


async def get_available_models(request: Request, params: SessionParams) -> Result:
    return {"models": [model.to_json() for model in request.session.models.available()]}


async def set_model(request: Request, params: SetModelParams) -> Result:
    return {"model": request.session.set_model(params.provider, params.model_id).to_json()}


SESSION_HANDLERS: dict[str, SessionHandler] = {
    "get_available_models": get_available_models,
    "set_model": set_model,
}
