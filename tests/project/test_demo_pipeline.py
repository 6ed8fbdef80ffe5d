# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the components of ``examples/pipeline`` without Spark.

Real frames from librdkafka and its mock cluster pass through the recorder. Both
engines decode the frames and encode them to the same bytes. The tests use the loopback
interface only.
"""

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import kwire
from examples.pipeline import brokers, frames, old_client, page, race, traffic
from examples.pipeline.checks import Checks, difference
from examples.pipeline.screen import Screen
from kwire import jobs, messages
from kwire.recording import Recorder, read_captures
from tests.jobs.page_reader import PageReader

PROJECT = Path(__file__).resolve().parents[2]
MESSAGES = 600
ENGINES = ("fast", "pure") if kwire.backend == "fast" else ("pure",)
ON_ENGINE = """
import json, sys
import kwire
from examples.pipeline import frames
from kwire.recording import read_captures
rows = [r for b in frames.check(read_captures(sys.argv[1])) for r in b.to_pylist()]
print(json.dumps([kwire.backend, [row["outcome"] for row in rows]]))
"""


class Run:
    """One run of the pipeline's clients.

    It stores the results of the clients, and the frames that the recorder has written.
    """

    def __init__(self, folder):
        """Run the clients against the mock cluster, through the recorder."""
        with (
            traffic.mock_cluster() as upstream,
            Recorder("127.0.0.1:0", upstream, folder) as recorder,
        ):
            self.done = traffic.run_clients(recorder.address, MESSAGES)
            self.asked = old_client.fetch_once(recorder.address, traffic.TOPIC)
        self.listeners = recorder.addresses
        self.folder = folder
        names = list(frames.Frame._fields)
        self.frames = [
            frames.Frame(**row)
            for batch in read_captures(folder, names)
            for row in batch.to_pylist()
        ]
        batches = frames.check(read_captures(folder))
        self.rows = [row for batch in batches for row in batch.to_pylist()]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run the clients once for all tests of this module."""
    return Run(tmp_path_factory.mktemp("capture"))


@pytest.mark.parametrize("engine", ENGINES)
def test_every_frame_encodes_to_the_same_bytes_on_each_engine(run, engine):
    """Every recorded frame is encoded to the same bytes after decoding.

    Requests and responses are tested. Only frames with known deviations are excluded.
    """
    done = subprocess.run(
        [sys.executable, "-c", ON_ENGINE, str(run.folder)],
        cwd=PROJECT,
        env={**os.environ, "KWIRE_BACKEND": engine},
        capture_output=True,
        text=True,
        check=True,
    )
    backend, outcomes = json.loads(done.stdout)
    assert backend == engine
    assert set(outcomes) == {frames.SAME, frames.ODD}
    assert outcomes.count(frames.SAME) > 0.8 * len(run.frames) == 0.8 * len(outcomes)


def test_odd_frames_are_of_known_kinds(run):
    """Every excluded frame has a known deviation: it cannot be decoded strictly."""
    odd = {
        frame.title.partition(",")[0]
        for frame, row in zip(run.frames, run.rows, strict=True)
        if row["outcome"] == frames.ODD
    }
    assert odd <= {
        "ApiVersionsResponse v3",
        "ApiVersionsResponse v4",
        "MetadataRequest v13",
        "MetadataResponse v13",
    }


def test_main_apis_pass_in_both_directions(run):
    """The recorded frames contain requests and responses of all main APIs.

    These are the APIs for records, group membership, offsets and transactions.
    """
    directions = {(frame.api_key, frame.direction) for frame in run.frames}
    for request in (
        messages.ProduceRequest,
        messages.FetchRequest,
        messages.MetadataRequest,
        messages.FindCoordinatorRequest,
        messages.JoinGroupRequest,
        messages.SyncGroupRequest,
        messages.OffsetCommitRequest,
        messages.OffsetFetchRequest,
        messages.EndTxnRequest,
    ):
        assert {
            (request.api_key, "request"),
            (request.api_key, "response"),
        } <= directions


def test_record_counts_equal_those_of_the_clients(run):
    """The record counts of the clients equal those in the recorded frames.

    The clients count delivery reports and received messages, the frames are Produce and
    Fetch.
    """
    assert run.done.delivered == run.done.received == MESSAGES
    assert sum(row["produced"] for row in run.rows) == MESSAGES
    fetched = {}
    for row in run.rows:
        if row["client_id"] != old_client.CLIENT_ID:
            fetched.update(row["fetched"])
    assert sum(fetched.values()) == MESSAGES


