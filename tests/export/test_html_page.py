"""The page: nothing in it comes from content but text, and all text of the session is in it."""

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpc_agent.export.html_page import export_html
from rpc_agent.export.html_style import CONTENT_POLICY
from rpc_agent.export.html_text import picture
from rpc_agent.export.plain_text import plain
from rpc_agent.export.snapshot import SessionSnapshot
from tests.support.exports import Page, chain, entries_of, message, session_of_every_kind, squeezed
from tests.support.sessions import HEADER

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus='alert(1)",
    "[x](javascript:alert(1))",
    "javascript:alert(1)",
    "--><svg onload=alert(1)>",
    "]]><b>",
    "<!--",
    "<![CDATA[",
    "</pre></details></article></main></body></html>",
    "</title></style><style>*{display:none}",
    "&lt;i&gt; &#60;u&#62; &amp;",
    "\x1b]8;;javascript:alert(1)\x07click\x1b]8;;\x07",
    "\x1b[31mred\x1b[0m\x9b2J\x00\x08",
    "data:text/html;base64,PHNjcmlwdD4=",
    "image/svg+xml",
    'image/png" onload="x',
    "<?php ?>",
    "<plaintext>",
    "\u202etxt.exe",
    "# not a heading <h1>",
    "**<b onclick=x>**",
]
CLASSES = {
    *("page", "kind", "label", "prose", "mark", "remark", "dim", "bad", "plain", "on", "here"),
    *("user", "assistant", "tool", "bash", "summary", "system", "custom", "note"),
    *(f"d{depth}" for depth in range(1, 7)),
}
VALUES = {
    "id": r"e\d+",
    "href": r"#e\d+",
    "src": r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}",
    "class": rf"({'|'.join(sorted(CLASSES))}|\s)*",
    "alt": "",
    "lang": "en",
    "charset": "utf-8",
    "aria-label": "Outline",
    "http-equiv": "Content-Security-Policy",
    "name": "viewport|referrer",
    "content": f"{re.escape(CONTENT_POLICY)}|width=device-width, initial-scale=1|no-referrer",
}
ELEMENTS = set(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "div",
        "header",
        "h1",
        "h2",
        "h3",
        "dl",
        "dt",
        "dd",
        "nav",
        "b",
        "ol",
        "li",
        "a",
        "span",
        "small",
        "main",
        "article",
        "p",
        "pre",
        "code",
        "details",
        "summary",
        "img",
        "footer",
    ]
)
any_text = st.one_of(st.text(max_size=60), st.sampled_from(HOSTILE), st.text(alphabet="`~*#<>&\"' \n-a", max_size=30))


def benign_and_hostile(text: str) -> tuple[Page, Page]:
    return Page(export_html(session_of_every_kind(lambda: "x"))), Page(export_html(session_of_every_kind(lambda: text)))


def faults(page: Page) -> list[object]:
    """What no page of ours would contain."""
    wrong: list[object] = [tag for tag, _ in page.elements if tag not in ELEMENTS]
    wrong += [
        (tag, name, value)
        for tag, attributes in page.elements
        for name, value in attributes
        if name not in VALUES or not re.fullmatch(VALUES[name], value or "")
    ]
    return wrong + page.other


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_adds_no_element_no_attribute_and_no_comment(text: str) -> None:
    benign, hostile = benign_and_hostile(text)
    formatting = {"b"}  # Stress and headings, which ours make of ** and #.
    assert faults(hostile) == []
    assert Counter(t for t, _ in hostile.elements if t not in formatting) == Counter(
        t for t, _ in benign.elements if t not in formatting
    )
    assert [a for t, a in hostile.elements if t not in formatting] == [
        a for t, a in benign.elements if t not in formatting
    ]


@pytest.mark.parametrize("text", ["`<script>`", "```<x>\n<script>\n```<x>", "~~~<x>\n<i onclick=x>\n~~~", "# `<b>`"])
def test_code_is_as_harmless_as_prose(text: str) -> None:
    page = benign_and_hostile(text)[1]
    assert (faults(page), squeezed(text) in squeezed(page.text)) == ([], True)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_can_be_read_as_it_was_written(text: str) -> None:
    assert squeezed(plain(text)) in squeezed(benign_and_hostile(text)[1].text)


@settings(deadline=None, max_examples=60)
@given(st.lists(any_text, min_size=1, max_size=8))
def test_every_text_of_a_conversation_is_on_the_page_and_only_as_text(texts: list[str]) -> None:
    payloads = []
    for number, text in enumerate(texts):
        call = {"type": "toolCall", "id": str(number), "name": "t", "arguments": {"a": text}}
        payloads += [
            message("user", content=text),
            message("assistant", content=[{"type": "text", "text": text}, call]),
            message("toolResult", toolCallId=str(number), toolName="t", content=[{"type": "text", "text": text}]),
        ]
    raws = chain(*payloads)
    page = Page(export_html(SessionSnapshot(header=HEADER, entries=entries_of(raws), leaf_id=raws[-1]["id"])))
    shown = squeezed(page.text)
    assert faults(page) == []
    assert [text for text in texts if shown.count(squeezed(plain(text))) < 4] == []


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_no_text_in_any_place_of_a_session_becomes_markup(data: st.DataObject) -> None:
    page = Page(export_html(session_of_every_kind(lambda: data.draw(any_text))))
    assert faults(page) == []


def test_every_link_leads_to_an_entry_on_the_page() -> None:
    page = Page(export_html(session_of_every_kind(lambda: "x")))
    attributes = [attribute for _, each in page.elements for attribute in each]
    places = [value for name, value in attributes if name == "id"]
    assert sorted(places, key=lambda place: int(str(place)[1:])) == [f"e{number}" for number in range(1, 24)]
    assert {str(value)[1:] for name, value in attributes if name == "href"} <= set(map(str, places))


def test_no_escape_sequence_reaches_the_page() -> None:
    html = export_html(session_of_every_kind(lambda: "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b1m bell\x07\x00"))
    assert re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", html) == []
    # JSON spells the escape out, which no terminal obeys.
    spelled_out = html.replace(r"\u001b[31m", "").replace(r"\u001b]0;title", "")
    assert ("[31m" in spelled_out, "title " in spelled_out, "red" in spelled_out) == (False, False, True)


@pytest.mark.parametrize(
    ("mime_type", "data", "html"),
    [
        ("image/png", "iVBO\nRw0=", '<img alt="" src="data:image/png;base64,iVBORw0=">'),
        ("image/svg+xml", "iVBORw0=", None),
        ("text/html", "iVBORw0=", None),
        ("IMAGE/PNG", "iVBORw0=", None),
        ("image/png", 'iVBO" onload="x', None),
        ("image/png", "", None),
    ],
)
def test_only_base64_of_known_pixel_types_is_shown_as_an_image(mime_type: str, data: str, html: str | None) -> None:
    assert picture(mime_type, data) == html


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    html = export_html(session_of_every_kind(lambda: "x"))
    assert "default-src 'none'" in html and "script-src" not in html
    assert re.findall(r"https?://|@import|url\(|<script|<link", html) == []


def test_the_page_is_the_one_that_people_looked_at(golden: SessionSnapshot, golden_folder: Path) -> None:
    told = "look at it, then: rpc-agent sessions export session.jsonl --format html > session.html"
    assert export_html(golden) == (golden_folder / "session.html").read_text(encoding="utf-8"), told
