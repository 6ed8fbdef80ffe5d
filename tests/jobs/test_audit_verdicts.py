# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Audit rules: which clients break, for all pairs of releases."""

import pytest

from kwire.jobs.audit_job.sightings import (
    API_VERSIONS,
    Client,
    SeenRequests,
    Sightings,
    Usage,
)
from kwire.jobs.audit_job.verdicts import (
    BREAKS,
    OK,
    UNKNOWN,
    Target,
    find_broker_apis,
    find_release,
    format_versions,
    judge,
)
from kwire.recording.requests import Request
from kwire.schema import releases

PRODUCE, FETCH, METADATA, LEADER_AND_ISR = 0, 1, 3, 4
BROKER = "b:9092"
JAVA = "apache-kafka-java"


def make_usage(*pairs):
    """Return the usage of a client with one request per (API key, version) pair."""
    return Usage(
        {pair: SeenRequests(1) for pair in pairs}, {key: {BROKER} for key, _ in pairs}
    )


def verdict(usage, target, offered=None, **client):
    names = {"address": "a", "client_id": "c"} | client
    return judge(Client(**names), usage, Target(target), {BROKER: offered or {}})


def request(client, api_key, version, broker, timestamp, **software):
    return Request(
        timestamp=timestamp,
        client_address=client,
        broker_address=broker,
        api_key=api_key,
        api_version=version,
        client_id="c",
        **software,
    )


@pytest.mark.parametrize("old", releases.NAMES)
def test_client_without_api_versions_breaks_on_removed_versions(old):
    """A client that never negotiates breaks on every version that was removed.

    The test compares all pairs of releases with ``releases.changes``. The client uses
    every version of the old release.
    """
    spoken = releases.ranges(old)
    spoken.pop(API_VERSIONS, None)
    everything = make_usage(
        *((key, v) for key, versions in spoken.items() for v in versions)
    )
    for new in releases.NAMES[releases.NAMES.index(old) :]:
        result = verdict(everything, new)
        removed = {
            (key, version)
            for key, versions in releases.changes(old, new).removed.items()
            for version in versions
            if key not in find_broker_apis()
        }
        assert {broken[:2] for broken in result.breaks} == removed
        assert result.verdict == (BREAKS if removed else OK)


def test_client_with_api_versions_breaks_if_more_was_offered():
    """A client that negotiates used Fetch 2, although its broker offered 0 to 11.

    Its maximum is therefore 2, and it breaks on Kafka 4.1, which starts at 4.
    """
    asking = make_usage((API_VERSIONS, 0), (FETCH, 2))
    assert verdict(asking, "4.1", {FETCH: 11}).verdict == BREAKS


def test_client_with_api_versions_is_unknown_if_no_more_was_offered():
    """A client that negotiates used Fetch 2, the maximum that its broker offered.

    It may support later versions as well, so its verdict is unknown.
    """
    asking = make_usage((API_VERSIONS, 0), (FETCH, 2))
    assert verdict(asking, "4.1", {FETCH: 2}).verdict == UNKNOWN
    assert verdict(asking, "4.1", {}).verdict == UNKNOWN


def test_offers_of_unused_brokers_are_ignored():
    """The versions that a broker offers only affect clients that used this broker."""
    asking = make_usage((API_VERSIONS, 0), (FETCH, 2))
    target = Target("4.1")
    offered = {BROKER: {FETCH: 2}, "other:9092": {FETCH: 17}}
    assert judge(Client("a", "c"), asking, target, offered).verdict == UNKNOWN


def test_client_with_api_versions_is_ok_if_it_used_a_remaining_version():
    """A client that negotiates used Fetch 2 with an old broker and 12 with a new one.

    It supports Kafka 4.1, because 12 is still supported. Without negotiation, Fetch 2
    is a break.
    """
    asking = make_usage((API_VERSIONS, 0), (FETCH, 2), (FETCH, 12))
    result = verdict(asking, "4.1", {FETCH: 17})
    reason = "also supports versions other than Fetch 2"
    assert (result.verdict, result.reason) == (OK, reason)
    assert verdict(make_usage((FETCH, 2), (FETCH, 12)), "4.1").verdict == BREAKS


def test_software_that_is_known_by_name_has_asked():
    """A client whose software name is known has sent an ApiVersions request.

    Only this request contains the name. The log may start after the request.
    """
    result = verdict(make_usage((FETCH, 2)), "4.1", {FETCH: 2}, software_name="sarama")
    assert result.verdict == UNKNOWN


def test_java_clients_have_the_versions_of_their_release():
    """A Java client has the versions of its release.

    The versions that an old broker offered have no influence.
    """
    asking = make_usage((API_VERSIONS, 3), (PRODUCE, 2), (FETCH, 2))
    software = {"software_name": JAVA, "software_version": "2.8.2"}
    assert verdict(asking, "4.1", {FETCH: 2}, **software).verdict == OK
    software["software_version"] = "7.5.0-ccs"
    assert verdict(asking, "4.1", {FETCH: 2}, **software).verdict == UNKNOWN


def test_produce_that_is_offered_but_refused_breaks():
    """Produce versions 0 to 2 break on Kafka 4.

    Kafka 4 offers them to clients, but only supports Produce from version 3 on.
    """
    result = verdict(make_usage((API_VERSIONS, 0), (PRODUCE, 2)), "4.1", {PRODUCE: 13})
    assert [broken[:2] for broken in result.breaks] == [(PRODUCE, 2)]
    assert "3" in result.breaks[0].what_to_do


