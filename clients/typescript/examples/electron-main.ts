// The main process of an Electron app: one server for all windows, a session for each. A window calls
// ipcRenderer.invoke("agent", method, params) and hears its own session's events by ipcRenderer.on("agent-event", ...).
import { Client, RpcError } from "@rpc-agent/client";
import { app, BrowserWindow, ipcMain } from "electron";

// What a page may ask for; the rest of the protocol stays out of its reach.
const ALLOWED = ["prompt", "steer", "abort", "compact", "abort_compaction", "undo_compaction", "get_messages", "get_tree"] as const;
type Allowed = (typeof ALLOWED)[number];

const sessions = new Map<number, string>();
let client: Client;

async function main(): Promise<void> {
  await app.whenReady();
  client = await Client.open(["rpc-agent", "serve"], { onStderr: (line) => console.error(line) });
  await client.initialize({ name: app.getName(), version: app.getVersion(), capabilities: { deltas: "merged" } });
  client.on("*", (event) => {
    for (const window of BrowserWindow.getAllWindows()) {
      if (sessions.get(window.webContents.id) === event.sessionId) {
        window.webContents.send("agent-event", event.method, event.params);
      }
    }
  });
  ipcMain.handle("agent", (event, method: Allowed, params: object) => answer(event.sender.id, method, params));
  await openWindow(app.getPath("home"));
}

async function openWindow(cwd: string): Promise<void> {
  const window = new BrowserWindow({ webPreferences: { preload: `${import.meta.dirname}/preload.js` } });
  const { id } = window.webContents;
  const { sessionId } = await client.newSession({ cwd });
  sessions.set(id, sessionId);
  window.on("closed", () => {
    sessions.delete(id);
    void client.closeSession({ sessionId }).catch(() => {});
  });
  await window.loadFile("index.html");
}

/** Errors as values: an exception would lose its fields on the way to the page. */
async function answer(windowId: number, method: Allowed, params: object) {
  const sessionId = sessions.get(windowId);
  if (sessionId === undefined || !ALLOWED.includes(method)) return { error: { reason: "notAllowed" } };
  try {
    return { result: await client.request(method as string, { ...params, sessionId }) };
  } catch (error) {
    if (error instanceof RpcError) return { error: { reason: error.reason, message: error.message } };
    throw error;
  }
}

// Electron does not wait for promises at the end, so the quit is put off once, until the server is gone.
let isClosed = false;
app.on("before-quit", (event) => {
  if (isClosed || client === undefined) return;
  event.preventDefault();
  void client.close().finally(() => {
    isClosed = true;
    app.quit();
  });
});

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  app.exit(1);
});
