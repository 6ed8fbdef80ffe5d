# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Adapters are tested on the engine of the build.

They leave clients as they are where it is plain Python, which would be slower. What
they decode there is right all the same, so the tests install them.
"""

import pytest

from kwire.client.adapters import adapter as adapters
from kwire.client.adapters import aiokafka_classes
from tests.client.adapters.fetched import CLIENTS


@pytest.fixture(autouse=True)
def leave_clients_as_they_were(monkeypatch):
    """Have adapters take any engine; fail if one of them stays installed."""
    monkeypatch.setattr(adapters, "backend", "fast")
    yield
    left = [name for name, adapter in CLIENTS.items() if adapter.is_installed]
    for name in left:
        CLIENTS[name].uninstall()
    assert left == []


@pytest.fixture
def decode_everything(monkeypatch):
    """Have the adapter decode what is so short that it leaves it to the client."""
    monkeypatch.setattr(aiokafka_classes, "LEAST_BYTES", 0)
