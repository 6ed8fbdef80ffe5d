# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the tested engine's client modules, and for both runners."""

import importlib

import pytest

from tests.client.runners import RUNNERS


@pytest.fixture(scope="module")
def client(kwire):
    return importlib.import_module(f"{kwire.__name__}.client")


@pytest.fixture(scope="module")
def sasl(kwire):
    return importlib.import_module(f"{kwire.__name__}.connection.sasl")


@pytest.fixture(scope="module")
def messages(kwire):
    return importlib.import_module(f"{kwire.__name__}.messages")


@pytest.fixture(params=RUNNERS)
def runner(request):
    return request.param
