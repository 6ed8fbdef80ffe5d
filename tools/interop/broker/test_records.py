# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check that other clients read kwire's records, and kwire reads their records.

kwire communicates with the broker over a plain socket. librdkafka, kafka-python and
aiokafka read kwire's records, and kwire reads their records: with all codecs, all
Produce and Fetch versions that the broker supports, all record formats that the broker
stores, and with transactions.
"""

from __future__ import annotations

import time

import pytest

from kwire import messages
from tools.interop.broker import clients, old_formats, workloads
from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.clients import Received, Row
from tools.interop.broker.wire import (
    FIRST_PRODUCE_WITH_MAGIC_2,
    Connection,
    all_records,
    check_error,
    encoded,
    expect,
    expect_rows,
    numbered,
)

ZSTD_PRODUCE, ZSTD_FETCH = 7, 10
LATEST = -1
FETCHES_OF_MAGIC = {0: (0, 1), 1: (2, 3)}


@pytest.mark.releases("4.x", "2.8")
def test_clients_read_what_kwire_writes(kafka: Broker, wire: Connection) -> None:
    """Other clients read the records that kwire writes with each Produce version."""
    versions = wire.versions(messages.ProduceRequest, FIRST_PRODUCE_WITH_MAGIC_2)
    for codec in workloads.CODECS:
        topic = f"from-kwire-{codec}"
        workloads.create_topic(kafka, topic)
        rows: list[Row] = []
        for version in versions:
            if codec != "zstd" or version >= ZSTD_PRODUCE:
                data = encoded(workloads.ODD_ROWS, compression=codec)
                base_offset = wire.produce(topic, data, version)
                expect(f"{topic}: the base offset", base_offset, len(rows))
                rows += workloads.ODD_ROWS
        for client, read in clients.READERS.items():
            expect_rows(
                f"{topic}, read by {client}", read(kafka, topic), numbered(rows)
            )
    print(f"Produce {versions[0]}-{versions[-1]} in 5 codecs, read by 3 clients")


@pytest.mark.releases("4.x", "2.8")
def test_kwire_reads_what_clients_write(kafka: Broker, wire: Connection) -> None:
    """Records of each client and codec are read with each Fetch version."""
    versions = wire.versions(messages.FetchRequest)
    for codec in workloads.CODECS:
        topic = f"to-kwire-{codec}"
        workloads.create_topic(kafka, topic)
        rows = []
        for client, produce in clients.PRODUCERS.items():
            # The console producer sets its own timestamps, so its records cannot be
            # compared.
            if client != "java":
                written_rows = workloads.rows_for(client)
                produce(kafka, topic, written_rows, codec, 5)
                rows += written_rows
        for version in versions:
            if codec != "zstd" or version >= ZSTD_FETCH:
                check_fetched(wire, topic, codec, version, numbered(rows))
    print(f"Fetch {versions[0]}-{versions[-1]} in 5 codecs, written by 3 clients")


def check_fetched(
    wire: Connection, topic: str, codec: str, version: int, rows: list[Received]
) -> None:
    """Compare the records and formats that one Fetch version returns.

    Old versions return old record formats, which lack headers (magic 0 and 1) and
    timestamps (magic 0).
    """
    batches = wire.fetch(topic, version)
    magic = next(
        (old for old in FETCHES_OF_MAGIC if version in FETCHES_OF_MAGIC[old]), 2
    )
    formats = {(batch.magic, batch.compression) for batch in batches}
    # Clients store a batch uncompressed if compression would not reduce its size.
    formats.discard((magic, "none"))
    expected = {(magic, codec)} - {(magic, "none")}
    expect(f"{topic}, Fetch {version}: formats", formats, expected)
    if magic < 2:
        rows = [row._replace(headers=[]) for row in rows]
    if magic < 1:
        rows = [row._replace(timestamp=-1) for row in rows]
    expect_rows(f"{topic}, Fetch {version}", all_records(batches), rows)


@pytest.mark.releases("4.x", "2.8")
def test_committed_records_are_those_of_librdkafka(
    kafka: Broker, wire: Connection
) -> None:
    """Committed records are the same as for librdkafka, with each Fetch version.

    Both clients have written committed and aborted transactions.
    """
    workloads.write_transactions(kafka)
    topic = "transactions"
    for sequence, commit in enumerate((True, False, True)):
        write_transaction(wire, topic, sequence, commit)
    wait_for_ends(wire, topic)
    messages_of = clients.librdkafka_messages(kafka, topic, committed=True)
    expected = [message.offset() for message in messages_of]
    everything = len(all_records(wire.fetch(topic, 4)))
    versions = wire.versions(messages.FetchRequest, 4)
    for version in versions:
        batches = wire.fetch(topic, version, committed=True)
        offsets = [record.offset for record in all_records(batches)]
        expect(f"read_committed, Fetch {version}: offsets", offsets, expected)
    print(f"{len(expected)} of {everything} records are committed, as librdkafka says")


def write_transaction(
    wire: Connection, topic: str, sequence: int, commit: bool
) -> None:
    """Write two batches in one transaction with kwire's connection, and end it."""
    name = f"kwire-{sequence}"
    request = messages.InitProducerIdRequest(
        transactional_id=name, transaction_timeout_ms=60_000
    )
    producer = wire.ask(request, 4)
    check_error("InitProducerId", producer.error_code)
    identity = {
        "producer_id": producer.producer_id,
        "producer_epoch": producer.producer_epoch,
    }
    add = messages.AddPartitionsToTxnRequest
    partition = add.AddPartitionsToTxnTopic(name=topic, partitions=[0])
    added = wire.ask(
        add(
            v3_and_below_transactional_id=name,
            v3_and_below_producer_id=producer.producer_id,
            v3_and_below_producer_epoch=producer.producer_epoch,
            v3_and_below_topics=[partition],
        ),
        3,
    )
    result = added.results_by_topic_v3_and_below[0].results_by_partition[0]
    check_error("AddPartitionsToTxn", result.partition_error_code)
    rows = workloads.numbered_rows(name, 5)
    for codec, first in (("none", 0), ("gzip", len(rows))):
        how = {"compression": codec, "base_sequence": first, **identity}
        wire.produce(topic, encoded(rows, is_transactional=True, **how), 8, name)
    end = messages.EndTxnRequest(transactional_id=name, committed=commit, **identity)
    check_error("EndTxn", wire.ask(end, 3).error_code)


