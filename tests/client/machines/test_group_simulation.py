# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Groups of consumers in a simulated cluster under faults: each partition has one.

Each seed is a cluster, its faults and a group; a seed that fails names itself. The bugs
below are put into the consumer one by one, and the simulation has to notice each.
"""

import os

import pytest

from tests.client.machines.group_scenario import run_group_seed
from tests.client.machines.machine_modules import import_machines

SEEDS = int(os.environ.get("KWIRE_SIMULATION_SEEDS", "250")) * 2 // 5
"""Fewer than of scans: each takes three times as long."""

SHARE = {"fast": 4, "pure": 1}
"""How the seeds are shared between the engines: the logic is the same for both."""

PARTS = 4
ENOUGH_FOR_RATES = 20
NOTICED_WITHIN = 200
"""Seeds, more than the rarest of the bugs takes."""


@pytest.mark.parametrize("part", range(PARTS))
def test_a_group_reads_everything_and_nothing_committed_twice(kwire, part):
    """No partition has two members, and no chunk is lost while its caller is busy."""
    count = SEEDS * SHARE[kwire.backend] // sum(SHARE.values()) // PARTS
    first = part * SEEDS // PARTS + (count * 4 if kwire.backend == "pure" else 0)
    chunks = commits = lost = 0
    for seed in range(first, first + count):
        scenario = run_group_seed(kwire, seed)
        chunks += scenario.chunks
        commits += scenario.commits
        lost += scenario.lost + scenario.again
    # A simulation in which nothing happens would protect nothing. Some seeds never
    # commit and some lose nothing, so only many of them together have a rate.
    assert chunks > 0
    if count >= ENOUGH_FOR_RATES:
        assert chunks > 10 * count
        assert commits > 5 * count
        assert lost > count / 10


def give_up_at_once(module, patch):
    """A partition is given up while the caller works on its chunk."""
    consumer = module.group.machine.ConsumerMachine
    known = consumer._reconcile

    def reconcile(self, member):
        self._caller = module.group.machine.CallerState.WAITING
        known(self, member)

    patch.setattr(consumer, "_reconcile", reconcile)


def never_give_up(module, patch):
    """What the group wants back is kept for ever."""
    consumer = module.group.machine.ConsumerMachine
    patch.setattr(consumer, "_give_up_revoked", lambda self: None)


def report_too_early(module, patch):
    """The coordinator hears that partitions are given up before they are."""
    consumer = module.group.machine.ConsumerMachine
    known = consumer._reconcile

    def reconcile(self, member):
        known(self, member)
        if member.target is not None:
            member.report(frozenset(member.target))

    patch.setattr(consumer, "_reconcile", reconcile)


def keep_when_fenced(module, patch):
    """A member that is fenced keeps what it had."""
    consumer = module.group.machine.ConsumerMachine
    patch.setattr(consumer, "_lose_earlier", lambda self, member: None)


def forget_commits(module, patch):
    """Each partition is read from its start, whatever was committed."""
    reader = module.group.group_reader.GroupReader
    known = reader.set_committed

    def set_committed(self, committed):
        is_first = self.committed is None
        known(self, committed._replace(offset=-1) if is_first else committed)

    patch.setattr(reader, "set_committed", set_committed)


def commit_what_was_fetched(module, patch):
    """A commit of everything includes what no caller has had."""
    consumer = module.group.machine.ConsumerMachine

    def uncommitted(self):
        return {
            reader: module.group.group_reader.Committed(reader.position, -1)
            for reader in self._owned.values()
            if reader.position is not None
        }

    patch.setattr(consumer, "_uncommitted", uncommitted)


def keep_what_was_fetched(module, patch):
    """Chunks of lost partitions are returned all the same."""
    fetcher = module.scan.fetcher.Fetcher
    known = fetcher.remove

    def remove(self, reader):
        known(self, reader, keeps_chunks=True)

    patch.setattr(fetcher, "remove", remove)


def commit_for_others(module, patch):
    """A commit is retried although the partition was lost meanwhile."""
    reader = module.group.group_reader.GroupReader
    patch.setattr(reader, "is_lost", False)


def ignore_who_stalls(module, patch):
    """Who does not come back stays in the group, and keeps its partitions."""
    consumer = module.group.machine.ConsumerMachine

    def check_caller(self, member, now):
        member.join(now)

    patch.setattr(consumer, "_check_caller", check_caller)


def trust_old_fetches(module, patch):
    """A process that was stopped for long returns first what it had fetched."""
    consumer = module.group.machine.ConsumerMachine

    def begin_wait(self, now):
        self._caller = module.group.machine.CallerState.WAITING
        self.cluster.wake(now)

    patch.setattr(consumer, "begin_wait", begin_wait)


def have_brokers_forget(module, patch):
    """A partition that comes back is named and forgotten in one Fetch."""
    session = module.scan.fetch_session.FetchSession
    known = session.begin_request

    def begin_request(self, wanted):
        before = dict(self._positions) if self.is_incremental else {}
        named, _ = known(self, wanted)
        return named, {r: at for r, at in before.items() if r not in wanted}

    patch.setattr(session, "begin_request", begin_request)


def leave_without_a_word(module, patch):
    """A member that closes does not tell its coordinator."""
    member = module.group.member.GroupMember
    outside = module.group.member.MemberState.OUTSIDE

    def leave(self, now):
        self.state = outside

    patch.setattr(member, "leave", leave)


def send_lost_offsets(module, patch):
    """A transaction commits the offset of a chunk that others read by now."""
    consumer = module.group.machine.ConsumerMachine
    patch.setattr(consumer, "_owner_of", lambda self, fetched: fetched.reader)


def seek_without_dropping(module, patch):
    """After a seek, the chunks of the old position are returned first."""
    patch.setattr(module.scan.fetcher.Fetcher, "_drop_chunks", lambda *arguments: None)


def trust_old_responses(module, patch):
    """After a seek, the response to a Fetch in flight is used for the new position."""
    reader = module.scan.partition_reader.PartitionReader
    known = reader.rewind

    def rewind(self, start):
        request, state = self.request, self.state
        known(self, start)
        if state is module.scan.partition_reader.ReaderState.FETCHING:
            self.request, self.state = request, state

    patch.setattr(reader, "rewind", rewind)


def forget_the_pause(module, patch):
    """A Fetch in flight when a partition is paused returns its chunk."""
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
"""Seeds near the first one that notices a bug which takes a rare fault."""


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_the_simulation_notices_a_bug(kwire, monkeypatch, bug):
    """Each of them reads or commits what it may not, or not all, under some fault."""
    bug(import_machines(kwire), monkeypatch)
    first = RARE.get(bug, 0)
    for seed in range(first, first + NOTICED_WITHIN):
        try:
            run_group_seed(kwire, seed)
        except Exception:
            return
    raise AssertionError(f"{NOTICED_WITHIN} seeds did not notice it")
