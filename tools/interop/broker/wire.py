# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""kwire's own connection to a broker over a plain socket, and what checks compare.

A request goes out in a chosen version, and its response comes back. Nothing is retried
but responses whose error code says "later".
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import kwire
from kwire import error_codes, messages, records
from kwire.connection import ClientConnection, Event, Negotiated, ResponseReceived
from tools.interop.broker import broker as brokers
from tools.interop.broker import clients
from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.clients import Received, Row

TOPIC_ID_PRODUCE, TOPIC_ID_FETCH = 13, 13
FIRST_PRODUCE_WITH_MAGIC_2 = 3


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
