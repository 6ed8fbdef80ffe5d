# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Adapters are tested on the compiled engine, the only one they are installed with."""

import pytest
from fetched import CLIENTS

import kwire
from kwire.adapters import aiokafka_classes


@pytest.fixture(autouse=True)
def leave_clients_as_they_were():
    """Skip without the compiled engine; fail if an adapter stays installed."""
    if kwire.backend != "fast":
        pytest.skip("adapters are installed with the compiled engine alone")
    yield
    left = [name for name, adapter in CLIENTS.items() if adapter.is_installed]
    for name in left:
        CLIENTS[name].uninstall()
    assert left == []


@pytest.fixture
def decode_everything(monkeypatch):
    """Have the adapter decode what is so short that it leaves it to the client."""
    monkeypatch.setattr(aiokafka_classes, "LEAST_BYTES", 0)
