"""Drive an rpc-agent server from Python. `Client` for asyncio, `SyncClient` for everything else."""

from rpc_agent_client.client import DEFAULT_COMMAND, Client, CloseLimits
from rpc_agent_client.connection import ANY, Call
from rpc_agent_client.errors import (
    CannotStart,
    ClientError,
    ConnectionClosed,
    FellBehind,
    MessageTooLarge,
    ProtocolViolation,
    RequestTimedOut,
    RpcError,
    ServerExited,
)
from rpc_agent_client.messages import JsonObject, Notification
from rpc_agent_client.subscription import Subscription
from rpc_agent_client.sync import SyncCall, SyncClient, SyncSubscription

__version__ = "0.1.0"

__all__ = [
    "ANY",
    "DEFAULT_COMMAND",
    "Call",
    "CannotStart",
    "Client",
    "ClientError",
    "CloseLimits",
    "ConnectionClosed",
    "FellBehind",
    "JsonObject",
    "MessageTooLarge",
    "Notification",
    "ProtocolViolation",
    "RequestTimedOut",
    "RpcError",
    "ServerExited",
    "Subscription",
    "SyncCall",
    "SyncClient",
    "SyncSubscription",
]
