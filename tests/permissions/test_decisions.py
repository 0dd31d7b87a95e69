import pytest

from rpc_agent.permissions.decisions import Allow, Ask, Decision, Refuse, decide, unanswered
from rpc_agent.permissions.rules import Attempt, Mode, Place, Rule
from tests.support.effort import takes_at_most

PLACE = Place(workspace="/home/ann/project", config_dir="/home/ann/.config/rpc-agent", home="/home/ann")


def read(path: str) -> Attempt:
    return Attempt(tool="read", access="read", place=PLACE, paths=(path,))


def write(*paths: str) -> Attempt:
    return Attempt(tool="write", access="write", place=PLACE, paths=paths)


def bash(command: str) -> Attempt:
    return Attempt(tool="bash", access="execute", place=PLACE, command=command)


def kind(decision: Decision) -> str:
    return type(decision).__name__


INSIDE, OUTSIDE = "/home/ann/project/a.py", "/etc/hosts"


@pytest.mark.parametrize(
    ("attempt", "read_only", "ask", "workspace", "allow"),
    [
        (read(INSIDE), "Allow", "Allow", "Allow", "Allow"),
        (read(OUTSIDE), "Allow", "Allow", "Allow", "Allow"),
        (write(INSIDE), "Refuse", "Ask", "Allow", "Allow"),
        (write(PLACE.workspace), "Refuse", "Ask", "Allow", "Allow"),
        (write(OUTSIDE), "Refuse", "Ask", "Ask", "Allow"),
        # a neighbour that begins with the same letters, and another case, are outside
        (write("/home/ann/workshop/a"), "Refuse", "Ask", "Ask", "Allow"),
        (write("/home/ann/Work/a"), "Refuse", "Ask", "Ask", "Allow"),
        (write(INSIDE, OUTSIDE), "Refuse", "Ask", "Ask", "Allow"),
        (write(), "Refuse", "Ask", "Ask", "Allow"),
        (bash("ls"), "Refuse", "Ask", "Ask", "Allow"),
        # the configuration stays shut in every mode, in whatever case it is written
        (read("/home/ann/.config/rpc-agent/models.json"), "Refuse", "Refuse", "Refuse", "Refuse"),
        (read("/home/ann/.config/rpc-agent"), "Refuse", "Refuse", "Refuse", "Refuse"),
        (read("/home/ann/.CONFIG/rpc-agent/models.json"), "Refuse", "Refuse", "Refuse", "Refuse"),
        (write("/home/ann/.config/rpc-agent/settings.json"), "Refuse", "Refuse", "Refuse", "Refuse"),
        (read("/home/ann/.config/rpc-agent-notes"), "Allow", "Allow", "Allow", "Allow"),
    ],
)
def test_without_rules_the_mode_decides(attempt: Attempt, read_only: str, ask: str, workspace: str, allow: str):
    modes: tuple[Mode, ...] = ("read-only", "ask", "workspace", "allow")
    assert [kind(decide(mode, [], attempt)) for mode in modes] == [read_only, ask, workspace, allow]


