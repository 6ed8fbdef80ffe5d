# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Rows for the record tables: tasks, libraries and targets.

If a target does not compare two entries in a row, it is defined in ``targets.py``:
memory, segments and the heartbeat rate.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.harness.work import Entry, Row, Target
from benchmarks.workloads.records import magic

OBJECTS = "Records to objects"
BATCHES = "Rows to a batch"
ARROW = "Records to Arrow"
DECOMPRESS = "Compressed batches to columns"
COMPRESS = "Columns to compressed batches"
NESTED = "Messages to Arrow"
RECORD_SECTIONS = (OBJECTS, BATCHES, ARROW, DECOMPRESS, COMPRESS, NESTED)

#: Workload titles in the report.
TITLES = {
    "1k_100B": "1,000 x 100 B",
    "1k_100B_3hdr": "1,000 x 100 B, 3 headers",
    "1k_1KB": "1,000 x 1 KB",
    "10k_1KB": "10,000 x 1 KB",
    "v1_1k_100B": "1,000 x 100 B, magic 1",
}
#: Compression libraries per codec. isal is only used for decompression, because its
#: compression levels do not correspond to zlib's levels.
LIBRARIES = {
    "gzip": ("cramjam", "zlib", "isal"),
    "snappy": ("cramjam",),
    "lz4": ("cramjam", "lz4"),
    "zstd": ("cramjam", "zstandard"),
}
#: Maximum duration for a codec, relative to the faster library alone.
CODEC_LEAST = {"gzip": 1.25, "snappy": 1.25, "lz4": 1.4, "zstd": 1.25}
#: Maximum decompression time, relative to the faster library followed by the C loop.
LOOP_LEAST = {"gzip": 1.35, "snappy": 1.35, "lz4": 1.5, "zstd": 1.35}
#: Maximum compression time, relative to the C loop followed by the faster library.
JOIN_LEAST = 1.25
COPY = "copy and CRC"
VIEWS = "kwire views"
TYPED = "dicts, type given"
#: Plain C loop that does the same work. For operations that kwire implements with a
#: library, the loop calls a library as well.
LOOP = "C loop"
#: Workloads that the C loops support: magic 2 without headers.
LOOPED = ("1k_100B", "10k_1KB")
NOT_SLOWER = Target("kwire pure", ("kafka-python",), 1)
#: Rows in which kwire does not claim to be faster than kafka-python. Both copy the
#: values of 1 KB, and the remaining work takes longer in kwire.
COPIES = (("10k_1KB", "none"), ("10k_1KB", "lz4"))


def _entries(labels: tuple[str, ...], *task: str | int | bool) -> tuple[Entry, ...]:
    return tuple(Entry(label, f"{label} records", task) for label in labels)


def _loop(*task: str | int) -> Entry:
    return Entry(LOOP, "C loop records", task)


def _object_rows() -> Iterator[Row]:
    plain = ("kwire", "kwire pure", "aiokafka", "kafka-python")

    def row(name: str, codec: str, least: float = 0, check_crc: bool = True) -> Row:
        title = TITLES[name] if codec == "none" else f"{TITLES[name]}, {codec}"
        with_kio = codec == "none" and check_crc and magic(name) == 2
        labels = (*plain, "kio") if with_kio else plain
        targets = (Target("kwire", ("aiokafka",), least),) if least else ()
        entries = _entries(labels, "decode_objects", name, codec, check_crc)
        if codec == "none" and check_crc and name in LOOPED:
            entries = (*entries, _loop("build_records", name))
            wish = "2.5x aiokafka" if name == "10k_1KB" else ""
            targets = (*targets, Target("kwire", (LOOP,), 1 / 1.25, wish))
        claimed = (name, codec) not in COPIES
        return Row(
            OBJECTS,
            title if check_crc else f"{title}, CRC not checked",
            entries,
            (*targets, NOT_SLOWER) if claimed else targets,
            () if claimed else (NOT_SLOWER,),
        )

    yield row("1k_100B", "none", 2.2)
    yield row("1k_100B", "none", check_crc=False)
    yield row("1k_100B_3hdr", "none")
    yield row("10k_1KB", "none", 2)
    yield row("v1_1k_100B", "none", 3)
    for name in ("1k_100B", "10k_1KB"):
        for codec in LIBRARIES:
            yield row(name, codec)


def _batch_row(name: str, rows_least: float, loop_most: float, wish: float) -> Row:
    task = (name, "none", 0)
    peers = ("aiokafka", "kafka-python")
    if magic(name) == 2:
        peers = (*peers, "kio")
    entries = [*_entries(("kwire", "kwire pure", *peers), "encode_rows", *task)]
    # In this task, kafka-python receives the fields separately, but the pure engine has
    # to unpack rows. Only claim that it is not slower for small records.
    claimed = name == "1k_100B"
    targets = [NOT_SLOWER] if claimed else []
    unclaimed = [] if claimed else [NOT_SLOWER]
    unclaimed.append(Target("pure builder", ("kafka-python",), 1))
    for engine, prefix in (("kwire", "kwire"), ("kwire pure", "pure")):
        worker = f"{engine} records"
        entries.append(Entry(f"{prefix} builder", worker, ("append_rows", name)))
        if magic(name) == 2:
            columns = Entry(f"{prefix} columns", worker, ("encode_columns", *task))
            entries.append(columns)
    if magic(name) == 2:
        unclaimed.append(Target("pure columns", ("kafka-python",), 1))
    if rows_least:
        targets.append(Target("kwire", ("aiokafka",), rows_least))
    if name in LOOPED:
        entries.append(_loop("join_records", name))
        hoped = f"{wish}x the fastest peer"
        targets.append(Target("kwire columns", (LOOP,), 1 / loop_most, hoped))
    return Row(BATCHES, TITLES[name], tuple(entries), tuple(targets), tuple(unclaimed))


