# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments raise one sentence that lists the available values."""

import pytest

from kwire import testing
from kwire.schema import releases


@pytest.fixture(scope="module")
def kafka():
    with testing.cluster(brokers=2, topics={"orders": 2, "payments": 1}) as cluster:
        yield cluster


WRONG_CLUSTERS = [
    ({"release": "9.9"}, f"release must be one of {', '.join(releases.NAMES)} (got"),
    ({"brokers": 0}, "brokers must be 1 to 100 (got 0)"),
    ({"brokers": 101}, "brokers must be 1 to 100 (got 101)"),
    ({"brokers": "3"}, "brokers must be 1 to 100 (got '3')"),
    ({"topics": {"a b": 1}}, "a topic name must have 1 to 249 letters"),
    ({"topics": {"": 1}}, "a topic name must have 1 to 249 letters"),
    ({"topics": {"orders": 0}}, "partitions must be 1 to 10000 (got 0)"),
    ({"topics": {"orders": "4"}}, "partitions must be 1 to 10000 (got '4')"),
]


@pytest.mark.parametrize(("arguments", "text"), WRONG_CLUSTERS, ids=str)
def test_wrong_argument_of_a_cluster_lists_the_values(arguments, text):
    check(lambda: testing.cluster(**arguments), text)


WRONG_CALLS = [
    (lambda kafka: kafka.write("typo", [b""]), "topic must be one of orders, payments"),
    (lambda kafka: kafka.records("typo"), "topic must be one of orders, payments"),
    (
        lambda kafka: kafka.write("orders", [b""], partition=2),
        "partition of topic 'orders' must be 0 to 1 (got 2)",
    ),
    (
        lambda kafka: kafka.truncate("orders", -1, 0),
        "partition of topic 'orders' must be 0 to 1 (got -1)",
    ),
    (
        lambda kafka: kafka.move_leader("orders", 0, to=3),
        "broker must be one of 1, 2 (got 3)",
    ),
    (lambda kafka: kafka.stop(9), "broker must be one of 1, 2 (got 9)"),
    (lambda kafka: kafka.start(1), "broker 1 is running"),
    (lambda kafka: kafka.create_topic("orders"), "topic 'orders' exists already"),
    (
        lambda kafka: kafka.create_topic("new", configs={"typo": "1"}),
        "configs is invalid: Unknown topic config name: typo",
    ),
    (
        lambda kafka: kafka.create_topic("new", configs={"segment.bytes": "x"}),
        "configs is invalid: Invalid value x for configuration segment.bytes",
    ),
    (
        lambda kafka: kafka.create_topic("new", configs={"segment.bytes": 5}),
        "configs must contain strings (got segment.bytes=5)",
    ),
    (lambda kafka: kafka.fail("Typo", "NOT_COORDINATOR"), "api must be one of AddOff"),
    (lambda kafka: kafka.fail("Produce", "TYPO"), "error must be one of BROKER_ID_"),
    (lambda kafka: kafka.fail("Produce", 9999), "error must be one of BROKER_ID_"),
    (
        lambda kafka: kafka.fail("Produce", "NOT_COORDINATOR", broker=3),
        "broker must be one of 1, 2 (got 3)",
    ),
    (
        lambda kafka: kafka.fail("Produce", "NOT_COORDINATOR", times=0),
        "times must be 1 or more, or None (got 0)",
    ),
    (lambda kafka: kafka.delay("Fetch", 0), "seconds must be more than 0 (got 0)"),
    (lambda kafka: kafka.cut("Typo"), "api must be one of AddOff"),
    (lambda kafka: kafka.answer("Typo", print), "api must be one of AddOff"),
]


@pytest.mark.parametrize(("call", "text"), WRONG_CALLS, ids=lambda value: "")
def test_wrong_argument_of_a_method_lists_the_values(kafka, call, text):
    check(lambda: call(kafka), text)


def check(call, text):
    """Check that a call raises ``ValueError`` with one sentence that begins so."""
    with pytest.raises(ValueError) as raised:
        call()
    sentence = str(raised.value)
    assert sentence.startswith(text), sentence
    assert "\n" not in sentence and ". " not in sentence


def test_long_values_are_shortened():
    with pytest.raises(ValueError) as raised:
        testing.cluster(topics={"x" * 100_000: 1})
    assert len(str(raised.value)) < 300
