"""`initialize` and `ping`: answered before anything heavy is imported, so this module must stay light.

Not even asyncio may come in here; a test looks at sys.modules.
"""

from collections.abc import Callable
from typing import Any

from rpc_agent import __version__
from rpc_agent.protocol.advertised import CLIENT_REQUEST_NAMES, METHOD_NAMES, NOTIFICATION_NAMES, PROTOCOL_VERSION
from rpc_agent.rpc.envelopes import Early, Params
from rpc_agent.rpc.errors import INVALID_PARAMS, RpcError, invalid_params
from rpc_agent.server.capabilities import ClientCapabilities
from rpc_agent.server.options import MAX_IN_FLIGHT, ServeOptions

_INITIALIZE_PARAMS = frozenset({"protocolVersion", "clientInfo", "processId", "capabilities", "_meta"})


class Handshake:
    """What the client said of itself so far."""

    def __init__(self, *, max_message_bytes: int, max_in_flight: int) -> None:
        self.capabilities = ClientCapabilities()
        self._limits = {"maxMessageBytes": max_message_bytes, "maxInFlight": max_in_flight}
        self._process_id: int | None = None
        self._on_process_id: Callable[[int], None] | None = None

    def hear_process_id(self, listener: Callable[[int], None]) -> None:
        """`listener` is told the client's process id, each time one is given, and at once if one was."""
        self._on_process_id = listener
        if self._process_id is not None:
            listener(self._process_id)

    def early_methods(self) -> dict[str, Early]:
        return {"initialize": self.initialize, "ping": self.ping}

    def initialize(self, params: Params) -> dict[str, Any]:
        """The protocol's initialize. A second one replaces the capabilities; an unknown version gets ours."""
        if isinstance(params, list):
            if params:
                raise invalid_params("", "initialize takes its parameters by name: send an object")
            params = {}
        _refuse_unknown(params, _INITIALIZE_PARAMS)
        process_id = params.get("processId")
        if process_id is not None and (not isinstance(process_id, int) or isinstance(process_id, bool)):
            raise invalid_params("processId", "must be an integer")
        version = params.get("protocolVersion", PROTOCOL_VERSION)
        if not isinstance(version, int | str) or isinstance(version, bool):
            raise invalid_params("protocolVersion", "must be an integer")
        self.capabilities = ClientCapabilities(params.get("capabilities"))
        if process_id is not None:
            self._process_id = process_id
            if self._on_process_id is not None:
                self._on_process_id(process_id)
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "serverInfo": {"name": "rpc-agent", "version": __version__},
            "capabilities": {
                "methods": list(METHOD_NAMES),
                "notifications": list(NOTIFICATION_NAMES),
                "serverRequests": list(CLIENT_REQUEST_NAMES),
            },
            "limits": self._limits,
        }

    def ping(self, params: Params) -> dict[str, Any]:
        if isinstance(params, list) and params:
            raise invalid_params("", "ping takes no parameters")
        _refuse_unknown(params if isinstance(params, dict) else {}, frozenset({"_meta"}))
        return {}


def make_handshake(options: ServeOptions) -> Handshake:
    return Handshake(max_message_bytes=options.max_message_bytes, max_in_flight=MAX_IN_FLIGHT)


def _refuse_unknown(params: dict[str, Any], known: frozenset[str]) -> None:
    errors = [{"path": name, "message": "unknown parameter"} for name in params if name not in known]
    if errors:
        names = ", ".join(error["path"] for error in errors)
        raise RpcError(
            INVALID_PARAMS, f"Invalid params: unknown: {names}", {"reason": "invalidParams", "errors": errors}
        )
