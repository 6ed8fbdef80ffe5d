# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Broker for one record format that supports producing and fetching.

It offers the API versions of brokers that used this format. It stores produced bytes
and serves the specified bytes, both unchanged. Every topic has one partition. The
broker listens on the loopback interface only, and every wait has a timeout.
"""

import socket
import threading
import time
from contextlib import suppress

from kwire import messages
from kwire.messages import (
    ApiVersionsResponse,
    FetchResponse,
    FindCoordinatorResponse,
    InitProducerIdResponse,
    MetadataResponse,
    ProduceResponse,
    framing,
)

TIMEOUT_S = 15
EMPTY_FETCH_S = 0.02

# Version ranges by magic. FindCoordinator is included because clients use its presence
# to detect that the broker supports lz4.
VERSIONS = {
    0: {"Produce": (0, 1), "Fetch": (0, 1)},
    1: {"Produce": (0, 2), "Fetch": (0, 2)},
    2: {"Produce": (3, 7), "Fetch": (4, 11), "InitProducerId": (0, 1)},
}
ALL = {"Metadata": (0, 2), "FindCoordinator": (0, 1), "ApiVersions": (0, 3)}


class Broker:
    """Broker for one magic. It runs as a context manager.

    * ``stored``: for each topic, its bytes, its log end offset, and the aborted
      transactions as pairs of producer id and first offset.
    * ``produced``: for each topic, the record bytes of all Produce requests.
    """

    def __init__(self, magic):
        """Start listening. ``magic`` is the format that the broker supports."""
        self.versions = {**ALL, **VERSIONS[magic]}
        self.stored: dict[str, tuple[bytes, int, tuple]] = {}
        self.produced: dict[str, list[bytes]] = {}
        self.failures: list[Exception] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = [self._server]
        self._threads: list[threading.Thread] = []

    @property
    def address(self):
        """Bootstrap address, "host:port"."""
        host, port = self._server.getsockname()
        return f"{host}:{port}"

    def __enter__(self):
        """Start accepting connections."""
        self._start(self._accept)
        return self

    def __exit__(self, *exception):
        """Close all connections and wait for the threads."""
        for stream in self._open:
            with suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)
            stream.close()
        for thread in self._threads:
            thread.join(TIMEOUT_S)

    def _start(self, target, *arguments):
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        # __exit__ closes the listening socket, which makes accept() raise OSError.
        with suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                connection.settimeout(TIMEOUT_S)
                self._open.append(connection)
                self._start(self._serve, connection)

    def _serve(self, connection):
        splitter = framing.FrameSplitter()
        try:
            while chunk := connection.recv(1 << 16):
                for frame in splitter.feed(chunk):
                    connection.sendall(self._respond(frame))
        except OSError:
            pass  # The client or the test has closed the connection.
        except Exception as failure:
            self.failures.append(failure)
            connection.close()

    def _respond(self, frame):
        header, request = framing.decode_request(frame)
        response = getattr(self, f"_{type(request).__name__}")(request)
        version = header.request_api_version
        return framing.encode_response(response, version, header.correlation_id)

    def _ApiVersionsRequest(self, request):
        ranges = {
            getattr(messages, f"{name}Request").api_key: (low, high)
            for name, (low, high) in self.versions.items()
        }
        return ApiVersionsResponse(
            api_keys=[
                ApiVersionsResponse.ApiVersion(
                    api_key=key, min_version=low, max_version=high
                )
                for key, (low, high) in sorted(ranges.items())
            ]
        )

    def _MetadataRequest(self, request):
        host, port = self._server.getsockname()
        broker = MetadataResponse.MetadataResponseBroker(
            node_id=1, host=host, port=port
        )
        partition = MetadataResponse.MetadataResponsePartition(
            leader_id=1, replica_nodes=[1], isr_nodes=[1]
        )
        return MetadataResponse(
            brokers=[broker],
            controller_id=1,
            topics=[
                MetadataResponse.MetadataResponseTopic(
                    name=topic.name, partitions=[partition]
                )
                for topic in request.topics or ()
            ],
        )

    def _FindCoordinatorRequest(self, request):
        host, port = self._server.getsockname()
        return FindCoordinatorResponse(node_id=1, host=host, port=port)

    def _InitProducerIdRequest(self, request):
        return InitProducerIdResponse(producer_id=2**33, producer_epoch=5)

    def _ProduceRequest(self, request):
        for topic in request.topic_data:
            sent = [bytes(data.records) for data in topic.partition_data]
            self.produced.setdefault(topic.name, []).extend(sent)
        partition = ProduceResponse.PartitionProduceResponse
        return ProduceResponse(
            responses=[
                ProduceResponse.TopicProduceResponse(
                    name=topic.name,
                    partition_responses=[partition() for _ in topic.partition_data],
                )
                for topic in request.topic_data
            ]
        )

    def _FetchRequest(self, request):
        topics = [
            FetchResponse.FetchableTopicResponse(
                topic=topic.topic,
                partitions=[
                    self._fetched(topic.topic, partition)
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        if not any(part.records for topic in topics for part in topic.partitions):
            time.sleep(EMPTY_FETCH_S)
        return FetchResponse(responses=topics)

    def _fetched(self, name, partition):
        data, end, aborted = self.stored[name]
        return FetchResponse.PartitionData(
            partition_index=partition.partition,
            high_watermark=end,
            last_stable_offset=end,
            log_start_offset=0,
            aborted_transactions=[
                FetchResponse.AbortedTransaction(
                    producer_id=producer_id, first_offset=first_offset
                )
                for producer_id, first_offset in aborted
            ],
            records=data if partition.fetch_offset < end else b"",
        )
