"""A recorded stream of each API that ends at any of its bytes: no answer, unless its end had been said."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rpc_agent.conversation.messages import user_message
from rpc_agent.providers.answer_stream import AnswerReader
from rpc_agent.providers.assembly import Assembly
from rpc_agent.providers.base import ModelCallFailed
from tests.support.chat_server import ServerReply
from tests.support.played_streams import MODEL, play
from tests.support.provider_apis import APIS, COMPLETIONS, GENERATE_CONTENT, MESSAGES, RESPONSES, Api, Said

GOLDEN = Path(__file__).parent.parent / "golden" / "providers"
RECORDED = sorted(GOLDEN.glob("*.sse"))
LONG = 2000
"""Of a longer stream each prefix is long too, so only some cuts are tried in the short form."""
SOAK = "SOAK" in os.environ
STEP_OVER_HTTP = int(os.environ.get("SOAK_CUT_STEP", "149"))
"""Over HTTP one cut of so many, for each is a connection with all its setting up. `make soak` cuts at every byte."""


def reader_of(name: str) -> AnswerReader:
    words = {"responses": RESPONSES, "anthropic": MESSAGES, "gemini": GENERATE_CONTENT}
    api = next((api for word, api in words.items() if word in name), COMPLETIONS)
    return api.reader(provider="p")


def answer_to(name: str, body: bytes) -> tuple[list[Any], bool, ModelCallFailed | None]:
    """The blocks of a stream that ends so, whether its end was said, and how it failed."""
    reader, assembly = reader_of(name), Assembly()
    try:
        return list(play(reader, body, assembly=assembly)["content"]), True, None
    except ModelCallFailed as failure:
        assembly.close()
        return list(assembly.message(MODEL, 1, "error")["content"]), reader.is_complete, failure


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
def test_no_cut_makes_an_answer_of_a_stream_whose_end_was_not_said(file: Path) -> None:
    body = file.read_bytes()
    whole, _, its_failure = answer_to(file.stem, body)
    wrong = [at for at, why in cuts(file.stem, body, whole, its_failure) if why]
    assert wrong == []


def cuts(name: str, body: bytes, whole: list[Any], its_failure: ModelCallFailed | None) -> Iterator[tuple[int, str]]:
    """Each cut, and what is wrong with what came of it."""
    for at in range(0, len(body), 1 if len(body) < LONG or SOAK else 19):
        blocks, is_complete, failure = answer_to(name, body[:at])
        if failure is None:
            yield at, "" if is_complete and its_failure is None and texts(blocks) == texts(whole) else "an answer"
        elif its_failure is not None and failure.message == its_failure.message:
            yield at, ""
        else:
            yield (
                at,
                "" if failure.kind == "transport" and is_beginning(blocks, whole) else f"{failure.kind}: {failure}",
            )


def texts(blocks: list[Any]) -> list[tuple[str, str]]:
    return [(block["type"], block.get("text") or block.get("thinking") or "") for block in blocks]


def is_beginning(blocks: list[Any], whole: list[Any]) -> bool:
    """Every block that came is one of the answer's, the last maybe cut, and no half call has arguments."""
    known = texts(whole)[: len(blocks)]
    return len(blocks) <= len(whole) and all(
        kind == known_kind and known_text.startswith(text.removesuffix("\ufffd"))
        for (kind, text), (known_kind, known_text) in zip(texts(blocks), known, strict=True)
    )


@pytest.mark.anyio
@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize("api", APIS, ids=[api.name for api in APIS])
async def test_a_connection_that_breaks_anywhere_is_a_failure_that_may_be_retried(api: Api, reset: bool) -> None:
    body = api.say(Said(thinking="Hm.", text="Looking.", calls=[("c1", "ls", {"path": "."})])).body
    first = body.index(b"Looking"[:3])
    for at in range(1, first, STEP_OVER_HTTP):
        async with api.server(ServerReply(body=body[:at], reset=reset)) as server:
            with pytest.raises(ModelCallFailed) as caught:
                await api.ask(server, [user_message("hi", timestamp=1)])
        assert caught.value.kind == "transport", at
