# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks kwire against live brokers: what it writes is read, what it reads is right.

    python -m tools.interop.broker.live  # 4.x, and 2.8 for magic 0 and 1
    python -m tools.interop.broker.live --version 3.9

kwire speaks to the broker itself, over a plain socket. Its records are read back by
librdkafka, kafka-python and aiokafka, and theirs by kwire: in every codec, through
every version of Produce and Fetch that the broker answers, in all record formats it
stores, and with transactions.
"""

from __future__ import annotations

import argparse
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import kwire
from kwire import backend, error_codes, messages, records
from kwire.connection import ClientConnection, Event, Negotiated, ResponseReceived
from tools.interop.broker import broker as brokers
from tools.interop.broker import clients, old_formats, workloads
from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.clients import Received, Row

ZSTD_PRODUCE, ZSTD_FETCH = 7, 10
TOPIC_ID_PRODUCE, TOPIC_ID_FETCH = 13, 13
FIRST_PRODUCE_WITH_MAGIC_2 = 3
LATEST = -1
FETCHES_OF_MAGIC = {0: (0, 1), 1: (2, 3)}


class Connection:
    """kwire's own connection to a broker: a request out, its response in."""

    def __init__(self, kafka: Broker) -> None:
        self._socket = socket.create_connection(
            (brokers.LOOPBACK, kafka.port), timeout=clients.SECONDS
        )
        self.wire = ClientConnection()
        self._events: Iterator[Event] = iter(())
        self._topic_ids: dict[str, Any] = {}
        event = self.next_event()
        if not isinstance(event, Negotiated):
            raise BrokerError(f"the broker is not to be asked: {event}")
        self.table = event.table

    def close(self) -> None:
        """Close the connection."""
        self.wire.close()
        self._socket.close()

    def next_event(self) -> Event:
        """Send what is to be sent, and wait for what happens next."""
        while (event := next(self._events, None)) is None:
            if data := self.wire.data_to_send():
                self._socket.sendall(data)
            self._events = self.wire.receive_data(self._socket.recv(1 << 16))
        return event

    def ask(self, request: Any, version: int | None = None) -> Any:
        """Send a request and wait for its response.

        Asks again where the broker says "later". What its controller has answered, such
        as a new topic, takes a moment to reach its other parts.
        """
        deadline = time.monotonic() + clients.SECONDS
        while True:
            self.wire.send(request, version)
            event = self.next_event()
            if not isinstance(event, ResponseReceived):
                raise BrokerError(f"{type(request).__name__} {version}: {event}")
            codes = codes_in(kwire.to_json(event.response, event.version))
            later = any(map(error_codes.retriable, codes))
            if not later or time.monotonic() > deadline:
                return event.response
            time.sleep(0.05)

    def versions(self, request_class: Any, lowest: int = 0) -> list[int]:
        """Name the versions of a request that broker and kwire both know."""
        return [v for v in self.table.usable(request_class) if v >= lowest]

    def topic_id(self, topic: str) -> Any:
        """Find the id that newer versions name a topic by."""
        if topic not in self._topic_ids:
            wanted = messages.MetadataRequest.MetadataRequestTopic(name=topic)
            answer = self.ask(messages.MetadataRequest(topics=[wanted]), 12)
            self._topic_ids[topic] = answer.topics[0].topic_id
        return self._topic_ids[topic]

    def produce(
        self, topic: str, data: bytes, version: int, transaction: str | None = None
    ) -> int:
        """Write one record set to partition 0; return the offset it was given."""
        request = messages.ProduceRequest
        partition = request.PartitionProduceData(index=0, records=data)
        named = (
            {"name": topic}
            if version < TOPIC_ID_PRODUCE
            else {"topic_id": self.topic_id(topic)}
        )
        asked = request(
            transactional_id=transaction,
            acks=-1,
            timeout_ms=clients.SECONDS * 1000,
            topic_data=[request.TopicProduceData(partition_data=[partition], **named)],
        )
        result = self.ask(asked, version).responses[0].partition_responses[0]
        check_error(f"Produce {version} to {topic}", result.error_code)
        return int(result.base_offset)

    def fetch(
        self, topic: str, version: int, *, committed: bool = False
    ) -> list[records.Batch]:
        """Read partition 0 from start to end, in answers of a few kilobytes."""
        named = (
            {"topic": topic}
            if version < TOPIC_ID_FETCH
            else {"topic_id": self.topic_id(topic)}
        )
        request = messages.FetchRequest
        batches: list[records.Batch] = []
        offset = 0
        while True:
            partition = request.FetchPartition(
                partition=0, fetch_offset=offset, partition_max_bytes=8192
            )
            answer = self.ask(
                request(
                    max_wait_ms=100,
                    isolation_level=int(committed),
                    topics=[request.FetchTopic(partitions=[partition], **named)],
                ),
                version,
            )
            result = answer.responses[0].partitions[0]
            check_error(f"Fetch {version} of {topic}", result.error_code)
            found = list(
                records.decode_batches(
                    result.records or b"",
                    start_offset=offset,
                    aborted_transactions=(
                        result.aborted_transactions or () if committed else None
                    ),
                )
            )
            if not found:
                return batches
            batches += found
            offset = found[-1].next_offset


