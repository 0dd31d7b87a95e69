from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.resources.commands import expand, find_commands
from rpc_agent.resources.front_matter import split_front_matter


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        ('---\nname: a\ndescription: "x: y"\n---\nBody\n', {"name": "a", "description": "x: y"}, "Body"),
        ("---\ndescription: >\n  one\n  two\nname: b\n---\n\nBody", {"description": "one two", "name": "b"}, "Body"),
        ("---\ntext: |\n  one\n  two\n---\nBody", {"text": "one\ntwo"}, "Body"),
        ("---\nlist:\n  - a\n# note: x\nname: c\n---\nBody", {"list": "", "name": "c"}, "Body"),
        ("---\nname: never closed\nBody", {}, "---\nname: never closed\nBody"),
        ("---\r\nname: a\r\n---\r\nBody", {"name": "a"}, "Body"),
        ("---\nname: a\n---\none\u2028two\x0cthree", {"name": "a"}, "one\u2028two\x0cthree"),
        ("---\nWords.\n---\nBody", {}, "---\nWords.\n---\nBody"),
        ("---\n---\nBody", {}, "Body"),
        ("no head", {}, "no head"),
        ("", {}, ""),
    ],
)
def test_the_head_of_a_file_is_told_from_its_body(text: str, fields: dict[str, str], body: str) -> None:
    assert split_front_matter(text) == (fields, body)


@given(st.text())
def test_any_text_has_a_head_and_a_body(text: str) -> None:
    fields, body = split_front_matter(text)
    assert all(isinstance(value, str) for value in fields.values())
    assert body in text or body.replace("\n", "") in "".join(text.splitlines())


def test_templates_and_skills_are_found_and_a_projects_own_win(tmp_path: Path) -> None:
    user, project = tmp_path / "user", tmp_path / "project"
    write(user / "prompts" / "review.md", "---\ndescription: Look at the last commit\n---\nReview $1 for $2.")
    write(user / "prompts" / "notes.txt", "no template")
    write(user / "skills" / "deploy" / "SKILL.md", "---\nname: deploy\ndescription: Ship it\n---\nSteps.")
    own = write(project / "prompts" / "review.md", "Ours: $ARGUMENTS")
    commands = find_commands([user, project])
    assert [(c.name, c.description, c.source) for c in commands] == [
        ("deploy", "Ship it", "skill"),
        ("review", "", "prompt"),
    ]
    assert commands[1].path == own
    assert find_commands([tmp_path / "nowhere"]) == ()


@pytest.mark.parametrize(
    ("body", "text", "expanded"),
    [
        ("Review $1 for $2.", '/t main.py "two words"', "Review main.py for two words."),
        ("All: $ARGUMENTS.", "/t a b", "All: a b."),
        ("All: $@.", "/t it's fine", "All: it's fine."),
        ("One: $1, nine: $9", "/t a", "One: a, nine:"),
        ("Do it.", "/t quickly", "Do it.\n\nquickly"),
        ("Do it.", "/t", "Do it."),
        ("Do it.", "/t\nin two\nlines", "Do it.\n\nin two\nlines"),
        ("$1: up to $100", "/t x", "x: up to $100"),
        ("$1|$2|$3", "/t don't break John's", "don't|break|John's"),
        ("$1|$2|$3", '/t C:\\new \\bfoo\\b 5"', 'C:\\new|\\bfoo\\b|5"'),
        ("$1|$2|$3|$4", '/t \'a b\' x="c d" e\\ f ""', "a b|x=c d|e f|"),
    ],
)
def test_a_template_is_filled_with_its_arguments(tmp_path: Path, body: str, text: str, expanded: str) -> None:
    write(tmp_path / "prompts" / "t.md", body)
    assert expand(text, find_commands([tmp_path])) == expanded


def test_a_template_may_be_utf_16_and_is_no_binary_file(tmp_path: Path) -> None:
    folder = write(tmp_path / "prompts" / "t.md", "").parent
    (folder / "t.md").write_bytes("---\r\ndescription: é\r\n---\r\nDo $1".encode("utf-16"))
    (folder / "b.md").write_bytes(b"a\0b")
    (command,) = find_commands([tmp_path])
    assert (command.description, expand("/t x", [command])) == ("é", "Do x")


def test_a_skill_is_told_with_its_place_and_the_task(tmp_path: Path) -> None:
    file = write(tmp_path / "skills" / "deploy" / "SKILL.md", "Steps.")
    told = expand("/deploy to staging", find_commands([tmp_path]))
    assert (str(file) in told, "Steps." in told, told.endswith("The task: to staging")) == (True, True, True)


@pytest.mark.parametrize("text", ["hello", "/unknown thing", "/", "", "/ t", "see /t"])
def test_any_other_text_is_itself(tmp_path: Path, text: str) -> None:
    write(tmp_path / "prompts" / "t.md", "X")
    assert expand(text, find_commands([tmp_path])) == text
