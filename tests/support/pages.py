"""What comes in pages, as one."""

from typing import Any

from rpc_agent.rpc.in_memory import InMemoryClient

_MOST_PAGES = 10_000


async def all_pages(
    client: InMemoryClient, method: str, items: str, *, cursor: str = "cursor", timeout: float = 20, **params: Any
) -> list[Any]:
    """The `items` of every page of `method`. `cursor` is the param that the next page is asked for with."""
    found: list[Any] = []
    for _ in range(_MOST_PAGES):
        page = await client.request(method, params, timeout=timeout)
        found += page[items]
        if "nextCursor" not in page:
            return found
        params = {**params, cursor: page["nextCursor"]}
    raise AssertionError("the pages have no end")
