"""docs/clients.md shows the programs of tests/third_party, letter for letter; `make test-clients` runs them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "third_party"
PAGE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
_SHOWN = re.compile(r"^<!-- (tests/third_party/\S+) -->\n```\w+\n(.*?)^```$", re.M | re.S)
SHOWN = dict(_SHOWN.findall(PAGE))


@pytest.mark.parametrize("name", SHOWN)
def test_the_page_shows_the_file_that_is_run(name: str) -> None:
    assert SHOWN[name] == (ROOT / name).read_text(encoding="utf-8"), f"copy {name} into docs/clients.md again"


def test_every_program_that_is_run_is_on_the_page_and_the_other_way_round() -> None:
    run = (FOLDER / "run.py").read_text(encoding="utf-8")
    programs = {f"tests/third_party/{name}" for name in re.findall(r'ThirdParty\("[^"]+", "([^"]+)"', run)}
    assert programs == set(SHOWN)
    assert len(programs) == 6


def test_the_page_shows_what_the_programs_print() -> None:
    run = (FOLDER / "run.py").read_text(encoding="utf-8")
    expected = re.search(r"^EXPECTED = \[\n(.*?)^\]$", run, re.M | re.S)
    assert expected is not None
    lines = re.findall(r'"(.*)"', expected[1])
    assert "```\n" + "\n".join(lines) + "\n```" in PAGE
