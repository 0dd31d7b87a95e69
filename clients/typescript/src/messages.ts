/** What a client hears: notifications, and JSON in and out. Says nothing of who asks or answers. */

import { isObject, ProtocolViolation } from "./errors.js";
import type { Notifications } from "./protocol.js";

export type NotificationName = keyof Notifications;

/** One event of a session; `method` tells which, `params` are its fields as the protocol names them. */
export type Notification<M extends NotificationName = NotificationName> = {
  [N in M]: NotificationFields & { readonly method: N; readonly params: Notifications[N] };
}[M];

interface NotificationFields {
  /** The session it is about; undefined for the few that are about the connection. */
  readonly sessionId: string | undefined;
  /** Grows by one per session without gaps. */
  readonly seq: number | undefined;
  /** The piece of answer text that a message_update brings; "" for everything else. */
  readonly textDelta: string;
  /** The piece of thinking that a message_update brings; "" for everything else. */
  readonly thinkingDelta: string;
}

class Heard implements NotificationFields {
  constructor(
    readonly method: string,
    readonly params: Record<string, unknown>,
  ) {}

  get sessionId(): string | undefined {
    return this.params["sessionId"] as string | undefined;
  }

  get seq(): number | undefined {
    return this.params["seq"] as number | undefined;
  }

  get textDelta(): string {
    return this.delta("text_delta");
  }

  get thinkingDelta(): string {
    return this.delta("thinking_delta");
  }

  private delta(kind: string): string {
    const event = this.params["assistantMessageEvent"];
    return isObject(event) && event["type"] === kind ? String(event["delta"] ?? "") : "";
  }
}

/** A newer server may send methods that the types do not know; they pass through like the others. */
export function notification(method: string, params: Record<string, unknown>): Notification {
  return new Heard(method, params) as unknown as Notification;
}

/** Throws TypeError for what JSON cannot hold: NaN and infinities (JSON.stringify would send null), bigints, cycles. */
export function toBytes(message: object): Buffer {
  // A lone surrogate has no UTF-8 form; JSON.stringify writes it as an escape.
  return Buffer.from(JSON.stringify(message, refuseOddNumbers), "utf8");
}

function refuseOddNumbers(key: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new TypeError(`${value} (in ${JSON.stringify(key)}) has no form in JSON`);
  }
  return value;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

export function fromBytes(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    throw new ProtocolViolation("the server wrote something that is not JSON", body);
  }
}
