# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire topics --create`` and ``--delete``, and the confirmation."""

import importlib

import pytest

from tests.cli.admin_broker import AdminBroker
from tests.cli.hostile_inputs import NAME


def names(broker):
    """Return {topic name: partition count} for the broker."""
    topics = broker.cluster_truth.topics
    return {name: len(topic.logs) for name, topic in topics.items()}


def test_topics_are_created(run):
    with AdminBroker({}) as broker:
        ran = run("topics", broker.address, "--create", "a", "b", "--partitions", 3)
        assert names(broker) == {"a": 3, "b": 3}
    assert (ran.code, ran.err) == (0, "")
    assert [line.split() for line in ran.out.splitlines()] == [
        ["RESULT", "TOPIC"],
        ["created", "a"],
        ["created", "b"],
    ]


def test_properties_and_replicas_are_sent(run, kwire, monkeypatch):
    client = importlib.import_module(f"{kwire.__name__}.client")
    calls = []
    monkeypatch.setattr(
        client.KafkaSync, "create_topics", lambda _, topics, **k: calls.append(k)
    )
    options = ["--replication-factor", 2, "--topic-config", "a=b=c", "--dry-run"]
    options += ["--topic-config", "d="]
    with AdminBroker({}) as broker:
        ran = run("topics", broker.address, "--create", "x", *options)
    assert (ran.code, ran.out.splitlines()[1]) == (0, "would be created  x")
    assert calls == [
        {
            "replication_factor": 2,
            "configs": {"a": "b=c", "d": ""},
            "validate_only": True,
        }
    ]


def test_refused_topic_is_an_error_and_the_others_are_created(run):
    with AdminBroker({"b": (1,)}) as broker:
        args = ["topics", broker.address, "--create", "a", "b", "c"]
        ran = run(*args, "-o", "jsonl")
        assert list(names(broker)) == ["b", "a", "c"]
    assert ran.code == 2
    assert [row["result"] for row in ran.rows] == ["created", "failed", "created"]
    assert ran.rows[1]["topic"] == "b" and "ALREADY_EXISTS" in ran.rows[1]["error"]
    assert ran.err.count("\n") == 1 and "choose another name" in ran.err


def test_topics_are_deleted(run):
    with AdminBroker({"a": (1,), "b": (1,), "c": (1,)}) as broker:
        ran = run("topics", broker.address, "--delete", "a", "c", "--yes", "-o", "csv")
        assert list(names(broker)) == ["b"]
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "topic,result,error\na,deleted,\nc,deleted,\n"


def test_refused_deletion_is_an_error_and_the_others_are_deleted(run, kwire):
    with AdminBroker({"a": (1,), "b": (1,)}) as broker:
        code = kwire.error_codes.TOPIC_DELETION_DISABLED
        broker.refused["DeleteTopics", "a"] = code
        ran = run("topics", broker.address, "--delete", "a", "b", "--yes")
    assert ran.code == 2
    assert [line.split() for line in ran.out.splitlines()][1:] == [["deleted", "b"]]
    assert "'a'" in ran.err and "set delete.topic.enable=true" in ran.err


def test_missing_permission_is_an_error_with_a_solution(run, kwire):
    with AdminBroker({"a": (1,), "b": (1,)}) as broker:
        code = kwire.error_codes.TOPIC_AUTHORIZATION_FAILED
        broker.refused["DeleteTopics", "a"] = code
        ran = run("topics", broker.address, "--delete", "a", "b", "--yes")
    assert ran.code == 2 and "deleted  b" in ran.out
    assert ran.err.endswith("; grant the user of this connection access\n")


def test_lost_cluster_ends_the_changes(run, kwire, monkeypatch):
    client = importlib.import_module(f"{kwire.__name__}.client")
    calls = []

    def delete_topics(self, name):
        calls.append(name)
        if name == "b":
            raise client.BrokersUnreachable(["127.0.0.1:1: connection refused"])

    monkeypatch.setattr(client.KafkaSync, "delete_topics", delete_topics)
    with AdminBroker({"a": (1,), "b": (1,), "c": (1,)}) as broker:
        args = ["--delete", "a", "b", "c", "--yes", "-o", "jsonl"]
        ran = run("topics", broker.address, *args)
    assert (ran.code, calls) == (2, ["a", "b"])
    assert [row["result"] for row in ran.rows] == ["deleted", "failed"]


