/** Cuts a byte stream into messages and puts messages into bytes, in both framings. Knows no JSON and does no I/O. */

import { ProtocolViolation } from "./errors.js";

export type FramingName = "lines" | "headers";

export interface Decoder {
  /** The messages that `chunk` completes; what is unfinished is kept for the next call. */
  feed(chunk: Buffer): Buffer[];
}

// A header block is a few dozen bytes; more without its end means that something else is talking.
const MAX_HEADER_BYTES = 8192;
const LF = 0x0a;
const HEADER_END = "\r\n\r\n";

export function encode(body: Buffer, framing: FramingName): Buffer {
  const [before, after] = framing === "headers" ? [`Content-Length: ${body.length}\r\n\r\n`, ""] : ["", "\n"];
  return Buffer.concat([Buffer.from(before), body, Buffer.from(after)]);
}

export function makeDecoder(framing: FramingName): Decoder {
  return framing === "headers" ? new HeaderDecoder() : new LineDecoder();
}

/** One message per line; blank lines are nothing. Linear in the bytes fed, whatever the chunk sizes. */
export class LineDecoder implements Decoder {
  private unfinished: Buffer[] = [];

  feed(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.unfinished.push(chunk.subarray(start, end));
      lines.push(Buffer.concat(this.unfinished));
      this.unfinished = [];
      start = end + 1;
    }
    if (start < chunk.length) this.unfinished.push(chunk.subarray(start));
    return lines.filter((line) => !isBlank(line));
  }
}

/** `Content-Length: N`, a blank line, N bytes. Linear too: a large body is joined once, when it is whole. */
export class HeaderDecoder implements Decoder {
  private pieces: Buffer[] = [];
  private size = 0;
  private wanted: number | undefined;

  feed(chunk: Buffer): Buffer[] {
    this.pieces.push(chunk);
    this.size += chunk.length;
    const messages: Buffer[] = [];
    for (let body = this.take(); body !== undefined; body = this.take()) messages.push(body);
    return messages;
  }

  private take(): Buffer | undefined {
    this.wanted ??= this.takeHeader();
    if (this.wanted === undefined || this.size < this.wanted) return undefined;
    const all = this.join();
    const body = all.subarray(0, this.wanted);
    this.keep(all.subarray(this.wanted));
    this.wanted = undefined;
    return body;
  }

  private takeHeader(): number | undefined {
    const all = this.join();
    const end = all.subarray(0, MAX_HEADER_BYTES).indexOf(HEADER_END);
    if (end < 0) {
      if (all.length >= MAX_HEADER_BYTES) throw new ProtocolViolation("no end of a header block", all);
      return undefined;
    }
    this.keep(all.subarray(end + HEADER_END.length));
    return contentLength(all.subarray(0, end));
  }

  private join(): Buffer {
    if (this.pieces.length !== 1) this.pieces = [Buffer.concat(this.pieces)];
    return this.pieces[0] as Buffer;
  }

  private keep(rest: Buffer): void {
    this.pieces = [rest];
    this.size = rest.length;
  }
}

function contentLength(header: Buffer): number {
  const match = /^content-length[ \t]*:[ \t]*(\d+)[ \t]*$/im.exec(header.toString("latin1").replaceAll("\r\n", "\n"));
  if (match === null) throw new ProtocolViolation("a header block without a Content-Length", header);
  return Number(match[1]);
}

function isBlank(line: Buffer): boolean {
  // Space, tab, CR: a line of JSON has something else among its first bytes.
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
