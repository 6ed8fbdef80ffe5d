# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the codecs with all their libraries."""

import sys

import pytest

from tests.records.compression.codecs_under_test import ROUTES, Codec


@pytest.fixture(params=sorted(ROUTES))
def route(request, kwire, monkeypatch):
    """Return every codec with all its libraries."""
    name, missing = ROUTES[request.param]
    if missing:
        monkeypatch.setitem(sys.modules, missing, None)
    return Codec(kwire, name)