def rule(action: str, tool: str, match: str) -> Rule:
    return Rule(tool, match, action)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mode", "rules", "attempt", "expected"),
    [
        # rules override the mode, both ways
        ("read-only", [rule("allow", "bash", "git status")], bash("git status"), "Allow"),
        ("read-only", [rule("allow", "write", "*")], write(INSIDE), "Allow"),
        ("allow", [rule("deny", "bash", "rm *")], bash("rm -rf x"), "Refuse"),
        ("allow", [rule("ask", "*", "*")], read(INSIDE), "Ask"),
        # deny beats ask beats allow, in any order
        ("allow", [rule("allow", "*", "*"), rule("ask", "bash", "*"), rule("deny", "bash", "git push*")], bash("git push"), "Refuse"),
        ("allow", [rule("allow", "*", "*"), rule("ask", "bash", "*")], bash("git push"), "Ask"),
        # the whole command
        ("ask", [rule("allow", "bash", "git status")], bash("git status --short"), "Ask"),
        ("ask", [rule("allow", "bash", "git *")], bash("  git status  "), "Allow"),
        ("ask", [rule("allow", "bash", "npm test*")], bash("npm testament"), "Allow"),
        ("ask", [rule("allow", "bash", "git *")], bash("GIT status"), "Ask"),
        # chains never fit an allow rule, not even the widest
        *[
            ("ask", [rule("allow", "bash", match)], bash(command), "Ask")
            for match in ("git *", "*")
            for command in (
                "git log; rm -rf x", "git log && rm x", "git log | sh", "git log & rm x", "git log `rm x`",
                "git log $(rm x)", "git log\nrm x", "git log\rrm x", "git diff <(rm x)", "git log >(rm x)",
            )
        ],
        # but deny and ask rules find their command inside a chain
        ("allow", [rule("deny", "bash", "rm *")], bash("cd x && rm -rf y"), "Refuse"),
        ("allow", [rule("deny", "bash", "rm *")], bash("echo $(rm -rf y)"), "Refuse"),
        ("allow", [rule("deny", "bash", "RM *")], bash("true; rm y"), "Refuse"),
        ("allow", [rule("ask", "bash", "git push*")], bash("git add . ; git push"), "Ask"),
        ("allow", [rule("deny", "bash", "rm *")], bash("echo rm x"), "Allow"),
        # paths: * within a name, ** across names, from the workspace, the root or the home
        ("ask", [rule("allow", "write", "src/*.py")], write("/home/ann/project/src/a.py"), "Allow"),
        ("ask", [rule("allow", "write", "./src/*.py")], write("/home/ann/project/src/a.py"), "Allow"),
        ("ask", [rule("allow", "write", "src/*.py")], write("/home/ann/project/src/x/a.py"), "Ask"),
        ("ask", [rule("allow", "write", "src/**")], write("/home/ann/project/src/x/a.py"), "Allow"),
        ("ask", [rule("allow", "write", "src/**/a.py")], write("/home/ann/project/src/a.py"), "Allow"),
        ("ask", [rule("allow", "write", "src/**")], write("/etc/src/a.py"), "Ask"),
        ("ask", [rule("allow", "write", "~/notes/**")], write("/home/ann/notes/a"), "Allow"),
        ("ask", [rule("allow", "write", "/tmp/**")], write("/tmp/a/b"), "Allow"),
        ("ask", [rule("allow", "write", "/tmp/**")], write("/tmpfile"), "Ask"),
        ("ask", [rule("allow", "write", "/tmp/a?")], write("/tmp/a/"), "Ask"),
        ("allow", [rule("deny", "*", "**/.env")], read("/home/ann/project/.env"), "Refuse"),
        ("allow", [rule("deny", "*", "**/.env")], read("/home/ann/project/x/.ENV"), "Refuse"),
        ("allow", [rule("deny", "*", "secret/**")], read("/home/ann/project/secret"), "Refuse"),
        ("allow", [rule("deny", "write", "**/.env")], read("/home/ann/project/.env"), "Allow"),
        # who forbids a folder forbids what lies in it, and nothing beside it
        *[
            ("allow", [rule("deny", "*", match)], read("/home/ann/project/keys/a/b"), "Refuse")
            for match in ("keys", "keys/", "**/keys", "~/project/keys/", "/home/ann", "/", ".", "..", "../project/keys")
        ],
        ("allow", [rule("deny", "*", "keys")], read("/home/ann/project/keys2"), "Allow"),
        ("allow", [rule("deny", "*", "k*")], read("/home/ann/project/keys/a"), "Allow"),
        ("ask", [rule("allow", "write", "src")], write("/home/ann/project/src/a.py"), "Ask"),
        ("ask", [rule("allow", "write", "../notes/**")], write("/home/ann/notes/a"), "Allow"),
        # choices in a path
        ("allow", [rule("deny", "*", "**/*.{pem,key}")], read("/home/ann/project/a.key"), "Refuse"),
        ("ask", [rule("allow", "write", "{src,tests/{a,b}}/*.py")], write("/home/ann/project/tests/b/c.py"), "Allow"),
        ("ask", [rule("allow", "write", "{src,tests}/*.py")], write("/home/ann/project/docs/c.py"), "Ask"),
        ("allow", [rule("deny", "*", "a{b,c}")], read("/home/ann/project/a{b,c}"), "Refuse"),
        # a line break at the end begins no second command
        ("ask", [rule("allow", "bash", "git status*")], bash("git status\n"), "Allow"),
        # the bare command, and behind what starts others
        ("allow", [rule("deny", "bash", "git push *")], bash("cd x && git push"), "Refuse"),
        ("allow", [rule("deny", "bash", "git push *")], bash("git pushes"), "Allow"),
        ("ask", [rule("allow", "bash", "git push *")], bash("git push"), "Ask"),
        ("allow", [rule("deny", "bash", "python *")], bash("uv run python x.py"), "Refuse"),
        # every path must be allowed, one denied is enough
        ("ask", [rule("allow", "write", "/tmp/**")], write("/tmp/a", "/etc/a"), "Ask"),
        ("allow", [rule("deny", "write", "/etc/**")], write("/tmp/a", "/etc/a"), "Refuse"),
        # in an allow rule case counts
        ("ask", [rule("allow", "write", "/tmp/**")], write("/TMP/a"), "Ask"),
        # names of tools are globs too
        ("ask", [rule("allow", "mcp_*", "*")], Attempt(tool="mcp_x", access="execute", place=PLACE), "Allow"),
        ("ask", [rule("allow", "mcp_*", "x")], Attempt(tool="mcp_x", access="execute", place=PLACE), "Ask"),
        ("allow", [rule("deny", "mcp_*", "*")], Attempt(tool="mcp_x", access="execute", place=PLACE), "Refuse"),
        # a rule may open the configuration; the user wrote it
        ("ask", [rule("allow", "read", "~/.config/rpc-agent/AGENTS.md")], read("/home/ann/.config/rpc-agent/AGENTS.md"), "Allow"),
        # characters of regular expressions are themselves
        ("ask", [rule("allow", "bash", "a.c")], bash("abc"), "Ask"),
    ],
)  # fmt: skip
def test_rules_decide_before_the_mode(mode: Mode, rules: list[Rule], attempt: Attempt, expected: str):
    assert kind(decide(mode, rules, attempt)) == expected


