import base64
import os
import stat
import sys
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from rpc_agent.conversation.blocks import blocks_text, text_block
from rpc_agent.tools.base import ToolResult, error_result, text_result
from rpc_agent.tools.path_locks import PathLocks
from tests.support.tools import Workbench, make_tree

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def _opens(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)))
    except OSError:
        return False
    return True


posix_only = pytest.mark.skipif(sys.platform == "win32", reason="pipes and links of POSIX")


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


async def test_read_gives_a_short_file_as_it_is(bench: Workbench):
    make_tree(bench.cwd, {"a.txt": "one\ntwo\n", "empty": "", "crlf": "a\r\nb\r\n"})
    assert await bench.text("read", path="a.txt") == "one\ntwo\n"
    assert await bench.text("read", path=str(bench.cwd / "a.txt")) == "one\ntwo\n"
    assert await bench.text("read", path="crlf") == "a\nb\n"
    assert await bench.text("read", path="empty") == "(empty is empty)"


async def test_read_finds_the_users_home(bench: Workbench):
    make_tree(bench.cwd, {"home/x": "hi"})
    bench.environment = {"HOME": str(bench.cwd / "home")}
    assert await bench.text("read", path="~/x") == "hi"


async def test_read_says_how_to_go_on_and_going_on_gives_the_rest(bench: Workbench):
    lines = [f"line {n}\n" for n in range(1, 4501)]
    make_tree(bench.cwd, {"long": "".join(lines)})
    first = await bench.text("read", path="long")
    assert first == "".join(lines[:2000]) + "\n[Lines 1-2000 of 4500. Go on with offset=2001.]"
    last = await bench.text("read", path="long", offset=4499, limit=2)
    assert last == "line 4499\nline 4500\n"
    middle = await bench.text("read", path="long", offset=10, limit=1)
    assert middle == "line 10\n\n[Lines 10-10 of 4500. Go on with offset=11.]"
    assert await bench.error("read", path="long", offset=4501) == "long has 4500 lines; there is no line 4501."


async def test_read_stops_at_whole_lines_within_its_bytes(bench: Workbench):
    make_tree(bench.cwd, {"wide": ("x" * 29_999 + "\n") * 3, "giant": "é" * 60_000})
    assert await bench.text("read", path="wide") == "x" * 29_999 + "\n\n[Lines 1-1 of 3. Go on with offset=2.]"
    giant = await bench.text("read", path="giant")
    assert giant == "é" * 25_600 + "\n\n[Line 1 is longer than 50 KiB, this is its start. See the rest with bash.]"


async def test_read_goes_through_many_blocks_of_a_large_file(bench: Workbench):
    lines = [f"{n:07}\r\n" for n in range(400_000)]
    make_tree(bench.cwd, {"large": "".join(lines)})
    text = await bench.text("read", path="large", offset=399_999)
    assert text == "0399998\n0399999\n"
    text = await bench.text("read", path="large", offset=200_000, limit=1)
    assert text == "0199999\n\n[Lines 200000-200000 of 400000. Go on with offset=200001.]"


