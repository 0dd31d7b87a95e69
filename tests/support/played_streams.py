"""A service's stream, as the reader of its API makes an answer of it: without a connection, cut as one likes."""

from collections.abc import Iterator

from rpc_agent.conversation.messages import AssistantMessage
from rpc_agent.conversation.models import Model
from rpc_agent.providers.answer_stream import AnswerReader, AnswerStream, Batch
from rpc_agent.providers.assembly import Assembly

MODEL = Model(id="m", provider="p", api="a")


def batches(reader: AnswerReader, body: bytes, size: int = 0) -> Iterator[Batch]:
    """What each piece of `size` bytes becomes (0: all at once), and the end. May raise ModelCallFailed."""
    stream, size = AnswerStream(reader, "p"), size or len(body) or 1
    for at in range(0, len(body), size):
        yield stream.feed(body[at : at + size])
        if reader.done:
            break
    else:
        yield stream.end()
    yield Batch([reader.finish()])


def play(reader: AnswerReader, body: bytes, size: int = 0, *, assembly: Assembly | None = None) -> AssistantMessage:
    """The whole answer, also in `assembly`. Raises ModelCallFailed."""
    assembly = assembly or Assembly()
    for batch in batches(reader, body, size):
        for event in batch.events:
            assembly.apply(event)
        if batch.failure is not None:
            raise batch.failure
    assert assembly.stopped is not None
    return assembly.message(MODEL, 1, assembly.stopped.reason)
