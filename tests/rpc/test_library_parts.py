import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rpc_agent.rpc.library_parts import without_init


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    folder = tmp_path / "heavy_library"
    folder.mkdir()
    (folder / "__init__.py").write_text("from heavy_library.wanted import one\nfrom heavy_library import unwanted\n")
    (folder / "wanted.py").write_text("one = object()\n")
    (folder / "unwanted.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder.name
    for name in [name for name in sys.modules if name.startswith(folder.name)]:
        del sys.modules[name]


def test_a_module_comes_without_the_rest_and_the_package_is_whole_for_the_next(package: str) -> None:
    with without_init(package):
        from heavy_library.wanted import one  # type: ignore[import-not-found]  # noqa: PLC0415
    assert [name for name in sys.modules if name.startswith(package)] == ["heavy_library.wanted"]
    import heavy_library  # type: ignore[import-not-found]  # noqa: PLC0415

    assert heavy_library.one is one
    assert heavy_library.unwanted is sys.modules["heavy_library.unwanted"]


def test_a_package_that_is_there_already_stays(package: str) -> None:
    import heavy_library  # noqa: PLC0415

    with without_init(package):
        from heavy_library.wanted import one  # noqa: PLC0415
    assert sys.modules[package] is heavy_library
    assert heavy_library.one is one


def test_after_a_failure_nothing_half_is_left(package: str) -> None:
    with pytest.raises(ModuleNotFoundError), without_init(package):
        import heavy_library.missing  # type: ignore[import-not-found]  # noqa: F401, PLC0415
    with (
        pytest.raises(ModuleNotFoundError, match="no_such_library is not installed"),
        without_init(package, "no_such_library"),
    ):
        pass
    assert [name for name in sys.modules if name.startswith((package, "no_such"))] == []


def test_an_extension_has_all_of_jsonrpcserver() -> None:
    script = """
import rpc_agent.rpc.dispatcher, warnings
warnings.simplefilter("ignore")
import jsonrpcserver
methods = {"ping": lambda: jsonrpcserver.Success("pong")}
print(jsonrpcserver.dispatch('{"jsonrpc": "2.0", "method": "ping", "id": 1}', methods=methods))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == '{"jsonrpc": "2.0", "result": "pong", "id": 1}\n'
