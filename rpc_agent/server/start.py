"""The way to the first answer: with json alone, before asyncio is imported; then the event loop, behind it the engine.

Each phase imports what the next one needs while nobody waits for it.
"""

from collections.abc import Callable

from rpc_agent.platform.held_signals import hold_ending_signals
from rpc_agent.rpc.descriptors import claim_stdio
from rpc_agent.rpc.framing import AutoDecoder
from rpc_agent.rpc.opening import Opening, answer_early
from rpc_agent.server.handshake import make_handshake
from rpc_agent.server.options import ServeOptions


def serve(options: ServeOptions, *, begin_log: Callable[[], None]) -> int:
    """Serve until the end; the exit code. `begin_log` is called when the first answer is out, as logging is heavy."""
    # Whoever has an answer may tell us to end, and that must not be lost until the event loop is there.
    hold_ending_signals()
    fds = claim_stdio()
    handshake = make_handshake(options)
    opening = Opening(AutoDecoder(max_bytes=options.max_message_bytes, framing=options.framing))
    if options.trace is None:
        opening = answer_early(*fds, opening.decoder, handshake.early_methods())
    begin_log()

    from rpc_agent.server.app import run  # noqa: PLC0415 - asyncio: 30 ms that the first answer must not wait for

    return run(options, fds, handshake, opening)
