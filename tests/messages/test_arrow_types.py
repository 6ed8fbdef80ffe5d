# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the mapping between Kafka types, Spark type names and Arrow types."""

import subprocess
import sys

from kwire.messages.arrow_types import OF_PLAN, load_arrow_types
from kwire.schema import plan


def test_every_primitive_has_a_type():
    """A new Kafka type without a column type is detected here."""
    assert set(plan.CODES.values()) == set(OF_PLAN)
    assert set(OF_PLAN.values()) <= set(load_arrow_types())


def test_names_and_types_map_to_each_other():
    """Every type has a single name."""
    types = load_arrow_types()
    assert len(set(types.values())) == len(types)
    assert str(types["timestamp"]) == "timestamp[us, tz=UTC]"


def test_names_need_no_pyarrow():
    """Using type names does not import pyarrow."""
    code = "import sys, kwire.messages.arrow_types; print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
