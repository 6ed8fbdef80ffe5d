# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Complete client sessions with one broker. A test changes its bytes or responses.

A session is a scan, a producer, a transaction, a group consumer, or a scan with SASL.
Sessions must end within a time limit and with a limited request count. The network and
the clock are simulated, so that a session is reproducible.
"""

from __future__ import annotations

import importlib
import random as random_module
from types import SimpleNamespace

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.coordinator_answers import TRANSACTION
from tests.client.machines.group_answers import GROUP
from tests.client.machines.world import START_S, World
from tests.harness.loopback_brokers import ScramServer

RECORDS = 12
TIMEOUT_S = 20.0
LONGEST_S = 200.0
FOLLOWED_S = 40.0
"""Simulated seconds for which a group consumer waits for records.

A wrong offset in a response may hide the records from it.
"""
SASL = {17: (1, 1), 36: (0, 2)}
PASSWORD = "secret"
USERS = {"ann": PASSWORD}


class ChangedConnection:
    """Server-side connection that passes its output through ``change``.

    Responds to SASL requests if the broker supports them.
    """

    def __init__(self, kwire, server, change):
        self._kwire = kwire
        self._server = server
        self._change = change
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
        return self._change(self._server.data_to_send())


class Session:
    """One broker with one topic, and a client that performs one operation."""

    def __init__(self, kwire, release, change, has_sasl=False):
        self.kwire = kwire
        # Whether the broker only returns records from its log. Lies set it to False.
        self.is_honest = True
        self.module = importlib.import_module(f"{kwire.__name__}.client.machines")
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
            negotiation = importlib.import_module(
                f"{kwire.__name__}.connection.negotiation"
            )
            sasl = importlib.import_module(f"{kwire.__name__}.connection.sasl")
            ranges = {**self.broker.table.ranges(), **SASL}
            self.broker.table = negotiation.ApiVersionTable.from_ranges(ranges)
            new_mechanism = lambda: sasl.Scram("ann", PASSWORD)  # noqa: E731
        # Damaged metadata may contain an address at which no broker listens.
        # Connections to it are refused.
        absent = SimpleNamespace(node=0, is_up=False, is_silent=False)
        self.cluster.at = lambda host, port: (
            self.broker if (host, port) == ("sim", 9001) else absent
        )
        accept = self.broker.connection
        self.broker.connection = lambda: ChangedConnection(kwire, accept(), change)
        self.settings = self.module.ClusterSettings(
            timeout_s=TIMEOUT_S, request_timeout_s=3.0, new_mechanism=new_mechanism
        )

    def fill(self):
        """Write the records that a session reads, in several batches."""
        for _ in range(RECORDS // 3):
            self.log.append(3)

    def start(self, kind, *options):
        """Create the state machine of the client."""
        self.machine = getattr(self.module, kind)(
            [("sim", 9001)],
            self.settings,
            *options,
            now=START_S,
            random=random_module.Random(3),
        )
        return self.machine

    def run(self, is_over, within_s=LONGEST_S):
        """Run until ``is_over()`` is true or the machine has failed.

        Return False if neither has happened after ``within_s`` seconds.
        """
        machine = self.machine
        is_finished = lambda: machine.failure is not None or is_over()  # noqa: E731
        return self.world.run(machine, is_finished, self.world.now + within_s)

    def take_records(self):
        """Consume all chunks, and return the values from batches with a valid checksum.

        Only values are compared with the log, because a batch checksum does not include
        the base offset.
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
        if self.is_honest:
            assert written.issuperset(values), "records that are not in the log"
        return values

    def finish(self):
        """Check the failure and the number of requests, and close the machine.

        The failure must be None or a ``KwireError``. Return it.
        """
        failure = self.machine.failure
        assert failure is None or isinstance(failure, self.kwire.KwireError)
        elapsed = self.world.now - START_S
        assert self.world.requests < 10 * (elapsed + 5) + 3 * RECORDS
        self.world.traffic.check()
        self.machine.close(self.world.now)
        return failure


def scan(session):
    """Scan the topic up to its end, and return the number of records."""
    session.fill()
    session.start("ScanMachine", session.module.ScanOptions(topics=("a",)))
    values = []
    while True:
        assert session.run(session.machine.has_result), "the scan came to no end"
        new_values = session.take_records()
        if not new_values and (session.machine.failure or session.machine.is_done):
            return len(values)
        values += new_values


def produce(session):
    """Send records until every record is acknowledged or has failed."""
    options = session.module.ProducerOptions(delivery_timeout_s=30.0)
    machine = session.start("ProducerMachine", options)
    machine.want_topic("a", START_S)
    assert session.run(lambda: machine.is_settled("a")), "no end of the metadata"
    batches = []
    for number in range(4):
        if machine.failure is not None or machine.topic("a") is None:
            return 0
        sender = session.module.RecordBatcher(machine, machine.topic("a"), 0)
        sender.add([(None, b"%d" % number)] * 3, 5, session.world.now)
        batches += sender.finish(session.world.now)
        session.run(lambda: False, 0.05)
    machine.flush(session.world.now)
    assert session.run(machine.is_idle), "batches are in flight for ever"
    assert machine.failure or all(batch.is_over for batch in batches)
    return sum(batch.count for batch in batches if batch.receipt is not None)


def transact(session):
    """Send records in a transaction, and commit it."""
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
    sender = session.module.RecordBatcher(machine, machine.topic("a"), 0)
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
    """Join a group, read the topic, and commit."""
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


def reject_unexpected(kwire, answer):
    """Wrap ``answer`` so that an invalid heartbeat gets an error response."""

    def answer_or_reject(request, version):
        try:
            return answer(request, version)
        except AssertionError:
            if not isinstance(request, kwire.messages.ConsumerGroupHeartbeatRequest):
                raise
            code = kwire.error_codes.INVALID_REQUEST
            return kwire.messages.ConsumerGroupHeartbeatResponse(error_code=code)

    return answer_or_reject


def run_session(kwire, kind, release, change=bytes, lie=None):
    """Run one session, and return its record count and its failure.

    * ``change``: maps the bytes that the broker sends to the bytes that arrive.
    * ``lie``: wraps the functions that create the broker's responses.
    """
    play, _, has_sasl = KINDS[kind]
    session = Session(kwire, release, change, has_sasl)
    if lie is not None:
        session.is_honest = False
        broker = session.broker
        broker.answer = reject_unexpected(kwire, broker.answer)
        for name in ("answer", "answer_fetch", "finish_produce"):
            setattr(broker, name, lie(getattr(broker, name)))
    try:
        count = play(session)
    except kwire.KwireError as failure:
        # Creating the machine raises an error if damaged metadata lacks the topic.
        session.finish()
        return 0, failure
    return count, session.finish()
