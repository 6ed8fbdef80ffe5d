# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Hypothesis settings: identical examples in every run, and no example database."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

settings.register_profile(
    "kwire",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("kwire")


@given(st.none())
def make_generator(_):
    """Make hypothesis create its random generator before objects are frozen.

    Hypothesis looks up the objects that refer to the generator. In CPython 3.14 and
    newer, this lookup does not find objects that ``gc.freeze`` has hidden.
    """
