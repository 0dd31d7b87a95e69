"""Carries a plan out against a whole server over the in-memory twin, and records everything that was said.

Judges nothing: `outcome_checks` does.
"""

import asyncio
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rpc_agent.providers.base import ModelRequest
from rpc_agent.providers.scripted import ScriptedModel
from rpc_agent.rpc.errors import Disconnected, RpcError
from rpc_agent.rpc.in_memory import InMemoryTransport, connected_pair
from rpc_agent.runtime.live_session import LiveSession
from rpc_agent.server.app import App
from tests.support.agent_server import CheckingClient, Home
from tests.support.contract import params_misfits, result_misfits
from tests.support.interleavings import (
    UNKNOWN_ENTRY,
    WINDOW,
    Answered,
    Ask,
    Cancel,
    EntryPick,
    Pause,
    Plan,
    Step,
    Until,
)

PATIENCE = 10.0
"""Seconds for any wait; a plan that needs longer hangs."""
_MOMENT = 0.015
"""Seconds that a step waits for something that may never come."""
CALM = {"provider": "calm", "modelId": "m"}
Question = tuple[int, "asyncio.Future[Any]"]


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """What a session answered before it was closed and after it was opened again."""

    session_id: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    warnings: Sequence[Any]
    file: str


@dataclass(slots=True)
class Record:
    """Everything said in one plan. `received` is in the order of arrival."""

    received: list[Any] = field(default_factory=list)
    asked: dict[Any, Asked] = field(default_factory=dict)
    unanswered: list[str] = field(default_factory=list)
    """Requests without an answer when all patience was spent."""
    restless: list[str] = field(default_factory=list)
    """Sessions that were not idle, or did not work, after everything was stopped."""
    kept: list[Kept] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    """What the scripted models were sent."""
    misfits: list[str] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)
    """Faults that the server logged."""
    ended: bool = True


def prepare(plan: Plan, root: Path) -> Home:
    home = Home(root)
    home.script(*plan.replies, summaries=plan.summaries)
    (home.project / "notes.txt").write_text("a note\n", encoding="utf-8")
    scripts = {"replies": (plan.replies, plan.summaries), "calm": ([{"text": "fine"}], [{"text": "## Goal\nCalm."}])}
    for name, (replies, summaries) in scripts.items():
        (home.config / f"{name}.json").write_text(_json(replies, summaries), encoding="utf-8")
    home.models(
        {
            "scripted": _provider(home, "replies", {"m": WINDOW, "larger": 2 * WINDOW}),
            "calm": _provider(home, "calm", {"m": 1_000_000}),
            "keyless": {
                "baseUrl": "http://127.0.0.1:9/v1",
                "api": "openai-completions",
                "apiKeyEnv": "A_KEY_NOBODY_HAS",
                "models": [{"id": "m", "contextWindow": WINDOW}],
            },
        }
    )
    home.settings(**plan.settings)
    return home


def _json(replies: Sequence[Any], summaries: Sequence[Any]) -> str:
    return json.dumps({"replies": list(replies), "summaries": list(summaries), "repeat": True})


def _provider(home: Home, script: str, windows: Mapping[str, int]) -> dict[str, Any]:
    models = [
        {"id": id, "contextWindow": window, "maxTokens": 2_000, "reasoning": True} for id, window in windows.items()
    ]
    return {"api": "scripted", "script": str(home.config / f"{script}.json"), "models": models}


async def carry_out(plan: Plan, root: Path) -> Record:
    """Run a plan to its end, whatever goes wrong in it."""
    record = Record()
    faults = _Faults(record.logged)
    logging.getLogger().addHandler(faults)
    try:
        await _serve(plan, prepare(plan, root), record)
    finally:
        logging.getLogger().removeHandler(faults)
    return record


async def _serve(plan: Plan, home: Home, record: Record) -> None:
    server_end, client_end = connected_pair()
    client = CheckingClient(client_end)
    app = App(home.options(), server_end, home.environment, on_overdue=lambda code: None)
    run = asyncio.create_task(_run(app, server_end))
    listening = asyncio.create_task(client.listen())
    driver = Driver(client, app, record)
    try:
        await driver.drive(plan)
    finally:
        client_end.end()
        await asyncio.wait([run], timeout=PATIENCE)
        record.ended = run.done()
        for task in (run, listening):
            task.cancel()
        results = await asyncio.gather(run, listening, return_exceptions=True)
        record.logged += [repr(result) for result in results if isinstance(result, Exception)]
        record.received = client.received
        record.misfits = list(_misfits(record))


