"""What the pages of docs/ say is so: the table of settings, the examples of files, the tests they name, their links."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from rpc_agent.providers.models_file import MODELS_SHAPE
from rpc_agent.settings.fields import FIELDS, problems, unknown_fields

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "README.md",
    "clients/python/README.md",
    "protocol/README.md",
    *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")),
]
_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```$", re.M | re.S)


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def example(name: str, mark: str) -> object:
    found = re.search(rf"^<!-- {mark} -->\n```json\n(.*?)^```$", page(name), re.M | re.S)
    assert found is not None
    return json.loads(found[1])


def test_every_setting_is_listed_with_its_default() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| `([^`]*)` \| .+ \|$", page("docs/configuration.md"), re.M)
    assert rows == [(field.name, json.dumps(field.default)) for field in FIELDS]


def test_the_example_of_a_settings_file_is_a_good_one() -> None:
    settings = example("docs/configuration.md", "settings")
    assert isinstance(settings, dict)
    assert (list(problems(settings)), unknown_fields(settings)) == ([], [])


def test_the_example_of_a_models_file_is_a_good_one() -> None:
    assert list(MODELS_SHAPE.problems(example("docs/configuration.md", "models"))) == []


@pytest.mark.parametrize("name", ["docs/reliability.md", "docs/security.md"])
def test_every_promise_names_a_test_that_exists(name: str) -> None:
    lines = [*page(name).splitlines(), ""]
    heads = {line for line, below in pairwise(lines) if below.startswith("|---")}
    rows = [line for line in lines if line.startswith("|") and not line.startswith("|---") and line not in heads]
    assert len(rows) > 10
    assert [row for row in rows if not _TEST.search(row)] == []


@pytest.mark.parametrize("name", PAGES)
def test_the_tests_that_a_page_names_exist(name: str) -> None:
    missing = [
        f"{file}::{test}" for file, test in _TEST.findall(page(name)) if f"def {test}(" not in page(file) and test
    ]
    assert missing == []


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_files_and_headings(name: str) -> None:
    folder = (ROOT / name).parent
    broken = []
    for link in _LINK.findall(_CODE.sub("", page(name))):
        target, _, heading = link.partition("#")
        if "://" in link:
            continue
        file = folder / target if target else ROOT / name
        if not file.exists() or (heading and heading not in headings(file)):
            broken.append(link)
    assert broken == []


def headings(file: Path) -> set[str]:
    """As links name them: small letters, dashes for spaces, nothing else."""
    titles = re.findall(r"^#+ (.+)$", _CODE.sub("", file.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}
