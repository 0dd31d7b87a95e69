/** The client against a real process that follows a script. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import {
  CannotStart,
  Client,
  ConnectionClosed,
  FellBehind,
  type FramingName,
  MessageTooLarge,
  type Notification,
  ProtocolViolation,
  RequestTimedOut,
  RpcError,
  ServerExited,
} from "../src/index.js";
import { all, FakeServer, isRunning, type Script, temporaryFolder, WAIT } from "./servers.js";

const POSIX = { ...WAIT, skip: process.platform === "win32" ? "signals" : false };
const QUIET = { onError: () => {} };
const never = new Promise<never>(() => {});

for (const framing of ["lines", "headers"] as FramingName[]) {
  test(`a request gets its result with ${framing}`, WAIT, async (t) => {
    const server = new FakeServer(t, { prompt: [{ echo: null }] });
    const client = await Client.open(server.command, { framing });
    const params = { message: "naïve \u2028 \ud800 漢" };
    assert.deepEqual(await client.request("prompt", params), params);
    await client.close();
    assert.equal(client.exitCode, 0);
    assert.deepEqual(
      server.received().map((message) => message["method"]),
      ["prompt", "shutdown", "exit"],
    );
  });
}

test("typed methods send the names of the protocol and leave out what was not given", WAIT, async (t) => {
  const answer = { messages: [], models: [], aborted: true, model: { id: "m", provider: "p" } };
  const server = new FakeServer(t, { "?": [{ answer }] });
  await Client.spawn(server.command, {}, async (client) => {
    await client.newSession({ cwd: "/w", thinkingLevel: "low" });
    await client.openSession({ latest: true });
    await client.prompt("hi", { wait: true, streamingBehavior: "followUp", expectedLeafId: "e" });
    assert.deepEqual(await client.getMessages(), []);
    await client.compact({ customInstructions: "keep names", keepRecentTokens: 200 });
    assert.equal(await client.abortCompaction({ sessionId: "s" }), true);
    await client.navigateTree(null, { summarize: false });
    assert.deepEqual(await client.setModel("p", "m"), { id: "m", provider: "p" });
    await client.getEvents(3, { streamId: "x" });
    await client.ping();
  });
  assert.deepEqual(
    server.received().map((message) => [message["method"], message["params"]]),
    [
      ["new_session", { cwd: "/w", thinkingLevel: "low" }],
      ["open_session", { latest: true }],
      ["prompt", { message: "hi", wait: true, streamingBehavior: "followUp", expectedLeafId: "e" }],
      ["get_messages", {}],
      ["compact", { customInstructions: "keep names", keepRecentTokens: 200 }],
      ["abort_compaction", { sessionId: "s" }],
      ["navigate_tree", { targetId: null, summarize: false }],
      ["set_model", { provider: "p", modelId: "m" }],
      ["get_events", { since: 3, streamId: "x" }],
      ["ping", {}],
      ["shutdown", {}],
      ["exit", {}],
    ],
  );
});

test("initialize says which process asks and learns the largest message", WAIT, async (t) => {
  const limits = { maxMessageBytes: 200, maxInFlight: 8 };
  const server = new FakeServer(t, { initialize: [{ answer: { limits } }], prompt: [{ echo: null }] });
  await Client.spawn(server.command, {}, async (client) => {
    await client.initialize({ name: "editor", version: "3", capabilities: { ui: true } });
    await assert.rejects(client.prompt("x".repeat(200)), MessageTooLarge);
    assert.deepEqual(await client.prompt("short"), { message: "short" });
  });
  assert.deepEqual(server.received()[0]?.["params"], {
    protocolVersion: 1,
    clientInfo: { name: "editor", version: "3" },
    processId: process.pid,
    capabilities: { ui: true },
  });
});

test("an error answer carries code, message, data and reason", WAIT, async (t) => {
  const data = { reason: "overloaded", retryAfterMs: 40 };
  const server = new FakeServer(t, { prompt: [{ error: [-32050, "too much at once", data] }] });
  await Client.spawn(server.command, {}, async (client) => {
    const error = await client.prompt("hi").catch((caught: unknown) => caught);
    assert.ok(error instanceof RpcError);
    const { code, message, text, reason, retryAfterMs, name } = error;
    assert.deepEqual([code, message, text, error.data, reason, retryAfterMs, name], [
      -32050,
      "too much at once (overloaded)",
      "too much at once",
      data,
      "overloaded",
      40,
      "RpcError",
    ]);
  });
});

test("an error without id goes to the only request that waits", WAIT, async (t) => {
  const error = [-32600, "too large", { reason: "messageTooLarge" }];
  const server = new FakeServer(t, { prompt: [{ error_without_id: error }] });
  await Client.spawn(server.command, {}, (client) => assert.rejects(client.prompt("hi"), { reason: "messageTooLarge" }));
});

test("answers in another order reach the right caller", WAIT, async (t) => {
  const script = { slow: [{ await: "fast" }, { await: "go" }, { answer: "slow one" }], fast: [{ answer: "fast one" }] };
  await Client.spawn(new FakeServer(t, script).command, {}, async (client) => {
    const slow = client.start("slow");
    assert.deepEqual([await client.start("fast"), slow.settled], ["fast one", false]);
    client.notify("go");
    assert.equal(await slow, "slow one");
  });
});

test("a message of many megabytes comes through both ways", WAIT, async (t) => {
  const size = 20 * 1024 * 1024;
  const server = new FakeServer(t, { prompt: [{ big: size }] });
  const result = await Client.spawn(server.command, {}, (client) => client.prompt("y".repeat(size)));
  assert.equal(result.text?.length, size);
  assert.equal(server.received()[0]?.["params"].message.length, size);
});

test("requests keep their order when the server is slow to read", WAIT, async (t) => {
  const server = new FakeServer(t, { prompt: [{ answer: {} }], ping: [{ answer: {} }] });
  await Client.spawn(server.command, {}, async (client) => {
    const large = client.prompt("z".repeat(4 * 1024 * 1024));
    await Promise.all([large, client.ping(), client.prompt("second"), client.ping()]);
  });
  assert.deepEqual(
    server.received().map((message) => message["id"]),
    [1, 2, 3, 4, 5, undefined],
  );
});

test("an iterator gives every notification in order and ends with the client", WAIT, async (t) => {
  const server = new FakeServer(t, {
    prompt: [
      { answer: {} },
      { notify: ["agent_start", { sessionId: "a", seq: 1 }] },
      { notify: ["turn_start", { sessionId: "b", seq: 1 }] },
      { notify: ["turn_start", { sessionId: "a", seq: 2 }] },
    ],
    ping: [{ answer: {} }],
  });
  const streams = await Client.spawn(server.command, {}, async (client) => {
    const made = [
      client.notifications(),
      client.notifications("*", { sessionId: "a" }),
      client.notifications(["turn_start"]),
    ];
    await client.prompt("hi");
    await client.ping();
    return made;
  });
  const seen = [];
  for (const stream of streams) seen.push((await all(stream)).map((n) => [n.method, n.sessionId, n.seq]));
  const [first, other, second] = [["agent_start", "a", 1], ["turn_start", "b", 1], ["turn_start", "a", 2]];
  assert.deepEqual(seen, [[first, other, second], [first, second], [other, second]]);
});

test("a call can be followed until its answer, and not further", WAIT, async (t) => {
  const delta = { type: "text_delta", contentIndex: 0, delta: "hel" };
  const server = new FakeServer(t, {
    prompt: [
      { notify: ["message_update", { assistantMessageEvent: delta }] },
      { notify: ["agent_settled", {}] },
      { answer: { text: "hel" } },
      { notify: ["leaf_changed", {}] },
    ],
    ping: [{ answer: {} }],
  });
  await Client.spawn(server.command, {}, async (client) => {
    const stream = client.notifications(["message_update", "agent_settled", "leaf_changed"]);
    for (const later of [[], [["leaf_changed", ""]]]) {
      const call = client.start("prompt", { message: "hi" });
      const seen = (await all(stream.until(call))).map((n) => [n.method, n.textDelta]);
      assert.deepEqual(seen, [...later, ["message_update", "hel"], ["agent_settled", ""]]);
      assert.deepEqual(await call, { text: "hel" });
      await client.ping();
    }
    stream.close();
    assert.deepEqual(
      (await all(stream)).map((n) => n.method),
      ["leaf_changed"],
    );
  });
});

test("leaving the loop, or a signal, ends a subscription", WAIT, async (t) => {
  const script = { ping: [{ notify: ["turn_start", {}] }, { notify: ["turn_end", {}] }, { answer: {} }] };
  await Client.spawn(new FakeServer(t, script).command, {}, async (client) => {
    const abort = new AbortController();
    const [left, stopped] = [client.notifications(), client.notifications("*", { signal: abort.signal })];
    await client.ping();
    for await (const _ of left) break;
    assert.deepEqual((await all(left)).map((n) => n.method), ["turn_end"]);
    const waiting = all(stopped);
    abort.abort();
    await client.ping();
    assert.deepEqual((await waiting).map((n) => n.method), ["turn_start", "turn_end"]);
    assert.deepEqual(await all(client.notifications("*", { signal: abort.signal })), []);
  });
});

test("a failing callback keeps nobody else from hearing", WAIT, async (t) => {
  const script = { prompt: [{ notify: ["turn_start", {}] }, { notify: ["turn_end", {}] }, { answer: {} }] };
  const [heard, reported]: [Notification[], string[]] = [[], []];
  const onError = (_: unknown, where: string) => reported.push(where);
  await Client.spawn(new FakeServer(t, script).command, { onError }, async (client) => {
    client.on("turn_start", () => {
      throw new Error("in the user's code");
    });
    client.on("turn_end", async () => {
      throw new Error("in the user's code, later");
    });
    const remove = client.on("*", (notification) => heard.push(notification));
    await client.prompt("hi");
    remove();
    await client.prompt("again");
  });
  assert.deepEqual(heard.map((n) => n.method), ["turn_start", "turn_end"]);
  const lines = ["a callback for turn_start failed", "a callback for turn_end failed"];
  assert.deepEqual(reported, [...lines, ...lines]);
});

test("a listener to log or traffic that fails keeps nobody from an answer", WAIT, async (t) => {
  const script = { "": [{ stderr: "a line\n" }], ping: [{ answer: {} }] };
  const reported = new Set<string>();
  const fails = () => {
    throw new Error("in the user's code");
  };
  const options = { onTraffic: fails, onStderr: fails, onError: (_: unknown, where: string) => reported.add(where) };
  await Client.spawn(new FakeServer(t, script).command, options, (client) => client.ping());
  assert.deepEqual([...reported].sort(), ["onStderr failed", "onTraffic failed"]);
});

test("a program in the folder it is started in is not taken for one on PATH", POSIX, async (t) => {
  const folder = temporaryFolder(t);
  const program = join(folder, "node");
  writeFileSync(program, "#!/bin/sh\nexit 7\n");
  chmodSync(program, 0o755);
  const env = { ...process.env, PATH: `:.:${dirname(process.execPath)}` };
  const say = 'process.stdin.on("data", () => console.log(JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} })))';
  const closeLimits = { shutdownMs: 100, exitMs: 100 };
  await Client.spawn(["node", "-e", say], { cwd: folder, env, closeLimits }, (client) => client.ping());
});

test("a reader that falls behind is told and costs no memory", WAIT, async (t) => {
  const script = { prompt: [{ repeat: [11, { notify: ["turn_start", {}] }] }, { answer: {} }] };
  await Client.spawn(new FakeServer(t, script).command, {}, async (client) => {
    const stream = client.notifications("*", { maxBuffered: 10 });
    await client.prompt("hi");
    for (let i = 0; i < 10; i++) assert.equal((await stream.next()).done, false);
    await assert.rejects(stream.next(), FellBehind);
  });
});

test("requests of the server are answered by handlers", WAIT, async (t) => {
  const server = new FakeServer(t, {
    prompt: [
      { ask: ["p1", "request_permission", { toolName: "bash" }], await: "" },
      { ask: [7, "ui_select", {}], await: "" },
      { ask: [8, "read_file", {}], await: "" },
      { ask: [9, "nobody_knows", {}], await: "" },
      { ask: [10, "ui_notify", {}], await: "" },
      { answer: {} },
    ],
  });
  const reported: string[] = [];
  await Client.spawn(server.command, { onError: (_, where) => reported.push(where) }, async (client) => {
    client.handle("request_permission", async (params) => ({ optionId: `allow ${params.toolName}` }));
    client.handle("ui_select", () => {
      throw new RpcError(-32040, "no screen", { reason: "notSupportedByClient", capability: "ui" });
    });
    client.handle("read_file", () => {
      throw new Error("secret detail");
    });
    client.handle("ui_notify", () => ({ odd: Number.NaN }) as object);
    await client.prompt("hi");
  });
  const answers = new Map(server.received().filter((m) => !("method" in m)).map((m) => [m["id"], m]));
  const failed = (method: string) => ({
    code: -32603,
    message: `the client's ${method} failed`,
    data: { reason: "internalError" },
  });
  assert.deepEqual(answers.get("p1")?.["result"], { optionId: "allow bash" });
  assert.deepEqual(answers.get(7)?.["error"], {
    code: -32040,
    message: "no screen",
    data: { reason: "notSupportedByClient", capability: "ui" },
  });
  assert.deepEqual(answers.get(8)?.["error"], failed("read_file"));
  assert.equal(answers.get(9)?.["error"].code, -32601);
  assert.deepEqual(answers.get(10)?.["error"], failed("ui_notify"));
  assert.deepEqual(reported, ["the handler for read_file failed", "the answer to ui_notify could not be sent"]);
});

test("a question that the server takes back fires the handler's signal and is answered once", WAIT, async (t) => {
  const server = new FakeServer(t, {
    prompt: [
      { ask: ["p1", "request_permission", {}] },
      { await: "asked" },
      { notify: ["$/cancelRequest", { id: "p1" }] },
      { await: "" },
      { answer: {} },
    ],
  });
  const fired = await Client.spawn(server.command, QUIET, async (client) => {
    let signalled = false;
    client.handle("request_permission", (_, { signal }) => {
      signal.addEventListener("abort", () => (signalled = true));
      client.notify("asked");
      return never;
    });
    await client.prompt("hi");
    return signalled;
  });
  assert.equal(fired, true);
  const answers = server.received().filter((message) => message["id"] === "p1");
  assert.deepEqual(
    answers.map((message) => message["error"].code),
    [-32800],
  );
});

test("a question taken back at once is still answered once", WAIT, async (t) => {
  const both =
    '{"jsonrpc":"2.0","id":"p1","method":"ui_confirm"}\n' +
    '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"p1"}}\n';
  const server = new FakeServer(t, { prompt: [{ raw: both }, { await: "" }, { answer: {} }] });
  await Client.spawn(server.command, {}, (client) => client.prompt("hi"));
  assert.equal(server.received().filter((message) => message["id"] === "p1").length, 1);
});

test("aborting a request cancels it at the server", WAIT, async (t) => {
  const server = new FakeServer(t, {
    prompt: [{ notify: ["agent_start", {}] }, { await: "$/cancelRequest" }, { answer: { late: true } }],
    ping: [{ answer: {} }],
  });
  await Client.spawn(server.command, {}, async (client) => {
    const [abort, stream] = [new AbortController(), client.notifications()];
    const request = client.prompt("hi", {}, { signal: abort.signal });
    await stream.next();
    abort.abort(new Error("the user changed their mind"));
    await assert.rejects(request, /changed their mind/);
    await assert.rejects(client.prompt("never sent", {}, { signal: abort.signal }), /changed their mind/);
    await client.ping();
  });
  assert.deepEqual(
    server
      .received()
      .slice(0, 3)
      .map((message) => [message["method"], message["params"]]),
    [
      ["prompt", { message: "hi" }],
      ["$/cancelRequest", { id: 1 }],
      ["ping", {}],
    ],
  );
});

test("a call that is cancelled still gives its own answer", WAIT, async (t) => {
  const error = [-32022, "c", { reason: "compactionCancelled" }];
  const script = { compact: [{ await: "$/cancelRequest" }, { error }] };
  await Client.spawn(new FakeServer(t, script).command, {}, async (client) => {
    const call = client.start("compact");
    call.cancel();
    await assert.rejects(call.answer, { reason: "compactionCancelled" });
  });
});

test("a time limit ends the wait and the request", WAIT, async (t) => {
  const server = new FakeServer(t, { prompt: [{ forget: null }], ping: [{ answer: {} }] });
  await Client.spawn(server.command, {}, async (client) => {
    await assert.rejects(client.prompt("hi", {}, { timeoutMs: 10 }), (error) => {
      return error instanceof RequestTimedOut && error.message.includes("no answer to prompt within 10 ms");
    });
    await client.ping();
  });
  assert.equal(server.received()[1]?.["method"], "$/cancelRequest");
});

test("a crash reaches everybody who waits, with the code and the last words", WAIT, async (t) => {
  const script = { prompt: [{ forget: null }], compact: [{ stderr: "out of luck\n" }, { exit: 3 }] };
  await Client.spawn(new FakeServer(t, script).command, {}, async (client) => {
    const stream = client.notifications();
    const waiting = [client.start("prompt").answer, client.request("compact"), stream.next()];
    for (const each of waiting) {
      await assert.rejects(each, (error) => {
        return error instanceof ServerExited && error.code === 3 && error.stderrTail === "out of luck";
      });
    }
    await assert.rejects(client.ping(), ServerExited);
    assert.equal(client.exitCode, 3);
  });
});

test("what was said before the crash is still heard", WAIT, async (t) => {
  const script = { prompt: [{ repeat: [5000, { notify: ["turn_start", {}] }] }, { exit: 0 }] };
  await Client.spawn(new FakeServer(t, script).command, {}, async (client) => {
    const stream = client.notifications();
    client.start("prompt");
    let count = 0;
    await assert.rejects(async () => {
      for await (const _ of stream) count++;
    }, /exited with code 0/);
    assert.equal(count, 5000);
  });
});

test("a program that is not there is named", WAIT, async () => {
  await assert.rejects(Client.open(["no-such-program", "serve"]), (error) => {
    return error instanceof CannotStart && /no-such-program serve.*on PATH/.test(error.message);
  });
  await assert.rejects(Client.open([process.execPath], { cwd: "/no-such-folder" }), /no-such-folder/);
  await assert.rejects(Client.open([]), CannotStart);
  await assert.rejects(Client.open("rpc-agent serve" as never), /CannotStart.*array of words, not as "rpc-agent serve"/);
});

for (const text of ["hello, I am a shell\n", "42\n", '{"jsonrpc":"2.0","id":1,"result":"\\ud83d"\n']) {
  test(`a program that says ${JSON.stringify(text)} is found out at once`, WAIT, async (t) => {
    const server = new FakeServer(t, { "": [{ raw: text }] });
    await Client.spawn(server.command, {}, (client) => assert.rejects(client.ping(), ProtocolViolation));
  });
}

test("requests that wait at the close hear that it was closed", WAIT, async (t) => {
  const client = await Client.open(new FakeServer(t, { prompt: [{ forget: null }] }).command);
  const [stream, call] = [client.notifications(), client.start("prompt")];
  await Promise.all([client.close(), client.close()]);
  await assert.rejects(call.answer, ConnectionClosed);
  assert.deepEqual(await all(stream), []);
  await assert.rejects(client.ping(), ConnectionClosed);
  await assert.rejects(all(client.notifications()), ConnectionClosed);
});

test("the server is gone when the function given to spawn fails", WAIT, async (t) => {
  let pid: number | undefined;
  const running = Client.spawn(new FakeServer(t, {}).command, {}, (client) => {
    pid = client.pid;
    throw new Error("mine");
  });
  await assert.rejects(running, /mine/);
  assert.equal(isRunning(pid), false);
});

test("a server that ignores everything is killed in bounded time", POSIX, async (t) => {
  const script: Script = { "": [{ ignore_signals: null }, { notify: ["ready", {}] }], shutdown: [{ hang: null }] };
  const closeLimits = { shutdownMs: 100, exitMs: 100, signalMs: 1000 };
  const client = await Client.open(new FakeServer(t, script).command, { closeLimits });
  await client.notifications().next();
  await client.close();
  assert.deepEqual([client.exitCode, client.exitSignal, isRunning(client.pid)], [null, "SIGKILL", false]);
});

test("a server that has lost its stdout is ended and everybody hears of it", POSIX, async (t) => {
  const server = new FakeServer(t, { prompt: [{ close_stdout: null }, { hang: null }] });
  await Client.spawn(server.command, { closeLimits: { exitMs: 50 } }, (client) =>
    assert.rejects(client.prompt("hi"), /signal SIGTERM/),
  );
});

test("a grandchild that holds the pipes open delays nothing", { timeout: 6000 }, async (t) => {
  const server = new FakeServer(t, { prompt: [{ leave_child: 8 }, { exit: 4 }] });
  await Client.spawn(server.command, {}, (client) => assert.rejects(client.prompt("hi"), /code 4/));
});

test("a host that leaves without closing leaves no server behind", POSIX, async (t) => {
  const server = new FakeServer(t, { "": [{ notify: ["ready", {}] }], exit: [] });
  const program = `
    import { Client } from ${JSON.stringify(new URL("../src/index.js", import.meta.url).href)};
    const client = await Client.open(${JSON.stringify(server.command)});
    await client.notifications().next();
    console.log(client.pid);
    process.exit(7);`;
  const host = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  const [output, code] = await Promise.all([
    all(host.stdout as AsyncIterable<Buffer>),
    new Promise((resolve) => host.once("exit", resolve)),
  ]);
  assert.equal(code, 7);
  const pid = Number(Buffer.concat(output).toString());
  while (isRunning(pid)) await new Promise((resolve) => setImmediate(resolve));
});

test("log lines and traffic can be followed", WAIT, async (t) => {
  const server = new FakeServer(t, { "": [{ stderr: "first\nsecond ä\n" }], ping: [{ answer: {} }] });
  const [lines, traffic]: [string[], string[][]] = [[], []];
  const options = {
    onStderr: (line: string) => lines.push(line),
    onTraffic: (direction: string, body: Buffer) => traffic.push([direction, body.toString()]),
  };
  const client = await Client.spawn(server.command, options, async (each) => {
    await each.ping();
    return each;
  });
  assert.deepEqual(lines, ["first", "second ä"]);
  assert.equal(client.stderrTail, "first\nsecond ä");
  assert.deepEqual(traffic.slice(0, 2), [
    ["sent", '{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}'],
    ["received", '{"jsonrpc": "2.0", "id": 1, "result": {}}'],
  ]);
});

test("what JSON cannot hold is refused before it is sent", WAIT, async (t) => {
  const server = new FakeServer(t, { ping: [{ answer: {} }] });
  await Client.spawn(server.command, {}, async (client) => {
    await assert.rejects(client.request("prompt", { message: "hi", timeoutMs: Number.NaN }), TypeError);
    await client.ping();
  });
  assert.deepEqual(
    server.received().map((message) => message["method"]),
    ["ping", "shutdown", "exit"],
  );
});
