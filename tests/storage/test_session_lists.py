"""Lists, look-ups, deletion, and copies of sessions."""

import os
import sys
import tempfile
from pathlib import Path

import pytest

from rpc_agent.errors import InvalidValue, SessionLocked, SessionNotFound, SessionUnreadable
from rpc_agent.storage.copies import clone_session, fork_session
from rpc_agent.storage.listing import SessionDirectory
from rpc_agent.storage.paths import folder_name, id_in_name, session_file_path, sessions_dir
from rpc_agent.storage.session_store import SessionStore
from tests.support.sessions import HEADER, CountingIdentity, assistant, raw_entry, write_session


def add_session(root: Path, session_id: str, cwd: str, text: str, *, seconds: int, name: str | None = None) -> Path:
    path = session_file_path(root, cwd=cwd, session_id=session_id, timestamp="2026-01-01T00:00:00.000Z")
    path.parent.mkdir(parents=True, exist_ok=True)
    named = [raw_entry("n", "b", type="session_info", name=name)] if name else []
    entries = [raw_entry("a", None, text), raw_entry("b", "a", message=assistant("answer")), *named]
    write_session(path, *entries, header={**HEADER, "id": session_id, "cwd": cwd})
    os.utime(path, (seconds, seconds))
    return path


@pytest.fixture
def directory(tmp_path: Path) -> SessionDirectory:
    for n, (cwd, text, name) in enumerate(
        [("/a/b", "first words", None), ("/a-b", "other", None), ("/c", "third", "Named")]
    ):
        add_session(tmp_path, f"{n}{n}-id", cwd, text, seconds=1000 + n, name=name)
    (tmp_path / "--c--" / "noise.jsonl").write_bytes(b"not a session\n")
    (tmp_path / "--c--" / "empty.jsonl").touch()
    return SessionDirectory(tmp_path)


def test_a_list_has_the_newest_first_and_says_what_a_person_looks_for(directory: SessionDirectory) -> None:
    sessions = directory.list().sessions
    assert [(s.id, s.cwd, s.name, s.first_message, s.message_count, s.modified_at) for s in sessions] == [
        ("22-id", "/c", "Named", "third", 2, "1970-01-01T00:16:42.000Z"),
        ("11-id", "/a-b", None, "other", 2, "1970-01-01T00:16:41.000Z"),
        ("00-id", "/a/b", None, "first words", 2, "1970-01-01T00:16:40.000Z"),
    ]
    assert [s.bytes for s in sessions] == [s.path.stat().st_size for s in sessions]


def test_lists_are_paged_and_searched_by_name_message_and_directory(directory: SessionDirectory) -> None:
    page = directory.list(limit=2)
    rest = directory.list(limit=2, cursor=page.next_cursor)
    assert ([s.id for s in page.sessions], [s.id for s in rest.sessions]) == (["22-id", "11-id"], ["00-id"])
    assert rest.next_cursor is None
    found = [[s.id for s in directory.list(query=query).sessions] for query in ("nAMED", "words", "/a-b", "zzz")]
    assert found == [["22-id"], ["00-id"], ["11-id"], []]
    # "/a/b" and "/a-b" share a folder.
    assert [s.id for s in directory.list(cwd="/a/b").sessions] == ["00-id"]
    for nonsense in ("nonsense", "²:x", f"{'9' * 5000}:x"):
        with pytest.raises(InvalidValue):
            directory.list(cursor=nonsense)


def test_files_of_before_1970_are_paged_like_any_other(directory: SessionDirectory) -> None:
    for place, summary in enumerate(directory.list().sessions):
        os.utime(summary.path, (-place, -place))
    first = directory.list(limit=2)
    assert [s.id for s in directory.list(limit=2, cursor=first.next_cursor).sessions] == ["00-id"]


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a file system that holds such times")
def test_a_file_with_a_time_that_no_calendar_has_hides_no_other() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as root:
        for name, time in (("late", 300_000_000_000), ("early", -100_000_000_000), ("now", 0)):
            path = add_session(Path(root), f"{name}-id", "/a", "words", seconds=1)
            os.utime(path, (time, time))
        assert [s.modified_at for s in SessionDirectory(Path(root)).list().sessions] == [
            "9999-12-31T23:59:59.000Z",
            "1970-01-01T00:00:00.000Z",
            "0001-01-01T00:00:00.000Z",
        ]


def test_a_changed_file_is_read_again_and_an_unchanged_one_is_not(directory: SessionDirectory) -> None:
    path = directory.list(cwd="/c").sessions[0].path
    assert directory.list(cwd="/c").sessions[0] is directory.list(cwd="/c").sessions[0]
    os.utime(path, (2000, 2000))
    path.write_bytes(path.read_bytes().replace(b"third", b"fresh"))
    assert directory.list(cwd="/c").sessions[0].first_message == "fresh"


