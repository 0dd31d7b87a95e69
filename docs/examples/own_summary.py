"""An extension that writes the summary of a compaction itself, so that no model is asked.

    rpc-agent chat --extension own_summary.py

Its summary is a plain list of what was asked and which files were changed: cheap, exact, and the same every time.
"""

from typing import Any


def register(api: Any) -> None:
    @api.on("session_before_compact")
    def summarize(event: dict[str, Any]) -> dict[str, Any]:
        preparation = event["preparation"]
        said = preparation["messagesToSummarize"] + preparation["turnPrefixMessages"]
        asked = [text_of(message) for message in said if message["role"] == "user"]
        changed = sorted({*preparation["fileOps"]["written"], *preparation["fileOps"]["edited"]})
        parts = [preparation["previousSummary"] or "", *(f"- The user asked: {text}" for text in asked)]
        if changed:
            parts.append("Files changed so far: " + ", ".join(changed))
        return {
            "compaction": {
                "summary": "\n".join(part for part in parts if part),
                "firstKeptEntryId": preparation["firstKeptEntryId"],
                "tokensBefore": preparation["tokensBefore"],
                "details": {"questions": len(asked)},
            }
        }


def text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return " ".join(block["text"] for block in content if block["type"] == "text")
