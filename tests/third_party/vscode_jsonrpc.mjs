import { spawn } from "node:child_process";
import rpc from "vscode-jsonrpc/node";

const server = spawn("rpc-agent", ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
const agent = rpc.createMessageConnection(
  new rpc.StreamMessageReader(server.stdout),
  new rpc.StreamMessageWriter(server.stdin),
);
const tools = [];
agent.onNotification("tool_execution_start", (event) => tools.push(event.toolName));
agent.listen();

const { serverInfo, protocolVersion } = await agent.sendRequest("initialize", {
  protocolVersion: 1,
  clientInfo: { name: "vscode-jsonrpc" },
  processId: process.pid,
});
console.log(`initialize: ${serverInfo.name}, version ${protocolVersion}`);

await agent.sendRequest("prompt", { message: "What files are here?", wait: true });
const { stopReason } = await agent.sendRequest("prompt", { message: "Read notes.md", wait: true });
console.log(`prompt: ${stopReason}, tools ${tools.join(" ")}`);

// The first progress: the summary is being written.
const writing = new Promise((resolve) => agent.onNotification("compaction_progress", resolve));
const compaction = agent.sendRequest("compact", {}).catch((error) => error.data.reason);
await writing;
const { aborted } = await agent.sendRequest("abort_compaction", {});
console.log(`abort_compaction: ${aborted}`);
console.log(`compact: ${await compaction}`);

const whole = await agent.sendRequest("compact", {});
console.log(`compact again: ${whole.estimatedTokensAfter < whole.tokensBefore ? "smaller" : "not smaller"}`);

await agent.sendRequest("shutdown", {});
await agent.sendNotification("exit", {});
