# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Hostile names and bytes cannot control the terminal or cause a traceback.

Covers hosts and strings from brokers, endless input, and streams that are not Kafka.
"""

import importlib
import io
from types import SimpleNamespace

import pytest

from kwire.connection.negotiation import ApiVersionTable
from tests.harness.loopback_brokers import Broker


@pytest.fixture
def cluster():
    """Running broker, and a second broker that Metadata lists but that does not run."""
    broker = Broker(ApiVersionTable.of_release("3.9"), 1, rack="r1")
    second_broker = SimpleNamespace(node_id=2, host="a..b", port=9092, rack=None)
    broker.cluster = [broker, second_broker]
    with broker:
        yield broker, second_broker


@pytest.mark.parametrize(
    ("host", "port"),
    [("a..b", 1), ("a" * 300, 1), ("\0", 1), ("127.0.0.1", -5), ("127.0.0.1", 99999)],
)
def test_a_broker_at_no_address_costs_no_other(run, cluster, host, port):
    broker, second_broker = cluster
    second_broker.host, second_broker.port = host, port
    done = run("versions", broker.address, "--timeout", 2)
    assert done.code == 2
    assert "3.9" in done.out and "2 brokers, not reached: 1" in done.err


def test_a_host_cannot_steer_the_terminal(run, cluster):
    """A host name must not change titles, colors or the writing direction."""
    broker, second_broker = cluster
    second_broker.host = "\x1b]0;mine\x07\x9b31m\u202e..h"
    done = run("versions", broker.address, "--timeout", 2)
    assert done.code == 2 and "mine" in done.err
    assert all(c.isprintable() or c == "\n" for c in done.out + done.err)


def test_json_in_a_terminal_has_escapes_for_what_would_steer_it(kwire):
    """C1 characters and direction marks are valid in JSON.

    They are escaped for a terminal only, because they could control it.
    """
    module = importlib.import_module(f"{kwire.__name__}.cli.output.tables")
    output = module.Output(io.StringIO())
    value = {"rack": "\x9b31m\u202e", "name": "é"}
    assert output.json(value) == '{"rack":"\x9b31m\u202e","name":"é"}'
    output.width = 80
    assert output.json(value) == '{"rack":"\\u009b31m\\u202e","name":"é"}'


def test_an_address_twice_does_not_end_the_search(run, cluster):
    """A reachable broker is used between two occurrences of an unreachable address."""
    broker, _ = cluster
    broker.cluster = [broker]
    dead = "127.0.0.1:1"
    done = run("versions", dead, broker.address, dead)
    assert done.code == 0 and "connection refused" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("schema", "9" * 5000),
        ("decode", "--response", "9" * 5000, "--version", "1", "00"),
        ("schema", "Fetch", "--version", "9" * 5000),
        ("schema", "--release", "9" * 5000),
    ],
    ids=["schema", "decode", "version", "release"],
)
def test_numbers_of_thousands_of_digits_are_no_numbers(run, arguments):
    """A number with thousands of digits has a short error instead of Python's error."""
    done = run(*arguments)
    assert done.code == 2
    assert done.err.count("\n") == 1 and len(done.err) < 200


@pytest.mark.parametrize("timeout", ["nan", "0", "-1"])
def test_a_timeout_is_a_time(run, timeout):
    done = run("versions", "127.0.0.1:1", "--timeout", timeout)
    assert done.code == 2 and "timeout" in done.err


@pytest.mark.parametrize("command", ["decode", "explain"])
def test_input_that_is_not_kafka_ends_after_some_errors(run, tmp_path, command):
    """Both commands stop after twenty errors, because more errors have no use."""
    path = tmp_path / "frames"
    path.write_bytes(bytes.fromhex("00000001 00") * 1000)
    done = run(command, "--response", "Heartbeat", "--version", "0", f"@{path}")
    assert done.code == 2
    lines = done.err.splitlines()
    assert len(lines) == 21
    assert "too many errors" in lines[20 if command == "decode" else 0]


@pytest.mark.parametrize("command", ["decode", "explain"])
def test_input_without_an_end_is_refused(run, kwire, monkeypatch, command):
    inputs = importlib.import_module(f"{kwire.__name__}.cli.input.bytes")
    monkeypatch.setattr(inputs, "_MOST_BYTES", 1 << 20)
    done = run(command, "@/dev/zero")
    assert done.code == 2 and "MiB or less" in done.err


def test_more_bytes_than_can_be_looked_at_are_refused(run, tmp_path):
    """The input is rejected, because each value would need a line in the output."""
    path = tmp_path / "large"
    path.write_bytes(bytes(9 << 20))
    done = run("explain", "--records", f"@{path}")
    assert done.code == 2 and "to show each of its" in done.err and not done.out


def test_a_page_is_no_other_format(run, tmp_path):
    done = run("explain", "00", "--html", tmp_path / "a.html", "-o", "jsonl")
    assert done.code == 2 and "exclude each other" in done.err


def test_page_does_not_replace_a_directory(run, tmp_path):
    frame = "0012000000000007ffff"
    done = run("explain", frame, "--html", tmp_path)
    assert done.code == 2 and "is a directory; name a file in it" in done.err
