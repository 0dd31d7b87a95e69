"""Which models there are, which one answers, and how to get at it. Reads no session and knows no engine."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio.to_thread
from msgspec import Struct
from msgspec.structs import replace

from rpc_agent.conversation.models import Model, split_ref
from rpc_agent.errors import ModelNotFound, NoModel
from rpc_agent.providers.ask_listing import ask_listing
from rpc_agent.providers.base import ChatModel
from rpc_agent.providers.builtin import BUILTIN_PROVIDERS, Provider, service_address
from rpc_agent.providers.clients import SERVICE_APIS, client_of
from rpc_agent.providers.connections import Connections
from rpc_agent.providers.listing import with_listing
from rpc_agent.providers.local_servers import LocalServer
from rpc_agent.providers.models_file import load_providers, models_file
from rpc_agent.providers.offline.description import OFFLINE_MODEL
from rpc_agent.providers.streaming import StreamingModel
from rpc_agent.settings.files import PROJECT_DIR

IMPLEMENTED_APIS = frozenset({*SERVICE_APIS, "scripted"})
"""A model of another API is not offered: choosing it would only fail later."""

OFFLINE_PACE_VARIABLE = "RPC_AGENT_OFFLINE_PACE_MS"
"""Milliseconds before each delta of the offline model, for demonstrations."""


class Choice(Struct, frozen=True):
    """`implicit_offline`: nobody asked for the offline model; there was just no other."""

    model: Model
    implicit_offline: bool = False


class Catalog:
    """`environment` is a mapping, so that a test or an embedding program decides what is in it."""

    def __init__(self, providers: Mapping[str, Provider], environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._header_variables = frozenset(
            value[1:]
            for provider in providers.values()
            for value in provider.headers.values()
            if value.startswith("$") and value[1:].isidentifier()
        )
        self._providers = {name: _with_variables(provider, environment) for name, provider in providers.items()}
        self._models = self._offered()
        self._chat_models: dict[tuple[str, bool], ChatModel] = {}
        self._connections = Connections()
        self._found_here: set[str] = set()
        """Providers that were found on this machine."""

    def models(self) -> list[Model]:
        """All models on offer, whether there is a key for them or not: those of the user's files first, then provider
        by provider, the usual choice of each before its others; the offline model last."""
        return list(self._models.values())

    def available_models(self) -> list[Model]:
        """Those that could answer now, in the same order: their provider has a key or needs none."""
        with_key = {name for name in (*self._providers, OFFLINE_MODEL.provider) if self.has_key(name)}
        return [model for model in self.models() if model.provider in with_key]

    def find(self, provider: str, model_id: str) -> Model:
        """Raises ModelNotFound, which names similar models."""
        models, ref = self._models, f"{provider}/{model_id}"
        if ref in models:
            return models[ref]
        near = difflib.get_close_matches(ref, models, n=3, cutoff=0.5)
        near = near or [known for known in models if known.startswith(f"{provider}/")][:3]
        hint = f"; did you mean {' or '.join(near)}?" if near else "; add it to models.json"
        raise ModelNotFound(f"there is no model {ref!r}{hint}", model=ref, didYouMean=near)

    def find_ref(self, ref: str) -> Model:
        """By "provider/modelId"."""
        return self.find(*split_ref(ref))

    def has_key(self, provider: str) -> bool:
        """Whether calls could be made: there is a key, or the provider needs none."""
        known = self._providers.get(provider)
        return provider == OFFLINE_MODEL.provider or (known is not None and known.key.is_there(self._environment))

    def key_variable(self, provider: str) -> str:
        """The variable that a provider's key comes from; "" where it comes from elsewhere or none is needed."""
        known = self._providers.get(provider)
        return known.key.value if known is not None and known.key.kind == "variable" else ""

    def choose_default(
        self,
        *,
        requested: str | None = None,
        session: str | None = None,
        default: str | None = None,
        allow_offline: bool = True,
    ) -> Choice:
        """Which model answers: the one asked for, the session's last, the settings' default, the first with a key, the
        offline model. All are "provider/modelId".

        Raises ModelNotFound for a requested or default model that does not exist (a session's that is gone is passed
        over), NoModel when nothing is left.
        """
        if requested:
            return Choice(self.find_ref(requested))
        # A session that fell back to the offline model does not stay there once there is a key.
        real = {model.ref: model for model in self.available_models() if model.ref != OFFLINE_MODEL.ref}
        if session in real:
            return Choice(real[session])
        if default:
            return Choice(self.find_ref(default))
        if real:
            return Choice(next(iter(real.values())))
        if allow_offline:
            return Choice(OFFLINE_MODEL, implicit_offline=True)
        raise NoModel(
            f"no model is configured: set one of {', '.join(self.key_variables())}, or add a provider to models.json",
            variables=self.key_variables(),
        )

    def chat_model(self, model: Model, *, implicit_offline: bool = False) -> ChatModel:
        """What answers for a model; the same object each time. Opens no connection.

        Raises AuthMissing (naming the variable), ModelNotFound, SettingsError (a script that cannot be read).
        """
        made = self._chat_models.get((model.ref, implicit_offline))
        if made is None:
            made = self._chat_models[model.ref, implicit_offline] = self._make(model, implicit_offline)
        return made

    def key_variables(self) -> list[str]:
        """Variables that would make a model available, for messages; in the order of the table."""
        usable = [provider for provider in self._providers.values() if provider.api in IMPLEMENTED_APIS]
        return [provider.key.value for provider in usable if provider.key.kind == "variable"]

    def secret_variables(self) -> frozenset[str]:
        """Names of all variables that hold keys: no child process may see their values."""
        keys = {provider.key.value for provider in self._providers.values() if provider.key.kind == "variable"}
        return self._header_variables | keys | {provider.key.value for provider in BUILTIN_PROVIDERS}

    async def refresh(self, provider: str) -> list[Model]:
        """Ask a provider for its own list of models: its limits replace those of the table, and models that the table
        lacks are offered from here on. Returns all models of the provider.

        Raises ModelNotFound for a provider nobody knows, AuthMissing, ModelCallFailed.
        """
        known = self._providers.get(provider)
        if known is None or known.api not in SERVICE_APIS:
            raise ModelNotFound(f"there is no provider {provider!r} that could be asked", model=provider)
        key = await anyio.to_thread.run_sync(known.key.key, provider, self._environment)
        new = Model(id="", provider=provider, api=known.api, base_url=known.base_url, compat=known.compat)
        listed = await ask_listing(
            await self._connections.http(known.base_url),
            provider=provider,
            api=known.api,
            base_url=known.base_url,
            headers=self._client(known, new).headers_with(key),
            secrets={key, *known.headers.values()},
        )
        self._replace(replace(known, models=with_listing(known.models, listed, new)))
        return list(self._providers[provider].models)

    def add_local(self, servers: Sequence[LocalServer]) -> None:
        """Offer the models of servers that `find_local_servers` found, before the offline model. A provider of the
        user's file with the name of the kind ("ollama") is kept as it is."""
        for server in servers:
            known = self._providers.get(server.kind)
            if known is None or server.kind in self._found_here:
                self._found_here.add(server.kind)
                self._replace(
                    Provider(name=server.kind, api="openai-completions", base_url=server.base_url, models=server.models)
                )

    async def aclose(self) -> None:
        """End all connections."""
        await self._connections.aclose()

    def _replace(self, provider: Provider) -> None:
        self._providers[provider.name] = provider
        self._models = self._offered()
        self._chat_models = {
            key: model for key, model in self._chat_models.items() if split_ref(key[0])[0] != provider.name
        }

    def _offered(self) -> dict[str, Model]:
        models = [model for provider in self._providers.values() for model in provider.models]
        return {model.ref: model for model in (*models, OFFLINE_MODEL) if model.api in (*IMPLEMENTED_APIS, "offline")}

    def _make(self, model: Model, implicit_offline: bool) -> ChatModel:
        if model.ref == OFFLINE_MODEL.ref:
            return self._offline(self.key_variables() if implicit_offline else None)
        provider = self._providers.get(model.provider)
        if provider is None or model.api not in IMPLEMENTED_APIS:
            raise ModelNotFound(f"there is no provider for the model {model.ref!r}", model=model.ref)
        if model.api == "scripted":
            from rpc_agent.providers.scripted import load_script  # noqa: PLC0415 - as in `clients`

            return load_script(Path(provider.script))
        if not provider.key.is_there(self._environment):
            provider.key.key(provider.name, self._environment)
        return self._client(provider, model)

    def _offline(self, missing_variables: list[str] | None) -> ChatModel:
        from rpc_agent.providers.offline.answering import notice  # noqa: PLC0415 - as in `clients`
        from rpc_agent.providers.offline.model import OfflineModel  # noqa: PLC0415

        first_line = "" if missing_variables is None else notice(missing_variables)
        return OfflineModel(first_line=first_line, pace_ms=_pace(self._environment))

    def _client(self, provider: Provider, model: Model) -> StreamingModel:
        source, environment = provider.key, self._environment
        return client_of(model.api)(
            model,
            key=lambda: source.key(provider.name, environment),
            connections=self._connections,
            headers=provider.headers,
            timeouts=provider.timeouts,
        )


