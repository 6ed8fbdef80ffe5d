# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test parts of the Sphinx extensions whose errors Sphinx does not report."""

import re

import pytest

from kwire.explain import guide as protocol_guide
from kwire.schema import registry
from kwire.schema.versions import VersionRange
from tools.generate import api_pages, docs


def test_plain_docstrings_become_what_sphinx_reads():
    """Special characters are escaped, and indented lines become code blocks."""
    lines = [
        "Give *all* of ``x_`` in a_ and b*.",
        "",
        "    with open(x) as y:",
        "        ...",
        "",
        "* an item with ``code``s",
        "Time is linear.",
        "Raises ``DecodeError``.",
    ]
    assert docs.as_rst(lines) == [
        r"Give \*all\* of ``x_`` in a\_ and b\*.",
        "",
        "::",
        "",
        "    with open(x) as y:",
        "        ...",
        "",
        r"* an item with ``code``\ s",
        "Time is linear.",
        "",
        "**Raises** ``DecodeError``.",
    ]


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ('<script src="_static/a.js"></script><a href="https://x.y">', []),
        ('<script src="https://x.y/a.js"></script>', ["https://x.y/a.js"]),
        ('<link rel="stylesheet" href="//x.y/a.css">', ["//x.y/a.css"]),
        ('<img src="data:image/png;base64,AAAA">', []),
    ],
)
def test_a_page_that_loads_from_elsewhere_is_found(tmp_path, text, is_found):
    """External links are allowed, but not external scripts, styles and pictures."""
    page = tmp_path / "page.html"
    page.write_text(text)
    assert docs.loads_from_elsewhere(page) == is_found


def test_every_api_has_a_page_and_its_messages_lead_there():
    """APIs that Kafka has deleted also have a page.

    Other messages than requests and responses do not link to a page.
    """
    pages_ = {f"/apis/{name}" for name in api_pages.apis()}
    led = set()
    for name, kind, *_ in docs.message_rows():
        link = docs.linked(name, kind)
        if kind in ("request", "response"):
            led.add(re.fullmatch(rf":doc:`{name} <(/apis/\w+)>`", link)[1])
        else:
            assert link == name
    assert led == pages_
    source = api_pages.page_source("Fetch", 1)
    assert source.startswith(":orphan:\n\nFetch (API key 1)\n=================\n")


def paths(rows):
    """Yield the dotted path of each row. Depths determine the outer fields."""
    above = []
    for row in rows:
        above[row.depth :] = [row.name]
        yield ".".join(above)


def test_the_pages_of_apis_have_the_fields_that_kwire_schema_shows():
    """The rows of each API page have the same fields as the layout of each version."""
    count = 0
    for name, kind, *_ in docs.message_rows():
        if kind not in ("request", "response"):
            continue
        rows = list(api_pages.field_rows(name))
        listed = list(zip(paths(rows), rows, strict=True))
        for layout in protocol_guide.layouts(registry.load(name)):
            lines = {line.path: line for line in layout.lines() if line.path}
            for version in layout.versions:
                shown = {
                    path: row
                    for path, row in listed
                    if version in VersionRange.from_text(row.versions)
                }
                assert shown.keys() == lines.keys(), (name, version)
                count += len(shown)
            for path, row in shown.items():
                assert bool(row.tag) >= ("<tag: " in lines[path].name), (name, path)
    assert count > 5_000


def test_an_api_page_says_what_the_newest_release_speaks():
    assert api_pages.spoken_text("Fetch") == (
        "Kafka 4.4 supports versions 4-18 of Fetch (listeners: broker, controller);"
        " 0-3 removed in 4.0."
    )
    assert api_pages.spoken_text("StopReplica") == (
        "Kafka 4.4 supports no version of StopReplica; 0-4 removed in 4.0."
    )
    versions, text = api_pages.newest_layout("FetchRequest")
    assert versions == "18" and text.startswith("Fetch Request (Version: 18) => ")
