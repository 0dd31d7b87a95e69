// Made by `python -m rpc_agent.protocol.export --write`. Change the models, not this file.

export const PROTOCOL_VERSION = 1;

/** Whether there was something to stop. */
export interface AbortedResult {
  /** The session that this is about. */
  sessionId: string;
  /** False: nothing of the kind was going on. */
  aborted: boolean;
}

/** The agent stops working for now. */
export interface AgentEnd {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The run, as in the answer to prompt. */
  runId: string;
  /** What was said since agent_start. */
  messages: Message[];
  /** True: it goes on by itself, after a wait or a compaction. */
  willRetry: boolean;
}

/** The run is over: the last of its notifications, exactly one for each run. */
export interface AgentSettled {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The run, as in the answer to prompt. */
  runId: string;
  /** True: somebody stopped it. */
  aborted: boolean;
  /** How the last answer ended. */
  stopReason: StopReason;
}

/** The agent begins to work; again after a retry or a recovery within one run. */
export interface AgentStart {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The run, as in the answer to prompt. */
  runId: string;
}

/** A block of the model's message. */
export type AssistantContent = TextBlock | ThinkingBlock | ToolCallBlock;

/** One answer of the model. */
export interface AssistantMessage {
  role: "assistant";
  /** In the order the model made them. A partial answer after an abort or an error holds what had come. */
  content: AssistantContent[];
  /** The provider's dialect, such as openai-completions. */
  api: string;
  /** Who answered, such as openai. */
  provider: string;
  /** The model's id at that provider. */
  model: string;
  /** Tokens and cost of this one call. */
  usage: Usage;
  /**
   * `stop`: finished. `toolUse`: wants its tools run. `length`: cut at the output limit. `error`: see
   * errorMessage. `aborted`: stopped by the user.
   */
  stopReason: StopReason;
  /** Milliseconds since 1970 (UTC). */
  timestamp: number;
  /** For people, when stopReason is `error` or `aborted`. */
  errorMessage?: string;
  /** The provider's id of the answer. */
  responseId?: string;
  [key: string]: unknown;
}

/** A piece of an answer; `type` tells which. */
export type AssistantMessageEvent = TextStart | TextDelta | TextEnd | ThinkingStart | ThinkingDelta | ThinkingEnd | ToolCallStart | ToolCallDelta | ToolCallEnd;

/** The retries are over. */
export interface AutoRetryEnd {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The run, as in the answer to prompt. */
  runId: string;
  /** True: the model has answered. */
  success: boolean;
  /** The number of the last try. */
  attempt: number;
  /** Why it was given up, for people. */
  finalError?: string;
}

/** The model's service failed; it is asked again after a wait. */
export interface AutoRetryStart {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The run, as in the answer to prompt. */
  runId: string;
  /** From 1. */
  attempt: number;
  /** After this many the run ends in error. */
  maxAttempts: number;
  /** Milliseconds until then; abort_retry ends the wait. */
  delayMs: number;
  /** Why, for people. */
  errorMessage: string;
}

/** A command that the user ran with the method `bash`, shown to the model as text. */
export interface BashExecutionMessage {
  role: "bashExecution";
  /** The whole command line. */
  command: string;
  /** stdout and stderr as they came, the end of it when long. */
  output: string;
  /** Null: killed before it ended. */
  exitCode: number | null;
  /** True: stopped by abort_bash. */
  cancelled: boolean;
  /** True: `output` is only the end of it. */
  truncated: boolean;
  /** A file with all of the output, when truncated. */
  fullOutputPath?: string;
  /** True: the model is not shown it. */
  excludeFromContext?: boolean;
  /** Milliseconds since 1970 (UTC). */
  timestamp: number;
  [key: string]: unknown;
}

/** Output of a command that the method bash runs. */
export interface BashExecutionUpdate {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The id of that request. Absent: it had none. */
  requestId?: string | number;
  /** The new piece. */
  delta: string;
}

/** A command that the user runs, to be seen by the model too. */
export interface BashParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** For the shell, in the session's working directory. */
  command: string;
  /** True: the model is not shown it. */
  excludeFromContext?: boolean;
  /** Seconds until it is killed. Absent: no limit. */
  timeout?: number;
}

/** What the command did. */
export interface BashResult {
  /** The session that this is about. */
  sessionId: string;
  /** stdout and stderr as they came, the end of it when long. */
  output: string;
  /** Null: killed before it ended. */
  exitCode: number | null;
  /** True: stopped by abort_bash, $/cancelRequest or the timeout. */
  cancelled: boolean;
  /** True: `output` is only the end of it. */
  truncated: boolean;
  /** A file with all of it, when truncated. */
  fullOutputPath?: string;
}

/** The summary of the branch that is left is over. */
export interface BranchSummaryEnd {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The branch_summary entry. Absent: none was made. */
  summaryEntry?: Entry;
  /** True: somebody stopped it. */
  aborted: boolean;
  /** Why none was made, for people. */
  errorMessage?: string;
}

/** A summary of the branch that was left. */
export interface BranchSummaryEntry {
  /** Unique in the session, usually 8 hexadecimal digits. */
  id: string;
  /** The entry before it on its branch; null for the first one. */
  parentId: string | null;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
  type: "branch_summary";
  /** The entry where that branch ended, or "root". */
  fromId: string;
  /** Markdown; empty: the model is not shown it. */
  summary: string;
  /** readFiles and modifiedFiles (paths). */
  details?: Record<string, unknown>;
  /** Tokens and cost of the summary. */
  usage?: Usage;
  /** True: an extension or the client made the summary. */
  fromHook?: boolean;
  [key: string]: unknown;
}

/** What was done on a branch that the session came back from. */
export interface BranchSummaryMessage {
  role: "branchSummary";
  /** Markdown. */
  summary: string;
  /** The entry where the branch ended, or "root". */
  fromId: string;
  /** Milliseconds since 1970 (UTC). */
  timestamp: number;
  [key: string]: unknown;
}

/** The summary of the branch that is left begins. */
export interface BranchSummaryStart {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
}

/** The model asks for a tool of the client's. */
export interface CallToolParams {
  /** The session that this is about. */
  sessionId: string;
  /** The call's id. */
  toolCallId: string;
  /** The tool's name. */
  name: string;
  /** They fit the tool's inputSchema. */
  arguments: Record<string, unknown>;
}

/** What the tool answers. */
export interface CallToolResult {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** What the model is told. */
  content: string | InputContent[];
  /** True: the tool failed. */
  isError?: boolean;
}

/** The request that need not go on, as ACP spells it. */
export interface CancelRequestIdParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** The id that the request was sent with. */
  requestId: string | number | null;
}

/** The request that need not go on. */
export interface CancelRequestParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** The id that the request was sent with. */
  id: string | number | null;
}

/** The messages that were taken out, to put back into the input field. */
export interface ClearedQueue {
  /** The session that this is about. */
  sessionId: string;
  /** Texts of the steering messages, oldest first. */
  steering: string[];
  /** Texts of the follow-up messages, oldest first. */
  followUp: string[];
}

/** What the client can do for the server. What is not said is not there. */
export interface ClientCapabilities {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * True: the client answers request_permission; the permission mode is then `ask` unless something else was
   * set.
   */
  permissions?: boolean;
  /** Hooks that the client answers with run_hook, such as session_before_compact. */
  hooks?: string[];
  /** True: the client answers ui_select, ui_confirm, ui_input and ui_notify. */
  ui?: boolean;
  /** Which file requests the client answers. */
  fileSystem?: FileSystemCapability;
  /** Tools that the client runs by call_tool. */
  tools?: ClientTool[];
  /** Notifications that are not to be sent. They take no `seq`, so the numbers stay without gaps. */
  optOutNotifications?: string[];
  /**
   * How a streamed answer is sent. `each` (default): every delta; `merged`: at most one a block in 16 ms;
   * `none`: only starts and ends.
   */
  deltas?: "each" | "merged" | "none";
  /** True: the end of stdin aborts everything, also requests that still wait for their answers. */
  abortOnEof?: boolean;
}

/** Who is speaking, for the server's log. */
export interface ClientInfo {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** The program's name, such as my-editor. */
  name: string;
  /** The program's version. */
  version?: string;
  /** The program's name for people. */
  title?: string;
}

/** A tool that the client runs itself. */
export interface ClientTool {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** What the model calls it; letters, digits, - and _. */
  name: string;
  /** Tells the model what it does and when to use it. */
  description: string;
  /** JSON Schema of its arguments, an object. */
  inputSchema: Record<string, unknown>;
}

/** Something that can be started by "/name" at the beginning of a prompt. */
export interface Command {
  /** Without the slash. */
  name: string;
  /** One line for people. */
  description?: string;
  /** prompt, skill or extension. */
  source: string;
  /** The file it comes from. */
  path?: string;
}

/** The commands of this session. */
export interface CommandsResult {
  /** The session that this is about. */
  sessionId: string;
  /** By name. */
  commands: Command[];
}

/** How to summarise the older part of the conversation. */
export interface CompactParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /**
   * The leafId that the client believes in (null: an empty session). When it is another, nothing happens and
   * the answer is leafMoved. Absent: not checked.
   */
  expectedLeafId?: string | null;
  /** What the summary shall pay attention to. */
  customInstructions?: string;
  /** True: when the model fails, make a plain summary without it. Absent: a failure changes nothing. */
  fallback?: boolean;
  /** Keep about this many tokens of the newest messages. Absent: as configured. */
  keepRecentTokens?: number;
}

