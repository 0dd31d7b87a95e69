/**
 * The server's process: starts it, carries bytes both ways, and ends it for certain. Knows nothing of messages.
 */

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { CannotStart } from "./errors.js";

// A traceback and a few log lines; enough to tell why a server died.
const STDERR_TAIL_BYTES = 8 * 1024;
// A log line longer than this is handed on in pieces: memory must not grow for it.
const STDERR_LINE_CHARS = 64 * 1024;
// After the exit, what is still in the pipes is read; a grandchild that keeps them open is not waited for.
const PIPE_DRAIN_MS = 1000;
const IS_WINDOWS = process.platform === "win32";
const TASKKILL = join(process.env["SYSTEMROOT"] ?? "C:\\Windows", "System32", "taskkill.exe");

export interface ProcessOptions {
  cwd: string | undefined;
  /** Replaces the environment. */
  env: NodeJS.ProcessEnv | undefined;
  /** How long it may live on without its stdout. */
  muteMs: number;
  onBytes: (chunk: Buffer) => void;
  onStderr: ((line: string) => void) | undefined;
  /** Once, after the last onBytes. */
  onExit: (code: number | null, signal: NodeJS.Signals | null) => void;
}

// A host that calls process.exit() closes nothing. The servers would see the end of their stdin; told, they go at once.
const running = new Set<ServerProcess>();
function endAllAtExit(): void {
  for (const server of running) server.terminate();
}

export class ServerProcess {
  private readonly child: ChildProcessWithoutNullStreams;
  private tail = Buffer.alloc(0);
  private exited = false;
  private readonly exit: Promise<void>;
  private tellExit!: () => void;
  private draining: Promise<void> | undefined;
  private ended = false;

  /** Rejects with CannotStart, which names the command. */
  static async start(command: readonly string[], options: ProcessOptions): Promise<ServerProcess> {
    const server = new ServerProcess(command, options);
    await new Promise<void>((resolve, reject) => {
      server.child.once("spawn", resolve);
      server.child.once("error", (error) => reject(cannotStart(command, options.cwd, error)));
    });
    server.carry();
    return server;
  }

  private constructor(
    command: readonly string[],
    private readonly options: ProcessOptions,
  ) {
    // From plain JavaScript no compiler says it.
    if (typeof command === "string") throw new CannotStart(`give the command as an array of words, not as "${command}"`);
    const [program, ...args] = command;
    if (program === undefined) throw new CannotStart("no command to start");
    const env = options.env ?? process.env;
    this.exit = new Promise((resolve) => (this.tellExit = resolve));
    try {
      this.child = spawn(withItsPlace(program, env), args, {
        cwd: options.cwd,
        env,
        stdio: ["pipe", "pipe", "pipe"],
        // A group of its own: Ctrl-C in the host's terminal is for the host, which decides what to tell the server.
        detached: !IS_WINDOWS,
        // A host without a console must not see one flash up.
        windowsHide: true,
      });
    } catch (error) {
      throw cannotStart(command, options.cwd, error);
    }
    // Before anything can be written: a server that is going breaks the pipe, and its exit tells it better.
    this.child.stdin.on("error", () => {});
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get stderrTail(): string {
    return this.tail.toString("utf8").trim();
  }

  /** Queue bytes for the server. Never blocks; `drain` waits until few enough are queued. */
  send(data: Buffer): void {
    const { stdin } = this.child;
    if (!stdin.writable || stdin.write(data) || this.draining !== undefined) return;
    this.draining = new Promise<void>((resolve) => {
      stdin.once("drain", resolve);
      stdin.once("close", resolve);
    }).finally(() => (this.draining = undefined));
  }

  /** Undefined when there is nothing to wait for. */
  drain(): Promise<void> | undefined {
    return this.draining;
  }

  /** Let the server see the end of its input, after what is queued. */
  closeStdin(): void {
    this.child.stdin.end();
  }

  /** Whether the process has ended within the time. */
  async wait(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
    await Promise.race([this.exit, limit]);
    clearTimeout(timer);
    return this.ended;
  }

  /** Ask the process to end. Windows has no such request: the end of stdin was it. */
  terminate(): void {
    if (!IS_WINDOWS && !this.exited) this.child.kill("SIGTERM");
  }

  /** End the process and whatever still runs in its group, at once. */
  kill(): void {
    const { pid } = this.child;
    if (this.exited || pid === undefined) return;
    if (IS_WINDOWS) spawnSync(TASKKILL, ["/PID", String(pid), "/T", "/F"], { windowsHide: true });
    else killGroup(pid);
    this.child.kill("SIGKILL");
  }

  private carry(): void {
    const { child, options } = this;
    if (running.size === 0) process.on("exit", endAllAtExit);
    running.add(this);
    child.on("error", () => {});
    child.stdout.on("data", options.onBytes);
    child.stdout.once("end", () => void this.endAMuteServer());
    this.readStderr();
    child.once("exit", (code, signal) => {
      this.exited = true;
      const done = (): void => this.finish(code, signal);
      const timer = setTimeout(done, PIPE_DRAIN_MS);
      child.once("close", () => {
        clearTimeout(timer);
        done();
      });
    });
  }

  private finish(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.ended) return;
    this.ended = true;
    running.delete(this);
    if (running.size === 0) process.off("exit", endAllAtExit);
    // A grandchild may hold the other ends; ours must not keep the host alive.
    for (const stream of [this.child.stdin, this.child.stdout, this.child.stderr]) stream.destroy();
    this.options.onExit(code, signal);
    this.tellExit();
  }

