import string
import time

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from rpc_agent.providers.offline.orders import looks_like_file
from rpc_agent.providers.offline.understanding import understand
from rpc_agent.providers.offline.wishes import (
    FindFiles,
    Introduce,
    ListFolder,
    ReadFile,
    ReplaceText,
    RunCommand,
    SearchText,
    Wish,
    WriteFile,
)

COMMON = {
    "a", "an", "the", "me", "my", "all", "any", "of", "in", "is", "are", "at", "for", "to", "with", "and", "or", "file",
    "files", "folder", "folders", "here", "there", "this", "that", "it", "dir", "directory", "project", "repo", "current",
    "every", "contents", "content", "everything", "workspace", "which", "named", "called", "word", "text", "string",
    "from", "under", "within", "code", "not", "use", "uses", "used", "aloud", "out", "whole", "inside", "phrase", "has",
    "then", "also", "who", "what", "you", "do", "does", "set", "like", "things", "through", "have", "line", "lines",
}  # fmt: skip
WORDS = st.text(string.ascii_letters + string.digits + "_", min_size=1, max_size=10).filter(
    lambda word: word.lower() not in COMMON and not looks_like_file(word)
)
FOLDERS = st.lists(WORDS, min_size=1, max_size=3).map("/".join)
ENDINGS = st.sampled_from(["md", "txt", "py", "json", "rs", "toml", "c"])
FILES = st.builds(lambda folder, name, ending: f"{folder}/{name}.{ending}", FOLDERS, WORDS, ENDINGS) | st.builds(
    lambda name, ending: f"{name}.{ending}", WORDS, ENDINGS
)
GLOBS = ENDINGS.map(lambda ending: f"*.{ending}")
POLITE = st.sampled_from(["", "please ", "Please ", "can you ", "Could you please ", "Hi, ", "ok, now "])
ENDS = st.sampled_from(["", "?", ".", "!", " "])


def asked(polite: str, form: str, end: str, **slots: str) -> list[Wish]:
    return understand(polite + form.format(**slots) + end)


@given(POLITE, st.sampled_from(["list the files in {p}", "list {p}", "ls {p}", "what files are in {p}", "show me the files in {p}",
                                "what is in {p}", "what's in the folder {p}", "list all files in the {p} folder", "How many files are in {p}"]), ENDS, FOLDERS)  # fmt: skip
def test_a_folder_is_listed(polite: str, form: str, end: str, folder: str) -> None:
    assert asked(polite, form, end, p=folder) == [ListFolder(folder)]


@pytest.mark.parametrize(
    "prompt",
    ["What files are here?", "list the files", "ls", "What is here?", "show me all the files", "what's in this folder?",
     "list files", "which files are there?", "list .", "how many files are here?", "Look around.", "dir", "list the files in this project"],
)  # fmt: skip
def test_here_is_the_working_directory(prompt: str) -> None:
    assert understand(prompt) == [ListFolder(".")]


@given(POLITE, st.sampled_from(["read {p}", "show me {p}", "cat {p}", "open the file {p}", "what does {p} say", "what is in {p}",
                                "print the contents of {p}", "display {p}", "read `{p}`", 'show me "{p}"', "summarise {p}"]), ENDS, FILES)  # fmt: skip
def test_a_file_is_read(polite: str, form: str, end: str, file: str) -> None:
    assert asked(polite, form, end, p=file) == [ReadFile(file)]


@given(POLITE, st.sampled_from(["search for {t}", "grep {t}", "find {t}", "search for the word {t}", "find all mentions of {t}",
                                "look for '{t}'", "where is {t} defined", 'search the files for "{t}"']), ENDS, WORDS)  # fmt: skip
def test_a_text_is_searched_for_everywhere(polite: str, form: str, end: str, word: str) -> None:
    assert asked(polite, form, end, t=word) == [SearchText(word)]


@given(POLITE, st.sampled_from(["find {t} in {p}", "search for {t} in {p}", "grep {t} in {p}", "search {p} for {t}"]), ENDS, WORDS, FOLDERS)  # fmt: skip
def test_a_text_is_searched_for_in_a_place(polite: str, form: str, end: str, word: str, place: str) -> None:
    assert asked(polite, form, end, t=word, p=place) == [SearchText(word, place)]