/** A finished compaction. */
export interface Compaction {
  /** The compaction's entry; give it to undo_compaction. */
  entryId: string;
  /** Markdown, as the model is shown it. */
  summary: string;
  /** Where the kept part begins; the same as entryId when nothing is kept. */
  firstKeptEntryId: string;
  /** Estimated tokens of the context before. */
  tokensBefore: number;
  /** Estimated tokens of the context now; always fewer. */
  estimatedTokensAfter: number;
  /** Tokens and cost of the summary. Absent: no model was asked. */
  usage?: Usage;
  /** readFiles and modifiedFiles (paths), ledger, fallback (true: made without a model). */
  details: Record<string, unknown>;
}

/** A compaction is over: exactly one for each start. One without a start says why none is tried any more. */
export interface CompactionEnd {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The same from start to end. */
  compactionId: string;
  /** The run that it belongs to. Absent: it belongs to none. */
  runId?: string;
  /** As at the start. */
  reason: "manual" | "threshold" | "overflow";
  /** `failed` and `cancelled`: nothing has changed. */
  status: "completed" | "failed" | "cancelled";
  /** When completed. */
  result?: Compaction;
  /** True: somebody stopped it. */
  aborted: boolean;
  /** True: the run goes on by itself. */
  willRetry: boolean;
  /** When failed: why, for people. */
  errorMessage?: string;
}

/** A compaction: the context continues with the summary and what is kept. */
export interface CompactionEntry {
  /** Unique in the session, usually 8 hexadecimal digits. */
  id: string;
  /** The entry before it on its branch; null for the first one. */
  parentId: string | null;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
  type: "compaction";
  /** Markdown. */
  summary: string;
  /** Where the kept part begins; the entry's own id keeps nothing. */
  firstKeptEntryId: string;
  /** Estimated tokens of the context before it. */
  tokensBefore: number;
  /** readFiles and modifiedFiles (paths), ledger, fallback (true: made without a model). */
  details?: Record<string, unknown>;
  /** Tokens and cost of the summary. Absent: no model was asked. */
  usage?: Usage;
  /** True: an extension or the client made the summary. */
  fromHook?: boolean;
  /** The system prompt as it was then. */
  systemMessage?: SystemMessage;
  /** The kept messages themselves, so that nothing older is needed. */
  retainedTail?: Message[];
  [key: string]: unknown;
}

/** What compact would do now. Nothing is written and no model is asked. */
export interface CompactionPreview {
  /** The session that this is about. */
  sessionId: string;
  /** Where the kept part would begin. */
  firstKeptEntryId: string;
  /** True: the cut lies inside a turn, whose beginning is then summarised too. */
  isSplitTurn: boolean;
  /** The beginning of that turn, when it is split. */
  turnStartEntryId?: string;
  /** Estimated tokens of the context now. */
  tokensBefore: number;
  /** Estimated tokens of the context afterwards. */
  estimatedTokensAfter: number;
  /** Entries that the summary would stand for, oldest first. */
  summarizedEntryIds: string[];
  /** Entries that would stay as they are, oldest first. */
  keptEntryIds: string[];
  /** True: an earlier summary would be carried on. */
  hasPreviousSummary: boolean;
  /** Files that the summary would name. */
  files: TouchedFiles;
}

/** A compaction goes on. May be left out of any display. */
export interface CompactionProgress {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The same from start to end. */
  compactionId: string;
  /** The run that it belongs to. Absent: it belongs to none. */
  runId?: string;
  /** What is being done, such as summarizing or merging; new words may come. */
  phase: string;
  /** Which of `chunks`, from 1. */
  chunk?: number;
  /** How many model calls are planned. */
  chunks?: number;
  /** Characters of the summary that have come so far. */
  receivedChars?: number;
}

/** The compaction that was made. */
export interface CompactionResult {
  /** The session that this is about. */
  sessionId: string;
  /** The compaction's entry; give it to undo_compaction. */
  entryId: string;
  /** Markdown, as the model is shown it. */
  summary: string;
  /** Where the kept part begins; the same as entryId when nothing is kept. */
  firstKeptEntryId: string;
  /** Estimated tokens of the context before. */
  tokensBefore: number;
  /** Estimated tokens of the context now; always fewer. */
  estimatedTokensAfter: number;
  /** Tokens and cost of the summary. Absent: no model was asked. */
  usage?: Usage;
  /** readFiles and modifiedFiles (paths), ledger, fallback (true: made without a model). */
  details: Record<string, unknown>;
}

/** A compaction begins; there is something to compact. */
export interface CompactionStart {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The same from start to end. */
  compactionId: string;
  /** The run that it belongs to. Absent: it belongs to none. */
  runId?: string;
  /**
   * `manual`: asked for by compact. `threshold`: the window fills. `overflow`: the model refused the context.
   */
  reason: "manual" | "threshold" | "overflow";
}

/** What stands for the compacted part of the conversation. */
export interface CompactionSummaryMessage {
  role: "compactionSummary";
  /** Markdown, with the ledger of the user's own words in it. */
  summary: string;
  /** Estimated tokens of the context before the compaction. */
  tokensBefore: number;
  /** Milliseconds since 1970 (UTC). */
  timestamp: number;
  [key: string]: unknown;
}

/** Another entry is shown differently to the model from here on. */
export interface ContextEditEntry {
  /** Unique in the session, usually 8 hexadecimal digits. */
  id: string;
  /** The entry before it on its branch; null for the first one. */
  parentId: string | null;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
  type: "context_edit";
  /** The entry that is edited. */
  targetId: string;
  /** Null: the model is not shown it at all. */
  replacement: Replacement | null;
  [key: string]: unknown;
}

/** One message of the context. */
export interface ContextMessage {
  /** The entry it comes from. */
  entryId: string;
  /** As the model is shown it. */
  message: Message;
  /** Estimated. */
  tokens: number;
}

/** What fills the model's window. */
export interface ContextResult {
  /** The session that this is about. */
  sessionId: string;
  /** Oldest first. */
  messages: ContextMessage[];
  /** Estimated tokens of all. */
  tokens: number;
  /** The window in force; 0: not known. */
  contextWindow: number;
  /** Above this the server compacts by itself; 0: never. */
  thresholdTokens: number;
  /** tokens / contextWindow * 100; null when the window is not known. */
  percent: number | null;
}

/** How full the model's window is. */
export interface ContextUsage {
  /** Estimated tokens of the context; null right after a compaction, until the model has counted. */
  tokens: number | null;
  /** The window in force, in tokens. */
  contextWindow: number;
  /** tokens / contextWindow * 100; null with tokens. */
  percent: number | null;
}

/** The context has grown or shrunk. */
export interface ContextUsageChanged {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** Estimated tokens of the context; null right after a compaction, until the model has counted. */
  tokens: number | null;
  /** The window in force, in tokens. */
  contextWindow: number;
  /** tokens / contextWindow * 100; null with tokens. */
  percent: number | null;
  /** The run that changed it. Absent: no run did. */
  runId?: string;
}

/** Something about the window that a person should know. Fields beside `kind` depend on it. */
export interface ContextWarning {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /**
   * `silentTruncation`: the service counted far less than was sent. `unreachableThreshold`: what cannot be
   * compacted is already too much. `limitLearned`: a refusal told the true window.
   */
  kind: "silentTruncation" | "unreachableThreshold" | "limitLearned";
  /** For people. */
  message?: string;
  /** The run it was noticed in. */
  runId?: string;
  [key: string]: unknown;
}

/** US dollars. */
export interface Cost {
  /** For fresh input. */
  input: number;
  /** For the answer, thinking included. */
  output: number;
  /** For input read from the provider's cache. */
  cacheRead: number;
  /** For input written to the provider's cache. */
  cacheWrite: number;
  /** The sum of the four. */
  total: number;
  [key: string]: unknown;
}

/** Data of an extension, or a marker of the server (customType `leaf`); the model is not shown it. */
export interface CustomEntry {
  /** Unique in the session, usually 8 hexadecimal digits. */
  id: string;
  /** The entry before it on its branch; null for the first one. */
  parentId: string | null;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
  type: "custom";
  /** Whose data it is. */
  customType: string;
  /** Whatever its owner put there. */
  data?: unknown;
  [key: string]: unknown;
}

/** A message that an extension put in; the model sees it as the user's. */
export interface CustomMessage {
  role: "custom";
  /** The extension's name for this kind of message. */
  customType: string;
  /** Text, or blocks of text and images. */
  content: string | UserContent[];
  /** False: meant for the model only, do not show it. */
  display: boolean;
  /** The extension's own data. */
  details?: unknown;
  /** Milliseconds since 1970 (UTC). */
  timestamp: number;
  [key: string]: unknown;
}

/** A message that an extension put in. */
export interface CustomMessageEntry {
  /** Unique in the session, usually 8 hexadecimal digits. */
  id: string;
  /** The entry before it on its branch; null for the first one. */
  parentId: string | null;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
  type: "custom_message";
  /** The extension's name for this kind of message. */
  customType: string;
  /** Text, or blocks of text and images. */
  content: string | UserContent[];
  /** False: meant for the model only. */
  display: boolean;
  /** The extension's own data. */
  details?: unknown;
  [key: string]: unknown;
}

/** The next model, or none. */
export interface CycledModelResult {
  /** The session that this is about. */
  sessionId: string;
  /** Null: there is only this one. */
  model: Model | null;
  /** The level with that model. */
  thinkingLevel: string;
}

/** The next thinking level, or none. */
export interface CycledThinkingLevelResult {
  /** The session that this is about. */
  sessionId: string;
  /** Null: the model has only one. */
  level: ThinkingLevel | null;
}

/** Which session to delete: a session of this server, or a file. */
export interface DeleteSessionParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** A session file inside a sessions directory. Absent: sessionId counts. */
  path?: string;
}

/** What became of a message. */
export type Disposition = "started" | "queued" | "handled";

/** Nothing to say. */
export interface DoneResult {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
}

/** What the model shall be shown instead. */
export interface EditContent {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** Text, or blocks that fit the entry's role. */
  content: string | Record<string, unknown>[];
}

