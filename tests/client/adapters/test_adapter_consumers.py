# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A program receives the same from a consumer with and without the adapter.

A script runs twice with one broker. Both runs must record the same records, positions
and errors. This protects operations between two records in a batch: seek, pause,
positions, deserializers that raise, and installing or removing the adapter.
"""

import dataclasses
import itertools

import pytest

from kwire.records import encode_batch
from tests.client.adapters.consumers import CONSUMERS, Broker
from tests.client.adapters.fetched import CLIENTS, describe

# Clients may leave a socket to the garbage collector. The broker closes its own
# sockets.
pytestmark = [
    pytest.mark.usefixtures("decode_everything"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*does not implement:DeprecationWarning"),
]

DATA = b"".join(
    encode_batch(
        [(b"k", b"%d" % (10 * number + row), row) for row in range(10)],
        base_offset=10 * number,
    )
    for number in range(6)
)
"""Six batches of ten records. A record's value is its offset."""

BAD = 23


@pytest.fixture(params=CONSUMERS)
def client(request):
    """Name of the client library: "kafka-python" or "aiokafka"."""
    return request.param


@pytest.fixture(scope="module")
def broker():
    """Running broker that serves ``DATA``."""
    with Broker(DATA) as broker:
        yield broker
    assert broker.failures == []


def run(client, broker, script, **options):
    """Run a script with a new consumer, and return the results that it recorded."""
    consumer = CONSUMERS[client](broker, **options)
    notes = []
    try:
        script(consumer, notes.append)
    finally:
        consumer.close()
    return notes


def run_both(client, broker, script, **options):
    """Run a script without and with the adapter, and compare the results."""
    original = run(client, broker, script, **options)
    with CLIENTS[client] as adapter:
        assert adapter.is_installed
        assert run(client, broker, script, **options) == original
    return original


def read_value(data):
    """Deserialize a number, or raise ``LookupError`` for the number ``BAD``."""
    if data == b"%d" % BAD:
        raise LookupError("a value that cannot be read")
    return int(data)


@pytest.mark.parametrize("most", [1, 3, 7, 10, None])
def test_polls_return_the_same_records_and_positions(client, broker, most):
    """Each poll returns the same records, and the position after it is the same."""

    def script(consumer, note):
        while consumer.position() < 60:
            note([describe(record) for record in consumer.poll(most)])
            note(consumer.position())

    notes = run_both(client, broker, script)
    assert sum(len(note) for note in notes[::2]) == 60


def test_iterator_moves_the_position_by_one(client, broker):
    """The position is after the current record, not after its batch."""

    def script(consumer, note):
        for _ in range(60):
            note((describe(consumer.take()), consumer.position()))

    notes = run_both(client, broker, script)
    assert [position for _, position in notes] == list(range(1, 61))


def test_seek_within_and_beyond_a_batch_returns_the_same_records(client, broker):
    """Forward and backward seeks reach records that may already be decoded."""

    def iterate(consumer, note):
        for offset in (0, 4, 2, 17, 18, 55, 0, 59):
            consumer.seek(offset)
            note(consumer.position())
            note([consumer.take().offset for _ in range(min(3, 60 - offset))])
            note(consumer.position())

    def poll(consumer, note):
        for offset in (0, 4, 2, 17, 18, 55, 0, 59):
            consumer.seek(offset)
            note([record.offset for record in consumer.poll(4)])
            note(consumer.position())

    notes = run_both(client, broker, iterate)
    assert notes[1:12:3] == [[0, 1, 2], [4, 5, 6], [2, 3, 4], [17, 18, 19]]
    notes = run_both(client, broker, poll)
    assert notes[:4] == [[0, 1, 2, 3], 4, [4, 5, 6, 7], 8]


def test_pause_within_a_batch_loses_no_record(client, broker):
    """While the partition is paused, no record is returned. None is lost afterwards."""

    def script(consumer, note):
        for _ in range(3):
            note([record.offset for record in consumer.poll(4)])
            consumer.pause()
            note(consumer.poll(4, timeout_ms=100))
            note(consumer.position())
            consumer.resume()
            note([record.offset for record in consumer.poll(2)])

    notes = run_both(client, broker, script)
    offsets = sorted(itertools.chain(*notes[::4], *notes[3::4]))
    assert offsets == list(range(len(offsets)))
    assert notes[1::4] == [[]] * 3


def test_a_deserializer_that_raises_loses_no_record(client, broker):
    """The iterator returns the records before the invalid record, and stays at it.

    The exception of the deserializer is raised unchanged.
    """

    def script(consumer, note):
        note([consumer.take().value for _ in range(BAD)])
        with pytest.raises(LookupError):
            consumer.take()
        note(consumer.position())

    notes = run_both(client, broker, script, value_deserializer=read_value)
    assert notes == [list(range(BAD)), BAD]


