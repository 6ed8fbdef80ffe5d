# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Draws a byte map as a tree: structs, arrays, values and decompressed records.

Array elements have a summary on their line. Records in a compressed batch have no
positions in the input, so their lines refer to the batch's bytes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ... import records
from ..._text import format_count
from ...errors import KwireError
from ...explain import Span
from .byte_map_rows import value_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...records import Record

_MANY = 40
"""Maximum size of an array whose elements are initially unfolded."""

_MOST_UNPACKED, _MOST_UNPACKED_IN_ALL = 500, 5_000
"""Maximum number of decompressed records that the page shows.

* ``_MOST_UNPACKED``: for one batch.
* ``_MOST_UNPACKED_IN_ALL``: for all batches together.
"""

_MOST_SUMMARIZED = 3
_LONGEST_VALUE = 40

LOOKS = {
    **dict.fromkeys(("number", "bool"), "n"),
    "text": "t",
    **dict.fromkeys(("bytes", "unknown", "compressed", "cut"), "y"),
    **dict.fromkeys(("uuid", "timestamp", "checksum"), "o"),
    "structure": "s",
    **dict.fromkeys(("damaged", "unread"), "x"),
}
"""CSS class by span kind. The names are short, because a page contains them three times
per value.
"""

_SUMMARIZED_KINDS = ("number", "bool", "text", "uuid")
_SUMMARIZED_FIELDS = {
    "offset_delta": ("offset_delta", "key", "value"),
    "batch_length": ("base_offset", "attributes", "records"),
    "message_size": ("offset", "key", "value"),
}
"""Fields that summarize a record, a batch or a message. The key is a field by which the
struct is recognized.
"""

_STEP = re.compile(r"\[\d+\]|[^.\[\]]+")


class TreeLine(NamedTuple):
    """Tree line.

    * ``kind``: "open" and "close" for a node with children, "leaf" for a value,
      "unpacked" for a value in a decompressed record, or "more" for the count of
      omitted records.
    * ``number``: index of the span that the line shows, or -1.
    * ``first``: lowest index of the spans below a node, or -1.
    * ``last``: highest index of the spans below a node, or -1.
    """

    kind: str
    name: str = ""
    number: int = -1
    looks: str = ""
    type: str = ""
    value: str = ""
    first: int = -1
    last: int = -1
    is_open: bool = False
    summary: str = ""


def draw_tree(data: bytes, spans: Sequence[Span]) -> Iterator[TreeLine]:
    """Yield the tree lines for an input from top to bottom."""
    tree = _Tree(data, spans)
    for root in tree.roots:
        yield from tree.node(root, True)


