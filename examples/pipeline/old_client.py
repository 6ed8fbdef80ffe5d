# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Client from 2013, which does not negotiate versions and only supports early versions.

Kafka 4.0 has removed these versions, so the audit must report this client. It is
implemented with kwire and a socket.
"""

import socket
import struct

from kwire.messages import (
    FetchRequest,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
    framing,
)

CLIENT_ID = "inventory-2013"
METADATA_VERSION = 0
FETCH_VERSION = 2
DEADLINE_S = 10
LARGEST = 1 << 20


def fetch_once(address: str, topic: str) -> int:
    """Request the metadata of a topic, and fetch from all partitions once.

    Each Fetch request is sent to the partition leader on a new connection. Returns the
    number of requests.
    """
    request = MetadataRequest(
        topics=(MetadataRequest.MetadataRequestTopic(name=topic),)
    )
    cluster = ask(address, request, MetadataResponse, METADATA_VERSION)
    nodes = {node.node_id: f"{node.host}:{node.port}" for node in cluster.brokers}
    partitions = cluster.topics[0].partitions
    for partition in partitions:
        wanted = FetchRequest.FetchPartition(
            partition=partition.partition_index, partition_max_bytes=LARGEST
        )
        request = FetchRequest(
            max_wait_ms=100,
            topics=(FetchRequest.FetchTopic(topic=topic, partitions=(wanted,)),),
        )
        leader = nodes[partition.leader_id]
        ask(leader, request, FetchResponse, FETCH_VERSION)
    return 1 + len(partitions)


def ask(address: str, request, answer: type, version: int):
    """Send a request on a new connection, and return the decoded response.

    ``answer`` is the class of the response.
    """
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), DEADLINE_S) as connection:
        connection.sendall(framing.encode_request(request, version, 1, CLIENT_ID))
        (size,) = struct.unpack(">i", receive(connection, 4))
        return framing.decode_response(answer, receive(connection, size), version)[1]


def receive(connection: socket.socket, size: int) -> bytes:
    """Receive exactly ``size`` bytes.

    Raises ``ConnectionError`` if the connection is closed before that.
    """
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise ConnectionError("the connection was closed within an answer")
        data += piece
    return data
