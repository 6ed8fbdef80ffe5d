# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Complete client sessions in which the bytes from a broker are damaged once.

An undamaged run first counts the bytes that the broker sends. Then the session runs
once per seed, with damage at a random byte in all connections, and once per byte, with
this byte's highest bit changed. Every run ends with its records or with a typed error,
within a time limit and with a limited request count. The client only accepts records
that the topic contains.
"""

from __future__ import annotations

import random as random_module

import pytest

from tests.client.client_sessions import KINDS, RECORDS, run_session

SESSIONS = 400
"""Damaged sessions per session type. The five types have 2,000 sessions in total."""


class Damage:
    """Damages the bytes of a session once.

    The position counts the bytes of all connections.
    """

    def __init__(self, position=-1, random=None):
        """Choose the position of the damage. Without arguments, there is no damage."""
        self.position = position
        self.random = random
        self.sent = 0

    def apply(self, data):
        """Return the bytes that the client receives instead of ``data``."""
        position = self.position - self.sent
        self.sent += len(data)
        if not 0 <= position < len(data):
            return data
        return self.damage(data[:position], data[position:])

    def damage(self, before, after):
        """Return the bytes with random damage to the first byte in ``after``."""
        random = self.random
        kind = random.randrange(7)
        if kind == 0:
            return before + bytes([after[0] ^ 1 << random.randrange(8)]) + after[1:]
        if kind == 1:
            return before + random.randbytes(1) + after[1:]
        if kind == 2:
            return before + random.choice([b"\0", b"\xff"]) * len(after[:4]) + after[4:]
        if kind == 3:
            return before + random.randbytes(random.randint(1, 40)) + after
        if kind == 4:
            return before + after[random.randint(1, 40) :]
        if kind == 5:
            return before + after[:30] + after
        return before + random.randbytes(len(after))


class ChangedBit(Damage):
    """Changes a byte's highest bit, so that numbers become negative or huge."""

    def damage(self, before, after):
        """Return the bytes with the changed bit."""
        return before + bytes([after[0] ^ 0x80]) + after[1:]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_session_with_one_changed_bit_ends_with_records_or_a_typed_error(kwire, kind):
    """Every byte is changed once, so that no field is omitted."""
    release = KINDS[kind][1][0]
    whole = Damage()
    assert run_session(kwire, kind, release, whole.apply) == (RECORDS, None)
    for position in range(whole.sent):
        damage = ChangedBit(position)
        try:
            run_session(kwire, kind, release, damage.apply)
        except BaseException as error:
            error.add_note(f"release {release}, byte {position}")
            raise
        assert damage.sent > position, f"byte {position}: nothing was damaged"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_session_ends_with_records_or_a_typed_error(kwire, kind):
    """When most damage occurs, the client reconnects and receives all records."""
    releases = KINDS[kind][1]
    lengths = {}
    for release in releases:
        damage = Damage()
        assert run_session(kwire, kind, release, damage.apply) == (RECORDS, None)
        lengths[release] = damage.sent
    complete = 0
    for seed in range(SESSIONS):
        random = random_module.Random(seed)
        release = random.choice(releases)
        damage = Damage(random.randrange(lengths[release]), random)
        try:
            count, failure = run_session(kwire, kind, release, damage.apply)
        except BaseException as error:
            error.add_note(f"seed {seed}, release {release}, byte {damage.position}")
            raise
        assert damage.sent > damage.position, f"seed {seed}: nothing was damaged"
        complete += count == RECORDS and failure is None
    # A rejected SASL exchange is final, so fewer SASL sessions are complete.
    assert SESSIONS / 4 < complete < SESSIONS
