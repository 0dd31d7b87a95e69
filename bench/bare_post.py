"""A process that only posts: what sending the same bytes takes without us. `python -m bench.bare_post URL`.

For each line of its input it fetches the service's last body, posts the one it fetched before, and prints the seconds
from then to its arrival, and its bytes. In a process of its own, so that it is as cold as the server it stands beside.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx

_HEADERS = {"content-type": "application/json", "accept": "text/event-stream", "authorization": "Bearer none"}


@contextmanager
def posting(url: str) -> Iterator[Callable[[], tuple[float, int]]]:
    """A function that posts once: seconds and bytes."""
    command = [sys.executable, "-m", "bench.bare_post", url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def post() -> tuple[float, int]:
            stdin.write(b"\n")
            stdin.flush()
            seconds, size = stdout.readline().split()
            return float(seconds), int(size)

        try:
            yield post
        finally:
            stdin.close()


async def _main(url: str) -> None:
    before = b""
    async with httpx.AsyncClient(trust_env=False) as client:
        while await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline):
            body = (await client.get(f"{url}/last")).content
            seconds = await _post(client, f"{url}/v1/chat/completions", before or body)
            print(seconds, len(body), flush=True)
            before = body


async def _post(client: httpx.AsyncClient, url: str, body: bytes) -> float:
    started = time.perf_counter()
    response = await client.post(url, content=body, headers=_HEADERS)
    first = json.loads(response.text.split("\n")[0].removeprefix("data: "))
    return float(first["choices"][0]["delta"].get("content", "nan")) - started


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))