def test_asking_for_versions_never_breaks():
    """An ApiVersions request is never a break.

    A broker that does not know its version responds with version 0.
    """
    assert verdict(make_usage((API_VERSIONS, 4)), "0.10.0").verdict == OK


def test_a_release_that_is_older_leaves_those_unknown_who_ask():
    """If the target is older than the client's versions, the verdict is unknown.

    The capture does not show the minimum versions of a client that negotiates. A client
    that does not negotiate breaks.
    """
    asking = make_usage((API_VERSIONS, 3), (FETCH, 12))
    for offered in (12, 17):
        result = verdict(asking, "2.0", {FETCH: offered})
        assert (result.verdict, "is newer" in result.reason) == (UNKNOWN, True)
    assert verdict(make_usage((FETCH, 12)), "2.0").verdict == BREAKS


@pytest.mark.parametrize("pair", [(10_000, 0), (FETCH, 99), (FETCH, -3)])
def test_client_with_unknown_apis_is_unknown(pair):
    """A client that used an unknown API has the verdict UNKNOWN.

    The API may belong to a vendor, or the bytes are not Kafka.
    """
    assert verdict(make_usage(pair, (METADATA, 9)), "4.1").verdict == UNKNOWN


def test_client_with_undecodable_frames_is_unknown():
    """A client with a frame that cannot be decoded has the verdict UNKNOWN.

    The frame may be TLS, even if all other frames are valid.
    """
    usage = make_usage((METADATA, 9))
    usage.unreadable.add(None)
    assert verdict(usage, "4.1").verdict == UNKNOWN


def test_brokers_do_not_count_as_clients():
    """Requests that only brokers send are never a break.

    Brokers are upgraded together with the cluster. Examples are LeaderAndIsr requests
    of a controller, and Fetch requests of a replica.
    """
    result = verdict(make_usage((LEADER_AND_ISR, 5)), "4.1")
    assert (result.verdict, "between brokers" in result.reason) == (OK, True)
    replica = make_usage((FETCH, 2))
    replica.is_broker = True
    assert verdict(replica, "4.1").verdict == OK


def test_deprecated_versions_are_reported_but_supported():
    """A deprecated version is reported, but is not a break.

    An example is Fetch 2 in 3.9.
    """
    result = verdict(make_usage((FETCH, 2)), "3.9")
    assert (result.verdict, result.reason) == (OK, "3.9 deprecates Fetch 2")


def test_releases_go_by_their_line():
    """A patch release belongs to its release line.

    If the text is not a release, the error lists all release lines.
    """
    assert find_release("4.1") == find_release("4.1.2") == "4.1"
    assert find_release("0.11.0.3") == "0.11.0"
    for name in ("5.0", "4", "4.x", "", "4.1.x"):
        with pytest.raises(ValueError, match=r"no release line .*0\.8\.0, .*4\.4"):
            find_release(name)


def test_versions_are_written_in_short():
    """Consecutive versions are formatted as a range with a dash."""
    assert format_versions([5, 0, 2, 1]) == "0-2, 5"


def test_results_of_tasks_are_merged():
    """The results of tasks are merged in any order: counts, times and addresses."""
    client = Client("a", "c")
    one, other = Sightings(), Sightings()
    one.add(request("a", FETCH, 2, BROKER, 20))
    one.offer(BROKER, [(FETCH, 2)])
    other.add(request("a", FETCH, 2, "other:9092", 10))
    other.add(request("a:1", FETCH, 2, None, None))
    other.add(request("a:2", FETCH, 3, BROKER, 30))
    other.offer(BROKER, [(FETCH, 11), (PRODUCE, 3)])
    for first, second in ((one, other), (other, one)):
        merged = Sightings()
        merged.merge(first)
        merged.merge(second)
        usage = merged.clients[client]
        assert usage.versions[FETCH, 2] == SeenRequests(3, 10, 20)
        assert usage.total() == SeenRequests(4, 10, 30)
        assert usage.brokers == {FETCH: {BROKER, "other:9092"}}
        assert merged.offered == {BROKER: {FETCH: 11, PRODUCE: 3}}


def test_first_and_last_time_do_not_depend_on_the_order():
    """The first and last time of requests do not depend on the order of the requests.

    Requests without a time are counted, but do not change the first and last time.
    """
    usage = SeenRequests()
    for moment in (None, 20, 30, 10, None):
        usage.add(moment)
    assert usage == SeenRequests(5, 10, 30)


def test_questions_go_to_the_client_that_asked():
    """An ApiVersions request without a software name belongs to the later named client.

    A broker that rejects version 4 of the request does not know the software name, but
    the next request on the same connection has it.
    """
    sightings = Sightings()
    sightings.add(request("a", API_VERSIONS, 4, BROKER, 1))
    sightings.add(request("a", FETCH, 2, BROKER, 2, software_name="lib"))
    sightings.settle()
    assert set(sightings.clients) == {Client("a", "c", "lib")}
    (usage,) = sightings.clients.values()
    assert usage.negotiates and usage.total() == SeenRequests(2, 1, 2)