def test_clients_only_see_addresses_of_relays(run):
    """All brokers that librdkafka knows are listeners of the recorder.

    If a client knew the address of a real broker, its frames would not be recorded.
    """
    assert run.done.seen_brokers == run.listeners


def test_the_old_client_asks_for_no_versions(run):
    """The old client sends no ApiVersions request.

    It uses versions that Kafka 4 no longer supports.
    """
    mine = [frame for frame in run.frames if frame.client_id == old_client.CLIENT_ID]
    requests = [frame for frame in mine if frame.direction == "request"]
    assert len(requests) == run.asked == len(mine) - len(requests)
    assert {(frame.api_key, frame.api_version) for frame in requests} == {
        (3, 0),
        (1, 2),
    }


def test_frame_that_encodes_differently_is_reported(run):
    """The outcome contains the message, version, frame and position."""
    frame = next(frame for frame in run.frames if frame.api_key == 0)
    batch = pa.RecordBatch.from_pylist(
        [frame._replace(frame=frame.frame + b"x")._asdict()]
    )
    [checked] = frames.check([batch])
    [outcome] = checked["outcome"].to_pylist()
    assert outcome.startswith(f"{frame.title}: ")
    assert "bytes left over: 1" in outcome


def test_injuries_are_of_whole_batches_that_the_tool_saw(tmp_path):
    """The tool damages lost batches in both copies, and changes nothing else."""
    brokers.copy(tmp_path)
    lost = brokers.injure(tmp_path)
    assert lost < brokers.records()
    hurt = {
        (name, path.relative_to(brokers.DATA / "data").as_posix())
        for name in brokers.BOTH
        for path in (brokers.DATA / "data").rglob("*.log")
        if not (
            copy := tmp_path / name / path.relative_to(brokers.DATA / "data")
        ).exists()
        or copy.read_bytes() != path.read_bytes()
    }
    injured = {(b, i.partition) for i in brokers.INJURIES for b in i.brokers}
    assert {(name, path.partition("/")[0]) for name, path in hurt} == injured
    assert len(hurt) == len(injured)


def make_checks(verbose, log=None):
    """Return checks that print to a terminal without a progress bar."""
    screen = Screen(1.0, has_bar=not verbose)
    return Checks(screen, io.StringIO() if log is None else log, verbose=verbose)


def test_failed_checks_are_counted_and_printed(capsys):
    """Failed checks are counted and printed.

    Lines have at most 80 columns. The exit code is not 0 if a check failed.
    """
    checks = make_checks(verbose=True)
    checks.must(True, "a fact " * 30, "no")
    checks.must(False, "yes", f"offsets: {difference({1, 2}, {2, 3, 4})}")
    assert (checks.count, checks.failed) == (2, 1)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[-1] == (
        "   FAILED offsets: 2 missing, such as 3; 1 too many, such as 1"
    )


def run_two_steps(checks, holds):
    """Run two steps: one that succeeds, and one with a check that holds or fails."""
    checks.step("First: in full", "First", 1)
    checks.must(True, "first fact", "no")
    checks.result("First is done")
    checks.step("Second: in full", "Second", 1)
    checks.say("second fact")
    checks.must(holds, "yes", "it is otherwise")
    checks.say("later fact")
    checks.result("Second is done")


def test_brief_output_has_one_line_for_each_step_and_the_log_has_all(capsys):
    """Brief output has one line per step. The log file has the verbose output."""
    log = io.StringIO()
    run_two_steps(make_checks(verbose=False, log=log), holds=True)
    assert capsys.readouterr().out.splitlines() == [
        "[  0 s] First is done",
        "[  0 s] Second is done",
    ]
    run_two_steps(make_checks(verbose=True), holds=True)
    assert capsys.readouterr().out == log.getvalue()
    assert "first fact" in log.getvalue()


def test_brief_output_shows_everything_about_a_step_that_fails(capsys):
    """Lines before and after the failed check are printed, but not the result line."""
    run_two_steps(make_checks(verbose=False), holds=False)
    assert [line.strip() for line in capsys.readouterr().out.splitlines()] == [
        "[  0 s] First is done",
        "",
        "[   0.0s] Second: in full",
        "second fact",
        "FAILED it is otherwise",
        "later fact",
    ]


