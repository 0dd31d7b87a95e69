import { spawn } from "node:child_process";
import { JSONRPCClient, JSONRPCServer, JSONRPCServerAndClient } from "json-rpc-2.0";

const server = spawn("rpc-agent", ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
const agent = new JSONRPCServerAndClient(
  new JSONRPCServer(),
  new JSONRPCClient((message) => void server.stdin.write(`${JSON.stringify(message)}\n`)),
);
// readline cuts at U+2028 too, which may stand inside a JSON string; so the lines are cut by hand.
let unfinished = "";
server.stdout.setEncoding("utf8").on("data", (text) => {
  const lines = (unfinished + text).split("\n");
  unfinished = lines.pop();
  for (const line of lines) agent.receiveAndSend(JSON.parse(line));
});

const tools = [];
agent.addMethod("tool_execution_start", (event) => void tools.push(event.toolName));

const { serverInfo, protocolVersion } = await agent.request("initialize", {
  protocolVersion: 1,
  clientInfo: { name: "json-rpc-2.0" },
  processId: process.pid,
});
console.log(`initialize: ${serverInfo.name}, version ${protocolVersion}`);

await agent.request("prompt", { message: "What files are here?", wait: true });
const { stopReason } = await agent.request("prompt", { message: "Read notes.md", wait: true });
console.log(`prompt: ${stopReason}, tools ${tools.join(" ")}`);

// The first progress: the summary is being written.
const writing = new Promise((resolve) => agent.addMethod("compaction_progress", resolve));
const compaction = agent.request("compact", {}).catch((error) => error.data.reason);
await writing;
const { aborted } = await agent.request("abort_compaction", {});
console.log(`abort_compaction: ${aborted}`);
console.log(`compact: ${await compaction}`);

const whole = await agent.request("compact", {});
console.log(`compact again: ${whole.estimatedTokensAfter < whole.tokensBefore ? "smaller" : "not smaller"}`);

await agent.request("shutdown", {});
agent.notify("exit", {});
