# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Simulate consumer groups under faults. Partitions have at most one owner.

A seed is a cluster, its faults and a group. Failures contain their seed. The bugs below
are injected into the consumer one by one, and the simulation must detect all of them.
"""

import os

import pytest

from tests.client.machines.group_scenario import run_group_seed
from tests.client.machines.machine_modules import import_machines

SEEDS = int(os.environ.get("KWIRE_SIMULATION_SEEDS", "250")) * 2 // 5
"""Fewer seeds than for scans, because a seed takes three times as long."""

SHARE = {"fast": 4, "pure": 1}
"""Fraction of all seeds that run per engine.

Both engines run the same state machines.
"""

PARTS = 4
ENOUGH_FOR_RATES = 20
NOTICED_WITHIN = 200
"""Number of seeds that are enough to detect each bug."""


@pytest.mark.parametrize("part", range(PARTS))
def test_a_group_reads_everything_and_nothing_committed_twice(kwire, part):
    """No partition has two owners, and busy callers do not lose their chunks."""
    count = SEEDS * SHARE[kwire.backend] // sum(SHARE.values()) // PARTS
    first = part * SEEDS // PARTS + (count * 4 if kwire.backend == "pure" else 0)
    chunks = commits = lost = 0
    for seed in range(first, first + count):
        scenario = run_group_seed(kwire, seed)
        chunks += scenario.chunks
        commits += scenario.commits
        lost += scenario.lost + scenario.again
    # Fail if the simulation had no effect. Single seeds may not commit or lose
    # anything, so the rates are only checked for many seeds.
    assert chunks > 0
    if count >= ENOUGH_FOR_RATES:
        assert chunks > 10 * count
        assert commits > 5 * count
        assert lost > count / 10


def give_up_at_once(module, patch):
    """Release a partition while the caller processes its chunk."""
    consumer = module.group.machine.ConsumerMachine
    reconcile_partitions = consumer._reconcile

    def reconcile(self, member):
        self._caller = module.group.machine.CallerState.WAITING
        reconcile_partitions(self, member)

    patch.setattr(consumer, "_reconcile", reconcile)


def never_give_up(module, patch):
    """Never release revoked partitions."""
    consumer = module.group.machine.ConsumerMachine
    patch.setattr(consumer, "_give_up_revoked", lambda self: None)


def report_too_early(module, patch):
    """Report partitions as released before they are."""
    consumer = module.group.machine.ConsumerMachine
    reconcile_partitions = consumer._reconcile

    def reconcile(self, member):
        reconcile_partitions(self, member)
        if member.target is not None:
            member.report(frozenset(member.target))

    patch.setattr(consumer, "_reconcile", reconcile)


def keep_when_fenced(module, patch):
    """Keep all partitions when the member is fenced."""
    consumer = module.group.machine.ConsumerMachine
    patch.setattr(consumer, "_lose_earlier", lambda self, member: None)


def forget_commits(module, patch):
    """Ignore committed offsets, and read all partitions from their start."""
    reader = module.group.group_reader.GroupReader
    original = reader.set_committed

    def set_committed(self, committed):
        is_first = self.committed is None
        original(self, committed._replace(offset=-1) if is_first else committed)

    patch.setattr(reader, "set_committed", set_committed)


def commit_what_was_fetched(module, patch):
    """Include chunks that were not returned yet when all positions are committed."""
    consumer = module.group.machine.ConsumerMachine

    def uncommitted(self):
        return {
            reader: module.group.group_reader.Committed(reader.position, -1)
            for reader in self._owned.values()
            if reader.position is not None
        }

    patch.setattr(consumer, "_find_uncommitted", uncommitted)


def keep_what_was_fetched(module, patch):
    """Return chunks of lost partitions."""
    fetcher = module.scan.fetcher.Fetcher
    original = fetcher.remove

    def remove(self, reader):
        original(self, reader, keeps_chunks=True)

    patch.setattr(fetcher, "remove", remove)


def commit_for_others(module, patch):
    """Retry a commit although its partition was lost."""
    reader = module.group.group_reader.GroupReader
    patch.setattr(reader, "is_lost", False)


def ignore_who_stalls(module, patch):
    """Keep a stalled caller in the group with its partitions."""
    consumer = module.group.machine.ConsumerMachine

    def check_caller(self, member, now):
        member.join(now)

    patch.setattr(consumer, "_check_caller", check_caller)


def trust_old_fetches(module, patch):
    """Return chunks that were fetched before the process was suspended."""
    consumer = module.group.machine.ConsumerMachine

    def begin_wait(self, now):
        self._caller = module.group.machine.CallerState.WAITING
        self.cluster.wake(now)

    patch.setattr(consumer, "begin_wait", begin_wait)


def have_brokers_forget(module, patch):
    """Add and forget a reassigned partition in the same Fetch request."""
    session = module.scan.fetch_session.FetchSession
    original = session.begin_request

    def begin_request(self, positions):
        before = dict(self._positions) if self.is_incremental else {}
        named, _ = original(self, positions)
        return named, {
            reader: position
            for reader, position in before.items()
            if reader not in positions
        }

    patch.setattr(session, "begin_request", begin_request)


def leave_without_a_word(module, patch):
    """Close a member without a heartbeat to its coordinator."""
    member = module.group.member.GroupMember
    outside = module.group.member.MemberState.OUTSIDE

    def leave(self, now):
        self.state = outside

    patch.setattr(member, "leave", leave)


def send_lost_offsets(module, patch):
    """Commit the offset of a lost chunk in a transaction."""
    consumer = module.group.machine.ConsumerMachine
    patch.setattr(consumer, "_owner_of", lambda self, fetched: fetched.reader)


def seek_without_dropping(module, patch):
    """Return the chunks of the old position after a seek."""
    patch.setattr(module.scan.fetcher.Fetcher, "_drop_chunks", lambda *arguments: None)


def trust_old_responses(module, patch):
    """Use the response to a Fetch in flight after a seek."""
    reader = module.scan.partition_reader.PartitionReader
    original = reader.rewind

    def rewind(self, start):
        request, state = self.request, self.state
        original(self, start)
        if state is module.scan.partition_reader.ReaderState.FETCHING:
            self.request, self.state = request, state

    patch.setattr(reader, "rewind", rewind)


def forget_the_pause(module, patch):
    """Return the fetched chunk although the partition was paused in the meantime."""
    reader = module.group.group_reader.GroupReader
    patch.setattr(reader, "pause", lambda self: None)


BUGS = [
    give_up_at_once,
    never_give_up,
    report_too_early,
    keep_when_fenced,
    forget_commits,
    commit_what_was_fetched,
    keep_what_was_fetched,
    commit_for_others,
    ignore_who_stalls,
    trust_old_fetches,
    have_brokers_forget,
    leave_without_a_word,
    send_lost_offsets,
    seek_without_dropping,
    trust_old_responses,
    forget_the_pause,
]

RARE = {ignore_who_stalls: 36, trust_old_fetches: 190}
"""First seed to run for bugs that few seeds detect, by bug.

It is shortly before the first seed that detects the bug.
"""


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_the_simulation_notices_a_bug(kwire, monkeypatch, bug):
    """If a bug is injected, reads or commits break a guarantee under faults."""
    bug(import_machines(kwire), monkeypatch)
    first = RARE.get(bug, 0)
    for seed in range(first, first + NOTICED_WITHIN):
        try:
            run_group_seed(kwire, seed)
        except Exception:
            return
    raise AssertionError(f"{NOTICED_WITHIN} seeds did not notice it")
