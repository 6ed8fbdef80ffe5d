# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare ``kwire topics``, ``groups`` and ``configs`` with Kafka's own tools.

Every check changes a topic or a group with the kwire command, and reads the result with
the tool of the newest release: TopicCommand, ConsumerGroupCommand or ConfigCommand.
Reset offsets must be identical to the offsets that ConsumerGroupCommand plans.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from kwire import client
from tools.interop.broker import broker as brokers
from tools.interop.broker.broker import Broker
from tools.interop.broker.command import kwire_rows

RECORDS = (12, 0, 7)
"""Number of records in partition 0, 1 and 2."""

START = datetime(2026, 1, 2, tzinfo=UTC)
"""Timestamp of the first record in each partition. Each next record is 1 s later."""


# Check only two releases, because each call of Kafka's tools takes several seconds.
pytestmark = pytest.mark.releases("4.x", at_night=("3.9",))

_TOOLS = {
    "topics": "org.apache.kafka.tools.TopicCommand",
    "groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "configs": "kafka.admin.ConfigCommand",
}
"""Kafka's tools by kwire command. The tools of the newest release are used."""


@pytest.fixture
def topic(kafka: Broker) -> str:
    """Name of a new topic with records. The kwire command has created the topic."""
    name = f"commands-{uuid4().hex[:8]}"
    options = ["--create", "--partitions", str(len(RECORDS))]
    kwire_rows(kafka.address, "topics", name, *options)
    with (
        client.connect_sync(kafka.address) as connected,
        connected.producer() as producer,
    ):
        for partition, count in enumerate(RECORDS):
            for number in range(count):
                time = START + timedelta(seconds=number)
                producer.send(
                    name,
                    value=b"value",
                    partition=partition,
                    timestamp=round(time.timestamp() * 1000),
                )
    return name


@pytest.fixture
def group(kafka: Broker, topic: str) -> str:
    """Name of a new group that has committed offset 3 for every partition."""
    name = f"group-{uuid4().hex[:8]}"
    kwire_rows(kafka.address, "groups", name, "--reset", "3", "--topic", topic)
    return name


def run_tool(kafka: Broker, name: str, *options: str) -> str:
    """Run one of Kafka's tools with the address of the broker. Returns its output."""
    bootstrap = ("--bootstrap-server", kafka.address)
    newest = brokers.find_release("4.x")
    return brokers.run(brokers.java(newest, _TOOLS[name], *bootstrap, *options))


def read_columns(text: str, *titles: str) -> list[tuple[str, ...]]:
    """Return the specified columns of the table that ConsumerGroupCommand has printed.

    The rows are sorted.
    """
    lines = [line.split() for line in text.splitlines() if line.strip()]
    start = next(index for index, line in enumerate(lines) if line[0] == "GROUP")
    positions = [lines[start].index(title) for title in titles]
    return sorted(tuple(line[n] for n in positions) for line in lines[start + 1 :])


def test_topics_are_created_and_deleted(kafka: Broker) -> None:
    names = [f"commands-{uuid4().hex[:8]}" for _ in range(2)]
    options = ["--partitions", "3", "--topic-config", "retention.ms=86400000"]
    kwire_rows(kafka.address, "topics", *names, "--create", *options)
    for name in names:
        text = run_tool(kafka, "topics", "--describe", "--topic", name)
        assert re.search(r"PartitionCount: ?3\b", text)
        assert "retention.ms=86400000" in text
    rows = kwire_rows(kafka.address, "topics", names[0], "--create", code=2)
    assert rows[0]["result"] == "failed"
    kwire_rows(kafka.address, "topics", *names, "--delete", "--yes")
    listed = run_tool(kafka, "topics", "--list").split()
    assert not set(names) & set(listed)


def test_lag_is_that_of_kafkas_tool(kafka: Broker, group: str) -> None:
    text = run_tool(kafka, "groups", "--describe", "--group", group)
    titles = ("TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG")
    names = ("topic", "partition", "committed_offset", "end_offset", "lag")
    rows = kwire_rows(kafka.address, "groups", group)
    assert len(rows) == len(RECORDS)
    ours = sorted(tuple(str(row[name]) for name in names) for row in rows)
    assert ours == read_columns(text, *titles)
    listed = {row["group"] for row in kwire_rows(kafka.address, "groups")}
    assert set(run_tool(kafka, "groups", "--list").split()) == listed


@pytest.mark.parametrize(
    ("position", "option"),
    [
        ("earliest", ["--to-earliest"]),
        ("latest", ["--to-latest"]),
        ("5", ["--to-offset", "5"]),
        ("99", ["--to-offset", "99"]),
        ("2026-01-02T00:00:04Z", ["--to-datetime", "2026-01-02T00:00:04.000"]),
        ("2026-01-02T00:01:00Z", ["--to-datetime", "2026-01-02T00:01:00.000"]),
    ],
)
def test_reset_is_that_of_kafkas_tool(
    kafka: Broker, group: str, topic: str, position: str, option: list[str]
) -> None:
    args = ["--group", group, "--reset-offsets", "--topic", topic, *option]
    text = run_tool(kafka, "groups", *args, "--dry-run")
    expected = read_columns(text, "PARTITION", "NEW-OFFSET")
    for options in (["--dry-run"], []):
        rows = kwire_rows(kafka.address, "groups", group, "--reset", position, *options)
        ours = [(str(row["partition"]), str(row["after"])) for row in rows]
        assert sorted(ours) == expected, (position, options)
    text = run_tool(kafka, "groups", "--describe", "--group", group)
    assert read_columns(text, "PARTITION", "CURRENT-OFFSET") == expected


def test_group_is_deleted(kafka: Broker, group: str) -> None:
    kwire_rows(kafka.address, "groups", group, "--delete", "--yes")
    assert group not in run_tool(kafka, "groups", "--list").split()
    rows = kwire_rows(kafka.address, "groups", group, "--delete", "--yes", code=2)
    assert rows[0]["result"] == "failed"


def test_properties_are_those_of_kafkas_tool(kafka: Broker, topic: str) -> None:
    options = ["--set", "retention.ms=5000", "--set", "cleanup.policy=compact"]
    kwire_rows(kafka.address, "configs", topic, *options)
    kwire_rows(kafka.address, "configs", topic, "--unset", "cleanup.policy")
    entity = ("--entity-type", "topics", "--entity-name", topic)
    text = run_tool(kafka, "configs", "--describe", *entity, "--all")
    theirs = dict(re.findall(r"^  ([\w.]+)=(.*?) sensitive=", text, re.MULTILINE))
    rows = kwire_rows(kafka.address, "configs", topic, "--defaults")
    ours = {row["property"]: row["value"] or "" for row in rows}
    assert ours == theirs
    assert (ours["retention.ms"], ours["cleanup.policy"]) == ("5000", "delete")
    entity = ("--entity-type", "brokers", "--entity-name", "1")
    text = run_tool(kafka, "configs", "--describe", *entity, "--all")
    theirs = dict(re.findall(r"^  ([\w.]+)=(.*?) sensitive=", text, re.MULTILINE))
    rows = kwire_rows(kafka.address, "configs", "--broker", "1", "--defaults")
    assert {row["property"] for row in rows} == set(theirs)
    for row in rows:
        expected = theirs[row["property"]]
        value = "null" if row["value"] is None else row["value"]
        assert value == expected, row
