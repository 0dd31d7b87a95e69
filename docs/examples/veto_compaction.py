"""A client that decides about compactions itself: it vetoes the first one and lets the second one pass.

python veto_compaction.py
"""

import asyncio
from typing import Any

from rpc_agent_client import Client, RpcError


async def main() -> None:
    async with Client.spawn(["rpc-agent", "serve", "--no-session"]) as client:
        is_busy = True

        def run_hook(params: dict[str, Any]) -> dict[str, Any] | None:
            tokens = params["event"]["preparation"]["tokensBefore"]
            print(f"asked about {params['hook']} ({params['event']['reason']}) of {tokens} tokens")
            return {"cancel": True} if is_busy else None  # None: go on as if nobody had been asked

        client.handle("run_hook", run_hook)
        await client.initialize(capabilities={"hooks": ["session_before_compact"]})
        for question in ("What files are here?", "What does README.md say?", "Where is the word heron?"):
            await client.prompt(question, wait=True)
        try:
            await client.request("compact", {"keepRecentTokens": 1})
        except RpcError as error:
            print("vetoed:", error.reason)
        is_busy = False
        result = await client.request("compact", {"keepRecentTokens": 1, "fallback": True})
        print("tokens became", result["estimatedTokensAfter"])


asyncio.run(main())
