# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decoder that only knows the documentation of a message.

``read_layout`` parses a layout that the protocol guide prints, and ``Reader`` decodes
bytes according to this layout. If the printed layout is incomplete or wrong, decoding
fails. The decoder does not use kwire.
"""

import re
import struct
from typing import NamedTuple

FIXED = {
    "BOOLEAN": 1,
    "INT8": 1,
    "INT16": 2,
    "UINT16": 2,
    "INT32": 4,
    "UINT32": 4,
    "INT64": 8,
    "FLOAT64": 8,
    "UUID": 16,
}
LINE = re.compile(r"( *)(.+?)(?:<tag: (\d+)>)? =>(?: (.*?))?(?:  # (.*))?", re.ASCII)


class Node(NamedTuple):
    """One line of a printed layout.

    * ``name``: name of the field or struct.
    * ``tag``: tag of a tagged field, otherwise None.
    * ``definition``: type, or the names of the nested fields.
    * ``notes``: words in parentheses, such as "nullable".
    * ``below``: nodes of the lines that are indented below this line.
    """

    name: str
    tag: int | None
    definition: str
    notes: list
    below: list


def read_layout(text):
    """Parse a printed layout, and return the node of its first line."""
    stack = []
    for line in text.splitlines():
        indent, name, tag, definition, notes = LINE.fullmatch(line).groups()
        node = Node(
            name,
            None if tag is None else int(tag),
            definition or "",
            (notes or "").split(", "),
            [],
        )
        depth = len(indent) // 2
        del stack[depth:]
        if stack:
            stack[-1].below.append(node)
        stack.append(node)
    return stack[0]


class Reader:
    """Decodes bytes with the tree of nodes that ``read_layout`` returns.

    If the bytes do not match the tree, a method raises AssertionError or IndexError.
    """

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        assert 0 <= size <= len(self.data) - self.at
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, form):
        return struct.unpack(">" + form, self.take(struct.calcsize(form)))[0]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def fields(self, node):
        """Decode the fields that a line lists, in order.

        Return a dict by field name.
        """
        below = {child.name: child for child in node.below}
        values = {}
        for word in node.definition.split():
            if word == "_tagged_fields":
                tagged = {child.tag: child for child in node.below}
                for _ in range(self.varint()):
                    tag, size = self.varint(), self.varint()
                    end = self.at + size
                    if tag in tagged:
                        values[tagged[tag].name] = self.value(tagged[tag])
                    else:
                        self.take(size)
                    assert self.at == end
                continue
            name = word.strip("[]")
            assert word.startswith("[") == any("ARRAY" in n for n in below[name].notes)
            assert below[name].tag is None
            values[name] = self.value(below[name])
        return values

    def value(self, node):
        """Decode the value that a line describes.

        Return a list if the line describes an array, and None if the value is null.
        """
        nullable = "nullable" in node.notes
        if "COMPACT_ARRAY" in node.notes:
            count = self.varint() - 1
        elif "ARRAY" in node.notes:
            count = self.number("i")
        else:
            return self.element(node, nullable)
        assert count >= 0 or nullable
        return None if count < 0 else [self.element(node, False) for _ in range(count)]

    def element(self, node, nullable):
        """Decode one value or array element of the type that a line describes.

        If it is ``nullable`` and null, return None.
        """
        kind = node.definition
        if node.below or not kind.isupper():
            if nullable:
                # A nullable struct starts with a varint if it is tagged, otherwise with
                # an INT8.
                marker = self.varint() if node.tag is not None else self.number("b")
                if marker == (-1 if node.tag is None else 0):
                    return None
            return self.fields(node)
        if kind in FIXED:
            return self.take(FIXED[kind])
        compact = kind.startswith("COMPACT_")
        rest = kind.removeprefix("COMPACT_")
        base = rest.removeprefix("NULLABLE_")
        if compact:
            size = self.varint() - 1
        else:
            size = self.number("h" if base == "STRING" else "i")
        assert base in ("STRING", "BYTES", "RECORDS")
        assert size >= 0 or nullable or rest.startswith("NULLABLE_")
        return None if size < 0 else self.take(size)


def names_of(value):
    """Reduce decoded values or Kafka's JSON to field names.

    Return the same nested dicts and lists, with None instead of every other value.
    """
    if isinstance(value, dict):
        return {
            name.replace("_", "").lower(): names_of(inner)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [names_of(inner) for inner in value]
    return None
