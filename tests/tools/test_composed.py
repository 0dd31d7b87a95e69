"""Composing letters and accents: the text is that of the standard, and every column leads back."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.tools.composed import composed

TEXTS = st.text(st.sampled_from("ae\u0301\u0304\u0327\u1112\u1161\u11ab\ud55c\u30cf\u3099\u09c7\u09be\u2126 x"))


@given(TEXTS | st.text())
def test_the_text_is_composed_and_what_begins_at_a_column_stands_there(text: str):
    found = composed(text)
    assert found.text == unicodedata.normalize("NFC", text)
    places = [(at, column) for at in range(len(found.text) + 1) if (column := found.column(at)) is not None]
    assert places[0] == (0, 0) and places[-1] == (len(found.text), len(text))
    for at, column in places:
        assert unicodedata.normalize("NFC", text[:column]) == found.text[:at]
        assert unicodedata.normalize("NFC", text[column:]) == found.text[at:]


def test_what_is_composed_already_is_the_same_object():
    text = "naïve 한글"
    assert composed(text).text is text
