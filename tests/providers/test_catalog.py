import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from rpc_agent.conversation.messages import user_message
from rpc_agent.conversation.models import Model, PriceTier
from rpc_agent.errors import AuthMissing, ModelNotFound, NoModel, SettingsError
from rpc_agent.providers.base import ModelCallFailed, ModelRequest, StreamEvent, TextDelta
from rpc_agent.providers.catalog import Catalog, Choice, load_catalog
from rpc_agent.providers.local_servers import LocalServer
from rpc_agent.providers.offline.description import OFFLINE_MODEL
from rpc_agent.providers.thinking import available_thinking_levels
from tests.support.chat_server import ChatServer, error_reply, text_reply
from tests.support.json_server import JsonServer

pytestmark = pytest.mark.anyio


def catalog(tmp_path: Path, models: object = None, project: object = None, **environment: str) -> Catalog:
    if models is not None:
        (tmp_path / "models.json").write_text(json.dumps(models), encoding="utf-8")
    if project is not None:
        (tmp_path / "project" / ".rpc-agent").mkdir(parents=True)
        (tmp_path / "project" / ".rpc-agent" / "models.json").write_text(json.dumps(project), encoding="utf-8")
    return load_catalog(tmp_path, environment, tmp_path / "project" if project is not None else None)


def local(base_url: str = "http://127.0.0.1:1/v1", **more: Any) -> dict[str, Any]:
    provider = {"baseUrl": base_url, "api": "openai-completions", "models": [{"id": "m"}], **more}
    return {"providers": {"local": provider}}


async def text_from(known: Catalog, model: Model) -> str:
    events: list[StreamEvent] = []
    with anyio.fail_after(20):
        async for batch in known.chat_model(model).stream(
            ModelRequest(model=model, messages=[user_message("hello", timestamp=1)])
        ):
            events += batch
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def test_with_nothing_configured_only_the_offline_model_is_available(tmp_path: Path) -> None:
    known = catalog(tmp_path)
    assert known.available_models() == [OFFLINE_MODEL]
    assert known.choose_default() == Choice(OFFLINE_MODEL, implicit_offline=True)
    with pytest.raises(NoModel, match="OPENAI_API_KEY"):
        known.choose_default(allow_offline=False)


def test_the_model_asked_for_beats_the_sessions_beats_the_settings_beats_the_first_with_a_key(tmp_path: Path) -> None:
    known = catalog(tmp_path, local(), OPENAI_API_KEY="k", GROQ_API_KEY="k")
    groq, openai = "groq/openai/gpt-oss-120b", "openai/gpt-4o"
    assert known.choose_default(requested=groq, session=openai, default="local/m").model.ref == groq
    assert known.choose_default(session=openai, default="local/m").model.ref == openai
    assert known.choose_default(session="gone/model", default=groq).model.ref == groq
    assert known.choose_default(session="deepseek/deepseek-v4-pro", default=groq).model.ref == groq
    assert known.choose_default(session="offline/offline").model.ref == "local/m"
    assert known.choose_default().model.ref == "local/m"
    assert catalog(tmp_path / "2", GROQ_API_KEY="k").choose_default().model.provider == "groq"
    assert known.choose_default(requested="offline/offline") == Choice(OFFLINE_MODEL)


def test_a_model_that_does_not_exist_is_answered_with_similar_ones(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"did you mean openai/gpt-4o") as caught:
        catalog(tmp_path).find("openai", "gpt-4oo")
    assert caught.value.details["model"] == "openai/gpt-4oo"


@pytest.mark.parametrize(
    ("api", "path"),
    [
        ("openai-completions", "/v1/chat/completions"),
        ("openai-responses", "/v1/responses"),
        ("anthropic-messages", "/v1/messages"),
        ("google-generative-ai", "/v1/models/m:streamGenerateContent?alt=sse"),
    ],
)
async def test_each_api_is_asked_at_its_own_path(tmp_path: Path, api: str, path: str) -> None:
    async with ChatServer([]) as server:
        known = catalog(tmp_path, local(server.base_url, api=api, apiKey="sk-secret-key"))
        with pytest.raises(ModelCallFailed) as caught:
            await text_from(known, known.find("local", "m"))
        await known.aclose()
    assert server.paths == [path]
    assert "sk-secret-key" not in caught.value.message


