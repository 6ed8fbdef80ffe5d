# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tasks for a Fetch response stream: encode it, and receive it on a connection."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.harness.statement import Consuming, Statement
from benchmarks.workloads import connections as workloads
from benchmarks.workloads.messages import neutral


def encode_stream(version: int, bodies: list[bytes]) -> Statement:
    """Encode all responses of a stream.

    ``bodies`` are the messages without size and header.
    """
    names = {"framed": workloads.framed, "bodies": bodies}
    return Statement(f"framed(bodies, {version})", names)


def receive_stream(
    version: int,
    bodies: list[bytes],
    connect: Callable[[], Any],
    receive: Callable[[Any, list[bytes]], list[Any]],
    pairs: Callable[[list[Any]], Iterable[tuple[int, Any]]],
) -> Consuming:
    """Receive a stream on a connection that has sent the requests.

    * ``bodies``: encoded responses without size and header.
    * ``connect``: returns a new connection with all requests in flight.
    * ``receive``: receives the stream's chunks and returns the responses.
    * ``pairs``: converts the received responses to (correlation id, message) pairs,
      which are compared with the expected values.
    """
    chunks = workloads.chunks(workloads.framed(bodies, version))

    def values() -> list[Any]:
        received = pairs(receive(connect(), chunks))
        return [
            [correlation_id, neutral(response, load.values)]
            for (correlation_id, response), load in zip(
                received, workloads.responses(version), strict=True
            )
        ]

    return Consuming(
        "receive(subjects.pop(), chunks)",
        {"receive": receive, "chunks": chunks},
        calls=workloads.FRAMES,
        values=values,
        make=connect,
    )
