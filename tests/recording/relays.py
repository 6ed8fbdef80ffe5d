# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Helpers of the relay tests: the relay's address, raw bytes, and recorded rows."""

import socket

from kwire.recording import read_captures
from tests.harness.loopback_brokers import TIMEOUT_S

ANY = "127.0.0.1:0"


def read_rows(recorder):
    """Return the rows that a recorder has written, as dictionaries."""
    return [
        row for batch in read_captures(recorder.folder) for row in batch.to_pylist()
    ]


def talk(address, data, size=0):
    """Send bytes over a new connection, and return the response.

    The response ends after ``size`` bytes. If ``size`` is 0, it ends with the
    connection.
    """
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), TIMEOUT_S) as client:
        client.sendall(data)
        received = b""
        while not size or len(received) < size:
            try:
                chunk = client.recv(1 << 16)
            except ConnectionError:
                break
            if not chunk:
                break
            received += chunk
        return received


def echo(connection):
    while chunk := connection.recv(1 << 16):
        connection.sendall(chunk)


def add_size(data):
    return len(data).to_bytes(4, "big") + data
