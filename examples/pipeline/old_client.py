# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A client as there were in 2013: it asks for no versions and speaks the first ones.

Kafka 4.0 removed those, so an audit has to find it. Written with kwire and a socket.
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
    """Ask where a topic is and fetch a piece of each partition; return the requests.

    Every partition is asked of its leader, on a new connection.
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
    """Send one request and return the answer to it."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), DEADLINE_S) as connection:
        connection.sendall(framing.encode_request(request, version, 1, CLIENT_ID))
        (size,) = struct.unpack(">i", receive(connection, 4))
        return framing.decode_response(answer, receive(connection, size), version)[1]


def receive(connection: socket.socket, size: int) -> bytes:
    """Receive exactly so many bytes."""
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise ConnectionError("the connection was closed within an answer")
        data += piece
    return data
