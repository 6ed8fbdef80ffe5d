# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs KIP-35, document 001: the version lists in its example.

One broker has the descending lists from the example, and another broker has ascending
lists as the text specifies. Both use API key 1000, because the document does not
specify one.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ...connection.negotiation import ClusterVersions
from ...messages import FetchRequest, HeartbeatRequest
from ..kip35_protocol_version_request import (
    ClientStrategy,
    ProtocolVersionResponse,
    Server,
    ThreeColumnResponse,
)
from . import empty_response
from .loopback import LoopbackBroker
from .negotiating import DraftBroker, ask, describe_expired, is_answered
from .requirement import Document, Observation, Requirement

if TYPE_CHECKING:
    from collections.abc import Iterator

_API_KEY = 1000
_NAMES = {0: "ProduceRequest", 1: "FetchRequest", 2: "OffsetRequest"}
_Lists: TypeAlias = dict[int, tuple[list[int], list[int]]]
_EXAMPLE: _Lists = {0: ([2, 1, 0], []), 1: ([1, 0], []), 2: ([2], [0, 1])}
_ASCENDING: _Lists = {0: ([0, 1, 2], []), 1: ([0, 1], []), 2: ([0, 1, 2], [])}
"""Supported and deprecated versions by API key, as in the example and in the text."""


class _Brokers(NamedTuple):
    example: LoopbackBroker
    ascending: LoopbackBroker
    three_columns: LoopbackBroker


@contextmanager
def _start_brokers() -> Iterator[_Brokers]:
    responses = (
        _make_response(ProtocolVersionResponse, _EXAMPLE),
        _make_response(ProtocolVersionResponse, _ASCENDING),
        _make_response(ThreeColumnResponse, _EXAMPLE),
    )
    with ExitStack() as stack:
        yield _Brokers(
            *(
                stack.enter_context(LoopbackBroker(DraftBroker(server, _NAMES).answer))
                for server in (
                    Server(_API_KEY, response, may_describe=_may_describe)
                    for response in responses
                )
            )
        )


def _may_describe(client_id: str | None) -> bool:
    return client_id != "guest"


def _make_response(cls: Any, versions: _Lists) -> Any:
    rows = []
    for key, (supported, deprecated) in versions.items():
        row = {"api_key": key, "api_name": _NAMES[key], "api_versions": supported}
        if cls is ProtocolVersionResponse:
            row["api_deprecated_versions"] = deprecated
        rows.append(cls.SupportedApi(**row))
    return cls(apis=rows)


def _ask(broker: LoopbackBroker, **options: Any) -> ClientStrategy:
    strategy = ClientStrategy(_API_KEY, **options)
    ask(broker, strategy)
    return strategy


def _observe_request(brokers: _Brokers) -> str:
    _ask(brokers.example)
    frame = brokers.example.connections[-1][0]
    return f"body of {len(frame) - 10 - int.from_bytes(frame[8:10], 'big')} bytes"


def _observe_row(index: int, brokers: _Brokers) -> str:
    row = _ask(brokers.example).response.apis[index]
    lists = (row.api_versions, row.api_deprecated_versions)
    texts = ("[" + ",".join(map(str, versions)) + "]" for versions in lists)
    return f"{row.api_key} {row.api_name} {' '.join(texts)}"


def _observe_preference(brokers: _Brokers) -> Observation:
    ascending, example = _ask(brokers.ascending), _ask(brokers.example)
    has_warning = "ProduceRequest" in example.suspects()
    return Observation(
        _describe_preference(ascending),
        f"{_describe_preference(example)}, {'with' if has_warning else 'no'} warning",
    )


def _describe_preference(client: ClientStrategy) -> str:
    listed = client.response.apis[0].api_versions
    return f"v{client.preferred(0)} of [{','.join(map(str, listed))}]"


def _observe_choice(brokers: _Brokers) -> str:
    table = _ask(brokers.example).table
    assert table is not None
    parts = []
    for api_key, name in _NAMES.items():
        version = table.pick(api_key)
        if is_answered(brokers.example, api_key, version):
            parts.append(f"{name.removesuffix('Request')} v{version}")
    return f"{', '.join(parts)} answered"


def _observe_three_columns(brokers: _Brokers) -> str:
    response = _ask(brokers.three_columns, columns=3).response
    return f"{len(response.apis)} APIs, {len(response.apis[0].to_dict())} columns"


def _observe_describe(brokers: _Brokers) -> str:
    parts = []
    for client_id in ("admin", "guest"):
        strategy = ClientStrategy(_API_KEY, client_id=client_id)
        with brokers.example.connect() as connection:
            frame = connection.exchange(strategy.data_to_send())
        parts.append(f"{client_id} {'closed' if frame is None else 'answered'}")
    return ", ".join(parts)


def _observe_new_connection(brokers: _Brokers) -> Observation:
    asked = brokers.example.count(_API_KEY)
    opened = len(brokers.example.connections)
    first = _ask(brokers.example).table
    assert first is not None
    first.expire()
    _ask(brokers.example)
    count = brokers.example.count(_API_KEY) - asked
    connections = len(brokers.example.connections) - opened
    value = f"{count} requests on {connections} connections"
    return Observation(value, describe_expired(first, 0))


