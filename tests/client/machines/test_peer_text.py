# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Strings from a broker are escaped before they reach the user.

Simulated brokers add control characters to the string fields in every response, and
error codes to some of them. Everything that a client reports must be printable:
messages, error attributes and tracebacks, data losses, log lines, and its links' repr.
"""

import importlib
import logging
import random as random_module
import re
import traceback

import pytest

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.world import START_S, World

HOSTILE = "\x1b[2J\x00\r\n\u202e\x9b"
SEEDS = 60
LONGEST_S = 120.0
LONGEST_TEXT = 8000


class Defacer:
    """Appends control characters to some string fields in responses.

    The fields and the error code frequency are drawn once.
    """

    def __init__(self, kwire, random):
        self.kwire = kwire
        self.random = random
        self.share = random.choice([0.2, 0.5, 1.0])
        self.fields = {}
        self.error = random.choice([0, 0, *range(1, 100)])
        self.often = random.choice([0.0, 0.1, 1.0])
        self.defaced = set()

    def in_place_of(self, answer):
        """Wrap ``answer`` in a function that changes response strings."""

        def deface(request, version, *more, **named):
            response = answer(restore(request), version, *more, **named)
            if response is None:
                return None
            changed = self.deface(response)
            try:
                self.kwire.encode(changed, version)
            except self.kwire.EncodeError:
                return response
            return changed

        return deface

    def deface(self, struct):
        """Return the struct with some changed strings, at any nesting depth."""
        changed = {}
        for name in type(struct).__match_args__:
            value = getattr(struct, name)
            if isinstance(value, tuple):
                value = [
                    self.deface(element)
                    if hasattr(type(element), "__match_args__")
                    else element
                    for element in value
                ]
            elif hasattr(type(value), "__match_args__"):
                value = self.deface(value)
            elif self._is_text(name, value):
                key = f"{type(struct).__qualname__}.{name}"
                if self.fields.setdefault(key, self.random.random() < self.share):
                    value = f"{value or ''}{HOSTILE}"
                    self.defaced.add(name)
            elif name == "error_code" and self.random.random() < self.often:
                value = self.error
            changed[name] = value
        return struct.replace(**changed)

    def _is_text(self, name, value):
        return isinstance(value, str) or (
            value is None and ("message" in name or name == "rack")
        )


def restore(value):
    """Return a value of a request without the added control characters.

    The client returns them in requests, for example in a member id.
    """
    if isinstance(value, str):
        return value.replace(HOSTILE, "")
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(restore, value))
    if hasattr(type(value), "__match_args__") and hasattr(value, "replace"):
        names = type(value).__match_args__
        return value.replace(**{name: restore(getattr(value, name)) for name in names})
    return value


def reported(error):
    """Yield all strings that a program may show about an error."""
    yield str(error)
    yield repr(error)
    yield from "".join(traceback.format_exception(error)).split("\n")
    for name, value in vars(error).items():
        # A topic name is data, which the caller compares with its own topic names.
        if name != "topic":
            yield from map(str, value if isinstance(value, tuple) else (value,))
    for other in (error.__cause__, error.__context__):
        if other is not None:
            yield from reported(other)


def operations(module):
    """Return functions by operation that create and start its machine."""
    new, scan = module, module.ScanOptions

    def producer(options):
        def begin(*setting, now, random):
            machine = new.ProducerMachine(*setting, options, now=now, random=random)
            machine.want_topic("orders", now)
            return machine

        return begin

    def consumer(pattern):
        topics = () if pattern else ("orders",)
        options = scan(topics=topics, pattern=pattern, follow=True)
        group = new.GroupOptions("etl", pattern=pattern and pattern.pattern)

        def begin(*setting, now, random):
            parts = (*setting, options, group)
            machine = new.ConsumerMachine(*parts, now=now, random=random)
            machine.begin_wait(now)
            return machine

        return begin

    def query(machine, *options):
        return lambda *setting, **more: machine(*setting, *options, **more)

    pattern = re.compile("(?s)orders.*")
    return {
        "scan": query(new.ScanMachine, scan(topics=("orders",), on_data_loss="latest")),
        "strict scan": query(new.ScanMachine, scan(topics=("orders",))),
        "pattern": query(new.ScanMachine, scan(topics=(), pattern=pattern)),
        "topics": query(new.TopicsMachine),
        "sizes": query(new.SizesMachine, None),
        "offsets": query(new.OffsetsMachine, scan(topics=("orders",)), new.LATEST),
        "producer": producer(new.ProducerOptions()),
        "transactions": producer(new.ProducerOptions(transactional_id="etl")),
        "consumer": consumer(None),
        "consumer of a pattern": consumer(pattern),
    }


def write_one(module, machine, world):
    """Write one record as a caller does. Return the failures.

    A failure is None if the step was successful. The list is empty if the machine has
    failed earlier.
    """
    until = world.now + LONGEST_S
    is_finished = lambda: machine.failure or machine.is_settled("orders")  # noqa: E731
    world.run(machine, is_finished, until)
    if machine.failure or not machine.is_settled("orders"):
        return []
    if machine.transactions is not None:
        ready = lambda: machine.failure or machine.transactions.is_settled  # noqa: E731
        world.run(machine, ready, until)
        if machine.failure or not machine.transactions.is_settled:
            return []
        machine.begin_transaction()
    sender = module.RecordBatcher(machine, machine.topic("orders"), 0)
    sender.add([(None, b"a")], 5, world.now)
    (batch,) = sender.finish(world.now)
    world.run(machine, lambda: batch.is_over or machine.failure, until)
    failures = [batch.failure]
    if machine.transactions is not None and not machine.failure:
        machine.end_transaction(True, world.now)
        world.run(machine, lambda: machine.transactions.is_over, until)
        failures.append(machine.transactions.result)
    return failures


def run_operation(kwire, name, seed):
    """Run an operation while brokers send changed strings.

    Return the texts that the operation reports, the changed fields, and the errors.
    """
    module = importlib.import_module(f"{kwire.__name__}.client.machines")
    random = random_module.Random(seed)
    cluster = SimulatedCluster(kwire, random, 2, ["4.1", "3.9"])
    world = World(cluster, random)
    for log in cluster.add_topic("orders", 2).logs:
        log.append(3)
    cluster.add_group("etl", ["orders"])
    defacer = Defacer(kwire, random)
    for broker in cluster.brokers.values():
        broker.clock = lambda: world.now
        broker.learn()
        for method in ("answer", "answer_fetch", "finish_produce"):
            original = getattr(broker, method)
            setattr(broker, method, defacer.in_place_of(original))
    settings = module.ClusterSettings(request_timeout_s=3.0, timeout_s=15.0)
    addresses = [("sim", 9000 + node) for node in cluster.brokers]
    texts, links = [], []
    errors = []
    try:
        machine = operations(module)[name](
            addresses, settings, now=START_S, random=random
        )
        take_links = machine.cluster.take_new_links

        def note_links():
            new_links = take_links()
            links.extend(new_links)
            return new_links

        machine.cluster.take_new_links = note_links
        if "want_topic" in dir(machine):
            errors += write_one(module, machine, world)
        else:
            for _ in range(5):
                has_ended = world.run(
                    machine, machine.has_result, world.now + LONGEST_S
                )
                if not has_ended or machine.failure or not hasattr(machine, "take"):
                    break
                fetched = machine.take()
                if fetched is None:
                    break
                machine.release(fetched)
            if hasattr(machine, "commit") and not machine.failure:
                commit = machine.commit(world.now)
                world.run(machine, lambda: commit.is_over, world.now + LONGEST_S)
                errors.append(commit.failure)
        errors += [machine.failure, *getattr(machine, "losses", [])]
        texts += [machine.cluster.reasons(), machine.cluster.reasons(since=0.0)]
        machine.close(world.now)
    except kwire.KwireError as error:
        errors.append(error)
    for error in filter(None, errors):
        texts += reported(error)
    for link in links:
        texts += [repr(link), link.address, link.reason]
    return texts, defacer.defaced, [error for error in errors if error]


@pytest.mark.parametrize(
    "name",
    [
        "scan",
        "strict scan",
        "pattern",
        "topics",
        "sizes",
        "offsets",
        "producer",
        "transactions",
        "consumer",
        "consumer of a pattern",
    ],
)
def test_no_operation_reports_unescaped_text_of_a_broker(kwire, name, caplog):
    """Over all seeds, operations receive all fields with and without errors."""
    caplog.set_level(logging.DEBUG, "kwire.client")
    defaced, failures = set(), 0
    for seed in range(SEEDS):
        caplog.clear()
        texts, fields, errors = run_operation(kwire, name, seed)
        defaced |= fields
        failures += bool(errors)
        assert caplog.messages, f"seed {seed}: nothing is logged"
        for text in [*texts, *caplog.messages]:
            assert text.isprintable(), f"seed {seed}: {text!r}"
            assert len(text) < LONGEST_TEXT, f"seed {seed}"
    assert "host" in defaced
    # "topics" and "sizes" use few errors and strings from a response, so they rarely
    # fail. All other operations fail often.
    assert failures >= SEEDS / 6 or name in ("topics", "sizes")


def test_a_broker_host_with_nul_is_rejected(kwire):
    """No connection is opened, because a resolver may truncate the name at the NUL."""
    module = importlib.import_module(f"{kwire.__name__}.client.machines")
    random = random_module.Random(1)
    cluster = SimulatedCluster(kwire, random, 2, ["4.1"])
    for log in cluster.add_topic("orders", 2).logs:
        log.append(3)
    world = World(cluster, random)
    for broker in cluster.brokers.values():
        broker.learn()
        answer = broker.answer

        def name_others(request, version, answer=answer):
            response = answer(request, version)
            if type(response).__name__ != "MetadataResponse":
                return response
            brokers = [broker.replace(host="evil\0sim") for broker in response.brokers]
            return response.replace(brokers=brokers)

        broker.answer = name_others
    settings = module.ClusterSettings(request_timeout_s=3.0, timeout_s=15.0)
    options = module.ScanOptions(topics=("orders",))
    machine = module.ScanMachine(
        [("sim", 9001)], settings, options, now=START_S, random=random
    )
    assert world.run(machine, machine.has_result, START_S + LONGEST_S)
    assert isinstance(machine.failure, module.ClusterError)
    text = str(machine.failure)
    assert r"evil\x00sim:900" in text and "cannot contain NUL" in text
    assert all("\0" not in wire.link.host for wire in world.wires)
