"""A client that answers session_before_tree: it writes the summary of the branch that is left, and labels the place.

python answer_navigation.py
"""

import asyncio
from typing import Any

from rpc_agent_client import Client


def run_hook(params: dict[str, Any]) -> dict[str, Any] | None:
    preparation = params["event"]["preparation"]
    if not preparation["userWantsSummary"]:
        return None
    left = [entry["message"] for entry in preparation["entriesToSummarize"] if entry["type"] == "message"]
    answers = sum(message["role"] == "assistant" for message in left)
    return {
        "summary": {"summary": f"Another attempt stopped after {answers} answers.", "details": {"answers": answers}},
        "label": "tried once",
    }


async def main() -> None:
    async with Client.spawn(["rpc-agent", "serve", "--no-session"]) as client:
        client.handle("run_hook", run_hook)
        await client.initialize(capabilities={"hooks": ["session_before_tree"]})
        for question in ("What files are here?", "What does README.md say?"):
            await client.prompt(question, wait=True)
        questions = (await client.request("get_fork_messages"))["messages"]
        moved = await client.request("navigate_tree", {"targetId": questions[1]["entryId"], "summarize": True})
        print("back to:", moved["editorText"])
        print("remembered:", moved["summaryEntry"]["summary"])


asyncio.run(main())
