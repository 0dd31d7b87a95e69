/** The words of protocol/examples/README.md, one by one. */

import assert from "node:assert/strict";
import test from "node:test";
import { filled, fits } from "./patterns.js";

const FITTING: [unknown, unknown][] = [
  [{ a: 1 }, { a: 1, b: 2 }],
  [{ a: null }, { a: null }],
  [{ a: "<any>" }, { a: null }],
  [{ a: "<absent>" }, {}],
  [{ a: "<string>" }, { a: "" }],
  [{ a: "<array>", b: "<object>" }, { a: [], b: {} }],
  ["<contains:x y>", "-x y-"],
  ["<contains:x>", { deep: ["x"] }],
  [[1, "<rest>"], [1, 2, 3]],
  [["<in any order>", { i: 1 }, { i: 2 }], [{ i: 2 }, { i: 1 }]],
  [{ a: "<string:n>", b: "<string:n>" }, { a: "x", b: "x" }],
];
const OTHER: [unknown, unknown][] = [
  [{ a: 1 }, { a: true }],
  [{ a: null }, {}],
  [{ a: "<any>" }, {}],
  [{ a: "<absent>" }, { a: null }],
  [{ a: "<number>" }, { a: true }],
  [{ a: 1 }, [1]],
  ["<contains:x>", "y"],
  [[1, "<rest>"], []],
  [[1], [1, 2]],
  [["<in any order>", { i: 1 }, { i: 1 }], [{ i: 2 }, { i: 1 }]],
  [{ a: "<string:n>", b: "<string:n>" }, { a: "x", b: "y" }],
];

test("patterns fit what they describe and nothing else", () => {
  for (const [pattern, value] of FITTING) assert.ok(fits(pattern, value, new Map()), JSON.stringify([pattern, value]));
  for (const [pattern, value] of OTHER) assert.equal(fits(pattern, value, new Map()), undefined, JSON.stringify(pattern));
});

test("a name is remembered and sent", () => {
  const known = fits({ id: "<string:entry>" }, { id: "3fa2" }, new Map());
  assert.deepEqual(filled({ params: ["<string:entry>", "plain"] }, known ?? new Map()), { params: ["3fa2", "plain"] });
});
