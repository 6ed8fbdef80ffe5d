# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Rows for the message tables: tasks, libraries and targets.

This module contains the rows for messages and varints. The rows for records and
connections are in ``records/rows.py`` and ``connections/rows.py``. If a target does not
compare two entries in a row, it is defined in ``targets.py``: memory, import time and
size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.codec.connections.rows import CONNECTION_ROWS
from benchmarks.codec.records.rows import RECORD_ROWS
from benchmarks.harness.work import Entry, Row, Target
from benchmarks.workloads.messages import RECORD_SIZES

DECODE = "Decode"
ENCODE = "Encode"
FRAME = "Build, encode and frame"
VARINTS = "Bulk varints"
ATTRIBUTES = "Attribute reads"
ZERO_COPY = "Decode with zero_copy"

#: C code that is specialized for one message, but creates Python objects like kwire.
LOOP = "C loop"
WISH = "the time of a Rust codec, which creates no Python objects"

#: kio and kafka-python support all rows. aiokafka is only included for the versions
#: that it implements.
PEERS = ("kio", "kafka-python")
ALL_PEERS = (*PEERS, "aiokafka")


@dataclass(frozen=True)
class _Message:
    """Message with the minimum speedups for decoding and encoding.

    A speedup of None means that there is no target.
    """

    title: str
    workload: str
    peers: tuple[str, ...] = PEERS
    decode_least: float | None = None
    encode_least: float | None = None
    # Maximum decoding time, relative to C code that is specialized for this message.
    loop_most: float | None = None


_MESSAGES = (
    _Message("ApiVersions response v3", "api_versions_v3", PEERS, 2.5, 50),
    _Message("Metadata response v9", "metadata_v9", PEERS, 3.5, 40),
    _Message("Metadata response v9, 100 brokers", "metadata_v9_wide", PEERS, 3.5, 40),
    _Message(
        "Metadata response v9, ids over 1000", "metadata_v9_ids", PEERS, loop_most=1.3
    ),
    _Message("Fetch response v12", "fetch_v12", PEERS, 2.2, 50),
    _Message("Produce request v9", "produce_v9", PEERS, 1.4, 25),
    _Message("OffsetFetch response v8", "offset_fetch_v8", PEERS, 2.5, 25, 1.5),
    _Message("OffsetCommit request v8", "offset_commit_v8", PEERS, 2.2, 25),
    _Message("Heartbeat request v4", "heartbeat_v4", PEERS, 2.5, 25),
    _Message("Metadata response v5", "metadata_v5", ALL_PEERS),
    _Message("Fetch response v11", "fetch_v11", ALL_PEERS),
    _Message("Produce request v8", "produce_v8", ALL_PEERS),
    _Message("OffsetCommit request v3", "offset_commit_v3", ALL_PEERS),
    _Message("Heartbeat request v1", "heartbeat_v1", ALL_PEERS),
)


def _message_row(
    section: str,
    message: _Message,
    operation: str,
    rivals: tuple[str, ...],
    least: float | None,
) -> Row:
    labels = ("kwire", "kwire pure", *message.peers)
    task = (operation, message.workload)
    targets = [Target("kwire pure", ("kafka-python",), 1 / 1.25)]
    if least:
        targets.insert(0, Target("kwire", rivals, least))
    entries = [Entry(label, label, task) for label in labels]
    if section == DECODE and message.loop_most:
        entries.append(Entry(LOOP, "C loop messages", task))
        targets.append(Target("kwire", (LOOP,), 1 / message.loop_most, WISH))
    return Row(section, message.title, tuple(entries), tuple(targets))


def _message_rows() -> Iterator[Row]:
    for message in _MESSAGES:
        least = message.decode_least
        yield _message_row(DECODE, message, "decode", ("kio",), least)
    for message in _MESSAGES:
        least = message.encode_least
        yield _message_row(ENCODE, message, "encode", message.peers, least)
    for message in _MESSAGES:
        if message.workload.startswith("heartbeat"):
            least = message.encode_least
            yield _message_row(FRAME, message, "frame", message.peers, least)


def _varint_rows() -> Iterator[Row]:
    labels = ("kwire", "kwire pure", *ALL_PEERS, "C loop")
    targets = (
        Target("kwire", ALL_PEERS, 10),
        Target("kwire", ("C loop",), 1 / 1.5),
    )
    for operation in ("decode", "encode"):
        for kind in ("unsigned_varint", "varint"):
            for count in (1_000, 100_000):
                task = (f"{operation}_integers", kind, count)
                yield Row(
                    VARINTS,
                    f"{operation} {count:,} {kind}s",
                    tuple(Entry(label, label, task) for label in labels),
                    targets,
                )


def _attribute_row() -> Row:
    return Row(
        ATTRIBUTES,
        "one field of a decoded partition",
        (
            Entry("kwire", "kwire", ("read_struct",)),
            Entry("kwire pure", "kwire pure", ("read_struct",)),
            Entry("__slots__ class", "kwire", ("read_slots",)),
        ),
        (Target("kwire", ("__slots__ class",), 1 / 1.3),),
    )


def _zero_copy_rows() -> Iterator[Row]:
    # Decoding with views must not be slower than kio, and must be twice as fast for
    # Produce.
    for message, title, least, loop_size, loop_most, wish in (
        ("produce_v9", "Produce request v9", 2.0, 1_000, 2.2, "3 µs"),
        ("fetch_v12", "Fetch response v12", 1.0, 200, 3.1, "the plain decode's time"),
    ):
        loop = Entry(LOOP, "C loop views", ("read_views",))
        wish = f"{wish}. The loop creates as many memoryviews, but no message"
        beside = Target("kwire zero_copy", (LOOP,), 1 / loop_most, wish)
        for size in RECORD_SIZES:
            workload = f"{message}_{size}"
            yield Row(
                ZERO_COPY,
                f"{title}, records of {size:,} B",
                (
                    Entry("kwire zero_copy", "kwire", ("decode_zero_copy", workload)),
                    Entry("kwire", "kwire", ("decode", workload)),
                    Entry("kio", "kio", ("decode", workload)),
                    *((loop,) if size == loop_size else ()),
                ),
                (
                    Target("kwire zero_copy", ("kio",), least),
                    *((beside,) if size == loop_size else ()),
                ),
            )


MESSAGE_ROWS = (
    *_message_rows(),
    *_varint_rows(),
    _attribute_row(),
    *_zero_copy_rows(),
)
ROWS = (*MESSAGE_ROWS, *RECORD_ROWS, *CONNECTION_ROWS)
