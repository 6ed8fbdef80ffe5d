# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Audit from end to end: the verdicts about known clients.

The clients are connections in a capture that kwire encodes. The expected verdicts are
listed next to the clients. Real brokers wrote the request logs.
"""

import gzip
import html
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet
import pytest
from click.testing import CliRunner

from kwire import jobs
from kwire.cli.main import program
from kwire.messages import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DescribeConfigsRequest,
    FetchRequest,
    FetchResponse,
    FindCoordinatorRequest,
    JoinGroupRequest,
    LeaderAndIsrRequest,
    ListOffsetsRequest,
    ListOffsetsResponse,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitRequest,
    ProduceRequest,
    ProduceResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
    UpdateMetadataRequest,
    framing,
)
from tests.jobs.made_traffic import START, Capture

LOGS = Path(__file__).parents[1] / "data" / "request-logs"
OLD_BROKER, NEW_BROKER = "10.9.9.1:9092", "10.9.9.2:9092"
METADATA, FETCH = MetadataRequest(topics=[]), FetchRequest()
PRODUCE, LIST_OFFSETS = ProduceRequest(acks=-1), ListOffsetsRequest(replica_id=-1)


def write_clients(capture):
    """Record the traffic of all clients, and return the expected audit for Kafka 4.1.

    The result is a dict. A key is (address, client id, software name, software
    version). A value is (verdict, set of breaking requests), and a breaking request is
    (API, version, number of requests).
    """
    expected = {}

    def client(number, client_id, verdict, *breaks, software=(None, None), old=False):
        address = f"10.0.0.{number}"
        expected[address, client_id, *software] = verdict, set(breaks)
        broker = OLD_BROKER if old else NEW_BROKER
        return capture.talk(f"{address}:5{number:04}", broker, client_id)

    talk = client(1, "ancient", "BREAKS", ("Produce", 0, 2))
    talk.ask(METADATA, 0, MetadataResponse())
    talk.ask(PRODUCE, 0, ProduceResponse()).ask(PRODUCE, 0, ProduceResponse())

    talk = client(2, None, "BREAKS", ("Produce", 0, 3))
    for _ in range(3):
        talk.ask(ProduceRequest(acks=0), 0)

    talk = client(3, "sarama", "BREAKS", ("Produce", 2, 1), ("Fetch", 2, 1))
    talk.ask_versions(0, "3.9").ask(METADATA, 5).ask(PRODUCE, 2).ask(FETCH, 2)

    named = ("librdkafka", "2.6.0")
    talk = client(4, "rdkafka", "OK", software=named)
    talk.ask_versions(3, "3.9", named).ask(METADATA, 12).ask(FETCH, 16).ask(PRODUCE, 10)

    named = ("apache-kafka-java", "4.1.0")
    talk = client(5, "producer-1", "OK", software=named)
    talk.ask_versions(4, "3.9", named).ask(METADATA, 12).ask(PRODUCE, 11)

    # The next two clients talk to an old broker, so their requests do not show which
    # newer versions they support. The audit knows the versions of Java clients only.
    named = ("apache-kafka-java", "3.9.1")
    talk = client(6, "consumer-1", "OK", software=named, old=True)
    talk.ask_versions(4, "0.10.1", named).ask(METADATA, 2).ask(FETCH, 3)
    named = ("librdkafka", "2.6.0")
    talk = client(7, "rdkafka", "UNKNOWN", software=named, old=True)
    talk.ask_versions(3, "0.10.1", named).ask(METADATA, 2).ask(FETCH, 3)

    talk = client(8, "kafka-python-1", "BREAKS", ("ListOffsets", 0, 2))
    talk.ask_versions(0, "3.9").ask(OffsetCommitRequest(group_id="g"), 2)
    talk.ask(JoinGroupRequest(group_id="g"), 0)
    talk.ask(LIST_OFFSETS, 0, ListOffsetsResponse()).ask(LIST_OFFSETS, 0)

    talk = client(
        9, "admin", "BREAKS", ("CreateTopics", 1, 1), ("DescribeConfigs", 0, 1)
    )
    talk.ask(CreateTopicsRequest(), 1, CreateTopicsResponse())
    talk.ask(DescribeConfigsRequest(), 0).ask(METADATA, 8)

    talk = client(10, "pinned", "BREAKS", ("Fetch", 3, 1))
    talk.ask(FETCH, 3).ask(FETCH, 12)
    talk = client(11, "mixed", "OK")
    talk.ask_versions(2, "3.9").ask(FETCH, 3).ask(FETCH, 12)

    talk = client(12, "with sasl", "OK")
    talk.ask(SaslHandshakeRequest(mechanism="PLAIN"), 0, SaslHandshakeResponse())
    talk.raw("request", None).raw("response", None)
    talk.ask(METADATA, 1).ask(FindCoordinatorRequest(key="g"), 0)

    talk = client(13, None, "UNKNOWN")
    talk.raw("request", bytes.fromhex("16030102"))
    talk = client(14, "vendor", "UNKNOWN").ask(METADATA, 9)
    vendor = {"api_key": 10_000, "api_version": 1, "correlation_id": 9}
    talk.raw(
        "request", b"\x27\x10\x00\x01\x00\x00\x00\x09", client_id="vendor", **vendor
    )

    # Brokers send these requests to each other, so no version of them is a break.
    talk = client(15, "1", "OK")
    talk.ask(LeaderAndIsrRequest(), 4).ask(UpdateMetadataRequest(), 5)
    client(16, "broker-2-fetcher-0", "OK").ask(FetchRequest(replica_id=2), 2)
    return expected


def rows_of(result, table):
    """Return all rows of a result table as dicts."""
    return pyarrow.parquet.read_table(result.tables[table]).to_pylist()


def who(row):
    """Return (address, client id, software name, software version) of a row."""
    names = ("address", "client_id", "software_name", "software_version")
    return tuple(row[name] for name in names)


@pytest.fixture(scope="module")
def capture():
    """Return a capture of all known clients. ``expected`` contains their verdicts."""
    new_capture = Capture()
    new_capture.expected = write_clients(new_capture)
    return new_capture


@pytest.fixture(scope="module")
def audited(capture, tmp_path_factory):
    """Return the result of an audit of the capture for Kafka 4.1."""
    folder = tmp_path_factory.mktemp("audit")
    capture.write(folder / "captures" / "frames.parquet")
    return jobs.audit([folder / "captures"], folder / "out", target="4.1")


def test_verdicts_are_those_that_were_injected(capture, audited):
    """The audit has the expected verdict for every client, and no other clients."""
    verdicts = {who(row): row["verdict"] for row in rows_of(audited, "clients")}
    assert verdicts == {
        name: expectation[0] for name, expectation in capture.expected.items()
    }
    breaks = [
        name
        for name, expectation in capture.expected.items()
        if expectation[0] == "BREAKS"
    ]
    assert audited.findings == len(breaks) == 6


def test_breaks_are_those_that_were_injected(capture, audited):
    """The table of breaks contains exactly the breaking requests that were recorded.

    Every row has the client, the API, the version, the number of requests, and the
    versions that the target supports.
    """
    breaks_by_client = {}
    for row in rows_of(audited, "breaks"):
        broken_api = row["api"], row["api_version"], row["requests"]
        breaks_by_client.setdefault(who(row), set()).add(broken_api)
    expected_breaks = {
        name: expectation[1]
        for name, expectation in capture.expected.items()
        if expectation[1]
    }
    assert breaks_by_client == expected_breaks
    ranges = {(row["api"], row["target_speaks"]) for row in rows_of(audited, "breaks")}
    assert ("Produce", "3-13") in ranges and ("ListOffsets", "1-10") in ranges
    assert {row["removed_in"] for row in rows_of(audited, "breaks")} == {"4.0"}
    assert all("Update it" in row["what_to_do"] for row in rows_of(audited, "breaks"))


def test_riskiest_clients_come_first(audited):
    """Clients are sorted by verdict: BREAKS, UNKNOWN, OK.

    Clients with the same verdict are sorted by the number of their requests.
    """
    clients = [
        (row["verdict"], row["breaking_requests"])
        for row in rows_of(audited, "clients")
    ]
    order = {"BREAKS": 0, "UNKNOWN": 1, "OK": 2}
    assert clients == sorted(clients, key=lambda client: (order[client[0]], -client[1]))


def test_each_request_is_a_row(capture, audited):
    """The request table has one row per request, with size, time and latency.

    Requests with SASL tokens have no frame in the capture, and therefore no row.
    """
    expected_requests = [
        row
        for row in capture.rows
        if row["direction"] == "request" and row["frame"] is not None
    ]
    rows = rows_of(audited, "requests")
    assert len(rows) == len(expected_requests) == audited.counts["requests"]
    names = ("client_address", "broker_address", "api_key", "api_version", "size")
    for name in names:
        assert [row[name] for row in rows] == [
            row.get(name) for row in expected_requests
        ], name
    begin = datetime.fromtimestamp(START // 1_000_000, UTC)
    assert rows[0]["timestamp"] == begin
    answers = {
        (row["connection"], row["correlation_id"])
        for row in capture.rows
        if row["direction"] == "response" and row["frame"] is not None
    }
    latencies = [
        1.0 if (row["connection"], row.get("correlation_id")) in answers else None
        for row in expected_requests
    ]
    assert [row["latency_ms"] for row in rows] == latencies


def test_software_is_that_of_the_connection(audited):
    """A row has the client software if the connection sent an ApiVersions request.

    The software is known for this request and for all later ones.
    """
    named_rows = [row for row in rows_of(audited, "requests") if row["software_name"]]
    assert len(named_rows) == 4 + 3 + 4 + 4
    assert {row["client_id"] for row in named_rows} == {
        "rdkafka",
        "producer-1",
        "consumer-1",
    }


def test_rows_contain_the_fate_of_their_version(audited):
    """A row says whether its version is deprecated, and which release removed it."""
    fates = {
        (row["api"], row["api_version"]): (row["deprecated"], row["removed_in"])
        for row in rows_of(audited, "requests")
    }
    assert fates["Produce", 2] == (True, "4.0")
    assert fates["LeaderAndIsr", 4] == (False, "4.0")
    assert fates["Fetch", 12] == (False, None)
    assert fates[None, 1] == (None, None)


def test_page_has_the_numbers_of_the_tables(audited):
    """The page contains the client counts, and all values of the Parquet tables."""
    page = Path(audited.report).read_text(encoding="utf-8")
    assert page.count('class="verdict bad"') == 1
    assert "6 of 16 clients" in page
    for name in ("breaks", "clients", "problems"):
        rows = rows_of(audited, name)
        table_rows = table_of(page, name)
        assert len(table_rows) == len(rows)
        for cells, row in zip(table_rows, rows, strict=True):
            for key, text in cells.items():
                assert text == write_value(row[key]), (name, key)


def table_of(page, name):
    """Return the raw values of a table in the page, as one dict by column per row."""
    table = re.search(rf'<table data-table="{name}".*?</table>', page, re.DOTALL)[0]
    keys = re.findall(r'data-key="(.*?)"', table)
    rows = re.findall(r"<tr>(<td.*?)</tr>", table, re.DOTALL)
    cells = (re.findall(r"<td[^>]*?(?:data-value=\"(.*?)\")?>", row) for row in rows)
    return [dict(zip(keys, map(html.unescape, row), strict=True)) for row in cells]


def write_value(value):
    """Format a table value as a raw value of the page.

    Times are milliseconds since the epoch, and None is an empty string.
    """
    if isinstance(value, datetime):
        return str(int(value.timestamp() * 1000))
    return "" if value is None else str(value)


def test_heat_map_counts_every_request(audited):
    """The cells of the heat map add up to the number of rows in the request table."""
    page = Path(audited.report).read_text(encoding="utf-8")
    svg = page[page.index("Versions in use") :].partition("</figure>")[0]
    counts = [int(float(value)) for value in re.findall(r'data-value="([\d.]+)"', svg)]
    readable = [
        row for row in rows_of(audited, "requests") if row["api_key"] is not None
    ]
    assert sum(counts) == len(readable)


def test_a_single_request_is_a_mark_at_its_time(tmp_path):
    """The timeline shows a single request of an old version as a point.

    Requests are counted per minute, but a bar of one minute would suggest that the
    version was used for the whole minute.
    """
    new_capture = Capture()
    new_capture.talk("10.0.0.1:1").ask(PRODUCE, 3)
    new_capture.talk("10.0.0.2:1").ask(PRODUCE, 0)
    new_capture.talk("10.0.0.3:1").ask(FETCH, 0).ask(FETCH, 0).ask(FETCH, 0)
    path = new_capture.write(tmp_path / "frames.parquet")
    result = jobs.audit([path], tmp_path / "out", target="4.1")
    page = Path(result.report).read_text(encoding="utf-8")
    svg = page[page.index("When old versions were used") :].partition("</figure>")[0]
    assert svg.count("<circle") == 1
    moment = (START + 1000) // 1000
    assert f'data-start="{moment}" data-end="{moment}"' in svg
    # Three requests: the bar ends with the last request, not with the minute.
    assert f'data-start="{moment + 1}" data-end="{moment + 3}"' in svg


def test_recordings_do_not_mix(capture, tmp_path):
    """Connections with the same number in two recordings are not mixed.

    The software name of a client in one recording must not be used in the other one.
    """
    second_capture = Capture("other")
    talk = second_capture.talk("10.0.7.7:1", client_id="new")
    talk.ask_versions(3, "3.9", ("lib", "1")).ask(FETCH, 16, FetchResponse())
    capture.write(tmp_path / "captures" / "one" / "frames.parquet")
    second_capture.write(tmp_path / "captures" / "two" / "frames.parquet")
    result = jobs.audit([tmp_path / "captures"], tmp_path / "out", target="4.1")
    assert result.counts["clients"] == len(capture.expected) + 1
    assert len(list(Path(result.tables["requests"]).iterdir())) == 2
    # Rows of both recordings may be in one file, in any order.
    mixed = Capture()
    mixed.rows = sorted(
        capture.rows + second_capture.rows, key=lambda row: row["sequence"]
    )
    mixed.write(tmp_path / "mixed.parquet")
    again = jobs.audit([tmp_path / "mixed.parquet"], tmp_path / "again", target="4.1")
    assert rows_of(again, "clients") == rows_of(result, "clients")
    assert rows_of(again, "breaks") == rows_of(result, "breaks")


def test_damaged_inputs_are_problems_and_never_the_end(capture, tmp_path):
    """A damaged input is a problem in the result, and the audit continues.

    Examples are a damaged capture, another Parquet file, and a truncated line.
    """
    folder = tmp_path / "mixed"
    complete_file = capture.write(folder / "frames.parquet")
    torn = folder / "torn.parquet"
    torn.write_bytes(complete_file.read_bytes()[:-100])
    pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), folder / "foreign.parquet")
    log = (LOGS / "kafka-3.9.2.log").read_bytes()
    (folder / "request.log").write_bytes(log[:-200])
    result = jobs.audit([folder], tmp_path / "out", target="4.1")
    problems = {Path(row["path"]).name: row for row in rows_of(result, "problems")}
    assert set(problems) == {"torn.parquet", "foreign.parquet", "request.log"}
    assert problems["request.log"]["line"] == log.count(b"\n")
    assert "not complete" in problems["request.log"]["reason"]
    client_rows = [
        row for row in rows_of(result, "clients") if row["address"][:3] == "10."
    ]
    assert len(client_rows) == len(capture.expected)


def test_traffic_without_a_readable_frame_has_a_page(tmp_path):
    """A recording of TLS has an unknown client, and its page has no heat map."""
    new_capture = Capture()
    new_capture.talk("10.0.0.1:1").raw("request", bytes.fromhex("16030102"))
    path = new_capture.write(tmp_path / "frames.parquet")
    result = jobs.audit([path], tmp_path / "out", target="4.1")
    assert [row["verdict"] for row in rows_of(result, "clients")] == ["UNKNOWN"]
    assert "Versions in use" not in Path(result.report).read_text(encoding="utf-8")


@pytest.mark.parametrize("declared", [FetchRequest, ApiVersionsRequest])
def test_a_frame_of_another_api_than_its_column_is_counted(tmp_path, declared):
    """If a frame contains another API than its columns state, the columns are used.

    A capture of another program may contain such frames.
    """
    new_capture = Capture()
    frame = framing.encode_request(METADATA, 9, correlation_id=1)[4:]
    columns = {"api_key": declared.api_key, "api_version": 3, "correlation_id": 1}
    new_capture.talk("10.0.0.1:1").raw("request", frame, client_id="odd", **columns)
    path = new_capture.write(tmp_path / "frames.parquet")
    result = jobs.audit([path], tmp_path / "out", target="4.1")
    (client,) = rows_of(result, "clients")
    assert (client["client_id"], client["requests"]) == ("odd", 1)


@pytest.mark.parametrize("release", ["2.8.2", "3.9.2"])
def test_log_of_a_live_broker_gives_the_clients_that_were_there(release, tmp_path):
    """The audit of a real broker's log finds all clients that were connected.

    Two clients break on Kafka 4.1 because of their requests. Brokers never break.
    """
    log = LOGS / f"kafka-{release}.log"
    result = jobs.audit([log], tmp_path / "out", target="4.1")
    verdicts = {row["client_id"]: row["verdict"] for row in rows_of(result, "clients")}
    odd = 'od"d\\ id {\N{GREEK SMALL LETTER PI}'
    fine = dict.fromkeys(("modern", odd, "", "1"), "OK")
    if release == "2.8.2":
        # Newer brokers log a null client id as an empty string.
        fine[None] = "OK"
    assert verdicts == fine | {"ancient": "BREAKS", "asking": "BREAKS"}
    breaks = {
        (row["client_id"], row["api"], row["api_version"], row["requests"])
        for row in rows_of(result, "breaks")
    }
    assert breaks == {
        ("ancient", "ListOffsets", 0, 1),
        ("ancient", "Fetch", 2, 1),
        ("asking", "Fetch", 3, 1),
    }


def test_unknown_target_is_an_error_with_all_targets(tmp_path, capture):
    """An unknown target raises an error that lists all targets.

    The output directory is not created.
    """
    path = capture.write(tmp_path / "frames.parquet")
    with pytest.raises(ValueError, match=r"use one of 0\.8\.0, "):
        jobs.audit([path], tmp_path / "out", target="9.9")
    assert not (tmp_path / "out").exists()


def test_input_without_captures_and_logs_is_an_error(tmp_path):
    """An input without captures and logs raises an error, as does a missing path."""
    (tmp_path / "server.log").write_text("[2026-01-01 00:00:00,000] INFO started\n")
    with pytest.raises(FileNotFoundError, match="no captures and no request logs"):
        jobs.audit([tmp_path], tmp_path / "out", target="4.1")
    with pytest.raises(FileNotFoundError, match="gone"):
        jobs.audit([tmp_path / "gone"], tmp_path / "out", target="4.1")


def run(*args):
    """Run the command ``kwire audit`` with the arguments."""
    return CliRunner().invoke(program, [str(arg) for arg in args], prog_name="kwire")


def test_command_ends_with_3_if_a_client_breaks(capture, tmp_path):
    """``kwire audit`` exits with 3 if a client breaks, and with 2 after wrong usage.

    The output starts with the riskiest client.
    """
    path = capture.write(tmp_path / "frames.parquet")
    done = run(
        "audit", path, "--target", "4.1", "--output", tmp_path / "out", "-o", "jsonl"
    )
    assert done.exit_code == 3
    rows = list(map(json.loads, done.stdout.splitlines()))
    assert len(rows) == len(capture.expected)
    assert rows[0]["verdict"] == "BREAKS" and rows[-1]["verdict"] == "OK"
    assert "6 break on 4.1" in done.stderr and "report.html" in done.stderr


def test_command_exits_with_0_without_breaks_and_1_after_problems(tmp_path):
    """The exit code is 0 if no client breaks, and 1 if there are problems.

    Release 3.9 supports all versions, but warns about some of them.
    """
    log = tmp_path / "request.log.gz"
    complete_log = gzip.compress((LOGS / "kafka-3.9.2.log").read_bytes())
    log.write_bytes(complete_log)
    done = run("audit", log, "--target", "3.9", "--output", tmp_path / "out")
    assert (done.exit_code, "none break on 3.9" in done.stderr) == (0, True)
    log.write_bytes(complete_log[:-300])
    done = run("audit", log, "--target", "3.9", "--output", tmp_path / "again")
    assert (done.exit_code, "1 problem in the input" in done.stderr) == (1, True)


def test_hostile_names_are_escaped_in_terminal_and_page(tmp_path):
    """Names are escaped in the terminal and the page, but not in JSON and tables."""
    name = "<script>alert(1)</script>\x1b[2J\n\N{RIGHT-TO-LEFT OVERRIDE}x"
    new_capture = Capture()
    new_capture.talk("10.0.0.1:1", client_id=name).ask(PRODUCE, 0)
    path = new_capture.write(tmp_path / "frames.parquet")
    done = run("audit", path, "--target", "4.1", "--output", tmp_path / "out")
    assert done.exit_code == 3 and done.stdout.count("\n") == 2
    assert "\x1b" not in done.stdout and "\N{RIGHT-TO-LEFT OVERRIDE}" not in done.stdout
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "\x1b[" not in re.sub(r'data-\w+="[^"]*"', "", page)
    done = run(
        "audit", path, "--target", "4.1", "--output", tmp_path / "2", "-o", "jsonl"
    )
    assert json.loads(done.stdout)["client_id"] == name


def test_command_names_the_releases_that_there_are(tmp_path):
    """A wrong target is an error of one line with the available releases."""
    done = run("audit", tmp_path, "--target", "4.x", "--output", tmp_path / "out")
    assert done.exit_code == 2
    assert "no release line '4.x'" in done.stderr and "4.4" in done.stderr
    assert done.stderr.count("\n") == 1
