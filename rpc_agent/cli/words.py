"""The protocol's messages in plain words, for people. Pure: a message in, a sentence out."""

from collections.abc import Callable, Mapping
from typing import Any

Params = Mapping[str, Any]


def tell(method: str, params: Params) -> str:
    """What a notification says."""
    say = _NOTIFICATIONS.get(method)
    return say(params) if say else ""


def tell_request(method: str, params: Params) -> str:
    """What a request asks for."""
    match method:
        case "initialize":
            return f"I am {params.get('clientInfo', {}).get('name')}"
        case "prompt":
            return quoted(params.get("message"))
        case "navigate_tree":
            return f"go to entry {params.get('targetId')}"
    return _REQUESTS.get(method, "")


def tell_result(method: str, result: Params) -> str:
    """What the answer to a request says."""
    match method:
        case "initialize":
            info = result.get("serverInfo", {})
            return f"{info.get('name')} {info.get('version')}, protocol {result.get('protocolVersion')}"
        case "prompt":
            return _prompt_result(result)
        case "new_session" | "open_session" | "get_state":
            return f"session {short(result.get('sessionId'))} in {result.get('cwd')}"
        case "get_messages":
            return counted(len(result.get("messages", [])), "message")
        case "get_context":
            return f"{counted(len(result.get('messages', [])), 'message')}, about {result.get('tokens')} tokens"
        case "compact":
            return shrunk(result)
        case "abort_compaction":
            return "a compaction was running and is stopped" if result.get("aborted") else "none was running"
        case "navigate_tree":
            return f"the leaf is now {result.get('leafId')}"
    return "done"


def _prompt_result(result: Params) -> str:
    if "stopReason" not in result:
        return f"accepted ({result.get('disposition')})"
    if result["stopReason"] == "error":
        return f"failed: {result.get('errorMessage')}"
    return f"settled ({result['stopReason']}), {len(result.get('text', ''))} characters of answer"


def tool_call(params: Params) -> str:
    """A tool call on one line: its name and its arguments."""
    args = ", ".join(f"{name}={_brief(value)}" for name, value in (params.get("args") or {}).items())
    return f"{params.get('toolName')}({args})"


def tool_outcome(params: Params) -> str:
    """Which tool call ended how, on one line."""
    return f"{params.get('toolName')} {outcome_of(params)}"


def outcome_of(params: Params) -> str:
    """How a tool call ended."""
    lines = content_text((params.get("result") or {}).get("content")).splitlines()
    if params.get("isError"):
        return f"failed: {next((line.strip() for line in lines if line.strip()), 'without a word')}"
    return f"gave {counted(len(lines), 'line')} in {params.get('durationMs', 0)} ms"


def shrunk(result: Params) -> str:
    """What a compaction achieved."""
    before, after = result.get("tokensBefore", 0), result.get("estimatedTokensAfter", 0)
    return f"a context of {tokens(before)} tokens became {tokens(after)}"