/** Which entry the model shall see differently. */
export interface EditContextParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** A user, assistant, toolResult or custom_message entry of the active branch. */
  targetId: string;
  /** Null: the model is not shown it at all. The entry itself stays as it is. */
  replacement: EditContent | null;
}

/** An empty object. */
export interface Empty {
}

/** A switch. */
export interface EnabledParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** On or off, for this session. */
  enabled: boolean;
}

/** Entries of all branches, in the order of the file. */
export interface EntriesResult {
  /** The session that this is about. */
  sessionId: string;
  /** As they stand in the file. */
  entries: Entry[];
  /** The newest entry of the active branch. */
  leafId: string | null;
  /** Give it as `since` for the next page. Absent: there are no more. */
  nextCursor?: string;
}

/** An entry of the session's tree; `type` tells which. */
export type Entry = MessageEntry | ThinkingLevelChangeEntry | ModelChangeEntry | UsageEntry | CompactionEntry | BranchSummaryEntry | ContextEditEntry | CustomEntry | CustomMessageEntry | LabelEntry | SessionInfoEntry;

/** An entry is on disk. */
export interface EntryAppended {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The run that made it. Absent: no run did. */
  runId?: string;
  /** The whole entry. */
  entry: Entry;
}

/** The entry that records the change. */
export interface EntryIdResult {
  /** The session that this is about. */
  sessionId: string;
  /** Its id; it is the new leaf. */
  entryId: string;
}

/** One entry of the session. */
export interface EntryParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** The entry's id. */
  entryId: string;
}

/** One entry. */
export interface EntryResult {
  /** The session that this is about. */
  sessionId: string;
  /** As it stands in the file. */
  entry: Entry;
}

/** A notification as it was sent. */
export interface Event {
  /** The notification's name. */
  method: string;
  /** Its params. */
  params: Record<string, unknown>;
}

/** Notifications from the server's bounded memory. */
export interface EventsResult {
  /** The session that this is about. */
  sessionId: string;
  /** In the order of `seq`. */
  events: Event[];
  /** The oldest `seq` that the server still has. */
  firstSeq: number;
  /** The newest. */
  lastSeq: number;
  /** True: some after `since` are gone, read the state anew (get_state, get_entries). */
  truncated: boolean;
}

/** In which form, and where to. */
export interface ExportSessionParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** `html` is one file that needs no other. */
  format: "html" | "markdown" | "jsonl";
  /** The file to write; one that is there is replaced. Absent: the text is in the answer. */
  outputPath?: string;
}

/** The export was written. */
export interface ExportedFile {
  /** The session that this is about. */
  sessionId: string;
  /** Absolute path. */
  path: string;
}

/** The export itself. */
export interface ExportedText {
  /** The session that this is about. */
  sessionId: string;
  /** The whole of it. */
  text: string;
}

/** An extension failed and was passed over. */
export interface ExtensionError {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** Its name, or "client" for a hook that the client answers. */
  extension: string;
  /** Where it failed. */
  hook: string;
  /** What happened, for people. */
  error: string;
}

/** Which files the client lends: unsaved editor buffers win over the disk. */
export interface FileSystemCapability {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** True: the client answers read_file. */
  read?: boolean;
  /** True: the client answers write_file. */
  write?: boolean;
}

/** The tree as a list. */
export interface FlatTree {
  /** The session that this is about. */
  sessionId: string;
  /** In the order of the file: a parent always comes before its children. */
  nodes: TreeNode[];
  /** The newest entry of the active branch. */
  leafId: string | null;
  /** Absent: there are no more. */
  nextCursor?: string;
}

/** A place where the session can be forked. */
export interface ForkMessage {
  /** Give it to fork_session. */
  entryId: string;
  /** The user's message. */
  text: string;
}

/** The user messages of the active branch. */
export interface ForkMessagesResult {
  /** The session that this is about. */
  sessionId: string;
  /** Oldest first. */
  messages: ForkMessage[];
}

/** The new session, which ends before the entry that was named. */
export interface ForkedState {
  /** The session that this is about. */
  sessionId: string;
  /** Random for each life of the session in a server: another one means that `seq` began anew. */
  streamId: string;
  /** Absolute path. Absent: kept in memory only. The file is made with the first message. */
  sessionFile?: string;
  /** Absent: it has none. */
  sessionName?: string;
  /** Absolute path of the working directory. */
  cwd: string;
  /** The newest entry of the active branch; null in an empty session. */
  leafId: string | null;
  /** Which model answers. Absent: none could be found, and a prompt is answered noModel. */
  model?: Model;
  /** How much it thinks. */
  thinkingLevel: ThinkingLevel;
  /** True: a run is going on. */
  isStreaming: boolean;
  /** True: a compaction is going on. */
  isCompacting: boolean;
  /** True: navigate_tree is going on. */
  isNavigating: boolean;
  /** How many queued steering messages are delivered at once. */
  steeringMode: "all" | "one-at-a-time";
  /** How many queued follow-up messages are delivered at once. */
  followUpMode: "all" | "one-at-a-time";
  /** True: the server compacts by itself when the window fills. */
  autoCompactionEnabled: boolean;
  /** True: a failed model call is tried again. */
  autoRetryEnabled: boolean;
  /** Messages of the context, as get_messages counts them. */
  messageCount: number;
  /** Messages in both queues. */
  pendingMessageCount: number;
  /** Absent: the model's window is not known. */
  contextUsage?: ContextUsage;
  /** The `seq` of the newest notification; 0: none yet. */
  lastSeq: number;
  /** True: nothing can be written to it. */
  readOnly: boolean;
  /** What tools may do without asking. */
  permissions: PermissionMode;
  /** The text of that user message, to put into the input field. */
  text: string;
}

/** Which entries, in the order of the file. */
export interface GetEntriesParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** An entry's id: only what stands after it. Absent: from the beginning. */
  since?: string;
  /** At most this many. */
  limit?: number;
}

/** Which notifications to send again. */
export interface GetEventsParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** The `seq` of the last one that arrived; 0: from the first. */
  since: number;
  /** At most this many. */
  limit?: number;
  /** The streamId that `since` belongs to; when the session has another by now, the answer is truncated. */
  streamId?: string;
}

/** How much of the tree, and in which form. */
export interface GetTreeParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /**
   * `flat` (default): a list in the order of the file, for any size. `nested`: children inside their parents.
   */
  form?: "flat" | "nested";
  /** Only this entry and what hangs below it. */
  rootId?: string;
  /** Only so many levels. */
  depth?: number;
  /** The nextCursor of the answer before; flat only. */
  cursor?: string;
  /** At most this many nodes; flat only. */
  limit?: number;
}

/** The hook's answer; null leaves everything as it is. */
export type HookResult = Record<string, unknown> | null;

/** How the last run ended. */
export interface IdleResult {
  /** The session that this is about. */
  sessionId: string;
  /** Null: there was none yet. */
  stopReason: StopReason | null;
  /** The last text of the model; empty if there is none. */
  text: string;
  /** True: somebody stopped it. */
  aborted: boolean;
}

/** An image of a message. */
export interface ImageBlock {
  type: "image";
  /** Base64. */
  data: string;
  /** Such as image/png. */
  mimeType: string;
  [key: string]: unknown;
}

/** An image from the client. */
export interface ImageContent {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  type: "image";
  /** The image file's bytes in base64, without a data: prefix. */
  data: string;
  /** Such as image/png or image/jpeg. */
  mimeType: string;
}

/** Who the client is and what it can do. */
export interface InitializeParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** 1. A version the server does not know gets the newest that it speaks. */
  protocolVersion: number | string;
  /** Who is speaking. */
  clientInfo?: ClientInfo;
  /** The client's process id: the server ends when that process has died. */
  processId?: number;
  /** What the client can do. Absent: nothing, so the server asks nothing. */
  capabilities?: ClientCapabilities;
}

/** What the server is. */
export interface InitializeResult {
  /** The version that is spoken from here on. */
  protocolVersion: number;
  /** Who is answering. */
  serverInfo: ServerInfo;
  /** What it offers. */
  capabilities: ServerCapabilities;
  /** How much it takes. */
  limits: Limits;
}

/** A block that a client sends. */
export type InputContent = TextContent | ImageContent;

/** A name for another entry. */
export interface LabelEntry {
  /** Unique in the session, usually 8 hexadecimal digits. */
  id: string;
  /** The entry before it on its branch; null for the first one. */
  parentId: string | null;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
  type: "label";
  /** The entry that is named. */
  targetId: string;
  /** Absent: the name is taken away. */
  label?: string;
  [key: string]: unknown;
}

/** What the model said last. */
export interface LastAssistantTextResult {
  /** The session that this is about. */
  sessionId: string;
  /** Null: it has not said anything yet. */
  text: string | null;
}

/** The session stands at another place of its tree. Not sent when an entry is merely put behind the leaf. */
export interface LeafChanged {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The leaf now; null before the first entry. */
  leafId: string | null;
  /** The leaf before. */
  previousLeafId: string | null;
}

/** How much the server takes at once. */
export interface Limits {
  /** A larger message is skipped and answered messageTooLarge. */
  maxMessageBytes: number;
  /** With more requests unanswered than this, the next one is answered overloaded. */
  maxInFlight: number;
}

/** Which sessions to list. */
export interface ListSessionsParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** Those of this working directory. Absent: the server's. */
  cwd?: string;
  /** True: those of every working directory. */
  all?: boolean;
  /** Only those with this text in their name, first message or working directory. */
  query?: string;
  /** The nextCursor of the answer before. */
  cursor?: string;
  /** At most this many. */
  limit?: number;
}

