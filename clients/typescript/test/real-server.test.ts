/** The whole surface against the real server and its offline model. */

import assert from "node:assert/strict";
import test from "node:test";
import { type Call, Client, type FramingName, RpcError } from "../src/index.js";
import { isRunning, realServer } from "./servers.js";

const PATIENCE = { timeout: 60_000 };
const FILES = {
  "README.md": "# Tea timer\n",
  "notes.md": Array.from({ length: 24 }, (_, day) => `- On day ${day} we drank tea in the old boat house.\n`).join(""),
};
// Long enough for an abort to come in the middle of a summary.
const PACE_MS = 20;
const SETTINGS = { compaction: { keepRecentTokens: 200 } };

for (const framing of ["lines", "headers"] as FramingName[]) {
  test(`a prompt, an aborted and a whole compaction, and the way back, with ${framing}`, PATIENCE, async (t) => {
    const { command, options, project } = realServer(t, FILES, SETTINGS, PACE_MS);
    const client = await Client.open(command, { ...options, framing });
    t.after(() => client.close());
    const hello = await client.initialize({ name: "test", version: "1", capabilities: { deltas: "each" } });
    assert.deepEqual([hello.protocolVersion, hello.serverInfo.name], [1, "rpc-agent"]);
    const { sessionId, cwd } = await client.newSession({ cwd: project });
    assert.equal(cwd, project);

    const events = client.notifications(["message_update", "tool_execution_end", "agent_settled"], { sessionId });
    const call = client.start("prompt", { message: "Read notes.md", wait: true });
    let [text, tools]: [string, string[]] = ["", []];
    for await (const event of events.until(call)) {
      text += event.textDelta;
      if (event.method === "tool_execution_end") tools.push(event.params.toolName);
    }
    const result = await call;
    assert.deepEqual([result.stopReason, tools], ["stop", ["read"]]);
    assert.ok(result.text && text.endsWith(result.text));
    await client.prompt("What files are here?", { wait: true });

    const before = await client.getMessages();
    assert.equal(await abortWhenTheSummaryComes(client), "compactionCancelled");
    assert.deepEqual(await client.getMessages(), before);
    const compacted = await client.compact();
    assert.ok(compacted.estimatedTokensAfter < compacted.tokensBefore);
    assert.equal((await client.undoCompaction()).previousLeafId, compacted.entryId);
    assert.deepEqual(await client.getMessages(), before);
    await client.close();
    assert.deepEqual([client.exitCode, isRunning(client.pid)], [0, false]);
  });
}

async function abortWhenTheSummaryComes(client: Client): Promise<string | undefined> {
  const events = client.notifications(["compaction_progress"]);
  const compaction: Call<unknown> = client.start("compact");
  for await (const _ of events.until(compaction)) {
    assert.equal(await client.abortCompaction(), true);
  }
  return compaction.answer.then(
    () => undefined,
    (error: unknown) => (error instanceof RpcError ? error.reason : String(error)),
  );
}

test("an aborted wait for a compaction is its cancellation", PATIENCE, async (t) => {
  const { command, options } = realServer(t, FILES, SETTINGS, PACE_MS);
  await Client.spawn(command, options, async (client) => {
    await client.prompt("Read notes.md", { wait: true });
    await client.prompt("What files are here?", { wait: true });
    const abort = new AbortController();
    const ended = client.notifications(["compaction_end"]);
    client.on("compaction_progress", () => abort.abort());
    await assert.rejects(client.compact({}, { signal: abort.signal }), { name: "AbortError" });
    const end = await ended.next();
    assert.equal(end.value?.params.status, "cancelled");
  });
});

test("after a reload the missed notifications are fetched", PATIENCE, async (t) => {
  const { command, options } = realServer(t, FILES);
  await Client.spawn(command, options, async (client) => {
    const { lastSeq, streamId } = await client.newSession();
    const heard = client.notifications();
    const call = client.start("prompt", { message: "What files are here?", wait: true });
    const live = [];
    for await (const event of heard.until(call)) live.push([event.method, event.seq]);
    const missed = await client.getEvents(lastSeq, { streamId });
    assert.deepEqual([missed.truncated, missed.events.map((event) => [event.method, event.params["seq"]])], [false, live]);
  });
});
