# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the codecs with all their libraries."""

import sys

import pytest

from tests.records.compression.codecs_under_test import ROUTES, Codec


@pytest.fixture(params=sorted(ROUTES))
def route(request, kwire, monkeypatch):
    """Return a codec that uses one of its libraries. The test runs once per route."""
    name, missing = ROUTES[request.param]
    if missing:
        monkeypatch.setitem(sys.modules, missing, None)
    return Codec(kwire, name)