@given(POLITE, st.sampled_from(["find {t} in {g}", "search for {t} in {g}", "find all mentions of {t} in {g} files"]), ENDS, WORDS, GLOBS)  # fmt: skip
def test_a_text_is_searched_for_in_a_kind_of_files(polite: str, form: str, end: str, word: str, glob: str) -> None:
    assert asked(polite, form, end, t=word, g=glob) == [SearchText(word, ".", glob)]


@given(POLITE, st.sampled_from(["which files mention {t}", "what files contain {t}", "list the files that contain {t}", "find files containing {t}"]), ENDS, WORDS)  # fmt: skip
def test_files_that_mention_a_text_are_asked_for(polite: str, form: str, end: str, word: str) -> None:
    assert asked(polite, form, end, t=word) == [SearchText(word)]


@given(POLITE, st.sampled_from(["find {g}", "find all {g} files", "list {g}", "find files named {g}"]), ENDS, GLOBS)
def test_files_are_found_by_a_pattern(polite: str, form: str, end: str, glob: str) -> None:
    assert asked(polite, form, end, g=glob) == [FindFiles(glob)]


def test_files_are_found_by_kind_and_by_name() -> None:
    assert understand("find all python files in src") == [FindFiles("*.py", "src")]
    assert understand("where is settings.toml?") == [FindFiles("settings.toml")]
    assert understand("find files ending in .md") == [FindFiles("*.md")]


@pytest.mark.parametrize(
    ("prompt", "wish"),
    [
        ("run: sleep 300", RunCommand("sleep 300")),
        ("Please run `ls -la | wc`", RunCommand("ls -la | wc")),
        ("$ make test", RunCommand("make test")),
        ("execute the command: echo a; echo b", RunCommand("echo a; echo b")),
        ("write hello world to notes.txt", WriteFile("notes.txt", "hello world")),
        ('write "a. b?" to `my notes.txt`', WriteFile("my notes.txt", "a. b?")),
        ("create notes.txt with line one\nline two", WriteFile("notes.txt", "line one\nline two")),
        ("replace 'old text' with 'new text' in a.py", ReplaceText("a.py", "old text", "new text")),
    ],
)
def test_an_explicit_order_acts(prompt: str, wish: Wish) -> None:
    assert understand(prompt) == [wish]


@pytest.mark.parametrize(
    "prompt",
    ["delete everything", "you may run anything you like", "I would run the tests if I were you", "what is 2+2?",
     "write a poem about spring", "should I write it to disk?", "read the file", "search for", "make it faster",
     "Refactor the parser so that errors carry positions.", "replace it", "run"],
)  # fmt: skip
def test_what_is_no_clear_wish_is_not_understood(prompt: str) -> None:
    assert understand(prompt) == []


def test_two_wishes_in_one_prompt_are_two() -> None:
    assert understand("List the files in src and then read src/a.py") == [ListFolder("src"), ReadFile("src/a.py")]
    assert understand("read a.md. Then read b.md.") == [ReadFile("a.md"), ReadFile("b.md")]
    assert understand("read a.md and fly to the moon") == []


@pytest.mark.parametrize("prompt", ["hello", "Hi!", "help", "who are you?", "What can you do?", "which model are you?"])
def test_a_greeting_is_answered_with_an_introduction(prompt: str) -> None:
    assert understand(prompt) == [Introduce()]


@given(st.text(max_size=200))
@example("")
@example("`")
def test_any_text_is_understood_or_not_but_never_an_error(text: str) -> None:
    assume("\x00" not in text)
    assert len(understand(text)) <= len(text)


@pytest.mark.parametrize("filler", ["list ", "the ", "find the ", "  ", "a and then ", "`", "write x to "])
def test_a_huge_prompt_is_judged_in_a_moment(filler: str) -> None:
    start = time.perf_counter()
    understand("find " + filler * 20_000 + "?")
    assert time.perf_counter() - start < 2
