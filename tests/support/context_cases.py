"""Cases of the projection and of compaction: reads a session file and follows its branch, in the fewest lines."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rpc_agent.context.js_json import compact_json
from rpc_agent.context.system_state import render_system
from rpc_agent.context.tokens import SIMPLE, MessageEstimates, estimate_message, utf16_units
from rpc_agent.conversation.messages import Message, message_text
from rpc_agent.session.entries import Entry, read_entry

ROOT = Path(__file__).resolve().parents[2]
CASES = Path(os.environ.get("RPC_AGENT_CASES") or ROOT.parent / "shared" / "cases")
GOLDEN = ROOT / "tests" / "golden" / "context"


def session_folders() -> list[Path]:
    """Our own copies, which stand alone, and the whole collection where it lies beside the checkout."""
    return [folder for folder in (GOLDEN, CASES / "sessions") if folder.is_dir()]


def session_runs(kind: str) -> list[Any]:
    """(file, arguments, expected output) of every run of a kind, as pytest parameters would name them."""
    runs = []
    for folder in session_folders():
        for expected in sorted(folder.glob("*.expected.json")):
            file = folder / expected.name.replace(".expected.json", ".jsonl")
            for run in json.loads(expected.read_text(encoding="utf-8"))["runs"] if file.exists() else ():
                if run["args"][0] == kind:
                    runs.append((file, tuple(run["args"][1:]), run["output"]))
    return runs


def option(args: tuple[str, ...], name: str, default: str | None = None) -> str | None:
    return args[args.index(name) + 1] if name in args else default


def read_path(file: Path, leaf: str | None = None) -> list[Entry]:
    """Root to leaf of a session file; the migrations of versions 1 and 2 in their simplest form."""
    lines = re.split(rb"\r?\n", file.read_bytes())
    records = [record for line in lines if (record := _parsed(line)) is not None]
    version = records[0].get("version", 1)
    raws = [_migrated(raw, index, version) for index, raw in enumerate(records[1:], start=1)]
    entries = {entry.id: entry for raw in raws if (entry := read_entry(raw)) is not None}
    at = leaf or next(reversed(entries), None)
    path: list[Entry] = []
    while at in entries:
        path.append(entries[at])
        at = entries[at].parent_id
    return path[::-1]


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _migrated(raw: dict[str, Any], index: int, version: int) -> dict[str, Any]:
    if version == 1:
        raw |= {"id": f"@{index}", "parentId": f"@{index - 1}" if index > 1 else None}
        if "firstKeptEntryIndex" in raw:
            raw["firstKeptEntryId"] = f"@{raw['firstKeptEntryIndex']}"
    if version < 3 and raw.get("message", {}).get("role") == "hookMessage":
        raw["message"]["role"] = "custom"
    return raw


def described(message: Message, entry_id: str) -> dict[str, Any]:
    """A message as the cases describe it."""
    text = render_system(message) if message["role"] == "system" else message_text(message)
    shown: dict[str, Any] = {
        "role": message["role"],
        "entryId": entry_id,
        "tokens": estimate_message(message, SIMPLE),
        "textLen": utf16_units(text),
        "textSha": _sha(text),
    }
    content = message.get("content", "")
    if isinstance(content, list):
        shown["blocks"] = [_block_name(block) for block in content]
    if message["role"] not in ("branchSummary", "compactionSummary"):
        shown["contentSha"] = _sha(compact_json(content, sort_keys=True))
    if message["role"] == "system":
        shown["sections"] = list(message.get("sections", {}))
        shown["tools"] = [tool["name"] for tool in message.get("toolsAdded", [])]
    return shown


def _block_name(block: Mapping[str, Any]) -> str:
    return f"toolCall:{block['name']}" if block["type"] == "toolCall" else block["type"]


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def simple_estimates() -> MessageEstimates:
    return MessageEstimates(SIMPLE)
