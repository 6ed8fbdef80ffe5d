# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Events that state machines log and count: level, text, fields and metrics."""

import importlib
import logging
import random as random_module
import re
from collections import Counter
from contextlib import contextmanager

import pytest

from kwire.client.machines.events import Event, report
from kwire.client.machines.metrics import Metrics
from tests.client import client_sessions
from tests.client.machines.group_scenario import GroupScenario
from tests.client.machines.liar import Liar
from tests.client.machines.scan_scenario import Scenario
from tests.client.machines.test_link import Broker
from tests.client.machines.test_rebootstrap import Recovery
from tests.client.machines.test_telemetry import Client
from tests.client.machines.transaction_scenario import TransactionScenario

HOSTILE = "\x1b[2J\x00\r\nfake: line\u202e\x9b\ud800" * 500
SECRET = "hunter2-Kx9"


@pytest.fixture
def log(caplog):
    """Records that the client has logged, at all levels."""
    caplog.set_level(logging.DEBUG, "kwire.client")
    return caplog


def fields_of(event):
    """Return {field name: format character} for the fields in the text of an event."""
    return dict(re.findall(r"%\((\w+)\)[.\d]*(\w)", event.text))


@pytest.mark.parametrize("event", Event)
def test_an_event_with_hostile_texts_is_one_short_printable_line(log, event):
    values = {"s": HOSTILE, "d": 1 << 62, "f": 1e300}
    fields = {name: values[kind] for name, kind in fields_of(event).items()}
    report(Metrics(), event, **fields)
    (record,) = log.records
    assert record.getMessage().isprintable()
    assert len(record.getMessage()) < 1500
    assert record.name.startswith("kwire.client.")
    assert (record.levelno, record.event) == (event.level, event.name.lower())
    assert record.args.keys() == fields.keys()


@pytest.mark.parametrize("event", Event)
def test_an_event_without_a_logger_is_counted_and_not_formatted(event):
    class Text:
        def __str__(self):
            raise AssertionError("a text was made for no logger")

    metrics = Metrics()
    logging.getLogger("kwire.client").setLevel(logging.CRITICAL)
    try:
        report(metrics, event, 3, **dict.fromkeys(fields_of(event), Text()))
    finally:
        logging.getLogger("kwire.client").setLevel(logging.NOTSET)
    counted = {name: value for name, value in metrics.snapshot().items() if value}
    assert counted == ({event.metric: 3} if event.metric else {})


def test_a_program_without_logging_prints_nothing(capfd):
    for event in Event:
        report(Metrics(), event, **dict.fromkeys(fields_of(event), 1))
    assert capfd.readouterr() == ("", "")


@contextmanager
def logged():
    """Collect the events and messages that are logged within the block."""
    records = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append((record.event, record.getMessage()))
    logger = logging.getLogger("kwire.client")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield records
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)


def run_seed(kwire, scenario_class, seed):
    """Run a simulation seed, and return the logged events and messages."""
    with logged() as records:
        scenario_class(kwire, seed).run()
    return records


def test_a_simulation_has_the_same_events_for_the_same_seed(kwire):
    """Two runs with the same seed log the same events.

    Over all seeds, the faults cause all events of a scan.
    """
    names = set()
    for seed in range(40):
        records = run_seed(kwire, Scenario, seed)
        if seed < 10:
            assert records == run_seed(kwire, Scenario, seed), f"seed {seed}"
        names |= {name for name, _ in records}
    assert names >= {
        "connection_opened",
        "connection_closed",
        "connection_failed",
        "data_lost",
        "leader_moved",
        "metadata_refreshed",
        "retry",
        "throttled",
    }


def test_transaction_simulation_logs_transaction_events(kwire):
    names = set()
    for seed in range(30):
        records = run_seed(kwire, TransactionScenario, seed)
        names |= {name for name, _ in records}
    assert names >= {
        "batch_resent",
        "producer_fenced",
        "transaction_aborted",
        "transaction_committed",
    }


