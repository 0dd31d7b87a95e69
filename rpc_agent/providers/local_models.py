"""What local servers say of their models -> models with the context size that is really served. Pure; asks nobody."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from rpc_agent.conversation.json_values import as_count, as_object, as_text
from rpc_agent.conversation.models import Model
from rpc_agent.providers.listing import read_listing

LocalKind = Literal["ollama", "llamacpp", "lmstudio", "vllm"]
"""Also the name of the provider that its models belong to."""

_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d{1,15})\s*$", re.M)
_OLLAMA = {"reasoningEffortMap": {"off": "none", "minimal": None}}
_NO_EFFORT = {"supportsReasoningEffort": False}


def ollama_names(tags: object) -> list[str]:
    """Names of the installed models, from /api/tags."""
    rows = as_object(tags).get("models")
    names = [as_text(as_object(row).get("name")) for row in rows] if isinstance(rows, list) else []
    return [name for name in names if name]


def ollama_model(base_url: str, name: str, show: object, running: object) -> Model | None:
    """From /api/show and /api/ps. The window is that of the loaded model, else the one it is set to (num_ctx), else
    what the model was made for. None for a model that does not hold conversations."""
    raw = as_object(show)
    abilities = raw.get("capabilities")
    can = abilities if isinstance(abilities, list) else ["completion"]
    if "completion" not in can:
        return None
    made_for = next(
        (as_count(value) for key, value in as_object(raw.get("model_info")).items() if key.endswith(".context_length")),
        0,
    )
    set_to = _NUM_CTX.search(as_text(raw.get("parameters")))
    window = _loaded_window(running, name) or (int(set_to[1]) if set_to else 0) or made_for
    return _model(
        "ollama",
        base_url,
        name,
        window=min(window, made_for) if made_for else window,
        reasoning="thinking" in can,
        sees="vision" in can,
        compat=_OLLAMA,
    )


def _loaded_window(running: object, name: str) -> int:
    rows = as_object(running).get("models")
    for row in map(as_object, rows if isinstance(rows, list) else ()):
        if name in (row.get("name"), row.get("model")):
            return as_count(row.get("context_length"))
    return 0


def llamacpp_models(base_url: str, props: object, listing: object) -> list[Model]:
    """From /props (n_ctx is what one conversation gets) and /v1/models."""
    raw = as_object(props)
    settings = as_object(raw.get("default_generation_settings"))
    if not settings and "n_ctx" not in raw:
        return []
    window = as_count(settings.get("n_ctx")) or as_count(raw.get("n_ctx"))
    sees = as_object(raw.get("modalities")).get("vision") is True
    names = [row.id for row in read_listing(listing)] or [_file_name(as_text(raw.get("model_path"))) or "default"]
    return [_model("llamacpp", base_url, name, window=window, sees=sees) for name in names]


def _file_name(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]


def lmstudio_models(base_url: str, listing: object) -> list[Model]:
    """From /api/v0/models: the loaded size of a loaded model, else the largest it can be loaded with."""
    rows = as_object(listing).get("data")
    models = []
    for row in map(as_object, rows if isinstance(rows, list) else ()):
        if row.get("type") in ("llm", "vlm") and (name := as_text(row.get("id"))):
            window = as_count(row.get("loaded_context_length")) or as_count(row.get("max_context_length"))
            models.append(_model("lmstudio", base_url, name, window=window, sees=row.get("type") == "vlm"))
    return models


def vllm_models(base_url: str, listing: object) -> list[Model]:
    """From /v1/models. Another server on the same port is not taken for a vLLM: it states no max_model_len."""
    rows = as_object(listing).get("data")
    return [
        _model("vllm", base_url, as_text(row.get("id")), window=as_count(row.get("max_model_len")))
        for row in map(as_object, rows if isinstance(rows, list) else ())
        if as_text(row.get("id")) and as_count(row.get("max_model_len"))
    ]


def _model(
    kind: LocalKind,
    base_url: str,
    name: str,
    *,
    window: int,
    reasoning: bool = False,
    sees: bool = False,
    compat: Mapping[str, Any] = _NO_EFFORT,
) -> Model:
    return Model(
        id=name,
        provider=kind,
        api="openai-completions",
        base_url=base_url,
        reasoning=reasoning,
        input=("text", "image") if sees else ("text",),
        context_window=window,
        compat=compat,
    )