def test_a_file_put_in_the_place_of_another_of_its_size_and_time_is_read(directory: SessionDirectory) -> None:
    """As a synchronisation of folders does, and `cp -p`."""
    path = directory.list(cwd="/c").sessions[0].path
    status, other = path.stat(), path.with_suffix(".new")
    for write_to, text in ((other, b"fresh"), (path, b"other")):
        write_to.write_bytes(path.read_bytes().replace(b"third", text).replace(b"fresh", text))
        os.utime(write_to, ns=(status.st_atime_ns, status.st_mtime_ns))
        write_to.replace(path)
        assert directory.list(cwd="/c").sessions[0].first_message == text.decode()


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="everybody may read everything")
def test_a_file_that_could_not_be_read_is_listed_once_it_can(directory: SessionDirectory) -> None:
    path = directory.list(cwd="/c").sessions[0].path
    path.chmod(0)
    assert SessionDirectory(directory.root).list(cwd="/c").sessions == []
    assert directory.list(cwd="/c").sessions == []
    path.chmod(0o600)
    assert [session.path for session in directory.list(cwd="/c").sessions] == [path]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="everybody may read everything")
def test_a_folder_that_cannot_be_read_hides_no_other(directory: SessionDirectory) -> None:
    folder = directory.root / folder_name("/c")
    folder.chmod(0)
    try:
        assert [session.id for session in directory.list().sessions] == ["11-id", "00-id"]
        with pytest.raises(PermissionError):
            directory.list(cwd="/c")
    finally:
        folder.chmod(0o700)


def test_sessions_are_found_by_a_prefix_that_only_one_has(directory: SessionDirectory) -> None:
    assert directory.find("1") == directory.list(cwd="/a-b").sessions[0].path
    add_session(directory.root, "1-other", "/d", "x", seconds=1)
    with pytest.raises(InvalidValue):
        directory.find("1")
    for missing in ("9", ""):
        with pytest.raises(SessionNotFound):
            directory.find(missing)


def test_the_latest_session_is_that_of_the_directory(directory: SessionDirectory) -> None:
    newest = add_session(directory.root, "33", "/a/b", "x", seconds=5000)
    assert directory.latest("/a/b") == newest
    with pytest.raises(SessionNotFound):
        directory.latest("/nowhere")


def test_only_unlocked_session_files_inside_the_dir_are_deleted(directory: SessionDirectory, tmp_path: Path) -> None:
    path = directory.find("22")
    outside = write_session(tmp_path.parent / f"{tmp_path.name}-outside.jsonl")
    (tmp_path / "--c--" / "link.jsonl").symlink_to(outside)
    for wrong, error in [
        (outside, InvalidValue),
        (tmp_path / "--c--" / "link.jsonl", InvalidValue),
        (tmp_path / "--c--" / "noise.jsonl", SessionUnreadable),
        (tmp_path / "--c--" / "none.jsonl", SessionNotFound),
    ]:
        with pytest.raises(error):
            directory.delete(wrong)
    store = SessionStore.open(path, identity=CountingIdentity())
    with pytest.raises(SessionLocked):
        directory.delete(path)
    store.close()
    directory.delete(path)
    assert (path.exists(), outside.exists()) == (False, True)
    assert not list(path.parent.glob("*.lock"))


@pytest.mark.parametrize(
    "before", [b"\n", b"\xef\xbb\xbf", b"\0" * 5000, b'{"type":"sess\n', b'{"type":"sess', b"\r\n\r\n"]
)
def test_a_header_that_is_not_the_first_thing_in_its_file_is_found(tmp_path: Path, before: bytes) -> None:
    path = add_session(tmp_path, "the-id", "/a", "hello", seconds=1)
    path.write_bytes(before + path.read_bytes())
    directory = SessionDirectory(tmp_path)
    (listed,) = directory.list(cwd="/a", query="hello").sessions
    assert (listed.id, listed.message_count, directory.latest("/a")) == ("the-id", 2, path)
    path = path.rename(path.with_name("renamed.jsonl"))
    assert directory.find("the-i") == path
    assert (directory.delete(path), path.exists()) == ("the-id", False)


def test_what_stands_behind_the_header_in_its_line_is_listed_too(tmp_path: Path) -> None:
    path = add_session(tmp_path, "the-id", "/a", "hello", seconds=1, name="Named")
    path.write_bytes(path.read_bytes().replace(b"\n", b""))
    (listed,) = SessionDirectory(tmp_path).list().sessions
    assert (listed.name, listed.first_message, listed.message_count) == ("Named", "hello", 2)


def test_with_a_session_goes_what_a_migration_kept_of_it(tmp_path: Path) -> None:
    path = add_session(tmp_path, "the-id", "/a", "hello", seconds=1)
    lines = path.read_bytes().replace(b'"version":3', b'"version":2').splitlines(keepends=True)
    path.write_bytes(lines[0] + b"{torn\n" + b"".join(lines[1:]))
    SessionStore.open(path, identity=CountingIdentity()).close()
    assert len(list(path.parent.iterdir())) == 2
    directory = SessionDirectory(tmp_path)
    assert [summary.path for summary in directory.list().sessions] == [path]
    directory.delete(path)
    assert list(path.parent.iterdir()) == []


