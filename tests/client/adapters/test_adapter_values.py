# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""With the adapter, a client decodes the same records from fetched bytes.

Compares all fields with their types, the position after every record, and the errors,
for all formats, codecs and transactions, and for damaged bytes. An adapter must only
change the speed.
"""

import itertools
import random
import sys

import pytest
from kafka import TopicPartition

from kwire.records import encode_batch, read_batch_header
from tests.client.adapters.fetched import (
    CLIENTS,
    Aborted,
    is_same,
    kafka_fetcher,
    read_both,
)
from tests.harness.golden_records import bytes_of
from tests.harness.sweeps import sweep
from tests.records.hostile_records import FAMILIES, take
from tests.records.record_bytes import batch, record
from tests.records.record_sets import ABORT, COMMIT, SETS, marker, transactional

pytestmark = pytest.mark.usefixtures("decode_everything")

TRANSACTIONS = b"".join(
    (
        transactional(7, 0, b"a", b"b"),
        transactional(8, 2, b"c"),
        batch(record(value=b"idempotent"), base_offset=3, producer_id=7),
        marker(ABORT, 7, 4),
        transactional(7, 5, b"d"),
        marker(COMMIT, 8, 6),
        transactional(8, 7, b"e", b"f"),
        marker(ABORT, 8, 9),
        batch(record(value=b"plain"), base_offset=10),
        marker(COMMIT, 7, 11),
    )
)
ABORTED = [Aborted(8, 7), Aborted(7, 0)]


def serve(data, offset):
    """Return the bytes that a broker returns for a Fetch at ``offset``.

    They start with the batch that contains the offset.
    """
    position = 0
    while (header := read_batch_header(data, position)) and header.last_offset < offset:
        position += header.size
    return data[position:]


@pytest.fixture(params=CLIENTS)
def client(request):
    """Name of the client library: "kafka-python" or "aiokafka"."""
    return request.param


@sweep("name", sorted(SETS))
@sweep("check_crcs", [True, False])
def test_each_format_reads_as_without_the_adapter(client, name, check_crcs):
    """Covers all magics and codecs, wrapped messages, headers, gaps, empty batches."""
    for offset in (0, 7, 102, 10**6):
        for committed in (False, True):
            original, adapted = read_both(
                client,
                serve(SETS[name], offset),
                offset=offset,
                committed=committed,
                check_crcs=check_crcs,
            )
            assert adapted == original


@sweep("name", sorted(bytes_of()))
def test_batches_of_kafkas_classes_read_as_without_the_adapter(client, name):
    """The batches were encoded by Kafka's own classes."""
    original, adapted = read_both(client, bytes_of()[name])
    assert adapted == original


@pytest.mark.parametrize("offset", range(13))
def test_transactions_hide_the_same_records(client, offset):
    """Covers aborted transactions, control batches, and a commit after an abort."""
    for committed, aborted in itertools.product((False, True), ((), ABORTED)):
        original, adapted = read_both(
            client,
            serve(TRANSACTIONS, offset),
            offset=offset,
            committed=committed,
            aborted=aborted,
        )
        assert adapted == original
    assert original.error is None


def test_committed_reads_omit_aborted_records(client):
    """Checks that the previous tests contain aborted records."""
    uncommitted, _ = read_both(client, TRANSACTIONS)
    committed, _ = read_both(client, TRANSACTIONS, committed=True, aborted=ABORTED)
    assert len(uncommitted.records) == 8
    assert len(committed.records) == 4


def test_batches_keep_their_kind_of_timestamps_and_their_epoch(client):
    """A run has batches with the same timestamp type and the same leader epoch.

    Each record therefore keeps the timestamp and the epoch of its batch.
    """
    data = b"".join(
        batch(
            record(timestamp=4),
            record(1, 9),
            attributes=8 * (number % 3 == 0),
            max_timestamp=70 + number,
            leader_epoch=number // 2,
            base_offset=2 * number,
        )
        for number in range(12)
    )
    original, adapted = read_both(client, data)
    assert adapted == original
    assert len(original.records) == 24


