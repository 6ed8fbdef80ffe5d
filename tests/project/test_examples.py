# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""All examples in ``examples/*.py`` run as programs and print what they claim.

``spark_logs.py`` runs in ``tests/spark/test_docs_run.py``, which has a Spark session.
"""

import importlib
import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from kwire import records
from kwire.client.machines.metrics import SCAN_SNAPSHOT
from kwire.messages import MetadataRequest, framing
from tests.client.log_broker import LogBroker

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
TIMEOUT_S = 120


def run_example(name, *arguments, exit_code=0):
    """Run an example with warnings as errors. Return the lines that it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == exit_code, done.stderr
    return (done.stdout + done.stderr).splitlines()


@pytest.fixture
def damaged_logs(tmp_path):
    """Return a log directory with 30 records, of which the second ten are damaged."""
    directory = tmp_path / "kafka-logs" / "orders-0"
    directory.mkdir(parents=True)
    batches = [
        bytearray(records.encode_batch([(b"key", b"value")] * 10, base_offset=offset))
        for offset in (0, 10, 20)
    ]
    batches[1][-1] ^= 1
    (directory / "00000000000000000000.log").write_bytes(b"".join(batches))
    return directory.parent


def test_every_example_has_a_test():
    """A new file in ``examples`` needs a test here or in the Spark tests."""
    tested = Path(__file__).read_text() + (
        ROOT / "tests" / "spark" / "test_docs_run.py"
    ).read_text(encoding="utf-8")
    examples = {path.name for path in EXAMPLES.glob("*.py")}
    assert len(examples) >= 12
    assert {name for name in examples if f'"{name}"' not in tested} == set()


def test_decode_prints_a_request_as_json():
    request = MetadataRequest(topics=None)
    frame = framing.encode_request(request, 12, correlation_id=7, client_id="shop")
    lines = run_example("decode.py", frame.hex())
    assert lines[0] == "MetadataRequest 12 shop"
    assert '  "topics": null,' in lines


def test_decode_names_the_offset_of_damage():
    (line,) = run_example("decode.py", "0000000600030fff0000", exit_code=1)
    assert line.startswith(("UnsupportedVersion: ", "Truncated: "))