def test_openais_own_address_is_asked_by_its_newer_api_and_another_one_by_the_common_one(tmp_path: Path) -> None:
    own = catalog(tmp_path / "a").find("openai", "gpt-5")
    moved = catalog(tmp_path / "b", OPENAI_BASE_URL=" https://proxy/v1 ")
    (tmp_path / "c").mkdir()
    in_file = catalog(tmp_path / "c", {"providers": {"openai": {"baseUrl": "http://x/v1"}}}, OPENAI_BASE_URL="http://y")
    assert (own.api, own.base_url) == ("openai-responses", "https://api.openai.com/v1")
    assert [(m.api, m.base_url) for m in (moved.find("openai", "gpt-5"), in_file.find("openai", "gpt-5"))] == [
        ("openai-completions", "https://proxy/v1"),
        ("openai-completions", "http://x/v1"),
    ]
    # Some of its models answer to the newer API alone.
    assert moved.find("openai", "gpt-5-pro").api == "openai-responses"
    claude = catalog(tmp_path / "d", ANTHROPIC_BASE_URL="http://proxy").models()
    assert {(m.api, m.base_url) for m in claude if m.provider == "anthropic"} == {
        ("anthropic-messages", "http://proxy")
    }


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("http://x/v1/chat/completions", "http://x/v1"),
        ("http://x/v1/responses/", "http://x/v1"),
        ("http://x/v1/messages", "http://x"),
        ("http://responses", "http://responses"),
        ("http://x/v1/", "http://x/v1/"),
    ],
)
def test_the_address_of_a_services_one_call_is_as_good_as_that_of_the_service(
    tmp_path: Path, given: str, address: str
) -> None:
    in_file = catalog(tmp_path, local(given)).find("local", "m")
    in_variable = catalog(tmp_path / "empty", OPENAI_BASE_URL=given).find("openai", "gpt-5")
    assert (in_file.base_url, in_variable.base_url) == (address, address)


def test_price_tiers_and_thinking_levels_of_a_models_file_are_read(tmp_path: Path) -> None:
    cost = {"input": 1, "output": 2, "tiers": [{"inputTokensAbove": 200_000, "input": 3}]}
    row = {"id": "m", "cost": cost, "reasoning": True, "thinkingLevelMap": {"off": None, "xhigh": "max"}}
    model = catalog(tmp_path, local(models=[row])).find("local", "m")
    assert (model.cost, model.price_tiers) == ({"input": 1, "output": 2}, (PriceTier(200_000, {"input": 3}),))
    assert available_thinking_levels(model) == ("minimal", "low", "medium", "high", "xhigh")


async def test_a_providers_own_list_overrides_the_table_and_adds_to_it(tmp_path: Path) -> None:
    rows = [
        {"id": "gpt-4o", "context_length": 64_000, "top_provider": {"max_completion_tokens": 999}},
        {"id": "brand-new", "context_length": 5_000},
        {"id": "a-voice"},
    ]
    async with JsonServer({"/v1/models": {"data": rows}}) as server:
        known = catalog(tmp_path, OPENAI_API_KEY="sk-secret-key", OPENAI_BASE_URL=server.root + "/v1")
        first = known.find("openai", "gpt-5")
        with anyio.fail_after(20):
            models = {model.id: model for model in await known.refresh("openai")}
        await known.aclose()
    assert (models["gpt-4o"].context_window, models["gpt-4o"].max_tokens) == (64_000, 999)
    assert known.find("openai", "brand-new").context_window == 5_000
    assert "a-voice" not in models
    assert known.find("openai", "gpt-5") == first
    assert server.headers[0]["authorization"] == "Bearer sk-secret-key"


async def test_a_refused_list_is_told_without_the_key(tmp_path: Path) -> None:
    async with JsonServer({}) as server:
        known = catalog(tmp_path, local(server.root, apiKey="sk-secret-key"))
        with anyio.fail_after(20), pytest.raises(ModelCallFailed, match="404") as caught:
            await known.refresh("local")
        await known.aclose()
    assert ("sk-secret-key" in caught.value.message, server.said_key) == (False, True)
    with pytest.raises(ModelNotFound):
        await known.refresh("nobody")


def test_servers_found_on_this_machine_are_offered_before_the_offline_model(tmp_path: Path) -> None:
    known = catalog(tmp_path)
    model = Model(id="llama", provider="ollama", api="openai-completions", base_url="http://127.0.0.1:9/v1")
    known.add_local([LocalServer("ollama", "http://127.0.0.1:9/v1", (model,))])
    assert known.available_models() == [model, OFFLINE_MODEL]
    known.add_local([LocalServer("ollama", "http://127.0.0.1:9/v1", (replace(model, id="other"),))])
    assert [found.ref for found in known.available_models()] == ["ollama/other", "offline/offline"]


