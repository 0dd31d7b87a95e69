"""The tool `grep`: lines of files that fit a pattern."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from msgspec import Struct

from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.platform.programs import find_program
from rpc_agent.tools.base import ToolContext, ToolResult, text_result
from rpc_agent.tools.failure import ToolFailure
from rpc_agent.tools.function_tool import FunctionTool, object_schema
from rpc_agent.tools.globs import find_glob
from rpc_agent.tools.grep_text import hit_lines
from rpc_agent.tools.grep_worker import Question
from rpc_agent.tools.listing import listing_text
from rpc_agent.tools.paths import absolute_path, require_usable, shown_path
from rpc_agent.tools.regular_file import open_regular
from rpc_agent.tools.search_process import Hit, SearchFailed, SearchProcess
from rpc_agent.tools.walk import has_odd_rules, in_repository

_LIMIT = 100

_SECONDS = 120.0
"""Nobody waits longer for a search; some regular expressions would never end."""

_RIPGREP = (
    "--json",
    "--no-config",
    "--no-messages",
    "--no-ignore-dot",  # other lists than .gitignore would make answers depend on the program
    "--no-ignore-global",
    "--no-ignore-exclude",
    "--hidden",
    "--glob=!.git",
    "--sort=path",
    "--crlf",
    "--no-mmap",
)

_START_WORKER = """\
import sys
sys.path.insert(0, sys.argv[1])
from rpc_agent.tools.grep_worker import main
sys.exit(main(sys.argv[2]))
"""

_SPEC = ToolSpec(
    "grep",
    f"Search files for a regular expression, line by line, at any depth, hidden files too; binary files and what "
    f".gitignore names are left out. Answers with `path:line: text`, sorted by path, at most {_LIMIT} hits unless "
    "limit says otherwise.",
    object_schema(
        {
            "pattern": {"type": "string", "minLength": 1, "description": "A regular expression for one line."},
            "path": {
                "type": "string",
                "description": "The folder or file to search; without it the working directory.",
            },
            "glob": {"type": "string", "description": "Only files that fit, such as `*.py` or `src/**/*.ts`."},
            "ignoreCase": {"type": "boolean", "description": "Take upper and lower case as equal."},
            "literal": {"type": "boolean", "description": "Take the pattern as plain text."},
            "context": {
                "type": "integer",
                "minimum": 0,
                "maximum": 50,
                "description": "Lines to show around each hit.",
            },
            "limit": {"type": "integer", "minimum": 1, "description": "How many hits at most."},
        },
        required=("pattern",),
    ),
)


class _Search(Struct, frozen=True, kw_only=True):
    question: Question
    glob: str | None
    limit: int
    environment: Mapping[str, str]
    is_private: Callable[[Path], bool]
    programs: str


def grep_tool(is_private: Callable[[Path], bool], *, programs: str = os.path.dirname(sys.executable)) -> FunctionTool:
    """`programs` is a folder to look for ripgrep in after PATH: the extra `search` puts it beside our own Python."""

    async def grep(arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        path = absolute_path(arguments.get("path", "."), context)
        question = _question(arguments, path)
        limit = arguments.get("limit", _LIMIT)
        environment, glob = context.environment, arguments.get("glob")
        search = _Search(
            question=question,
            glob=glob,
            limit=limit,
            environment=environment,
            is_private=is_private,
            programs=programs,
        )
        hits = await _in_thread(search)
        total = None if len(hits) > limit else len(hits)
        lines = hit_lines(hits[:limit], lambda hit: shown_path(Path(hit.path), context), arguments.get("context", 0))
        nothing = f"(no line in {shown_path(path, context)} fits)"
        # With context there are more lines than hits, so what was found is said in lines.
        found = None if total is None else len(lines)
        return text_result(listing_text(lines, found=found, limit=limit, nothing=nothing))

    return FunctionTool(spec=_SPEC, access="read", function=grep)


def _question(arguments: Mapping[str, Any], path: Path) -> Question:
    require_usable("pattern", arguments["pattern"])
    require_usable("glob", arguments.get("glob", ""))
    if "\n" in arguments["pattern"]:
        raise ToolFailure(
            "The pattern holds a line end, but lines are searched one by one. Search for one of its lines."
        )
    return Question(
        pattern=arguments["pattern"],
        path=str(path),
        ignore_case=arguments.get("ignoreCase", False),
        literal=arguments.get("literal", False),
    )


async def _in_thread(search: _Search) -> list[Hit]:
    process = SearchProcess()
    try:
        with anyio.fail_after(_SECONDS):
            return await anyio.to_thread.run_sync(_search, search, process, abandon_on_cancel=True)
    except TimeoutError as error:
        raise ToolFailure(
            f"The search took more than {_SECONDS:g} s and was stopped. Search less, or plainer."
        ) from error
    finally:
        process.stop()


def _search(search: _Search, process: SearchProcess) -> list[Hit]:
    path = Path(search.question.path)
    if not path.exists():
        raise ToolFailure(f"There is no file or folder {path}.")
    if not path.is_dir() and _is_binary(path):
        raise ToolFailure(f"{path} is a binary file, which is not searched. Use bash: strings, grep -a.")
    refusal = ""
    for command in _commands(search):
        try:
            with closing(process.hits(command, search.environment)) as hits:
                return _wanted(hits, path, search)
        except SearchFailed as error:
            refusal = refusal or str(error)
    raise ToolFailure(f"The pattern cannot be used: {refusal}. Correct it, or set literal to search for plain text.")


def _wanted(hits: Iterable[Hit], root: Path, search: _Search) -> list[Hit]:
    """One more hit than the limit at most, so that more is known to be there."""
    fits = find_glob(search.glob, root.as_posix()) if search.glob else None
    wanted: list[Hit] = []
    for hit in hits:
        path = Path(hit.path)
        inner = path.relative_to(root).as_posix() if path != root else path.name
        if (fits is None or fits(inner)) and not search.is_private(path):
            wanted.append(hit)
            if len(wanted) > search.limit:
                break
    return wanted


def _commands(search: _Search) -> Iterator[Sequence[str]]:
    """The searching programs to try in turn; ours is the last, for an old ripgrep may not know our options.

    ripgrep reads whatever is called .gitignore, and of a pipe it never comes to the end.
    """
    program = _ripgrep(search)
    if program is not None and not has_odd_rules(Path(search.question.path)):
        yield [program, *_RIPGREP, *_ripgrep_options(search)]
    root = str(Path(__file__).parents[2])
    yield [sys.executable, "-I", "-X", "utf8", "-c", _START_WORKER, root, search.question.to_argument()]


def _ripgrep(search: _Search) -> str | None:
    places = (search.environment.get("PATH", ""), search.programs)
    return find_program("rg", os.pathsep.join(filter(None, places)))


def _ripgrep_options(search: _Search) -> Iterator[str]:
    question = search.question
    if not in_repository(Path(question.path)):
        # A .gitignore counts outside a repository too.
        yield "--no-require-git"
    if question.ignore_case:
        yield "--ignore-case"
    if question.literal:
        yield "--fixed-strings"
    if search.glob and search.glob.startswith("*.") and search.glob[2:].isalnum():
        # A type, unlike a glob, does not bring back what .gitignore leaves out. All globs are checked afterwards.
        yield f"--type-add=wanted:{search.glob}"
        yield "--type=wanted"
    yield f"--regexp={question.pattern}"
    yield "--"
    yield question.path


def _is_binary(path: Path) -> bool:
    """Raises ToolFailure for what is no file: a pipe or a device would be searched without an end."""
    with open_regular(path) as file:
        # None is the answer of a file of the system that has nothing to tell yet.
        start = file.read(8192) or b""
    return b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff"))