/** A message of the conversation; `role` tells which. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolResultMessage | BashExecutionMessage | CustomMessage | BranchSummaryMessage | CompactionSummaryMessage;

/** The message is complete and on disk. */
export interface MessageEnd {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The run, as in the answer to prompt. */
  runId: string;
  /** The whole message. */
  message: Message;
  /** The entry that holds it. */
  entryId: string;
}

/** A message of the conversation. */
export interface MessageEntry {
  /** Unique in the session, usually 8 hexadecimal digits. */
  id: string;
  /** The entry before it on its branch; null for the first one. */
  parentId: string | null;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
  type: "message";
  /** Any message but a branchSummary, compactionSummary or custom one: those have entries of their own. */
  message: Message;
  [key: string]: unknown;
}

/** A message for the model. */
export interface MessageParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** Text, or blocks of text and images. */
  message: string | InputContent[];
  /** Images to put behind the text. */
  images?: ImageContent[];
}

/** A message begins: the user's and a tool's whole, the model's still empty. */
export interface MessageStart {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The run, as in the answer to prompt. */
  runId: string;
  /** The message so far. */
  message: Message;
}

/** A piece of the model's answer. */
export interface MessageUpdate {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The run, as in the answer to prompt. */
  runId: string;
  /** Tokens so far, as far as the provider says. */
  usage: Usage;
  /** The piece. */
  assistantMessageEvent: AssistantMessageEvent;
}

/** What the model is shown. */
export interface MessagesResult {
  /** The session that this is about. */
  sessionId: string;
  /** The projection of the active branch, oldest first. */
  messages: Message[];
}

/** A model and its limits. Holds no key. */
export interface Model {
  /** Its id at the provider; may hold slashes. */
  id: string;
  /** Its name for people. */
  name: string;
  /** Whose it is; holds no slash. "provider/id" names the model in settings and in new_session. */
  provider: string;
  /**
   * openai-completions, openai-responses, anthropic-messages, google-generative-ai, or the built-in offline.
   */
  api: string;
  /** Where it is asked; empty for a built-in model. */
  baseUrl: string;
  /** True: it can think before it answers. */
  reasoning: boolean;
  /** What it reads: "text", "image". */
  input: string[];
  /** Tokens of input and output together; 0: nobody knows. */
  contextWindow: number;
  /** Most tokens of one answer; 0: nobody knows. */
  maxTokens: number;
  /** Its prices. */
  cost: ModelCost;
  /** Smaller than contextWindow: your own setting, or learned from a refusal. Absent: the same. */
  effectiveContextWindow?: number;
}

/** From here on this model answers. */
export interface ModelChangeEntry {
  /** Unique in the session, usually 8 hexadecimal digits. */
  id: string;
  /** The entry before it on its branch; null for the first one. */
  parentId: string | null;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
  type: "model_change";
  /** The provider's name. */
  provider: string;
  /** The model's id at that provider. */
  modelId: string;
  [key: string]: unknown;
}

/** Another model answers from here on. */
export interface ModelChanged {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The whole model. */
  model: Model;
}

/** US dollars a million tokens; 0 where nobody knows or nothing is asked. */
export interface ModelCost {
  /** Fresh input. */
  input: number;
  /** The answer, thinking included. */
  output: number;
  /** Input read from the provider's cache. */
  cacheRead: number;
  /** Input written to the provider's cache. */
  cacheWrite: number;
}

/** The model that answers from here on. */
export interface ModelResult {
  /** The session that this is about. */
  sessionId: string;
  /** The whole model. */
  model: Model;
}

/** Models that can be chosen. */
export interface ModelsResult {
  /** The session that this is about. */
  sessionId: string;
  /** Those with a key, those on this machine, and the offline model. */
  models: Model[];
}

/** Where to go, and what to take along. */
export interface NavigateTreeParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /**
   * The leafId that the client believes in (null: an empty session). When it is another, nothing happens and
   * the answer is leafMoved. Absent: not checked.
   */
  expectedLeafId?: string | null;
  /**
   * The entry to go to. A user message or custom_message: to the place before it, with its text as
   * editorText. Null: before the first entry.
   */
  targetId: string | null;
  /** True: summarise the branch that is left, and put the summary at the new place. */
  summarize?: boolean;
  /** What the summary shall pay attention to. */
  customInstructions?: string;
  /** True: customInstructions stand for the built-in instructions instead of following them. */
  replaceInstructions?: boolean;
  /** A name for the new place. */
  label?: string;
}

/** Where the session stands now. */
export interface NavigationResult {
  /** The session that this is about. */
  sessionId: string;
  /** True: nothing has changed. */
  cancelled: boolean;
  /** True: cancelled because abort or abort_branch_summary stopped the summary. */
  aborted?: boolean;
  /** The text of the user message that was gone back to, to put into the input field. */
  editorText?: string;
  /** The branch_summary entry, when one was made. */
  summaryEntry?: Entry;
  /** The leaf now. */
  leafId: string | null;
}

/** One entry with what hangs on it. */
export interface NestedNode {
  /** As it stands in the file. */
  entry: Entry;
  /** In the order of the file. */
  children: NestedNode[];
  /** Its name. Absent: it has none. */
  label?: string;
  /** When it was named. */
  labelTimestamp?: string;
  /** It has children that are not shown: ask again with its id as rootId. */
  more?: true;
}

/** The tree as trees, at most 100 levels deep. */
export interface NestedTree {
  /** The session that this is about. */
  sessionId: string;
  /** The roots. */
  tree: NestedNode[];
  /** The newest entry of the active branch. */
  leafId: string | null;
}

/** How the new session shall be. */
export interface NewSessionParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** Its working directory. Absent: the server's. */
  cwd?: string;
  /** Its name for people. */
  name?: string;
  /** True: kept in memory only. */
  ephemeral?: boolean;
  /** Path of the session file that it goes back to. */
  parentSession?: string;
  /** "provider/modelId", split at the first slash. Absent: as configured. */
  model?: string;
  /** Absent: as configured. */
  thinkingLevel?: ThinkingLevel;
  /** Names of the tools it may use. Absent: all. */
  tools?: string[];
  /** Stands for the first part of the built-in system prompt. */
  systemPrompt?: string;
}

/** Nothing beside `_meta`. */
export interface NoParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
}

/** Which session to open: exactly one of path, id and latest. */
export interface OpenSessionParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** The session file. */
  path?: string;
  /** The session's id, or the beginning of it when only one session begins so. */
  id?: string;
  /** True: the one changed last, of the working directory. */
  latest?: boolean;
  /** Its working directory from here on. Absent: the one in the file. */
  cwd?: string;
  /** True: open it without writing, also while another program writes it. */
  readOnly?: boolean;
}

/** Something in the file that could not be read as it stands. Nothing of it is lost. */
export interface OpenWarning {
  /** A stable word, such as tornTail or missingParent. */
  kind: string;
  /** The line in the file, from 1. */
  line?: number;
  /** For people. */
  message: string;
}

/** The opened session. */
export interface OpenedState {
  /** The session that this is about. */
  sessionId: string;
  /** Random for each life of the session in a server: another one means that `seq` began anew. */
  streamId: string;
  /** Absolute path. Absent: kept in memory only. The file is made with the first message. */
  sessionFile?: string;
  /** Absent: it has none. */
  sessionName?: string;
  /** Absolute path of the working directory. */
  cwd: string;
  /** The newest entry of the active branch; null in an empty session. */
  leafId: string | null;
  /** Which model answers. Absent: none could be found, and a prompt is answered noModel. */
  model?: Model;
  /** How much it thinks. */
  thinkingLevel: ThinkingLevel;
  /** True: a run is going on. */
  isStreaming: boolean;
  /** True: a compaction is going on. */
  isCompacting: boolean;
  /** True: navigate_tree is going on. */
  isNavigating: boolean;
  /** How many queued steering messages are delivered at once. */
  steeringMode: "all" | "one-at-a-time";
  /** How many queued follow-up messages are delivered at once. */
  followUpMode: "all" | "one-at-a-time";
  /** True: the server compacts by itself when the window fills. */
  autoCompactionEnabled: boolean;
  /** True: a failed model call is tried again. */
  autoRetryEnabled: boolean;
  /** Messages of the context, as get_messages counts them. */
  messageCount: number;
  /** Messages in both queues. */
  pendingMessageCount: number;
  /** Absent: the model's window is not known. */
  contextUsage?: ContextUsage;
  /** The `seq` of the newest notification; 0: none yet. */
  lastSeq: number;
  /** True: nothing can be written to it. */
  readOnly: boolean;
  /** What tools may do without asking. */
  permissions: PermissionMode;
  /** What was wrong with the file; empty for a sound one. */
  warnings: OpenWarning[];
}

/** What was chosen: an option, or cancelled: true. */
export interface OptionResult {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** The `id` of an option. */
  optionId?: string;
  /** True: the person closed the question, or it is no longer of interest. */
  cancelled?: boolean;
}

/** What tools may do without asking. */
export type PermissionMode = "read-only" | "ask" | "workspace" | "allow";

/** One answer to choose from. */
export interface PermissionOption {
  /** Give it back as optionId. */
  id: string;
  /** For people. */
  label: string;
  /** `always` counts for the rest of this session. */
  kind: "allow_once" | "allow_always" | "reject_once" | "reject_always";
}

/** What to foresee. */
export interface PreviewCompactionParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** As in compact. */
  keepRecentTokens?: number;
}