class _Node:
    """Node of a path tree, which represents one step of field paths.

    * ``own``: indexes of the spans whose path ends at this node.
    * ``below``: child nodes by the name of their step.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.own: list[int] = []
        self.below: dict[str, _Node] = {}

    def add(self, steps: Sequence[str], number: int) -> None:
        node = self
        for step in steps:
            node = node.below.setdefault(step, _Node(step))
        node.own.append(number)

    def ends(self) -> tuple[int, int]:
        """Return the lowest and the highest span index in this node and below it."""
        span_numbers = list(self.own)
        if self.below:
            children = list(self.below.values())
            span_numbers += children[0].ends()[0], children[-1].ends()[1]
        return min(span_numbers), max(span_numbers)


class _Tree:
    """Spans of an input as trees of their field paths, with one root for each part."""

    def __init__(self, data: bytes, spans: Sequence[Span]) -> None:
        self.roots: list[_Node] = []
        self._data = data
        self._spans = spans
        self._unpacked_left = _MOST_UNPACKED_IN_ALL
        part = None
        for number, span in enumerate(spans):
            if span.part != part or (span.part, span.path) == ("frame", "size"):
                part = span.part
                self.roots.append(_Node(part))
            self.roots[-1].add(_STEP.findall(span.path) or [span.kind], number)

    def node(self, node: _Node, is_open: bool) -> Iterator[TreeLine]:
        """Yield the lines for a node and its children."""
        if not node.below:
            yield from self._leaves(node.name, node.own)
            return
        first, last = node.ends()
        # Show counts, tags and sizes before the children, because they precede them in
        # the input. Show unreadable bytes after the children.
        before = [n for n in node.own if self._spans[n].kind == "structure"]
        line = TreeLine("open", node.name, first=first, last=last, is_open=is_open)
        if before:
            line = self._with_value(line, before[0])
        yield line._replace(summary=self._summary(node))
        yield from self._leaves(node.name, before[1:])
        few = len(node.below) <= _MANY
        for child in node.below.values():
            yield from self.node(child, few)
        yield from self._leaves(node.name, [n for n in node.own if n not in before])
        yield TreeLine("close")

    def _leaves(self, name: str, numbers: Sequence[int]) -> Iterator[TreeLine]:
        for number in numbers:
            if self._spans[number].kind == "compressed":
                yield from self._draw_batch(name, number)
            else:
                yield self._with_value(TreeLine("leaf", name), number)

    def _with_value(self, line: TreeLine, number: int) -> TreeLine:
        return _with_value(line, number, self._spans[number])

    def _summary(self, node: _Node) -> str:
        """Summarize an array element. Other nodes have an empty summary."""
        if node.name[0] != "[":
            return ""
        spans_by_name = {
            name: self._spans[below.own[0]]
            for name, below in node.below.items()
            if below.own
        }
        for mark, names in _SUMMARIZED_FIELDS.items():
            if mark in spans_by_name:
                return _summary_text(
                    [spans_by_name[name] for name in names if name in spans_by_name]
                )
        summary_spans = [
            span
            for name, span in spans_by_name.items()
            if span.kind in _SUMMARIZED_KINDS
            and span.value is not None
            and (name, span.value) != ("error_code", 0)
            and not node.below[name].below
        ]
        return _summary_text(summary_spans[:_MOST_SUMMARIZED])

    def _draw_batch(self, name: str, number: int) -> Iterator[TreeLine]:
        """Yield the lines for the records in a compressed batch.

        If the batch cannot be decompressed, yields only the line for its bytes.
        """
        unpacked_records, count = self._unpack_batch(number)
        if not unpacked_records:
            yield self._with_value(TreeLine("leaf", name), number)
            return
        whole = TreeLine("open", name, first=number, last=number)
        yield self._with_value(
            whole._replace(is_open=len(unpacked_records) <= _MANY), number
        )
        for index, record in enumerate(unpacked_records):
            spans = list(_record_spans(record))
            summary = _summary_text(spans[:_MOST_SUMMARIZED])
            yield whole._replace(name=f"[{index}]", summary=summary)
            for span in spans:
                line = _with_value(TreeLine("unpacked", span.path), number, span)
                yield line._replace(type="")
            yield TreeLine("close")
        if count > len(unpacked_records):
            more = format_count(count - len(unpacked_records), "record")
            yield TreeLine("more", value=f"{more} more")
        yield TreeLine("close")

    def _unpack_batch(self, number: int) -> tuple[list[Record], int]:
        """Decompress a batch. Returns its first records, and their total count."""
        first = number
        while first and self._spans[first - 1].owner == self._spans[number].owner:
            first -= 1
        start, end = self._spans[first].position, self._spans[number].end
        batch_records: list[Record] = []
        try:
            for batch in records.decode_batches(
                self._data, position=start, end=end, check_crc=False
            ):
                batch_records += batch.records
        except (KwireError, ImportError):
            # Decompression failed. The span itself already describes the error.
            return [], 0
        shown = batch_records[: min(_MOST_UNPACKED, self._unpacked_left)]
        self._unpacked_left -= len(shown)
        return shown, len(batch_records)


def _with_value(line: TreeLine, number: int, span: Span) -> TreeLine:
    return line._replace(
        number=number, looks=LOOKS[span.kind], type=span.type, value=value_text(span)
    )


def _summary_text(spans: Sequence[Span]) -> str:
    words = []
    for span in spans:
        name = span.path.rpartition(".")[2]
        text = value_text(span)
        if name in ("offset_delta", "attributes"):
            # Show the meaning of these fields, which is the absolute offset or the name
            # of the codec, because it is more useful than the number.
            words.append(str(span.meaning))
        elif name == "records":
            words.append(format_count(int(str(span.value)), "record"))
        elif len(text) > _LONGEST_VALUE:
            words.append(f"{name} {text[:_LONGEST_VALUE]}…")
        else:
            words.append(f"{name} {text}")
    return ", ".join(words)


def _record_spans(record: Record) -> Iterator[Span]:
    """Yield a span for each value in a decompressed record.

    The spans have no position, because the values have no bytes in the input.
    """

    def span(path: str, type: str, value: object, kind: str) -> Span:
        meaning = value if kind == "timestamp" else None
        return Span(0, 0, "", path, "", type, value, kind, meaning)

    # The summary of a record consists of its first three spans, so their order matters.
    yield span("offset", "INT64", record.offset, "number")
    yield span("key", "BYTES", record.key, "bytes")
    yield span("value", "BYTES", record.value, "bytes")
    yield span("timestamp", "INT64", record.timestamp, "timestamp")
    for index, (name, value) in enumerate(record.headers):
        yield span(f"headers[{index}].key", "STRING", name, "text")
        yield span(f"headers[{index}].value", "BYTES", value, "bytes")
