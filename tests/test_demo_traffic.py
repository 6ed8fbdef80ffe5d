# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Real frames of librdkafka and its mock cluster, both directions, both engines.

A smaller run of ``examples/wire_to_table`` without Spark. It protects the promise that
what real peers write is decoded and encoded again to the same bytes. Loopback only.
"""

import pytest

import kwire
from examples.wire_to_table import engine, recording, round_trip, traffic
from examples.wire_to_table.relay import METADATA_MAX_VERSION, Relay
from kwire import framing, messages

MESSAGES = 600
ENGINES = engine.ENGINES if kwire.backend == "fast" else ("pure",)


class Run:
    """One run: what the clients say, what the relay recorded, what was found."""

    def __init__(self):
        """Run the clients against the mock cluster, through the relay."""
        with traffic.mock_cluster() as brokers, Relay(brokers) as relay:
            self.done = traffic.run_clients(
                relay.bootstrap_servers, MESSAGES, relay.raise_failure
            )
        self.listeners = set(relay.addresses.values())
        self.frames = relay.frames
        self.report = round_trip.check(relay.frames)

    def answers(self, cls):
        """Give each answer of ``cls``: the frame and the message passed on."""
        for frame in self.frames:
            is_answer = frame.direction == "response" and frame.api_key == cls.api_key
            if is_answer and not round_trip.is_odd(frame):
                yield (
                    frame,
                    framing.decode_response(cls, frame.passed, frame.api_version)[1],
                )


@pytest.fixture(scope="module")
def run():
    """Run the clients once for all tests here."""
    return Run()


def test_every_frame_encodes_to_the_same_bytes(run):
    """Both directions, and answers that the relay rewrote; only odd ones apart."""
    assert run.report.failures == []
    everything = run.report.round_trips + len(run.report.odd)
    assert everything == len(run.frames)
    assert run.report.rewritten > 0


@pytest.mark.parametrize("name", ENGINES)
def test_a_kept_recording_comes_out_the_same_on_each_engine(run, name, tmp_path):
    """The engine that did not record reads the file and finds the same."""
    recording.write(run.frames, tmp_path / "recording.pickle")
    found = engine.run(name, tmp_path / "recording.pickle")
    assert found["failures"] == []
    assert found["round_trips"] == run.report.round_trips
    assert found["odd"] == len(run.report.odd)


def test_odd_frames_are_answers_to_an_unknown_api_versions_version(run):
    """Nothing but the mock's error 35 may be set apart; the client asks again."""
    assert {round_trip.title(odd) for odd in run.report.odd} == {
        "ApiVersionsResponse v3"
    }
    understood = [frame for frame, _ in run.answers(messages.ApiVersionsResponse)]
    assert 0 < len(understood) <= len(run.report.odd)


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
    assert run.done.delivered == MESSAGES
    assert run.report.produced_records == MESSAGES
    assert run.report.fetched_records == MESSAGES
    assert run.done.received == MESSAGES


def test_clients_see_no_address_but_the_relays(run):
    """Metadata and FindCoordinator name listeners of the relay alone."""
    assert run.done.seen_brokers == run.listeners
    told = set()
    for frame, answer in run.answers(messages.MetadataResponse):
        assert frame.passed != frame.sent
        told.update((broker.host, broker.port) for broker in answer.brokers)
    for _, answer in run.answers(messages.FindCoordinatorResponse):
        told.add((answer.host, answer.port))
    assert told == run.listeners


def test_metadata_is_negotiated_at_the_lowered_version(run):
    """The client obeys the ApiVersions answer that the relay rewrote."""
    versions = {
        frame.api_version for frame, _ in run.answers(messages.MetadataResponse)
    }
    assert versions == {METADATA_MAX_VERSION}


def test_a_frame_that_comes_out_different_is_told(run):
    """A failure names message, frame and place, and shows the bytes."""
    metadata = messages.MetadataResponse
    frame = next(frame for frame, _ in run.answers(metadata))
    cut = frame._replace(sent=frame.sent[:-1], passed=frame.sent[:-1])
    (failure,) = round_trip.check([cut]).failures
    assert failure.startswith(f"MetadataResponse v{METADATA_MAX_VERSION}, connection ")
    assert f"of {len(cut.sent)}: {cut.sent[-12:].hex(' ')} > " in failure
