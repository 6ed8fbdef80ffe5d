# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire versions``: clusters with one or several releases, and errors."""

import fcntl
import os
import pty
import re
import subprocess
import sys
import termios

import pytest
from confluent_kafka import Producer

from kwire.connection.negotiation import ApiVersionTable
from kwire.schema import releases
from tests.harness.loopback_brokers import (
    TIMEOUT_S,
    Broker,
    Listener,
    make_certificate,
    server_context,
)

USERS = {"ann": "secret"}


@pytest.fixture
def start():
    """Function that starts a broker for each version table, and returns the brokers.

    The brokers list one another in Metadata. They are stopped after the test.
    """
    running = []

    def start(*tables, **options):
        brokers = [
            Broker(table, number, rack=f"r{number}", **options)
            for number, table in enumerate(tables, 1)
        ]
        for broker in brokers:
            broker.cluster = brokers
            running.append(broker)
            broker.__enter__()
        return brokers

    yield start
    for broker in running:
        broker.__exit__()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """Certificate for the loopback interface and its key, as paths."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


def of(release, listener="broker"):
    return ApiVersionTable.of_release(release, listener)


def columns(text):
    """Return {API name: other cells} from the printed table of APIs."""
    lines = text.split("\n\n")[1].splitlines()
    rows = [re.split(" {2,}", line) for line in lines]
    return {name: cells for name, *cells in rows}


# The table


def test_table_of_one_release_fits_80_columns(run, start):
    """Broker and guess are first, then the APIs and the features, in 80 columns."""
    (broker,) = start(of("3.9"))
    done = run("versions", broker.address)
    assert done.code == 0
    assert done.err == "kwire: 1 broker\n"
    head = done.out.split("\n\n")[0].splitlines()
    assert head[0].split() == ["ID", "RACK", "RELEASE", "BROKER"]
    assert head[1].split() == ["1", "r1", "3.9", broker.address]
    rows = columns(done.out)
    assert rows["API"] == ["KEY", "BROKERS", "USABLE", "NOTE"]
    assert rows["Produce"] == ["0", "0-11", "11", "0-2 deprecated"]
    assert rows["Metadata"] == ["3", "0-12", "12"]
    assert len(rows) == 1 + len(releases.ranges("3.9", "broker"))
    assert "Usable features: MsgVer1, MsgVer2" in done.out
    assert "Missing features" not in done.out
    assert max(map(len, done.out.splitlines())) < 80


def test_table_of_several_releases_has_a_column_for_each_kind(run, start):
    """The table has a column per kind of broker, and a column for common versions."""
    brokers = start(of("2.8"), of("4.1"), of("4.1"))
    done = run("versions", brokers[2].address)
    assert done.code == 0
    assert done.err == "kwire: 3 brokers\n"
    assert re.findall(r"r\d +(\S+)", done.out) == ["2.8", "4.1", "4.1"]
    rows = columns(done.out)
    assert rows["API"] == ["KEY", "1", "2,3", "ALL", "USABLE", "NOTE"]
    assert rows["Fetch"] == ["1", "0-12", "4-18", "4-12", "12"]
    assert rows["ShareFetch"] == ["78", "-", "1", "none", "-", "not on all brokers"]


def test_offered_but_unsupported_versions_have_a_note(run, start):
    """Brokers since 4.0 offer Produce 0-2 only for an old client (KAFKA-18659)."""
    table = of("4.1")
    table.advertised[0] = (0, 13)
    (broker,) = start(ApiVersionTable.from_ranges(table.advertised))
    assert columns(run("versions", broker.address).out)["Produce"] == (
        ["0", "0-13", "13", "0-2 refused"]
    )


def test_odd_rows_have_a_note(run, start):
    """Versions that kwire cannot use have a note that says why.

    Covers unknown APIs, empty intersections and invalid ranges.
    """
    (broker,) = start(
        ApiVersionTable(
            {3: (0, 12), 18: (0, 4), 1: (99, 100), 19: (5, 3), 777: (0, 2), 20: (-3, 2)}
        )
    )
    rows = columns(run("versions", broker.address).out)
    assert rows["Fetch"] == ["1", "99-100", "-", "too new"]
    assert rows["CreateTopics"] == ["19", "5-3", "-", "no valid range"]
    assert rows["DeleteTopics"] == ["20", "-3-2", "-", "no valid range"]
    assert rows["API key 777"] == ["777", "0-2", "-", "unknown to kwire"]


def test_finalized_features_are_those_of_the_highest_epoch(run, start):
    ranges = releases.ranges("4.1", "broker")
    old, new = (
        ApiVersionTable.from_ranges(
            ranges,
            finalized_features={"metadata.version": (1, level), "a.version": (1, 1)},
            finalized_features_epoch=epoch,
        )
        for level, epoch in ((20, 7), (27, 9))
    )
    brokers = start(new, old)
    done = run("versions", brokers[1].address)
    expected = "Finalized features (epoch 9): a.version 1, metadata.version 27\n"
    assert expected in done.out


def test_controllers_are_asked_in_their_own_way(run, start):
    """Controllers have no Metadata. DescribeCluster lists the other controllers."""
    controllers = start(of("4.1", "controller"), of("4.1", "controller"))
    done = run("versions", controllers[0].address)
    assert done.code == 0
    assert done.err == "kwire: 2 brokers\n"
    assert ("DescribeClusterRequest", 2) in controllers[0].requests
    assert "Vote" in columns(done.out)


# Other formats


def test_json_lines(run, start):
    """The output has an object per broker, and an object for the cluster."""
    brokers = start(of("2.8"), of("4.1"))
    done = run("versions", brokers[0].address, "-o", "jsonl")
    first, second, cluster = done.rows
    assert [first["kind"], second["kind"], cluster["kind"]] == (
        ["broker", "broker", "cluster"]
    )
    assert (first["address"], first["id"], first["rack"]) == (
        (brokers[0].address, 1, "r1")
    )
    assert [first["release"], second["release"]] == ["2.8", "4.1"]
    fetch = {"key": 1, "name": "Fetch", "min": 0, "max": 12, "usable": 12}
    assert fetch in first["apis"]
    assert {**fetch, "min": 4} in cluster["apis"]
    assert "Zstd" in cluster["features"]
    assert cluster["brokers"] == 2


def test_compat_is_the_text_of_kafkas_tool(run, start):
    """The output is that of Kafka's ``kafka-broker-api-versions``.

    Covers known, older, newer, unknown and missing APIs.
    """
    (broker,) = start(
        ApiVersionTable(
            {18: (0, 3), 3: (0, 12), 0: (0, 1), 1: (0, 2), 9: (99, 99), 777: (0, 2)}
            | {4: (0, 5), 46: (0, 0), 888: (1, 1)}
        )
    )
    broker.rack = None
    done = run("versions", broker.address, "-o", "compat")
    lines = done.out.splitlines()
    assert lines[0] == f"{broker.address} (id: 1 rack: null isFenced: false) -> ("
    assert lines[-1] == ")"
    assert all(line.endswith(",") for line in lines[1:-2])
    assert lines[1:6] == [
        "\tProduce(0): 0 to 1 [unusable: node too old],",
        "\tFetch(1): 0 to 2 [unusable: node too old],",
        "\tListOffsets(2): UNSUPPORTED,",
        "\tMetadata(3): 0 to 12 [usable: 12],",
        "\tLeaderAndIsr(4): 0 to 5 [unusable: node too new],",
    ]
    assert "\tOffsetFetch(9): 99 [unusable: node too new]," in lines
    assert "\tListPartitionReassignments(46): 0 [usable: 0]," in lines
    assert lines[-3:-1] == ["\tUNKNOWN(777): 0 to 2,", "\tUNKNOWN(888): 1"]
    keys = [int(key) for key in re.findall(r"\((\d+)\): ", done.out)]
    assert keys == sorted(keys)


def test_compat_output_contains_unreachable_brokers(run, start):
    """Each broker has a block. For an unreachable broker, it contains the error."""
    brokers = start(of("4.1"), of("4.1"))
    brokers[1].__exit__()
    done = run("versions", brokers[0].address, "-o", "compat")
    assert done.code == 2
    assert f"{brokers[0].address} (id: 1 rack: r1 isFenced: false) -> (\n" in done.out
    last = done.out.splitlines()[-1]
    assert last.startswith(
        f"{brokers[1].address} (id: 2 rack: r2 isFenced: false) -> ERROR: "
    )


def test_mock_cluster_of_librdkafka(run):
    """Covers three brokers whose responses do not depend on kwire."""
    mock = Producer({"test.mock.num.brokers": 3, "bootstrap.servers": "unused"})
    brokers = mock.list_topics(timeout=TIMEOUT_S).brokers
    addresses = [
        f"{broker.host}:{broker.port}" for _, broker in sorted(brokers.items())
    ]
    done = run("versions", addresses[1], "-o", "jsonl", "--require", "zstd")
    assert done.code == 0
    assert [row.get("address") for row in done.rows] == [*addresses, None]
    apis = {api["name"]: (api["min"], api["max"]) for api in done.rows[0]["apis"]}
    assert apis["ApiVersions"] == (0, 2)
    assert apis["Produce"] == (0, 10)
    text = run("versions", addresses[0], "-o", "compat").out
    assert text.count("isFenced: false) -> (\n") == 3
    assert text.count("\tProduce(0): 0 to 10 [usable: 10],\n") == 3


# Requirements


@pytest.mark.parametrize(
    ("required", "code", "error_text"),
    [
        (["MsgVer1"], 0, ""),
        (["zstd"], 1, "Zstd is missing on {0}"),
        (["MsgVer1", "--require", "IdempotentProducer"], 1, "IdempotentProducer"),
    ],
)
def test_require_reports_a_feature_that_one_broker_lacks(
    run, start, required, code, error_text
):
    """A feature is missing if one broker lacks it, as any broker may get a request."""
    brokers = start(of("0.10.2"), of("3.3"))
    done = run("versions", brokers[1].address, "--require", *required)
    assert done.code == code
    assert error_text.format(brokers[0].address) in done.err
    assert brokers[1].address not in done.err


def test_unknown_feature_is_refused(run):
    done = run("versions", "127.0.0.1:1", "--require", "Teleport")
    assert done.code == 2
    assert "Teleport" in done.err
    assert "IdempotentProducer" in done.err


# Access


def test_tls_and_sasl_are_used_together(run, start, certificate, tmp_path):
    pem, key = certificate
    (broker,) = start(
        of("4.1"),
        users=USERS,
        context=server_context(pem, key, client_ca=pem),
    )
    password = tmp_path / "password"
    password.write_text("secret\n")
    done = run(
        "versions",
        broker.address,
        "--tls",
        "--ca",
        pem,
        "--cert",
        pem,
        "--tls-key",
        key,
        "--sasl-mechanism",
        "scram-sha-512",
        "--username",
        "ann",
        "--password-file",
        password,
    )
    assert (done.code, done.err) == (0, "kwire: 1 broker\n")


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_password_is_read_from_the_environment(run, start, monkeypatch, mechanism):
    (broker,) = start(of("4.1"), users=USERS)
    args = ["versions", broker.address, "--sasl-mechanism", mechanism]
    args += ["--username", "ann"]
    done = run(*args)
    assert done.code == 2
    assert "give --password-file, or set KWIRE_SASL_PASSWORD" in done.err
    monkeypatch.setenv("KWIRE_SASL_PASSWORD", "secret")
    assert run(*args).code == 0
    monkeypatch.setenv("KWIRE_SASL_PASSWORD", "not-it")
    done = run(*args)
    assert done.code == 2
    assert done.err == (
        f"kwire: {broker.address}: the broker rejects {mechanism}: Go away\n"
    )


def test_no_option_takes_a_password(run):
    """The command only accepts a file with the password.

    Other users of the machine could read a password in the command line.
    """
    text = run("versions", "--help").out
    assert "--password-file" in text
    assert "--password " not in text


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["kafka"], "an address must be HOST:PORT"),
        (["::1:9092"], "an address must be HOST:PORT, or [HOST]:PORT for IPv6"),
        (["k:1", "--ca", "{pem}"], "--ca requires --tls"),
        (["k:1", "--tls", "--tls-key", "{pem}"], "--tls-key requires --cert"),
        (["k:1", "--username", "x"], "requires --sasl-mechanism"),
        (["k:1", "--sasl-mechanism", "PLAIN"], "PLAIN requires --username"),
        (["k:1", "--fallback", "2.8"], "(got 2.8)"),
        (["k:1", "--fallback", "0.7.2"], "does not support the old protocol"),
        (["k:1", "--timeout", "0"], "timeout"),
        (["k:1", "--tls", "--ca", "{text}"], "not a certificate in PEM format"),
        (["k:1", "--tls", "--cert", "{pem}"], "with its key, unencrypted"),
    ],
)
def test_options_that_do_not_fit(run, certificate, tmp_path, args, words):
    """The one-line error is raised before a connection is opened."""
    (tmp_path / "text").write_text("nothing")
    names = {"pem": certificate[0], "text": tmp_path / "text"}
    done = run("versions", *(arg.format(**names) for arg in args))
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1


def test_encrypted_key_is_rejected_without_a_password_prompt(tmp_path):
    """OpenSSL would prompt in the terminal, so that a job would wait forever."""
    bundle = tmp_path / "both.pem"
    files = make_certificate(tmp_path, b"secret")
    bundle.write_bytes(b"".join(file.read_bytes() for file in files))
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "kwire", "versions", "k:1", "--tls", "--cert", bundle],
        stdin=child,
        stdout=child,
        stderr=child,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(child)
    try:
        assert process.wait(TIMEOUT_S) == 2
        output = os.read(parent, 1 << 16).decode()
    finally:
        process.kill()
        process.wait()
        os.close(parent)
    assert "with its key, unencrypted" in output


# Faults


def test_address_that_does_not_answer_is_passed_over(run, start):
    """One reachable address is enough. Commas may separate the addresses."""
    with Listener(lambda stream: None) as closed:
        pass
    brokers = start(of("4.1"))
    done = run("versions", f"{closed.address},{brokers[0].address}")
    assert done.code == 0
    assert done.err.splitlines()[0].startswith(f"kwire: {closed.address}: connection")
    done = run("versions", closed.address)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1


def test_unreachable_broker_is_reported_in_the_exit_code(run, start):
    """The reachable brokers are printed. The exit code reports the other brokers."""
    brokers = start(of("4.1"), of("4.1"), of("2.8"))
    brokers[1].__exit__()
    done = run("versions", brokers[0].address, "-o", "jsonl")
    assert done.code == 2
    assert [row["kind"] for row in done.rows] == ["broker"] * 3 + ["cluster"]
    assert "connection refused" in done.rows[1]["error"]
    assert done.rows[3]["brokers"] == 2
    assert done.err.splitlines()[-1] == "kwire: 3 brokers, not reached: 1"
    assert columns(run("versions", brokers[0].address).out)["Fetch"][1:3] == (
        ["4-18", "0-12"]
    )


def test_metadata_without_brokers_is_an_error(run, start):
    (broker,) = start(of("4.1"))
    broker.cluster = []
    done = run("versions", broker.address, "--timeout", "0.3")
    assert done.code == 2
    assert "the metadata lists no brokers" in done.err


def test_silent_broker_is_an_error_after_the_timeout(run):
    """The error names the timeout after which the command has stopped waiting."""
    with Listener(lambda stream: stream.recv(1 << 16) and stream.recv(1)) as silent:
        done = run("versions", silent.address, "--timeout", "0.2")
    assert done.code == 2
    assert "0.2 s" in done.err


def test_hostile_names_cannot_move_the_cursor(run, start):
    """The output escapes racks and features, which are strings from the network."""
    (broker,) = start(of("4.1"))
    broker.rack = "\x1b[2Jr\nx"
    for form in ("table", "compat"):
        done = run("versions", broker.address, "-o", form)
        assert "\x1b" not in done.out
        assert "\\x1b[2Jr\\nx" in done.out


def test_ipv6_addresses_are_in_brackets(run, start):
    (broker,) = start(of("4.1"), host="::1")
    done = run("versions", broker.address)
    assert done.code == 0
    assert f"  [::1]:{broker.port}\n" in done.out


def test_release_option_replaces_missing_api_versions(run):
    """The versions are the same as in the release that the option specifies."""
    answered = Broker(of("0.10.0"))
    answered._server.close()

    def old_broker(stream):
        if stream.recv(6, 2)[4:6] != b"\0\x12":
            answered._converse(stream)

    with Listener(old_broker) as listener:
        answered.cluster = [listener]
        listener.node_id, listener.rack = 1, None
        assert (
            "then set fallback to its release" in run("versions", listener.address).err
        )
        done = run("versions", listener.address, "--fallback", "0.9.0.1")
    assert done.code == 0
    assert columns(done.out)["OffsetCommit"] == ["8", "0-2", "2"]
