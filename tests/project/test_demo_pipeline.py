# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What ``examples/pipeline`` relies on, without Spark: frames, counts, damage.

Real frames of librdkafka and its mock cluster go through the recorder; both engines
decode them and encode them again to the same bytes. Loopback only.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import kwire
from examples.pipeline import brokers, frames, old_client, traffic
from examples.pipeline.checks import Checks, difference
from kwire import messages
from kwire.recording import Recorder, read_captures

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
    """One run: what the clients say, and what was recorded."""

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
    """Run the clients once for all tests here."""
    return Run(tmp_path_factory.mktemp("capture"))


@pytest.mark.parametrize("engine", ENGINES)
def test_every_frame_encodes_to_the_same_bytes_on_each_engine(run, engine):
    """Both directions; nothing but frames of known oddness is set apart."""
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
    """They have no strict reading; whatever has one is never set apart."""
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
    """The recording holds records, group membership, offsets and a transaction."""
    seen = {(frame.api_key, frame.direction) for frame in run.frames}
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
        assert {(request.api_key, "request"), (request.api_key, "response")} <= seen


def test_record_counts_equal_what_the_clients_say(run):
    """Delivery reports, records in Produce, in Fetch, and received messages agree."""
    assert run.done.delivered == run.done.received == MESSAGES
    assert sum(row["produced"] for row in run.rows) == MESSAGES
    fetched = {}
    for row in run.rows:
        if row["client_id"] != old_client.CLIENT_ID:
            fetched.update(row["fetched"])
    assert sum(fetched.values()) == MESSAGES


def test_clients_see_no_address_but_the_relays(run):
    """All brokers that librdkafka knows are listeners of the recorder."""
    assert run.done.seen_brokers == run.listeners


def test_the_old_client_asks_for_no_versions(run):
    """Its frames are of versions that Kafka 4 does not know any more."""
    mine = [frame for frame in run.frames if frame.client_id == old_client.CLIENT_ID]
    requests = [frame for frame in mine if frame.direction == "request"]
    assert len(requests) == run.asked == len(mine) - len(requests)
    assert {(frame.api_key, frame.api_version) for frame in requests} == {
        (3, 0),
        (1, 2),
    }


def test_a_frame_that_comes_out_different_is_told(run):
    """The sentence names message, version, frame and place."""
    frame = next(frame for frame in run.frames if frame.api_key == 0)
    batch = pa.RecordBatch.from_pylist(
        [frame._replace(frame=frame.frame + b"x")._asdict()]
    )
    [checked] = frames.check([batch])
    [outcome] = checked["outcome"].to_pylist()
    assert outcome.startswith(f"{frame.title}: ")
    assert "bytes left over: 1" in outcome


def test_injuries_are_of_whole_batches_that_the_tool_saw(tmp_path):
    """What is lost is in both copies damaged, and nothing else is."""
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
    wanted = {(b, i.partition) for i in brokers.INJURIES for b in i.brokers}
    assert {(name, path.partition("/")[0]) for name, path in hurt} == wanted
    assert len(hurt) == len(wanted)


def test_failed_checks_are_counted_and_told(capsys):
    """In lines of 80 columns; the demo's exit code goes by the count."""
    checks = Checks()
    checks.must(True, "a fact " * 30, "no")
    checks.must(False, "yes", f"offsets: {difference({1, 2}, {2, 3, 4})}")
    assert (checks.count, checks.failed) == (2, 1)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[-1] == (
        "   FAILED offsets: 2 missing, such as 3; 1 too many, such as 1"
    )