@pytest.mark.parametrize("most", [1, 4, 5, None])
def test_polls_up_to_a_deserializer_that_raises(client, broker, most):
    """Polls return the same records and positions until one raises the exception."""

    def script(consumer, note):
        while True:
            try:
                note([record.value for record in consumer.poll(most)])
            except LookupError:
                break
            finally:
                note(consumer.position())

    notes = run_both(client, broker, script, value_deserializer=read_value)
    assert notes[-1] <= BAD


def test_program_can_seek_past_an_undecodable_record(client, broker):
    """After the error, the program seeks to the next record in the same batch."""
    with CLIENTS[client]:

        def script(consumer, note):
            consumer.seek(BAD)
            with pytest.raises(LookupError):
                consumer.take()
            consumer.seek(BAD + 1)
            note([consumer.take().value for _ in range(5)])

        options = {"value_deserializer": read_value}
        assert run(client, broker, script, **options) == [[24, 25, 26, 27, 28]]


def test_deserializers_receive_the_same_values(client):
    """The deserializers get the same keys and values, in the same order, as often.

    Null keys and values are included.
    """
    rows = [(b"k", None, 1), (None, b"v", 2), (b"", b"", 3, [("h", b"x")])]
    seen = []

    def deserialize(data):
        seen.append(data)
        return data and data.upper()

    def script(consumer, note):
        note([describe(consumer.take()) for _ in rows])
        note(tuple(seen))
        seen.clear()

    with Broker(encode_batch(rows)) as broker:
        run_both(
            client,
            broker,
            script,
            key_deserializer=deserialize,
            value_deserializer=deserialize,
        )


def test_records_are_the_clients_own(client, broker):
    """Records have the class of the client.

    The functions of the standard library for this class work as well.
    """

    def script(consumer, note):
        record = consumer.take()
        note((type(record), repr(record), record == record))
        if dataclasses.is_dataclass(record):
            note(dataclasses.replace(record, value=b"new").value)
            note(dataclasses.asdict(record))
        else:
            note(record._replace(value=b"new").value)
            note(record._asdict())

    class_name = run_both(client, broker, script)[0][0].__name__
    assert class_name == "ConsumerRecord"


@pytest.mark.parametrize("most_bytes", [1, 300, 10**6])
def test_aborted_transactions_of_a_broker_are_hidden(client, most_bytes):
    """A read_committed consumer gets no aborted records, whatever its fetch size."""
    fields = {"producer_epoch": 0, "base_sequence": 0, "is_transactional": True}

    def write(offset, producer_id):
        return encode_batch(
            [(b"k", b"%d" % producer_id)] * 5,
            base_offset=offset,
            producer_id=producer_id,
            **fields,
        )

    def end(offset, producer_id, kind):
        return encode_batch(
            [(b"\0\0\0" + bytes([kind]), bytes(6))],
            base_offset=offset,
            producer_id=producer_id,
            is_control=True,
            **fields,
        )

    data = b"".join(
        (
            write(0, 1),
            write(5, 2),
            end(10, 1, 0),
            write(11, 1),
            end(16, 2, 1),
            end(17, 1, 1),
            write(18, 3),
            end(23, 3, 0),
            encode_batch([(b"k", b"last")], base_offset=24),
        )
    )

    def script(consumer, note):
        offset = -1
        while offset < 24:
            record = consumer.take()
            offset = record.offset
            note((describe(record), consumer.position()))

    counts = []
    aborted = ((1, 0, 10), (3, 18, 23))
    with Broker(data, aborted, most_bytes=most_bytes) as broker:
        for level in ("read_uncommitted", "read_committed"):
            notes = run_both(client, broker, script, isolation_level=level)
            counts.append(len(notes))
    assert counts == [21, 11]


@pytest.mark.parametrize("method", ["take", "poll"])
def test_install_and_uninstall_during_polls_lose_no_record(client, broker, method):
    """If a batch is partly read, the next call continues with its next record.

    Covers the iterator and polls.
    """

    def script(consumer, note):
        adapter = CLIENTS[client]
        for change in itertools.cycle((adapter.install, adapter.uninstall)):
            records = consumer.poll(4) if method == "poll" else [consumer.take()]
            note([record.offset for record in records])
            change()
            if consumer.position() == 60:
                break

    try:
        notes = run(client, broker, script, max_partition_fetch_bytes=400)
    finally:
        CLIENTS[client].uninstall()
    assert list(itertools.chain(*notes)) == list(range(60))
