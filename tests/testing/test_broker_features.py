# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Features that brokers of a test cluster advertise in ApiVersions (KIP-584)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kwire.connection import ClientConnection, Negotiated
from kwire.schema import releases
from kwire.testing.machine import make_table
from kwire.testing.state.features import is_since
from tests.testing.machine_client import make_machine

REQUEST_LOGS = Path(__file__).parents[1] / "data" / "request-logs"


def read_features(release, name):
    """Return the features in the log of a real broker, as (name, levels) by name."""
    (path,) = REQUEST_LOGS.glob(f"kafka-{release}.*.log")
    arrays = re.findall(rf'"{name}":(\[[^]]*\])', path.read_text())
    newest = max(arrays, key=len, default="[]")
    return {row.pop("name"): tuple(row.values()) for row in json.loads(newest)}


@pytest.mark.parametrize("release", ["2.8", "3.9", "4.3"])
def test_features_are_those_of_a_real_broker(release):
    table = make_table(release)
    supported = read_features(release, "supportedFeatures")
    assert {
        name: (levels.min, levels.max)
        for name, levels in table.supported_features.items()
    } == supported
    finalized = read_features(release, "finalizedFeatures")
    assert {
        name: (levels.max, levels.min)
        for name, levels in table.finalized_features.items()
    } == finalized


@pytest.mark.parametrize("release", releases.NAMES)
def test_finalized_levels_are_supported(release):
    table = make_table(release)
    assert (table.finalized_features_epoch >= 0) == is_since(release, "2.7")
    for name, levels in table.finalized_features.items():
        supported = table.supported_features[name]
        assert supported.min <= levels.min == levels.max <= supported.max
        assert levels.max > 0


def test_client_negotiates_the_second_transaction_protocol():
    machine = make_machine(release="4.4")
    broker = machine.connect(1)
    client = ClientConnection("test")
    broker.receive(client.data_to_send())
    (event,) = client.receive_data(broker.data_to_send())
    assert isinstance(event, Negotiated)
    levels = event.table.finalized_features["transaction.version"]
    assert (levels.min, levels.max) == (2, 2)
