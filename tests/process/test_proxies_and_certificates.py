"""Proxies and certificate authorities, named in the environment as users of httpx expect."""

import shutil
import socketserver
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from rpc_agent.providers.http import Http, HttpFailed
from rpc_agent.providers.timeouts import Timeouts
from tests.support.agent_server import PATIENCE, Home
from tests.support.chat_server import serve_in_thread, text_reply
from tests.support.serve_process import serve_process


def home_for(tmp_path: Path, base_url: str, **more: Any) -> Home:
    home = Home(tmp_path)
    model = {"api": "openai-completions", "apiKey": "none", "models": [{"id": "m"}]}
    home.models({"mine": {**model, "baseUrl": base_url, **more}})
    home.settings(defaultModel="mine/m", retry={"maxRetries": 0})
    return home


def asked(home: Home, **environment: str) -> Any:
    with serve_process(home, framing="lines", **environment) as server:
        server.request(1, "prompt", {"message": "hi", "wait": True})
        result = server.answer(1)
        assert server.finish() == 0
    return result


@contextmanager
def refusing_proxy() -> Iterator[tuple[str, list[bytes]]]:
    """A proxy that notes whom it should connect to, and refuses."""
    wanted: list[bytes] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            wanted.append(self.rfile.readline().strip())
            self.wfile.write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://user:secret-word@127.0.0.1:{server.server_address[1]}", wanted
        finally:
            server.shutdown()
            thread.join(10)


def test_plain_http_goes_through_the_proxy_with_the_whole_address(tmp_path: Path) -> None:
    with serve_in_thread([text_reply("through the proxy")]) as proxy:
        home = home_for(tmp_path, "http://models.invalid/v1")
        result = asked(home, HTTP_PROXY=proxy.base_url.removesuffix("/v1"))
        assert (result["text"], proxy.paths) == ("through the proxy", ["http://models.invalid/v1/chat/completions"])


def test_an_unusable_proxy_is_named_as_such(tmp_path: Path) -> None:
    result = asked(home_for(tmp_path, "http://models.invalid/v1"), HTTP_PROXY="nonsense://x")
    assert "check the proxy and SSL variables" in result["errorMessage"]


@pytest.mark.parametrize(
    "address", ["models.example/v1", "https:///v1", "ftp://models.example/v1", "http://127.0.0.1:99999/v1"]
)
def test_an_address_that_nobody_can_be_asked_at_is_named_and_tried_once(tmp_path: Path, address: str) -> None:
    home = Home(tmp_path)
    home.settings(defaultModel="openai/gpt-5")
    with serve_process(home, framing="lines", OPENAI_API_KEY="none", OPENAI_BASE_URL=address) as server:
        heard = server.heard("prompt", message="hi", wait=True)
        assert server.finish() == 0
    assert f"'{address}/chat/completions' is no usable address" in heard[-1]["result"]["errorMessage"]
    assert [message for message in heard if "retry" in message.get("method", "")] == []


@pytest.mark.parametrize(
    ("key", "header", "told"),
    [("sk-é", "x", "the key cannot be sent"), ("sk-none", "a\nb", "the header 'x-team' cannot be sent")],
)
def test_what_no_header_can_hold_is_told_without_its_value(tmp_path: Path, key: str, header: str, told: str) -> None:
    home = home_for(tmp_path, "http://127.0.0.1:1/v1", apiKey=key, headers={"X-Team": header})
    result = asked(home)
    assert (told in result["errorMessage"], key in result["errorMessage"]) == (True, False)


def test_tls_is_tunnelled_and_the_proxys_password_is_not_told(tmp_path: Path) -> None:
    with refusing_proxy() as (address, wanted):
        result = asked(home_for(tmp_path, "https://models.invalid/v1"), HTTPS_PROXY=address)
    assert wanted[0] == b"CONNECT models.invalid:443 HTTP/1.1"
    assert result["stopReason"] == "error"
    assert "secret-word" not in str(result)


def test_no_proxy_names_hosts_that_are_asked_directly(tmp_path: Path) -> None:
    with serve_in_thread([text_reply("directly")]) as service:
        home = home_for(tmp_path, service.base_url)
        assert asked(home, HTTP_PROXY="http://127.0.0.1:9", NO_PROXY="127.0.0.1")["text"] == "directly"


@contextmanager
def tls_service(folder: Path) -> Iterator[tuple[str, Path]]:
    """A service whose certificate only its own authority's file vouches for: its address and that file."""
    certificate, key = folder / "ca.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    body = text_reply("over TLS").body
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n" % len(body)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            try:
                with context.wrap_socket(self.request, server_side=True) as connection:
                    connection.recv(65_536)
                    connection.sendall(head + body)
                    connection.recv(1)
            except OSError:
                """A client that does not trust us ends the handshake."""

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"https://127.0.0.1:{server.server_address[1]}/v1", certificate
        finally:
            server.shutdown()
            thread.join(10)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
@pytest.mark.anyio
@pytest.mark.parametrize("options", [{"tls": False}, {"direct": True}])
async def test_a_client_for_addresses_without_tls_trusts_nobody_with_it(tmp_path: Path, options: Any) -> None:
    with tls_service(tmp_path) as (address, _), anyio.fail_after(PATIENCE):
        http = Http(**options)
        with pytest.raises(HttpFailed, match="CERTIFICATE_VERIFY_FAILED"):
            await http.read(address, headers={}, timeouts=Timeouts(), most=1_000)
        await http.aclose()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_an_authority_of_the_users_own_is_trusted_when_named(tmp_path: Path) -> None:
    with tls_service(tmp_path) as (address, authority):
        home = home_for(tmp_path, address)
        refused, trusted = asked(home), asked(home, SSL_CERT_FILE=str(authority))
    assert (refused["stopReason"], "certificate" in str(refused)) == ("error", True)
    assert trusted["text"] == "over TLS"
