# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Complete client sessions with a broker that sends valid but false responses.

``tests/client/machines/test_lying_brokers.py`` only covers scans. This module applies
the same lies to producers, transactions, group consumers and scans with SASL. Every
session ends with records or a typed error, within a time limit and with a limited
request count.
"""

from __future__ import annotations

import random as random_module

import pytest

from tests.client.client_sessions import KINDS, run_session
from tests.client.machines.liar import Liar

SESSIONS = 150
"""Sessions per session type. Every session has its own liar."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "scan"])
def test_session_with_a_lying_broker_ends_with_records_or_a_typed_error(kwire, kind):
    """Covers false offsets, errors, leaders, epochs, throttle times and arrays."""
    failed = 0
    for seed in range(SESSIONS):
        random = random_module.Random(seed)
        release = random.choice(KINDS[kind][1])
        liar = Liar(kwire, random)
        try:
            _, failure = run_session(kwire, kind, release, lie=liar.in_place_of)
        except BaseException as error:
            error.add_note(f"seed {seed}, release {release}")
            raise
        failed += failure is not None
    assert 0 < failed < SESSIONS
