# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Adapters are tested on the compiled engine, the only one they are installed with."""

import pytest
from fetched import CLIENTS

import kwire


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