async def _run(app: App, end: InMemoryTransport) -> None:
    try:
        await app.run()
    finally:
        end.end()
        end.hang_up()


class _Faults(logging.Handler):
    def __init__(self, logged: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._logged = logged

    def emit(self, record: logging.LogRecord) -> None:
        self._logged.append(logging.Formatter().format(record))


class Driver:
    """One client that follows a plan."""

    def __init__(self, client: CheckingClient, app: App, record: Record) -> None:
        self._client = client
        self._app = app
        self._record = record
        self._questions: list[Question] = []
        self._seen = 0
        self._sessions: list[str] = []
        self._entries: dict[str, list[str]] = {}
        self._files: dict[str, str] = {}
        self._live: dict[int, LiveSession] = {}

    async def drive(self, plan: Plan) -> None:
        for step in plan.steps:
            self._look()
            await self._take(step)
        match plan.ending:
            case "abort":
                await self._abort_all()
                await self._all_answered()
                await self._check_calm()
            case "close":
                for session_id in self._known():
                    await self._ask("close_session", {"sessionId": session_id})
                await self._all_answered()
            case "shutdown":
                await self._ask("shutdown", {})
                await self._all_answered(helping=False)
            case "input-end":
                self._client.transport.end()
                await self._all_answered(helping=False)
        self._look()

    # Steps

    async def _take(self, step: Step) -> None:
        match step:
            case Ask(method, params, session):
                await self._ask(method, self._filled(params, session))
            case Cancel(back):
                open_ones = [id for id, answer in self._questions if not answer.done()]
                if open_ones:
                    await self._client.notify("$/cancelRequest", {"id": open_ones[-1 - back % len(open_ones)]})
            case Pause(turns):
                for _ in range(turns):
                    await asyncio.sleep(0)
            case Until(notification):
                await self._until(notification)
            case Answered():
                if self._questions:
                    await asyncio.wait([self._questions[-1][1]], timeout=_MOMENT)

    async def _until(self, notification: str) -> None:
        try:
            await self._client.notification(notification, after=len(self._client.notifications), timeout=_MOMENT)
        except (TimeoutError, Disconnected):
            pass

    async def _ask(self, method: str, params: Mapping[str, Any]) -> Question:
        question = await self._client.ask(method, params)
        self._record.asked[question[0]] = Asked(method, params)
        self._questions.append(question)
        return question

    def _filled(self, params: Mapping[str, Any], session: int | None) -> Mapping[str, Any]:
        named = {} if session is None or not self._sessions else {"sessionId": self._nth(session)}
        entries = self._entries.get(named.get("sessionId") or (self._sessions[-1] if self._sessions else ""), [])
        values = {
            name: _entry(entries, value.back) if isinstance(value, EntryPick) else value
            for name, value in params.items()
        }
        return {**named, **values}

    def _nth(self, back: int) -> str:
        return self._sessions[-1 - back % len(self._sessions)]

    # What has come

    def _look(self) -> None:
        """Take note of sessions and entries."""
        for message in self._client.received[self._seen :]:
            params = message.get("params") or message.get("result")
            if isinstance(params, dict) and isinstance(params.get("sessionId"), str):
                self._note(params["sessionId"], params)
        self._seen = len(self._client.received)
        engine = self._app._engine
        for session in engine.registry if engine else ():
            self._live[id(session)] = session

    def _note(self, session_id: str, params: Mapping[str, Any]) -> None:
        if session_id not in self._entries:
            self._sessions.append(session_id)
            self._entries[session_id] = []
        if "entry" in params and "seq" in params:
            self._entries[session_id].append(params["entry"]["id"])
        if "sessionFile" in params:
            self._files[session_id] = params["sessionFile"]

    def _known(self) -> list[str]:
        self._look()
        return list(self._sessions)

    # The end

    async def _abort_all(self) -> None:
        for session_id in self._known():
            await self._ask("abort", {"sessionId": session_id})
            await self._ask("abort_bash", {"sessionId": session_id})

    async def _all_answered(self, *, helping: bool = True) -> None:
        """`helping`: a request that waited in line may begin something after the abort, so it is aborted again."""
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while waiting := [answer for _, answer in self._questions if not answer.done()]:
            if asyncio.get_running_loop().time() > deadline:
                break
            await asyncio.wait(waiting, timeout=1)
            if helping and any(not answer.done() for answer in waiting):
                await self._abort_again()
        for id, answer in self._questions:
            if not answer.done():
                asked = self._record.asked[id]
                self._record.unanswered.append(f"{id} {asked.method} {dict(asked.params)}")
        self._collect()

    async def _abort_again(self) -> None:
        try:
            await self._abort_all()
        except (Disconnected, OSError):
            pass

    def _collect(self) -> None:
        self._look()
        self._record.requests = [
            request
            for session in self._live.values()
            for model in session.models._catalog._chat_models.values()
            if isinstance(model, ScriptedModel)
            for request in model.asked
        ]

    async def _check_calm(self) -> None:
        # What stood in line when everything was stopped may have begun after that.
        await self._abort_all()
        await self._all_answered()
        for session_id in self._known():
            state = await self._result("get_state", {"sessionId": session_id})
            if state is None:
                continue  # It was closed.
            busy = [name for name in ("isStreaming", "isCompacting", "isNavigating") if state[name]]
            if busy:
                self._record.restless.append(f"{session_id} {busy}")
                continue
            await self._check_that_it_works(session_id)
            if state.get("sessionFile"):
                await self._check_that_it_is_kept(session_id, state["sessionFile"])
        self._collect()

    async def _check_that_it_works(self, session_id: str) -> None:
        await self._result("set_model", {"sessionId": session_id, **CALM})
        answer = await self._result("prompt", {"sessionId": session_id, "message": "fresh", "wait": True})
        if answer is None or answer["stopReason"] != "stop":
            self._record.restless.append(f"{session_id} answered a fresh prompt with {answer}")

    async def _check_that_it_is_kept(self, session_id: str, file: str) -> None:
        before = await self._contents(session_id)
        await self._result("close_session", {"sessionId": session_id})
        opened = await self._result("open_session", {"path": file})
        after = await self._contents(session_id) if opened else {}
        self._record.kept.append(
            Kept(session_id, before, after, opened["warnings"] if opened else ["not opened"], file)
        )

    async def _contents(self, session_id: str) -> Mapping[str, Any]:
        methods = ("get_entries", "get_context", "get_messages", "get_tree", "get_state")
        found = {method: await self._result(method, {"sessionId": session_id}) for method in methods}
        state = found.pop("get_state") or {}
        # The threshold is 0 while set_auto_compaction has switched it off, which ends with the open session.
        context = found.pop("get_context") or {}
        found["get_context"] = {name: value for name, value in context.items() if name != "thresholdTokens"}
        lasting = ("leafId", "sessionName", "model", "messageCount", "contextUsage", "cwd")
        return {**found, **{name: state.get(name) for name in lasting}}

    async def _result(self, method: str, params: Mapping[str, Any]) -> Any:
        """None when it was refused, or not answered in time."""
        question = await self._ask(method, params)
        try:
            return await self._client.answer(question, timeout=PATIENCE)
        except (RpcError, Disconnected):
            return None
        except TimeoutError:
            self._record.unanswered.append(f"{question[0]} {method} {dict(params)}")
            return None


_good_pieces: set[Any] = set()
"""Shapes of what fitted the contract: schemas are slow, and thousands of messages look alike."""
_TELLING = frozenset(("type", "role", "stopReason", "status", "reason", "kind", "level", "mode", "disposition"))
"""Fields whose text is one of a few words, so that it belongs to the shape."""


def _misfits(record: Record) -> Iterator[str]:
    """What the contract does not say, of notifications and results whose shape was not seen before."""
    for message in record.received:
        if "method" in message:
            name, value, check = message["method"], message["params"], params_misfits
        elif "result" in message and message["id"] in record.asked:
            name, value, check = record.asked[message["id"]].method, message["result"], result_misfits
        else:
            continue
        pieces: set[Any] = set()
        pieces.add((check is params_misfits, name, _shape(value, name, pieces)))
        if pieces <= _good_pieces:
            continue
        found = check(name, value)
        yield from (f"{name} {fault}" for fault in found)
        if not found:
            _good_pieces.update(pieces)


def _shape(value: Any, place: str, pieces: set[Any]) -> Any:
    """Names and types; the members of a list go into `pieces`, with the place of the list."""
    match value:
        case dict():
            return tuple((key, _shape(each, f"{place}.{key}", pieces)) for key, each in value.items())
        case list():
            pieces.update((place, _shape(each, place, pieces)) for each in value)
            return list
        case str() if place.rpartition(".")[2] in _TELLING:
            return value
        case _:
            return type(value)


def _entry(entries: Sequence[str], back: int) -> str:
    return entries[-1 - back % len(entries)] if entries else UNKNOWN_ENTRY
