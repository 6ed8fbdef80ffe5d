# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire groups``: list, lag, resets and deletions."""

import pytest

from tests.cli.admin_broker import AdminBroker


@pytest.fixture
def broker():
    """Broker with a group that has read a part of two topics."""
    with AdminBroker({"orders": (5, 7), "other": (20,)}) as broker:
        broker.add_group("etl", [("orders", 0, 3), ("orders", 1, 7), ("other", 0, 4)])
        yield broker


def committed(broker, group="etl"):
    """Return {(topic, partition): committed offset} for a group."""
    truth = broker.cluster_truth
    names = {topic.topic_id: name for name, topic in truth.topics.items()}
    offsets = truth.groups[group].offsets.items()
    return {
        (names[partition[0]], partition[1]): offset
        for partition, (offset, _) in offsets
    }


def test_groups_are_listed(run, broker):
    broker.cluster_truth.listed_groups |= {"another"}
    ran = run("groups", broker.address)
    assert (ran.code, ran.err) == (0, "kwire: 2 groups\n")
    lines = [line.split() for line in ran.out.splitlines()]
    assert lines[0] == ["STATE", "TYPE", "PROTOCOL", "GROUP"]
    assert [line[-1] for line in lines[1:]] == ["another", "etl"]
    rows = run("groups", broker.address, "-o", "jsonl").rows
    assert rows[1] == {
        "group": "etl",
        "group_type": None,
        "state": None,
        "protocol_type": "consumer",
    }


def test_lag_of_each_partition_is_shown(run, broker):
    broker.has_members = True
    ran = run("groups", broker.address, "etl")
    assert (ran.code, ran.err) == (0, "")
    lines = [line.split() for line in ran.out.splitlines()]
    assert lines[0] == ["PARTITION", "COMMITTED", "END", "LAG", "TOPIC", "CLIENT"]
    assert ran.out.splitlines()[1] == "group etl: consumer, Stable, uniform, 1 member"
    assert lines[2] == ["0", "3", "5", "2", "orders", "c@127.0.0.1"]
    assert lines[3] == ["1", "7", "7", "0", "orders"]
    assert ["0", "4", "20", "16", "other", "c@127.0.0.1"] in lines
    assert max(map(len, ran.out.splitlines())) <= 80


def test_rows_have_all_that_is_known(run, broker):
    rows = run("groups", broker.address, "etl", "-t", "other", "-o", "jsonl").rows
    assert rows == [
        {
            "group": "etl",
            "group_type": "consumer",
            "state": "Empty",
            "assignor": "uniform",
            "members": 0,
            "topic": "other",
            "partition": 0,
            "committed_offset": 4,
            "end_offset": 20,
            "lag": 16,
            "member_id": None,
            "group_instance_id": None,
            "client_id": None,
            "client_host": None,
        }
    ]


def test_group_without_offsets_has_one_row(run, broker):
    broker.add_group("new")
    rows = run("groups", broker.address, "new", "-o", "jsonl").rows
    assert [(row["group"], row["state"], row["topic"]) for row in rows] == [
        ("new", "Empty", None)
    ]


def test_unknown_group_is_an_error_and_the_others_are_shown(run, broker):
    ran = run("groups", broker.address, "none", "etl", "-o", "jsonl")
    assert ran.code == 2 and {row["group"] for row in ran.rows} == {"etl"}
    assert ran.err.count("\n") == 1
    assert "'none'" in ran.err and "kwire groups lists the groups" in ran.err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["earliest"], [0, 0, 0]),
        (["latest"], [5, 7, 20]),
        (["6"], [5, 6, 6]),
        (["-2"], [3, 5, 18]),
        (["-99"], [0, 0, 0]),
        (["1970-01-01T00:00:01.003Z"], [2, 2, 2]),
        (["1h"], [5, 7, 20]),
        (["2", "--topic", "orders"], [2, 2, 4]),
        (["2", "--partition", "1"], [3, 2, 4]),
    ],
)
def test_offsets_are_reset(run, broker, options, expected):
    places = [("orders", 0), ("orders", 1), ("other", 0)]
    before = committed(broker)
    args = ["groups", broker.address, "etl", "--reset", *options, "-o", "jsonl"]
    planned = run(*args, "--dry-run")
    assert planned.code == 0 and committed(broker) == before
    assert "nothing was changed" in planned.err
    ran = run(*args)
    assert (ran.code, ran.rows) == (0, planned.rows)
    assert [committed(broker)[partition] for partition in places] == expected
    for row in ran.rows:
        partition = row["topic"], row["partition"]
        assert (row["before"], row["after"]) == (
            before[partition],
            committed(broker)[partition],
        )