/** A message for the model, and what to do when it is busy. */
export interface PromptParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** Text, or blocks of text and images. */
  message: string | InputContent[];
  /** Images to put behind the text. */
  images?: ImageContent[];
  /**
   * The leafId that the client believes in (null: an empty session). When it is another, nothing happens and
   * the answer is leafMoved. Absent: not checked.
   */
  expectedLeafId?: string | null;
  /**
   * While a run goes on: `steer` delivers the message after the current tools, `followUp` when the run would
   * stop. Absent: a busy session answers sessionBusy.
   */
  streamingBehavior?: "steer" | "followUp";
  /** True: the answer comes when the message has been worked on. Absent: as soon as it is accepted. */
  wait?: boolean;
  /** Most model calls of the run. Absent: no limit. */
  maxTurns?: number;
  /** Milliseconds until the run is aborted. Absent: no limit. */
  timeoutMs?: number;
}

/** What became of the message; with `wait`, also what came of it. */
export interface PromptResult {
  /** The session that this is about. */
  sessionId: string;
  /**
   * `started`: a run began. `queued`: it waits for the current run. `handled`: a command or extension took
   * it.
   */
  disposition: Disposition;
  /** The run that works on it. Absent while it is queued, and when it was handled. */
  runId?: string;
  /** With `wait`: how it ended. A failing model is `error` here and never an error of the request. */
  stopReason?: StopReason;
  /** With `wait`: the last text of the model before the next user message; empty if there is none. */
  text?: string;
  /** With `wait`: tokens and cost of the model calls made for it. */
  usage?: Usage;
  /** With `wait`: which model answered, "provider/modelId". */
  model?: string;
  /** With `wait`, after an error: for people. */
  errorMessage?: string;
  /** With `wait`, after an error: for programs. */
  error?: RunError;
}

/** The messages that wait. */
export interface QueueResult {
  /** The session that this is about. */
  sessionId: string;
  /** Delivered after the current tools, oldest first. */
  steering: QueuedMessage[];
  /** Delivered when the run would stop, oldest first. */
  followUp: QueuedMessage[];
}

/** The queues have changed. */
export interface QueueUpdate {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The run that delivers a message. Absent: one was added or taken out. */
  runId?: string;
  /** Texts that wait for the end of the current tools, oldest first. */
  steering: string[];
  /** Texts that wait for the end of the run, oldest first. */
  followUp: string[];
}

/** A message that waits. */
export interface QueuedMessage {
  /** Its text. */
  text: string;
}

/** What became of the message. */
export interface QueuedResult {
  /** The session that this is about. */
  sessionId: string;
  /** `started`: nothing was running, so a run began. `queued`: it waits for its turn. */
  disposition: Disposition;
}

/** A file that may be open in an editor. */
export interface ReadFileParams {
  /** Absolute path. */
  path: string;
}

/** The file's text, unsaved changes included. */
export interface ReadFileResult {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** All of it. */
  content: string;
}

/** What stands for an entry's content in the context. */
export interface Replacement {
  /** Text, or blocks that fit the entry's role. */
  content: string | (UserContent | AssistantContent)[];
  [key: string]: unknown;
}

/** A tool wants to run. */
export interface RequestPermissionParams {
  /** The session that this is about. */
  sessionId: string;
  /** The call's id. */
  toolCallId: string;
  /** The tool's name. */
  toolName: string;
  /** Its arguments. */
  args: Record<string, unknown>;
  /** What it would do, one line for people. */
  title: string;
  /** What can be answered. */
  options: PermissionOption[];
}

/** Why a run failed. */
export interface RunError {
  /** As in the table of errors. */
  code: number;
  /** As in the table of errors: providerFailed, contextOverflow, storageFailed. */
  reason: string;
}

/** Something is about to happen, or has happened. */
export interface RunHookParams {
  /** The session that this is about. */
  sessionId: string;
  /** The hook's name, one of those in initialize. */
  hook: string;
  /** What it is about; the shape is the hook's. */
  event: Record<string, unknown>;
}

/** The run that goes on. */
export interface RunStarted {
  /** The session that this is about. */
  sessionId: string;
  /** Its id, in all its notifications. */
  runId: string;
}

/** What this server offers, by name. Ask here instead of comparing versions. */
export interface ServerCapabilities {
  /** Methods that it answers. */
  methods: string[];
  /** Notifications that it may send. */
  notifications: string[];
  /** Requests that it may send to a client with the capability. */
  serverRequests: string[];
}

/** Who is answering. */
export interface ServerInfo {
  /** rpc-agent. */
  name: string;
  /** The server's version, such as 0.1.0; not the protocol's. */
  version: string;
}

/** One line of a session file: the header first, then one entry a line. */
export type SessionFileLine = SessionHeader | Entry;

/** The first line of a session file. */
export interface SessionHeader {
  type: "session";
  /** The format's version. */
  version: 3;
  /** The session's id, a version 7 UUID. */
  id: string;
  /** When the session was made: ISO 8601, UTC, milliseconds. */
  timestamp: string;
  /** Absolute path of the working directory. */
  cwd: string;
  /** Path of the file that this session was forked or cloned from. */
  parentSession?: string;
  [key: string]: unknown;
}

/** The session's name has changed. */
export interface SessionInfoChanged {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** Absent: it has none any more. */
  name?: string;
}

/** The session's name from here on. */
export interface SessionInfoEntry {
  /** Unique in the session, usually 8 hexadecimal digits. */
  id: string;
  /** The entry before it on its branch; null for the first one. */
  parentId: string | null;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
  type: "session_info";
  /** Absent or empty: the name is taken away. */
  name?: string;
  [key: string]: unknown;
}

/** One page, the one changed last first. */
export interface SessionList {
  /** The sessions of this page. */
  sessions: SessionListing[];
  /** Absent: there are no more. */
  nextCursor?: string;
}

/** One session file. */
export interface SessionListing {
  /** The session's id. */
  id: string;
  /** Absolute path of its file. */
  path: string;
  /** Absent: it has none. */
  name?: string;
  /** Its working directory. */
  cwd: string;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** ISO 8601, UTC. */
  modifiedAt: string;
  /** Absent: not counted yet, the file is large. */
  messageCount?: number;
  /** The beginning of the first user message. */
  firstMessage?: string;
  /** The file's size. */
  bytes: number;
}

/** What every method of a session takes. */
export interface SessionParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
}

/** What every answer about a session says at least. */
export interface SessionResult {
  /** The session that this is about. */
  sessionId: string;
}

/** What the whole session consists of and has cost. */
export interface SessionStats {
  /** The session that this is about. */
  sessionId: string;
  /** Messages of the user. */
  userMessages: number;
  /** Answers of the model. */
  assistantMessages: number;
  /** Calls in those answers. */
  toolCalls: number;
  /** Answers of tools. */
  toolResults: number;
  /** All messages. */
  totalMessages: number;
  /** All model calls, summaries included. */
  tokens: TokenTotals;
  /** US dollars, by the models' price lists. */
  cost: number;
  /** Absent: the model's window is not known. */
  contextUsage?: ContextUsage;
  /** Entries in the file, all branches. */
  entries: number;
  /** Compactions among them. */
  compactions: number;
  /** Size of the file; 0 while there is none. */
  fileBytes: number;
}

/** A name for an entry. */
export interface SetLabelParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** The entry's id. */
  entryId: string;
  /** Null or empty takes the name away. */
  label: string | null;
}

/** Which model shall answer. */
export interface SetModelParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** As in get_available_models. */
  provider: string;
  /** As `id` in get_available_models. */
  modelId: string;
}

/** What tools may do without asking. */
export interface SetPermissionsParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /**
   * `read-only`: only read, grep, find and ls run. `ask`: the client is asked. `workspace`: edits inside the
   * working directory run, the rest is asked. `allow`: everything runs.
   */
  mode: PermissionMode;
}

/** How many queued messages are delivered at once. */
export interface SetQueueModeParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** All of them, or one for each turn. */
  mode: "all" | "one-at-a-time";
}

/** The session's name. */
export interface SetSessionNameParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** Trimmed and made one line; empty takes the name away. */
  name: string;
}

/** How much the model shall think. */
export interface SetThinkingLevelParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** A model that cannot think this much takes the nearest level below. */
  level: ThinkingLevel;
}

/** What is in force, and who said so. */
export interface SettingsResult {
  /** The session that this is about. */
  sessionId: string;
  /** The effective values, in the shape of settings.json. Keys are never among them. */
  settings: Record<string, unknown>;
  /**
   * Dotted name of each setting -> where it came from: default, session, commandLine, environment, or a file.
   */
  sources: Record<string, string>;
}

/** What a session is doing, and with what. */
export interface State {
  /** The session that this is about. */
  sessionId: string;
  /** Random for each life of the session in a server: another one means that `seq` began anew. */
  streamId: string;
  /** Absolute path. Absent: kept in memory only. The file is made with the first message. */
  sessionFile?: string;
  /** Absent: it has none. */
  sessionName?: string;
  /** Absolute path of the working directory. */
  cwd: string;
  /** The newest entry of the active branch; null in an empty session. */
  leafId: string | null;
  /** Which model answers. Absent: none could be found, and a prompt is answered noModel. */
  model?: Model;
  /** How much it thinks. */
  thinkingLevel: ThinkingLevel;
  /** True: a run is going on. */
  isStreaming: boolean;
  /** True: a compaction is going on. */
  isCompacting: boolean;
  /** True: navigate_tree is going on. */
  isNavigating: boolean;
  /** How many queued steering messages are delivered at once. */
  steeringMode: "all" | "one-at-a-time";
  /** How many queued follow-up messages are delivered at once. */
  followUpMode: "all" | "one-at-a-time";
  /** True: the server compacts by itself when the window fills. */
  autoCompactionEnabled: boolean;
  /** True: a failed model call is tried again. */
  autoRetryEnabled: boolean;
  /** Messages of the context, as get_messages counts them. */
  messageCount: number;
  /** Messages in both queues. */
  pendingMessageCount: number;
  /** Absent: the model's window is not known. */
  contextUsage?: ContextUsage;
  /** The `seq` of the newest notification; 0: none yet. */
  lastSeq: number;
  /** True: nothing can be written to it. */
  readOnly: boolean;
  /** What tools may do without asking. */
  permissions: PermissionMode;
}

