// A whole VS Code extension: "Ask the agent" streams into an output channel, with a way to stop it, a compaction that
// can be stopped too, and permission questions as messages. Put it into src/extension.ts and bundle it.
import { Client, RpcError, type RequestPermissionParams, ServerExited } from "@rpc-agent/client";
import * as vscode from "vscode";

let running: Promise<Client> | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel("Agent");
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand("agent.ask", () => showErrors(ask(output))),
    vscode.commands.registerCommand("agent.compact", () => showErrors(compact(output))),
  );
}

// VS Code waits for this promise: the server is gone before the window is.
export async function deactivate(): Promise<void> {
  const client = await running?.catch(() => undefined);
  await client?.close();
}

/** One server for the window, started when it is first needed, and again when it has died. */
function agent(output: vscode.OutputChannel): Promise<Client> {
  running ??= start(output).catch((error: unknown) => {
    running = undefined;
    throw error;
  });
  return running;
}

async function start(output: vscode.OutputChannel): Promise<Client> {
  const command = vscode.workspace.getConfiguration("agent").get("command", ["rpc-agent", "serve"]);
  const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const client = await Client.open(command, { ...(cwd !== undefined && { cwd }), onStderr: (line) => output.appendLine(line) });
  client.handle("request_permission", askForPermission);
  client.on("message_update", (event) => output.append(event.textDelta));
  client.on("tool_execution_start", (event) => output.appendLine(`[${event.params.toolName}]`));
  await client.initialize({
    name: "my-extension",
    version: "1.0.0",
    capabilities: { permissions: true, deltas: "merged" },
  });
  return client;
}

async function ask(output: vscode.OutputChannel): Promise<void> {
  const message = await vscode.window.showInputBox({ prompt: "What shall the agent do?" });
  if (message === undefined) return;
  const client = await agent(output);
  output.show(true);
  await withStopButton("The agent works", () => client.abort(), () => client.prompt(message, { wait: true }));
  output.appendLine("");
}

async function compact(output: vscode.OutputChannel): Promise<void> {
  const client = await agent(output);
  const result = await withStopButton("Compacting", () => client.abortCompaction(), () => client.compact());
  const undo = await vscode.window.showInformationMessage(
    `${result.tokensBefore} tokens became ${result.estimatedTokensAfter}.`,
    "Undo",
  );
  if (undo) await client.undoCompaction({ entryId: result.entryId });
}

async function askForPermission(params: RequestPermissionParams) {
  const labels = params.options.map((option) => option.label);
  const label = await vscode.window.showWarningMessage(params.title, ...labels);
  const chosen = params.options.find((option) => option.label === label);
  return chosen ? { optionId: chosen.id } : { cancelled: true };
}

/** Shows progress while `work` runs; its stop button asks the server to stop, and the answer still comes. */
function withStopButton<T>(title: string, stop: () => Promise<unknown>, work: () => Promise<T>): Thenable<T> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return vscode.window.withProgress(options, (_, token) => {
    token.onCancellationRequested(() => void stop().catch(() => {}));
    return work();
  });
}

async function showErrors(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ServerExited) running = undefined;
    if (error instanceof RpcError && error.reason === "compactionCancelled") return;
    void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
  }
}
