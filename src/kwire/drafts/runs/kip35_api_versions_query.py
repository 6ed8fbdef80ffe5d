# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs KIP-35, document 004: brokers B1 and B2, and two features as in its example.

Keys 0, 1 and 2 are Kafka's Produce, Fetch and ListOffsets. The brokers use API key 1000
for the draft's request, because the document does not specify one.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ...connection.negotiation import (
    ApiVersionTable,
    ClusterVersions,
    Feature,
    VersionPolicy,
)
from ...errors import RemoteProtocolError, UnsupportedVersion
from ..kip35_api_versions_query import VERSION, ClientStrategy, Server, decode
from .loopback import LoopbackBroker
from .negotiating import DraftBroker, ask, describe_expired, is_answered
from .requirement import Document, Observation, Requirement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_API_KEY = 1000
_B1 = {0: (0, 3), 1: (2, 3)}
_B2 = {0: (1, 2), 1: (0, 3), 2: (0, 0)}
_BACKPORTED = {1: (0, 2)}
"""Versions of the 0.9.1 broker in the document: 0 to 2, where 1 is deprecated."""

_FEATURES = (
    Feature("Feature1", {0: (3, 3), 1: (2, 3)}),
    Feature("Feature2", {0: (0, 1), 1: (2, 3)}),
)


class _Brokers(NamedTuple):
    b1: LoopbackBroker
    b2: LoopbackBroker
    backported: LoopbackBroker
    older: LoopbackBroker


@contextmanager
def _start_brokers() -> Iterator[_Brokers]:
    with ExitStack() as stack:
        b1, b2, backported = (
            stack.enter_context(
                LoopbackBroker(DraftBroker(Server(_API_KEY, served), [0, 1, 2]).answer)
            )
            for served in (_B1, _B2, _BACKPORTED)
        )
        older = stack.enter_context(LoopbackBroker(lambda frame: None))
        yield _Brokers(b1, b2, backported, older)


def _ask(
    broker: LoopbackBroker, policy: VersionPolicy | None = None
) -> ApiVersionTable:
    strategy = ClientStrategy(_API_KEY, policy=policy or VersionPolicy())
    return ask(broker, strategy)


def _receive_rows(broker: LoopbackBroker, api_keys: Iterable[int] | None = None) -> str:
    """Return the response rows in the document's notation."""
    strategy = ClientStrategy(_API_KEY, api_keys)
    with broker.connect() as connection:
        frame = connection.exchange(strategy.data_to_send())
    rows = decode(frame or b"", 4).api_versions
    return ", ".join(
        f"({row.api_key}, {row.min_version}, {row.max_version})" for row in rows
    )


def _observe_every_version(brokers: _Brokers) -> Observation:
    count = answered = 0
    for broker in (brokers.b1, brokers.b2):
        for api_key, versions in _ask(broker).ranges().items():
            count += len(versions)
            answered += sum(
                is_answered(broker, api_key, version) for version in versions
            )
    return Observation(f"{answered} of {count} versions answered", "B1 and B2")


def _make_cluster(brokers: _Brokers) -> ClusterVersions:
    return ClusterVersions({"B1": _ask(brokers.b1), "B2": _ask(brokers.b2)})


def _observe_cluster(brokers: _Brokers) -> str:
    return ", ".join(
        f"({key}, {versions.min}, {versions.max})"
        for key, versions in _make_cluster(brokers).ranges().items()
    )


def _observe_feature(feature: Feature, brokers: _Brokers) -> str:
    is_usable = _make_cluster(brokers).supports(feature)
    return "can be used" if is_usable else "cannot be used"


def _observe_latest(brokers: _Brokers) -> str:
    cluster = _make_cluster(brokers)
    picked = (f"API {key}: v{cluster.pick(key)}" for key in (0, 1))
    return ", ".join(picked)


def _observe_missing_api(brokers: _Brokers) -> str:
    try:
        return f"v{_make_cluster(brokers).pick(2)}"
    except UnsupportedVersion as error:
        return type(error).__name__


def _observe_deprecation(brokers: _Brokers) -> Observation:
    table = _ask(brokers.backported, policy=VersionPolicy(exclude={1: [1]}))
    low, high = table.advertised[1]
    usable = " and ".join(f"v{version}" for version in table.usable(1))
    return Observation(f"received {low}-{high}, used {usable}")


def _observe_new_connection(brokers: _Brokers) -> Observation:
    """Upgrade a broker from the B1 ranges to the B2 ranges between connections."""
    servers = [Server(_API_KEY, _B1), Server(_API_KEY, _B2)]
    with LoopbackBroker(lambda frame: servers.pop(0).answer(frame)) as broker:
        before = _ask(broker)
        first = before.advertised[0]
        before.expire()
        after = _ask(broker)
    value = f"{first}, then {after.advertised[0]}"
    return Observation(value, describe_expired(before, 0))


def _observe_closed(brokers: _Brokers) -> str:
    try:
        _ask(brokers.older)
    except RemoteProtocolError as error:
        words = "closed the connection" in str(error)
        return "error that names the closed connection" if words else str(error)
    return "no error"


def _observe_fallback(brokers: _Brokers) -> str:
    strategy = ClientStrategy(_API_KEY, fallback="0.9.0")
    with brokers.older.connect() as connection:
        frame = connection.exchange(strategy.data_to_send())
    table = strategy.connection_lost() if frame is None else strategy.table
    return f"Fetch v{table.pick(1)}" if table is not None else "no table"