/** How an answer of the model ended. */
export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";

/** The wait is over, the summary's model call is made again. */
export interface SummarizationRetryAttemptStart {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The compaction that it is for. Absent: a branch summary. */
  compactionId?: string;
  /** From 1. */
  attempt: number;
}

/** The retries of a summary's model call are over. */
export interface SummarizationRetryFinished {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The compaction that it is for. Absent: a branch summary. */
  compactionId?: string;
  /** True: the model has answered. */
  success: boolean;
  /** The number of the last try. */
  attempt: number;
  /** Why it was given up, for people. */
  finalError?: string;
}

/** A summary's model call failed; it is made again after a wait. */
export interface SummarizationRetryScheduled {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The compaction that it is for. Absent: a branch summary. */
  compactionId?: string;
  /** From 1. */
  attempt: number;
  /** After this many the summary is given up. */
  maxAttempts: number;
  /** Milliseconds until then. */
  delayMs: number;
  /** Why, for people. */
  errorMessage: string;
}

/** The system prompt, or a later change of it. */
export interface SystemMessage {
  role: "system";
  /** Text before the sections; often empty. */
  content: string;
  /** Milliseconds since 1970 (UTC), as in every message. */
  timestamp: number;
  /** Named parts of the prompt. In a later message only those that changed; null removes one. */
  sections?: Record<string, string | null>;
  /** Declarations of tools that the model has from here on. */
  toolsAdded?: Record<string, unknown>[];
  /** Tools that it no longer has. */
  toolsRemoved?: Record<string, unknown>[];
  [key: string]: unknown;
}

/** Text of a message. */
export interface TextBlock {
  type: "text";
  /** Plain text or Markdown. */
  text: string;
  /** The provider's own mark; give it back unchanged or not at all. */
  textSignature?: string;
  [key: string]: unknown;
}

/** Text from the client. */
export interface TextContent {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  type: "text";
  /** Plain text or Markdown, any length. */
  text: string;
}

/** Text to put behind what there is. */
export interface TextDelta {
  type: "text_delta";
  /** The block's place. */
  contentIndex: number;
  /** The new piece. */
  delta: string;
}

/** The block of text is complete. */
export interface TextEnd {
  type: "text_end";
  /** The block's place. */
  contentIndex: number;
  /** All of its text. */
  content: string;
}

/** A block of text begins. */
export interface TextStart {
  type: "text_start";
  /** Its place in the message's content, from 0. */
  contentIndex: number;
}

/** What the model thought before it answered. */
export interface ThinkingBlock {
  type: "thinking";
  /** The text of the thoughts; empty when the provider keeps them to itself. */
  thinking: string;
  /** The provider's proof of the thinking; of use to the same model only. */
  thinkingSignature?: string;
  /** True when the provider hid the text. */
  redacted?: boolean;
  [key: string]: unknown;
}

/** Thinking to put behind what there is. */
export interface ThinkingDelta {
  type: "thinking_delta";
  /** The block's place. */
  contentIndex: number;
  /** The new piece. */
  delta: string;
}

/** The block of thinking is complete. */
export interface ThinkingEnd {
  type: "thinking_end";
  /** The block's place. */
  contentIndex: number;
  /** All of its text. */
  content: string;
}

/** How much a model thinks before it answers. */
export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh";

/** From here on the model thinks this much. */
export interface ThinkingLevelChangeEntry {
  /** Unique in the session, usually 8 hexadecimal digits. */
  id: string;
  /** The entry before it on its branch; null for the first one. */
  parentId: string | null;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
  type: "thinking_level_change";
  /** As in set_thinking_level. */
  thinkingLevel: string;
  [key: string]: unknown;
}

/** The model thinks more or less from here on. */
export interface ThinkingLevelChanged {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The level now. */
  level: ThinkingLevel;
}

/** The thinking level from here on. */
export interface ThinkingLevelResult {
  /** The session that this is about. */
  sessionId: string;
  /** The level in force. */
  level: ThinkingLevel;
}

/** The levels of the current model. */
export interface ThinkingLevelsResult {
  /** The session that this is about. */
  sessionId: string;
  /** From little to much. */
  levels: ThinkingLevel[];
}

/** A block of thinking begins. */
export interface ThinkingStart {
  type: "thinking_start";
  /** Its place in the message's content, from 0. */
  contentIndex: number;
}

/** Tokens of all model calls of the session. */
export interface TokenTotals {
  /** Fresh input. */
  input: number;
  /** Answers. */
  output: number;
  /** Input read from the providers' caches. */
  cacheRead: number;
  /** Input written to the providers' caches. */
  cacheWrite: number;
  /** The sum. */
  total: number;
}

/** A tool that the model asks for. */
export interface ToolCallBlock {
  type: "toolCall";
  /** Names the call in tool_execution_* and in the toolResult message. */
  id: string;
  /** The tool's name. */
  name: string;
  /** As the tool's schema describes them; not yet checked when the model made the call. */
  arguments: Record<string, unknown>;
  /** The provider's proof of the thinking behind the call. */
  thoughtSignature?: string;
  [key: string]: unknown;
}

/** A piece of the arguments. */
export interface ToolCallDelta {
  type: "toolcall_delta";
  /** The block's place. */
  contentIndex: number;
  /** A piece of the arguments' JSON text. */
  delta: string;
}

/** The tool call is complete; it runs when the message has ended. */
export interface ToolCallEnd {
  type: "toolcall_end";
  /** The block's place. */
  contentIndex: number;
  /** The whole call. */
  toolCall: ToolCallBlock;
}

/** A tool call begins. */
export interface ToolCallStart {
  type: "toolcall_start";
  /** Its place in the message's content, from 0. */
  contentIndex: number;
  /** The call's id. */
  id: string;
  /** The tool's name. */
  toolName: string;
}

/** A tool is done. Its toolResult message follows, in the order of the calls. */
export interface ToolExecutionEnd {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The run, as in the answer to prompt. */
  runId: string;
  /** The call's id. */
  toolCallId: string;
  /** The tool's name. */
  toolName: string;
  /** What it answered. */
  result: ToolOutcome;
  /** True: it failed, was refused, or does not exist. */
  isError: boolean;
  /** Milliseconds it took. */
  durationMs: number;
}

/** A tool begins. */
export interface ToolExecutionStart {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The run, as in the answer to prompt. */
  runId: string;
  /** The call's id. */
  toolCallId: string;
  /** The tool's name. */
  toolName: string;
  /** Its arguments. */
  args: Record<string, unknown>;
}

/** A tool shows what it has so far. */
export interface ToolExecutionUpdate {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The run, as in the answer to prompt. */
  runId: string;
  /** The call's id. */
  toolCallId: string;
  /** The tool's name. */
  toolName: string;
  /** Its arguments. */
  args: Record<string, unknown>;
  /** All of it, not only what is new. */
  partialResult: ToolOutcome;
}

/** What a tool has answered, so far or at last. */
export interface ToolOutcome {
  /** What the model is told. */
  content: UserContent[];
  /** What a front end may show besides; its shape is the tool's. */
  details?: unknown;
}

/** What a tool answered to the model. */
export interface ToolResultMessage {
  role: "toolResult";
  /** The id of the call's block. */
  toolCallId: string;
  /** The tool's name. */
  toolName: string;
  /** What the model is told. */
  content: UserContent[];
  /** What a front end may show besides, such as the diff of an edit; its shape is the tool's. */
  details?: unknown;
  /** True: the tool failed, was refused, or does not exist; the run goes on. */
  isError: boolean;
  /** Milliseconds since 1970 (UTC). */
  timestamp: number;
  /** Model calls that the tool made itself. */
  usage?: Usage;
  [key: string]: unknown;
}

/** Files that the summarised part worked with. */
export interface TouchedFiles {
  /** Only read; sorted. */
  read: string[];
  /** Edited or written; sorted. */
  modified: string[];
}

/** One entry of the tree, in short. */
export interface TreeNode {
  /** The entry's id. */
  entryId: string;
  /** Null at the root. */
  parentId: string | null;
  /** The entry's type. */
  type: string;
  /** The message's role, for message entries. */
  role?: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** The beginning of its text, one line. */
  preview: string;
  /** Its name. Absent: it has none. */
  label?: string;
  /** When it was named. */
  labelTimestamp?: string;
  /** Entries that hang on it. */
  childCount: number;
}

/** Whether a project's own configuration is read. */
export interface TrustProjectParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** The project's folder; what lies inside it is meant too. */
  cwd: string;
  /** False: nothing in its .rpc-agent folder is read. */
  trusted: boolean;
}

/** The turn is over and on disk. */
export interface TurnEnd {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The run, as in the answer to prompt. */
  runId: string;
  /** The model's answer. */
  message: Message;
  /** What its tools answered, in the order of the calls. */
  toolResults: ToolResultMessage[];
}

/** A turn begins: one answer of the model and the tools it asks for. */
export interface TurnStart {
  /** The session that this is about. */
  sessionId: string;
  /** Grows by one for each notification of the session, without gaps. */
  seq: number;
  /** The run, as in the answer to prompt. */
  runId: string;
}

/** A question with yes or no. */
export interface UiConfirmParams {
  /** The session that this is about. */
  sessionId: string;
  /** The question. */
  title: string;
  /** More about it. */
  message?: string;
}

/** The answer. */
export interface UiConfirmResult {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** False also when the question was closed. */
  confirmed: boolean;
}

/** A question with a text as its answer. */
export interface UiInputParams {
  /** The session that this is about. */
  sessionId: string;
  /** The question. */
  title: string;
  /** What to show while the field is empty. */
  placeholder?: string;
  /** What the field holds at first. */
  value?: string;
}