def _observe_optional(brokers: _Brokers) -> str:
    asked = brokers.example.count(_API_KEY)
    is_served = is_answered(brokers.example, 1, 1)
    count = brokers.example.count(_API_KEY) - asked
    return f"Fetch v1 {'answered' if is_served else 'refused'} after {count} questions"


def _observe_brokers(brokers: _Brokers) -> str:
    """Let a broker query another broker, and compute the common versions."""
    tables = {"example": _ask(brokers.example), "ascending": _ask(brokers.ascending)}
    cluster = ClusterVersions(
        {name: strategy.table for name, strategy in tables.items() if strategy.table}
    )
    return ", ".join(
        f"{_NAMES[key].removesuffix('Request')} v{versions}"
        for key, versions in cluster.ranges().items()
    )


_EMPTY = "correlation id 7 alone, connection open"

DOCUMENT = Document(
    "001",
    "kip35_protocol_version_request",
    "001-kip-35-protocol-version-request",
    "KIP-35: lists of versions in ProtocolVersionRequest",
    "a broker lists the versions of each API, the preferred one last",
    _start_brokers,
    (
        Requirement(
            "ProtocolVersionRequest is empty",
            "body of 0 bytes",
            "kip35_protocol_version_request.ClientStrategy",
            "test_kip35_protocol_version_request.py::test_the_request_has_no_body",
            _observe_request,
        ),
        *(
            Requirement(
                text,
                expected,
                "kip35_protocol_version_request.decode",
                "test_kip35_protocol_version_request.py"
                "::test_the_example_of_the_document_has_95_bytes",
                partial(_observe_row, index),
            )
            for index, (text, expected) in enumerate(
                (
                    (
                        "The response has a row for each API: key, name, versions,"
                        " deprecated versions",
                        "0 ProduceRequest [2,1,0] []",
                    ),
                    ("The second row of the example", "1 FetchRequest [1,0] []"),
                    (
                        "The third row: deprecated versions are a list of their own",
                        "2 OffsetRequest [2] [0,1]",
                    ),
                )
            )
        ),
        Requirement(
            "The grammar without the deprecated versions can be read as well",
            "3 APIs, 3 columns",
            "kip35_protocol_version_request.decode",
            "test_kip35_protocol_version_request.py"
            "::test_three_columns_are_spoken_if_both_sides_say_so",
            _observe_three_columns,
        ),
        Requirement(
            "The most preferred version is the last one of a list",
            "v2 of [0,1,2]",
            "kip35_protocol_version_request.by_preference",
            "test_kip35_protocol_version_request.py"
            "::test_most_preferred_version_is_last",
            _observe_preference,
        ),
        Requirement(
            "A client selects a version of each API and uses it",
            "Produce v2, Fetch v1, Offset v2 answered",
            "kip35_protocol_version_request.make_table",
            "test_kip35_protocol_version_request.py"
            "::test_gaps_of_a_version_list_are_not_usable",
            _observe_choice,
        ),
        Requirement(
            "Brokers of two releases agree on the versions that both have",
            "Produce v0-2, Fetch v0-1, Offset v2",
            "kip35_protocol_version_request.make_table",
            "test_runs.py::test_each_requirement_is_met",
            _observe_brokers,
        ),
        Requirement(
            "With authentication, a client needs the right to Describe the cluster",
            "admin answered, guest closed",
            "kip35_protocol_version_request.Server",
            "test_kip35_protocol_version_request.py"
            "::test_describe_permission_on_the_cluster_is_required",
            _observe_describe,
        ),
        Requirement(
            "The response is valid for one connection, so a client asks again",
            "2 requests on 2 connections",
            "kip35_protocol_version_request.ClientStrategy",
            "test_kip35_loopback.py::test_one_server_answers_many_connections",
            _observe_new_connection,
        ),
        Requirement(
            "A client does not have to ask",
            "Fetch v1 answered after 0 questions",
            "kip35_protocol_version_request.Server",
            "test_runs.py::test_each_requirement_is_met",
            _observe_optional,
        ),
        Requirement(
            "A broker answers an unknown API with an empty response",
            _EMPTY,
            "exchange.Answerer.answer",
            "test_kip35_loopback.py"
            "::test_servers_respond_empty_or_close_on_unsupported_requests",
            lambda brokers: empty_response.observe_unknown_api(brokers.example),
        ),
        Requirement(
            "It does so for Fetch v9, which it does not support",
            _EMPTY,
            "exchange.Answerer.answer",
            "test_kip35_loopback.py"
            "::test_servers_respond_empty_or_close_on_unsupported_requests",
            lambda brokers: empty_response.observe_unsupported_version(
                brokers.example, FetchRequest.api_key, 9
            ),
        ),
        Requirement(
            "An existing client fails to parse it, and knows which request it was",
            "parse error of FetchResponse v9",
            "exchange.Answerer.answer",
            "test_runs.py::test_each_requirement_is_met",
            lambda brokers: empty_response.observe_old_client(
                brokers.example, FetchRequest(), 9
            ),
        ),
        Requirement(
            "A new client reports that the server does not support the request",
            "Heartbeat version 2: request not supported by server",
            "exchange.Question.receive_frame",
            "test_kip35_loopback.py::test_an_empty_response_is_an_unsupported_request",
            lambda brokers: empty_response.observe_new_client(
                brokers.example, HeartbeatRequest(), {HeartbeatRequest.api_key: "0-2"}
            ),
        ),
    ),
)
