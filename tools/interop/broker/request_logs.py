# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Write ``tests/data/request-logs``: request logs of live brokers with known clients.

    python -m tools.interop.broker.request_logs  # 4.3.1, 3.9.2 and 2.8.2

``kafka-<release>.log`` contains the DEBUG output of the request logger. ``sent.json``
contains the requests that the clients sent, which kwire must find in the log.
"""

from __future__ import annotations

import argparse
import json
import socket
import struct
import tempfile
import time
from pathlib import Path
from typing import Any

from kwire.messages import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    ListOffsetsRequest,
    MetadataRequest,
    framing,
)
from tools.interop.broker import broker as brokers
from tools.interop.broker.broker import Broker

DATA = brokers.HERE.parents[2] / "tests" / "data" / "request-logs"
LOGGER = "kafka.request.logger"
SETTINGS = [
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss,SSS",
    f"-Dorg.slf4j.simpleLogger.log.{LOGGER}=debug",
    "-Duser.timezone=UTC",
]
SECONDS_TO_SETTLE = 3

NAMED = ApiVersionsRequest(
    client_software_name="kwire-test", client_software_version="1.0"
)
UNNAMED = ApiVersionsRequest()
NOBODY = MetadataRequest(topics=[])
ORDERS = CreateTopicsRequest.CreatableTopic(
    name="orders", num_partitions=1, replication_factor=1
)
CREATE = CreateTopicsRequest(topics=[ORDERS], timeout_ms=10_000)
COORDINATOR = FindCoordinatorRequest(key="group", key_type=0)
NOTHING = FetchRequest(replica_id=-1, max_wait_ms=1)
OFFSETS = ListOffsetsRequest(replica_id=-1)

TALKS: dict[str | None, list[tuple[Any, int]]] = {
    "modern": [(NAMED, 3), (NOBODY, 9), (COORDINATOR, 3), (CREATE, 5)],
    "ancient": [(NOBODY, 0), (OFFSETS, 0), (NOTHING, 2)],
    "asking": [(UNNAMED, 0), (NOBODY, 1), (NOTHING, 3)],
    None: [(UNNAMED, 0), (NOBODY, 5)],
    'od"d\\ id {\N{GREEK SMALL LETTER PI}': [(NAMED, 3), (NOBODY, 7)],
}
"""Requests of a connection with their versions, indexed by client id."""


def talk(kafka: Broker, client_id: str | None) -> list[dict[str, Any]]:
    """Send the requests of a client, and read the response to each of them.

    Returns a dictionary per request that the broker has answered.
    """
    done = []
    place = (brokers.LOOPBACK, kafka.port)
    with socket.create_connection(place, timeout=20) as wire:
        host, port = wire.getsockname()
        for number, (request, version) in enumerate(TALKS[client_id]):
            frame = framing.encode_request(
                request, version, correlation_id=number, client_id=client_id
            )
            wire.sendall(frame)
            if not read_answer(wire):
                # The broker closes the connection and does not log the request if it
                # does not support the version.
                break
            done.append(
                {
                    "client_address": f"{host}:{port}",
                    "broker_address": kafka.address,
                    "api_key": type(request).api_key,
                    "api_version": version,
                    "client_id": client_id,
                    "correlation_id": number,
                }
            )
    return done


def read_answer(wire: socket.socket) -> bytes:
    """Read one response without its size.

    Returns b"" if the broker has closed the connection.
    """
    head = read(wire, 4)
    return read(wire, struct.unpack(">i", head)[0]) if head else b""


def read(wire: socket.socket, size: int) -> bytes:
    """Read exactly ``size`` bytes. Returns b"" if the connection is closed early."""
    data = b""
    while len(data) < size:
        part = wire.recv(size - len(data))
        if not part:
            return b""
        data += part
    return data


def write(release: str) -> list[dict[str, Any]]:
    """Run a broker of one release and write its request log to ``tests/data``.

    Returns the requests that the clients have sent.
    """
    with tempfile.TemporaryDirectory(prefix="kwire-broker-") as folder:
        with brokers.running(release, Path(folder)) as kafka:
            time.sleep(SECONDS_TO_SETTLE)
            sent = [row for client_id in TALKS for row in talk(kafka, client_id)]
        log = (Path(folder) / "server.log").read_text(encoding="utf-8")
    lines = [line for line in log.splitlines(keepends=True) if f" {LOGGER} - " in line]
    path = DATA / f"kafka-{release}.log"
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    print(f"{path.name}: {len(lines)} lines, {len(sent)} requests sent")
    return sent


def main() -> None:
    """Write the request logs of the releases that the command line names, or of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("releases", nargs="*", default=brokers.releases())
    brokers.LOGGING.extend(SETTINGS)
    DATA.mkdir(parents=True, exist_ok=True)
    sent = {release: write(release) for release in parser.parse_args().releases}
    (DATA / "sent.json").write_text(json.dumps(sent, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
