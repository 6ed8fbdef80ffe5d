# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Simulate transactions under faults: atomic, without duplicate records.

A seed is a cluster, its faults and the producers with one transactional id. Failures
contain their seed. The bugs below are injected into the producer one by one, and the
simulation must detect all of them.
"""

import os

import pytest

import kwire
from kwire.client.machines.produce import partition_writer, transactions
from kwire.client.machines.produce.transactions import Knowledge, Transactions
from kwire.messages import EndTxnRequest, EndTxnResponse
from tests.client.machines.transaction_scenario import (
    ABORTED,
    COMMITTED,
    IN_DOUBT,
    run_transaction_seed,
)

SEEDS = int(os.environ.get("KWIRE_SIMULATION_SEEDS", "600")) // 12
NOTICED_WITHIN = 300
"""Number of seeds that are enough to detect each bug."""


def test_a_transaction_is_all_or_nothing():
    """A read_committed consumer sees a complete transaction or nothing.

    This includes its offsets, and matches the result that the producer reported.
    """
    outcomes = []
    protocols = set()
    for seed in range(SEEDS):
        scenario = run_transaction_seed(kwire, seed)
        outcomes += [report.outcome for report in scenario.reports]
        protocols.add(scenario.is_second)
    # Fail if the simulation had no effect.
    assert protocols == {False, True}
    assert outcomes.count(COMMITTED) > 3 * SEEDS
    assert outcomes.count(ABORTED) > SEEDS
    assert outcomes.count(IN_DOUBT) > SEEDS / 10


def commit_too_early(patch):
    """Send the commit while records are unacknowledged."""
    advance = Transactions.advance

    def hasty(self, now, *, is_idle):
        advance(self, now, is_idle=True)

    patch.setattr(Transactions, "advance", hasty)


def name_no_partitions(patch):
    """Write to partitions that were not added to the transaction."""
    patch.setattr(Transactions, "add_partition", lambda self, topic, partition: True)


def remember_partitions(patch):
    """Treat the previous transaction's partitions as added."""
    finish = Transactions._finish

    def keep(self, *arguments):
        added = set(self._added)
        finish(self, *arguments)
        self._added = added

    patch.setattr(Transactions, "_finish", keep)


def remember_groups(patch):
    """Treat the previous transaction's groups as added."""
    finish = Transactions._finish

    def keep(self, *arguments):
        groups = set(self._groups)
        finish(self, *arguments)
        self._groups = groups

    patch.setattr(Transactions, "_finish", keep)


def keep_the_epoch(patch):
    """Ignore the new epoch in the EndTxn response."""
    finish = Transactions._finish

    def keep(self, is_commit, following, now):
        finish(self, is_commit, None, now)

    patch.setattr(Transactions, "_finish", keep)


def forget_a_failure(patch):
    """Commit a transaction without its failed records."""
    patch.setattr(Transactions, "fail", lambda self, failure: None)


def commit_what_is_to_be_aborted(patch):
    """Send a commit instead of an abort."""
    send = Transactions._send

    def committing(self, request, *arguments, **options):
        if isinstance(request, EndTxnRequest):
            request = request.replace(committed=True)
        send(self, request, *arguments, **options)

    patch.setattr(Transactions, "_send", committing)


class AnsweredLink:
    """Link that treats a lost connection as a successful EndTxn."""

    def __init__(self, link):
        """Send requests over ``link``."""
        self._link = link

    def __getattr__(self, name):
        """Return an attribute of the wrapped link."""
        return getattr(self._link, name)

    def send(self, request, done, now, *, version):
        """Send a request. If the connection is lost, EndTxn counts as successful."""

        def answer(response, now):
            if response is None and isinstance(request, EndTxnRequest):
                response = EndTxnResponse()
            done(response, now)

        self._link.send(request, answer, now, version=version)


def take_silence_for_an_end(patch):
    """Treat a lost connection as the response to EndTxn."""
    find_link = Transactions._find_link

    def find(self, *arguments):
        link = find_link(self, *arguments)
        return None if link is None else AnsweredLink(link)

    patch.setattr(Transactions, "_find_link", find)


def have_no_doubts(patch):
    """Report a commit without an acknowledgement as not committed."""
    learn = Transactions._learn

    def sure(self, knowledge):
        learn(self, min(knowledge, Knowledge.BEGUN))

    patch.setattr(Transactions, "_learn", sure)


def end_nothing(patch):
    """Do not start a transaction when brokers add its partitions (KIP-890)."""
    patch.setattr(Transactions, "note_write", lambda self: None)


def keep_sequences(patch):
    """Continue the sequence numbers in a new epoch instead of restarting at 0."""
    restart = partition_writer.PartitionWriter._restart

    def going_on(self):
        number = self._next_sequence
        restart(self)
        self._next_sequence = number

    patch.setattr(partition_writer.PartitionWriter, "_restart", going_on)


def stay_with_a_coordinator(patch):
    """Keep using a coordinator that has moved."""
    coordinators = transactions.Coordinators
    patch.setattr(coordinators, "forget", lambda self, kind, key: None)


def go_on_in_the_epoch(patch):
    """Keep the epoch after an abort in the first protocol."""
    finish = Transactions._finish

    def stay(self, is_commit, following, now):
        finish(self, True, following, now)

    patch.setattr(Transactions, "_finish", stay)


BUGS = [
    commit_too_early,
    name_no_partitions,
    remember_partitions,
    remember_groups,
    keep_the_epoch,
    forget_a_failure,
    commit_what_is_to_be_aborted,
    take_silence_for_an_end,
    have_no_doubts,
    end_nothing,
    keep_sequences,
    stay_with_a_coordinator,
    go_on_in_the_epoch,
]


RARE = {keep_the_epoch: 70, have_no_doubts: 150, go_on_in_the_epoch: 1380}
"""First seed to run for bugs that few seeds detect, by bug.

It is shortly before the first seed that detects the bug.
"""


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_the_simulation_notices_a_bug(monkeypatch, bug):
    """If a bug is injected, a transaction is partly visible, hidden, or left open."""
    bug(monkeypatch)
    first = RARE.get(bug, 0)
    for seed in range(first, first + NOTICED_WITHIN):
        try:
            run_transaction_seed(kwire, seed)
        except AssertionError as failure:
            assert str(failure).startswith(f"seed {seed}: ")
            return
    raise AssertionError(f"{NOTICED_WITHIN} seeds did not notice it")
