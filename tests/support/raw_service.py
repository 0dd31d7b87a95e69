"""A service on loopback that does what no server library would: each connection is given to a function.

with raw_service(lambda connection: connection.sendall(b"...")) as base_url: ...
"""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
"""The body ends where the connection does."""

Answer = Callable[[socket.socket], None]


@contextlib.contextmanager
def raw_service(answer: Answer) -> Iterator[str]:
    """Answers every request by `answer`, which may do with the connection what it likes; its base URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        closing = threading.Event()
        thread = threading.Thread(target=_accept, args=(listener, answer, closing), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            closing.set()
            # Wakes the thread that waits for somebody to come.
            with contextlib.suppress(OSError), socket.create_connection(listener.getsockname(), 1):
                pass
            thread.join(10)


def _accept(listener: socket.socket, answer: Answer, closing: threading.Event) -> None:
    while not closing.is_set():
        connection, _ = listener.accept()
        if closing.is_set():
            connection.close()
        else:
            threading.Thread(target=_serve, args=(connection, answer), daemon=True).start()


def _serve(connection: socket.socket, answer: Answer) -> None:
    # A client that has had enough goes away.
    with connection, contextlib.suppress(OSError):
        connection.settimeout(30)
        _read_request(connection)
        answer(connection)


def _read_request(connection: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _some(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
    )
    while len(body) < length:
        body += _some(connection)


def _some(connection: socket.socket) -> bytes:
    """What comes next. Raises ConnectionError when the client has gone."""
    data = connection.recv(65536)
    if not data:
        raise ConnectionError("the client has gone")
    return data
