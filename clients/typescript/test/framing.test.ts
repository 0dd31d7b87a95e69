/** The framing fed in pieces of every size, without any stream. */

import assert from "node:assert/strict";
import test from "node:test";
import { ProtocolViolation } from "../src/errors.js";
import { encode, type FramingName, makeDecoder } from "../src/framing.js";

const MESSAGES = ['{"a":1}', '{"text":"\u2028 naïve 漢\\n"}', "[]", `"${"x".repeat(20_000)}"`];

for (const framing of ["lines", "headers"] as FramingName[]) {
  test(`what was encoded as ${framing} is decoded again, whatever the chunk sizes`, () => {
    const stream = Buffer.concat(MESSAGES.map((text) => encode(Buffer.from(text), framing)));
    for (const size of [1, 2, 3, 7, 64, 1000, stream.length]) {
      const decoder = makeDecoder(framing);
      const seen: string[] = [];
      for (let at = 0; at < stream.length; at += size) {
        seen.push(...decoder.feed(stream.subarray(at, at + size)).map((body) => body.toString()));
      }
      assert.deepEqual(seen, MESSAGES, `chunks of ${size}`);
    }
  });

  test(`32 MiB in pieces of 64 KiB as ${framing} cost no more than a moment`, { timeout: 10_000 }, () => {
    const stream = encode(Buffer.alloc(32 * 1024 * 1024, "x"), framing);
    const decoder = makeDecoder(framing);
    let messages = 0;
    for (let at = 0; at < stream.length; at += 65_536) messages += decoder.feed(stream.subarray(at, at + 65_536)).length;
    assert.equal(messages, 1);
  });
}

test("blank lines are nothing, and CR before LF is no part of a message that matters", () => {
  const bodies = makeDecoder("lines").feed(Buffer.from("\n \t\r\n{}\r\n\n1\n"));
  assert.deepEqual(
    bodies.map((body) => JSON.parse(body.toString())),
    [{}, 1],
  );
});

test("header names have any case, and other headers are passed over", () => {
  const text = "Content-Type: application/json\r\ncontent-LENGTH:  2\r\n\r\n{}Content-Length: 0\r\n\r\n";
  assert.deepEqual(
    makeDecoder("headers")
      .feed(Buffer.from(text))
      .map((body) => body.toString()),
    ["{}", ""],
  );
});

test("something that is no header block is found out", () => {
  const endless = Buffer.alloc(9000, "x");
  assert.throws(() => makeDecoder("headers").feed(endless), ProtocolViolation);
  assert.throws(() => makeDecoder("headers").feed(Buffer.from("Length: 2\r\n\r\n{}")), ProtocolViolation);
});
