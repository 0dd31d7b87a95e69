/** The README's program is the example, and the example runs as a reader would run it: with the built package. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { realServer } from "./servers.js";

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));

test("the README shows the example as it is", () => {
  const shown = /^<!-- examples\/quick-start.ts -->\n```ts\n(.*?)^```$/ms.exec(readFileSync(join(PACKAGE, "README.md"), "utf8"));
  assert.equal(shown?.[1], readFileSync(join(PACKAGE, "examples", "quick-start.ts"), "utf8"));
});

test("the example does what it says", { timeout: 60_000 }, async (t) => {
  const { command, options } = realServer(t, { "README.md": "# Tea timer\n" });
  const env = { ...options.env, PATH: dirname(command[0] as string) + delimiter + options.env.PATH };
  const program = join(PACKAGE, "build", "examples", "quick-start.js");
  const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: options.cwd, env });
  assert.match(stdout, /^\[ls\]\n[^]*README\.md[^]*\nstop\nnothingToCompact -32020 /);
});