/** The answer, or cancelled: true. */
export interface UiInputResult {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /** What was typed. */
  text?: string;
  /** True: the question was closed. */
  cancelled?: boolean;
}

/** Something to tell the person. */
export interface UiNotifyParams {
  /** The session that this is about. */
  sessionId: string;
  /** How grave it is. */
  level: "info" | "warning" | "error";
  /** One or a few sentences. */
  message: string;
}

/** One thing to choose. */
export interface UiOption {
  /** Give it back as optionId. */
  id: string;
  /** For people. */
  label: string;
}

/** A question with answers to choose from. */
export interface UiSelectParams {
  /** The session that this is about. */
  sessionId: string;
  /** The question. */
  title: string;
  /** The answers. */
  options: UiOption[];
}

/** Which compaction to undo. */
export interface UndoCompactionParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** The compaction's entry. Absent: the newest on the active branch. */
  entryId?: string;
}

/** Where the session stands now; navigate_tree back to previousLeafId redoes it. */
export interface UndoneResult {
  /** The session that this is about. */
  sessionId: string;
  /** The new leaf, with the context as it was. */
  leafId: string | null;
  /** The leaf before. */
  previousLeafId: string;
}

/** A kind of a later version or of another program: part of the tree, not shown to the model. Ignore it. */
export interface UnknownEntry {
  /** Unique in the session, usually 8 hexadecimal digits. */
  id: string;
  /** The entry before it on its branch; null for the first one. */
  parentId: string | null;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
  /** Any other word. */
  type: string;
  [key: string]: unknown;
}

/** What shall change, and for whom. */
export interface UpdateSettingsParams {
  /** Ignored by the server; room for a client's own notes. */
  _meta?: unknown;
  /**
   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when
   * there is none, a new one in the server's working directory.
   */
  sessionId?: string;
  /** In the shape of settings.json; objects are merged, null goes back to what was there without it. */
  patch: Record<string, unknown>;
  /** `session`: until it closes; `user`, `project`: written to that settings.json. */
  scope: "session" | "user" | "project";
}

/** What a model call consumed, in tokens; 0 where the provider did not say. */
export interface Usage {
  /** Fresh input: what was neither read from nor written to the provider's cache. */
  input: number;
  /** The answer, thinking included. */
  output: number;
  /** Input read from the provider's cache. */
  cacheRead: number;
  /** Input written to the provider's cache. */
  cacheWrite: number;
  /** The sum of the four. */
  totalTokens: number;
  /** The part of `output` that was thinking. Absent: the provider did not say. */
  reasoning?: number;
  /** What that costs by the model's price list; zeros for a model without prices. */
  cost: Cost;
  [key: string]: unknown;
}

/** A paid model call that has no entry of its own, such as a rejected summary. */
export interface UsageEntry {
  /** Unique in the session, usually 8 hexadecimal digits. */
  id: string;
  /** The entry before it on its branch; null for the first one. */
  parentId: string | null;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
  type: "usage";
  /** What the call was for. */
  kind: string;
  /** Who was asked. */
  provider: string;
  /** The model's id. */
  model: string;
  /** Tokens and cost of the call. */
  usage: Usage;
  /** Why nothing came of it, for people. */
  note?: string;
  [key: string]: unknown;
}

/** A block of a message that is not the model's. */
export type UserContent = TextBlock | ImageBlock;

/** What the user said. */
export interface UserMessage {
  role: "user";
  /** Text, or blocks of text and images. */
  content: string | UserContent[];
  /** Milliseconds since 1970 (UTC). */
  timestamp: number;
  [key: string]: unknown;
}

/** A file to write. */
export interface WriteFileParams {
  /** Absolute path. */
  path: string;
  /** All of its new text. */
  content: string;
}

/** Code of each reason; programs decide by the reason. */
export const ERROR_CODES = {
  /**
   * The message is not UTF-8 or not JSON. The id is null; reading goes on at the next message. Mend the
   * sender. NaN, invalid UTF-8, half a message and very deep nesting count as not JSON.
   */
  parseError: -32700,
  /** It is JSON, but not a JSON-RPC 2.0 message. Mend the sender. The id is null unless it could be read. */
  invalidRequest: -32600,
  /**
   * The message is larger than limits.maxMessageBytes, and was skipped. The id is null. Send less, or start
   * the server with a larger --max-message-bytes.
   */
  messageTooLarge: -32600,
  /** The server has no such method. Look into capabilities.methods of initialize. */
  methodNotFound: -32601,
  /** The params do not fit the method. Nothing was done. Mend the call; `errors` names each place. */
  invalidParams: -32602,
  /**
   * Something unforeseen went wrong inside the server; what it was is in its log on stderr. Read the state
   * again (get_state), then go on; report it with the log.
   */
  internalError: -32603,
  /** $/cancelRequest reached the request before it had begun. Nothing: this is what was asked for. */
  requestCancelled: -32800,
  /**
   * No session has this id, or no file is at this path. Open it by open_session, or take one of
   * list_sessions.
   */
  sessionNotFound: -32010,
  /**
   * The session is doing something that this call cannot run beside. Wait (wait_for_idle) or stop it (abort);
   * for a prompt give streamingBehavior.
   */
  sessionBusy: -32011,
  /**
   * Another process writes this session file. Open it with readOnly (and clone_session to go on in a copy),
   * or end the other process.
   */
  sessionLocked: -32012,
  /** The file has no session header. It was not touched. Check the path. */
  sessionUnreadable: -32013,
  /** The session has no entry with this id. Read the entries again (get_entries, get_tree). */
  entryNotFound: -32014,
  /** The entry exists, but not on the active branch. Go to its branch first (navigate_tree). */
  entryNotOnBranch: -32015,
  /**
   * An entry of this kind cannot be edited or forked from. Choose a user, assistant, toolResult or
   * custom_message entry (to fork: a user message).
   */
  notEditable: -32016,
  /**
   * The leaf is not expectedLeafId: somebody else moved the session on. Nothing was done. Show what is new
   * (get_entries since your leaf), then decide again.
   */
  leafMoved: -32017,
  /**
   * The session was opened read-only, or is of a later format. Open it without readOnly, or go on in a copy:
   * clone_session.
   */
  sessionReadOnly: -32018,
  /**
   * The disk refused. What had been announced before is in the file; this call changed nothing. Make room or
   * mend the permissions, then try again.
   */
  storageFailed: -32019,
  /**
   * Everything lies within what a compaction keeps; or there is no compaction to undo. Nothing; or give a
   * smaller keepRecentTokens.
   */
  nothingToCompact: -32020,
  /** Nothing was said since the last compaction. Nothing. */
  alreadyCompacted: -32021,
  /** The compaction was aborted, or a hook refused it. Nothing has changed. Nothing. */
  compactionCancelled: -32022,
  /**
   * No usable summary could be had. Nothing has changed. Look at `cause`; try again, choose another model, or
   * give fallback: true.
   */
  compactionFailed: -32023,
  /** The branch summary was stopped. Nothing has changed. Nothing. */
  branchSummaryCancelled: -32024,
  /** No usable branch summary could be had. Nothing has changed. Try again, or navigate without summarize. */
  branchSummaryFailed: -32025,
  /** No model has this name. Take one of get_available_models. */
  modelNotFound: -32030,
  /**
   * There is no model that could answer. The prompt was not accepted. Set a key in the server's environment,
   * or choose a model.
   */
  noModel: -32031,
  /**
   * The model needs a key that is not there. The prompt was not accepted. Set the variable named in
   * `variable` in the server's environment and start it again.
   */
  authMissing: -32032,
  /**
   * The model's service failed. Seen in a prompt's result.error and as cause of compactionFailed. Show
   * errorMessage; continue_run tries again.
   */
  providerFailed: -32033,
  /**
   * The conversation does not fit the model's window. Seen where providerFailed is. Compact, shorten the
   * message, or choose a model with a larger window.
   */
  contextOverflow: -32034,
  /**
   * The call needs something that the client did not offer in initialize. Offer the capability, or do
   * without.
   */
  notSupportedByClient: -32040,
  /**
   * More requests are unanswered than limits.maxInFlight. This one was not looked at. Send it again after
   * retryAfterMs.
   */
  overloaded: -32050,
  /** The server is ending. Start a new one and open the session again. */
  shuttingDown: -32051,
} as const;

export type ErrorReason = keyof typeof ERROR_CODES;

/** `data` of an error; further fields depend on the reason. */
export interface ErrorData {
  reason: ErrorReason;
  [key: string]: unknown;
}

