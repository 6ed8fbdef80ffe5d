# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Transactions of a simulated cluster under faults: all or nothing, each record once.

Each seed is a cluster, its faults and producers of one transactional id; a seed that
fails names itself. The bugs below are put into the producer one by one, and the
simulation has to notice each.
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
"""Seeds, more than the rarest of the bugs takes."""


def test_a_transaction_is_all_or_nothing():
    """To a reader of committed records, with its offsets, as its producer reports."""
    outcomes = []
    protocols = set()
    for seed in range(SEEDS):
        scenario = run_transaction_seed(kwire, seed)
        outcomes += [report.outcome for report in scenario.reports]
        protocols.add(scenario.is_second)
    # A simulation in which nothing happens would protect nothing.
    assert protocols == {False, True}
    assert outcomes.count(COMMITTED) > 3 * SEEDS
    assert outcomes.count(ABORTED) > SEEDS
    assert outcomes.count(IN_DOUBT) > SEEDS / 10


def commit_too_early(patch):
    """The commit is sent while records have no acknowledgement."""
    advance = Transactions.advance

    def hasty(self, now, *, is_idle):
        advance(self, now, is_idle=True)

    patch.setattr(Transactions, "advance", hasty)


def name_no_partitions(patch):
    """Partitions get records that the coordinator does not know of."""
    patch.setattr(Transactions, "add_partition", lambda self, topic, partition: True)


def remember_partitions(patch):
    """The partitions of the transaction before are taken for those of this one."""
    finish = Transactions._finish

    def keep(self, *arguments):
        added = set(self._added)
        finish(self, *arguments)
        self._added = added

    patch.setattr(Transactions, "_finish", keep)


def remember_groups(patch):
    """The groups of the transaction before are taken for those of this one."""
    finish = Transactions._finish

    def keep(self, *arguments):
        groups = set(self._groups)
        finish(self, *arguments)
        self._groups = groups

    patch.setattr(Transactions, "_finish", keep)


def keep_the_epoch(patch):
    """The epoch that comes with the end of a transaction is not taken."""
    finish = Transactions._finish

    def keep(self, is_commit, following, now):
        finish(self, is_commit, None, now)

    patch.setattr(Transactions, "_finish", keep)


def forget_a_failure(patch):
    """A transaction is committed without the records that failed."""
    patch.setattr(Transactions, "fail", lambda self, failure: None)


def commit_what_is_to_be_aborted(patch):
    """An abort is sent as a commit."""
    send = Transactions._send

    def committing(self, request, *arguments, **options):
        if isinstance(request, EndTxnRequest):
            request = request.replace(committed=True)
        send(self, request, *arguments, **options)

    patch.setattr(Transactions, "_send", committing)


class AnsweredLink:
    """A link that takes a lost connection for the success of EndTxn."""

    def __init__(self, link):
        """Send requests over ``link``."""
        self._link = link

    def __getattr__(self, name):
        """Return an attribute of the link."""
        return getattr(self._link, name)

    def send(self, request, done, now, *, version):
        """Send a request. EndTxn gets a response in any case."""

        def answer(response, now):
            if response is None and isinstance(request, EndTxnRequest):
                response = EndTxnResponse()
            done(response, now)

        self._link.send(request, answer, now, version=version)


def take_silence_for_an_end(patch):
    """A lost connection is taken for the response to the end of a transaction."""
    find_link = Transactions._find_link

    def find(self, *arguments):
        link = find_link(self, *arguments)
        return None if link is None else AnsweredLink(link)

    patch.setattr(Transactions, "_find_link", find)


def have_no_doubts(patch):
    """A commit without an acknowledgement is reported as none."""
    learn = Transactions._learn

    def sure(self, knowledge):
        learn(self, min(knowledge, Knowledge.BEGUN))

    patch.setattr(Transactions, "_learn", sure)


def end_nothing(patch):
    """What brokers report the coordinator (KIP-890) is not counted as a beginning."""
    patch.setattr(Transactions, "note_write", lambda self: None)


def keep_sequences(patch):
    """The numbers go on in a new epoch, where they begin at 0."""
    restart = partition_writer.PartitionWriter._restart

    def going_on(self):
        number = self._next_sequence
        restart(self)
        self._next_sequence = number

    patch.setattr(partition_writer.PartitionWriter, "_restart", going_on)


def stay_with_a_coordinator(patch):
    """A coordinator that has moved is not looked for."""
    coordinators = transactions.Coordinators
    patch.setattr(coordinators, "forget", lambda self, kind, key: None)


def go_on_in_the_epoch(patch):
    """After an abort of the first protocol, the epoch stays."""
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
"""Seeds near the first one that notices a bug which takes a rare fault."""


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_the_simulation_notices_a_bug(monkeypatch, bug):
    """Each of them shows a part of a transaction, hides one, or leaves one open."""
    bug(monkeypatch)
    first = RARE.get(bug, 0)
    for seed in range(first, first + NOTICED_WITHIN):
        try:
            run_transaction_seed(kwire, seed)
        except AssertionError as failure:
            assert str(failure).startswith(f"seed {seed}: ")
            return
    raise AssertionError(f"{NOTICED_WITHIN} seeds did not notice it")
