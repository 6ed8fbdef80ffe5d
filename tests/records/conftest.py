# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The modules that these tests use, on the engine of the test."""

import importlib

import pytest


@pytest.fixture(scope="session")
def records(kwire):
    """``kwire.records`` on one engine, with its submodule ``batches``."""
    importlib.import_module(f"{kwire.__name__}.records.batches")
    return kwire.records


@pytest.fixture(scope="session")
def columns(kwire):
    """``kwire.records.columns`` on one engine."""
    return importlib.import_module(f"{kwire.__name__}.records.columns")


@pytest.fixture(scope="session")
def arrow(kwire):
    """``kwire.records.arrow`` on one engine."""
    return importlib.import_module(f"{kwire.__name__}.records.arrow")