/** Requests to the server. */
export interface Methods {
  /** Say who you are and what you can do; optional, and again to replace what was said. */
  initialize: { params: InitializeParams; result: InitializeResult };
  /** Answer at once. */
  ping: { params: NoParams; result: Empty };
  /** Stop everything and flush; then send the notification exit. */
  shutdown: { params: NoParams; result: null };
  /** Make a session, which becomes the current one. */
  new_session: { params: NewSessionParams; result: State };
  /** Open a session file, which becomes the current session; opened twice it is the same live session. */
  open_session: { params: OpenSessionParams; result: OpenedState };
  /** Stop what the session does, flush it and let go of its file. */
  close_session: { params: SessionParams; result: SessionResult };
  /** What the session is doing. */
  get_state: { params: SessionParams; result: State };
  /** The messages that the model is shown. */
  get_messages: { params: SessionParams; result: MessagesResult };
  /** The same with entries and tokens: what fills the window. */
  get_context: { params: SessionParams; result: ContextResult };
  /** Entries of all branches in the order of the file, by pages. */
  get_entries: { params: GetEntriesParams; result: EntriesResult };
  /** The session's tree, as a list or nested. */
  get_tree: { params: GetTreeParams; result: FlatTree | NestedTree };
  /**
   * Say something to the model. The answer comes when the message is accepted, or with `wait` when it is
   * done.
   */
  prompt: { params: PromptParams; result: PromptResult };
  /** Stop the run, its tools, its retries and any compaction; answers when the session is idle. */
  abort: { params: SessionParams; result: SessionResult };
  /** Answer when nothing is going on any more. */
  wait_for_idle: { params: SessionParams; result: IdleResult };
  /** Summarise the older part of the conversation; a run is aborted first. */
  compact: { params: CompactParams; result: CompactionResult };
  /** Stop a compaction; answers after its compaction_end. */
  abort_compaction: { params: SessionParams; result: AbortedResult };
  /** Go to another place of the tree, and summarise the branch that is left when asked to. */
  navigate_tree: { params: NavigateTreeParams; result: NavigationResult };
  /** Choose the model that answers from here on. */
  set_model: { params: SetModelParams; result: ModelResult };
  /** The models that can be chosen. */
  get_available_models: { params: SessionParams; result: ModelsResult };
  /** Delete a session's file; only one in a sessions directory that nobody else has open. */
  delete_session: { params: DeleteSessionParams; result: SessionResult };
  /** Session files, the one changed last first, by pages. */
  list_sessions: { params: ListSessionsParams; result: SessionList };
  /** Make a session of everything before a user message; it becomes the current one. */
  fork_session: { params: EntryParams; result: ForkedState };
  /** Make a session of the active branch; it becomes the current one. */
  clone_session: { params: SessionParams; result: State };
  /** Name the session, or take its name away. */
  set_session_name: { params: SetSessionNameParams; result: SessionResult };
  /** Counts, tokens and cost of the whole session. */
  get_session_stats: { params: SessionParams; result: SessionStats };
  /** One entry as it stands in the file. */
  get_entry: { params: EntryParams; result: EntryResult };
  /** The user messages where the session can be forked. */
  get_fork_messages: { params: SessionParams; result: ForkMessagesResult };
  /** What the model said last. */
  get_last_assistant_text: { params: SessionParams; result: LastAssistantTextResult };
  /** Give an entry a name, or take it away. */
  set_label: { params: SetLabelParams; result: EntryIdResult };
  /** Show the model an entry differently, or not at all. */
  edit_context: { params: EditContextParams; result: EntryIdResult };
  /** The session as HTML, Markdown or JSONL, for people and other programs. */
  export_session: { params: ExportSessionParams; result: ExportedFile | ExportedText };
  /** Notifications once more, after a reload of the client. */
  get_events: { params: GetEventsParams; result: EventsResult };
  /** Say something that the model hears after its current tools. */
  steer: { params: MessageParams; result: QueuedResult };
  /** Say something that the model hears when the run would stop. */
  follow_up: { params: MessageParams; result: QueuedResult };
  /** Take back the messages that wait. */
  clear_queue: { params: SessionParams; result: ClearedQueue };
  /** The messages that wait. */
  get_queue: { params: SessionParams; result: QueueResult };
  /** How many steering messages are delivered at once. */
  set_steering_mode: { params: SetQueueModeParams; result: SessionResult };
  /** How many follow-up messages are delivered at once. */
  set_follow_up_mode: { params: SetQueueModeParams; result: SessionResult };
  /** Go on after an error or an abort, without a new message. */
  continue_run: { params: SessionParams; result: RunStarted };
  /** Run a command of the user's; the model is shown it with the next message. */
  bash: { params: BashParams; result: BashResult };
  /** Stop the user's commands. */
  abort_bash: { params: SessionParams; result: SessionResult };
  /** End the wait for the next try; the run ends with the error. */
  abort_retry: { params: SessionParams; result: SessionResult };
  /** Whether a failed model call is tried again. */
  set_auto_retry: { params: EnabledParams; result: SessionResult };
  /** What compact would do now; writes nothing, asks no model. */
  preview_compaction: { params: PreviewCompactionParams; result: CompactionPreview };
  /** Go back to the context as it was before a compaction. */
  undo_compaction: { params: UndoCompactionParams; result: UndoneResult };
  /** Whether the server compacts by itself. */
  set_auto_compaction: { params: EnabledParams; result: SessionResult };
  /** Stop a branch summary; everything stays as it was. */
  abort_branch_summary: { params: SessionParams; result: AbortedResult };
  /** Choose the next model. */
  cycle_model: { params: SessionParams; result: CycledModelResult };
  /** Choose how much the model thinks. */
  set_thinking_level: { params: SetThinkingLevelParams; result: ThinkingLevelResult };
  /** Choose the next thinking level. */
  cycle_thinking_level: { params: SessionParams; result: CycledThinkingLevelResult };
  /** The thinking levels of the current model. */
  get_available_thinking_levels: { params: SessionParams; result: ThinkingLevelsResult };
  /** The settings in force, and where each came from. */
  get_settings: { params: SessionParams; result: SettingsResult };
  /** Change settings for this session, the user or the project. */
  update_settings: { params: UpdateSettingsParams; result: SettingsResult };
  /** What this session's tools may do without asking. */
  set_permissions: { params: SetPermissionsParams; result: SessionResult };
  /** Whether a project's own configuration is read. */
  trust_project: { params: TrustProjectParams; result: Empty };
  /** What can be started by "/name" in a prompt. */
  get_commands: { params: SessionParams; result: CommandsResult };
}

/** Notifications to the server. */
export interface ClientNotifications {
  /** The handshake is over. Nothing depends on it. */
  initialized: NoParams;
  /** End the process: exit code 0 after shutdown, else 1. */
  exit: NoParams;
  /** Cancel a running request; its answer still comes, as its own cancelled form or requestCancelled. */
  "$/cancelRequest": CancelRequestParams;
  /** The same as $/cancelRequest, as ACP spells it. */
  "$/cancel_request": CancelRequestIdParams;
}

/** Notifications from the server. */
export interface Notifications {
  /** The agent begins to work; again after a retry or a recovery within one run. */
  agent_start: AgentStart;
  /** The agent stops working for now. */
  agent_end: AgentEnd;
  /** The run is over: the last of its notifications, exactly one for each run. */
  agent_settled: AgentSettled;
  /** A turn begins: one answer of the model and the tools it asks for. */
  turn_start: TurnStart;
  /** The turn is over and on disk. */
  turn_end: TurnEnd;
  /** A message begins: the user's and a tool's whole, the model's still empty. */
  message_start: MessageStart;
  /** A piece of the model's answer. */
  message_update: MessageUpdate;
  /** The message is complete and on disk. */
  message_end: MessageEnd;
  /** A tool begins. */
  tool_execution_start: ToolExecutionStart;
  /** A tool shows what it has so far. */
  tool_execution_update: ToolExecutionUpdate;
  /** A tool is done. Its toolResult message follows, in the order of the calls. */
  tool_execution_end: ToolExecutionEnd;
  /** The queues have changed. */
  queue_update: QueueUpdate;
  /** An entry is on disk. */
  entry_appended: EntryAppended;
  /**
   * The session stands at another place of its tree. Not sent when an entry is merely put behind the leaf.
   */
  leaf_changed: LeafChanged;
  /** The session's name has changed. */
  session_info_changed: SessionInfoChanged;
  /** Another model answers from here on. */
  model_changed: ModelChanged;
  /** The model thinks more or less from here on. */
  thinking_level_changed: ThinkingLevelChanged;
  /** The context has grown or shrunk. */
  context_usage_changed: ContextUsageChanged;
  /** A compaction begins; there is something to compact. */
  compaction_start: CompactionStart;
  /** A compaction goes on. May be left out of any display. */
  compaction_progress: CompactionProgress;
  /**
   * A compaction is over: exactly one for each start. One without a start says why none is tried any more.
   */
  compaction_end: CompactionEnd;
  /** The summary of the branch that is left begins. */
  branch_summary_start: BranchSummaryStart;
  /** The summary of the branch that is left is over. */
  branch_summary_end: BranchSummaryEnd;
  /** The model's service failed; it is asked again after a wait. */
  auto_retry_start: AutoRetryStart;
  /** The retries are over. */
  auto_retry_end: AutoRetryEnd;
  /** A summary's model call failed; it is made again after a wait. */
  summarization_retry_scheduled: SummarizationRetryScheduled;
  /** The wait is over, the summary's model call is made again. */
  summarization_retry_attempt_start: SummarizationRetryAttemptStart;
  /** The retries of a summary's model call are over. */
  summarization_retry_finished: SummarizationRetryFinished;
  /** Output of a command that the method bash runs. */
  bash_execution_update: BashExecutionUpdate;
  /** Something about the window that a person should know. Fields beside `kind` depend on it. */
  context_warning: ContextWarning;
  /** An extension failed and was passed over. */
  extension_error: ExtensionError;
}

/** Requests from the server. */
export interface ServerRequests {
  /** Ask the person whether a tool may run. */
  request_permission: { params: RequestPermissionParams; result: OptionResult };
  /** Let the client look at something and change it. */
  run_hook: { params: RunHookParams; result: HookResult };
  /** Run a tool of the client's. */
  call_tool: { params: CallToolParams; result: CallToolResult };
  /** Read a file as the editor shows it. */
  read_file: { params: ReadFileParams; result: ReadFileResult };
  /** Write a file through the editor. */
  write_file: { params: WriteFileParams; result: DoneResult };
  /** Let the person choose. */
  ui_select: { params: UiSelectParams; result: OptionResult };
  /** Ask the person yes or no. */
  ui_confirm: { params: UiConfirmParams; result: UiConfirmResult };
  /** Let the person type something. */
  ui_input: { params: UiInputParams; result: UiInputResult };
  /** Tell the person something. */
  ui_notify: { params: UiNotifyParams; result: DoneResult };
}
