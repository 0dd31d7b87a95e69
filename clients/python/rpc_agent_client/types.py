"""The shapes of results, as the protocol names them. A server may send more fields than are listed here."""

from typing import Any, Literal, NotRequired, TypedDict

from rpc_agent_client.messages import JsonObject

ThinkingLevel = str
ContentBlock = JsonObject
"""{"type": "text", "text"} or {"type": "image", "data" (base64), "mimeType"}."""
MessageContent = str | list[ContentBlock]


class ServerInfo(TypedDict):
    name: str
    version: str


class ServerCapabilities(TypedDict):
    methods: list[str]
    notifications: list[str]
    serverRequests: list[str]


class Limits(TypedDict):
    maxMessageBytes: int
    maxInFlight: int


class InitializeResult(TypedDict):
    protocolVersion: int
    serverInfo: ServerInfo
    capabilities: ServerCapabilities
    limits: Limits


class ContextUsage(TypedDict):
    tokens: int | None
    contextWindow: int
    percent: float | None


class Model(TypedDict):
    id: str
    provider: str
    name: NotRequired[str]
    api: NotRequired[str]
    baseUrl: NotRequired[str]
    reasoning: NotRequired[bool]
    input: NotRequired[list[str]]
    contextWindow: NotRequired[int]
    maxTokens: NotRequired[int]
    cost: NotRequired[JsonObject]
    effectiveContextWindow: NotRequired[int]


class SessionWarning(TypedDict):
    kind: str
    message: str
    line: NotRequired[int]


class State(TypedDict):
    sessionId: str
    streamId: str
    cwd: str
    leafId: str | None
    thinkingLevel: ThinkingLevel
    isStreaming: bool
    isCompacting: bool
    isNavigating: bool
    steeringMode: str
    followUpMode: str
    autoCompactionEnabled: bool
    autoRetryEnabled: bool
    messageCount: int
    pendingMessageCount: int
    lastSeq: int
    readOnly: bool
    permissions: str
    sessionFile: NotRequired[str]
    sessionName: NotRequired[str]
    model: NotRequired[Model]
    contextUsage: NotRequired[ContextUsage]
    warnings: NotRequired[list[SessionWarning]]


class RunError(TypedDict):
    code: int
    reason: str


class PromptResult(TypedDict):
    """With `wait`, and then only, the fields from stopReason on."""

    sessionId: str
    disposition: Literal["started", "queued", "handled"]
    runId: NotRequired[str]
    stopReason: NotRequired[str]
    text: NotRequired[str]
    usage: NotRequired[JsonObject]
    model: NotRequired[str]
    errorMessage: NotRequired[str]
    error: NotRequired[RunError]


class IdleResult(TypedDict):
    sessionId: str
    stopReason: str | None
    text: str
    aborted: bool


class CompactionResult(TypedDict):
    sessionId: str
    entryId: str
    summary: str
    firstKeptEntryId: str | None
    tokensBefore: int
    estimatedTokensAfter: int
    details: JsonObject
    usage: NotRequired[JsonObject]


class CompactionPreview(TypedDict):
    sessionId: str
    firstKeptEntryId: str | None
    isSplitTurn: bool
    tokensBefore: int
    estimatedTokensAfter: int
    summarizedEntryIds: list[str]
    keptEntryIds: list[str]
    hasPreviousSummary: bool
    files: JsonObject
    turnStartEntryId: NotRequired[str]


class Aborted(TypedDict):
    sessionId: str
    aborted: bool


class NavigateResult(TypedDict):
    sessionId: str
    cancelled: bool
    leafId: str | None
    aborted: NotRequired[bool]
    editorText: NotRequired[str]
    summaryEntry: NotRequired[JsonObject]


class LeafResult(TypedDict):
    sessionId: str
    leafId: str | None
    previousLeafId: str | None


class ContextMessage(TypedDict):
    entryId: str
    message: JsonObject
    tokens: int


class Context(TypedDict):
    sessionId: str
    messages: list[ContextMessage]
    tokens: int
    contextWindow: int
    thresholdTokens: int
    percent: float | None


class Entries(TypedDict):
    sessionId: str
    entries: list[JsonObject]
    leafId: str | None
    nextCursor: NotRequired[str]


class TreeNode(TypedDict):
    entryId: str
    parentId: str | None
    type: str
    timestamp: str
    preview: str
    childCount: int
    role: NotRequired[str]
    label: NotRequired[str]
    labelTimestamp: NotRequired[str]


class Tree(TypedDict):
    """The flat form: nodes in file order."""

    sessionId: str
    nodes: list[TreeNode]
    leafId: str | None
    nextCursor: NotRequired[str]


class Events(TypedDict):
    sessionId: str
    events: list[Any]
    firstSeq: int
    lastSeq: int
    truncated: bool
