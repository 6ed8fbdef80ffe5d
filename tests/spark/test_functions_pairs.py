# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Requests and responses are paired, even if ids repeat and connections break.

Tests the batches from ``pair_requests`` and the headers from ``kafka_header`` without
Spark.
"""

import importlib
import random
from datetime import UTC, datetime, timedelta

import pyarrow
import pytest

START = datetime(2026, 1, 2, tzinfo=UTC)


def rooms(kwire, name="spark.capture.request_pairs"):
    """Import a module below ``kwire.spark`` on one engine."""
    return importlib.import_module(f"{kwire.__name__}.{name}")


class Capture:
    """Creates rows in the format of ``kafka-capture``, and stores the pairs in them."""

    def __init__(self, kwire):
        self.kwire = kwire
        self.rows = []
        self.pairs = {}

    def frame(self, connection, direction, number, message, version, recording="r"):
        """Append one frame to the capture. Return its sequence number."""
        framing = self.kwire.messages.framing
        write = getattr(framing, f"encode_{direction}")
        client = {"client_id": "me"} if direction == "request" else {}
        frame = write(message, version, correlation_id=number, **client)[4:]
        sequence = len(self.rows)
        self.rows.append(
            {
                "recording": recording,
                "connection": connection,
                "sequence": sequence,
                "direction": direction,
                "timestamp": START + timedelta(milliseconds=sequence),
                "client_address": f"127.0.0.1:{50000 + connection}",
                "broker_address": "127.0.0.1:9092",
                "api_key": message.api_key,
                "api_version": version,
                "correlation_id": number,
                "client_id": "me",
                "size": len(frame),
                "frame": frame,
            }
        )
        return sequence

    def ask(self, connection, number, message=None, version=4, recording="r"):
        """Append a request without a response. Return its sequence number."""
        message = message or self.kwire.messages.HeartbeatRequest()
        sequence = self.frame(
            connection, "request", number, message, version, recording
        )
        self.pairs[recording, sequence] = None
        return sequence

    def answer(
        self, connection, request, number, message=None, version=4, recording="r"
    ):
        """Append the response to the request with the sequence number ``request``.

        If ``request`` is None, the response belongs to no request.
        """
        message = message or self.kwire.messages.HeartbeatResponse()
        sequence = self.frame(
            connection, "response", number, message, version, recording
        )
        if request is not None:
            self.pairs[recording, request] = sequence

    def batches(self, kwire, sizes=(1000,)):
        """Yield the sorted rows in batches.

        ``sizes`` are the batch sizes, used in turn.
        """
        names = rooms(kwire).COLUMNS
        rows = sorted(
            self.rows,
            key=lambda row: (row["recording"], row["connection"], row["sequence"]),
        )
        types = {
            "timestamp": pyarrow.timestamp("us", "UTC"),
            "api_key": pyarrow.int32(),
        }
        types |= {"api_version": pyarrow.int32(), "correlation_id": pyarrow.int32()}
        types |= {"size": pyarrow.int32()}
        table = pyarrow.table(
            {
                name: pyarrow.array([row[name] for row in rows], types.get(name))
                for name in names
            }
        )
        start = turn = 0
        while start < len(rows):
            size = sizes[turn % len(sizes)]
            yield table.slice(start, size).combine_chunks().to_batches()[0]
            start, turn = start + size, turn + 1


def pairs_of(kwire, capture, sizes=(1000,)):
    """Pair the requests and responses of a capture.

    Return the rows, in which sequence numbers are replaced by frames.
    """
    by_sequence = {row["sequence"]: row["frame"] for row in capture.rows}
    rows = []
    for batch in rooms(kwire).pair_batches(capture.batches(kwire, sizes)):
        batch.validate(full=True)
        assert batch.schema.equals(rooms(kwire).PAIRS)
        rows.extend(batch.to_pylist())
    for row in rows:
        assert row["request"] == by_sequence[row["request_sequence"]]
        assert row["response"] == by_sequence.get(row["response_sequence"])
    pairs = {
        (row["recording"], row["request_sequence"]): row["response_sequence"]
        for row in rows
    }
    assert len(pairs) == len(rows)
    return rows, pairs


@pytest.mark.parametrize("seed", range(6))
def test_pairs_are_those_that_were_made(kwire, seed):
    """The pairs equal those that the capture has stored.

    Connections are concurrent or broken, ids repeat, and requests are pipelined.
    """
    dice = random.Random(seed)
    capture = Capture(kwire)
    waiting = {connection: [] for connection in range(5)}
    for _ in range(300):
        connection = dice.randrange(5)
        queue = waiting[connection]
        if queue and dice.random() < 0.5:
            capture.answer(connection, *queue.pop(0))
        else:
            # All requests on connection 0 have the same id.
            number = 0 if connection == 0 else dice.randrange(6)
            queue.append((capture.ask(connection, number), number))
    for sizes in ((1000,), (1,), (7, 1, 30)):
        assert pairs_of(kwire, capture, sizes)[1] == capture.pairs


def test_produce_without_acks_gets_no_answer(kwire):
    """A Produce request without acks has no response, even if its id is used again."""
    messages = kwire.messages
    capture = Capture(kwire)
    capture.ask(1, 0, messages.ProduceRequest(acks=0), 9)
    request_number = capture.ask(1, 0, messages.ProduceRequest(acks=-1), 9)
    capture.answer(1, request_number, 0, messages.ProduceResponse(), 9)
    assert pairs_of(kwire, capture)[1] == capture.pairs == {("r", 0): None, ("r", 1): 2}


def test_responses_without_a_request_are_omitted(kwire):
    """A response without a request is omitted.

    The capture started after the request, or the request has another API.
    """
    capture = Capture(kwire)
    capture.answer(1, None, 5)
    capture.answer(1, None, 0, kwire.messages.FetchResponse())
    request_number = capture.ask(1, 5)
    capture.answer(1, None, 5, kwire.messages.FetchResponse())
    capture.answer(1, request_number, 5)
    assert pairs_of(kwire, capture, (2,))[1] == {("r", 2): 4}


def test_recordings_and_connections_are_apart(kwire):
    """Requests are only paired with responses of the same recording and connection.

    The same ids occur in several of them at the same time.
    """
    capture = Capture(kwire)
    request_numbers = [
        capture.ask(connection, 7, recording=recording)
        for recording in "ab"
        for connection in (1, 2)
    ]
    capture.answer(2, request_numbers[3], 7, recording="b")
    capture.answer(1, request_numbers[0], 7, recording="a")
    rows, pairs = pairs_of(kwire, capture)
    assert pairs == capture.pairs
    by_sequence = {row["request_sequence"]: row for row in rows}
    answered, alone = by_sequence[0], by_sequence[1]
    assert answered["latency_ms"] == 5.0 and alone["latency_ms"] is None
    assert answered["request_timestamp"] == START
    assert (answered["client_address"], answered["api_key"]) == ("127.0.0.1:50001", 12)
    assert alone["response_size"] is alone["response_timestamp"] is None


def test_a_capture_of_requests_alone_takes_little_memory(kwire):
    """A capture without responses needs little memory.

    The number of waiting requests is limited, and the oldest ones get no response.
    """
    room = rooms(kwire)
    capture = Capture(kwire)
    for number in range(40):
        capture.ask(1, number)
    (batch,) = capture.batches(kwire)
    rows = pyarrow.Table.from_batches([batch] * 300).combine_chunks().to_batches()[0]
    row_count = 0
    batch_sizes = []
    for pair_batch in room.pair_batches(
        rows.slice(start, 1000) for start in range(0, 12_000, 1000)
    ):
        row_count += len(pair_batch)
        batch_sizes.append(len(pair_batch))
    assert row_count == 12_000 and batch_sizes == [1000, 1000, 10_000]


def test_headers_are_columns_with_nulls_and_errors(kwire):
    """Header columns contain the fields of ``decode_request``, nulls and errors.

    The columns are flat or a struct.
    """
    room = rooms(kwire, "messages.columns.request_headers")
    frames = [
        kwire.messages.framing.encode_request(
            kwire.messages.FetchRequest(), 17, correlation_id=-5, client_id="ä"
        )[4:],
        None,
        b"\x00\x01",
        b"\x03\xe7" + bytes(20),
        kwire.messages.framing.encode_request(kwire.messages.ListGroupsRequest(), 0)[
            4:
        ],
    ]
    rows = pyarrow.array(frames, pyarrow.binary())
    headers_column = room.read_headers(rows)
    headers_column.validate(full=True)
    first, second, *bad, last = headers_column.to_pylist()
    assert first == {
        "api_key": 1,
        "api": "Fetch",
        "api_version": 17,
        "correlation_id": -5,
        "client_id": "ä",
        "_error": None,
    }
    assert second is None and last["api"] == "ListGroups"
    for row, frame in zip(bad, frames[2:4], strict=True):
        with pytest.raises(kwire.KwireError) as caught:
            kwire.messages.framing.decode_request(frame)
        assert row.pop("_error") == str(caught.value)
        assert set(row.values()) == {None}
    with pytest.raises(kwire.Truncated):
        room.read_headers(rows, failfast=True)
    assert room.read_headers(rows[1:2]).to_pylist() == [None]
    table = pyarrow.record_batch({"id": range(5), "frame": rows, "more": ["x"] * 5})
    (flat,) = room.flat_headers([table.slice(3)], "frame", ["more", "id"])
    assert flat.schema.names == [
        "more",
        "id",
        *(field.name for field in headers_column.type),
    ]
    assert flat.column("id").to_pylist() == [3, 4]
    for name in ("api_key", "api", "client_id", "_error"):
        assert flat.column(name).equals(headers_column[3:].field(name))
