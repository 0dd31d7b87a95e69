"""The pinned versions: names and numbers only, wherever somebody's packages come from."""

import re

from tests.conftest import ROOT

PIN = re.compile(r"[a-z0-9][a-z0-9._-]*==[0-9][0-9a-z.+!]*( *;.*)?", re.IGNORECASE)


def test_the_constraints_hold_pins_and_no_addresses() -> None:
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert lines
    assert [line for line in lines if not PIN.fullmatch(line)] == []
    assert "://" not in text
