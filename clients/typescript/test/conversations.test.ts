/** The conversations of protocol/examples, replayed against the real server over this client's own transport. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { encode, type FramingName, makeDecoder } from "../src/framing.js";
import { fromBytes, toBytes } from "../src/messages.js";
import { ServerProcess } from "../src/process.js";
import { filled, fits } from "./patterns.js";
import { EXAMPLES, realServer } from "./servers.js";

type Step = Record<string, any>;
const PATIENCE = { timeout: 60_000 };
// Its steps are lines that are broken in ways that only lines can be.
const LINES_ONLY = "hostile_input";

function readConversation(name: string): [Step, ...Step[]] {
  const lines = readFileSync(join(EXAMPLES, name), "utf8").split("\n");
  return lines.filter((line) => line).map((line) => JSON.parse(line) as Step) as [Step, ...Step[]];
}

function filesOf(head: Step): Record<string, string> {
  const described = Object.entries<string | { text: string; times: number }>(head["files"] ?? {});
  return Object.fromEntries(
    described.map(([path, text]) => [path, typeof text === "string" ? text : text.text.repeat(text.times)]),
  );
}

class Replay {
  private readonly arrived: unknown[] = [];
  private known: ReadonlyMap<string, string> = new Map();
  private wake: () => void = () => {};
  private server!: ServerProcess;
  private code: number | null | undefined;

  private constructor(private readonly framing: FramingName) {}

  static async start(t: TestContext, files: Record<string, string>, framing: FramingName): Promise<Replay> {
    const replay = new Replay(framing);
    const { command, options } = realServer(t, files);
    const decoder = makeDecoder(framing);
    replay.server = await ServerProcess.start(command, {
      ...options,
      muteMs: 5000,
      onStderr: undefined,
      onBytes: (chunk) => {
        replay.arrived.push(...decoder.feed(chunk).map(fromBytes));
        replay.wake();
      },
      onExit: (code) => {
        replay.code = code;
        replay.wake();
      },
    });
    t.after(() => replay.server.kill());
    return replay;
  }

  async take(step: Step): Promise<void> {
    if ("receive" in step) return this.receive(step["receive"]);
    if ("exit" in step) {
      this.server.closeStdin();
      await this.server.wait(PATIENCE.timeout);
      assert.equal(this.code, step["exit"], this.server.stderrTail);
      return;
    }
    this.server.send(this.bytesOf(step));
    if (step["end"]) this.server.closeStdin();
  }

  private bytesOf(step: Step): Buffer {
    if ("send" in step) return encode(toBytes(filled(step["send"], this.known) as object), this.framing);
    if ("sendText" in step) return Buffer.from(step["sendText"] + (step["end"] ? "" : "\n"));
    if ("sendBase64" in step) return Buffer.concat([Buffer.from(step["sendBase64"], "base64"), Buffer.from("\n")]);
    const { text, times } = step["sendRepeated"];
    return Buffer.from(`${text.repeat(times)}\n`);
  }

  private async receive(pattern: unknown): Promise<void> {
    const passed: unknown[] = [];
    for (;;) {
      while (this.arrived.length > 0) {
        const message = this.arrived.shift();
        const known = fits(pattern, message, this.known);
        if (known !== undefined) {
          this.known = known;
          return;
        }
        passed.push(message);
      }
      const said = `waited for ${JSON.stringify(pattern)}, passed over ${JSON.stringify(passed).slice(0, 4000)}`;
      assert.equal(this.code, undefined, `the server ended; ${said}`);
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}

for (const file of readdirSync(EXAMPLES).filter((name) => name.endsWith(".jsonl"))) {
  for (const framing of ["lines", "headers"] as FramingName[]) {
    if (framing === "headers" && file.startsWith(LINES_ONLY)) continue;
    test(`${file} goes as it is written, with ${framing}`, PATIENCE, async (t) => {
      const [head, ...steps] = readConversation(file);
      const replay = await Replay.start(t, filesOf(head), framing);
      for (const step of steps) await replay.take(step);
      if (!("exit" in (steps.at(-1) ?? {}))) await replay.take({ exit: 0 });
    });
  }
}
