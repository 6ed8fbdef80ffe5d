# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""pytest plugin: the fixture ``kafka_cluster`` and the marker of the same name.

pytest does not load the plugin automatically. Name it in a ``conftest.py``:

    pytest_plugins = ["kwire.testing.pytest"]
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from . import Cluster, cluster

MARKER = "kafka_cluster"


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, so that ``--strict-markers`` accepts it."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(**arguments): arguments of kwire.testing.cluster for the fixture"
        f" {MARKER}, such as brokers=3, topics={{'orders': 4}} or release='3.9'.",
    )


@pytest.fixture
def kafka_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Kafka cluster for one test: one broker of the newest release, without topics.

    The marker ``kafka_cluster`` changes the arguments of ``kwire.testing.cluster``. A
    marker of a test overrides single arguments of the marker of its class or module.
    """
    arguments: dict[str, object] = {}
    # The closest marker is the first one, and must be applied last.
    for marker in reversed(list(request.node.iter_markers(MARKER))):
        if marker.args:
            raise pytest.UsageError(
                f"{MARKER} has only keyword arguments (got {marker.args!r:.80});"
                " use brokers=3 or topics={'orders': 4}"
            )
        arguments.update(marker.kwargs)
    with cluster(**arguments) as kafka:  # type: ignore[arg-type]
        yield kafka
