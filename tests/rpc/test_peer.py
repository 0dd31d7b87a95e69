"""A peer through the in-memory twin: requests both ways, cancellation, bounds, the end."""

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

import anyio
import pytest

from rpc_agent.rpc.calls import Call, Handler, Params, Quick
from rpc_agent.rpc.errors import Disconnected, RpcError
from rpc_agent.rpc.in_memory import InMemoryClient, connect, connected_pair
from rpc_agent.rpc.peer import Peer
from tests.support.rpc import early_methods, methods

pytestmark = pytest.mark.anyio


def client(extra: Mapping[str, Handler | Quick] | None = None, **options: Any) -> Any:
    def make(transport: Any) -> Peer:
        return Peer(transport, load=lambda: {**methods(), **(extra or {})}, early=early_methods(), **options)

    return connect(make)


def codes(answers: list[Any]) -> list[Any]:
    return [(a["id"], a["error"]["code"] if "error" in a else "ok") for a in answers]


async def test_a_request_is_answered_and_a_notification_is_not() -> None:
    async with client() as c:
        await c.notify("echo", {"a": 1})
        await c.notify("nothing of the kind")
        assert await c.request("echo", {"a": 2}) == {"a": 2}
        assert await c.request("echo", [1, 2]) == [1, 2]
        assert len(c.received) == 2


async def test_an_unknown_method_is_answered_with_the_nearest_name() -> None:
    async with client() as c:
        with pytest.raises(RpcError) as caught:
            await c.request("ecco")
    assert caught.value.to_object() == {
        "code": -32601,
        "message": "Method not found: ecco; did you mean echo?",
        "data": {"reason": "methodNotFound", "method": "ecco", "didYouMean": "echo"},
    }


async def test_nothing_of_an_unforeseen_exception_reaches_the_client(caplog: pytest.LogCaptureFixture) -> None:
    async with client() as c:
        for method in ("fail", "give_a_set"):
            with pytest.raises(RpcError) as caught:
                await c.request(method)
            assert caught.value.to_object() == {
                "code": -32603,
                "message": "Internal error: see the server's stderr",
                "data": {"reason": "internalError"},
            }
    assert "a secret of our insides" in caplog.text


async def test_an_error_meant_for_the_client_arrives_as_it_is() -> None:
    async def refuse_badly(call: Call, params: Params) -> Any:
        raise RpcError(-32099, "Refused", {"what": {1}})

    async with client({"refuse_badly": refuse_badly}) as c:
        with pytest.raises(RpcError) as caught:
            await c.request("refuse")
        assert caught.value.to_object() == {"code": -32099, "message": "Refused", "data": {"reason": "refused"}}
        with pytest.raises(RpcError) as caught:
            await c.request("refuse_badly")
        assert caught.value.code == -32603


async def test_a_result_that_is_encoded_already_is_sent_as_it_is() -> None:
    async with client() as c:
        assert await c.request("give_encoded") == {"big": [1, 2]}


async def test_a_batch_is_answered_by_one_array_in_the_order_of_its_requests() -> None:
    async with client() as c:
        await c.send(
            b'[{"id":1,"method":"finish_later"},{"method":"echo"},7,{"id":2,"method":"ping"},{"id":9,"result":0},'
            b'{"id":3,"method":"echo","params":"x"},{"id":4,"method":"$/cancelRequest","params":{"id":99}}]'
        )
        await c.wait(lambda: bool(c.received))
        assert codes(c.received[0]) == [(1, "ok"), (None, -32600), (2, "ok"), (3, -32602), (4, "ok")]


async def test_a_batch_of_notifications_gets_no_answer() -> None:
    async with client() as c:
        await c.send(b'[{"method":"echo"},{"method":"unheard of"}]')
        assert await c.request("ping") == {}
        assert len(c.received) == 1


