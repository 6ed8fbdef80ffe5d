# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the mapping between Kafka types, Spark type names and Arrow types."""

import subprocess
import sys

from kwire.messages.arrow_types import OF_PLAN, load_arrow_types
from kwire.schema import plan


def test_every_primitive_has_a_type():
    """Every Kafka type has a column type. A new type would be detected here."""
    assert set(plan.CODES.values()) == set(OF_PLAN)
    assert set(OF_PLAN.values()) <= set(load_arrow_types())


def test_names_and_types_map_to_each_other():
    """Every column type has exactly one name, and every name one type."""
    types = load_arrow_types()
    assert len(set(types.values())) == len(types)
    assert str(types["timestamp"]) == "timestamp[us, tz=UTC]"


def test_names_need_no_pyarrow():
    """Converting type names does not import pyarrow."""
    code = "import sys, kwire.messages.arrow_types; print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
