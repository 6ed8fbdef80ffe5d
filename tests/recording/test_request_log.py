# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Request logs: lines of real brokers in several layouts, and invalid lines."""

import gzip
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from kwire.recording.request_log import (
    BadLine,
    LoggedRequest,
    is_request_log,
    list_request_logs,
    read_request_log,
    split_request_log,
)
from kwire.recording.requests import REQUEST_TYPES, find_fate, requests_batch
from kwire.schema import releases

LOGS = Path(__file__).parents[1] / "data" / "request-logs"
RELEASES = ("2.8.2", "3.9.2", "4.3.1")
LINES = (LOGS / "kafka-3.9.2.log").read_text("utf-8").splitlines(keepends=True)
LINE = next(line for line in LINES if '"kwire-test"' in line and "METADATA" in line)
REQUEST = LINE[LINE.index("{") :].strip()


def read(path, *byte_range, **options):
    """Return the requests in a log, which must not contain invalid lines."""
    logged_requests = list(read_request_log(path, *byte_range, **options))
    assert all(isinstance(logged, LoggedRequest) for logged in logged_requests), (
        logged_requests
    )
    return [logged.request for logged in logged_requests]


def write_log(folder, text, name="request.log"):
    """Write a log file, and return its path."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("release", RELEASES)
def test_rows_equal_the_requests_of_the_clients(release):
    """The rows contain address, API, version, client id and correlation id.

    The remaining rows are the broker's own connections, and the ApiVersions requests
    with which the tool waits for the broker.
    """
    sent_requests = json.loads((LOGS / "sent.json").read_text("utf-8"))[release]
    names = list(sent_requests[0])
    expected = [[request[name] for name in names] for request in sent_requests]
    if release != "2.8.2":
        # Newer brokers log a null client id as an empty string.
        expected = [
            ["" if value is None else value for value in row] for row in expected
        ]
    logged_requests = read(LOGS / f"kafka-{release}.log")
    rows = [[getattr(logged, name) for name in names] for logged in logged_requests]
    addresses = {request["client_address"] for request in sent_requests}
    assert [row for row in rows if row[0] in addresses] == expected
    other_client_ids = {
        logged.client_id
        for logged in logged_requests
        if logged.client_address not in addresses
    }
    assert other_client_ids <= {"", "1"}


@pytest.mark.parametrize("release", RELEASES)
def test_rows_contain_additional_fields_of_the_broker(release):
    """Listener, principal, latency and time are available, and later the software."""
    rows = read(LOGS / f"kafka-{release}.log")
    for row in rows:
        assert row.listener in ("PLAINTEXT", "CONTROLLER")
        assert row.principal == "User:ANONYMOUS"
        assert 0 < row.latency_ms < 60_000
        assert row.size is None
    times = [row.timestamp for row in rows]
    assert times == sorted(times) and times[0] > datetime(2026, 1, 1).timestamp() * 1e6
    modern = [row for row in rows if row.client_id == "modern"]
    assert len(modern) == 4
    assert {(r.software_name, r.software_version) for r in modern} == {
        ("kwire-test", "1.0")
    }


def test_offers_of_brokers_are_those_of_their_release():
    """The logged ranges of a broker are those in its ApiVersions responses."""
    logged_requests = read_request_log(LOGS / "kafka-2.8.2.log")
    offered = [logged.offered for logged in logged_requests if logged.offered]
    assert len(offered) == 5
    assert offered[0] == releases.ranges("2.8", "zkBroker")


def test_layouts_around_the_request_do_not_matter(tmp_path):
    """Requests are found in any layout of the log lines.

    Covers Kafka's own layout, no layout, the layout of a container, and JSON.
    """
    stamp = "2026-11-21 04:29:13,250"
    message = f"Completed request:{REQUEST}"
    wrapped = json.dumps({"log": f"[{stamp}] DEBUG {message}\n", "stream": "stdout"})
    fields = json.dumps({"@timestamp": "2026-11-21T04:29:13.250Z", "message": message})
    lines = [
        f"[{stamp}] DEBUG {message} (kafka.request.logger)\n",
        f"{stamp.replace(',', '.')} DEBUG  [main] {message}\r\n",
        f"2026-11-21T05:29:13.250123+01:00 stdout F [{stamp}] DEBUG {message}\n",
        f"{wrapped}\n",
        f"{fields}\n",
    ]
    rows = read(write_log(tmp_path, "".join(lines)))
    moment = int(datetime(2026, 11, 21, 4, 29, 13, 250_000, UTC).timestamp() * 1e6)
    assert [row.timestamp - moment for row in rows] == [0, 0, 123, 0, 0]
    assert {row._replace(timestamp=0) for row in rows} == {
        row._replace(timestamp=0) for row in read(write_log(tmp_path, LINE))
    }
    assert read(write_log(tmp_path, REQUEST + "\n"))[0].timestamp is None


def test_times_are_of_the_time_zone_that_is_given(tmp_path):
    """``timezone`` applies to all lines except those that contain a time zone."""
    lines = [
        f"[2026-07-01 12:00:00,000] DEBUG Completed request:{REQUEST}\n",
        f"2026-07-01T12:00:00Z DEBUG Completed request:{REQUEST}\n",
    ]
    path = write_log(tmp_path, "".join(lines))
    rows = read(path, timezone=ZoneInfo("Europe/Berlin"))
    noon = int(datetime(2026, 7, 1, 12, tzinfo=UTC).timestamp())
    assert [row.timestamp // 10**6 - noon for row in rows] == [-7200, 0]


def test_fetches_of_replicas_are_distinguished_from_consumers(tmp_path):
    """Fetches with a replica id are those of replicas, not of consumers.

    Since Fetch 15, the replica id is in a struct.
    """
    header = (
        '{"requestHeader":{"requestApiKey":1,"requestApiVersion":15,"correlationId":1}'
    )
    requests = [
        '{"replicaId":-1}',
        '{"replicaId":2}',
        '{"replicaState":{"replicaId":-1}}',
        '{"replicaState":{"replicaId":3}}',
        "{}",
        '""',
    ]
    lines = [
        f'Completed request:{header},"request":{logged}}}\n' for logged in requests
    ]
    logged_requests = list(read_request_log(write_log(tmp_path, "".join(lines))))
    from_broker = [logged.is_from_broker for logged in logged_requests]
    assert from_broker == [False, True, False, True, False, False]


def test_other_lines_are_skipped(tmp_path):
    """Lines that are not completed requests are skipped.

    Covers other loggers, requests without a response, and stack traces.
    """
    text = (
        "[2026-01-01 00:00:00,000] INFO Kafka version: 3.9.2 (o.a.k.AppInfo)\n"
        f"[..] TRACE Processor 1 received request: {REQUEST} (kafka.network.X)\n"
        "\tat kafka.server.KafkaApis.handle(KafkaApis.scala:1)\n\n"
        f"{LINE}"
    )
    assert len(read(write_log(tmp_path, text))) == 1


def test_forwarded_requests_count_where_they_came_in():
    """A forwarded request counts once, with the address of the client.

    The controller logs it a second time, with the address of a broker.
    """
    text = (LOGS / "kafka-3.9.2.log").read_text("utf-8")
    assert '"isForwarded":true' in text
    created = [
        row
        for row in read(LOGS / "kafka-3.9.2.log")
        if row.api == "CreateTopics" and row.client_id == "modern"
    ]
    assert len(created) == 1


BAD = {
    "damaged": (
        LINE.replace('"requestHeader":{', '"requestHeader":'),
        "JSON is damaged",
    ),
    "no header": ('Completed request:{"isForwarded":false}\n', "no requestHeader"),
    "no number": (LINE.replace('"requestApiKey":', '"apiKey":'), "no requestApiKey"),
    "not whole": (
        'Completed request:{"requestHeader":{"requestApiKey":1.5}}\n',
        "no requestApiKey",
    ),
    "too large": (
        'Completed request:{"requestHeader":{"requestApiKey":99999}}\n',
        "out of range: 99999",
    ),
    "a list": ("Completed request:[1, 2]\n", "no requestHeader"),
    "nothing": ("Completed request:\n", "JSON is damaged"),
    "deep": ("Completed request:" + '{"isForwarded":' * 100_000 + "\n", "is damaged"),
    "old form": (
        "Completed request:RequestHeader(apiKey=FETCH, apiVersion=11) -- {}\n",
        "brokers before 2.8 log requests as text",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_line_is_reported_and_skipped(name, tmp_path):
    """The error contains path, line, byte, reason, and the start of the line."""
    line, reason = BAD[name]
    path = write_log(tmp_path, "INFO hello\n" + LINE + line + LINE)
    first, bad, last = read_request_log(path)
    assert isinstance(first, LoggedRequest) and first == last
    assert isinstance(bad, BadLine)
    assert (bad.path, bad.line) == (str(path), 3)
    assert bad.position == len(("INFO hello\n" + LINE).encode())
    assert reason in bad.reason and "\n" not in bad.reason
    assert len(bad.text) <= 200


def test_client_ids_that_are_not_text_become_valid_values(tmp_path):
    """Client ids with any bytes, NUL or lone surrogates become valid table values."""
    line = LINE.encode()
    lines = [
        line.replace(b"kwire-test", b"kw\xff\xfe\\u0000re"),
        line.replace(b"kwire-test", b"kw\\ud800re"),
    ]
    rows = read(write_log(tmp_path, b"".join(lines)))
    batch = requests_batch(rows)
    batch.validate(full=True)
    assert batch.schema.names == list(REQUEST_TYPES)


def test_incomplete_last_line_is_reported(tmp_path):
    """A line without its end is reported, because the broker may still write it."""
    path = write_log(tmp_path, LINE + LINE[:-100])
    _, bad = read_request_log(path)
    assert (bad.line, "not complete" in bad.reason) == (2, True)
    # A complete request without a line end is a valid line.
    assert len(read(write_log(tmp_path, LINE + LINE.rstrip()))) == 2


@pytest.mark.parametrize("size", [1, 1000, 4096, 50_000, 10**9])
def test_pieces_together_give_each_line_once(size, tmp_path):
    """Invalid lines have the same numbers as in the complete file."""
    text = (LOGS / "kafka-3.9.2.log").read_bytes()
    bad = b"Completed request:{\n"
    lines = text.splitlines(keepends=True)[:15]
    path = write_log(
        tmp_path, b"".join([*lines, bad, *lines[:5], b"\n", bad, lines[0]])
    )
    pieces = split_request_log(path, size)
    if size == 1:
        pieces = [(n, n + 1) for n in range(0, path.stat().st_size, 1)][:9000]
        all_entries = [*read_request_log(path, 0, 9000)]
    else:
        all_entries = [*read_request_log(path)]
    entries = [entry for piece in pieces for entry in read_request_log(path, *piece)]
    assert entries == all_entries
    if size != 1:
        numbers = [entry.line for entry in all_entries if isinstance(entry, BadLine)]
        assert numbers == [16, 23]


def test_gzip_files_are_read_whole(tmp_path):
    """The format is detected by content.

    A truncated file returns its available lines.
    """
    data = (LOGS / "kafka-4.3.1.log").read_bytes()
    path = write_log(tmp_path, gzip.compress(data), "request.log.1")
    assert split_request_log(path, 100) == [(0, None)]
    assert read(path) == read(LOGS / "kafka-4.3.1.log")
    path.write_bytes(gzip.compress(data)[:-1000])
    *good, bad = read_request_log(path)
    assert len(good) > 5 and isinstance(bad, BadLine)
    assert "gzip file is damaged or incomplete" in bad.reason


def test_logs_in_directories_are_found_by_their_content(tmp_path):
    """Files may have any name. Hidden files and other content are skipped."""
    for name in ("a/kafka-request.log", "a/b/request.log.2026-01-01-00", "x.json"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LINE)
    write_log(tmp_path, gzip.compress(LINE.encode()), "old.gz")
    write_log(tmp_path, "[2026-01-01 00:00:00,000] INFO started\n", "server.log")
    write_log(tmp_path, b"\x1f\x8b\x00", "broken.gz")
    write_log(tmp_path, LINE, ".hidden.log")
    paths = list_request_logs(tmp_path)
    names = [str(Path(log_path).relative_to(tmp_path)) for log_path in paths]
    assert sorted(names) == [
        "a/b/request.log.2026-01-01-00",
        "a/kafka-request.log",
        "old.gz",
        "x.json",
    ]
    assert list_request_logs(tmp_path / "server.log") == [str(tmp_path / "server.log")]
    assert not is_request_log(tmp_path / "server.log")
    with pytest.raises(FileNotFoundError):
        list_request_logs(tmp_path / "gone")


def test_fate_of_versions_is_that_of_all_releases():
    """A version that a release removes remains removed in later releases.

    The exception is a newer release that supports the version again.
    """
    newest = releases.ranges(releases.NAMES[-1])
    fates = Counter()
    for old, new in zip(releases.NAMES, releases.NAMES[1:], strict=False):
        for key, versions in releases.changes(old, new).removed.items():
            for version in versions:
                if version not in newest.get(key, ()):
                    assert find_fate(key, version).removed_in == new
                    fates[new] += 1
    assert fates["4.0"] > 50
    for key, versions in newest.items():
        assert {find_fate(key, version).removed_in for version in versions} == {None}
    assert find_fate(0, 2) == ("Produce", True, "4.0")
    assert find_fate(10_000, 0) == (None, None, None)
