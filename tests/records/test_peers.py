# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Exchanges records between kwire, aiokafka, kafka-python and kio.

Every library decodes batches from kwire, and kwire decodes batches from every library,
for every magic, compression and feature that it supports. Clients that use sockets are
tested in ``test_clients.py``, and Kafka itself in ``test_vectors.py``.
"""

import io
import warnings
from datetime import UTC, datetime
from typing import Any, NamedTuple

import aiokafka.record.default_records
import aiokafka.record.legacy_records
import aiokafka.record.memory_records
import kio.records.readers
import kio.records.schema
import kio.records.writers
import pytest

from tests.harness.sweeps import sweep

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    # kafka-python uses a deprecated function when it is imported.
    import kafka.record.default_records
    import kafka.record.legacy_records
    import kafka.record.memory_records

pytestmark = pytest.mark.gate_on_pure

NAMES = ("none", "gzip", "snappy", "lz4", "zstd")
# Only librdkafka supports lz4 in magic 0, see ``test_clients.py``.
CODECS = {0: NAMES[:3], 1: NAMES[:4], 2: NAMES}
TIME = 1_600_000_000_000


class Peer(NamedTuple):
    """The classes of one library that read and write batches."""

    memory_records: Any
    batch_builder: Any
    legacy_builder: Any


PEERS = {
    library.__name__: Peer(
        library.record.memory_records.MemoryRecords,
        library.record.default_records.DefaultRecordBatchBuilder,
        library.record.legacy_records.LegacyRecordBatchBuilder,
    )
    for library in (aiokafka, kafka)
}


class Case(NamedTuple):
    """Batch to encode.

    * ``magic``: format of the batch.
    * ``codec``: compression.
    * ``feature``: name of the tested feature.
    * ``rows``: tuples of (offset, timestamp, key, value, headers).
    * ``options``: further arguments of ``encode_batch``.
    """

    magic: int
    codec: str
    feature: str
    rows: tuple
    options: dict


PLAIN = (
    (0, TIME, b"key", b"value", ()),
    (1, TIME - 5, None, b"", ()),
    (2, TIME + 70_000, b"", None, ()),
    (3, TIME, None, None, ()),
    (4, TIME + 1, bytes(300), bytes(9000), ()),
)
MANY = tuple((n, TIME + n, b"key-%d" % n, b"value %d" % n * 9, ()) for n in range(300))
HOLES = tuple((n, TIME, b"k", b"v", ()) for n in (70, 71, 100, 20_000))
HEADERS = (
    (0, TIME, b"k", b"v", (("größe", b"\0\xff"), ("dup", b"1"), ("dup", b"2"))),
    (1, TIME, b"k", b"v", (("", b""), ("null", None))),
    (2, TIME, b"k", b"v", tuple((f"h{n}", b"x" * n) for n in range(70))),
)
PRODUCER = {"producer_id": 2**40, "producer_epoch": 3, "base_sequence": 2**31 - 2}


def cases():
    """Yield a Case for every feature, in every magic and codec that supports it."""
    for magic, codecs in CODECS.items():
        for codec in codecs:
            yield Case(magic, codec, "plain", PLAIN, {})
            yield Case(magic, codec, "many", MANY, {})
            yield Case(magic, codec, "holes", HOLES, {})
            if magic:
                options = {"log_append_time": TIME + 10**6}
                yield Case(magic, codec, "log append time", PLAIN, options)
            if magic == 2:
                yield Case(2, codec, "headers", HEADERS, {})
                yield Case(2, codec, "idempotent", PLAIN, PRODUCER)
                options = {**PRODUCER, "is_transactional": True}
                yield Case(2, codec, "transactional", PLAIN, options)
                offset_options = {"last_offset": 30_000, "base_offset": 7}
                yield Case(2, codec, "compacted", HOLES, offset_options)
                yield Case(2, codec, "leader epoch", PLAIN, LEADER_EPOCH)
                yield Case(2, codec, "delete horizon", PLAIN, DELETE_HORIZON)


LEADER_EPOCH = {"partition_leader_epoch": 7}
DELETE_HORIZON = {"delete_horizon": TIME + 86_400_000}


def title(value):
    if isinstance(value, Case):
        return f"{value.magic}-{value.codec}-{value.feature}"
    return None


def expected_rows(case):
    """Return the rows that a reader must return for a case.

    Magic 0 and log append time replace the timestamps.
    """
    stamp = case.options.get("log_append_time")
    if case.magic == 0:
        stamp = -1
    if stamp is None:
        return list(case.rows)
    return [(row[0], stamp, *row[2:]) for row in case.rows]


def written_by_kwire(kwire, case):
    """Encode the rows of a case with kwire."""
    names = ("offset", "timestamp", "key", "value", "headers")
    rows = [
        kwire.records.Record(**dict(zip(names, row, strict=True))) for row in case.rows
    ]
    options = {"base_offset": rows[0].offset, **case.options}
    return kwire.records.encode_batch(
        rows, magic=case.magic, compression=case.codec, **options
    )


def read_by_kwire(kwire, data):
    """Decode all records with kwire, as objects and as columns, which must be equal.

    Return the rows.
    """
    rows = [
        (r.offset, r.timestamp, r.key, r.value, r.headers)
        for batch in kwire.records.decode_batches(data)
        for r in batch.records
    ]
    columns = kwire.records.columns.decode_records(data)
    assert columns.offset.tolist() == [row[0] for row in rows]
    assert columns.timestamp.tolist() == [row[1] for row in rows]
    assert list(columns.key) == [row[2] for row in rows]
    assert list(columns.value) == [row[3] for row in rows]
    pairs = [pair for row in rows for pair in row[4]]
    assert [name.decode() for name in columns.headers.key] == [p[0] for p in pairs]
    assert list(columns.headers.value) == [pair[1] for pair in pairs]
    return rows


def batches_of(peer, data):
    """Decode all batches with a peer. Return (batch, rows) for each of them."""
    records = peer.memory_records(data)
    batches = []
    while records.has_next():
        batch = records.next_batch()
        assert batch.validate_crc()
        rows = [
            (
                record.offset,
                -1 if record.timestamp is None else record.timestamp,
                record.key,
                record.value,
                tuple((name, value) for name, value in record.headers or ()),
            )
            for record in batch
        ]
        batches.append((batch, rows))
    return batches


@sweep("case", list(cases()), ids=title)
@sweep("name", list(PEERS))
def test_a_peer_reads_what_kwire_wrote(kwire, name, case):
    """A peer decodes the records, checksum and batch fields that kwire has encoded."""
    data = written_by_kwire(kwire, case)
    batches = batches_of(PEERS[name], data)
    assert [row for _, rows in batches for row in rows] == expected_rows(case)
    if case.magic == 2:
        ((batch, _),) = batches
        last = case.options.get("last_offset", case.rows[-1][0])
        producer = (batch.producer_id, batch.producer_epoch, batch.base_sequence)
        names = ("producer_id", "producer_epoch", "base_sequence")
        assert producer == tuple(
            case.options.get(field_name, -1) for field_name in names
        )
        assert batch.next_offset == last + 1
        assert batch.compression_type == NAMES.index(case.codec)
        assert batch.is_transactional == ("is_transactional" in case.options)
        assert batch.timestamp_type == int("log_append_time" in case.options)
        assert not batch.is_control_batch


def written_by_peer(peer, case):
    """Encode a case with the builder of a peer."""
    codec = NAMES.index(case.codec)
    if case.magic == 2:
        names = ("is_transactional", "producer_id", "producer_epoch", "base_sequence")
        options = [case.options.get(name, -1) for name in names[1:]]
        transactional = case.options.get("is_transactional", False)
        builder = peer.batch_builder(2, codec, transactional, *options, 1 << 20)
    else:
        builder = peer.legacy_builder(case.magic, codec, 1 << 20)
    for offset, timestamp, key, value, headers in case.rows:
        # aiokafka's legacy builder does not accept a headers argument.
        arguments = [list(headers)] if case.magic == 2 else []
        assert builder.append(offset, timestamp, key, value, *arguments) is not None
    return bytes(builder.build())


BUILT = ("plain", "many", "headers", "idempotent", "transactional")
"""Features that the batch builders of all peers support."""


@sweep("case", [case for case in cases() if case.feature in BUILT], ids=title)
@sweep("name", list(PEERS))
def test_kwire_reads_what_a_peer_wrote(kwire, name, case):
    """Records and batch fields that a peer has encoded are decoded with kwire.

    Objects and columns are compared.
    """
    data = written_by_peer(PEERS[name], case)
    assert read_by_kwire(kwire, data) == expected_rows(case)
    batches = list(kwire.records.decode_batches(data))
    assert {batch.compression for batch in batches} == {case.codec}
    assert {batch.magic for batch in batches} == {case.magic}
    for name, value in case.options.items():
        assert [getattr(batch, name) for batch in batches] == [value]


@pytest.mark.parametrize("name", list(PEERS))
def test_a_peer_reads_a_set_of_batches_with_a_cut_end(kwire, name):
    """A peer reads all batches of a record set whose last batch is truncated.

    The batches use all compressions. Brokers truncate the last batch of a Fetch
    response, because its size is limited.
    """
    peer = PEERS[name]
    for magic, codecs in CODECS.items():
        rows = [Case(magic, codec, "plain", PLAIN, {}) for codec in codecs]
        encoded = [written_by_kwire(kwire, case) for case in rows]
        data = b"".join(encoded) + encoded[0][:20]
        rows_read = [
            row for _, batch_rows in batches_of(peer, data) for row in batch_rows
        ]
        assert rows_read == [row for case in rows for row in expected_rows(case)]
        assert read_by_kwire(kwire, data) == rows_read


@pytest.mark.parametrize("name", list(PEERS))
def test_a_peer_sees_control_batches(kwire, name):
    """Every peer recognizes a transaction marker as a control batch."""
    for kind in (0, 1):
        key, value = bytes([0, 0, 0, kind]), bytes(6)
        data = kwire.records.encode_batch(
            [(key, value, TIME)],
            is_transactional=True,
            is_control=True,
            producer_id=7,
            producer_epoch=0,
        )
        records = PEERS[name].memory_records(data)
        batch = records.next_batch()
        assert batch.validate_crc()
        assert batch.is_control_batch and batch.is_transactional
        assert batch.producer_id == 7
        (record,) = batch
        assert (record.key, record.value) == (key, value)


@pytest.mark.parametrize("name", list(PEERS))
def test_a_peer_reads_a_conversion(kwire, name):
    """Every peer decodes a converted batch to the records that the conversion keeps."""
    for case in cases():
        for target in (0, 1, 2):
            if case.codec not in CODECS[target]:
                continue
            data, _ = kwire.records.convert_batches(
                written_by_kwire(kwire, case), target
            )
            append_time = case.options.get("log_append_time") if target else None
            options = {} if append_time is None else {"log_append_time": append_time}
            rows = case.rows
            if target < 2:
                rows = tuple((*row[:4], ()) for row in rows)
            converted_case = Case(
                min(case.magic, target), case.codec, "", rows, options
            )
            rows_read = [
                row
                for _, batch_rows in batches_of(PEERS[name], data)
                for row in batch_rows
            ]
            assert rows_read == expected_rows(converted_case)


# kio supports uncompressed magic 2, with timestamps in whole seconds.
SECONDS = tuple((n, TIME + 1000 * n, *row[2:]) for n, row in enumerate(PLAIN + HEADERS))


def test_kio_reads_what_kwire_wrote(kwire):
    """Batches of kwire are decoded by kio to the same records and batch fields."""
    case = Case(2, "none", "", SECONDS, {**PRODUCER, **LEADER_EPOCH})
    data = written_by_kwire(kwire, case)
    batch, size = kio.records.readers.read_batch(data, 0)
    assert size == len(data)
    assert [
        (
            record.offset,
            round(record.timestamp.timestamp() * 1000),
            record.key,
            record.value,
            tuple((header.key.decode(), header.value) for header in record.headers),
        )
        for record in batch.records
    ] == list(SECONDS)
    for name, value in case.options.items():
        assert getattr(batch, name) == value
    assert batch.base_timestamp == TIME
    assert batch.max_timestamp == SECONDS[-1][1]
    assert batch.last_offset_delta == len(SECONDS) - 1


def test_kwire_writes_and_reads_the_bytes_of_kio(kwire):
    """The bytes of kio and of kwire are equal, and kwire decodes them."""
    schema = kio.records.schema
    batch = schema.NewRecordBatch(
        **PRODUCER,
        attributes=0,
        records=tuple(
            schema.Record(
                attributes=0,
                timestamp=datetime.fromtimestamp(timestamp / 1000, UTC),
                offset=offset,
                key=key,
                value=value,
                headers=tuple(
                    schema.RecordHeader(key=name.encode(), value=content)
                    for name, content in headers
                ),
            )
            for offset, timestamp, key, value, headers in SECONDS
        ),
    )
    kio.records.writers.write_new_batch(buffer := io.BytesIO(), batch)
    options = {**PRODUCER, "partition_leader_epoch": 0}
    case = Case(2, "none", "", SECONDS, options)
    assert buffer.getvalue() == written_by_kwire(kwire, case)
    assert read_by_kwire(kwire, buffer.getvalue()) == list(SECONDS)