def _observe_optional(brokers: _Brokers) -> str:
    asked = brokers.b1.count(_API_KEY)
    is_served = is_answered(brokers.b1, 1, 2)
    count = brokers.b1.count(_API_KEY) - asked
    return f"Fetch v2 {'answered' if is_served else 'refused'} after {count} questions"


def _observe_own_version(brokers: _Brokers) -> str:
    answered = 0
    for broker in (brokers.b1, brokers.b2, brokers.backported):
        _ask(broker)
        frame = broker.connections[-1][0]
        answered += int.from_bytes(frame[2:4], "big") == VERSION
    return f"v{VERSION} answered by {answered} of 3 brokers"


DOCUMENT = Document(
    "004",
    "kip35_api_versions_query",
    "004-kip-35-api-versions-query",
    "KIP-35: ranges of versions in ApiVersionQueryRequest",
    "brokers B1 and B2, and a client that requires Feature1 or Feature2",
    _start_brokers,
    (
        Requirement(
            "A null array of keys requests all APIs: the row of B1 in the text",
            "(0, 0, 3), (1, 2, 3)",
            "kip35_api_versions_query.Server",
            "test_kip35_api_versions_query.py"
            "::test_null_requests_all_apis_and_a_list_requests_its_apis",
            lambda brokers: _receive_rows(brokers.b1),
        ),
        Requirement(
            "The row of B2: key, lowest and highest version, both included",
            "(0, 1, 2), (1, 0, 3), (2, 0, 0)",
            "kip35_api_versions_query.decode",
            "test_kip35_api_versions_query.py"
            "::test_null_requests_all_apis_and_a_list_requests_its_apis",
            lambda brokers: _receive_rows(brokers.b2),
        ),
        Requirement(
            "An array of keys requests those APIs only: 0 and 1 of B2",
            "(0, 1, 2), (1, 0, 3)",
            "kip35_api_versions_query.Server",
            "test_kip35_api_versions_query.py"
            "::test_null_requests_all_apis_and_a_list_requests_its_apis",
            lambda brokers: _receive_rows(brokers.b2, [0, 1]),
        ),
        Requirement(
            "A broker supports every version between the two",
            "13 of 13 versions answered",
            "kip35_api_versions_query.Server",
            "test_runs.py::test_each_requirement_is_met",
            _observe_every_version,
        ),
        Requirement(
            "A client of both brokers builds the versions that both support",
            "(0, 1, 2), (1, 2, 3)",
            "kip35_api_versions_query.ClientStrategy",
            "test_kip35_api_versions_query.py"
            "::test_two_brokers_have_the_common_versions_of_the_document",
            _observe_cluster,
        ),
        Requirement(
            "It uses the latest version that all of them support",
            "API 0: v2, API 1: v3",
            "kip35_api_versions_query.ClientStrategy",
            "test_kip35_api_versions_query.py"
            "::test_two_brokers_have_the_common_versions_of_the_document",
            _observe_latest,
        ),
        Requirement(
            "It raises an error for an API that a broker lacks: API 2, B1",
            "UnsupportedVersion",
            "kip35_api_versions_query.ClientStrategy",
            "test_kip35_api_versions_query.py"
            "::test_two_brokers_have_the_common_versions_of_the_document",
            _observe_missing_api,
        ),
        Requirement(
            "Feature1 needs (0, 3, 3), which not all brokers support",
            "cannot be used",
            "kip35_api_versions_query.ClientStrategy",
            "test_kip35_api_versions_query.py"
            "::test_two_brokers_have_the_common_versions_of_the_document",
            partial(_observe_feature, _FEATURES[0]),
        ),
        Requirement(
            "Feature2 needs (0, 0, 1) and (1, 2, 3)",
            "can be used",
            "kip35_api_versions_query.ClientStrategy",
            "test_kip35_api_versions_query.py"
            "::test_two_brokers_have_the_common_versions_of_the_document",
            partial(_observe_feature, _FEATURES[1]),
        ),
        Requirement(
            "A deprecated version stays in the range (0-2), and clients avoid it (1)",
            "received 0-2, used v0 and v2",
            "kip35_api_versions_query.ClientStrategy",
            "test_kip35_api_versions_query.py"
            "::test_a_version_can_be_in_the_range_and_not_be_used",
            _observe_deprecation,
        ),
        Requirement(
            "The versions are valid for one connection: the broker may be upgraded",
            "(0, 3), then (1, 2)",
            "kip35_api_versions_query.ClientStrategy",
            "test_kip35_loopback.py::test_one_server_answers_many_connections",
            _observe_new_connection,
        ),
        Requirement(
            "If the broker closes the connection, it may be older or have another"
            " problem: the client can stop with an error",
            "error that names the closed connection",
            "exchange.Question.connection_lost",
            "test_kip35_loopback.py::test_a_server_that_hangs_up_is_a_typed_error",
            _observe_closed,
        ),
        Requirement(
            "Or it uses a safe default: the versions of Kafka 0.9.0",
            "Fetch v1",
            "exchange.Question.connection_lost",
            "test_kip35_loopback.py::test_a_client_with_a_fallback_assumes_it",
            _observe_fallback,
        ),
        Requirement(
            "The request is optional: existing clients are not affected",
            "Fetch v2 answered after 0 questions",
            "kip35_api_versions_query.Server",
            "test_runs.py::test_each_requirement_is_met",
            _observe_optional,
        ),
        Requirement(
            "Version 0 of the request itself is never deprecated",
            "v0 answered by 3 of 3 brokers",
            "kip35_api_versions_query.Server",
            "test_runs.py::test_each_requirement_is_met",
            _observe_own_version,
        ),
    ),
)