@pytest.mark.parametrize(
    "command",
    [
        # what a redirection opens, and expansions that run what stands in them
        "echo hi > f", "echo hi >> f", "echo hi 2> f", "echo hi >| f", "echo hi &> f", "echo < f", "echo <<< x", "echo >f hi",
        "echo ${x:='\\044(rm y)'} ${x@P}", "echo $[a[x]]", "echo ${x:=y}",
    ],
)  # fmt: skip
def test_an_allow_rule_covers_no_file_or_expansion_that_it_does_not_name(command: str):
    assert [kind(decide("ask", [rule("allow", "bash", match)], bash(command))) for match in ("echo *", "*")] == [
        "Ask",
        "Ask",
    ]


@pytest.mark.parametrize(
    ("match", "command", "expected"),
    [
        ("echo * > /dev/null", "echo hi > /dev/null", "Allow"),
        ("echo * > /dev/null", "echo hi > f > /dev/null", "Ask"),
        ("echo * > /dev/null", "echo hi >> f > /dev/null", "Ask"),
        ("echo *", "echo $HOME 'it''s' {a,b} *", "Allow"),
        ("echo ${HOME}", "echo ${HOME}", "Allow"),
        ("echo *{x}", "echo ${x}", "Ask"),
        ("echo $?x}", "echo ${x}", "Ask"),
        ("sort < *", "sort < a", "Allow"),
        ("sort < *", "sort < a < b", "Ask"),
        ("a | b", "a | b", "Ask"),
    ],
)
def test_an_allow_rule_covers_the_file_that_it_names(match: str, command: str, expected: str):
    assert kind(decide("ask", [rule("allow", "bash", match)], bash(command))) == expected


