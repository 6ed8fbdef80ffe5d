# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Ask one broker for the topics of its cluster, over a plain socket (kwire.connection).

python examples/ask_broker.py broker:9092
"""

import socket
import sys

from kwire.connection import (
    ClientConnection,
    ConnectionClosed,
    Negotiated,
    ResponseReceived,
)
from kwire.messages import MetadataRequest

host, _, port = sys.argv[1].rpartition(":")
connection = ClientConnection(client_id="ask-broker")
response = None
with socket.create_connection((host, int(port)), timeout=10) as sock:
    while response is None:
        sock.sendall(connection.data_to_send())
        for event in connection.receive_data(sock.recv(65536)):
            if isinstance(event, Negotiated):
                connection.send(MetadataRequest(topics=None))
            elif isinstance(event, ResponseReceived):
                response = event.response
            elif isinstance(event, ConnectionClosed):
                sys.exit(event.reason)
for topic in response.topics:
    print(topic.name, len(topic.partitions))
