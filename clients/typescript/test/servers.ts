/** Where the servers are that the tests talk to: the real one, and one that follows a script. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = findRoot();
const SCRIPTS = join(ROOT, ".venv", process.platform === "win32" ? "Scripts" : "bin");
const PYTHON = process.env["RPC_AGENT_PYTHON"] ?? join(SCRIPTS, "python");
const FAKE = join(ROOT, "tests", "support", "fake_rpc_server.py");

export const EXAMPLES = join(ROOT, "protocol", "examples");
/** No wait of a test is longer: a machine under load is slow, but not that slow. */
export const WAIT = { timeout: 30_000 };

function findRoot(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "protocol", "types.ts"))) return folder;
  }
  throw new Error("the tests run inside the repository");
}

export function temporaryFolder(test: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "rpc-agent-client-"));
  test.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

export type Script = Record<string, Record<string, unknown>[]>;
type Message = Record<string, any>;

/** A server that does what the script says for each method; the format is told in tests/support/fake_rpc_server.py. */
export class FakeServer {
  readonly command: string[];
  private readonly record: string;

  constructor(test: TestContext, script: Script) {
    const folder = temporaryFolder(test);
    this.record = join(folder, "record.jsonl");
    writeFileSync(join(folder, "script.json"), JSON.stringify(script));
    this.command = [PYTHON, "-S", FAKE, join(folder, "script.json"), this.record];
  }

  /** Every message the server has read, in order. */
  received(): Message[] {
    return readFileSync(this.record, "utf8")
      .split("\n")
      .filter((line) => line)
      .map((line) => JSON.parse(line) as Message);
  }
}

/**
 * The real server, for a user with a project and nothing configured but what is given. `paceMs` slows the offline
 * model down: before each dozen characters, so that there is something to stop.
 */
export function realServer(test: TestContext, files: Record<string, string>, settings: object = {}, paceMs = 0) {
  const home = temporaryFolder(test);
  const [project, config] = [join(home, "project"), join(home, "config")];
  for (const folder of [project, config]) mkdirSync(folder);
  writeFileSync(join(config, "settings.json"), JSON.stringify(settings));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  const env = {
    PATH: process.env["PATH"],
    SYSTEMROOT: process.env["SYSTEMROOT"],
    HOME: home,
    RPC_AGENT_CONFIG_DIR: config,
    RPC_AGENT_SESSION_DIR: join(home, "sessions"),
    RPC_AGENT_OFFLINE_PACE_MS: String(paceMs),
  };
  return { command: [PYTHON, "-m", "rpc_agent", "serve"], options: { cwd: project, env }, project };
}

export function isRunning(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
