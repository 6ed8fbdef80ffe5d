# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Address and property file of a cluster from environment variables."""

import pytest
from confluent_kafka import Producer

from tests.cli.made_logs import rows, write_log

REACHED = "restoring orders-0: "
"""Start of errors that show that ``restore`` has reached the cluster."""


@pytest.fixture(scope="module")
def address():
    """Address of a mock cluster with records in ``orders``."""
    producer = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1})
    producer.produce("orders", b"value")
    assert producer.flush(10) == 0
    broker = producer.list_topics(timeout=10).brokers[1]
    yield f"{broker.host}:{broker.port}"


@pytest.fixture
def configured(monkeypatch, address):
    """Environment with the cluster address."""
    monkeypatch.setenv("KWIRE_BOOTSTRAP_SERVERS", address)


def call_commands(tmp_path):
    """Return the arguments of all commands that need an address, without it."""
    write_log(tmp_path / "logs" / "orders-0", [rows(0, 3)])
    line = tmp_path / "line.txt"
    line.write_text("a\n")
    return [
        ("read", "orders", "-f", "%v"),
        ("read", "-f", "%v", "-n", "1", "orders"),
        ("topics", "--no-offsets", "--no-sizes"),
        ("topics", "orders", "--no-offsets", "--no-sizes"),
        ("write", "orders", line),
        ("restore", tmp_path / "logs"),
        ("versions",),
    ]


def test_every_command_takes_the_address_of_the_environment(
    run, configured, address, tmp_path
):
    for command, *args in call_commands(tmp_path):
        ran = run(command, *args)
        assert ran.code == 0 or REACHED in ran.err, (command, ran.err)


def test_record_takes_the_first_address_of_the_environment(
    run, monkeypatch, address, tmp_path
):
    monkeypatch.setenv("KWIRE_BOOTSTRAP_SERVERS", f"{address},127.0.0.1:1")
    options = "--listen", "127.0.0.1:0", "--seconds", "0.2"
    ran = run("record", *options, "--output", tmp_path / "recordings")
    assert ran.code == 0, ran.err


def test_an_address_that_is_given_wins(run, monkeypatch, address):
    monkeypatch.setenv("KWIRE_BOOTSTRAP_SERVERS", "127.0.0.1:1")
    assert run("read", address, "orders", "-n", "1", "-f", "%t").out == "orders"
    assert run("versions", address).code == 0


@pytest.mark.parametrize("value", [None, ""])
def test_without_an_address_the_error_names_the_variable(run, monkeypatch, value):
    monkeypatch.delenv("KWIRE_BOOTSTRAP_SERVERS", raising=False)
    if value is not None:
        monkeypatch.setenv("KWIRE_BOOTSTRAP_SERVERS", value)
    for command in (["read", "orders"], ["topics", "orders"], ["write", "orders"]):
        ran = run(*command)
        assert ran.code == 2 and ran.err.count("\n") == 1
        assert "the first argument must be the address HOST:PORT (got 'orders')" in (
            ran.err
        )
        assert "set KWIRE_BOOTSTRAP_SERVERS" in ran.err


def test_path_with_a_colon_is_not_an_address(run, configured, tmp_path):
    logs = tmp_path / "2026-11-24T10:00"
    write_log(logs / "orders-0", [rows(0, 3)])
    ran = run("restore", logs)
    assert ran.code == 0 or REACHED in ran.err, ran.err


def test_a_bad_option_is_named_as_without_the_variable(run, configured):
    ran = run("read", "orders", "--nope")
    assert ran.code == 2 and "--nope" in ran.err and ran.err.count("\n") == 1


def test_the_property_file_can_be_in_the_environment(
    run, configured, monkeypatch, tmp_path
):
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=NOPE\n")
    monkeypatch.setenv("KWIRE_CONFIG", str(file))
    assert "sasl.mechanism" in run("topics").err
    ran = run("topics", "--tls")
    assert ran.code == 2 and "--config (KWIRE_CONFIG) cannot be given with" in ran.err
    monkeypatch.setenv("KWIRE_CONFIG", str(tmp_path / "none"))
    ran = run("topics")
    assert ran.code == 2 and "'--config'" in ran.err


@pytest.mark.parametrize("command", ["read", "write", "topics", "restore"])
def test_the_help_names_the_variables(run, command):
    text = run(command, "--help").out
    assert "KWIRE_BOOTSTRAP_SERVERS" in text and "KWIRE_CONFIG" in text