def _batch_rows() -> Iterator[Row]:
    yield _batch_row("1k_100B", 3, 2, 8)
    yield _batch_row("1k_100B_3hdr", 3, 0, 0)
    yield _batch_row("10k_1KB", 3, 1.25, 7)
    yield _batch_row("v1_1k_100B", 0, 0, 0)
    # Use the peers' own compression levels, because their builders have no parameter
    # for the level.
    kwire, both = ("kwire", "kwire pure"), ("aiokafka", "kafka-python")
    for codec, level, peers in (
        ("gzip", 9, both),
        ("snappy", 0, both),
        ("lz4", 9, ("aiokafka",)),
        ("lz4", 1, ("kafka-python",)),
        ("zstd", 3, both),
    ):
        title = f"{TITLES['1k_100B']}, {codec}"
        yield Row(
            BATCHES,
            f"{title} level {level}" if level else title,
            _entries((*kwire, *peers), "encode_rows", "1k_100B", codec, level),
            (NOT_SLOWER,) if "kafka-python" in peers else (),
        )


def _arrow_rows() -> Iterator[Row]:
    labels = ("kwire", "kwire pure", "aiokafka", "kafka-python")
    for name, least in (("1k_100B", 11), ("1k_100B_3hdr", 0), ("10k_1KB", 10)):
        claimed = name == "1k_100B"
        targets = [NOT_SLOWER] if claimed else []
        if least:
            targets.append(Target("kwire", ("aiokafka",), least))
        if name == "10k_1KB":
            targets.append(Target("kwire", (COPY,), 1 / 1.9))
            targets.append(Target(VIEWS, (COPY,), 1))
        entries = (
            *_entries(labels, "decode_arrow", name),
            Entry(VIEWS, "kwire records", ("decode_arrow", name, True)),
            Entry("kwire columns", "kwire records", ("decode_columns", name, "none")),
            Entry(COPY, "libraries", ("copy_and_crc", name)),
        )
        if name in LOOPED:
            entries = (*entries, _loop("split_records", name))
        unclaimed = () if claimed else (NOT_SLOWER,)
        yield Row(ARROW, TITLES[name], entries, tuple(targets), unclaimed)


def _codec_row(
    section: str, title: str, codec: str, kwire: tuple[str | int, ...], library: str
) -> Row:
    libraries = LIBRARIES[codec]
    if section == COMPRESS:
        libraries = tuple(name for name in libraries if name != "isal")
    entries = (
        *_entries(("kwire", "kwire pure"), *kwire),
        *(Entry(name, "libraries", (library, *kwire[1:], name)) for name in libraries),
    )
    # The library alone neither parses nor writes records, therefore the loop does this
    # work.
    if section == DECOMPRESS:
        loop, most = "split_compressed", LOOP_LEAST[codec]
    else:
        loop, most = "join_compressed", JOIN_LEAST
    wish = f"at most {CODEC_LEAST[codec]} of the library alone"
    targets = (Target("kwire", (LOOP,), 1 / most, wish),)
    return Row(section, title, (*entries, _loop(loop, *kwire[1:])), targets)


def _codec_rows() -> Iterator[Row]:
    for name in ("1k_100B", "10k_1KB"):
        for codec in LIBRARIES:
            title = f"{TITLES[name]}, {codec}"
            task = ("decode_columns", name, codec)
            yield _codec_row(DECOMPRESS, title, codec, task, "decompress")
    for name in ("1k_100B", "1k_1KB"):
        for codec, level in (
            ("gzip", 6),
            ("snappy", 0),
            ("lz4", 1),
            ("lz4", 9),
            ("zstd", 3),
        ):
            title = f"{TITLES[name]}, {codec}"
            title = f"{title} level {level}" if level else title
            task = ("encode_columns", name, codec, level)
            yield _codec_row(COMPRESS, title, codec, task, "compress")


def _nested_rows() -> Iterator[Row]:
    # Slow entries convert fewer messages, which is possible because every figure is the
    # time per message.
    for title, name, many, few, least in (
        ("Metadata response v9", "metadata_v9", 200, 20, 60),
        ("Heartbeat request v4", "heartbeat_v4", 50_000, 2_000, 0),
    ):
        entries = (
            Entry("kwire", "kwire records", ("messages_to_arrow", name, many)),
            Entry("kwire pure", "kwire pure records", ("messages_to_arrow", name, few)),
            Entry("objects", "kwire records", ("messages_to_objects", name, many)),
            Entry("dicts", "kwire records", ("messages_to_dicts", name, few, False)),
            Entry(TYPED, "kwire records", ("messages_to_dicts", name, few, True)),
        )
        targets = (Target("kwire", ("dicts",), least),) if least else ()
        yield Row(NESTED, title, entries, targets)
    task = ("messages_to_arrow", "produce_v9", 200)
    entries = (
        Entry("kwire", "kwire records", task),
        Entry(VIEWS, "kwire records", (*task, True)),
        Entry("kwire pure", "kwire pure records", (*task[:2], 20)),
        Entry("objects", "kwire records", ("messages_to_objects", *task[1:])),
    )
    targets = (Target(VIEWS, ("kwire",), 4),)
    yield Row(NESTED, "Produce request v9, 100 KB of records", entries, targets)


RECORD_ROWS = (
    *_object_rows(),
    *_batch_rows(),
    *_arrow_rows(),
    *_codec_rows(),
    *_nested_rows(),
)
