# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Connect kwire to a broker over a plain socket, and compare results.

Requests are sent in a specified version. A request is repeated only if the response
contains a retriable error code.
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
    """Blocking connection of kwire that sends one request and waits for its response.

    ``table`` is the negotiated version table. Raises ``BrokerError`` if the negotiation
    fails.
    """

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
        """Close the connection and its socket."""
        self.wire.close()
        self._socket.close()

    def next_event(self) -> Event:
        """Send pending bytes and receive bytes until there is an event.

        Returns the event.
        """
        while (event := next(self._events, None)) is None:
            if data := self.wire.data_to_send():
                self._socket.sendall(data)
            self._events = self.wire.receive_data(self._socket.recv(1 << 16))
        return event

    def ask(self, request: Any, version: int | None = None) -> Any:
        """Send a request and return its response.

        The request is repeated if the response contains a retriable error, because
        changes made by the controller, such as a new topic, reach the other parts of
        the broker later.
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
        """Return the versions from ``lowest`` that the broker and kwire support."""
        return [v for v in self.table.usable(request_class) if v >= lowest]

    def topic_id(self, topic: str) -> Any:
        """Return the id of a topic. Newer requests contain it instead of the name."""
        if topic not in self._topic_ids:
            wanted = messages.MetadataRequest.MetadataRequestTopic(name=topic)
            answer = self.ask(messages.MetadataRequest(topics=[wanted]), 12)
            self._topic_ids[topic] = answer.topics[0].topic_id
        return self._topic_ids[topic]

    def produce(
        self, topic: str, data: bytes, version: int, transaction: str | None = None
    ) -> int:
        """Write encoded records to partition 0.

        Returns the base offset that was assigned.

        ``transaction`` is the transactional id, or None.
        """
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
        """Read all batches of partition 0, with at most 8 KiB per response.

        ``committed`` selects the isolation level read_committed.
        """
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
    """Yield all error codes in the JSON form of a response, at any depth."""
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
    """Raise ``BrokerError`` with the error's name if an error code is not 0."""
    if code:
        raise BrokerError(f"{what}: {error_codes.name(code)}")


def expect(what: str, got: Any, wanted: Any) -> None:
    """Raise ``BrokerError`` if a value is not the expected value.

    ``what`` names the value.
    """
    if got != wanted:
        raise BrokerError(f"{what} is {got!r}, not {wanted!r}")


def expect_rows(what: str, got: Sequence[Any], wanted: Sequence[Received]) -> None:
    """Raise ``BrokerError`` if the received and the expected records differ."""
    expect(f"{what}: the number of records", len(got), len(wanted))
    for received, row in zip(got, wanted, strict=True):
        fields = received.offset, received.timestamp, received.key, received.value
        headers = [tuple(header) for header in received.headers]
        expect(f"{what}: a record", (*fields, headers), tuple(row))


def numbered(rows: Iterable[Row]) -> list[Received]:
    """Assign consecutive offsets to rows, as in a partition without other records."""
    return [
        Received(offset, row.timestamp, row.key, row.value, row.headers)
        for offset, row in enumerate(rows)
    ]


def all_records(batches: Iterable[records.Batch]) -> list[records.Record]:
    """Return the records of all batches."""
    return [record for batch in batches for record in batch.records]


def encoded(rows: Iterable[Row], **how: Any) -> bytes:
    """Encode rows as one record batch with kwire.

    ``how`` contains further arguments of ``encode_batch``.
    """
    ordered = ((row.key, row.value, row.timestamp, row.headers) for row in rows)
    return records.encode_batch(ordered, **how)
