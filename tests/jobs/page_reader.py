# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Parse the HTML page of a report: tags, text and data attributes."""

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "wbr", "input"}


class PageReader(HTMLParser):
    """Record every tag of an HTML page as (name, attributes, text), in order.

    The text excludes the text of nested tags. Wrong nesting raises AssertionError.
    """

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags = []
        self._open = []
        self.feed(html)
        self.close()
        assert self._open == [], "tags that are not closed"

    def handle_starttag(self, tag, attributes):
        """Record a tag."""
        names = [name for name, _ in attributes]
        assert len(set(names)) == len(names), f"{tag} has an attribute twice"
        self.tags.append((tag, dict(attributes), []))
        if tag not in VOID:
            self._open.append(self.tags[-1])

    def handle_startendtag(self, tag, attributes):
        """Record a self-closing tag, as in SVG."""
        self.tags.append((tag, dict(attributes), []))

    def handle_endtag(self, tag):
        """Check that the end tag matches the last open tag."""
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        """Add text to the current tag."""
        if self._open:
            self._open[-1][2].append(data)

    def find(self, tag, **attributes):
        """Return (attributes, text) of all tags with a name and attribute values.

        In attribute names, underscores are replaced: ``data_row`` is ``data-row``. The
        value ... matches any value.
        """
        expected = {
            name.rstrip("_").replace("_", "-"): value
            for name, value in attributes.items()
        }
        return [
            (tag_attributes, "".join(text))
            for name, tag_attributes, text in self.tags
            if name == tag
            and all(
                key in tag_attributes and value in (tag_attributes[key], ...)
                for key, value in expected.items()
            )
        ]

    def table(self, name):
        """Return the raw values of a table as one list of strings per row.

        A cell without a raw value is None.
        """
        rows, inside = [], False
        for tag, attributes, _ in self.tags:
            if tag == "table":
                inside = attributes["data-table"] == name
            elif inside and tag == "tr":
                rows.append([])
            elif inside and tag == "td" and "colspan" not in attributes:
                rows[-1].append(attributes.get("data-value"))
        return [row for row in rows if row]
