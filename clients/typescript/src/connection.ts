/**
 * One JSON-RPC 2.0 connection, seen from the client: who waits for which answer, and who hears what. Bytes come in by
 * `receive`, messages go out by the function given. Knows no process and no method of the agent.
 */

import { type ClientError, isObject, MessageTooLarge, ProtocolViolation, RequestTimedOut, RpcError } from "./errors.js";
import { type Decoder, encode, type FramingName, makeDecoder } from "./framing.js";
import { fromBytes, type Notification, notification, toBytes } from "./messages.js";
import { Subscription, type SubscriptionOptions } from "./subscription.js";

export interface HandlerContext {
  /** Fires when the server takes the question back, or the connection ends. */
  signal: AbortSignal;
}
/** Answers a request of the server: takes its params, returns the result or a promise of it. */
export type Handler = (params: never, context: HandlerContext) => unknown;
export type Callback = (notification: never) => unknown;
export type OnTraffic = (direction: "sent" | "received", body: Buffer) => void;
/** Told of an exception in a callback or a handler of yours. */
export type OnError = (error: unknown, where: string) => void;

export interface RequestOptions {
  /** Sends `$/cancelRequest` and rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds; then `$/cancelRequest` is sent and the request rejects with RequestTimedOut. */
  timeoutMs?: number | undefined;
}

type Id = string | number | null;

export const ANY = "*";
// What every server reads unless it was started with another --max-message-bytes; `initialize` tells the true one.
const DEFAULT_MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;
const REQUEST_CANCELLED = -32800;

/** A request on its way. Await it for the result; `cancel` asks the server to stop, and its answer still comes. */
export class Call<R = unknown> implements PromiseLike<R> {
  readonly answer: Promise<R>;
  private resolve!: (result: unknown) => void;
  private reject!: (error: unknown) => void;
  private watchers: (() => void)[] = [];
  private isSettled = false;

  /** @internal */
  constructor(
    readonly id: number,
    readonly method: string,
    private readonly askToStop: (id: number) => void,
  ) {
    this.answer = new Promise<R>((resolve, reject) => {
      this.resolve = resolve as (result: unknown) => void;
      this.reject = reject;
    });
    // A call that nobody awaits may fail without an unhandled rejection: whoever cares awaits it.
    this.answer.catch(() => {});
  }

  get settled(): boolean {
    return this.isSettled;
  }

  cancel(): void {
    if (!this.isSettled) this.askToStop(this.id);
  }

  then<A = R, B = never>(
    onResult?: ((result: R) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.answer.then(onResult, onError);
  }

  /** @internal At once, not in a later microtask: the place among the notifications counts. */
  whenSettled(watcher: () => void): void {
    if (this.isSettled) watcher();
    else this.watchers.push(watcher);
  }

  /** @internal */
  settle(outcome: { result: unknown } | { error: unknown }): void {
    if (this.isSettled) return;
    this.isSettled = true;
    if ("error" in outcome) this.reject(outcome.error);
    else this.resolve(outcome.result);
    for (const watcher of this.watchers.splice(0)) watcher();
  }
}

export class Connection {
  maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES;
  private readonly decoder: Decoder;
  private lastId = 0;
  private readonly calls = new Map<number, Call<unknown>>();
  private readonly subscriptions = new Set<Subscription<never>>();
  private readonly callbacks = new Map<string, Set<Callback>>();
  private readonly handlers = new Map<string, Handler>();
  private readonly answering = new Map<string, () => void>();
  private ended: ClientError | undefined;

  constructor(
    private readonly write: (data: Buffer) => void,
    private readonly framing: FramingName,
    private readonly onTraffic: OnTraffic | undefined,
    private readonly onError: OnError,
  ) {
    this.decoder = makeDecoder(framing);
  }

  // Asking.

