"""Methods that talk to the model: prompt, steer, abort and what waits for them."""

from typing import Any

from rpc_agent.conversation.blocks import ImageBlock, UserBlock, text_block
from rpc_agent.protocol.runs import MessageParams, PromptParams
from rpc_agent.protocol.wire_model import SessionParams
from rpc_agent.rpc.errors import request_cancelled
from rpc_agent.runtime.exchanges import Exchange
from rpc_agent.runtime.run import RunLimits
from rpc_agent.runtime.run_control import Accepted
from rpc_agent.server.dispatch import Later, Request, Result, SessionHandler
from rpc_agent.server.error_mapping import failure_code


async def prompt(request: Request, params: PromptParams) -> Result | Later:
    if "expected_leaf_id" in params.model_fields_set:
        request.session.expect_leaf(params.expected_leaf_id)
    accepted = request.session.prompt(
        user_content(params),
        behavior=params.streaming_behavior,
        limits=RunLimits(
            max_turns=params.max_turns,
            timeout_s=params.timeout_ms / 1000 if params.timeout_ms is not None else None,
        ),
    )
    if params.wait:
        return _when_settled(request, accepted)
    request.call.after_answer(accepted.begin)
    return _accepted(accepted)


async def abort(request: Request, params: SessionParams) -> Result:
    await request.session.abort()
    return {}


async def wait_for_idle(request: Request, params: SessionParams) -> Result:
    last = await request.session.idle()
    return {"stopReason": last.stop_reason, "text": last.text, "aborted": last.aborted}


def user_content(params: MessageParams) -> str | list[UserBlock]:
    """The message as it is stored: a string where it is one, else blocks, images behind the text."""
    images: list[UserBlock] = [_image(image) for image in params.images or ()]
    if isinstance(params.message, str):
        return [text_block(params.message), *images] if images else params.message
    blocks: list[UserBlock] = [
        text_block(block.text) if block.type == "text" else _image(block) for block in params.message
    ]
    return [*blocks, *images]


def _image(image: Any) -> ImageBlock:
    return {"type": "image", "data": image.data, "mimeType": image.mime_type}


def _accepted(accepted: Accepted) -> dict[str, Any]:
    run_id = {} if accepted.run_id is None else {"runId": accepted.run_id}
    return {"disposition": accepted.disposition, **run_id}


def _when_settled(request: Request, accepted: Accepted) -> Later:
    exchange = accepted.exchange
    exchange.awaited = True
    request.call.on_cancel(lambda: request.session.runs.withdraw(exchange))
    accepted.begin()

    async def wait() -> Result:
        await exchange.settled.wait()
        if exchange.dropped:
            raise request_cancelled()
        run_id = {} if exchange.run_id is None else {"runId": exchange.run_id}
        return {"disposition": accepted.disposition, **run_id, **_outcome(exchange)}

    return Later(wait)


def _outcome(exchange: Exchange) -> dict[str, Any]:
    optional = {
        "usage": exchange.usage,
        "model": exchange.model,
        "errorMessage": exchange.error_message,
        "error": _error(exchange),
    }
    return {
        "stopReason": exchange.stop_reason,
        "text": exchange.text,
        **{name: value for name, value in optional.items() if value is not None},
    }


_REASON_CODES = {"storageFailed": -32019, "contextOverflow": -32034, "internalError": -32603}


def _error(exchange: Exchange) -> dict[str, Any] | None:
    if exchange.failure is not None:
        code, reason = failure_code(exchange.failure)
        return {"code": code, "reason": reason}
    if exchange.error_reason in _REASON_CODES:
        return {"code": _REASON_CODES[exchange.error_reason], "reason": exchange.error_reason}
    return None


SESSION_HANDLERS: dict[str, SessionHandler] = {
    "prompt": prompt,
    "abort": abort,
    "wait_for_idle": wait_for_idle,
}