async def test_what_follows_an_answer_comes_after_it_in_the_outbox() -> None:
    async def start(call: Call, params: Params) -> Any:
        call.after_answer(lambda: call.peer.notify("started", {"by": call.id}))
        call.peer.notify("before", {})
        return "accepted"

    async with client({"start": start}) as c:
        assert await c.request("start") == "accepted"
        await c.notification("started")
        assert [message.get("method", "the answer") for message in c.received] == ["before", "the answer", "started"]
        await c.send(b'[{"id":8,"method":"start"},{"id":9,"method":"ping"},{"id":10,"method":"echo"}]')
        await c.notification("started", where=lambda params: params["by"] == 8)
        assert [len(m) if isinstance(m, list) else m["method"] for m in c.received[3:]] == ["before", 3, "started"]


async def test_a_call_of_a_batch_may_wait_for_what_follows_another_one() -> None:
    started = asyncio.Event()

    async def start(call: Call, params: Params) -> Any:
        call.after_answer(started.set)
        return "accepted"

    async def wait_for_start(call: Call, params: Params) -> Any:
        await started.wait()
        return "seen"

    async with client({"start": start, "wait_for_start": wait_for_start}) as c:
        await c.send(b'[{"id":1,"method":"start"},{"id":2,"method":"wait_for_start"}]')
        await c.wait(lambda: bool(c.received))
        assert [answer["result"] for answer in c.received[0]] == ["accepted", "seen"]


async def test_a_failing_callback_after_an_answer_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def explode() -> None:
        raise ValueError("boom")

    async def start(call: Call, params: Params) -> Any:
        call.after_answer(explode)
        return "accepted"

    async with client({"start": start}) as c:
        assert await c.request("start") == "accepted"
        assert await c.request("echo") == {}
    assert "boom" in caplog.text


@pytest.mark.parametrize(("method", "name"), [("$/cancelRequest", "id"), ("$/cancel_request", "requestId")])
async def test_a_cancelled_call_is_answered_with_request_cancelled(method: str, name: str) -> None:
    async with client() as c:
        question = await c.ask("wait_for_ever")
        await c.request("echo")
        await c.notify(method, {name: question[0]})
        with pytest.raises(RpcError) as caught:
            await c.answer(question)
    assert caught.value.to_object() == {
        "code": -32800,
        "message": "Request cancelled",
        "data": {"reason": "requestCancelled"},
    }


async def test_a_call_that_is_cancelled_before_it_starts_is_answered_and_never_runs() -> None:
    runs: list[Any] = []

    async def run(call: Call, params: Params) -> Any:
        runs.append(call.id)

    async with client({"run": run}) as c:
        await c.request("echo")
        await c.send(b'[{"id":"a","method":"run"},{"method":"$/cancelRequest","params":{"id":"a"}}]')
        await c.wait(lambda: len(c.received) == 2)
        assert (codes(c.received[1]), runs) == ([("a", -32800)], [])


async def test_a_call_may_end_its_own_way_when_it_is_cancelled() -> None:
    async def abortable(call: Call, params: Params) -> Any:
        aborted = asyncio.Event()
        call.on_cancel(aborted.set)
        await aborted.wait()
        return {"aborted": True}

    async with client({"abortable": abortable}) as c:
        question = await c.ask("abortable")
        await c.request("echo")
        await c.notify("$/cancelRequest", {"id": question[0]})
        assert await c.answer(question) == {"aborted": True}


async def test_a_handler_that_outlives_its_cancellation_gives_its_result() -> None:
    async def stubborn(call: Call, params: Params) -> Any:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "done all the same"

    async with client({"stubborn": stubborn}) as c:
        question = await c.ask("stubborn")
        await c.request("echo")
        await c.notify("$/cancelRequest", {"id": question[0]})
        assert await c.answer(question) == "done all the same"


async def test_a_cancellation_of_nothing_is_ignored() -> None:
    async with client() as c:
        odd: list[Any] = [{"id": 99}, {"id": True}, {"id": {}}, {}, [1]]
        for params in odd:
            await c.notify("$/cancelRequest", params)
        assert await c.request("echo") == {}


async def test_two_requests_with_one_id_are_both_answered_and_both_cancelled() -> None:
    async with client() as c:
        await c.send(b'{"id":5,"method":"wait_for_ever"}')
        await c.send(b'{"id":5,"method":"wait_for_ever"}')
        await c.send(b'{"id":6,"method":"echo"}')
        await c.wait(lambda: len(c.received) == 1)
        await c.notify("$/cancelRequest", {"id": 5})
        await c.wait(lambda: len(c.received) == 3)
        assert codes(c.received) == [(6, "ok"), (5, -32800), (5, -32800)]


