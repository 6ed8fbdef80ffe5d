# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the part of ``RESULTS.md`` about records."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.codec.figures import Figures, cell, format_verdict
from benchmarks.codec.records.rows import (
    ARROW,
    BATCHES,
    COMPRESS,
    COPY,
    DECOMPRESS,
    LOOP,
    NESTED,
    OBJECTS,
    RECORD_ROWS,
    TITLES,
    TYPED,
    VIEWS,
)
from benchmarks.codec.records.targets import (
    COLUMN_HOLDERS,
    COLUMN_TASKS,
    CRC_ALONE,
    DUMP,
    HELD_TITLE,
    HOLDERS,
    MEMORY,
    SEGMENTS,
    VERIFY,
    VERIFY_SMALL,
    held_title,
    record_verdicts,
    verify_seconds,
)
from benchmarks.harness.tables import table
from benchmarks.harness.work import Row
from benchmarks.workloads import records as workloads

_ABOUT = {
    OBJECTS: """\
A record set from bytes: the CRC is checked, every record is built, and a loop reads
offset, timestamp, key, value and headers of each. In the row where the CRC is not
checked, aiokafka and kafka-python are not asked to check it either. Magic 1 has a
CRC-32 in every message. The compressed batches were written as Java producers write
them: independent lz4 blocks of 64 KB, snappy blocks of 32 KB, no frame with a
size in its header. kio has neither compression nor magic 1. The C loop is
`c_objects.c`: a tuple of each record, and a CRC of the crc32c package.""",
    BATCHES: """\
Tuples of key, value, timestamp and headers to one batch with its CRC. kwire is called
once for all rows; *builder* appends them one by one to a `BatchBuilder`, as the peers
append to theirs. *columns* encodes prepared columns, such as
`columns.decode_records` returns, and is held against the peers' appending, as they know
no columns. kio is given rows too, and builds its record objects from them. Where there
is a level, it is the peer's own; its batch builder takes no other. The C loop of
`c_loop.c` writes the records of columns into memory made beforehand, and copies them
into bytes; the CRC is the crc32c package's.""",
    ARROW: f"""\
A record set to an Arrow record batch, CRC checked. kwire gives offset, timestamp,
timestamp type, key, value and headers. The peers have no such way: their records are
read into lists, and pyarrow makes arrays of these, of offset, timestamp, key and value
only, and of headers in the row that has some. *kwire columns* is
`columns.decode_records`, without the step to pyarrow, and *{VIEWS}*
`records_to_arrow(views=True)`, which leaves keys and values in the input. *{COPY}* is
the yardstick: the bytes of the batch copied once into fresh memory (`bytes(view)`), and
one CRC-32C of them by the crc32c package, which uses the processor's instruction. The C
loop takes the records apart into arrays made beforehand.""",
    DECOMPRESS: """\
kwire decodes a compressed batch to columns: CRC, decompression, and every record taken
apart. Beside it the libraries alone decompress the same bytes into memory that they
find the size of themselves; snappy's blocks are cut for them beforehand. *C loop* is
the CRC, the fastest library, and then a loop in C that takes the records apart into
arrays made beforehand.""",
    COMPRESS: """\
kwire encodes columns to a batch: records written, compressed, CRC. Beside it the
libraries alone compress the same record bytes at the same level; kwire's result may
not be larger than the smallest of theirs by more than 1 %. *C loop* writes the records
into memory made beforehand, has them compressed by the fastest library, and takes the
CRC of the result.""",
    NESTED: """\
Many messages in one Arrow binary array to one nested Arrow array; figures are per
message. *objects* decodes each to a message object of kwire's fast engine. *dicts*
goes on to dicts of the fields, and by `pyarrow.array` to Arrow; *type given* spares
pyarrow the search of the dicts for their type. *kwire*, *kwire views*, which leaves
bytes in the input, and *objects* are given 200 Metadata or Produce or 50,000 Heartbeat
messages, the others 20 or 2,000.""",
}
#: The entries of each table.
_LABELS = {
    OBJECTS: ("kwire", "kwire pure", "aiokafka", "kafka-python", "kio", LOOP),
    BATCHES: (
        "kwire",
        "kwire builder",
        "kwire columns",
        "kwire pure",
        "pure builder",
        "pure columns",
        "aiokafka",
        "kafka-python",
        "kio",
        LOOP,
    ),
    ARROW: (
        "kwire",
        VIEWS,
        "kwire columns",
        "kwire pure",
        "aiokafka",
        "kafka-python",
        COPY,
        LOOP,
    ),
    DECOMPRESS: (
        "kwire",
        "kwire pure",
        "cramjam",
        "zlib",
        "isal",
        "lz4",
        "zstandard",
        LOOP,
    ),
    COMPRESS: ("kwire", "kwire pure", "cramjam", "zlib", "lz4", "zstandard", LOOP),
    NESTED: ("kwire", VIEWS, "kwire pure", "objects", "dicts", TYPED),
}


