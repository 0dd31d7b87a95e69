import json
import os
import subprocess

from jsonrpcclient import Error, Ok, parse, request

server = subprocess.Popen(["rpc-agent", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
tools = []


def send(method, params):
    """Send a request; what to wait for is its id."""
    message = request(method, params)
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()
    return message["id"]


def messages():
    """What comes, until the server ends; tools are noted by the way."""
    for line in server.stdout:
        message = json.loads(line)
        if message.get("method") == "tool_execution_start":
            tools.append(message["params"]["toolName"])
        yield message


arriving = messages()


def answer(id):
    """The answer to a request; notifications before it are passed over."""
    return parse(next(message for message in arriving if message.get("id") == id and "method" not in message))


def call(method, params):
    match answer(send(method, params)):
        case Ok(result, _):
            return result
        case Error(code, message, data, _):
            raise SystemExit(f"{method}: {message} ({data['reason']}, {code})")


hello = call("initialize", {"protocolVersion": 1, "clientInfo": {"name": "jsonrpcclient"}, "processId": os.getpid()})
print(f"initialize: {hello['serverInfo']['name']}, version {hello['protocolVersion']}")

call("prompt", {"message": "What files are here?", "wait": True})
result = call("prompt", {"message": "Read notes.md", "wait": True})
print(f"prompt: {result['stopReason']}, tools {' '.join(tools)}")

compaction = send("compact", {})
# The first progress: the summary is being written.
next(message for message in arriving if message.get("method") == "compaction_progress")
abort = send("abort_compaction", {})
# Answers come in any order; these two are the next two.
answers = {}
for message in arriving:
    if message.get("id") in (compaction, abort):
        answers[message["id"]] = parse(message)
    if len(answers) == 2:
        break
print(f"abort_compaction: {str(answers[abort].result['aborted']).lower()}")
print(f"compact: {answers[compaction].data['reason']}")

whole = call("compact", {})
print("compact again:", "smaller" if whole["estimatedTokensAfter"] < whole["tokensBefore"] else "not smaller")

# No more requests: the server ends by itself.
server.stdin.close()
server.wait()