async def test_read_understands_marked_encodings_and_survives_others(bench: Workbench):
    make_tree(bench.cwd, {"u8": b"\xef\xbb\xbfa\n", "u16": "é\r\nb\n".encode("utf-16"), "latin": b"caf\xe9\n"})
    assert await bench.text("read", path="u8") == "a\n"
    assert await bench.text("read", path="u16") == "é\nb\n"
    note = "[Some bytes are not valid in the file's encoding and are shown as \ufffd.]"
    assert await bench.text("read", path="latin") == f"caf\ufffd\n\n{note}"


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0 jpeg", "image/jpeg"),
        (b"GIF89a....", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
async def test_read_shows_pictures_by_what_is_in_them(bench: Workbench, data: bytes, mime_type: str):
    make_tree(bench.cwd, {"picture.txt": data})
    image = {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": mime_type}
    label = text_block(f"picture.txt: {mime_type}, {len(data)} B")
    assert await bench.run("read", path="picture.txt") == ToolResult((label, image))  # type: ignore[arg-type]


async def test_read_refuses_what_is_no_text_with_advice(bench: Workbench):
    make_tree(bench.cwd, {"prog": b"\x7fELF\0\0", "dir/x": "", "huge.png": PNG + b"\0" * (15 << 18), "notes.md": ""})
    assert (
        await bench.error("read", path="prog")
        == "prog is a binary file (6 B). Look at it with bash: file, strings, xxd."
    )
    for folder in ("dir", ".", "/"):
        assert "is a folder. Use ls" in await bench.error("read", path=folder)
    assert "too large to send" in await bench.error("read", path="huge.png")
    for name in ("note.md", "NOTES.MD"):
        assert "Similar names there: notes.md." in await bench.error("read", path=name)
    assert "is not there either" in await bench.error("read", path="no/where")
    assert "NUL" in await bench.error("read", path="a\0b")


@posix_only
async def test_read_does_not_wait_for_a_pipe_or_a_device(bench: Workbench):
    os.mkfifo(bench.cwd / "pipe")
    with anyio.fail_after(10):
        assert "not a regular file" in await bench.error("read", path="pipe")
        assert "not a regular file" in await bench.error("read", path="/dev/zero")


@pytest.mark.skipif(not _opens("/proc/kmsg"), reason="only root reads the kernel's log")
async def test_read_of_a_file_that_has_no_more_by_now_ends(bench: Workbench):
    # What was there is taken by the first; for the second nothing is left, unless the kernel is talkative.
    with anyio.fail_after(10):
        answers = [blocks_text((await bench.run("read", path="/proc/kmsg")).content) for _ in range(2)]
    assert [answer for answer in answers if "failed inside" in answer] == []


async def test_write_makes_folders_and_replaces_files(bench: Workbench):
    assert await bench.run("write", path="a/b/c.txt", content="é\n") == text_result("Made a/b/c.txt (3 B).")
    assert await bench.run("write", path="a/b/c.txt", content="\ud800") == text_result("Replaced a/b/c.txt (3 B).")
    assert (bench.cwd / "a/b/c.txt").read_bytes() == "\ufffd".encode()
    assert [path.name for path in (bench.cwd / "a/b").iterdir()] == ["c.txt"]


async def test_write_refuses_what_is_no_file(bench: Workbench):
    make_tree(bench.cwd, {"dir/x": "", "file": ""})
    assert "is a folder" in await bench.error("write", path="dir", content="")
    assert "was not written" in await bench.error("write", path="file/below", content="")


@posix_only
async def test_write_keeps_mode_and_link(bench: Workbench):
    make_tree(bench.cwd, {"run.sh": "old"})
    (bench.cwd / "run.sh").chmod(0o755)
    (bench.cwd / "link").symlink_to("run.sh")
    await bench.text("write", path="link", content="new")
    assert (bench.cwd / "link").is_symlink()
    assert (bench.cwd / "run.sh").read_bytes() == b"new"
    assert stat.S_IMODE((bench.cwd / "run.sh").stat().st_mode) == 0o755


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
async def test_write_and_edit_keep_the_owner(bench: Workbench):
    make_tree(bench.cwd, {"a.txt": "old"})
    os.chown(bench.cwd / "a.txt", 1234, 2345)
    await bench.text("write", path="a.txt", content="new")
    await bench.text("edit", path="a.txt", edits=[{"oldText": "new", "newText": "newer"}])
    status = (bench.cwd / "a.txt").stat()
    assert (status.st_uid, status.st_gid, (bench.cwd / "a.txt").read_text()) == (1234, 2345, "newer")


async def test_edit_changes_the_file_and_shows_a_diff(bench: Workbench):
    make_tree(bench.cwd, {"a.py": "".join(f"line {n}\n" for n in range(1, 21))})
    result = await bench.run(
        "edit", path="a.py", edits=[{"oldText": "line 9\n", "newText": "new\n"}, {"oldText": "line 20", "newText": "x"}]
    )
    diff = (
        "@@ -6,7 +6,7 @@\n line 6\n line 7\n line 8\n-line 9\n+new\n line 10\n line 11\n line 12\n"
        "@@ -17,5 +17,5 @@\n line 17\n line 18\n line 19\n-line 20\n+x\n "
    )
    text = "Edited a.py: 2 replacements, at line(s) 9, 20 of the old text."
    assert result == text_result(text, details={"diff": diff, "firstChangedLine": 9})
    assert "new\n" in (bench.cwd / "a.py").read_text()


async def test_edit_of_a_packed_script_keeps_no_second_copy_of_it(bench: Workbench):
    make_tree(bench.cwd, {"min.js": "a();" * 100_000 + "b()"})
    result = await bench.run("edit", path="min.js", edits=[{"oldText": "b()", "newText": "c()"}])
    assert (result.is_error, result.details) == (False, {"diff": "", "firstChangedLine": 1})


async def test_edit_says_when_it_was_tolerant(bench: Workbench):
    make_tree(bench.cwd, {"a": "x\r\ny\r\n"})
    text = await bench.text("edit", path="a", edits=[{"oldText": "x\ny", "newText": "z"}])
    assert text.endswith(
        "An oldText differs from the file in line ends, spaces, quotes, dashes or accents; its place was clear."
    )
    assert (bench.cwd / "a").read_bytes() == b"z\r\n"


async def test_edit_does_all_or_nothing(bench: Workbench):
    make_tree(bench.cwd, {"a": b"one\xe9two\n"})
    before = (bench.cwd / "a").stat()
    edits = [{"oldText": "one", "newText": "1"}, {"oldText": "three", "newText": "3"}]
    result = await bench.run("edit", path="a", edits=edits)
    assert result.is_error and result.details == {"matches": 0}
    assert (bench.cwd / "a").read_bytes() == b"one\xe9two\n"
    assert (bench.cwd / "a").stat().st_mtime_ns == before.st_mtime_ns


async def test_edit_of_a_missing_file_says_so(bench: Workbench):
    make_tree(bench.cwd, {"main.py": ""})
    assert await bench.run("edit", path="mian.py", edits=[{"oldText": "a", "newText": "b"}]) == error_result(
        f"There is no file {bench.cwd / 'mian.py'}. Similar names there: main.py."
    )


@posix_only
async def test_side_by_side_edits_of_one_file_all_count_by_whatever_name(bench: Workbench):
    words = [f"word{n:02}" for n in range(30)]
    make_tree(bench.cwd, {"a": "\n".join(words)})
    (bench.cwd / "link").symlink_to("a")

    async def edit(number: int) -> None:
        old = words[number]
        await bench.text("edit", path="link" if number % 2 else "./a", edits=[{"oldText": old, "newText": old.upper()}])

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            for number in range(len(words)):
                group.start_soon(edit, number)
    assert (bench.cwd / "a").read_text() == "\n".join(words).upper()


async def test_locks_nobody_wants_are_forgotten(tmp_path: Path):
    locks, order = PathLocks(), []

    async def hold(name: str, path: Path) -> None:
        async with locks.hold(path):
            order.append(f"{name} in, {len(locks)} known")
            await anyio.lowlevel.checkpoint()
            order.append(f"{name} out")

    async with anyio.create_task_group() as group:
        group.start_soon(hold, "first", tmp_path / "a")
        group.start_soon(hold, "second", tmp_path / "x" / ".." / "a")
    assert order == ["first in, 1 known", "first out", "second in, 1 known", "second out"]
    assert len(locks) == 0


async def test_a_cancelled_wait_for_a_lock_is_forgotten_too(tmp_path: Path):
    locks = PathLocks()

    async def wait() -> None:
        async with locks.hold(tmp_path / "a"):
            pytest.fail("one file, two holders")

    async with locks.hold(tmp_path / "a"), anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert len(locks) == 0
