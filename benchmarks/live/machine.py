# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure a scan without sockets: frame reception, scan logic and decoding.

The broker is a function that responds from memory. Its time is not counted. Neither is
the time for copying the response into the connection buffer, because the kernel does
this for a real socket.
"""

from __future__ import annotations

import random
import statistics
import struct
import time
import uuid
from typing import Any

from kwire import messages, records
from kwire._limits import DEFAULT
from kwire.client.chunks import Chunk, DecodingOptions
from kwire.client.machines import ClusterSettings, ScanMachine, ScanOptions
from kwire.connection import RequestReceived, ServerConnection
from kwire.connection.negotiation import ApiVersionTable
from kwire.messages.frame_splitter import FrameSplitter

FRAME_BYTES = 4 << 20
READ_BYTES = 64 << 10
FETCH_BYTES = 1 << 20
BATCH_BYTES = 16 << 10
ROUNDS = 60
TOPIC = "benchmark"
RELEASE = "4.1"
COLUMNS = "offset", "timestamp", "key", "value"
DECODING = DecodingOptions(COLUMNS, "ms", False, DEFAULT, True, "replace")


def reception() -> dict[str, float]:
    """Measure the reception of a 4 MiB frame in reads of 64 KiB.

    Return the median seconds of the frame splitter, and of filling one buffer.
    """
    chunk = random.Random(4).randbytes(READ_BYTES)
    first = struct.pack(">i", FRAME_BYTES) + chunk[4:]
    chunks = [first, *[chunk] * (FRAME_BYTES // READ_BYTES - 1), chunk[:4]]
    times_by_name: dict[str, list[float]] = {"splitter": [], "filling": []}
    splitter = FrameSplitter()
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        frames = []
        for each in chunks:
            data = memoryview(each)
            while len(data):
                buffer = splitter.get_buffer()
                count = min(len(buffer), len(data), READ_BYTES)
                buffer[:count] = data[:count]
                frames += splitter.buffer_updated(count)
                data = data[count:]
        times_by_name["splitter"].append(time.perf_counter() - begun)
        assert [len(frame) for frame in frames] == [FRAME_BYTES]
        begun = time.perf_counter()
        memory, position = memoryview(bytearray(FRAME_BYTES + 4)), 0
        for each in chunks:
            memory[position : position + len(each)] = each
            position += len(each)
        times_by_name["filling"].append(time.perf_counter() - begun)
    return {name: statistics.median(times) for name, times in times_by_name.items()}


class _Broker:
    """Broker without a socket, for one connection of the client.

    Every Fetch returns the same batches at the next offsets.
    """

    def __init__(self, value_bytes: int, codec: str) -> None:
        self._server = ServerConnection(ApiVersionTable.of_release(RELEASE))
        source = random.Random(value_bytes)
        per_batch = max(BATCH_BYTES // value_bytes, 1)
        data, self._starts = bytearray(), []
        while len(data) < FETCH_BYTES:
            rows = [
                (b"key%07d" % n, source.randbytes(value_bytes // 2) * 2)
                for n in range(per_batch)
            ]
            self._starts.append(len(data))
            data += records.encode_batch(rows, compression=codec)
        self._data, self._per_batch = data, per_batch

    def answer(self, sent: bytes) -> bytes:
        """Process the bytes that a client has sent. Returns the responses."""
        for event in self._server.receive_data(sent):
            if isinstance(event, RequestReceived):
                self._server.send(event, self._respond(event.request))
        return self._server.data_to_send()

    def _respond(self, request: Any) -> Any:
        if isinstance(request, messages.MetadataRequest):
            make: Any = messages.MetadataResponse
            part = make.MetadataResponsePartition(leader_id=1, leader_epoch=1)
            topic = make.MetadataResponseTopic(
                name=TOPIC, topic_id=uuid.UUID(int=1), partitions=[part]
            )
            return make(
                brokers=[make.MetadataResponseBroker(node_id=1, host="a", port=9092)],
                topics=[topic],
            )
        if isinstance(request, messages.ListOffsetsRequest):
            make = messages.ListOffsetsResponse
            offset = make.ListOffsetsPartitionResponse(offset=0)
            topic = make.ListOffsetsTopicResponse(name=TOPIC, partitions=[offset])
            return make(topics=[topic])
        (topic,) = request.topics
        (wanted,) = topic.partitions
        offset = wanted.fetch_offset
        for start in self._starts:
            struct.pack_into(">q", self._data, start, offset)
            offset += self._per_batch
        make = messages.FetchResponse
        return make(
            session_id=1,
            responses=[
                make.FetchableTopicResponse(
                    topic=topic.topic,
                    topic_id=topic.topic_id,
                    partitions=[
                        make.PartitionData(
                            high_watermark=offset, records=bytes(self._data)
                        )
                    ],
                )
            ],
        )


def overhead(value_bytes: int, codec: str) -> dict[str, float]:
    """Measure a Fetch with responses of 1 MiB.

    Returns the median seconds of the scan logic and of decoding.
    """
    broker = _Broker(value_bytes, codec)
    options = ScanOptions(topics=(TOPIC,), follow=True, fetch_bytes=FETCH_BYTES)
    now = 0.0
    # Do not push client metrics, because the broker does not support these requests.
    settings = ClusterSettings(enable_metrics_push=False)
    machine = ScanMachine(
        [("a", 9092)], settings, options, now=now, random=random.Random(1)
    )
    times_by_name: dict[str, list[float]] = {"logic": [], "decoding": []}
    machine.advance(now)
    (link,) = machine.cluster.take_new_links()
    link.note_open(now)
    while len(times_by_name["logic"]) < ROUNDS + 10:
        now += 0.001
        begun = time.perf_counter()
        sent = link.data_to_send()
        spent = time.perf_counter() - begun
        response = memoryview(broker.answer(sent))
        begun = time.perf_counter()
        filling = 0.0
        while len(response):
            buffer = link.get_buffer()
            count = min(len(buffer), len(response))
            writing = time.perf_counter()
            buffer[:count] = response[:count]
            filling += time.perf_counter() - writing
            if link.buffer_updated(count, now):
                machine.advance(now)
            response = response[count:]
        if machine.wake_at <= now:
            machine.advance(now)
        fetched = machine.take()
        if fetched is not None:
            machine.release(fetched)
        spent += time.perf_counter() - begun - filling
        if fetched is None:
            assert machine.failure is None, machine.failure
            continue
        begun = time.perf_counter()
        Chunk(fetched, DECODING).to_arrow()
        times_by_name["decoding"].append(time.perf_counter() - begun)
        times_by_name["logic"].append(spent)
    return {
        name: statistics.median(times[10:]) for name, times in times_by_name.items()
    }
