"""A server that follows a script: a real process that speaks the protocol, for tests of clients. Standard library only.

    python fake_rpc_server.py SCRIPT.json [RECORD.jsonl]

SCRIPT maps a method to the actions its request or notification causes ("" is done at start; "?" is any other method):
    {"prompt": [{"notify": ["agent_start", {"sessionId": "s"}]}, {"answer": {"disposition": "started"}}]}
Actions: answer VALUE · error [CODE, MESSAGE, DATA] · notify [METHOD, PARAMS] · ask [ID, METHOD, PARAMS] (a request to the
client) · await METHOD (go on when the client sent it; "" = an answer) · forget (the answer never comes) · raw TEXT ·
stderr TEXT · close_stdout · leave_child SECONDS · exit CODE · hang · ignore_signals · repeat [N, ACTION] · big N (an answer of N characters).
"initialize", "shutdown" and "exit" have sensible actions unless the script gives others. RECORD gets each message read.
"""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

DEFAULTS: dict[str, list[dict[str, Any]]] = {
    "initialize": [
        {
            "answer": {
                "protocolVersion": 1,
                "serverInfo": {"name": "fake", "version": "0"},
                "capabilities": {"methods": [], "notifications": [], "serverRequests": []},
                "limits": {"maxMessageBytes": 67108864, "maxInFlight": 1024},
            }
        }
    ],
    "shutdown": [{"answer": None}],
    "exit": [{"exit": 0}],
    "initialized": [],
    "$/cancelRequest": [],
    "": [],
    "?": [{"error": [-32601, "unknown method", {"reason": "methodNotFound"}]}],
}


class Server:
    def __init__(self, script: dict[str, list[dict[str, Any]]], record: str | None) -> None:
        self.script = {**DEFAULTS, **script}
        self.record = open(record, "a", encoding="utf-8") if record else None  # noqa: SIM115 - open for the whole life
        self.headers = False
        self.first = True
        self.put_off: list[dict[str, Any]] = []

    def serve(self) -> None:
        self.perform("", {})
        while (message := self.next_message()) is not None:
            self.dispatch(message)

    def next_message(self) -> dict[str, Any] | None:
        return self.put_off.pop(0) if self.put_off else self.read()

    def dispatch(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method is None:
            return
        if method in self.script:
            self.perform(method, message)
        elif "id" in message:
            self.perform("?", message)

    def perform(self, method: str, message: dict[str, Any]) -> None:
        for action in self.script[method]:
            for name, value in action.items():
                getattr(self, f"do_{name}")(value, message)

    def read(self) -> dict[str, Any] | None:
        line = sys.stdin.buffer.readline()
        if not line:
            return None
        if self.first:
            self.first, self.headers = False, line.startswith(b"Content-Length")
        if self.headers:
            size = int(line.split(b":")[1])
            sys.stdin.buffer.readline()
            line = sys.stdin.buffer.read(size)
        if self.record:
            self.record.write(line.decode().strip() + "\n")
            self.record.flush()
        message: dict[str, Any] = json.loads(line)
        return message

    def write(self, message: dict[str, Any]) -> None:
        text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False)
        # A lone surrogate has no UTF-8 form; only as an escape does it cross the wire.
        body = text.encode("utf-8", "backslashreplace")
        data = b"Content-Length: %d\r\n\r\n%s" % (len(body), body) if self.headers else body + b"\n"
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def do_answer(self, value: Any, message: dict[str, Any]) -> None:
        self.write({"id": message["id"], "result": value})

    def do_big(self, size: int, message: dict[str, Any]) -> None:
        self.write({"id": message["id"], "result": {"text": "x" * size}})

    def do_echo(self, _: Any, message: dict[str, Any]) -> None:
        self.write({"id": message["id"], "result": message.get("params")})

    def do_error(self, value: list[Any], message: dict[str, Any]) -> None:
        code, text, data = value
        self.write({"id": message["id"], "error": {"code": code, "message": text, "data": data}})

    def do_error_without_id(self, value: list[Any], message: dict[str, Any]) -> None:
        self.do_error(value, {"id": None})

    def do_notify(self, value: list[Any], message: dict[str, Any]) -> None:
        self.write({"method": value[0], "params": value[1]})

    def do_ask(self, value: list[Any], message: dict[str, Any]) -> None:
        self.write({"id": value[0], "method": value[1], "params": value[2]})

    def do_await(self, method: str, message: dict[str, Any]) -> None:
        """Other messages that come meanwhile are put off."""
        while (came := self.read()) is not None:
            if came.get("method", "") == method:
                if method and "id" in came:
                    self.perform(method, came)
                return
            self.put_off.append(came)
        sys.exit(0)

    def do_forget(self, _: Any, message: dict[str, Any]) -> None:
        pass

    def do_raw(self, text: str, message: dict[str, Any]) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def do_stderr(self, text: str, message: dict[str, Any]) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    def do_close_stdout(self, _: Any, message: dict[str, Any]) -> None:
        os.close(1)

    def do_leave_child(self, seconds: int, message: dict[str, Any]) -> None:
        """A child that holds our pipes open for a while after we are gone."""
        subprocess.Popen([sys.executable, "-S", "-c", f"import time; time.sleep({seconds})"])

    def do_repeat(self, value: list[Any], message: dict[str, Any]) -> None:
        times, action = value
        for _ in range(times):
            for name, argument in action.items():
                getattr(self, f"do_{name}")(argument, message)

    def do_exit(self, code: int, message: dict[str, Any]) -> None:
        sys.stdout.flush()
        os._exit(code)

    def do_hang(self, _: Any, message: dict[str, Any]) -> None:
        while True:
            time.sleep(60)

    def do_ignore_signals(self, _: Any, message: dict[str, Any]) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as script_file:
        script = json.load(script_file)
    Server(script, sys.argv[2] if len(sys.argv) > 2 else None).serve()