def load_catalog(config_dir: Path, environment: Mapping[str, str], trusted_project: Path | None = None) -> Catalog:
    """The catalog of a user: models.json of the config dir and of a trusted project, then the built-in providers.

    `trusted_project` is None when there is no project or it is not trusted. Raises SettingsError (field and file).
    """
    builtin = {provider.name: provider for provider in BUILTIN_PROVIDERS}
    providers: dict[str, Provider] = {}
    places = [models_file(config_dir)] + ([models_file(trusted_project / PROJECT_DIR)] if trusted_project else [])
    for file in places:
        providers |= load_providers(file, {**builtin, **providers})
    return Catalog(
        {**providers, **{name: known for name, known in builtin.items() if name not in providers}}, environment
    )


def _with_variables(provider: Provider, environment: Mapping[str, str]) -> Provider:
    """The provider with the user's variables put in: another address, headers written as $NAME."""
    base_url = service_address(environment.get(provider.base_url_variable, "").strip())
    if base_url and base_url != provider.base_url:
        provider = provider.moved(base_url)
    headers = {
        name: environment.get(value[1:], "") if value.startswith("$") else value
        for name, value in provider.headers.items()
    }
    return replace(provider, headers={name: value for name, value in headers.items() if value})


def _pace(environment: Mapping[str, str]) -> float:
    value = environment.get(OFFLINE_PACE_VARIABLE, "")
    return float(value) if value.isdecimal() else 0.0
