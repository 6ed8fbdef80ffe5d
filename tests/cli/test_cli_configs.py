# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire configs``: properties of topics and brokers are shown and changed."""

import pytest

from tests.cli.admin_broker import AdminBroker

TOPIC, BROKER = 2, 4


@pytest.fixture
def broker():
    """Broker with a topic that has properties."""
    with AdminBroker({"orders": (1,)}) as broker:
        values = {"retention.ms": "1000", "cleanup.policy": "compact"}
        broker.cluster_truth.configs[TOPIC, "orders"] = values
        yield broker


def configs(broker, kind=TOPIC, name="orders"):
    """Return the properties of a topic or broker that differ from their defaults."""
    return broker.cluster_truth.configs.get((kind, name), {})


def test_properties_are_shown_below_their_resource(run, broker):
    ran = run("configs", broker.address, "orders", "--broker", "1", "--defaults")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].split() == ["PROPERTY", "VALUE"]
    assert lines[1] == "topic orders (default)"
    assert lines[2].split() == ["cleanup.policy", "compact"]
    assert lines[5] == "broker 1 (default)" and lines[6].split() == ["node", "1"]


def test_defaults_are_shown_on_request(run, broker):
    ran = run("configs", broker.address, "orders")
    assert (ran.code, ran.out) == (0, "")


def test_rows_have_all_that_is_known(run, broker):
    ran = run("configs", broker.address, "orders", "--defaults", "-o", "jsonl")
    assert ran.rows[-1] == {
        "resource_type": "topic",
        "resource_name": "orders",
        "property": "retention.ms",
        "value": "1000",
        "source": "default",
        "is_read_only": False,
        "is_sensitive": False,
    }


@pytest.mark.parametrize("form", ["table", "jsonl", "csv"])
def test_sensitive_values_are_not_shown(run, broker, form):
    broker.is_sensitive = True
    broker.cluster_truth.configs[TOPIC, "orders"] = {"password": "hunter2"}
    for options in (["--defaults"], ["--set", "password=hunter3", "--dry-run"]):
        ran = run("configs", broker.address, "orders", *options, "-o", form)
        assert ran.code == 0 and "password" in ran.out
        assert "hunter" not in ran.out + ran.err


def test_properties_are_set_and_removed(run, broker):
    args = ["configs", broker.address, "orders", "--set", "retention.ms=5"]
    args += ["--unset", "cleanup.policy", "--set", "x=a=b"]
    before = dict(configs(broker))
    planned = run(*args, "--dry-run", "-o", "jsonl")
    assert planned.code == 0 and configs(broker) == before
    assert "nothing was changed" in planned.err
    ran = run(*args, "-o", "jsonl")
    assert (ran.code, ran.rows) == (0, planned.rows)
    assert configs(broker) == {"retention.ms": "5", "x": "a=b"}
    assert [(row["property"], row["before"], row["after"]) for row in ran.rows] == [
        ("retention.ms", "1000", "5"),
        ("x", None, "a=b"),
        ("cleanup.policy", "compact", None),
    ]


def test_change_is_a_table_with_both_values(run, broker):
    args = ["--set", "retention.ms=", "--unset", "cleanup.policy"]
    ran = run("configs", broker.address, "orders", *args)
    assert [line.split() for line in ran.out.splitlines()] == [
        ["PROPERTY", "BEFORE", "AFTER"],
        ["topic", "orders"],
        ["retention.ms", "1000", '""'],
        ["cleanup.policy", "compact", "(removed)"],
    ]


def test_configuration_of_all_brokers_is_set(run, broker):
    ran = run("configs", broker.address, "--broker", "all", "--set", "x=1")
    assert ran.code == 0 and "all brokers" in ran.out
    assert configs(broker, BROKER, "") == {"x": "1"}


@pytest.mark.parametrize("options", [["--defaults"], ["--set", "x=1"]])
def test_unknown_topic_is_an_error_and_the_others_are_shown(run, broker, options):
    ran = run("configs", broker.address, "none", "orders", *options, "-o", "jsonl")
    assert ran.code == 2 and {row["resource_name"] for row in ran.rows} == {"orders"}
    assert ran.err.count("\n") == 1
    assert "'none'" in ran.err and "kwire topics lists the topics" in ran.err


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "name a TOPIC, or a broker with --broker"),
        (["--broker", "x"], "must be a node id or all (got 'x')"),
        (["a", "--set", "x"], "--set must be NAME=VALUE"),
        (["a", "--set", "x=1", "--unset", "x"], "name the same 'x'"),
        (["a", "--dry-run"], "--dry-run requires --set or --unset"),
        (["a", "--defaults", "--set", "x=1"], "--defaults excludes"),
    ],
)
def test_options_that_do_not_fit_are_wrong_usage(run, options, reason):
    ran = run("configs", "127.0.0.1:1", *options)
    assert (ran.code, ran.err.count("\n")) == (2, 1) and reason in ran.err
