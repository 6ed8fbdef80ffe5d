# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs KIP-35, document 000: BrokerA with ApiVersion 4, BrokerB with ApiVersion 5.

Kafka's Heartbeat represents ``REQ_A`` in the document, because it has versions 0 to 2
and its default request is valid.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ...messages import HeartbeatRequest
from ...schema import releases
from ..kip35_api_version import ClientStrategy, MetadataResponse, Server
from . import empty_response
from .loopback import LoopbackBroker
from .negotiating import DraftBroker, ask, describe_expired, is_answered
from .requirement import Document, Observation, Requirement

if TYPE_CHECKING:
    from collections.abc import Iterator

REQ_A = HeartbeatRequest.api_key
_FETCH = releases.key_of("Fetch")

_DOCUMENTATION = {4: {REQ_A: [0, 1]}, 5: {REQ_A: [1, 2]}}
"""Sample documentation in the document: REQ_A versions by ApiVersion."""

_DEPRECATING = "3.9-IV0"
"""Protocol version whose documentation deprecates API versions."""


class _Brokers(NamedTuple):
    a: LoopbackBroker
    b: LoopbackBroker
    deprecating: LoopbackBroker


@contextmanager
def _start_brokers() -> Iterator[_Brokers]:
    with ExitStack() as stack:
        yield _Brokers(
            *(
                stack.enter_context(LoopbackBroker(DraftBroker(server, [REQ_A]).answer))
                for server in (_make_server(4), _make_server(5), Server(_DEPRECATING))
            )
        )


def _make_server(protocol_version: int) -> Server:
    name = releases.protocol_version(protocol_version).name
    return Server(
        protocol_version,
        name,
        documents=_DOCUMENTATION,
        brokers=[
            MetadataResponse.BrokerEndPoint(node_id=node, host="127.0.0.1", port=9092)
            for node in (1, 2)
        ],
        topics=[MetadataResponse.TopicMetadata(name="t")],
    )


def _ask(broker: LoopbackBroker) -> ClientStrategy:
    strategy = ClientStrategy(documents=_DOCUMENTATION)
    ask(broker, strategy)
    return strategy


def _observe_api_versions(brokers: _Brokers) -> str:
    parts = []
    for name, broker in (("A", brokers.a), ("B", brokers.b)):
        version = _ask(broker).response.api_version
        parts.append(
            f'{name}: {version.protocol_version} "{version.build_description}"'
        )
    return ", ".join(parts)


def _observe_request(brokers: _Brokers) -> str:
    opened = len(brokers.a.connections)
    for _ in range(2):
        _ask(brokers.a)
    first = [frames[0] for frames in brokers.a.connections[opened:]]
    bodies = {frame[10 + int.from_bytes(frame[8:10], "big") :] for frame in first}
    heads = {frame[:4] for frame in first}
    if len(bodies) != 1 or heads != {b"\0\3\0\1"}:
        return f"{[frame.hex() for frame in first]}"
    return (
        f"Metadata v1, topics {bodies.pop().hex()}, first of {len(first)} connections"
    )


def _observe_response(brokers: _Brokers) -> Observation:
    response = _ask(brokers.a).response
    value = f"{len(response.brokers)} brokers, {len(response.topics)} topics"
    return Observation(value, "the broker has topic t")


def _observe_layout(brokers: _Brokers) -> str:
    question = ClientStrategy(documents=_DOCUMENTATION)
    with brokers.a.connect() as connection:
        frame = connection.exchange(question.data_to_send()) or b""
    return f"{frame[4:6].hex()} {frame[6:8].hex()} {frame[8:18].decode()}"


def _observe_versions(broker: LoopbackBroker) -> Observation:
    """Use every REQ_A version that the documentation lists."""
    table = ask(broker, ClientStrategy(documents=_DOCUMENTATION))
    usable = table.usable(REQ_A)
    answered = [
        f"v{version}" for version in usable if is_answered(broker, REQ_A, version)
    ]
    return Observation(" and ".join(answered), "each answered")


def _observe_new_connection(brokers: _Brokers) -> Observation:
    """Upgrade a broker from ApiVersion 4 to 5 between two connections."""
    running = DraftBroker(_make_server(4), [REQ_A])
    with LoopbackBroker(running.answer) as broker:
        before = ask(broker, ClientStrategy(documents=_DOCUMENTATION))
        old = before.ranges()[REQ_A]
        before.expire()
        running.server = _make_server(5)
        after = ask(broker, ClientStrategy(documents=_DOCUMENTATION))
    value = f"v{old}, then v{after.ranges()[REQ_A]}"
    return Observation(value, describe_expired(before, REQ_A))