def test_a_server_of_the_users_file_is_not_replaced_by_one_that_was_found(tmp_path: Path) -> None:
    known = catalog(tmp_path, {"providers": {"ollama": local()["providers"]["local"]}})
    known.add_local([LocalServer("ollama", "http://127.0.0.1:9/v1", ())])
    assert [model.ref for model in known.available_models()] == ["ollama/m", "offline/offline"]


def test_a_missing_key_names_the_variable(tmp_path: Path) -> None:
    known = catalog(tmp_path, local(apiKey="$MY_KEY"))
    assert not known.has_key("local")
    with pytest.raises(AuthMissing, match="set the variable MY_KEY") as caught:
        known.chat_model(known.find("local", "m"))
    assert caught.value.details == {"provider": "local", "variable": "MY_KEY"}
    with pytest.raises(AuthMissing, match="OPENAI_API_KEY"):
        known.chat_model(known.find("openai", "gpt-4o"))


def test_the_users_file_adds_to_a_built_in_provider_and_overrides_it(tmp_path: Path) -> None:
    models = [
        {"id": "gpt-4o", "contextWindow": 9},
        {"id": "new", "name": "New", "input": ["text", "image"], "maxTokens": 3},
    ]
    known = catalog(tmp_path, {"providers": {"openai": {"models": models}}}, OPENAI_BASE_URL="https://proxy/v1")
    changed, new = known.find("openai", "gpt-4o"), known.find("openai", "new")
    assert (changed.context_window, changed.max_tokens, changed.base_url) == (9, 16_384, "https://proxy/v1")
    assert new == Model(
        id="new", provider="openai", api="openai-completions", name="New", base_url="https://proxy/v1",
        input=("text", "image"), max_tokens=3, compat=changed.compat,
    )  # fmt: skip
    assert known.find("openai", "gpt-5").context_window == 272_000


def test_a_trusted_projects_file_is_read_too(tmp_path: Path) -> None:
    other = {"providers": {"other": local()["providers"]["local"]}}
    refs = [model.ref for model in catalog(tmp_path, local(), other).available_models()]
    assert refs == ["local/m", "other/m", "offline/offline"]


@pytest.mark.parametrize(
    ("provider", "field"),
    [
        ({"api": "openai-completions"}, "providers.p.baseUrl"),
        ({"baseUrl": "http://x"}, "providers.p.api"),
        ({"baseUrl": "x", "api": "openai-completions"}, "providers.p.baseUrl"),
        ({"baseUrl": "http://x", "api": "soap"}, "providers.p.api"),
        ({"baseUrl": "http://x", "api": "openai-completions", "timeouts": {"idleMs": "1s"}}, "providers.p.timeouts.idleMs"),
        ({"baseUrl": "http://x", "api": "openai-completions", "models": [{"name": "n"}]}, "providers.p.models.0.id"),
        ({"baseUrl": "http://x", "api": "openai-completions", "models": [{"id": "n", "contextWindow": "8k"}]},
         "providers.p.models.0.contextWindow"),
        ({"baseUrl": "http://x", "api": "openai-completions", "models": [{"id": "n", "cost": {"input": float("inf")}}]},
         "providers.p.models.0.cost.input"),
        ({"api": "scripted"}, "providers.p.script"),
        ("x", "providers.p"),
    ],
)  # fmt: skip
def test_a_bad_models_file_names_field_and_file(tmp_path: Path, provider: object, field: str) -> None:
    with pytest.raises(SettingsError) as caught:
        catalog(tmp_path, {"providers": {"p": provider}})
    assert caught.value.details == {"field": field, "file": str(tmp_path / "models.json")}


def test_a_variable_of_spaces_holds_no_key(tmp_path: Path) -> None:
    known = catalog(tmp_path, local("http://127.0.0.1:1/v1", apiKey="$MY_KEY"), MY_KEY=" ")
    assert not known.has_key("local")


