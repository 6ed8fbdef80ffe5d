# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test adapters on either engine.

With the Python engine, adapters do not change the clients, because decoding would be
slower. They would still decode correctly, so the tests install them on either engine.
"""

import pytest

from kwire.client.adapters import adapter as adapters
from kwire.client.adapters import aiokafka_classes
from tests.client.adapters.fetched import CLIENTS


@pytest.fixture(autouse=True)
def leave_clients_as_they_were(monkeypatch):
    """Let adapters be installed with both engines, and remove them after the test.

    The test fails if it has left an adapter installed.
    """
    monkeypatch.setattr(adapters, "backend", "fast")
    yield
    installed = [name for name, adapter in CLIENTS.items() if adapter.is_installed]
    for name in installed:
        CLIENTS[name].uninstall()
    assert installed == []


@pytest.fixture
def decode_everything(monkeypatch):
    """Decode short data with the adapter, too. Normally, the client decodes it."""
    monkeypatch.setattr(aiokafka_classes, "LEAST_BYTES", 0)
