/** The client: a server process, the connection to it, and the end of both. Gives no method a meaning. */

import {
  type Call,
  Connection,
  type HandlerContext,
  type OnError,
  type OnTraffic,
  type RequestOptions,
} from "./connection.js";
import { ConnectionClosed, ProtocolViolation, ServerExited } from "./errors.js";
import type { FramingName } from "./framing.js";
import type { Notification, NotificationName } from "./messages.js";
import { type MethodName, type Params, type Result, TypedCalls } from "./methods.js";
import { ServerProcess } from "./process.js";
import type { ClientNotifications, InitializeResult, ServerRequests } from "./protocol.js";
import type { Subscription, SubscriptionOptions } from "./subscription.js";

export const DEFAULT_COMMAND: readonly string[] = ["rpc-agent", "serve"];

/** Milliseconds that each step of closing may take before the next, harsher one. */
export interface CloseLimits {
  /** `shutdown` needs no work from the server; one that does not answer it in this time is stuck. */
  shutdownMs: number;
  /** The server promises to be gone within 5 s; one more for a loaded machine. */
  exitMs: number;
  /** After SIGTERM, and again after SIGKILL: long enough to be scheduled, short enough for a person. */
  signalMs: number;
}

const DEFAULT_CLOSE_LIMITS: CloseLimits = { shutdownMs: 2000, exitMs: 6000, signalMs: 2000 };

export interface OpenOptions {
  cwd?: string;
  /** Replaces the environment; say `{ ...process.env, NAME: "value" }` to add to it. */
  env?: NodeJS.ProcessEnv;
  /** How messages are framed; the server answers in kind. Default: "lines". */
  framing?: FramingName;
  /** Gets each line the server logs. */
  onStderr?: (line: string) => void;
  /** Gets each whole message, without its framing. */
  onTraffic?: OnTraffic;
  /** Told of an exception in a callback or handler of yours. Default: a process warning. */
  onError?: OnError;
  closeLimits?: Partial<CloseLimits>;
}

/**
 * One server, many sessions. `spawn` closes it for you; with `open` it is yours to close, by `close()` or
 * `await using`.
 */
export class Client extends TypedCalls {
  private readonly connection: Connection;
  private readonly limits: CloseLimits;
  private readonly onError: OnError;
  private process: ServerProcess | undefined;
  private closing: Promise<void> | undefined;
  private ended: { code: number | null; signal: NodeJS.Signals | null } | undefined;

  private constructor(options: OpenOptions) {
    super();
    this.limits = { ...DEFAULT_CLOSE_LIMITS, ...options.closeLimits };
    this.onError = options.onError ?? warn;
    this.connection = new Connection(
      (data) => this.process?.send(data),
      options.framing ?? "lines",
      options.onTraffic,
      this.onError,
    );
  }

  /** A running server. Rejects with CannotStart. Call `close`. */
  static async open(command: readonly string[] = DEFAULT_COMMAND, options: OpenOptions = {}): Promise<Client> {
    const client = new Client(options);
    client.process = await ServerProcess.start(command, {
      cwd: options.cwd,
      env: options.env,
      muteMs: client.limits.exitMs,
      onStderr: options.onStderr && client.guarded(options.onStderr, "onStderr failed"),
      onBytes: (chunk) => client.receive(chunk),
      onExit: (code, signal) => client.exited(code, signal),
    });
    return client;
  }

  /** As `open`, for the time of `use`: the server is gone when this settles, whatever happened in it. */
  static async spawn<T>(
    command: readonly string[],
    options: OpenOptions,
    use: (client: Client) => T | PromiseLike<T>,
  ): Promise<T> {
    const client = await Client.open(command, options);
    try {
      return await use(client);
    } finally {
      await client.close();
    }
  }

  // Asking.

  /** The result of `method`, named and shaped as in the protocol. An error answer rejects with RpcError. */
  override async request<M extends MethodName>(
    method: M,
    params?: Params<M>,
    options: RequestOptions = {},
  ): Promise<Result<M>> {
    const full = this.process?.drain();
    if (full !== undefined) await full;
    const result = await this.connection.request<Result<M>>(method, params ?? {}, options);
    if (method === "initialize") this.learnLimits(result as Partial<InitializeResult> | null);
    return result;
  }

