"""`sessions list|show|export`: real files, read and never touched; nothing of theirs drives the terminal."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.exports import session_of_every_kind
from tests.support.sessions import HEADER, assistant, line, raw_entry, user, write_session

SECONDS = 60
ID = HEADER["id"]


def sessions(folder: Path, *arguments: str, stdout: int = subprocess.PIPE) -> "subprocess.CompletedProcess[bytes]":
    """The command run in `folder`, with its own configuration and sessions below it."""
    environment = {
        **os.environ,
        "RPC_AGENT_CONFIG_DIR": str(folder / "config"),
        "RPC_AGENT_SESSION_DIR": str(folder / "kept"),
        "PYTHONUTF8": "1",
    }
    command = [sys.executable, "-P", "-m", "rpc_agent", "sessions", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=SECONDS,
        check=False,
    )


def keep(folder: Path, *raws: object, cwd: str, session_id: str = str(ID)) -> Path:
    place = folder / "kept" / ("--" + cwd.lstrip("/").replace("/", "-").replace("\\", "-").replace(":", "-") + "--")
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"2026-01-01T00-00-00-000Z_{session_id}.jsonl"
    return write_session(path, *raws, header={**HEADER, "id": session_id, "cwd": cwd})


CONVERSATION = (
    raw_entry("a", None, "What is \x1b[31mred\x1b[0m?"),
    raw_entry("b", "a", message=assistant("A colour.")),
    raw_entry("c", "a", "Another question"),
    raw_entry("d", "c", message={**user("\n".join(f"line {n}" for n in range(99))), "role": "toolResult"}),
)


def test_the_list_has_the_sessions_of_this_folder_and_with_all_those_of_all(tmp_path: Path) -> None:
    here = str(tmp_path.resolve())
    keep(tmp_path, *CONVERSATION, cwd=here)
    keep(tmp_path, raw_entry("a", None, "elsewhere"), cwd="/else", session_id="0198bb00-1111-7000-8000-000000000002")
    mine, everyone = sessions(tmp_path, "list"), sessions(tmp_path, "list", "--all")
    assert (mine.returncode, mine.stderr, everyone.returncode) == (0, b"", 0)
    assert (b"0198aa00-0000" in mine.stdout, b"0198bb00-1111" in mine.stdout) == (True, False)
    assert (b"0198aa00-0000" in everyone.stdout, b"0198bb00-1111" in everyone.stdout) == (True, True)


def test_the_table_fits_eighty_columns_whatever_the_names(tmp_path: Path) -> None:
    info = {"type": "session_info", "id": "z", "parentId": "a", "timestamp": "", "name": "n\n\x1b]0;x\x07" + "w" * 300}
    keep(tmp_path, CONVERSATION[0], info, cwd="/" + "long/" * 40)
    listed = sessions(tmp_path, "list", "--all").stdout.decode()
    assert [len(each) for each in listed.splitlines() if len(each) >= 80] == []
    assert (len(listed.splitlines()), "\x1b" in listed) == (3, False)


def test_the_list_as_json_names_its_fields_as_the_protocol_does(tmp_path: Path) -> None:
    path = keep(tmp_path, *CONVERSATION, cwd="/w")
    [found] = json.loads(sessions(tmp_path, "list", "--all", "--query", "RED", "--json").stdout)
    assert found.pop("modifiedAt").endswith("Z")
    assert found == {
        "id": ID,
        "path": str(path),
        "cwd": "/w",
        "createdAt": HEADER["timestamp"],
        "bytes": path.stat().st_size,
        "firstMessage": "What is \x1b[31mred\x1b[0m?",
        "messageCount": 4,
    }


def test_a_query_that_finds_nothing_says_so(tmp_path: Path) -> None:
    done = sessions(tmp_path, "list", "--query", "nothing like it")
    assert (done.returncode, done.stdout, b"--all" in done.stderr) == (0, b"", True)


def test_show_tells_the_active_branch_without_escapes_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    keep(tmp_path, *CONVERSATION, cwd="/w")
    done = sessions(tmp_path, "show", str(ID)[:8])
    told = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    assert [word in told for word in ("What is red?", "Another question", "line 7", "... 91 more lines")] == [True] * 4
    assert [word in told for word in ("A colour.", "line 8", "\x1b")] == [False] * 3
    assert told.endswith("1 entry of other branches is not shown; --full shows it.\n")


def test_show_full_tells_all_output_and_all_branches(tmp_path: Path) -> None:
    path = keep(tmp_path, *CONVERSATION, cwd="/w")
    told = sessions(tmp_path, "show", "--full", str(path)).stdout.decode()
    assert [word in told for word in ("A colour.", "line 98", "Another branch")] == [True] * 3


def test_show_neutralises_every_text_of_every_kind_of_entry(tmp_path: Path) -> None:
    hostile = session_of_every_kind(lambda: "\x1b[2J\x9b2J\x1b]0;owned\x07 word\x08\r")
    path = tmp_path / "s.jsonl"
    path.write_bytes(line(HEADER) + b"".join(line(entry.raw) for entry in hostile.entries))
    told = sessions(tmp_path, "show", "--full", str(path)).stdout.decode()
    assert (told.count("word") > 30, re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", told)) == (True, [])


@pytest.mark.parametrize(
    ("format", "begins"),
    [("html", b"<!DOCTYPE html>"), ("markdown", b"# What is red?"), ("jsonl", b'{"type":"session"')],
)
def test_a_session_is_exported_to_stdout_or_to_a_file(tmp_path: Path, format: str, begins: bytes) -> None:
    path = keep(tmp_path, *CONVERSATION, cwd="/w")
    printed = sessions(tmp_path, "export", str(ID), "--format", format)
    written = sessions(tmp_path, "export", str(path), "--format", format, "--output", "out")
    assert (printed.returncode, written.returncode, written.stdout) == (0, 0, b"")
    assert printed.stdout.startswith(begins)
    assert (tmp_path / "out").read_bytes() == printed.stdout


@pytest.mark.parametrize(("name", "begins"), [("a.MD", b"# What is red?"), ("a.jsonl", b'{"type"'), ("a", b"<!DOC")])
def test_the_name_of_the_file_tells_the_format_when_nothing_else_does(tmp_path: Path, name: str, begins: bytes) -> None:
    keep(tmp_path, *CONVERSATION, cwd="/w")
    assert sessions(tmp_path, "export", str(ID), "--output", name).returncode == 0
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_a_hyphen_for_the_file_is_stdout(tmp_path: Path) -> None:
    keep(tmp_path, *CONVERSATION, cwd="/w")
    assert sessions(tmp_path, "export", str(ID), "-o", "-").stdout.startswith(b"<!DOCTYPE html>")
    assert not (tmp_path / "-").exists()


def test_the_lines_are_exported_byte_for_byte_damage_and_all(tmp_path: Path) -> None:
    path = keep(tmp_path, *CONVERSATION, cwd="/w")
    path.write_bytes(path.read_bytes() + b'{"type" : "x" ,"id":"e","parentId":"d","n":1.50}\r\n{"torn')
    assert sessions(tmp_path, "export", str(path), "--format", "jsonl").stdout == path.read_bytes()


def test_reading_changes_no_file_and_leaves_no_lock(tmp_path: Path) -> None:
    path = keep(tmp_path, *CONVERSATION, cwd="/w")
    path.write_bytes(path.read_bytes().replace(b'"version":3', b'"version":2') + b'{"torn')
    before = (path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir()))
    for command in ("show", "export"):
        assert sessions(tmp_path, command, str(path)).returncode == 0
    sessions(tmp_path, "list", "--all")
    assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir())) == before


def test_no_existing_file_is_written_over(tmp_path: Path) -> None:
    path = keep(tmp_path, *CONVERSATION, cwd="/w")
    before = path.read_bytes()
    done = sessions(tmp_path, "export", str(path), "--output", str(path))
    assert (done.returncode, b"Nothing was changed" in done.stderr, path.read_bytes()) == (1, True, before)
    assert done.stderr.splitlines()[-1] == b"Give another file to --output, in a folder that is there."


def test_the_beginning_of_several_ids_is_answered_with_the_way_to_tell_them_apart(tmp_path: Path) -> None:
    for last in "12":
        keep(tmp_path, *CONVERSATION, cwd="/w", session_id=f"0198bb00-1111-7000-8000-00000000000{last}")
    done = sessions(tmp_path, "show", "0198bb00")
    assert (done.returncode, done.stderr.decode().splitlines()) == (
        1,
        [
            "id: 2 sessions begin with '0198bb00'; give more of the id",
            "rpc-agent sessions list --all tells them apart.",
        ],
    )


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["export", "x", "--format", "pdf"], 2, "pdf"),
        (["list", "--limit", "0"], 2, "limit"),
        (["show", "nobody"], 1, "sessions list --all"),
        (["show", "no/such.jsonl"], 1, "There is no session file"),
        (["show", "config/not-a-session.jsonl"], 1, "session"),
    ],
)
def test_what_cannot_be_done_is_said_with_its_exit_code(
    tmp_path: Path, arguments: list[str], code: int, told: str
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "not-a-session.jsonl").write_text("hello\n")
    done = sessions(tmp_path, *arguments)
    assert (done.returncode, done.stdout, told in done.stderr.decode()) == (code, b"", True)
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [["list", "--all"], ["show", str(ID)], ["export", str(ID)]])
def test_an_output_that_cannot_be_written_is_no_fault_of_the_session(tmp_path: Path, arguments: list[str]) -> None:
    keep(tmp_path, *CONVERSATION, cwd="/w")
    with open("/dev/full", "wb") as full:
        done = sessions(tmp_path, *arguments, stdout=full.fileno())
    told = "rpc-agent sessions: the output could not be written: No space left on device\n"
    assert (done.returncode, done.stderr.decode()) == (1, told)


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe of POSIX")
def test_a_reader_that_has_seen_enough_of_an_export_ends_it_without_a_word(tmp_path: Path) -> None:
    keep(tmp_path, *(raw_entry(f"e{n}", f"e{n - 1}" if n else None, "word " * 1000) for n in range(99)), cwd="/w")
    ours, theirs = os.pipe()
    os.close(ours)
    done = sessions(tmp_path, "export", str(ID), "--format", "jsonl", stdout=theirs)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (1, b"")