@pytest.mark.parametrize("is_reported", [True, False])
def test_brief_output_shows_the_step_that_an_exception_ends(capsys, is_reported):
    """Test a reported exception with its traceback, and an unexpected exception."""
    checks = make_checks(verbose=False)
    checks.step("First: in full", "First", 1)
    checks.say("first fact")
    if is_reported:
        checks.fail(OSError("no space"))
    else:
        with pytest.raises(OSError, match="no space"), checks:
            raise OSError("no space")
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].strip() == "first fact"
    if is_reported:
        assert lines[3:] == ["   FAILED OSError: no space", "OSError: no space"]
        assert checks.failed == 1


def test_a_terminal_gets_a_bar_and_a_file_gets_no_control_characters(capsys):
    """On a terminal, a progress bar is drawn below the last line.

    The bar is removed at the end. If the output is a file, it contains no bar and no
    control characters.
    """
    program = (
        "from examples.pipeline.screen import Screen\n"
        "with Screen(2.0) as screen:\n"
        "    screen.begin('First part', 1.0)\n"
        "    screen.show('[red]a line[/red] ' + 'x' * 90)\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[red]a line[/red] " + "x" * 90 + "\n"
    main, terminal = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(command, cwd=PROJECT, stdout=terminal, env=environment)
    assert process.wait() == 0
    os.close(terminal)
    output = os.read(main, 1 << 16).decode()
    os.close(main)
    assert "First part" in output
    assert "[red]a line[/red] " + "x" * 90 in output
    assert output.endswith("\x1b[2K"), "the bar is not removed"


def test_the_page_shows_traffic_negotiation_records_and_the_race(
    run, tmp_path, monkeypatch
):
    """The page has the same figures as the clients, and links to the job reports."""
    monkeypatch.chdir(tmp_path)
    out = Path("demo-output")
    shutil.copytree(run.folder, out / "capture")
    brokers.copy(out / "disks")
    lost = brokers.injure(out / "disks")
    capture, disks = [out / "capture"], [out / "disks"]
    seconds = {
        ("in Spark", "fast"): 1.0,
        ("in Spark", "pure"): 4.0,
        ("alone", "fast"): 0.5,
        ("alone", "pure"): 10.0,
    }
    results = page.Results(
        run.done,
        jobs.audit(capture, out / "audit", target="4.1"),
        jobs.export(disks, out / "export"),
        jobs.offsets(disks, out / "offsets"),
        race.Log(out, 1_000_000, 5_000_000),
        seconds,
        17,
    )
    reader = PageReader(page.write(out, results).read_text("utf-8"))
    titles = [title.partition(":")[0] for _, title in reader.find("h2")]
    assert set(titles) == {"Traffic", "Negotiation", "Records", "Race"}
    requests = sum(frame.direction == "request" for frame in run.frames)
    cells = [facts for facts, _ in reader.find("rect") if "data-column" in facts]
    assert sum(int(cell["data-value"]) for cell in cells) == requests
    sizes = sum(
        int(value) - int(start)
        for facts, _ in reader.find("rect", class_="fill bad")
        if "data-start" in facts
        for value, start in [(facts["data-end"], facts["data-start"])]
    )
    # Both versions of the client from 2013 have the same color, so they count as one.
    assert sizes == len(lost) + 2
    rates = {
        facts["data-label"]: int(facts["data-value"])
        for facts, _ in reader.find("rect")
        if "data-label" in facts and "," in facts["data-label"]
    }
    assert rates == {
        "compiled, in Spark": 1_000_000,
        "pure Python, in Spark": 250_000,
        "compiled, alone": 2_000_000,
        "pure Python, alone": 100_000,
    }
    links = [facts["href"] for facts, _ in reader.find("a")]
    assert links == [f"{job}/report.html" for job in ("audit", "export", "offsets")]
    assert all((out / link).exists() for link in links)


@pytest.mark.parametrize("client", ["shop-zstd", "billing-1", "invoices"])
def test_the_page_shows_the_versions_that_clients_negotiated(run, client):
    """Clients only send versions that the broker offers and that kwire knows."""
    offered = page.find_offer(run.frames)
    for frame in run.frames:
        if frame.client_id == client and frame.api_key != page.NEGOTIATES:
            first, last = offered[frame.api_key]
            assert first <= frame.api_version <= last
            version_range = page.api_versions(frame.api_key)
            assert version_range[0] <= frame.api_version <= version_range[1]