def branchy(tmp_path: Path) -> SessionStore:
    path = write_session(
        tmp_path / "source.jsonl",
        raw_entry("a", None, "one"),
        raw_entry("l1", "a", type="label", targetId="a", label="start"),
        raw_entry("b", "l1", message=assistant("two")),
        raw_entry("l2", "b", type="label", targetId="b", label="gone"),
        raw_entry("k", "l2", type="compaction", summary="s", firstKeptEntryId="l1", tokensBefore=1),
        raw_entry("l3", "k", type="label", targetId="b"),
        raw_entry("c", "l3", "three"),
        raw_entry("x", "b", "another branch"),
        raw_entry("d", "c", message=assistant("four")),
    )
    return SessionStore.open(path, identity=CountingIdentity(), read_only=True)


def test_a_clone_has_the_branch_without_old_labels_and_the_boundary_stays(tmp_path: Path) -> None:
    source = branchy(tmp_path)
    copy = clone_session(source, tmp_path / "copies", identity=CountingIdentity(first_id=500))
    copy.close()
    assert copy.path is not None
    again = SessionStore.open(copy.path, identity=CountingIdentity(), read_only=True)
    links = [(entry.raw["type"], entry.id, entry.parent_id) for entry in again.branch()]
    assert links[:-1] == [
        ("message", "a", None),
        ("message", "b", "a"),
        ("compaction", "k", "b"),
        ("message", "c", "k"),
        ("message", "d", "c"),
    ]
    assert (links[-1][0], again.labels(), again.get("k").raw["firstKeptEntryId"]) == ("label", {"a": "start"}, "b")
    assert (again.header["parentSession"], again.cwd) == (str(source.path), "/w")


def test_a_fork_ends_before_the_message_and_gives_its_text(tmp_path: Path) -> None:
    source = branchy(tmp_path)
    copy, text = fork_session(source, "c", None, identity=CountingIdentity(first_id=500))
    assert ([entry.id for entry in copy.whole_branch()][:-1], text, copy.labels()) == (
        ["a", "b", "k"],
        "three",
        {"a": "start"},
    )
    empty, text = fork_session(source, "a", None, identity=CountingIdentity(first_id=500))
    assert (empty.branch(), text) == ([], "one")
    with pytest.raises(InvalidValue):
        fork_session(source, "b", None, identity=CountingIdentity())


def test_a_boundary_that_is_no_id_is_copied_as_it_is(tmp_path: Path) -> None:
    odd = {"type": "compaction", "summary": "s", "firstKeptEntryId": {"a": 1}, "tokensBefore": 1}
    path = write_session(tmp_path / "s.jsonl", raw_entry("a", None), raw_entry("b", "a", **odd))
    source = SessionStore.open(path, identity=CountingIdentity(), read_only=True)
    assert [entry.raw for entry in clone_session(source, None, identity=CountingIdentity()).branch()] == [
        entry.raw for entry in source.branch()
    ]


@pytest.mark.parametrize(
    ("cwd", "folder"), [("/home/me/p", "--home-me-p--"), ("C:\\Users\\me", "--C--Users-me--"), ("/", "----")]
)
def test_a_working_directory_has_a_folder(cwd: str, folder: str) -> None:
    assert folder_name(cwd) == folder


@pytest.mark.parametrize("letter", ["a", "ä", "漢", "😀"])
@pytest.mark.parametrize(("platform", "unit"), [("linux", "utf-8"), ("darwin", "utf-16-le"), ("win32", "utf-16-le")])
def test_a_directory_that_is_deep_has_a_folder_of_its_own(letter: str, platform: str, unit: str) -> None:
    size = len("a".encode(unit))
    longest = letter * ((255 - len("----")) * size // len(letter.encode(unit)))
    names = [folder_name(f"/{cwd}", platform=platform) for cwd in (longest, longest + letter, longest + letter * 2)]
    assert names[0] == f"--{longest}--"
    assert all(len(name.encode(unit)) <= 255 * size and name.endswith(f"{letter * 50}--") for name in names)
    assert len(set(names)) == 3


def test_a_file_name_holds_time_and_id() -> None:
    path = session_file_path(Path("s"), cwd="/p", session_id="x-1", timestamp="2026-01-01T00:00:00.000Z")
    assert (path, id_in_name(path)) == (Path("s/--p--/2026-01-01T00-00-00-000Z_x-1.jsonl"), "x-1")


def test_the_option_wins_over_the_environment_and_that_over_the_setting() -> None:
    environment = {"RPC_AGENT_SESSION_DIR": "/env"}
    home = Path("/home/me")
    places = [
        sessions_dir(environment, option="/option", setting="/setting"),
        sessions_dir(environment, setting="/setting"),
        sessions_dir({}, setting="/setting"),
        sessions_dir({}, home=home, platform="linux"),
    ]
    assert places == [Path("/option"), Path("/env"), Path("/setting"), home / ".local/share/rpc-agent/sessions"]
