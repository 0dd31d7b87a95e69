import contextlib
import errno
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from rpc_agent.platform.atomic_write import replace_real_file
from rpc_agent.platform.real_folder import RealFolder, open_real, real_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")


def make(folder: RealFolder) -> None:
    os.close(folder.open("new", os.O_WRONLY | os.O_CREAT))


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A folder, and links in every place of a path that lead to another one."""
    (tmp_path / "there" / "deep").mkdir(parents=True)
    (tmp_path / "there" / "file").write_text("outside")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "link").symlink_to("../there")
    (tmp_path / "here" / "file").symlink_to("../there/file")
    (tmp_path / "here" / "nothing").symlink_to("../there/new")
    return tmp_path


ATTEMPTS: dict[str, Callable[[Path], object]] = {
    "open a file that is a link": lambda here: open_real(here / "file", os.O_RDONLY),
    "open below a link": lambda here: open_real(here / "link" / "file", os.O_RDONLY),
    "open deep below a link": lambda here: open_real(here / "link" / "deep" / "file", os.O_RDONLY),
    "make a file where a link leads to none": lambda here: open_real(here / "nothing", os.O_WRONLY | os.O_CREAT),
    "make folders below a link": lambda here: real_folder(here / "link" / "a" / "b", make=True).__enter__(),
    "replace a file that is a link": lambda here: replace_real_file(here / "file", b"owned"),
    "replace a file below a link": lambda here: replace_real_file(here / "link" / "file", b"owned"),
}


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_link_anywhere_in_a_real_path_is_not_followed(world: Path, attempt: str) -> None:
    with pytest.raises(OSError, match="a link stands there now") as refused:
        ATTEMPTS[attempt](world / "here")
    assert refused.value.errno == errno.ELOOP
    assert str(refused.value.filename).startswith(str(world / "here"))
    assert sorted(path.name for path in (world / "there").rglob("*")) == ["deep", "file"]
    assert (world / "there" / "file").read_text() == "outside"


def rename(folder: RealFolder) -> None:
    folder.rename("file", "new")


def look(folder: RealFolder) -> None:
    folder.status("file")


@pytest.mark.parametrize("act", [make, look, rename])
def test_without_handles_of_folders_no_link_is_followed_either(world: Path, act: Callable[[RealFolder], None]) -> None:
    with pytest.raises(OSError, match="a link stands there now"):
        act(RealFolder(world / "here" / "link", None))
    with pytest.raises(OSError, match="a link stands there now"):
        RealFolder(world / "here", None).open("file", os.O_WRONLY)


def test_a_folder_that_becomes_a_link_while_it_is_held_is_still_the_folder(world: Path) -> None:
    (world / "here" / "sub").mkdir()
    with real_folder(world / "here" / "sub") as folder:
        (world / "here" / "sub").rename(world / "here" / "moved")
        (world / "here" / "sub").symlink_to("../there")
        make(folder)
    assert (world / "here" / "moved" / "new").exists()
    assert not (world / "there" / "new").exists()


def test_what_is_missing_is_made_on_the_way_and_a_file_on_it_is_told(tmp_path: Path) -> None:
    with real_folder(tmp_path / "a" / "b", make=True) as folder:
        make(folder)
    assert (tmp_path / "a" / "b" / "new").exists()
    with pytest.raises(NotADirectoryError), real_folder(tmp_path / "a" / "b" / "new"):
        pass
    with pytest.raises(FileNotFoundError), real_folder(tmp_path / "c"):
        pass


def test_however_fast_a_folder_is_swapped_for_a_link_nothing_is_written_behind_it(world: Path) -> None:
    folder, kept = world / "here" / "swapped", world / "here" / "kept"
    folder.mkdir()
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            folder.rename(kept)
            folder.symlink_to("../there")
            folder.unlink()
            kept.rename(folder)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(300):
            # The link may stand there, or nothing.
            with contextlib.suppress(OSError):
                replace_real_file(folder / "new", b"x")
    finally:
        stop.set()
        thread.join(10)
    replace_real_file(folder / "new", b"at last")
    assert sorted(path.name for path in (world / "there").rglob("*")) == ["deep", "file"]