async def test_past_the_bound_requests_are_refused_but_exempt_ones_are_not() -> None:
    async with client(max_in_flight=3, is_exempt=lambda method: method == "echo") as c:
        questions = [await c.ask("wait_for_ever") for _ in range(4)]
        with pytest.raises(RpcError) as caught:
            await c.answer(questions[3])
        assert caught.value.to_object() == {
            "code": -32050,
            "message": "Overloaded: 3 requests are in flight; try again later",
            "data": {"reason": "overloaded", "retryAfterMs": 100},
        }
        assert [await c.request("echo"), await c.request("ping")] == [{}, {}]
        for id, _ in questions:
            await c.notify("$/cancelRequest", {"id": id})
        await c.wait(lambda: len(c.received) == 6)
        assert await c.request("measure", {}) == 2


async def test_handlers_start_in_the_order_of_arrival() -> None:
    seen: list[int] = []

    async def note(call: Call, params: Params) -> Any:
        seen.append(params["n"])  # type: ignore[call-overload]

    async with client({"note": note}) as c:
        await asyncio.gather(*(c.request("note", {"n": n}) for n in range(500)))
    assert seen == list(range(500))


def quick(now: Callable[[Call, Params], Any], later: Any = "later") -> Quick:
    async def wait(call: Call, params: Params) -> Any:
        return later

    return Quick(now, wait)


async def test_a_quick_method_is_answered_in_the_turn_it_is_read_and_waits_where_it_has_to() -> None:
    tasks: list[asyncio.Task[Any] | None] = []
    reader: list[asyncio.Task[Any] | None] = []

    def ping(params: Params) -> Any:
        reader.append(asyncio.current_task())
        return {}

    def note(call: Call, params: Params) -> Any:
        tasks.append(asyncio.current_task())
        return {"now": True}

    def make(transport: Any) -> Peer:
        table = {**methods(), "note": quick(note), "wait": quick(lambda call, params: None)}
        return Peer(transport, load=lambda: table, early={"ping": ping})

    async with connect(make) as c:
        await c.request("ping")
        assert await c.request("note") == {"now": True}
        assert await c.request("wait") == "later"
    assert tasks == reader


async def test_a_quick_method_overtakes_no_call_that_was_written_before_it() -> None:
    seen: list[str] = []

    async def note(call: Call, params: Params) -> Any:
        seen.append("handler")

    def look(call: Call, params: Params) -> Any:
        seen.append("quick")
        return {}

    async def look_later(call: Call, params: Params) -> Any:
        return look(call, params)

    async with client({"note": note, "look": Quick(look, look_later)}) as c:
        await c.request("note")
        await c.transport.send([b'{"id":"n","method":"note"}', b'{"id":"l","method":"look"}', b'{"method":"look"}'])
        await c.request("echo")
    assert seen == ["handler", "handler", "quick", "quick"]