def test_fetches_of_many_runs_read_as_without_the_adapter(client):
    """The bytes need more than one run.

    Batches were compacted, and the last batch is incomplete.
    """
    parts = [
        encode_batch(
            [(b"k%d" % row, bytes(900), row) for row in range(20)],
            base_offset=30 * number,
            last_offset=30 * number + 29,
        )
        for number in range(20)
    ]
    data = b"".join(parts)
    for end in (len(data), len(data) - 1, len(data) - len(parts[-1]) + 11):
        original, adapted = read_both(client, serve(data[:end], 35), offset=35)
        assert adapted == original
    assert len(original.records) > 300


def test_runs_without_records_move_the_position(client):
    """Empty and control batches must not be read again forever."""
    data = b"".join(
        (
            batch(base_offset=0, last_delta=9),
            marker(COMMIT, 5, 10),
            batch(base_offset=11, last_delta=3),
        )
    )
    for committed in (False, True):
        original, adapted = read_both(client, data, committed=committed)
        assert adapted == original
        assert original.records == []


def test_metrics_of_kafka_python_count_all_records_and_nearly_all_bytes():
    """At most 20 bytes per record are not counted, and no byte is counted twice."""
    rows = [(b"k" * n, b"v" * 3 * n, 10**12 * n, [("h", None)]) for n in range(50)]
    data = encode_batch([*rows, (None, None)])

    def count():
        part = kafka_fetcher.Fetcher.PartitionRecords(
            0, TopicPartition("topic", 0), kafka_fetcher.MemoryRecords(data)
        )
        part.take()
        return part.records_read, part.bytes_read

    original = count()
    with CLIENTS["kafka-python"]:
        adapted = count()
    assert adapted[0] == original[0] == 51
    assert original[1] - 20 * 51 <= adapted[1] <= original[1]


def test_a_damaged_batch_loses_no_record_before_it(client):
    """The client returns the earlier records, and then raises its own error."""
    good = encode_batch([(b"k", b"v")] * 3)
    bad = bytearray(encode_batch([(b"k", b"v")] * 3, base_offset=3))
    bad[-1] ^= 1
    original, adapted = read_both(client, good + bytes(bad) + good)
    assert adapted == original
    assert len(adapted.records) == 3
    assert "Corrupt" in adapted.error[0].__name__
    original, adapted = read_both(client, good + bytes(bad), check_crcs=False)
    assert adapted == original


def test_damage_after_transactions_loses_no_record(client):
    """The client continues with the aborted producers that kwire has seen.

    The last batch before the damage is from a producer with an aborted earlier batch.
    """
    fields = {"attributes": 0x10, "producer_id": 7, "leader_epoch": 1}
    good = TRANSACTIONS + batch(record(value=b"g"), base_offset=12, **fields)
    bad = bytearray(batch(record(value=b"h"), base_offset=13, **fields))
    bad[-1] ^= 1
    for data in (good + bad, good + good[:20]):
        original, adapted = read_both(
            client, bytes(data), committed=True, aborted=ABORTED
        )
        assert adapted == original
        assert len(original.records) == 5


@pytest.mark.parametrize("family", FAMILIES)
def test_hostile_bytes_read_as_without_the_adapter(client, family):
    """Records, positions and errors are the same as without the adapter."""
    dice = random.Random(family)
    compared = 0
    for data in map(bytes, take(family, 150)):
        original, adapted = read_both(
            client,
            data,
            committed=dice.random() < 0.5,
            check_crcs=dice.random() < 0.7,
            aborted=[Aborted(7, 0), Aborted(9, 3)][: dice.randrange(3)],
        )
        compared += 1
        assert is_same(client, original, adapted), data.hex()
    assert compared > 50


def test_a_codec_that_the_client_lacks_is_read_by_kwire(client, monkeypatch):
    """With the adapter, the client reads a codec whose library is missing.

    Without the adapter, it raises an error.
    """
    package = "kafka" if client == "kafka-python" else "aiokafka"
    codec = sys.modules[f"{package}.codec"]
    monkeypatch.setattr(codec, "has_zstd", lambda: False)
    data = encode_batch([(b"k", b"v")] * 3, compression="zstd")
    original, adapted = read_both(client, data)
    assert "UnsupportedCodec" in original.error[0].__name__
    assert adapted.error is None
    assert len(adapted.records) == 3
