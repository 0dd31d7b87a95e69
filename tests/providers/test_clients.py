"""What speaks each API, and when it is imported."""

import subprocess
import sys

import pytest

from rpc_agent.providers.clients import SERVICE_APIS, client_of

_LIST = (
    "import sys, rpc_agent.server.engine as _; print(*[name for name in sys.modules if name.startswith('rpc_agent.')])"
)


def test_the_engine_comes_without_the_modules_of_any_api() -> None:
    told = subprocess.run([sys.executable, "-c", _LIST], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(told.stdout.split())
    packages = ("anthropic_messages", "google_generative_ai", "openai_completions", "openai_responses", "offline.model")
    late = {f"rpc_agent.providers.{name}" for name in (*packages, "scripted", "http")}
    assert "rpc_agent.providers.catalog" in loaded
    assert loaded & late == set()


@pytest.mark.parametrize("api", SERVICE_APIS)
def test_each_api_has_a_client_in_its_own_package(api: str) -> None:
    assert client_of(api).__module__ == f"rpc_agent.providers.{api.replace('-', '_')}.client"


def test_an_api_nobody_speaks_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing speaks 'gopher'"):
        client_of("gopher")
