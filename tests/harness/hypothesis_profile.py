# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of hypothesis: the same examples on every run, and no files."""

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
    """Have hypothesis make its random numbers' generator before objects are frozen.

    It looks for what refers to the generator, and in CPython 3.14 and newer finds
    nothing that ``gc.freeze`` has hidden.
    """
