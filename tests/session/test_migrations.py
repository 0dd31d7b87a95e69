"""Versions of the session format: which one a header states, and what the first one becomes."""

from typing import Any

import pytest

from rpc_agent.session.migrations import migrate, version_of
from rpc_agent.session.replay import read_session
from tests.support.sessions import HEADER, CountingIdentity, line, raw_entry, session_bytes

A, B = raw_entry("a", None), raw_entry("b", "a")


@pytest.mark.parametrize(
    ("stated", "version"),
    [(1, 1), (2, 2), (3, 3), (4, 4), (3.0, 3), (2.0, 2), (3.5, 4), ("3", 3), ("2", 2), (0, 1), (-1, 1), (None, 1)],
)
def test_a_version_is_read_whatever_way_it_is_written(stated: object, version: int) -> None:
    assert version_of({"version": stated}) == version


@pytest.mark.parametrize("stated", ["x", "", [], {}, "9" * 5000])
def test_a_version_that_says_nothing_is_no_reason_to_rewrite_the_links_of_a_file(stated: object) -> None:
    loaded = read_session(session_bytes(A, B, header={**HEADER, "version": stated}), draw_id=CountingIdentity().draw_id)
    assert ([entry.raw for entry in loaded.tree], loaded.migrated) == ([A, B], False)


def test_a_second_header_in_a_file_of_version_1_does_not_cut_its_chain() -> None:
    def without_links(**fields: Any) -> dict[str, object]:
        entry = raw_entry("-", None, **fields)
        return {key: value for key, value in entry.items() if key not in ("id", "parentId")}

    header = {**HEADER, "version": 1}
    compaction = without_links(type="compaction", summary="s", firstKeptEntryIndex=3.0, tokensBefore=1, odd=[1])
    data = b"".join(map(line, [header, without_links(), header, without_links(), compaction]))
    loaded = read_session(data, draw_id=CountingIdentity().draw_id)
    path = loaded.tree.path(loaded.tree.leaf_id)
    assert [(entry.id, entry.parent_id) for entry in path] == [
        ("00000001", None),
        ("00000002", "00000001"),
        ("00000003", "00000002"),
    ]
    kept = {key: value for key, value in compaction.items() if key != "firstKeptEntryIndex"}
    links = {"id": "00000003", "parentId": "00000002", "firstKeptEntryId": "00000002"}
    assert path[-1].raw == {**kept, **links}
    assert [warning.kind for warning in loaded.warnings] == ["extraHeader"]


def test_records_of_the_current_version_come_back_as_they_are() -> None:
    records = [HEADER, A, B]
    assert migrate(records, draw_id=CountingIdentity().draw_id) is records
