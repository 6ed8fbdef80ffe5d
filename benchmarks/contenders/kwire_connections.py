# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""kwire connections. ``KWIRE_BACKEND`` selects the engine."""

from __future__ import annotations

from typing import Any

import kwire
from benchmarks.contenders import fetch_streams
from benchmarks.contenders.kwire import build
from benchmarks.harness.statement import Statement
from benchmarks.workloads import connections as workloads
from benchmarks.workloads.messages import neutral
from kwire import messages
from kwire.connection import ClientConnection
from kwire.connection.negotiation import ApiVersionTable, answer_api_versions

BUILDS = "an event for each response: correlation id, request, version, message"
CHECKS = "size of each frame, order of correlation ids, and the message as above"

# Create the request only once, like a program that reuses it for several connections.
_REQUEST = messages.FetchRequest()


def _bodies(version: int) -> list[bytes]:
    loads = workloads.responses(version)
    return [kwire.encode(build(load), version=version) for load in loads]


def _pairs(events: list[Any]) -> list[tuple[int, Any]]:
    return [(event.correlation_id, event.response) for event in events]


def encode_stream(version: int) -> Statement:
    """Encode all responses of the stream for a Fetch version."""
    return fetch_streams.encode_stream(version, _bodies(version))


def receive_stream(version: int) -> Statement:
    """Feed the stream to a connection with all requests in flight. Keep the events."""
    table = ApiVersionTable.from_ranges({1: (version, version)})

    def connect() -> ClientConnection:
        connection = ClientConnection(workloads.CLIENT_ID, table=table)
        for _ in range(workloads.FRAMES):
            connection.send(_REQUEST, version)
        connection.data_to_send()
        return connection

    def receive(connection: ClientConnection, chunks: list[bytes]) -> list[Any]:
        events: list[Any] = []
        for chunk in chunks:
            events.extend(connection.receive_data(chunk))
        return events

    return fetch_streams.receive_stream(
        version, _bodies(version), connect, receive, _pairs
    )


def decode_bodies(version: int) -> Statement:
    """Decode the messages of a stream without their frames.

    This is the lower bound for a connection. The messages are encoded before the
    measurement.
    """
    names = {
        "decode": kwire.decode,
        "cls": messages.FetchResponse,
        "bodies": _bodies(version),
    }
    text = f"[decode(cls, body, {version}) for body in bodies]"
    statement = Statement(text, names, calls=workloads.FRAMES)

    def values() -> list[Any]:
        found = zip(statement.result(), workloads.responses(version), strict=True)
        return [
            [number, neutral(message, load.values)]
            for number, (message, load) in enumerate(found)
        ]

    return Statement(text, names, calls=workloads.FRAMES, values=values)


def negotiate(release: str) -> Statement:
    """Negotiate versions with a broker release and select a Fetch version.

    The responses of the broker are encoded before the measurement.
    """
    served = ApiVersionTable.of_release(release)
    answers = []
    asking = ClientConnection(workloads.CLIENT_ID)
    while asking.table is None:
        answer = answer_api_versions(asking.data_to_send()[4:], served)
        answers.append(answer.frame)
        list(asking.receive_data(answer.frame))

    def negotiated(answers: list[bytes]) -> tuple[ApiVersionTable, int]:
        connection = ClientConnection(workloads.CLIENT_ID)
        for answer in answers:
            connection.data_to_send()
            for event in connection.receive_data(answer):
                return event.table, event.table.pick(messages.FetchRequest)
        raise AssertionError("the answers end before the negotiation")

    def values() -> Any:
        table, version = negotiated(answers)
        rows = {key: [each.min, each.max] for key, each in table.ranges().items()}
        return {"rows": rows, "version": version, "questions": len(answers)}

    names = {"negotiated": negotiated, "answers": answers}
    return Statement("negotiated(answers)", names, values=values)