def test_prometheus_metrics_serves_the_metrics_of_a_scan():
    with LogBroker({"orders": [20, 10]}) as broker:
        process = subprocess.Popen(
            [
                *(sys.executable, "-W", "error", EXAMPLES / "prometheus_metrics.py"),
                *(broker.address, "orders", "0"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            lines = [process.stdout.readline().strip() for _ in range(2)]
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as response:
                page = response.read().decode()
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=TIMEOUT_S)
        finally:
            process.kill()
    assert sorted(lines) == ["orders 0 20", "orders 1 10"]
    assert (process.returncode, rest) == (0, "")
    parser = importlib.import_module("prometheus_client.parser")
    families = {
        family.name: family for family in parser.text_string_to_metric_families(page)
    }
    consumed = families["kwire_offsets_consumed"]
    assert consumed.type == "counter"
    assert [sample.value for sample in consumed.samples] == [30]
    lags = families["kwire_records_lag"].samples
    assert [sample.labels for sample in lags] == [
        {"topic": "orders", "partition": "0"},
        {"topic": "orders", "partition": "1"},
    ]
    assert families["kwire_request_latency_seconds"].type == "counter"
    assert families["kwire_request_latency_max_seconds"].type == "gauge"
    assert len(families) == len(SCAN_SNAPSHOT)


def test_opentelemetry_metrics_exports_the_metrics_of_a_scan():
    with LogBroker({"orders": [20, 10]}) as broker:
        lines = run_example("opentelemetry_metrics.py", broker.address, "orders")
    is_json = [line.startswith(("{", " ", "}")) for line in lines]
    text = "\n".join(
        line for line, is_part in zip(lines, is_json, strict=True) if is_part
    )
    (resource,) = json.loads(text)["resource_metrics"]
    (scope,) = resource["scope_metrics"]
    metrics = {metric["name"]: metric for metric in scope["metrics"]}
    assert set(metrics) == {f"kwire.{name}" for name in SCAN_SNAPSHOT}
    consumed = metrics["kwire.offsets_consumed_total"]["data"]
    assert consumed["is_monotonic"]
    assert [point["value"] for point in consumed["data_points"]] == [30]
    lags = metrics["kwire.records_lag"]["data"]["data_points"]
    assert [point["attributes"] for point in lags] == [
        {"topic": "orders", "partition": 0},
        {"topic": "orders", "partition": 1},
    ]
    assert metrics["kwire.bytes_consumed_total"]["unit"] == "By"
    assert metrics["kwire.fetch_latency_max_s"]["unit"] == "s"


def test_releases_prints_the_first_and_the_last_release():
    (line,) = run_example("releases.py", "Fetch", "13")
    assert line.startswith("Fetch 13: Kafka 3.1 to ")


def test_releases_fails_for_a_version_of_the_future():
    lines = run_example("releases.py", "Fetch", "9999", exit_code=1)
    assert lines == ["no release accepts Fetch 9999"]


def test_batches_prints_the_last_rows():
    lines = run_example("batches.py")
    assert re.fullmatch(r"1000 records in \d+ bytes", lines[0])
    assert "{'offset': 999, 'key': b'order-999', 'value': b'5 screws'}" in lines[2]


def test_ask_broker_prints_the_topics():
    with LogBroker({"orders": (5, 5), "refunds": (1,)}) as broker:
        lines = run_example("ask_broker.py", broker.address)
    assert sorted(lines) == ["orders 2", "refunds 1"]


def test_proxy_prints_the_requests_of_a_client():
    """The proxy example prints every request until its process is terminated."""
    with LogBroker({"orders": (5,)}) as broker:
        command = [sys.executable, str(EXAMPLES / "proxy.py"), "0", broker.address]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as proxy:
            try:
                port = proxy.stdout.readline().split()[-1]
                topics = run_example("ask_broker.py", f"127.0.0.1:{port}")
            finally:
                proxy.terminate()
            requests = [line.split()[0] for line in proxy.stdout]
    assert topics == ["orders 1"]
    assert requests[0] == "ApiVersionsRequest"
    assert requests[-1] == "MetadataRequest"


def test_scan_prints_the_records_of_each_partition():
    with LogBroker({"orders": (20, 10)}) as broker:
        lines = run_example("scan.py", broker.address, "orders")
    assert lines == ["0 20 records, last offset 19", "1 10 records, last offset 9"]


def test_damage_prints_the_damaged_region(damaged_logs):
    lines = run_example("damage.py", damaged_logs)
    assert lines[0] == "orders-0: 20 records"
    assert re.fullmatch(r"  .*00000000000000000000\.log, byte \d+: crc", lines[1])


def test_recorded_scan_counts_the_requests(tmp_path):
    with LogBroker({"orders": (20,)}) as broker:
        lines = run_example("recorded_scan.py", broker.address, "orders", tmp_path)
    assert lines[0] == "20 records"
    counts = {api: int(count) for api, count in map(str.split, lines[1:])}
    assert counts["ApiVersions"] >= 1
    assert counts["Fetch"] >= 1
    assert "Produce" not in counts


def test_explain_prints_each_byte_of_a_frame():
    frame = framing.encode_request(MetadataRequest(topics=None), 12, correlation_id=7)
    lines = run_example("explain.py", frame.hex())
    assert lines[0] == f"   0  {'00 00 00 0f':24} size = 15 (INT32)"
    assert any("topics" in line for line in lines)


def test_explain_names_the_error_of_a_damaged_frame():
    frame = framing.encode_request(MetadataRequest(topics=None), 12, correlation_id=7)
    lines = run_example("explain.py", frame[:-1].hex(), exit_code=1)
    assert lines[-1].startswith("the frame is damaged: MetadataRequest v12: ")


def test_rescue_lists_the_lost_offsets(damaged_logs, tmp_path):
    lines = run_example("rescue.py", damaged_logs, tmp_path / "rescued")
    assert lines[0] == f"20 records; {tmp_path / 'rescued' / 'report.html'}"
    assert lines[1:] == ["orders-0: 10 to 19: damaged"]


def test_tombstone_keeps_the_value_of_a_delete():
    lines = run_example("tombstone.py")
    assert lines == ["True", "TombstoneReport(converted=1, values=1)"]
