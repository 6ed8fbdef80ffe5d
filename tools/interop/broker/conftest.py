# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures and options for the live checks: ``pytest tools/interop/broker``.

If a broker cannot start, the checks fail instead of being skipped, because they require
Maven and Java 17 or newer. Brokers and the cluster start when the first check requests
them. They are shared by all checks of a run, so every check must use separate topics
and groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tools.interop.broker import broker as brokers
from tools.interop.broker import cluster as clusters
from tools.interop.broker.broker import Broker
from tools.interop.broker.cluster import Cluster

CLUSTER_SETTINGS = {
    "transaction.state.log.num.partitions": "3",
    # The coordinator detects a killed group member after 3 s instead of 45 s.
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.session.timeout.ms": "3000",
    "group.consumer.min.session.timeout.ms": "3000",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options that select releases, the number of kills, and the seed."""
    group = parser.getgroup("live checks")
    group.addoption(
        "--kafka",
        action="append",
        metavar="VERSION",
        help="such as 4.x or 3.9.2, in place of the releases of a check; repeatable",
    )
    group.addoption("--times", type=int, help="in place of the kills of a check")
    group.addoption("--seed", type=int, help="in place of the seed of a check")
    group.addoption("--night", action="store_true", help="all runs of each check")
    group.addoption("--all", action="store_true", help="all releases from 0.8 on")
    group.addoption(
        "--document",
        action="store_true",
        help="write the last result of each release into docs/guides/live.md",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks of the checks.

    Ignore the deprecation warnings of other clients.
    """
    config.addinivalue_line("filterwarnings", "ignore::DeprecationWarning")
    config.addinivalue_line(
        "markers", "plan(times, seed, at_night): kills or runs of a check, random seed"
    )
    config.addinivalue_line(
        "markers",
        "releases(*versions, at_night): run the check with brokers of these releases,"
        " and of more of them at night",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a check with each release of its ``releases`` mark.

    ``--kafka`` and ``--all`` select other releases.
    """
    mark = metafunc.definition.get_closest_marker("releases")
    if mark is not None:
        option = metafunc.config.getoption
        named = mark.args
        if option("--night"):
            named += mark.kwargs.get("at_night", ())
        every = brokers.releases() if option("--all") else named
        versions = option("--kafka") or every
        metafunc.parametrize("version", versions, scope="session")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write the documentation page if requested and if all checks have passed."""
    if session.config.getoption("--document") and exitstatus == 0:
        from tools.interop.broker.test_releases import document

        document()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort checks by release, and run the checks that need the cluster last."""

    def order(item: pytest.Item) -> tuple[bool, str]:
        call = getattr(item, "callspec", None)
        version = call.params.get("version", "") if call is not None else ""
        return "cluster" in getattr(item, "fixturenames", ()), version

    items.sort(key=order)


@pytest.fixture(scope="session")
def start_broker() -> Iterator[Callable[..., Broker]]:
    """Return a function that returns the running broker of a release.

    The function starts the broker at its first call. Brokers of the previous release
    are stopped first, because the machine may have only two processors.
    """
    started: dict[Any, Broker] = {}
    with ExitStack() as stack:

        def start(version: str, settings: dict[str, str] | None = None) -> Broker:
            release = brokers.find_release(version)
            key = release, *(settings or ())
            if any(release != other for other, *_ in started):
                stack.close()
                started.clear()
            if key not in started:
                running = brokers.running(release, settings=settings)
                started[key] = stack.enter_context(running)
            return started[key]

        yield start


@pytest.fixture
def kafka(start_broker: Callable[..., Broker], version: str) -> Broker:
    """Broker of the release that is being checked."""
    return start_broker(version)


@pytest.fixture
def wire(kafka: Broker) -> Iterator[Any]:
    """Connection of kwire to the broker. It is closed at the end of the check."""
    # Import here, because the imported clients emit warnings. Before pytest is
    # configured, these warnings are errors.
    from tools.interop.broker.wire import Connection

    connection = Connection(kafka)
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Cluster with three brokers, for the checks that kill brokers."""
    (version,) = request.config.getoption("--kafka") or ["4.x"]
    with clusters.running(version, settings=CLUSTER_SETTINGS) as running:
        yield running


@pytest.fixture
def plan(request: pytest.FixtureRequest) -> tuple[int, int]:
    """Number of kills or runs, and the random seed, as a pair.

    Both are arguments of the ``plan`` mark. ``--times`` and ``--seed`` override them.
    """
    mark = request.node.get_closest_marker("plan")
    times, seed = mark.args
    option = request.config.getoption
    if option("--night"):
        times = mark.kwargs.get("at_night", times)
    return option("--times") or times, option("--seed") or seed
