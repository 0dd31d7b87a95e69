"""Where extensions come from: installed packages, folders, named files; each loaded once, none that breaks the rest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rpc_agent.cli.serve import UsageError, parse
from rpc_agent.extensions.loader import LoadFault, extension_files, extensions_in
from rpc_agent.runtime.extension_shelf import ExtensionShelf
from tests.support.hooks import extension

HEARS_INPUT = "api.on('input')(lambda event: None)"
_LIST = """\
from rpc_agent.extensions.loader import installed_extensions
loaded = installed_extensions()
print([(api.name, sorted(api.handlers)) for api in loaded.extensions], [fault.extension for fault in loaded.faults])
"""


def test_the_option_may_be_given_more_than_once(tmp_path: Path) -> None:
    first, second = tmp_path / "b.py", tmp_path / "a.py"
    for file in (first, second):
        file.write_text("")
    assert parse(["--extension", str(first), f"--extension={second}"]) == {"extensions": (str(first), str(second))}
    with pytest.raises(UsageError):
        parse(["--extension"])


def test_installed_packages_are_found_by_their_entry_point(tmp_path: Path) -> None:
    (tmp_path / "their_package.py").write_text("def register(api):\n    " + HEARS_INPUT)
    folder = tmp_path / "their_package-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    points = "[rpc_agent.extensions]\ntheirs = their_package:register\nbroken = their_package:nothing\n"
    (folder / "entry_points.txt").write_text(points)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", _LIST], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[('theirs', ['input'])] ['broken']\n"


def test_a_folder_gives_its_python_files_by_name_and_one_that_is_not_there_none(tmp_path: Path) -> None:
    for name in ("b.py", "a.py", "notes.txt"):
        extension(tmp_path, HEARS_INPUT, name)
    assert [api.name for api in extensions_in(tmp_path).extensions] == ["a", "b"]
    assert extensions_in(tmp_path / "absent").extensions == ()


def test_a_file_that_is_no_extension_is_a_fault_that_says_so(tmp_path: Path) -> None:
    empty, syntax = tmp_path / "empty.py", tmp_path / "syntax.py"
    empty.write_text("")
    syntax.write_text("def register(api:")
    wrong = extension(tmp_path, "api.on('no_such_hook')", "wrong.py")
    waits = tmp_path / "waits.py"
    waits.write_text("async def register(api):\n    pass")
    loaded = extension_files([empty, syntax, Path(wrong), tmp_path / "absent.py", waits])
    assert loaded.extensions == ()
    assert [fault.extension for fault in loaded.faults] == ["empty", "syntax", "wrong", "absent", "waits"]
    assert "there is no hook 'no_such_hook'" in loaded.faults[2].error
    assert "register is no coroutine function" in loaded.faults[4].error
    assert isinstance(loaded.faults[0], LoadFault)


def test_a_file_is_run_once_however_many_sessions_ask(tmp_path: Path) -> None:
    count = tmp_path / "count"
    code = f"with open({str(count)!r}, 'a') as file:\n    file.write('x')\n{HEARS_INPUT}"
    extension(tmp_path / "config" / "extensions", code)
    extension(tmp_path / "project", code)
    shelf = ExtensionShelf(tmp_path / "config")
    for folder in (None, tmp_path / "project", tmp_path / "project"):
        shelf.for_project(folder)
    assert count.read_text() == "xx"


@pytest.mark.parametrize(
    ("name", "said"), [("absent.py", "No such file or directory"), ("folder.py", "Is a directory"), ("notes", ".py")]
)
def test_a_file_that_is_not_there_is_one_sentence_and_no_traceback(
    tmp_path: Path, name: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "notes").write_text("")
    (fault,) = extension_files([tmp_path / name]).faults
    assert fault.error.startswith("it could not be loaded: ") and said in fault.error
    (record,) = caplog.records
    assert (record.exc_info, said in record.getMessage()) == (None, True)