async def test_a_quick_method_may_refuse_or_fail(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(call: Call, params: Params) -> Any:
        raise RpcError(-32099, "Refused", {"reason": "refused"})

    def fail(call: Call, params: Params) -> Any:
        raise ValueError("a secret of our insides")

    async with client({"refuse": quick(refuse), "fail": quick(fail), "give": quick(lambda call, params: {1})}) as c:
        for method, code in (("refuse", -32099), ("fail", -32603), ("give", -32603)):
            with pytest.raises(RpcError) as caught:
                await c.request(method)
            assert caught.value.code == code
            assert "secret" not in str(caught.value.to_object())
    assert "a secret of our insides" in caplog.text


async def test_what_follows_the_answer_of_a_quick_method_follows_it() -> None:
    def start(call: Call, params: Params) -> Any:
        call.after_answer(lambda: call.peer.notify("started", {}))
        return "accepted"

    async with client({"start": quick(start)}) as c:
        assert await c.request("start") == "accepted"
        await c.notification("started")
        assert [message.get("method", "the answer") for message in c.received] == ["the answer", "started"]


async def test_a_client_that_asks_for_much_and_reads_nothing_is_read_no_further() -> None:
    calls = 0

    async def big(call: Call, params: Params) -> Any:
        nonlocal calls
        calls += 1
        return "x" * 100_000

    async with client({"big": big}, high_water_bytes=1 << 20) as c:
        await c.request("echo")
        c.transport.stop_reading()
        questions = [await c.ask("big") for _ in range(500)]
        for _ in range(2000):
            await asyncio.sleep(0)
        # One megabyte of answers, what the writer has taken, and the messages of one step.
        assert calls < 60
        c.transport.read_again()
        for question in questions:
            assert len(await c.answer(question)) == 100_000
    assert calls == 500


async def test_the_server_asks_and_the_client_answers() -> None:
    async def ask(call: Call, params: Params) -> Any:
        return await call.peer.request("question", {"n": 1}, timeout=5)

    async with client({"ask": ask}) as c:
        c.on_request["question"] = lambda params: {"answer": params["n"] + 1}
        assert await c.request("ask") == {"answer": 2}


async def test_a_refusal_of_the_client_is_an_error_with_its_code() -> None:
    caught: list[RpcError] = []

    async def ask(call: Call, params: Params) -> Any:
        try:
            await call.peer.request("question", {})
        except RpcError as error:
            caught.append(error)

    def refuse(params: Params) -> Any:
        raise RpcError(-1, "no", {"why": "because"})

    async with client({"ask": ask}) as c:
        c.on_request["question"] = refuse
        await c.request("ask")
    assert [error.to_object() for error in caught] == [{"code": -1, "message": "no", "data": {"why": "because"}}]


async def test_a_question_nobody_answers_ends_at_its_limit_and_is_taken_back() -> None:
    async def ask(call: Call, params: Params) -> Any:
        try:
            await call.peer.request("question", {}, timeout=0.01)
        except TimeoutError:
            return "gave up"

    async with client({"ask": ask}) as c:
        assert await c.request("ask") == "gave up"
        await c.send(b'{"id":%d,"result":"too late"}' % c.requests[0].id)
        assert (await c.notification("$/cancelRequest")) == {"id": c.requests[0].id}
        assert await c.request("echo") == {}


async def test_a_question_is_taken_back_when_its_call_is_cancelled() -> None:
    async def ask(call: Call, params: Params) -> Any:
        await call.peer.request("question", {})

    async with client({"ask": ask}) as c:
        question = await c.ask("ask")
        await c.wait(lambda: len(c.requests) == 1)
        await c.notify("$/cancelRequest", {"id": question[0]})
        assert (await c.notification("$/cancelRequest")) == {"id": c.requests[0].id}
        with pytest.raises(RpcError, match="cancelled"):
            await c.answer(question)


async def test_at_the_end_of_input_open_questions_end_and_open_requests_are_answered() -> None:
    seen: list[str] = []

    async def ask(call: Call, params: Params) -> Any:
        for _ in range(2):
            try:
                await call.peer.request("question", {})
            except Disconnected:
                seen.append("disconnected")
        return "answered"

    async with client({"ask": ask}, on_input_end=lambda: seen.append("input ended")) as c:
        question = await c.ask("ask")
        await c.wait(lambda: len(c.requests) == 1)
        c.transport.end()
        assert await c.answer(question) == "answered"
        assert (await c.notification("$/cancelRequest")) == {"id": c.requests[0].id}
    assert seen == ["input ended", "disconnected", "disconnected"]


async def test_closing_cancels_what_runs_and_answers_it() -> None:
    async def close(call: Call, params: Params) -> Any:
        call.after_answer(call.peer.close)
        return "closing"

    async with client({"close": close}) as c:
        question = await c.ask("wait_for_ever")
        assert await c.request("close") == "closing"
        with pytest.raises(RpcError) as caught:
            await c.answer(question)
        assert (caught.value.code, caught.value.data) == (-32051, {"reason": "shuttingDown"})


async def test_ending_the_input_from_inside_lets_calls_finish() -> None:
    async def stop(call: Call, params: Params) -> Any:
        call.peer.end_input()

    async with client({"stop": stop}) as c:
        question = await c.ask("finish_later")
        await c.request("stop")
        assert await c.answer(question) == "finished"


async def run_until_hang_up(act: Callable[[InMemoryClient], Any], **options: Any) -> str:
    server_end, client_end = connected_pair()
    peer = Peer(server_end, load=methods, early=early_methods(), **options)
    c = InMemoryClient(client_end)
    with anyio.fail_after(10):
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(peer.run())
            listening = tasks.create_task(c.listen())
            await act(c)
            ending = await running
            listening.cancel()
            return ending


async def test_a_hang_up_is_noticed_although_nothing_is_written() -> None:
    told: list[str] = []

    async def act(c: InMemoryClient) -> None:
        await c.ask("wait_for_ever")
        await c.request("echo")
        c.transport.hang_up()

    assert await run_until_hang_up(act, on_hang_up=lambda: told.append("hung up")) == "hung-up"
    assert told == ["hung up"]


async def test_a_hang_up_frees_a_handler_that_waits_for_room() -> None:
    async def act(c: InMemoryClient) -> None:
        await c.request("echo")
        c.transport.stop_reading()
        await c.ask("flood", {"count": 10_000})
        for _ in range(100):
            await asyncio.sleep(0)
        c.transport.hang_up()

    assert await run_until_hang_up(act, high_water_bytes=10_000) == "hung-up"


async def test_a_slow_reader_slows_the_flood_and_loses_nothing() -> None:
    async with client(high_water_bytes=100_000) as c:
        await c.request("echo")
        c.transport.stop_reading()
        question = await c.ask("flood", {"count": 2000})
        for _ in range(1000):
            await asyncio.sleep(0)
        assert not c.notifications
        c.transport.read_again()
        assert await c.answer(question) == 2000
        assert [n.params["index"] for n in c.notifications] == list(range(2000))


async def test_requests_wait_for_the_loading_and_early_methods_do_not() -> None:
    loads: list[str] = []

    def load() -> Mapping[str, Handler]:
        loads.append("loaded")
        return methods()

    async with connect(lambda transport: Peer(transport, load=load, early={"ping": lambda params: loads})) as c:
        assert await c.request("ping") == []
        answers = await asyncio.gather(*(c.request("echo", {"n": n}) for n in range(5)))
        assert answers == [{"n": n} for n in range(5)]
        assert await c.request("ping") == ["loaded"]


async def test_when_loading_fails_every_request_is_told_and_ping_still_works(caplog: pytest.LogCaptureFixture) -> None:
    def load() -> Mapping[str, Handler]:
        raise ImportError("no such thing")

    async with connect(lambda transport: Peer(transport, load=load, early=early_methods())) as c:
        for _ in range(2):
            with pytest.raises(RpcError, match="Internal error"):
                await c.request("echo")
        assert await c.request("ping") == {}
    assert "no such thing" in caplog.text


async def test_an_early_method_may_refuse_or_fail() -> None:
    def refuse(params: Params) -> Any:
        raise RpcError(-5, "no")

    def fail(params: Params) -> Any:
        raise ValueError("a secret")

    early = {"refuse": refuse, "fail": fail}
    async with connect(lambda transport: Peer(transport, load=methods, early=early)) as c:
        await c.send(json.dumps([{"id": 1, "method": "refuse"}, {"id": 2, "method": "fail"}]).encode())
        await c.wait(lambda: bool(c.received))
        assert codes(c.received[0]) == [(1, -5), (2, -32603)]
        assert "secret" not in str(c.received)


async def test_a_request_that_waits_for_the_loading_when_the_server_stops_is_answered() -> None:
    may_load = threading.Event()
    peers: list[Peer] = []

    def load() -> Mapping[str, Handler]:
        may_load.wait(10)
        return methods()

    def make(transport: Any) -> Peer:
        peers.append(Peer(transport, load=load, early=early_methods()))
        return peers[0]

    async with connect(make) as c:
        question = await c.ask("echo")
        for _ in range(20):
            await asyncio.sleep(0)
        peers[0].end_input()
        with pytest.raises(RpcError) as caught:
            await c.answer(question)
        assert (caught.value.code, caught.value.data) == (-32051, {"reason": "shuttingDown"})
        may_load.set()