@pytest.mark.parametrize(
    "command",
    [
        "(rm -rf y)", "{ rm y; }", "! rm y", "if true; then rm y; fi", "for f in *; do rm $f; done", "f() { rm y; }; f",
        "case x in x) rm y;; esac", "time rm y", "coproc rm y",
        "echo `rm y`", 'echo "$(rm y)"', "cat <(rm y)", "true\nrm y", "true|rm y", "true&rm y",
        "A=1 rm y", "A=1 B+=2 rm y", "> f rm y", "2>/dev/null rm y", "<f rm y",
        "'rm' y", 'r""m y', "r\\m y", "$'rm' y", "r\\\nm y", "rm${IFS}y", "rm$IFS y", "rm\ty", "  rm   y", "/bin/rm y",
        "sudo rm y", "/usr/bin/env -i A=1 rm y", "ls | xargs rm -f", "find . -exec rm {} +", "sh -c 'rm y'",
        'bash -c "cd z; rm y"', "eval 'rm y'", "timeout 5 nice rm y", "command rm y", "exec rm y",
        'A="b c" rm y', "A='b;c' rm y", "A=b\\ c rm y", 'A="$(echo "b c")" rm y', "A=$(date)b rm y", "A=${b:-c d} rm y", "A[1]=2 rm y",
        ">&2 rm y", "2>&1 rm y", ">|f rm y", "{fd}>f rm y", '> "f g" rm y', '<<<"a b" rm y', "rm >f y", "a=(1 2) rm y",
        "time -p rm y", "function f { rm y; }", "coproc X { rm y; }", "trap 'rm y' EXIT", "chroot z rm y", "{rm,y}", "$SUDO rm y",
    ],
)  # fmt: skip
def test_a_rule_that_forbids_a_command_finds_it_wherever_the_line_has_it(command: str):
    assert kind(decide("allow", [rule("deny", "bash", "rm *")], bash(command))) == "Refuse"
    assert kind(decide("allow", [rule("ask", "bash", "rm *")], bash(command))) == "Ask"


@pytest.mark.parametrize(
    "command",
    [
        "echo rm y",
        "git commit -m 'rm it'",
        "farm y",
        "ls rm",
        "./rm.sh y",
        "A='rm y' ls",
        "ls > 'rm y'",
        "ls 2>&1",
        "echo {rm,y}",
    ],
)
def test_a_rule_that_forbids_a_command_leaves_those_that_only_speak_of_it(command: str):
    assert kind(decide("allow", [rule("deny", "bash", "rm *")], bash(command))) == "Allow"


def test_windows_paths_are_understood():
    place = Place(workspace="C:\\work", config_dir="C:\\Users\\ann\\rpc-agent", home="C:\\Users\\ann")

    def attempt(path: str) -> Attempt:
        return Attempt(tool="write", access="write", place=place, paths=(path,))

    assert decide("workspace", [], attempt("C:\\work\\src\\a.py")) == Allow()
    assert decide("workspace", [], attempt("D:\\work\\a.py")) == Ask()
    assert decide("ask", [Rule("write", "src/**", "allow")], attempt("C:\\work\\src\\a.py")) == Allow()
    assert decide("ask", [Rule("write", "C:/tmp/*", "allow")], attempt("C:\\tmp\\a")) == Allow()
    assert kind(decide("allow", [], attempt("c:\\users\\ann\\RPC-agent\\models.json"))) == "Refuse"


def test_a_refusal_says_how_to_allow_it():
    refusal = decide("read-only", [], write(INSIDE))
    assert isinstance(refusal, Refuse)
    for way in ("write was not run", "--permissions allow", "set_permissions", "settings.json"):
        assert way in refusal.reason
    nobody, no_answer = (unanswered(bash("ls"), was_asked=asked).reason for asked in (False, True))
    assert "nobody could be asked" in nobody and "no answer that could be used" in no_answer
    assert all("--permissions allow" in reason for reason in (nobody, no_answer))


def test_a_denial_names_its_rule():
    refusal = decide("allow", [Rule("bash", "rm *", "deny")], bash("rm x"))
    assert isinstance(refusal, Refuse)
    assert '{"tool": "bash", "match": "rm *"}' in refusal.reason


@pytest.mark.parametrize("unit", ["1", "'", '"', '"$(', "{a", "a=(", "sudo "])
def test_a_long_line_is_looked_at_in_linear_time(unit: str):
    """By squares, each of these takes minutes."""
    with takes_at_most(10):
        assert kind(decide("allow", [rule("deny", "bash", "rm *")], bash(unit * 60_000))) == "Allow"
