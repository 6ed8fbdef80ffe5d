# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decode fetched bytes with a client's fetcher, without a broker.

A ``Reading`` contains everything that the fetcher and its users see: the records with
their field types, the position after every record, and the error. If the client's own
code and the adapter read the same bytes, their readings must be equal.
"""

import logging
import warnings
from typing import Any, NamedTuple

from aiokafka.consumer import fetcher as aiokafka_fetcher

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    # Importing kafka-python uses a deprecated API to read package resources.
    import kafka
    from kafka.consumer import fetcher as kafka_fetcher

from kwire.client import adapters

TOPIC, PARTITION = "values", 3
CLIENTS = {"kafka-python": adapters.kafka_python, "aiokafka": adapters.aiokafka}
"""Adapters by client."""


class Reading(NamedTuple):
    """Result of decoding fetched bytes with a client.

    * ``records``: the result of ``describe`` for each record, in order.
    * ``positions``: the position of the consumer after each record.
    * ``end``: the position after the last record.
    * ``error``: the class and the text of the exception, or None.
    """

    records: list[Any]
    positions: list[Any]
    end: Any
    error: Any


class Aborted(NamedTuple):
    """Aborted transaction in a Fetch response."""

    producer_id: int
    first_offset: int


def read(client, data, **options):
    """Decode fetched bytes as ``client`` does, and return a ``Reading``.

    The adapter is used if it is installed.
    """
    logging.disable()
    try:
        return (_read_kafka if client == "kafka-python" else _read_aiokafka)(
            data, **options
        )
    finally:
        logging.disable(logging.NOTSET)


def read_both(client, data, **options):
    """Decode fetched bytes without and with the adapter, and return both readings."""
    assert not CLIENTS[client].is_installed
    original = read(client, data, **options)
    with CLIENTS[client] as adapter:
        assert adapter.is_installed
        return original, read(client, data, **options)


def _drop_text(reading):
    """Remove the error text.

    aiokafka reads beyond the end of damaged records, so its text contains arbitrary
    memory.
    """
    return reading._replace(error=reading.error and reading.error[0])


def is_same(client, original, adapted):
    """Return whether the readings are equal.

    The error texts of aiokafka are not compared.
    """
    if client == "aiokafka":
        return _drop_text(original) == _drop_text(adapted)
    return original == adapted


def drain(client, data, committed):
    """Decode fetched bytes to their end, and discard the records."""
    if client == "kafka-python":
        _make_kafka(data, committed=committed).take()
    else:
        list(_make_aiokafka(data, committed=committed))


def _make_kafka(
    data, offset=0, aborted=(), committed=False, check_crcs=True, key=None, value=None
):
    if int(kafka.__version__.partition(".")[0]) < 3:
        aborted = [tuple(transaction) for transaction in aborted]
    return kafka_fetcher.Fetcher.PartitionRecords(
        offset,
        kafka.TopicPartition(TOPIC, PARTITION),
        kafka_fetcher.MemoryRecords(data),
        key_deserializer=key,
        value_deserializer=value,
        check_crcs=check_crcs,
        isolation_level=int(committed),
        aborted_transactions=aborted,
    )


def _read_kafka(data, **options):
    part = _make_kafka(data, **options)

    def state():
        return part.next_fetch_offset, part.leader_epoch, bool(part)

    return _read_all(lambda: part.take(1), state)


def _make_aiokafka(
    data, offset=0, aborted=(), committed=False, check_crcs=True, key=None, value=None
):
    return aiokafka_fetcher.PartitionRecords(
        aiokafka_fetcher.TopicPartition(TOPIC, PARTITION),
        aiokafka_fetcher.MemoryRecords(data),
        [tuple(transaction) for transaction in aborted],
        offset,
        key,
        value,
        check_crcs,
        int(committed),
    )


def _read_aiokafka(data, **options):
    part = _make_aiokafka(data, **options)

    def take():
        return [record for record in [next(part, None)] if record is not None]

    return _read_all(take, lambda: part.next_fetch_offset)


def _read_all(take, state):
    records, positions, error = [], [], None
    try:
        while next_records := take():
            records += map(describe, next_records)
            positions.append(state())
    except Exception as failure:
        error = type(failure), str(failure)
    return Reading(records, positions, state(), error)


def describe(record):
    """Return a record's class, and a (type, value) pair for each of its fields."""
    names = getattr(record, "_fields", None) or record.__dataclass_fields__
    values = [getattr(record, name) for name in names]
    return type(record), [(type(value), value) for value in values]