def _observe_deprecation(brokers: _Brokers) -> Observation:
    strategy = ClientStrategy()
    table = ask(brokers.deprecating, strategy)
    number = strategy.response.api_version.protocol_version
    release = releases.protocol_version(number).release
    old = releases.deprecated(release)[_FETCH]
    is_served = table.ranges()[_FETCH].contains(old)
    value = f"Fetch v{old} deprecated, {'still' if is_served else 'not'} served"
    return Observation(value, f"ApiVersion {number}")


_EMPTY = "correlation id 7 alone, connection open"

DOCUMENT = Document(
    "000",
    "kip35_api_version",
    "000-kip-35-api-version",
    "KIP-35: one ApiVersion per broker, in Metadata v1",
    "BrokerA has ApiVersion 4, BrokerB has ApiVersion 5",
    _start_brokers,
    (
        Requirement(
            "A broker reports its ApiVersion, which counts up with each change of"
            " the protocol",
            'A: 4 "0.10.0-IV0", B: 5 "0.10.0-IV1"',
            "kip35_api_version.Server",
            "test_kip35_loopback.py::test_client_ends_in_the_table_of_the_server",
            _observe_api_versions,
        ),
        Requirement(
            "A client asks on each new connection: Metadata v1 with null topics",
            "Metadata v1, topics ffffffff, first of 2 connections",
            "kip35_api_version.ClientStrategy",
            "test_kip35_api_version.py::test_request_has_the_same_bytes_as_the_released_one",
            _observe_request,
        ),
        Requirement(
            "The response begins with INT16 ProtocolVersion, STRING BuildDescription",
            "0004 000a 0.10.0-IV0",
            "kip35_api_version.decode",
            "test_kip35_api_version.py::test_response_has_the_bytes_of_the_document",
            _observe_layout,
        ),
        Requirement(
            "It has the brokers as before, and no topics",
            "2 brokers, 0 topics",
            "kip35_api_version.Server",
            "test_kip35_api_version.py::test_null_topics_request_only_the_version",
            _observe_response,
        ),
        Requirement(
            "With documentation 4, a client uses v0 and v1 of REQ_A with BrokerA",
            "v0 and v1",
            "kip35_api_version.documented_table",
            "test_kip35_api_version.py::test_the_number_of_each_broker_gives_its_versions",
            lambda brokers: _observe_versions(brokers.a),
        ),
        Requirement(
            "With documentation 5, a client uses v1 and v2 of REQ_A with BrokerB",
            "v1 and v2",
            "kip35_api_version.documented_table",
            "test_kip35_api_version.py::test_the_number_of_each_broker_gives_its_versions",
            lambda brokers: _observe_versions(brokers.b),
        ),
        Requirement(
            "An ApiVersion is valid for one connection: the broker may be upgraded",
            "v0-1, then v1-2",
            "kip35_api_version.ClientStrategy",
            "test_kip35_loopback.py"
            "::test_a_broker_that_was_upgraded_in_between_has_a_new_table",
            _observe_new_connection,
        ),
        Requirement(
            "Documentation marks deprecated versions; brokers still serve them",
            "Fetch v0-3 deprecated, still served",
            "kip35_api_version.documented_table",
            "test_runs.py::test_each_requirement_is_met",
            _observe_deprecation,
        ),
        Requirement(
            "A broker answers an unknown API with an empty response",
            _EMPTY,
            "exchange.Answerer.answer",
            "test_kip35_loopback.py"
            "::test_servers_respond_empty_or_close_on_unsupported_requests",
            lambda brokers: empty_response.observe_unknown_api(brokers.a),
        ),
        Requirement(
            "It does so for REQ_A v2, which ApiVersion 4 does not have",
            _EMPTY,
            "exchange.Answerer.answer",
            "test_kip35_loopback.py"
            "::test_servers_respond_empty_or_close_on_unsupported_requests",
            lambda brokers: empty_response.observe_unsupported_version(
                brokers.a, REQ_A, 2
            ),
        ),
        Requirement(
            "An existing client fails to parse it, and knows which request it was",
            "parse error of HeartbeatResponse v2",
            "exchange.Answerer.answer",
            "test_runs.py::test_each_requirement_is_met",
            lambda brokers: empty_response.observe_old_client(
                brokers.a, HeartbeatRequest(), 2
            ),
        ),
        Requirement(
            "A new client reports that the server does not support the request",
            "Heartbeat version 2: request not supported by server",
            "exchange.Question.receive_frame",
            "test_kip35_loopback.py::test_an_empty_response_is_an_unsupported_request",
            lambda brokers: empty_response.observe_new_client(
                brokers.a, HeartbeatRequest(), {REQ_A: "0-2"}
            ),
        ),
    ),
)