def became_summary(result: Params) -> str:
    """What a compaction replaced by what."""
    before, after = result.get("tokensBefore", 0), result.get("estimatedTokensAfter", 0)
    # The result does not count the summary by itself; four characters a token are near enough for a word to a person.
    summary = min(after, -(-len(result["summary"]) // 4)) if result.get("summary") else after
    kept = after - summary
    rest = f", and {tokens(kept)} stay as they were" if kept >= 100 else ""
    return f"{tokens(before)} tokens became a summary of {tokens(summary)}{rest}"


def tokens(count: int | None) -> str:
    if count is None:
        return "an unknown number of"
    for size, unit in ((1_000_000, "M"), (1000, "k")):
        if count >= size:
            return (
                f"{count / size:.0f}{unit}" if count >= 10 * size else f"{count / size:.1f}".removesuffix(".0") + unit
            )
    return str(count)


def content_text(content: object) -> str:
    """The text of a message's content, be it a string or blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(b.get("text", "")) for b in blocks if isinstance(b, dict) and b.get("type") == "text")


def message_words(message: Params) -> str:
    """Who says a message, and the beginning of what is said."""
    role = str(message.get("role") or "somebody")
    text = content_text(message.get("content")) or str(message.get("summary") or "")
    calls = [b for b in message.get("content") or [] if isinstance(b, dict) and b.get("type") == "toolCall"]
    wants = ", ".join(str(call.get("name")) for call in calls)
    said = quoted(text) if text else (f"asks for {wants}" if wants else "")
    return f"{_ROLES.get(role, role)}: {said}" if said else _ROLES.get(role, role)


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def quoted(value: object) -> str:
    text = " ".join(content_text(value).split())
    return f'"{text}"'


def short(identifier: object) -> str:
    """The beginning of an id: enough to tell two apart on a screen."""
    return str(identifier)[:8]


def _brief(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def _usage(params: Params) -> str:
    if params.get("percent") is None:
        return "the size of the context is unknown until the next answer"
    return f"the context holds {tokens(params.get('tokens'))} tokens, {params['percent']:.1f} % of the window"


def _compaction_end(params: Params) -> str:
    match params.get("status"):
        case "completed":
            return shrunk(params.get("result") or {})
        case "cancelled":
            return "stopped; nothing was changed"
    return f"failed, nothing was changed: {params.get('errorMessage')}"


def _progress(params: Params) -> str:
    phase = str(params.get("phase") or "summarising")
    chunk = f", part {params['chunk']} of {params['chunks']}" if params.get("chunks", 1) > 1 else ""
    received = f", {params['receivedChars']} characters so far" if params.get("receivedChars") else ""
    return f"{_PHASES.get(phase, phase)}{chunk}{received}"


def _entry(params: Params) -> str:
    entry = params.get("entry") or {}
    kind = entry.get("customType") or entry.get("type")
    return f"written to the session file: {kind} {entry.get('id')}"


def _update(params: Params) -> str:
    kind = (params.get("assistantMessageEvent") or {}).get("type") or "a piece of the answer"
    return str(kind).replace("_", " ")


def _settled(params: Params) -> str:
    return "everything is done" + (", after an abort" if params.get("aborted") else "")


_ROLES = {"toolResult": "tool result", "compactionSummary": "summary", "branchSummary": "summary of a branch"}

_PHASES = {
    "history": "summarising what was said",
    "turnPrefix": "summarising the beginning of a long turn",
    "merge": "joining the summaries of its parts",
}

_REQUESTS = {
    "new_session": "begin a session in the sample folder",
    "get_state": "how is the session?",
    "get_messages": "what would the model be sent now?",
    "get_context": "what is in the context?",
    "compact": "replace the older part of the context by a summary",
    "abort_compaction": "stop it, leave everything as it was",
    "shutdown": "come to an end",
}

_NOTIFICATIONS: dict[str, Callable[[Params], str]] = {
    "agent_start": lambda _: "the agent begins",
    "agent_end": lambda p: "the agent stops" + (" and will try again" if p.get("willRetry") else ""),
    "agent_settled": _settled,
    "turn_start": lambda _: "a turn begins",
    "turn_end": lambda p: f"the turn ends, {counted(len(p.get('toolResults') or []), 'tool result')}",
    "message_start": lambda p: message_words(p.get("message") or {}),
    "message_update": _update,
    "message_end": lambda p: message_words(p.get("message") or {}),
    "tool_execution_start": tool_call,
    "tool_execution_update": lambda p: f"{p.get('toolName')} goes on",
    "tool_execution_end": tool_outcome,
    "entry_appended": _entry,
    "leaf_changed": lambda p: f"from {p.get('previousLeafId')} to {p.get('leafId')}",
    "session_info_changed": lambda p: (
        f"the session is called {p['name']}" if p.get("name") else "the session has no name"
    ),
    "queue_update": lambda p: (
        f"waiting: {counted(len([*(p.get('steering') or []), *(p.get('followUp') or [])]), 'message')}"
    ),
    "model_changed": lambda p: f"now {(p.get('model') or {}).get('provider')}/{(p.get('model') or {}).get('id')}",
    "thinking_level_changed": lambda p: f"now {p.get('level')}",
    "context_usage_changed": _usage,
    "compaction_start": lambda p: f"compacting ({p.get('reason')})",
    "compaction_progress": _progress,
    "compaction_end": _compaction_end,
    "auto_retry_start": lambda p: f"try {p.get('attempt')} of {p.get('maxAttempts')}: {p.get('errorMessage')}",
    "auto_retry_end": lambda p: "worked" if p.get("success") else f"gave up: {p.get('finalError')}",
    "summarization_retry_scheduled": lambda p: f"the summary failed, trying again: {p.get('errorMessage')}",
    "summarization_retry_attempt_start": lambda p: f"the summary, try {p.get('attempt')}",
    "summarization_retry_finished": lambda p: "the summary " + ("worked" if p.get("success") else "did not work"),
    "branch_summary_start": lambda _: "the branch that is left is being summarised",
    "branch_summary_end": lambda p: "stopped" if p.get("aborted") else str(p.get("errorMessage") or "summarised"),
    "bash_execution_update": lambda p: f"output: {quoted(p.get('delta') or '')}",
    "context_warning": lambda p: f"the context: {p.get('kind')}",
    "extension_error": lambda p: f"{p.get('extension')}: {p.get('error')}",
}