def test_deletion_requires_a_confirmation(run):
    with AdminBroker({"a": (1,)}) as broker:
        ran = run("topics", broker.address, "--delete", "a")
        assert (ran.code, ran.out) == (2, "") and "requires --yes" in ran.err
        assert not broker.connections
        ran = run("topics", broker.address, "--delete", "a", "--dry-run")
        assert (ran.code, ran.out.splitlines()[1]) == (0, "would be deleted  a")
        assert names(broker) == {"a": 1}


@pytest.mark.parametrize(("answer", "is_deleted"), [(True, True), (False, False)])
def test_terminal_is_asked_before_a_deletion(
    run, kwire, monkeypatch, answer, is_deleted
):
    changes = importlib.import_module(f"{kwire.__name__}.cli.input.changes")
    monkeypatch.setattr(changes, "check_confirmation", lambda _: None)
    topics = importlib.import_module(f"{kwire.__name__}.cli.commands.topics")
    monkeypatch.setattr(topics, "check_confirmation", lambda _: None)
    questions = []

    def confirm(question, *, default, err):
        questions.append((question, default, err))
        return answer

    monkeypatch.setattr(changes.click, "confirm", confirm)
    with AdminBroker({"a": (1, 1)}) as broker:
        ran = run("topics", broker.address, "--delete", "a")
        assert (names(broker) == {}) == is_deleted
    assert questions == [("Delete for ever?", False, True)]
    assert "topic 'a': 2 partitions" in ran.err
    assert ran.code == (0 if is_deleted else 2)
    assert ("nothing was deleted" in ran.err) != is_deleted


def test_unknown_name_deletes_nothing(run):
    with AdminBroker({"orders": (1,)}) as broker:
        ran = run("topics", broker.address, "--delete", "orders", "order", "--yes")
        assert names(broker) == {"orders": 1}
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "kwire: topic 'order' does not exist; did you mean orders?\n"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--create"], "--create requires a TOPIC"),
        (["--delete"], "--delete requires a TOPIC"),
        (["--create", "--delete", "a"], "--create and --delete exclude"),
        (["a", "--partitions", "2"], "--partitions requires --create"),
        (["a", "--replication-factor", "2"], "--replication-factor requires"),
        (["a", "--topic-config", "x=y"], "--topic-config requires --create"),
        (["a", "--yes"], "--yes requires --delete"),
        (["a", "--dry-run"], "--dry-run requires --create or --delete"),
        (["--create", "a", "--partitions", "0"], "--partitions"),
        (["--create", "a", "--topic-config", "x"], "must be NAME=VALUE"),
        (["--create", "a"] + ["--topic-config", "x=1"] * 2, "specified once for 'x'"),
    ],
)
def test_options_that_do_not_fit_are_wrong_usage(run, options, reason):
    ran = run("topics", "127.0.0.1:1", *options)
    assert (ran.code, ran.err.count("\n")) == (2, 1) and reason in ran.err


@pytest.mark.parametrize(
    "args",
    [
        ["topics", "--create", "a"],
        ["topics", "--delete", "a", "--yes"],
        ["groups"],
        ["groups", "a"],
        ["groups", "a", "--reset", "earliest"],
        ["groups", "a", "--delete", "--yes"],
        ["configs", "a"],
        ["configs", "a", "--set", "x=y"],
    ],
)
def test_unreachable_broker_is_one_sentence(run, args):
    ran = run(args[0], "127.0.0.1:1", *args[1:], "--timeout", "1")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "127.0.0.1:1" in ran.err


def test_names_of_peers_and_users_are_escaped(run):
    with AdminBroker({NAME: (1,)}) as broker:
        broker.add_group(NAME, [(NAME, 0, 1)])
        broker.cluster_truth.configs[2, NAME] = {NAME: NAME}
        for args in (
            ["topics", "--create", NAME],
            ["topics", "--delete", NAME, "--dry-run"],
            ["groups"],
            ["groups", NAME],
            ["groups", NAME, f"{NAME}2"],
            ["groups", NAME, "--reset", "0", "--dry-run"],
            ["groups", NAME, "--reset", "0", "--dry-run", "-t", f"{NAME}2"],
            ["groups", f"{NAME}2", "--delete", "--yes"],
            ["configs", NAME, f"{NAME}2", "--defaults"],
            ["configs", NAME, "--set", f"{NAME}=1", "--dry-run"],
            ["configs", "--broker", NAME],
        ):
            ran = run(args[0], broker.address, *args[1:])
            text = ran.out + ran.err
            assert text and text.replace("\n", "").isprintable(), args