def test_variables_with_keys_are_known_so_that_children_do_not_see_them(tmp_path: Path) -> None:
    known = catalog(tmp_path, local(apiKeyEnv="MY_KEY", headers={"x-token": "$MY_TOKEN", "x-plain": "v"}))
    secret = known.secret_variables()
    assert {
        "MY_KEY",
        "MY_TOKEN",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "FIREWORKS_API_KEY",
    } <= secret
    assert not secret & {"PATH", "", "v", "OPENAI_BASE_URL"}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"apiKey": "literal"}, "Bearer literal"),
        ({"apiKey": " literal\n"}, "Bearer literal"),
        ({"apiKey": "$MY_KEY"}, "Bearer from-variable"),
        ({"apiKeyEnv": "MY_KEY"}, "Bearer from-variable"),
        ({"apiKey": "!echo from-$WORD; echo second line"}, "Bearer from-command"),
        ({}, None),
        ({"apiKey": "k", "headers": {"Authorization": "Token $"}}, "Token $"),
    ],
)
async def test_a_key_reaches_the_server_in_each_way_to_give_one(
    tmp_path: Path, more: dict[str, Any], expected: str | None
) -> None:
    async with ChatServer([text_reply("hi there")]) as server:
        known = catalog(
            tmp_path, local(server.base_url, **more), MY_KEY="from-variable", WORD="command", PATH=os.environ["PATH"]
        )
        assert await text_from(known, known.find("local", "m")) == "hi there"
        await known.aclose()
    assert server.headers[0].get("authorization") == expected


async def test_a_key_whose_lifetime_is_over_is_asked_for_again_once(tmp_path: Path) -> None:
    """The command gives another key each time, and the service takes none for long."""
    count = tmp_path / "count"
    refused = error_reply(401, {"error": {"message": "token expired"}})
    async with ChatServer([text_reply("a"), refused, text_reply("b"), refused, refused]) as server:
        provider = {"baseUrl": server.base_url, "apiKey": f"!echo x >> {count}; wc -l < {count}"}
        model = {"api": "openai-completions", "models": [{"id": "m"}]}
        known = catalog(tmp_path, {"providers": {"p": {**provider, **model}}})
        asked = [await outcome(known) for _ in range(3)]
        await known.aclose()
    assert asked == ["a", "b", "auth"]
    assert [headers["authorization"] for headers in server.headers] == [f"Bearer {key}" for key in (1, 1, 2, 2, 3)]


async def outcome(known: Catalog) -> str:
    try:
        return await text_from(known, known.find("p", "m"))
    except ModelCallFailed as failure:
        return failure.kind


async def test_a_key_command_that_fails_is_an_auth_failure_without_its_output(tmp_path: Path) -> None:
    known = catalog(tmp_path, local(apiKey="!echo hidden; exit 3"), PATH=os.environ["PATH"])
    with pytest.raises(ModelCallFailed, match="exit code 3") as caught:
        await text_from(known, known.find("local", "m"))
    assert (caught.value.kind, "hidden" in caught.value.message) == ("auth", False)
    await known.aclose()


async def test_a_key_command_finds_its_input_empty(tmp_path: Path) -> None:
    async with ChatServer([text_reply("ok")]) as server:
        known = catalog(tmp_path, local(server.base_url, apiKey="!cat; echo k"), PATH=os.environ["PATH"])
        assert await text_from(known, known.find("local", "m")) == "ok"
        await known.aclose()


async def test_a_scripted_provider_plays_its_file_and_goes_on_where_it_was(tmp_path: Path) -> None:
    (tmp_path / "replies.json").write_text(json.dumps({"replies": [{"text": "a"}, {"text": "b"}]}), encoding="utf-8")
    known = catalog(
        tmp_path, {"providers": {"test": {"api": "scripted", "script": "replies.json", "models": [{"id": "m"}]}}}
    )
    model = known.choose_default().model
    assert [await text_from(known, model), await text_from(known, model)] == ["a", "b"]


async def test_the_offline_model_says_what_it_is_only_where_nobody_chose_it(tmp_path: Path) -> None:
    known = catalog(tmp_path)
    request = ModelRequest(model=OFFLINE_MODEL, messages=[user_message("hello", timestamp=1)])
    answers = []
    for implicit in (True, False):
        events = [
            event
            async for batch in known.chat_model(OFFLINE_MODEL, implicit_offline=implicit).stream(request)
            for event in batch
        ]
        answers.append("".join(event.text for event in events if isinstance(event, TextDelta)))
    assert "Set one of ANTHROPIC_API_KEY" in answers[0].splitlines()[0]
    assert answers[0].partition("\n\n")[2] == answers[1]


def test_neither_httpx_nor_pydantic_is_loaded_before_the_first_call() -> None:
    code = (
        "import sys, pathlib; from rpc_agent.providers.catalog import load_catalog; from rpc_agent.settings import load_settings\n"
        "known = load_catalog(pathlib.Path('/nowhere'), {'OPENAI_API_KEY': 'k'}); load_settings(pathlib.Path('/nowhere'))\n"
        "known.chat_model(known.choose_default().model)\n"
        "sys.exit(' '.join({'httpx', 'pydantic', 'jsonschema'} & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