def test_reset_is_a_table_with_both_offsets(run, broker):
    ran = run("groups", broker.address, "etl", "--reset", "1", "-t", "other")
    assert [line.split() for line in ran.out.splitlines()] == [
        ["PARTITION", "BEFORE", "AFTER", "TOPIC"],
        ["group", "etl"],
        ["0", "4", "1", "other"],
    ]
    assert ran.err == "kwire: 1 offset committed\n"


def test_offset_outside_of_a_partition_is_reported(run, broker):
    ran = run("groups", broker.address, "etl", "--reset", "6", "-t", "orders")
    assert (ran.code, committed(broker)["orders", 0]) == (0, 5)
    assert "orders-0 has the offsets 0 to 5; 5 is used in place of 6" in ran.err


def test_group_with_members_is_not_reset(run, broker):
    broker.has_members = True
    before = committed(broker)
    ran = run("groups", broker.address, "etl", "--reset", "earliest")
    assert (ran.code, ran.out, committed(broker)) == (2, "", before)
    assert "has 1 member" in ran.err and "stop the consumers" in ran.err


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--topic", "none"], "topic 'none' does not exist"),
        (["--partition", "9"], "no committed offset to reset"),
    ],
)
def test_reset_without_partitions_is_an_error(run, broker, options, reason):
    ran = run("groups", broker.address, "etl", "--reset", "0", *options)
    assert (ran.code, ran.out) == (2, "") and reason in ran.err


def test_groups_are_deleted(run, broker):
    args = ["groups", broker.address, "etl", "none", "--delete"]
    ran = run(*args)
    assert ran.code == 2 and "requires --yes" in ran.err
    ran = run(*args, "--dry-run")
    assert [line.split()[-1] for line in ran.out.splitlines()[1:]] == ["etl"]
    assert "etl" in broker.cluster_truth.listed_groups
    ran = run(*args, "--yes", "-o", "jsonl")
    assert ran.code == 2 and "'none'" in ran.err
    assert [row["result"] for row in ran.rows] == ["deleted", "failed"]
    assert "etl" not in broker.cluster_truth.listed_groups


def test_group_with_members_is_not_deleted(run, broker, kwire):
    broker.has_members = True
    broker.refused["DeleteGroups", "etl"] = kwire.error_codes.NON_EMPTY_GROUP
    for options in (["--dry-run"], ["--yes"]):
        ran = run("groups", broker.address, "etl", "--delete", *options)
        assert (ran.code, ran.out) == (2, "")
        assert "stop the consumers of the group first" in ran.err


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--reset", "0"], "--reset requires a GROUP"),
        (["--delete"], "--delete requires a GROUP"),
        (["a", "--delete", "--reset", "0"], "--reset and --delete exclude"),
        (["a", "--dry-run"], "--dry-run requires --reset or --delete"),
        (["a", "--yes"], "--yes requires --delete"),
        (["-t", "x"], "--topic requires a GROUP"),
        (["a", "-p", "1", "--delete"], "--partition requires a GROUP"),
        (["a", "--reset", "soon"], "'soon' is not a position"),
    ],
)
def test_options_that_do_not_fit_are_wrong_usage(run, options, reason):
    ran = run("groups", "127.0.0.1:1", *options)
    assert (ran.code, ran.err.count("\n")) == (2, 1) and reason in ran.err