  /** Send a request. Throws MessageTooLarge, or what ended the connection. */
  start<R>(method: string, params: object): Call<R> {
    if (this.ended !== undefined) throw this.ended;
    const call = new Call<R>(++this.lastId, method, (id) => this.notify("$/cancelRequest", { id }));
    this.send({ jsonrpc: "2.0", id: call.id, method, params });
    this.calls.set(call.id, call);
    return call;
  }

  /** The result. A caller that aborts, or whose time is over, has the request cancelled at the server. */
  async request<R>(method: string, params: object, options: RequestOptions = {}): Promise<R> {
    const { signal, timeoutMs } = options;
    signal?.throwIfAborted();
    const call = this.start<R>(method, params);
    const abandon = (error: unknown): void => {
      // Its answer, when it comes, finds nobody.
      if (!this.calls.delete(call.id)) return;
      this.notify("$/cancelRequest", { id: call.id });
      call.settle({ error });
    };
    const onAbort = (): void => abandon(signal?.reason);
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => abandon(new RequestTimedOut(method, timeoutMs)), timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await call.answer;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Send a notification; nothing happens when the connection has ended. */
  notify(method: string, params: object): void {
    if (this.ended === undefined) this.send({ jsonrpc: "2.0", method, params });
  }

  // Listening.

  subscribe<S extends Subscription<never>>(methods: readonly string[] | "*", options: SubscriptionOptions): S {
    const wanted = methods === ANY ? undefined : new Set(methods);
    const subscription = new Subscription<never>(wanted, options, (gone) => this.subscriptions.delete(gone));
    if (this.ended !== undefined) subscription.end(this.ended);
    else if (!options.signal?.aborted) this.subscriptions.add(subscription);
    return subscription as S;
  }

  on(method: string, callback: Callback): () => void {
    const callbacks = this.callbacks.get(method) ?? new Set();
    this.callbacks.set(method, callbacks.add(callback));
    return () => void callbacks.delete(callback);
  }

  handle(method: string, handler: Handler): void {
    this.handlers.set(method, handler);
  }

  // What comes in.

  /** Take bytes of the server. Throws ProtocolViolation; the connection is of no use after that. */
  receive(chunk: Buffer): void {
    for (const body of this.decoder.feed(chunk)) {
      this.tellTraffic("received", body);
      const value = fromBytes(body);
      for (const message of Array.isArray(value) ? value : [value]) {
        if (!isObject(message)) {
          throw new ProtocolViolation("the server wrote something that is not a JSON-RPC message", body);
        }
        this.route(message);
      }
    }
  }

  /** Nothing more will come: every waiter gets `error`; iterators end quietly when the end was `expected`. */
  end(error: ClientError, expected = false): void {
    if (this.ended !== undefined) return;
    this.ended = error;
    const calls = [...this.calls.values()];
    this.calls.clear();
    for (const call of calls) call.settle({ error });
    for (const subscription of this.subscriptions) subscription.end(expected ? undefined : error);
    this.subscriptions.clear();
    for (const cancel of this.answering.values()) cancel();
  }

  private route(message: Record<string, unknown>): void {
    const method = message["method"];
    if (method === undefined) this.takeAnswer(message);
    else if ("id" in message) void this.answer(String(method), message["id"] as Id, paramsOf(message));
    else if (method === "$/cancelRequest" || method === "$/cancel_request") this.cancelAnswering(paramsOf(message));
    else this.announce(notification(String(method), paramsOf(message)));
  }

  private takeAnswer(message: Record<string, unknown>): void {
    const call = this.findCall(message["id"]);
    // None: an answer that nobody waits for any more. Its caller aborted, or ran out of time.
    if (call === undefined) return;
    this.calls.delete(call.id);
    const error = message["error"];
    call.settle(error == null ? { result: message["result"] } : { error: rpcError(error) });
  }

  private findCall(id: unknown): Call<unknown> | undefined {
    if (typeof id === "number") return this.calls.get(id);
    // The server could not read the id (the message was too large, say); only one can be meant.
    if (id === null && this.calls.size === 1) return [...this.calls.values()][0];
    return undefined;
  }

  private announce(heard: Notification): void {
    for (const subscription of [...this.subscriptions]) subscription.offer(heard);
    for (const key of [heard.method, ANY]) {
      for (const callback of [...(this.callbacks.get(key) ?? [])]) this.call(callback, heard);
    }
  }

  private call(callback: Callback, heard: Notification): void {
    const report = (error: unknown): void => this.onError(error, `a callback for ${heard.method} failed`);
    try {
      // An async callback that fails must not become an unhandled rejection, which would end the host.
      Promise.resolve(callback(heard as never)).catch(report);
    } catch (error) {
      report(error);
    }
  }

  // Answering the server.

  private async answer(method: string, id: Id, params: Record<string, unknown>): Promise<void> {
    const key = JSON.stringify(id);
    const abort = new AbortController();
    const cancelled = new Promise<object>((resolve) => {
      this.answering.set(key, () => {
        // Answered first: a handler that gives up because of the signal is too late to answer otherwise.
        resolve(errorAnswer(id, new RpcError(REQUEST_CANCELLED, "cancelled", { reason: "requestCancelled" })));
        abort.abort();
      });
    });
    const answer = await Promise.race([cancelled, this.handlersAnswer(method, id, params, abort.signal)]);
    this.answering.delete(key);
    if (this.ended === undefined) this.sendAnswer(method, id, answer);
  }

  private sendAnswer(method: string, id: Id, answer: object): void {
    try {
      this.send(answer);
    } catch (error) {
      this.onError(error, `the answer to ${method} could not be sent`);
      this.send(errorAnswer(id, new RpcError(INTERNAL_ERROR, `the client's ${method} failed`, INTERNAL)));
    }
  }

  private async handlersAnswer(method: string, id: Id, params: object, signal: AbortSignal): Promise<object> {
    const handler = this.handlers.get(method);
    if (handler === undefined) {
      const text = `this client does not answer ${method}`;
      return errorAnswer(id, new RpcError(METHOD_NOT_FOUND, text, { reason: "methodNotFound" }));
    }
    try {
      return { jsonrpc: "2.0", id, result: (await handler(params as never, { signal })) ?? null };
    } catch (error) {
      if (error instanceof RpcError) return errorAnswer(id, error);
      if (!signal.aborted) this.onError(error, `the handler for ${method} failed`);
      return errorAnswer(id, new RpcError(INTERNAL_ERROR, `the client's ${method} failed`, INTERNAL));
    }
  }

  private cancelAnswering(params: Record<string, unknown>): void {
    this.answering.get(JSON.stringify(params["id"] ?? params["requestId"]))?.();
  }

  private tellTraffic(direction: "sent" | "received", body: Buffer): void {
    try {
      this.onTraffic?.(direction, body);
    } catch (error) {
      // The message has its way to go all the same.
      this.onError(error, "onTraffic failed");
    }
  }

  private send(message: object): void {
    const body = toBytes(message);
    if (body.length > this.maxMessageBytes) throw new MessageTooLarge(body.length, this.maxMessageBytes);
    this.tellTraffic("sent", body);
    this.write(encode(body, this.framing));
  }
}

const INTERNAL = { reason: "internalError" };

function paramsOf(message: Record<string, unknown>): Record<string, unknown> {
  const params = message["params"];
  return isObject(params) ? params : {};
}

function rpcError(error: unknown): RpcError {
  if (!isObject(error)) return new RpcError(INTERNAL_ERROR, `an error without a form: ${JSON.stringify(error)}`);
  const code = error["code"];
  return new RpcError(typeof code === "number" ? code : 0, String(error["message"] ?? ""), error["data"]);
}

function errorAnswer(id: Id, error: RpcError): object {
  const { code, text, data } = error;
  return { jsonrpc: "2.0", id, error: { code, message: text, data } };
}
