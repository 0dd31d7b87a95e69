import { Client, RpcError } from "@rpc-agent/client";

const client = await Client.open(["rpc-agent", "serve"]);
try {
  await client.initialize({ name: "example", version: "1.0" });

  const events = client.notifications(["message_update", "tool_execution_start"]);
  const call = client.start("prompt", { message: "What files are here?", wait: true });
  for await (const event of events.until(call)) {
    if (event.method === "tool_execution_start") console.log(`[${event.params.toolName}]`);
    else process.stdout.write(event.textDelta);
  }
  console.log("\n" + (await call).stopReason);

  await client.compact({}, { signal: AbortSignal.timeout(60_000) });
} catch (error) {
  if (!(error instanceof RpcError)) throw error;
  console.log(error.reason, error.code, error.message);
} finally {
  await client.close();
}
