"""Asks a service for its own list of models, which knows its limits best. Reads nothing else and keeps nothing."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import orjson

from rpc_agent.providers.base import ModelCallFailed
from rpc_agent.providers.hidden import without_secrets
from rpc_agent.providers.listing import Listed, read_listing
from rpc_agent.providers.refusal import failed
from rpc_agent.providers.timeouts import Timeouts

if TYPE_CHECKING:
    from rpc_agent.providers.http import Http

_SECONDS = 20.0
"""Between bytes: a list is there at once or not at all."""
_MAX_REFUSAL = 64 * 1024
_MAX_ANSWER = 32 * 1024 * 1024
"""A reseller describes hundreds of models at length; more than this is no list."""


def listing_url(api: str, base_url: str) -> str:
    base = base_url.rstrip("/")
    match api:
        case "anthropic-messages":
            return base.removesuffix("/v1") + "/v1/models?limit=1000"
        case "google-generative-ai":
            return base + "/models?pageSize=1000"
        case _:
            return base + "/models"


async def ask_listing(
    http: "Http", *, provider: str, api: str, base_url: str, headers: Mapping[str, str], secrets: Collection[str]
) -> list[Listed]:
    """`headers` hold the key already; `secrets` are taken out of what a refusal says. Raises ModelCallFailed."""
    from rpc_agent.providers.http import HttpFailed  # noqa: PLC0415 - httpx loads at the first call

    try:
        status, body = await http.read(
            listing_url(api, base_url), headers=headers, timeouts=Timeouts(idle=_SECONDS), most=_MAX_ANSWER
        )
    except HttpFailed as error:
        raise ModelCallFailed(str(error), kind="transport") from None
    if status != 200:
        raise failed(provider, status, without_secrets(body[:_MAX_REFUSAL].decode("utf-8", "replace"), secrets))
    try:
        return read_listing(orjson.loads(body))
    except orjson.JSONDecodeError:
        raise ModelCallFailed(f"{provider} answered its list of models with something else", kind="other") from None