def run_telemetry(kwire):
    """Run a client whose broker subscribes to metrics and rejects the first push."""
    client = Client(kwire)
    client.receiver.errors = [kwire.error_codes.TELEMETRY_TOO_LARGE]
    client.run(60)


def run_rebootstrap(kwire):
    """Run a client whose brokers require a rebootstrap."""
    recovery = Recovery(kwire)
    recovery.read(3)
    recovery.require_rebootstrap([1, 2, 3])
    recovery.world.run(recovery.machine, lambda: False, recovery.world.now + 30)


def test_every_event_occurs(kwire):
    """All events occur in the simulations, in a telemetry run, or in a rebootstrap."""
    names = set()
    with logged() as records:
        for seed in range(40):
            Scenario(kwire, seed).run()
        for seed in range(30):
            TransactionScenario(kwire, seed).run()
        for seed in range(15):
            GroupScenario(kwire, seed).run()
        run_telemetry(kwire)
        run_rebootstrap(kwire)
    names = {name for name, _ in records}
    assert {event.name.lower() for event in Event} - names == set()


def test_metrics_of_a_group_agree_with_its_events(kwire):
    """The metrics of all members count as many events as were logged."""
    totals = Counter()
    with logged() as records:
        for seed in range(8):
            scenario = GroupScenario(kwire, seed)
            scenario.run()
            for settings in scenario.settings:
                totals.update(settings.metrics.snapshot())
    counts = Counter(name for name, _ in records)
    assert totals["join_total"] == counts["member_joined"] > 0
    assert totals["fence_total"] == counts["member_fenced"] > 0
    assert totals["commit_error_total"] == counts["commit_failed"] > 0
    assert totals["partition_loss_total"] >= counts["partitions_lost"] > 0
    assert totals["commit_total"] >= counts["offsets_committed"] > 0
    assert totals["retry_total"] == counts["retry"] > 0
    assert totals["rebalance_total"] > 0


def test_no_log_line_of_an_authentication_has_the_password(kwire, monkeypatch):
    """Brokers respond correctly, or with changed texts, error codes and lengths."""
    monkeypatch.setattr(client_sessions, "PASSWORD", SECRET)
    monkeypatch.setattr(client_sessions, "USERS", {"ann": SECRET})
    failures = 0
    with logged() as records:
        for seed in range(30):
            liar = Liar(kwire, random_module.Random(seed))
            lie = liar.in_place_of if seed else None
            _, failure = client_sessions.run_session(kwire, "sasl", "4.1", lie=lie)
            failures += failure is not None
        damage = random_module.Random(1)
        for _ in range(30):

            def change(data):
                data = bytearray(data)
                if data:
                    data[damage.randrange(len(data))] ^= 1 << damage.randrange(8)
                return bytes(data)

            _, failure = client_sessions.run_session(kwire, "sasl", "4.1", change)
            failures += failure is not None
    assert failures > 20
    assert {"connection_opened", "connection_failed"} <= {name for name, _ in records}
    assert [text for _, text in records if SECRET in text] == []


class Indiscreet:
    """Mechanism whose error message contains its password."""

    mechanism = "PLAIN"

    def first(self):
        raise ValueError(SECRET)


def test_no_log_line_has_a_secret_of_an_address_or_of_a_mechanism(kwire, log):
    machines = importlib.import_module(f"{kwire.__name__}.client.machines")
    settings = machines.ClusterSettings(new_mechanism=Indiscreet)
    machine = machines.ScanMachine(
        [(f"ann:{SECRET}@sim", 9092)],
        settings,
        machines.ScanOptions(topics=("a",)),
        now=0.0,
        random=random_module.Random(1),
    )
    machine.advance(0.0)
    (link,) = machine.cluster.take_new_links()
    link.note_open(0.0)
    Broker(kwire).exchange(link, 0.0)
    machine.advance(1.0)
    assert [record.event for record in log.records] == ["connection_failed", "retry"]
    assert "the mechanism raised ValueError" in log.text
    assert "sim:9092" in log.text
    assert SECRET not in log.text
