# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a report's HTML page as a browser does: tags, texts and data attributes."""

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "wbr", "input"}


class PageReader(HTMLParser):
    """Notes every tag with its attributes and the text right in it; checks nesting."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags = []
        self._open = []
        self.feed(html)
        self.close()
        assert self._open == [], "tags that are not closed"

    def handle_starttag(self, tag, attributes):
        """Note a tag."""
        names = [name for name, _ in attributes]
        assert len(set(names)) == len(names), f"{tag} has an attribute twice"
        self.tags.append((tag, dict(attributes), []))
        if tag not in VOID:
            self._open.append(self.tags[-1])

    def handle_startendtag(self, tag, attributes):
        """Note a tag that closes itself, as those of SVG may."""
        self.tags.append((tag, dict(attributes), []))

    def handle_endtag(self, tag):
        """See that the right tag ends."""
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        """Give text to the tag that it is in."""
        if self._open:
            self._open[-1][2].append(data)

    def find(self, tag, **attributes):
        """List (attributes, text) of tags; ``data_row`` finds ``data-row``."""
        wanted = {
            name.rstrip("_").replace("_", "-"): value
            for name, value in attributes.items()
        }
        return [
            (found, "".join(text))
            for name, found, text in self.tags
            if name == tag
            and all(
                key in found and value in (found[key], ...)
                for key, value in wanted.items()
            )
        ]

    def table(self, name):
        """Return the rows of a table as lists of raw values; a missing one is None."""
        rows, inside = [], False
        for tag, attributes, _ in self.tags:
            if tag == "table":
                inside = attributes["data-table"] == name
            elif inside and tag == "tr":
                rows.append([])
            elif inside and tag == "td" and "colspan" not in attributes:
                rows[-1].append(attributes.get("data-value"))
        return [row for row in rows if row]
