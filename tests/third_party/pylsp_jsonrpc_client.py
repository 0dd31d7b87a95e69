import os
import subprocess
import threading

from pylsp_jsonrpc.endpoint import Endpoint
from pylsp_jsonrpc.exceptions import JsonRpcException
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter

server = subprocess.Popen(["rpc-agent", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
tools = []
writing = threading.Event()


class Notifications(dict):
    """Those of no interest are passed over; without this each would be a warning in the log."""

    def __missing__(self, method):
        return lambda params: None


heard = Notifications(
    tool_execution_start=lambda event: tools.append(event["toolName"]),
    # The first progress: the summary is being written.
    compaction_progress=lambda event: writing.set(),
)
agent = Endpoint(heard, JsonRpcStreamWriter(server.stdin).write)
threading.Thread(target=JsonRpcStreamReader(server.stdout).listen, args=[agent.consume], daemon=True).start()

client = {"protocolVersion": 1, "clientInfo": {"name": "python-lsp-jsonrpc"}, "processId": os.getpid()}
hello = agent.request("initialize", client).result()
print(f"initialize: {hello['serverInfo']['name']}, version {hello['protocolVersion']}")

agent.request("prompt", {"message": "What files are here?", "wait": True}).result()
result = agent.request("prompt", {"message": "Read notes.md", "wait": True}).result()
print(f"prompt: {result['stopReason']}, tools {' '.join(tools)}")

compaction = agent.request("compact")
writing.wait()
aborted = agent.request("abort_compaction").result()["aborted"]
print(f"abort_compaction: {str(aborted).lower()}")
try:
    compaction.result()
except JsonRpcException as error:
    print(f"compact: {error.data['reason']}")

whole = agent.request("compact").result()
print("compact again:", "smaller" if whole["estimatedTokensAfter"] < whole["tokensBefore"] else "not smaller")

agent.request("shutdown").result()
agent.notify("exit")
server.wait()