  /** Send a request and go on: await the Call for its result, or `cancel` it and still get its answer. */
  start<M extends MethodName>(method: M, params?: Params<M>): Call<Result<M>> {
    return this.connection.start<Result<M>>(method, params ?? {});
  }

  notify<M extends keyof ClientNotifications | (string & {})>(
    method: M,
    params?: M extends keyof ClientNotifications ? ClientNotifications[M] : object,
  ): void {
    this.connection.notify(method, params ?? {});
  }

  // Listening and answering.

  /** Notifications from now on, of the methods named ("*": of any), of one session or of every one. */
  notifications<M extends NotificationName = NotificationName>(
    methods: readonly M[] | "*" = "*",
    options: SubscriptionOptions = {},
  ): Subscription<M> {
    return this.connection.subscribe<Subscription<M> & Subscription<never>>(methods, options);
  }

  /** Call `callback` with each notification of `method` ("*": of any). Returns what takes it off again. */
  on<M extends NotificationName>(method: M, callback: (notification: Notification<M>) => unknown): () => void;
  on(method: "*", callback: (notification: Notification) => unknown): () => void;
  on(method: string, callback: (notification: never) => unknown): () => void {
    return this.connection.on(method, callback);
  }

  /**
   * Answer the server's requests called `method` with what `handler` returns, or resolves to. An RpcError that it
   * throws is the answer. When the server needs no answer any more, `signal` fires.
   */
  handle<M extends keyof ServerRequests>(
    method: M,
    handler: (
      params: ServerRequests[M]["params"],
      context: HandlerContext,
    ) => ServerRequests[M]["result"] | PromiseLike<ServerRequests[M]["result"]>,
  ): void {
    this.connection.handle(method, handler);
  }

  // The process.

  get pid(): number | undefined {
    return this.process?.pid;
  }

  /** The server's exit code; undefined while it runs, null when a signal ended it. */
  get exitCode(): number | null | undefined {
    return this.ended?.code;
  }

  /** The signal that ended the server. */
  get exitSignal(): NodeJS.Signals | null | undefined {
    return this.ended?.signal;
  }

  /** The last the server wrote to stderr. */
  get stderrTail(): string {
    return this.process?.stderrTail ?? "";
  }

  /** End the server: asked first, then told, then killed. Bounded, and the process is gone when this resolves. */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private guarded(callback: (line: string) => void, where: string): (line: string) => void {
    return (line) => {
      try {
        callback(line);
      } catch (error) {
        this.onError(error, where);
      }
    };
  }

  private async end(): Promise<void> {
    const { process, limits } = this;
    if (process !== undefined && this.ended === undefined) {
      await this.connection.request("shutdown", {}, { timeoutMs: limits.shutdownMs }).catch(() => {});
      this.connection.notify("exit", {});
      process.closeStdin();
      if (!(await process.wait(limits.exitMs))) {
        process.terminate();
        if (!(await process.wait(limits.signalMs))) {
          process.kill();
          await process.wait(limits.signalMs);
        }
      }
    }
    this.connection.end(new ConnectionClosed(), true);
  }

  private learnLimits(handshake: Partial<InitializeResult> | null): void {
    const limit = handshake?.limits?.maxMessageBytes;
    if (typeof limit === "number") this.connection.maxMessageBytes = limit;
  }

  // What the process reports.

  private receive(chunk: Buffer): void {
    try {
      this.connection.receive(chunk);
    } catch (error) {
      if (!(error instanceof ProtocolViolation)) throw error;
      this.connection.end(error);
      this.process?.terminate();
    }
  }

  private exited(code: number | null, signal: NodeJS.Signals | null): void {
    this.ended = { code, signal };
    const isExpected = this.closing !== undefined;
    this.connection.end(isExpected ? new ConnectionClosed() : new ServerExited(code, signal, this.stderrTail), isExpected);
  }
}

function warn(error: unknown, where: string): void {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.emitWarning(`@rpc-agent/client: ${where}`, { detail });
}
