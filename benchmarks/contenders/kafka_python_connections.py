# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""kafka-python: the connection parser, which its clients feed with socket data."""

from __future__ import annotations

from typing import Any

from kafka.protocol.consumer import FetchRequest
from kafka.protocol.parser import KafkaProtocol

from benchmarks.contenders import fetch_streams
from benchmarks.contenders.kafka_python import build
from benchmarks.harness.statement import Statement
from benchmarks.workloads import connections as workloads

BUILDS = "a pair of correlation id and message for each response"
CHECKS = "size of each frame, order of correlation ids, and the message as above"


def _bodies(version: int) -> list[bytes]:
    return [build(load).encode() for load in workloads.responses(version)]


def encode_stream(version: int) -> Statement:
    """Encode all responses of the stream for a Fetch version."""
    return fetch_streams.encode_stream(version, _bodies(version))


def receive_stream(version: int) -> Statement:
    """Feed the stream to a parser with all requests in flight. Keep the responses."""
    sending = KafkaProtocol(client_id=workloads.CLIENT_ID)
    for number in range(workloads.FRAMES):
        request = FetchRequest(
            version=version,
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=2**31 - 1,
            isolation_level=0,
            session_id=0,
            session_epoch=-1,
            topics=[],
            forgotten_topics_data=[],
            rack_id="",
        )
        sending.send_request(request, correlation_id=number)
    sending.send_bytes()
    waiting = tuple(sending.in_flight_requests)

    def connect() -> KafkaProtocol:
        parser = KafkaProtocol(client_id=workloads.CLIENT_ID)
        parser.in_flight_requests.extend(waiting)
        return parser

    def receive(parser: KafkaProtocol, chunks: list[bytes]) -> list[Any]:
        responses: list[Any] = []
        for chunk in chunks:
            responses.extend(parser.receive_bytes(chunk))
        return responses

    return fetch_streams.receive_stream(
        version, _bodies(version), connect, receive, list
    )