def _verdicts(figures: Figures, row: Row) -> str:
    """Write all targets of a row and what became of them."""
    entries = dict.fromkeys(target.entry for target in row.targets)
    lines = [f"{entry}: {format_verdict(figures, row, entry)}" for entry in entries]
    return "<br>".join(lines) or "no target"


def _row_tables(figures: Figures) -> Iterator[str]:
    for section, about in _ABOUT.items():
        labels = _LABELS[section]
        lines = [
            [
                row.title,
                *(cell(figures, row, label) for label in labels),
                _verdicts(figures, row),
            ]
            for row in RECORD_ROWS
            if row.section == section
        ]
        parts = [about, table(("µs", *labels, "beside others"), lines)]
        if section == NESTED:
            parts.append(_summary(figures, section))
        yield f"## {section}\n\n" + "\n\n".join(parts)


def _summary(figures: Figures, start: str) -> str:
    """Write the verdicts that no row has, by the start of their names."""
    return "\n".join(
        f"- {verdict.work}: {verdict.reached}; wanted {verdict.wanted}: "
        f"{'met' if verdict.met else '**missed**'}"
        for verdict in record_verdicts(figures)
        if verdict.work.startswith(start)
    )


def _memory_table(figures: Figures) -> str:
    lines = [
        [HELD_TITLE, label, _held(figures, HELD_TITLE, label), "-"] for label in HOLDERS
    ]
    for count in COLUMN_TASKS:
        title = held_title(count)
        for label in COLUMN_HOLDERS:
            blocks = figures.note(MEMORY, title, label, "blocks")
            lines.append([title, label, _held(figures, title, label), f"{blocks:,}"])
    text = (
        "What stays as long as the result is kept, key of 10 B and value of 100 B\n"
        "included: objects by `tracemalloc`, columns by the size of their Arrow\n"
        "buffers, small objects by `sys.getallocatedblocks`."
    )
    head = ("what", "who", "bytes per record", "small objects in all")
    summary = _summary(figures, "small objects")
    return f"## {MEMORY}\n\n{text}\n\n{table(head, lines)}\n\n{summary}"


def _held(figures: Figures, title: str, label: str) -> str:
    return f"{figures.note(MEMORY, title, label, 'held_bytes'):.0f}"


def _segment_table(figures: Figures) -> str:
    def seconds(title: str, entry: str = "kwire") -> str:
        return f"{figures.seconds(SEGMENTS, title, entry, False):.2f} s"

    def memory(title: str) -> str:
        return f"{figures.note(SEGMENTS, title, 'kwire', 'max_rss_bytes') / 1e6:.0f} MB"

    rate = figures.note(SEGMENTS, VERIFY, "kwire", "bytes") / verify_seconds(figures)
    lines = [
        [VERIFY, seconds(VERIFY), memory(VERIFY)],
        [VERIFY_SMALL, seconds(VERIFY_SMALL), memory(VERIFY_SMALL)],
        ["the one less the other", f"{rate / 1e9:.2f} GB/s", "-"],
        [CRC_ALONE, seconds(CRC_ALONE, "crc32c"), "-"],
        [f"{DUMP}, first line", seconds(DUMP), memory(DUMP)],
    ]
    dumped = figures.note(SEGMENTS, DUMP, "kwire", "lines")
    text = (
        "A segment of one batch of 1,000 x 100 B over and over, each with its own\n"
        "base offset, in the page cache. Times are of whole commands, start of the\n"
        "interpreter included; the CRC alone is one call of the crc32c package over\n"
        f"the mapped file, without any start. `kwire dump` is ended after {dumped:,}\n"
        "lines of JSON. Memory is the largest resident size of the process, pages of\n"
        "the mapped file included."
    )
    parts = [text, table(("what", "figure", "memory"), lines)]
    parts.append(_summary(figures, "kwire"))
    return f"## {SEGMENTS}\n\n" + "\n\n".join(parts)


def _work_table() -> str:
    lines = []
    for name, title in TITLES.items():
        count = len(workloads.rows(name))
        sizes = [
            f"{len(workloads.encoded(name, codec)):,}"
            if workloads.magic(name) == 2 or codec == "none"
            else "-"
            for codec in workloads.CODECS
        ]
        lines.append([title, f"{count:,}", *sizes])
    text = (
        "Keys of 10 B; values of JSON with words and numbers; one batch each, but\n"
        "magic 1, where every record is a message. Bytes by compression:"
    )
    head = ("records", "count", *workloads.CODECS)
    return f"## The records\n\n{text}\n\n{table(head, lines)}"


def record_tables(figures: Figures) -> Iterator[str]:
    """Write all that is measured of records."""
    yield "![Median times, records](pictures/records.png)"
    yield _work_table()
    yield from _row_tables(figures)
    yield _memory_table(figures)
    yield _segment_table(figures)
