"""Extensions in Python: where they are found, whose are trusted, what a fault of theirs does, and whom they may ask."""

import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from rpc_agent.extensions.api import ExtensionApi
from rpc_agent.runtime.client_port import NoClient
from rpc_agent.runtime.events import ExtensionError
from rpc_agent.runtime.lent import ClientPerson
from rpc_agent.runtime.session_hooks import SessionHooks
from tests.support.agent_server import CheckingClient, Home, serving
from tests.support.hooks import errors, extension, hook, initialize

pytestmark = pytest.mark.anyio


def adds(word: str) -> str:
    """An extension that shows in the input that it was asked, and when."""
    return f"""
@api.on("input")
def add(event):
    return {{"text": event["text"] + " {word}"}}
"""


async def heard(client: CheckingClient, message: str = "said:") -> str:
    """What became of an input."""
    await client.request("prompt", {"message": message, "wait": True})
    messages = (await client.request("get_messages"))["messages"]
    return [str(message["content"]) for message in messages if message["role"] == "user"][-1]


async def test_the_users_then_the_projects_then_named_files_then_the_client(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "ok"})
    extension(home.config / "extensions", adds("user-b"), "b.py")
    extension(home.config / "extensions", adds("user-a"), "a.py")
    extension(home.project / ".rpc-agent" / "extensions", adds("project"))
    named = [extension(tmp_path, adds(f"named-{n}"), f"{n}.py") for n in "21"]
    (home.config / "trust.json").write_text(f'{{"{home.project.resolve()}": true}}')
    async with serving(home, extensions=tuple(named)) as client:
        await hook(client, {"input": lambda event: {"text": event["text"] + " client"}})
        assert await heard(client) == "said: user-a user-b project named-2 named-1 client"


async def test_an_untrusted_projects_code_is_not_run_until_it_is_trusted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "ok"}, {"text": "ok"})
    ran = tmp_path / "ran"
    code = f"open({str(ran)!r}, 'w').close()" + adds("project")
    extension(home.project / ".rpc-agent" / "extensions", code)
    async with serving(home) as client:
        assert (await heard(client), ran.exists()) == ("said:", False)
        await client.request("trust_project", {"cwd": str(home.project), "trusted": True})
        await client.request("new_session")
        assert (await heard(client), ran.exists()) == ("said: project", True)


async def test_an_extension_that_cannot_be_loaded_is_reported_and_left_out(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "ok"}, {"text": "ok"})
    bad = extension(tmp_path, "raise RuntimeError('no luck')", "bad.py")
    quits = extension(tmp_path, "raise SystemExit(3)", "quits.py")
    good = extension(tmp_path, adds("good"), "good.py")
    async with serving(home, extensions=(bad, quits, str(tmp_path / "absent.py"), good)) as client:
        assert await heard(client) == "said: good"
        assert await heard(client) == "said: good"
        assert [(name, hooked) for name, hooked, _ in errors(client)] == [
            ("bad", "load"),
            ("quits", "load"),
            ("absent", "load"),
        ]
        assert errors(client)[0][2] == "it could not be loaded: RuntimeError: no luck"


async def test_a_handler_that_throws_is_reported_and_the_next_is_asked(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "ok"})
    code = """
@api.on("input")
def broken(event):
    raise KeyError("gone")
"""
    files = (extension(tmp_path, code, "broken.py"), extension(tmp_path, adds("next"), "next.py"))
    async with serving(home, extensions=files) as client:
        assert await heard(client) == "said: next"
        assert errors(client) == [("broken", "input", "it failed: KeyError: 'gone'")]


ASKS = """
@api.on("input")
async def ask(event):
    found = [
        await api.ui_select("Which?", ["red", "blue"]),
        await api.ui_confirm("Sure?", "Really."),
        await api.ui_input("Name?", placeholder="any", value="me"),
        await api.ui_notify("Thanks.", "warning"),
    ]
    return {"text": repr(found)}
"""


async def test_an_extension_asks_the_person(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.script({"text": "ok"})
    asked: list[tuple[str, Any]] = []
    answers = {
        "ui_select": {"optionId": "1"},
        "ui_confirm": {"confirmed": True},
        "ui_input": {"text": "Ann"},
        "ui_notify": {},
    }
    async with serving(home, extensions=(extension(tmp_path, ASKS),)) as client:
        for name, answer in answers.items():

            def reply(params: Any, name: str = name, answer: Any = answer) -> Any:
                asked.append((name, {key: value for key, value in params.items() if key != "sessionId"}))
                return answer

            client.on_request[name] = reply
        await initialize(client, ui=True)
        assert await heard(client) == "['blue', True, 'Ann', None]"
    options = [{"id": "0", "label": "red"}, {"id": "1", "label": "blue"}]
    assert asked == [
        ("ui_select", {"title": "Which?", "options": options}),
        ("ui_confirm", {"title": "Sure?", "message": "Really."}),
        ("ui_input", {"title": "Name?", "placeholder": "any", "value": "me"}),
        ("ui_notify", {"level": "warning", "message": "Thanks."}),
    ]


@pytest.mark.parametrize("capabilities", [{}, {"ui": True}])
async def test_without_a_person_or_with_nonsense_each_question_has_its_safe_answer(
    tmp_path: Path, capabilities: Any
) -> None:
    home = Home(tmp_path)
    home.script({"text": "ok"})
    async with serving(home, extensions=(extension(tmp_path, ASKS),)) as client:
        for name in ("ui_select", "ui_confirm", "ui_input", "ui_notify"):
            client.on_request[name] = lambda params: {"nonsense": 1} if capabilities else pytest.fail("asked")
        await initialize(client, **capabilities)
        assert await heard(client) == "[None, False, None, None]"


def session_hooks(api: Any, client: Any, reported: list[Any], *, seconds: float) -> SessionHooks:
    person = ClientPerson(client, "s")
    return SessionHooks([api], client, "s", reported.append, person=person, seconds=seconds)


class SilentClient(NoClient):
    """Hears every hook and never answers."""

    hooks = frozenset({"input", "tool_call"})

    async def run_hook(self, session_id: str, hook: str, event: Any) -> object:
        await anyio.sleep_forever()
        return None


class SlowPerson(NoClient):
    """Thinks longer than a hook may take."""

    async def ui_confirm(self, session_id: str, title: str, message: str | None) -> bool:
        await anyio.sleep(0.3)
        return True


async def test_handlers_and_clients_that_never_answer_are_passed_over_in_time() -> None:
    api, reported, gate = ExtensionApi("stuck"), list[Any](), threading.Event()

    @api.on("input")
    def stuck(event: dict[str, Any]) -> None:
        gate.wait(20)

    hooks = session_hooks(api, SilentClient(), reported, seconds=0.05)
    with anyio.fail_after(5):
        answer = await hooks.input("x", [])
    gate.set()
    assert (answer.text, answer.handled) == (None, False)
    late = "it did not answer within 0.05 s"
    assert reported == [ExtensionError("stuck", "input", late), ExtensionError("client", "input", late)]


async def test_the_time_a_person_takes_is_not_the_hooks() -> None:
    api, reported = ExtensionApi("asks"), list[Any]()

    @api.on("input")
    async def ask(event: dict[str, Any]) -> dict[str, Any]:
        return {"text": f"{await api.ui_confirm('Sure?')} in {api.session_id}"}

    hooks = session_hooks(api, SlowPerson(), reported, seconds=0.1)
    with anyio.fail_after(5):
        assert (await hooks.input("x", [])).text == "True in s"
    assert (reported, api.session_id) == ([], None)
