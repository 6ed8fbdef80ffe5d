# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire read`` and ``kwire topics`` with features that the mock cluster lacks.

Covers times, passwords, certificates, and deleted records.
``tests/cli/test_cli_read.py`` contains the other tests.
"""

import asyncio
import importlib
import json

import pytest
from click.testing import CliRunner

from tests.client.log_broker import LogBroker
from tests.harness.loopback_brokers import make_certificate, server_context

RECORDS = 25
FIRST_TIME = 1001
"""Timestamp at offset 0. Consecutive records differ by 1 ms."""


@pytest.fixture
def run(kwire):
    """Function that runs the CLI. Returns exit code, row offsets, and stderr."""
    program = importlib.import_module(f"{kwire.__name__}.cli.main").program

    def run(*args):
        done = CliRunner().invoke(program, list(map(str, args)), prog_name="kwire")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return done.exit_code, [row.get("offset") for row in rows], done.stderr

    return run


@pytest.mark.parametrize(
    ("options", "expected_offsets"),
    [
        (["--from", "1970-01-01T00:00:01.011"], range(10, RECORDS)),
        (["--from", "1970-01-01T00:00:01.011Z"], range(10, RECORDS)),
        (["--from", "1970-01-01T02:00:01.011+02:00"], range(10, RECORDS)),
        (["--from", "1970-01-01", "--to", "1970-01-01T00:00:01.004"], range(3)),
        (["--from", "1h"], []),
        (["--to", "2w"], range(RECORDS)),
        (["--from", "3000w"], range(RECORDS)),
    ],
)
def test_times_are_found_by_the_broker(run, options, expected_offsets):
    """A time means the first record at or after it. An end is exclusive."""
    with LogBroker({"orders": [RECORDS]}) as broker:
        code, offsets, err = run(
            "read", broker.address, "orders", "-o", "jsonl", *options
        )
    assert (code, err) == (0, "")
    assert offsets == list(expected_offsets)


@pytest.mark.parametrize("command", [["topics"], ["read", "orders"]])
@pytest.mark.parametrize("is_right", [True, False])
def test_password_of_a_file_authenticates_over_tls(run, tmp_path, command, is_right):
    """If the password is wrong, a one-line error is printed immediately."""
    certificate, key = make_certificate(tmp_path)
    password = tmp_path / "password"
    password.write_text("secret\n" if is_right else "wrong\n")
    access = ["--tls", "--ca", certificate, "--sasl-mechanism", "PLAIN"]
    access += ["--username", "user", "--password-file", password]
    with LogBroker(
        {"orders": [3]},
        users={"user": "secret"},
        context=server_context(certificate, key),
    ) as broker:
        name, *topics = command
        code, offsets, err = run(name, broker.address, *topics, "-o", "jsonl", *access)
    if is_right:
        assert code == 0 and offsets == ([0, 1, 2] if topics else [None])
    else:
        assert code == 2 and err.count("\n") == 1 and broker.address in err
        assert "wrong" not in err and "secret" not in err


@pytest.mark.parametrize("policy", [None, "earliest"])
def test_records_that_are_gone_are_an_error_or_reported(run, policy):
    """The requested offset was deleted by retention, which is an error by default.

    With the option, the command reports the loss and continues.
    """
    options = [] if policy is None else ["--on-data-loss", policy]
    with LogBroker({"orders": [RECORDS]}) as broker:
        broker.log("orders").delete_before(20)
        code, offsets, err = run(
            "read", broker.address, "orders", "-o", "jsonl", "--from", "5", *options
        )
    assert "orders-0 at offset 5" in err and err.count("\n") == 1
    if policy is None:
        assert (code, offsets) == (2, []) and "--on-data-loss" in err
    else:
        assert (code, offsets) == (0, list(range(20, RECORDS)))


CONFIG = """security.protocol=SASL_SSL
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  username="alice" password="opensesame";
ssl.truststore.type=PEM
ssl.truststore.location={}
group.id=kwire
"""


@pytest.mark.parametrize("command", [["topics"], ["read", "orders"]])
def test_a_property_file_of_kafka_is_all_that_is_needed(run, tmp_path, command):
    """The file has the format that Kafka's tools read, and errors contain the property.

    Options are rejected if they repeat a setting in the file.
    """
    certificate, key = make_certificate(tmp_path)
    config = tmp_path / "client.properties"
    context = server_context(certificate, key)
    name, *topics = command
    users = {"alice": "opensesame"}
    with LogBroker({"orders": [RECORDS]}, users=users, context=context) as broker:

        def read(*options):
            return run(name, broker.address, *topics, "-o", "jsonl", *options)

        config.write_text(CONFIG.format(certificate))
        code, rows, err = read("--config", config)
        assert code == 0
        assert rows
        code, _, err = read("--config", config, "--tls")
        assert code == 2
        assert "cannot be given with --tls" in err
        config.write_text(CONFIG.format(tmp_path / "none.pem"))
        code, _, err = read("--config", config)
        assert code == 2
        assert err.count("\n") == 1 and "ssl.truststore.location: No such" in err
        config.write_text("sasl.mechanizm=PLAIN")
        code, _, err = read("--config", config)
        assert code == 2
        assert "did you mean sasl.mechanism" in err


def test_sizes_are_listed_where_the_broker_reports_them(run, kwire):
    """Sizes are in JSON rows, in a table column, and in the results of both clients."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with LogBroker({"orders": [RECORDS, 3]}) as broker:
        sizes = [broker.log("orders", partition).size for partition in (0, 1)]
        with client.connect_sync(broker.address) as kafka:
            assert kafka.sizes("orders") == {("orders", 0): sizes[0]} | {
                ("orders", 1): sizes[1]
            }
            assert kafka.sizes([]) == {}

        async def find():
            async with client.connect(broker.address) as kafka:
                return await kafka.sizes()

        assert list(asyncio.run(find()).values()) == sizes
        program = importlib.import_module(f"{kwire.__name__}.cli.main").program

        def topics(*options):
            args = ["topics", broker.address, *options]
            return CliRunner().invoke(program, args, prog_name="kwire").stdout

        rows = [json.loads(line) for line in topics("-o", "jsonl").splitlines()]
        assert [row["size_bytes"] for row in rows] == sizes
        lines = topics().splitlines()
        assert lines[0].endswith("BYTES") and lines[2].endswith(f" {sizes[0]}")
        assert "BYTES" not in topics("--no-sizes")
        broker.node.is_describable = False
        assert "BYTES" not in topics()