def codes_in(answer: Any) -> Iterator[int]:
    """Find the error codes of a response, at any depth of its JSON form."""
    if isinstance(answer, list):
        for each in answer:
            yield from codes_in(each)
    elif isinstance(answer, dict):
        for name, value in answer.items():
            if name.lower().endswith("errorcode"):
                yield value
            else:
                yield from codes_in(value)


def check_error(what: str, code: int) -> None:
    """Fail where the broker answered with an error."""
    if code:
        raise BrokerError(f"{what}: {error_codes.name(code)}")


def expect(what: str, got: Any, wanted: Any) -> None:
    """Fail where something is not what it has to be."""
    if got != wanted:
        raise BrokerError(f"{what} is {got!r}, not {wanted!r}")


def expect_rows(what: str, got: Sequence[Any], wanted: Sequence[Received]) -> None:
    """Compare records one by one."""
    expect(f"{what}: the number of records", len(got), len(wanted))
    for received, row in zip(got, wanted, strict=True):
        fields = received.offset, received.timestamp, received.key, received.value
        headers = [tuple(header) for header in received.headers]
        expect(f"{what}: a record", (*fields, headers), tuple(row))


def numbered(rows: Iterable[Row]) -> list[Received]:
    """Give rows the offsets of a partition that holds nothing else."""
    return [
        Received(offset, row.timestamp, row.key, row.value, row.headers)
        for offset, row in enumerate(rows)
    ]


def all_records(batches: Iterable[records.Batch]) -> list[records.Record]:
    """Take the records out of their batches."""
    return [record for batch in batches for record in batch.records]


def encoded(rows: Iterable[Row], **how: Any) -> bytes:
    """Let kwire encode rows."""
    ordered = ((row.key, row.value, row.timestamp, row.headers) for row in rows)
    return records.encode_batch(ordered, **how)


def check_produce(kafka: Broker, wire: Connection) -> str:
    """Write odd rows through every version of Produce; let all clients read them."""
    versions = wire.versions(messages.ProduceRequest, FIRST_PRODUCE_WITH_MAGIC_2)
    for codec in workloads.CODECS:
        topic = f"from-kwire-{codec}"
        workloads.create_topic(kafka, topic)
        rows: list[Row] = []
        for version in versions:
            if codec != "zstd" or version >= ZSTD_PRODUCE:
                data = encoded(workloads.ODD_ROWS, compression=codec)
                given = wire.produce(topic, data, version)
                expect(f"{topic}: the base offset", given, len(rows))
                rows += workloads.ODD_ROWS
        for client, read in clients.READERS.items():
            expect_rows(
                f"{topic}, read by {client}", read(kafka, topic), numbered(rows)
            )
    return f"Produce {versions[0]}-{versions[-1]} in 5 codecs, read by 3 clients"


def check_fetch(kafka: Broker, wire: Connection) -> str:
    """Let every client write in every codec; read it through every version of Fetch."""
    versions = wire.versions(messages.FetchRequest)
    for codec in workloads.CODECS:
        topic = f"to-kwire-{codec}"
        workloads.create_topic(kafka, topic)
        rows = []
        for client, produce in clients.PRODUCERS.items():
            # The console producer stamps records itself: what it sent is not known.
            if client != "java":
                sent = workloads.rows_for(client)
                produce(kafka, topic, sent, codec, 5)
                rows += sent
        for version in versions:
            if codec != "zstd" or version >= ZSTD_FETCH:
                check_fetched(wire, topic, codec, version, numbered(rows))
    return f"Fetch {versions[0]}-{versions[-1]} in 5 codecs, written by 3 clients"


def check_fetched(
    wire: Connection, topic: str, codec: str, version: int, rows: list[Received]
) -> None:
    """Compare what one version of Fetch returns; old ones cannot carry everything."""
    batches = wire.fetch(topic, version)
    magic = next(
        (old for old in FETCHES_OF_MAGIC if version in FETCHES_OF_MAGIC[old]), 2
    )
    formats = {(batch.magic, batch.compression) for batch in batches}
    # A client leaves a batch as it is that compression would not make smaller.
    formats.discard((magic, "none"))
    wanted = {(magic, codec)} - {(magic, "none")}
    expect(f"{topic}, Fetch {version}: formats", formats, wanted)
    if magic < 2:
        rows = [row._replace(headers=[]) for row in rows]
    if magic < 1:
        rows = [row._replace(timestamp=-1) for row in rows]
    expect_rows(f"{topic}, Fetch {version}", all_records(batches), rows)