def wait_for_ends(wire: Connection, topic: str) -> None:
    """Wait until the transaction markers of a topic have been written.

    The coordinator answers EndTxn before it has written the markers.
    """
    request = messages.ListOffsetsRequest
    partition = request.ListOffsetsPartition(timestamp=LATEST)
    offsets_request = request(
        topics=[request.ListOffsetsTopic(name=topic, partitions=[partition])]
    )
    deadline = time.monotonic() + clients.SECONDS
    while True:
        answers = [
            wire.ask(offsets_request.replace(isolation_level=level), 2)
            .topics[0]
            .partitions[0]
            for level in (1, 0)
        ]
        if answers[0].offset == answers[1].offset:
            return
        if time.monotonic() > deadline:
            raise BrokerError(f"{topic}: transactions that do not end: {answers}")
        time.sleep(0.05)


@pytest.mark.parametrize("version", ["2.8"])
def test_magic_0_and_1_are_written_and_read(kafka: Broker, wire: Connection) -> None:
    """Old formats are written with Produce 0 to 2. Later versions require magic 2."""
    for magic, versions in ((0, (0, 1)), (1, (2,))):
        for codec in old_formats.CODECS:
            topic = f"from-kwire-magic{magic}-{codec}"
            stored_as = old_formats.VERSIONS[magic]
            workloads.create_topic(kafka, topic, message_format_version=stored_as)
            rows: list[Row] = []
            for version in versions:
                written_rows = old_formats.rows_without_headers("kwire", 12)
                wire.produce(
                    topic,
                    encoded(written_rows, magic=magic, compression=codec),
                    version,
                )
                rows += written_rows
            if magic == 0:
                rows = [row._replace(timestamp=-1) for row in rows]
            expected = numbered(rows)
            for client, read in clients.READERS.items():
                # In magic 0, the checksum of the lz4 frame header is incorrect
                # (KIP-57). kafka-python and aiokafka cannot read it.
                if client == "librdkafka" or (magic, codec) != (0, "lz4"):
                    expect_rows(
                        f"{topic}, read by {client}", read(kafka, topic), expected
                    )
            batches = wire.fetch(topic, 11)
            formats = {(batch.magic, batch.compression) for batch in batches}
            expect(f"{topic}: formats", formats, {(magic, codec)})
            expect_rows(f"{topic}, read by kwire", all_records(batches), expected)
    print("magic 0 and 1 through Produce 0-2 in 4 codecs, read by 3 clients")
