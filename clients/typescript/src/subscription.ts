/** Notifications as an asynchronous iterator, in order, from the moment it is made. Asks the server nothing. */

import { type ClientError, FellBehind } from "./errors.js";
import type { Call } from "./connection.js";
import type { Notification, NotificationName } from "./messages.js";

/** Some tens of megabytes. A reader that far behind is stuck, and memory must not grow for it. */
export const DEFAULT_MAX_BUFFERED = 100_000;

export interface SubscriptionOptions {
  /** Only of this session. */
  sessionId?: string;
  /** Past this many unread ones the subscription ends with FellBehind. */
  maxBuffered?: number;
  /** Ends the iteration quietly. */
  signal?: AbortSignal;
}

/** An answer in its place among the notifications. */
class Mark {
  constructor(readonly call: Call<unknown>) {}
}

/**
 * `for await` over notifications; ends when the client closes, throws ServerExited when the server dies. Leaving the
 * loop closes it.
 */
export class Subscription<M extends NotificationName = NotificationName> implements AsyncIterableIterator<Notification<M>> {
  private waiting: (Notification | Mark)[] = [];
  private head = 0;
  private readers: (() => void)[] = [];
  private closed = false;
  private error: ClientError | undefined;
  private readonly maxBuffered: number;

  /** @internal */
  constructor(
    private readonly methods: ReadonlySet<string> | undefined,
    private readonly options: SubscriptionOptions,
    private readonly forget: (subscription: Subscription<M>) => void,
  ) {
    this.maxBuffered = options.maxBuffered ?? DEFAULT_MAX_BUFFERED;
    if (options.signal?.aborted) this.close();
    options.signal?.addEventListener("abort", this.close, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Notification<M>, undefined>> {
    for (;;) {
      const item = await this.take();
      if (item === undefined) return { done: true, value: undefined };
      if (!(item instanceof Mark)) return { done: false, value: item as Notification<M> };
    }
  }

  async return(): Promise<IteratorResult<Notification<M>, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  /**
   * Everything that comes before the answer to `call`, then the end; the subscription stays open. The result, or the
   * error, is the caller's to take from the call itself.
   */
  async *until(call: Call<unknown>): AsyncGenerator<Notification<M>, void, undefined> {
    const mark = new Mark(call);
    call.whenSettled(() => this.push(mark));
    for (let item = await this.take(); item !== undefined && item !== mark; item = await this.take()) {
      if (!(item instanceof Mark)) yield item as Notification<M>;
    }
  }

  /** What was received already can still be read; then the iterator ends. */
  readonly close = (): void => {
    this.end(undefined);
    this.forget(this);
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  private async take(): Promise<Notification | Mark | undefined> {
    while (this.head === this.waiting.length) {
      if (this.error !== undefined) throw this.error;
      if (this.closed) return undefined;
      await new Promise<void>((resolve) => this.readers.push(resolve));
    }
    const item = this.waiting[this.head++];
    // Taking from the front of a long array costs its length; the read part is dropped when it is the larger one.
    if (this.head > 1024 && this.head * 2 > this.waiting.length) {
      this.waiting = this.waiting.slice(this.head);
      this.head = 0;
    }
    return item;
  }

  private push(item: Notification | Mark): void {
    this.waiting.push(item);
    this.wake();
  }

  private wake(): void {
    for (const resolve of this.readers.splice(0)) resolve();
  }

  /** @internal The connection's side. */
  offer(notification: Notification): void {
    if (this.closed) return;
    if (this.methods !== undefined && !this.methods.has(notification.method)) return;
    if (this.options.sessionId !== undefined && notification.sessionId !== this.options.sessionId) return;
    if (this.waiting.length - this.head >= this.maxBuffered) {
      this.end(new FellBehind(this.maxBuffered));
      this.forget(this);
      return;
    }
    this.push(notification);
  }

  /** @internal */
  end(error: ClientError | undefined): void {
    if (this.closed) return;
    this.closed = true;
    this.error = error;
    this.options.signal?.removeEventListener("abort", this.close);
    this.wake();
  }
}
