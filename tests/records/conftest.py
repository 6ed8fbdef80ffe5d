# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures that import the modules under test on one engine."""

import importlib

import pytest


@pytest.fixture(scope="session")
def records(kwire):
    """Return one engine's ``kwire.records``, with its submodule ``batches``."""
    importlib.import_module(f"{kwire.__name__}.records.batches")
    return kwire.records


@pytest.fixture(scope="session")
def columns(kwire):
    """Return one engine's ``kwire.records.columns``."""
    return importlib.import_module(f"{kwire.__name__}.records.columns")


@pytest.fixture(scope="session")
def arrow(kwire):
    """Return one engine's ``kwire.records.arrow``."""
    return importlib.import_module(f"{kwire.__name__}.records.arrow")