  private async endAMuteServer(): Promise<void> {
    // Without its stdout it can answer nobody; everybody who waits hears of it by the exit.
    if (await this.wait(this.options.muteMs)) return;
    this.terminate();
    if (!(await this.wait(this.options.muteMs))) this.kill();
  }

  private readStderr(): void {
    const decoder = new StringDecoder("utf8");
    let unfinished = "";
    this.child.stderr.on("data", (chunk: Buffer) => {
      this.tail = Buffer.concat([this.tail, chunk]).subarray(-STDERR_TAIL_BYTES);
      if (this.options.onStderr === undefined) return;
      const lines = (unfinished + decoder.write(chunk)).split("\n");
      unfinished = lines.pop() ?? "";
      if (unfinished.length > STDERR_LINE_CHARS) lines.push(unfinished), (unfinished = "");
      for (const line of lines) this.options.onStderr(line.replace(/\r$/, ""));
    });
    this.child.stderr.once("end", () => {
      if (unfinished) this.options.onStderr?.(unfinished);
    });
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has gone meanwhile.
  }
}

/**
 * The absolute path of a program that is given without a folder. Windows would look into the folder of the project
 * first, and a project may hold an `rpc-agent.exe` of its own. Throws where it is nowhere on PATH.
 */
function withItsPlace(program: string, env: NodeJS.ProcessEnv): string {
  if (program.includes("/") || (IS_WINDOWS && program.includes("\\"))) return program;
  // The names of variables have no case on Windows, but a copy of them has.
  const path = Object.entries(env).find(([name]) => (IS_WINDOWS ? name.toUpperCase() : name) === "PATH")?.[1] ?? "";
  const endings = IS_WINDOWS && !/\.\w+$/.test(program) ? [".com", ".exe"] : [""];
  for (const folder of path.split(delimiter).filter((each) => isAbsolute(each))) {
    for (const ending of endings) {
      const place = join(folder, program + ending);
      if (isProgram(place)) return place;
    }
  }
  throw new Error(`there is no ${program}`);
}

function isProgram(place: string): boolean {
  try {
    accessSync(place, constants.X_OK);
    return statSync(place).isFile();
  } catch {
    return false;
  }
}

function cannotStart(command: readonly string[], cwd: string | undefined, error: unknown): CannotStart {
  const where = cwd !== undefined && !existsSync(cwd) ? ` in ${cwd} (there is no such folder)` : "";
  const why = error instanceof Error ? error.message : String(error);
  return new CannotStart(`could not start "${command.join(" ")}"${where}: ${why}. Is it installed and on PATH?`);
}