def check_transactions(kafka: Broker, wire: Connection) -> str:
    """Let kwire and librdkafka write transactions; compare what is committed."""
    workloads.write_transactions(kafka)
    topic = "transactions"
    for sequence, commit in enumerate((True, False, True)):
        write_transaction(wire, topic, sequence, commit)
    wait_for_ends(wire, topic)
    messages_of = clients.librdkafka_messages(kafka, topic, committed=True)
    wanted = [message.offset() for message in messages_of]
    everything = len(all_records(wire.fetch(topic, 4)))
    versions = wire.versions(messages.FetchRequest, 4)
    for version in versions:
        batches = wire.fetch(topic, version, committed=True)
        offsets = [record.offset for record in all_records(batches)]
        expect(f"read_committed, Fetch {version}: offsets", offsets, wanted)
    return f"{len(wanted)} of {everything} records are committed, as librdkafka says"


def write_transaction(
    wire: Connection, topic: str, sequence: int, commit: bool
) -> None:
    """Write one transaction of two batches with nothing but kwire."""
    name = f"kwire-{sequence}"
    asked = messages.InitProducerIdRequest(
        transactional_id=name, transaction_timeout_ms=60_000
    )
    producer = wire.ask(asked, 4)
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
    """Wait for the markers of all transactions, which are written after the answer."""
    request = messages.ListOffsetsRequest
    wanted = request.ListOffsetsPartition(timestamp=LATEST)
    asked = request(topics=[request.ListOffsetsTopic(name=topic, partitions=[wanted])])
    deadline = time.monotonic() + clients.SECONDS
    while True:
        answers = [
            wire.ask(asked.replace(isolation_level=level), 2).topics[0].partitions[0]
            for level in (1, 0)
        ]
        if answers[0].offset == answers[1].offset:
            return
        if time.monotonic() > deadline:
            raise BrokerError(f"{topic}: transactions that do not end: {answers}")
        time.sleep(0.05)


def check_old_formats(kafka: Broker, wire: Connection) -> str:
    """Write magic 0 and 1 through Produce 0 to 2, and read them back."""
    for magic, versions in ((0, (0, 1)), (1, (2,))):
        for codec in old_formats.CODECS:
            topic = f"from-kwire-magic{magic}-{codec}"
            stored_as = old_formats.VERSIONS[magic]
            workloads.create_topic(kafka, topic, message_format_version=stored_as)
            rows: list[Row] = []
            for version in versions:
                sent = old_formats.rows_without_headers("kwire", 12)
                wire.produce(
                    topic, encoded(sent, magic=magic, compression=codec), version
                )
                rows += sent
            if magic == 0:
                rows = [row._replace(timestamp=-1) for row in rows]
            wanted = numbered(rows)
            for client, read in clients.READERS.items():
                # The broken lz4 header of magic 0 is beyond the clients in Python.
                if client == "librdkafka" or (magic, codec) != (0, "lz4"):
                    expect_rows(
                        f"{topic}, read by {client}", read(kafka, topic), wanted
                    )
            batches = wire.fetch(topic, 11)
            formats = {(batch.magic, batch.compression) for batch in batches}
            expect(f"{topic}: formats", formats, {(magic, codec)})
            expect_rows(f"{topic}, read by kwire", all_records(batches), wanted)
    return "magic 0 and 1 through Produce 0-2 in 4 codecs, read by 3 clients"


CHECKS: list[Callable[[Broker, Connection], str]] = [
    check_produce,
    check_fetch,
    check_transactions,
]


def check(version: str) -> None:
    """Run every check that a release allows."""
    begun = time.monotonic()
    with brokers.running(version) as kafka:
        print(f"Kafka {kafka.release}, kwire's {backend} engine")
        old = [check_old_formats] if kafka.has_zookeeper else []
        wire = Connection(kafka)
        try:
            for each in CHECKS + old:
                print(f"  {each(kafka, wire)}", flush=True)
        finally:
            wire.close()
    print(f"  {time.monotonic() - begun:.0f} s")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", action="append", help="such as 4.x; may repeat")
    try:
        for version in parser.parse_args().version or ["4.x", "2.8"]:
            check(version)
    except BrokerError as error:
        sys.exit(f"live: {error}")


if __name__ == "__main__":
    main()
