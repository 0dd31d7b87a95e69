"""Methods that talk to the model: prompt, steer, abort and what waits for them."""

from typing import Any

from rpc_agent.conversation.blocks import ImageBlock, UserBlock, text_block
from rpc_agent.errors import InvalidValue
from rpc_agent.protocol.runs import BashParams, EnabledParams, MessageParams, PromptParams, SetQueueModeParams
from rpc_agent.protocol.wire_model import SessionParams
from rpc_agent.rpc.errors import request_cancelled
from rpc_agent.runtime.exchanges import Exchange
from rpc_agent.runtime.run import RunLimits
from rpc_agent.runtime.run_control import Accepted, Behavior
from rpc_agent.server.dispatch import Later, QuickHandler, Request, Result, SessionHandler
from rpc_agent.server.error_mapping import CODES, failure_code


async def prompt(request: Request, params: PromptParams) -> Result | Later:
    _expect_leaf(request, params)
    content = await _screened(request, params, params.streaming_behavior)
    if content is None:
        return {"disposition": "handled", **({"stopReason": "stop", "text": ""} if params.wait else {})}
    _expect_leaf(request, params)
    accepted = request.session.prompt(
        content,
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


def _expect_leaf(request: Request, params: PromptParams) -> None:
    if params.checks_leaf:
        request.session.expect_leaf(params.expected_leaf_id)


async def _screened(request: Request, params: MessageParams, behavior: Behavior | None) -> str | list[UserBlock] | None:
    """The message after the `input` hooks, None when one of them handled it."""
    content = await request.session.screen(user_content(params), behavior=behavior)
    # A prompt that does not wait in line may find its session closed when the hooks have answered.
    request.connection.require_open(request.session)
    return content


async def steer(request: Request, params: MessageParams) -> Result:
    return await _queue(request, params, "steer")


async def follow_up(request: Request, params: MessageParams) -> Result:
    return await _queue(request, params, "followUp")


async def _queue(request: Request, params: MessageParams, behavior: Behavior) -> Result:
    content = await _screened(request, params, behavior)
    if content is None:
        return {"disposition": "handled"}
    accepted = request.session.prompt(content, behavior=behavior, limits=RunLimits())
    request.call.after_answer(accepted.begin)
    return {"disposition": accepted.disposition}


async def clear_queue(request: Request, params: SessionParams) -> Result:
    steering, follow_ups = request.session.runs.clear()
    return {"steering": [m.text for m in steering], "followUp": [m.text for m in follow_ups]}


def get_queue(request: Request, params: SessionParams) -> Result:
    inbox = request.session.runs.inbox
    return {
        "steering": [{"text": m.text} for m in inbox.steering],
        "followUp": [{"text": m.text} for m in inbox.follow_ups],
    }


async def set_steering_mode(request: Request, params: SetQueueModeParams) -> Result:
    request.session.runs.inbox.steering_mode = params.mode
    return {}


async def set_follow_up_mode(request: Request, params: SetQueueModeParams) -> Result:
    request.session.runs.inbox.follow_up_mode = params.mode
    return {}


async def continue_run(request: Request, params: SessionParams) -> Result:
    accepted = request.session.continue_run()
    request.call.after_answer(accepted.begin)
    return {"runId": accepted.run_id}


async def abort_retry(request: Request, params: SessionParams) -> Result:
    request.session.runs.abort_retry()
    return {}


async def set_auto_retry(request: Request, params: EnabledParams) -> Result:
    request.session.parts.switches.auto_retry = params.enabled
    return {}


async def bash(request: Request, params: BashParams) -> Result:
    request.session.log.require_writable()
    request.call.on_cancel(request.session.shell.cancel)
    outcome = await request.session.shell.run(
        params.command,
        exclude_from_context=params.exclude_from_context or False,
        timeout=params.timeout,
        request_id=request.call.id,
    )
    path = {} if outcome.full_output_path is None else {"fullOutputPath": outcome.full_output_path}
    return {
        "output": outcome.output,
        "exitCode": outcome.exit_code,
        "cancelled": outcome.cancelled or outcome.timed_out,
        "truncated": outcome.truncated,
        **path,
    }


async def abort_bash(request: Request, params: SessionParams) -> Result:
    request.session.shell.abort()
    return {}


async def abort(request: Request, params: SessionParams) -> Result:
    await request.session.abort()
    return {}


async def wait_for_idle(request: Request, params: SessionParams) -> Result:
    last = await request.session.idle()
    return {"stopReason": last.stop_reason, "text": last.text, "aborted": last.aborted}


def user_content(params: MessageParams) -> str | list[UserBlock]:
    """The message as it is stored: a string where it is one, else blocks, images behind the text.

    Raises InvalidValue for a message without a word or an image.
    """
    if not _says_something(params):
        raise InvalidValue("message", "is empty; give it a text or an image")
    images: list[UserBlock] = [_image(image) for image in params.images or ()]
    if isinstance(params.message, str):
        return [text_block(params.message), *images] if images else params.message
    blocks: list[UserBlock] = [
        text_block(block.text) if block.type == "text" else _image(block) for block in params.message
    ]
    return [*blocks, *images]


def _says_something(params: MessageParams) -> bool:
    if params.images:
        return True
    if isinstance(params.message, str):
        return bool(params.message.strip())
    return any(block.type != "text" or block.text.strip() for block in params.message)


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


def _error(exchange: Exchange) -> dict[str, Any] | None:
    if exchange.failure is not None:
        code, reason = failure_code(exchange.failure)
        return {"code": code, "reason": reason}
    if exchange.error_reason in CODES:
        return {"code": CODES[exchange.error_reason], "reason": exchange.error_reason}
    return None


SESSION_HANDLERS: dict[str, SessionHandler] = {
    "prompt": prompt,
    "steer": steer,
    "follow_up": follow_up,
    "clear_queue": clear_queue,
    "set_steering_mode": set_steering_mode,
    "set_follow_up_mode": set_follow_up_mode,
    "continue_run": continue_run,
    "abort_retry": abort_retry,
    "set_auto_retry": set_auto_retry,
    "bash": bash,
    "abort_bash": abort_bash,
    "abort": abort,
    "wait_for_idle": wait_for_idle,
}
QUICK_HANDLERS: dict[str, QuickHandler] = {"get_queue": get_queue}
