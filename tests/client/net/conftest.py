# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The modules of ``kwire.client.net`` on the engine of the test."""

import importlib

import pytest


@pytest.fixture(scope="module")
def net(kwire):
    return importlib.import_module(f"{kwire.__name__}.client.net")


@pytest.fixture(scope="module")
def sasl(kwire):
    return importlib.import_module(f"{kwire.__name__}.connection.sasl")


@pytest.fixture(scope="module")
def messages(kwire):
    return importlib.import_module(f"{kwire.__name__}.messages")
