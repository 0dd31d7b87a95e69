/**
 * The server's main methods as typed calls: a name, its params, its result. Everything goes through `request`, which
 * calls any other method too. What a method always needs comes first, the rest in an object named as in the protocol.
 */

import type { RequestOptions } from "./connection.js";
import * as t from "./protocol.js";

/** A method of this version of the protocol, or any other that a newer server has. */
export type MethodName = keyof t.Methods | (string & {});
export type Params<M> = M extends keyof t.Methods ? t.Methods[M]["params"] : object;
export type Result<M> = M extends keyof t.Methods ? t.Methods[M]["result"] : unknown;
/** The params of M without those that come first. */
type Rest<M, First extends keyof Params<M>> = Omit<Params<M>, First>;

export interface HandshakeParams {
  name?: string;
  version?: string;
  title?: string;
  capabilities?: t.ClientCapabilities;
  /** The server ends when this process does. Default: this one; 0: none, for a server on another machine. */
  processId?: number;
}

export abstract class TypedCalls {
  abstract request<M extends MethodName>(
    method: M,
    params?: Params<M>,
    options?: RequestOptions,
  ): Promise<Result<M>>;

  // The connection.

  /** Say who asks and what it can do. */
  initialize(handshake: HandshakeParams = {}, options?: RequestOptions): Promise<Result<"initialize">> {
    const { name = "@rpc-agent/client", version = "0", title, capabilities = {}, processId = process.pid } = handshake;
    const clientInfo = title === undefined ? { name, version } : { name, version, title };
    return this.request(
      "initialize",
      { protocolVersion: t.PROTOCOL_VERSION, clientInfo, processId, capabilities },
      options,
    );
  }

  async ping(options?: RequestOptions): Promise<void> {
    await this.request("ping", {}, options);
  }

  // Sessions.

  newSession(params: Params<"new_session"> = {}, options?: RequestOptions): Promise<Result<"new_session">> {
    return this.request("new_session", params, options);
  }

  /** Exactly one of `path`, `id` (a unique beginning serves) and `latest`. */
  openSession(params: Params<"open_session">, options?: RequestOptions): Promise<Result<"open_session">> {
    return this.request("open_session", params, options);
  }

  async closeSession(params: Params<"close_session"> = {}, options?: RequestOptions): Promise<void> {
    await this.request("close_session", params, options);
  }

  getState(params: Params<"get_state"> = {}, options?: RequestOptions): Promise<Result<"get_state">> {
    return this.request("get_state", params, options);
  }

  /** What the model would be sent now. */
  async getMessages(params: Params<"get_messages"> = {}, options?: RequestOptions): Promise<t.Message[]> {
    return (await this.request("get_messages", params, options)).messages;
  }

  getContext(params: Params<"get_context"> = {}, options?: RequestOptions): Promise<Result<"get_context">> {
    return this.request("get_context", params, options);
  }

  /** Entries in file order, strictly after `since`; go on with `nextCursor` as `since`. */
  getEntries(params: Params<"get_entries"> = {}, options?: RequestOptions): Promise<Result<"get_entries">> {
    return this.request("get_entries", params, options);
  }

  /** The flat form. The nested one: `request("get_tree", { form: "nested" })`. */
  async getTree(params: Rest<"get_tree", "form"> = {}, options?: RequestOptions): Promise<t.FlatTree> {
    return (await this.request("get_tree", params, options)) as t.FlatTree;
  }

  /** Notifications after the `seq` given, from the server's buffer: what a reload of a window missed. */
  getEvents(
    since: number,
    params: Rest<"get_events", "since"> = {},
    options?: RequestOptions,
  ): Promise<Result<"get_events">> {
    return this.request("get_events", { ...params, since }, options);
  }

  // Runs.

  /** Start a run. With `wait` the result comes when the run has settled; a failed one has stopReason "error". */
  prompt(
    message: Params<"prompt">["message"],
    params: Rest<"prompt", "message"> = {},
    options?: RequestOptions,
  ): Promise<Result<"prompt">> {
    return this.request("prompt", { ...params, message }, options);
  }

  /** Have the message delivered after the tools of the current turn. */
  steer(
    message: Params<"steer">["message"],
    params: Rest<"steer", "message"> = {},
    options?: RequestOptions,
  ): Promise<Result<"steer">> {
    return this.request("steer", { ...params, message }, options);
  }

  /** Have the message delivered when the run would stop. */
  followUp(
    message: Params<"follow_up">["message"],
    params: Rest<"follow_up", "message"> = {},
    options?: RequestOptions,
  ): Promise<Result<"follow_up">> {
    return this.request("follow_up", { ...params, message }, options);
  }

  /** End the run, its tools, any compaction and branch summary; resolves when the session is idle. */
  async abort(params: Params<"abort"> = {}, options?: RequestOptions): Promise<void> {
    await this.request("abort", params, options);
  }

  waitForIdle(params: Params<"wait_for_idle"> = {}, options?: RequestOptions): Promise<Result<"wait_for_idle">> {
    return this.request("wait_for_idle", params, options);
  }

  // Compaction and the tree.

  /**
   * Replace the older part of the context by a summary. RpcError reasons: nothingToCompact, alreadyCompacted,
   * compactionCancelled, compactionFailed, noModel.
   */
  compact(params: Params<"compact"> = {}, options?: RequestOptions): Promise<Result<"compact">> {
    return this.request("compact", params, options);
  }

  /** What `compact` would do now; writes nothing and asks no model. */
  previewCompaction(
    params: Params<"preview_compaction"> = {},
    options?: RequestOptions,
  ): Promise<Result<"preview_compaction">> {
    return this.request("preview_compaction", params, options);
  }

  /** Whether one ran. Resolves after its compaction_end; context and file are as before it. */
  async abortCompaction(params: Params<"abort_compaction"> = {}, options?: RequestOptions): Promise<boolean> {
    return (await this.request("abort_compaction", params, options)).aborted;
  }

  /** Go back to before a compaction (default: the newest on the branch). */
  undoCompaction(params: Params<"undo_compaction"> = {}, options?: RequestOptions): Promise<Result<"undo_compaction">> {
    return this.request("undo_compaction", params, options);
  }

  /**
   * Make `targetId` the place where the next message hangs (a user message: its parent, and its text comes back as
   * editorText to be changed and sent again). Null goes to before the first entry.
   */
  navigateTree(
    targetId: string | null,
    params: Rest<"navigate_tree", "targetId"> = {},
    options?: RequestOptions,
  ): Promise<Result<"navigate_tree">> {
    return this.request("navigate_tree", { ...params, targetId }, options);
  }

  // Models.

  async getAvailableModels(options?: RequestOptions): Promise<t.Model[]> {
    return (await this.request("get_available_models", {}, options)).models;
  }

  async setModel(
    provider: string,
    modelId: string,
    params: Rest<"set_model", "provider" | "modelId"> = {},
    options?: RequestOptions,
  ): Promise<t.Model> {
    return (await this.request("set_model", { ...params, provider, modelId }, options)).model;
  }
}
