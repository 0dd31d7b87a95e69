/**
 * Everything this package throws on purpose:
 *
 * - ClientError
 *   - RpcError             the server answered with an error
 *   - CannotStart          the program could not be started
 *   - ServerExited         the server ended while something waited for it
 *   - ConnectionClosed     this client was closed while something waited for it
 *   - ProtocolViolation    what came from the server was not JSON-RPC
 *   - RequestTimedOut      no answer within the caller's time limit
 *   - MessageTooLarge      the server would refuse the message unread, so it was not sent
 *   - FellBehind           a subscription was read too slowly and lost notifications
 *
 * A request whose AbortSignal fires rejects with the signal's own reason, as everywhere in Node.
 */

import type { ErrorReason } from "./protocol.js";

export class ClientError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** A reason of this version of the protocol; a newer server may have others. */
export type Reason = ErrorReason | (string & {});

/** An error answer. Compare with `reason`; `data` is all that came with it. */
export class RpcError extends ClientError {
  readonly data: Record<string, unknown>;
  readonly reason: Reason;
  /** The server's own sentence, without the reason. */
  readonly text: string;

  constructor(
    readonly code: number,
    text: string,
    data?: unknown,
  ) {
    const fields = isObject(data) ? data : {};
    const reason = String(fields["reason"] ?? "");
    super(`${text} (${reason || code})`);
    this.text = text;
    this.data = fields;
    this.reason = reason;
  }

  /** Milliseconds to wait before asking again, when the server said so. */
  get retryAfterMs(): number | undefined {
    const value = this.data["retryAfterMs"];
    return typeof value === "number" ? value : undefined;
  }
}

export class CannotStart extends ClientError {}

/** `code` is the exit code, null when a signal ended it; `stderrTail` the last it wrote there. */
export class ServerExited extends ClientError {
  constructor(
    readonly code: number | null,
    readonly signal: string | null,
    readonly stderrTail: string,
  ) {
    const ended = code === null ? `was ended by signal ${signal}` : `exited with code ${code}`;
    const said = stderrTail ? `. Its last words on stderr:\n${stderrTail}` : ", and wrote nothing to stderr";
    super(`the server ${ended} before it answered${said}`);
  }
}

export class ConnectionClosed extends ClientError {
  constructor() {
    super("this client has been closed");
  }
}

export class ProtocolViolation extends ClientError {
  constructor(what: string, seen: Buffer) {
    const start = JSON.stringify(seen.subarray(0, 120).toString("utf8"));
    super(`${what}: ${start}. Does the command start an rpc-agent server?`);
  }
}

export class RequestTimedOut extends ClientError {
  constructor(method: string, ms: number) {
    super(`no answer to ${method} within ${ms} ms; the request was cancelled`);
  }
}

export class MessageTooLarge extends ClientError {
  constructor(size: number, limit: number) {
    super(
      `the message has ${size} bytes and the server reads at most ${limit}; ` +
        "send less, or start the server with a larger --max-message-bytes",
    );
  }
}

export class FellBehind extends ClientError {
  constructor(limit: number) {
    super(
      `more than ${limit} notifications waited to be read, so this subscription was ended; ` +
        "get_events fills the gap, deltas: 'merged' makes fewer of them",
    );
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
