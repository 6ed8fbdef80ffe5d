# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Complete client sessions in which the bytes from a broker are damaged at one place.

A session is a scan, a producer, a transaction, a group consumer, or a scan with SASL.
It first runs without damage, to count the bytes that the broker sends. Then it runs
again for each seed, with one damage at a random byte of all connections. Each run ends
with its records or with a typed error, in bounded time and with a bounded number of
requests. The records that a client accepts are those of the topic.

The network and the clock are simulated, so that a seed always gives the same bytes.
"""

from __future__ import annotations

import importlib
import random as random_module
from types import SimpleNamespace

import pytest
from brokers import SimulatedCluster
from coordinator_answers import TRANSACTION
from group_answers import GROUP
from loopback_brokers import ScramServer
from world import START_S, World

SESSIONS = 400
"""Damaged sessions of each kind; five kinds are 2,000 sessions."""
RECORDS = 12
TIMEOUT_S = 20.0
LONGEST_S = 200.0
FOLLOWED_S = 40.0
"""How long a group consumer may wait for records that a damaged offset hides."""
SASL = {17: (1, 1), 36: (0, 2)}
USERS = {"ann": "secret"}


class Damage:
    """Changes the bytes of a session once; the position counts all connections."""

    def __init__(self, position=-1, random=None):
        """Damage nothing if the position is negative."""
        self.position = position
        self.random = random
        self.sent = 0

    def apply(self, data):
        """Return the bytes that the client receives in place of ``data``."""
        at = self.position - self.sent
        self.sent += len(data)
        if not 0 <= at < len(data):
            return data
        random = self.random
        before, after = data[:at], data[at:]
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


class DamagedConnection:
    """The server's side of a connection, whose bytes go through a ``Damage``.

    It answers SASL itself if the broker offers it.
    """

    def __init__(self, kwire, server, damage):
        self._kwire = kwire
        self._server = server
        self._damage = damage
        self._exchange = ScramServer(USERS, "SHA-256")

    @property
    def wants_close(self):
        return self._server.wants_close

    def send(self, event, response):
        self._server.send(event, response)

    def receive_data(self, piece):
        make = self._kwire.messages
        for event in self._server.receive_data(piece):
            name = type(getattr(event, "request", None)).__name__
            if name == "SaslHandshakeRequest":
                self.send(
                    event, make.SaslHandshakeResponse(mechanisms=["SCRAM-SHA-256"])
                )
            elif name == "SaslAuthenticateRequest":
                token = self._exchange.answer(event.request.auth_bytes)
                self.send(event, make.SaslAuthenticateResponse(auth_bytes=token))
            else:
                yield event

    def data_to_send(self):
        return self._damage.apply(self._server.data_to_send())


class Session:
    """One broker with one topic, and a client that does one thing to its end."""

    def __init__(self, kwire, release, damage, has_sasl=False):
        self.kwire = kwire
        self.module = importlib.import_module(f"{kwire.__name__}.cluster")
        self.cluster = SimulatedCluster(kwire, random_module.Random(1), 1, [release])
        self.world = World(self.cluster, random_module.Random(2))
        self.log = self.cluster.add_topic("a", 1).logs[0]
        self.broker = self.cluster.brokers[1]
        self.broker.clock = lambda: self.world.now
        self.cluster.add_group("etl", ["a"])
        self.cluster.coordinator(GROUP, "etl")
        self.cluster.coordinator(TRANSACTION, "etl")
        self.broker.learn()
        new_mechanism = None
        if has_sasl:
            negotiation = importlib.import_module(f"{kwire.__name__}.negotiation")
            sasl = importlib.import_module(f"{kwire.__name__}.sasl")
            ranges = {**self.broker.table.ranges(), **SASL}
            self.broker.table = negotiation.ApiVersionTable.from_ranges(ranges)
            new_mechanism = lambda: sasl.Scram("ann", "secret")  # noqa: E731
        # Damaged metadata can name an address at which nobody listens.
        nobody = SimpleNamespace(node=0, is_up=False, is_silent=False)
        self.cluster.at = lambda host, port: (
            self.broker if (host, port) == ("sim", 9001) else nobody
        )
        accept = self.broker.connection
        self.broker.connection = lambda: DamagedConnection(kwire, accept(), damage)
        self.settings = self.module.ClusterSettings(
            timeout_s=TIMEOUT_S, request_timeout_s=3.0, new_mechanism=new_mechanism
        )

    def fill(self):
        """Write the records that a reader shall find, in several batches."""
        for _ in range(RECORDS // 3):
            self.log.append(3)

    def start(self, kind, *options):
        """Make the machine of the client."""
        self.machine = getattr(self.module, kind)(
            [("sim", 9001)],
            self.settings,
            *options,
            now=START_S,
            random=random_module.Random(3),
        )
        return self.machine

    def run(self, is_over, within_s=LONGEST_S):
        """Run until a condition holds or the machine has failed; return whether so."""
        machine = self.machine
        over = lambda: machine.failure is not None or is_over()  # noqa: E731
        return self.world.run(machine, over, self.world.now + within_s)

    def take_records(self):
        """Take what was fetched; return the values whose bytes are not damaged.

        The checksum of a batch does not include its base offset, so only values count.
        """
        values = []
        while (fetched := self.machine.take()) is not None:
            try:
                for batch in self.kwire.records.decode_batches(fetched.data):
                    values += [row.value for row in batch.records]
            except self.kwire.DecodeError:
                pass
            self.machine.release(fetched)
        written = {
            value for batch in self.log.batches for value in batch.values.values()
        }
        assert written.issuperset(values), "records that nobody has written"
        return values

    def finish(self):
        """Check the failure and the number of requests; return the failure."""
        failure = self.machine.failure
        assert failure is None or isinstance(failure, self.kwire.KwireError)
        elapsed = self.world.now - START_S
        assert self.world.requests < 10 * (elapsed + 5) + 3 * RECORDS
        self.world.traffic.check()
        self.machine.close(self.world.now)
        return failure


def scan(session):
    """Read a topic to its end."""
    session.fill()
    session.start("ScanMachine", session.module.ScanOptions(topics=("a",)))
    values = []
    while True:
        assert session.run(session.machine.has_result), "the scan came to no end"
        taken = session.take_records()
        if not taken and (session.machine.failure or session.machine.is_done):
            return len(values)
        values += taken


def produce(session):
    """Write records until all are acknowledged or given up."""
    options = session.module.ProducerOptions(delivery_timeout_s=30.0)
    machine = session.start("ProducerMachine", options)
    machine.want_topic("a", START_S)
    assert session.run(lambda: machine.is_settled("a")), "no end of the metadata"
    batches = []
    for number in range(4):
        if machine.failure is not None or machine.topic("a") is None:
            return 0
        sender = session.module.RowSender(machine, machine.topic("a"), 0)
        sender.add([(None, b"%d" % number)] * 3, 5, session.world.now)
        batches += sender.finish(session.world.now)
        session.run(lambda: False, 0.05)
    machine.flush(session.world.now)
    assert session.run(machine.is_idle), "batches are in flight for ever"
    assert machine.failure or all(batch.is_over for batch in batches)
    return sum(batch.count for batch in batches if batch.receipt is not None)


def transact(session):
    """Write records in a transaction and commit it."""
    options = session.module.ProducerOptions(transactional_id="etl")
    machine = session.start("ProducerMachine", options)
    assert session.run(lambda: machine.transactions.is_settled), "no producer id"
    if machine.failure is not None:
        return 0
    machine.begin_transaction()
    machine.want_topic("a", session.world.now)
    assert session.run(lambda: machine.is_settled("a")), "no end of the metadata"
    if machine.failure is not None or machine.topic("a") is None:
        return 0
    sender = session.module.RowSender(machine, machine.topic("a"), 0)
    sender.add([(None, b"x")] * RECORDS, 5, session.world.now)
    sender.finish(session.world.now)
    machine.end_transaction(True, session.world.now)
    assert session.run(lambda: machine.transactions.is_over), (
        "no end of the transaction"
    )
    failure = machine.failure or machine.transactions.result
    assert failure is None or isinstance(failure, session.kwire.KwireError)
    return 0 if failure else RECORDS


def consume(session):
    """Join a group, read the topic and commit."""
    session.fill()
    module = session.module
    options = module.ScanOptions(topics=("a",), follow=True)
    group = module.GroupOptions("etl")
    machine = session.start("ConsumerMachine", options, group)
    values = []
    until = START_S + FOLLOWED_S
    while len(values) < RECORDS and machine.failure is None:
        machine.begin_wait(session.world.now)
        has_result = session.run(machine.has_result, until - session.world.now)
        machine.end_wait(session.world.now)
        if not has_result:
            return len(values)
        values += session.take_records()
    if machine.failure is None:
        commit = machine.commit(session.world.now)
        assert session.run(lambda: commit.is_over), "no end of the commit"
    return len(values)


KINDS = {
    "scan": (scan, ("4.1", "3.9", "2.8"), False),
    "producer": (produce, ("4.1", "2.8"), False),
    "transaction": (transact, ("3.9", "2.8"), False),
    "group": (consume, ("4.1", "4.3"), False),
    "sasl": (scan, ("4.1", "2.8"), True),
}


def run_session(kwire, kind, release, damage):
    """Run one session; return how many records it had, and its failure."""
    play, _, has_sasl = KINDS[kind]
    session = Session(kwire, release, damage, has_sasl)
    try:
        count = play(session)
    except kwire.KwireError as failure:
        # A topic that damaged metadata rejects is an error of the call.
        session.finish()
        return 0, failure
    return count, session.finish()


@pytest.mark.slow
@pytest.mark.gate_on_pure
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_session_ends_with_records_or_a_typed_error(kwire, kind):
    """Most damage costs one connection: the client reconnects and has all records."""
    releases = KINDS[kind][1]
    lengths = {}
    for release in releases:
        damage = Damage()
        assert run_session(kwire, kind, release, damage) == (RECORDS, None)
        lengths[release] = damage.sent
    complete = 0
    for seed in range(SESSIONS):
        random = random_module.Random(seed)
        release = random.choice(releases)
        damage = Damage(random.randrange(lengths[release]), random)
        try:
            count, failure = run_session(kwire, kind, release, damage)
        except BaseException as error:
            error.add_note(f"seed {seed}, release {release}, byte {damage.position}")
            raise
        assert damage.sent > damage.position, f"seed {seed}: nothing was damaged"
        complete += count == RECORDS and failure is None
    # A rejected SASL exchange is final, so that fewer of these sessions are complete.
    assert SESSIONS / 4 < complete < SESSIONS
