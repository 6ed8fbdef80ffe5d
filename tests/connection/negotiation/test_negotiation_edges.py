# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Negotiation with unusual requests, responses and tables.

The regular cases are in ``test_answers.py``, ``test_handshake.py``, ``test_tables.py``
and ``test_cluster.py``.
"""

import importlib

import pytest

from kwire.connection.negotiation import guess_release
from kwire.schema import releases
from kwire.schema.versions import NONE

NAMES = "06 6b77697265 04 312e30 00"
V3 = f"0012 0003 00000007 0002 6b77 00 {NAMES}"


def table(kwire, offered, **options):
    """Return the version table of one broker."""
    return kwire.connection.negotiation.ApiVersionTable(offered, **options)


def answer_in_hex(kwire, text, served, **options):
    """Respond to a hexadecimal request, and return the response."""
    frame = bytes.fromhex(text)
    return kwire.connection.negotiation.answer_api_versions(frame, served, **options)


def read_back(kwire, answer):
    """Decode a server's response as a client does, and return the version table."""
    _, response = kwire.messages.framing.decode_response(
        kwire.messages.ApiVersionsResponse, answer.frame[4:], answer.version
    )
    return kwire.connection.negotiation.ApiVersionTable.from_response(response)


def handshake(kwire, **options):
    """Start a handshake with the correlation id 7."""
    return kwire.connection.negotiation.ApiVersionsHandshake(
        correlation_id=7, **options
    )


def answer(asking, text):
    """Pass a hexadecimal response to the handshake after adding its correlation id."""
    frame = asking.correlation_id.to_bytes(4, "big") + bytes.fromhex(text)
    return asking.receive_frame(frame)


def version_in_request(asking):
    """Return the version of the pending request."""
    return int.from_bytes(asking.data_to_send()[6:8], "big")


def test_two_bytes_are_enough_to_tell_another_api(kwire):
    with pytest.raises(kwire.RemoteProtocolError, match="another API"):
        answer_in_hex(kwire, "0003", table(kwire, {18: (0, 4)}))


def test_an_unknown_version_without_a_correlation_id_has_no_answer(kwire):
    """The client could not assign a response without a correlation id."""
    with pytest.raises(kwire.DecodeError):
        answer_in_hex(kwire, "0012 00ff 000000", table(kwire, {18: (0, 4)}))


def test_a_version_that_only_the_table_knows_is_unknown(kwire):
    """The server offers a version of a newer broker, which kwire cannot decode."""
    response = answer_in_hex(
        kwire, "0012 0007 00000007 0002 6b77 00", table(kwire, {18: (0, 9)})
    )
    assert (response.error_code, response.correlation_id) == (35, 7)


def test_api_versions_request_over_the_limit_is_rejected(kwire):
    limits = kwire.Limits(frame_bytes=len(bytes.fromhex(V3)) - 1)
    with pytest.raises(kwire.LimitExceeded):
        answer_in_hex(kwire, V3, table(kwire, {18: (0, 4)}), limits=limits)


@pytest.mark.parametrize("me", [{"cluster_id": "c", "node_id": 0}, {}])
def test_node_0_is_a_node_and_a_server_without_a_name_is_anyone(kwire, me):
    request = kwire.messages.ApiVersionsRequest(
        client_software_name="kwire",
        client_software_version="1.0",
        cluster_id="c",
        node_id=0,
    )
    frame = kwire.messages.framing.encode_request(request, 5, 7)[4:]
    served = table(kwire, {18: (0, 5)})
    assert (
        kwire.connection.negotiation.answer_api_versions(frame, served, **me).error_code
        == 0
    )


def test_api_versions_response_contains_the_complete_table(kwire):
    """The response contains all fields of the served table.

    Covers the throttle time, the ZooKeeper migration, and finalized features.
    """
    between = importlib.import_module(f"{kwire.__name__}.schema.versions").VersionRange
    served = table(
        kwire,
        {18: (0, 4)},
        supported_features={"f": between(1, 5)},
        finalized_features={"f": between(2, 4)},
        finalized_features_epoch=0,
        zk_migration_ready=True,
        throttle_time_s=0.009,
    )
    decoded_table = read_back(kwire, answer_in_hex(kwire, V3, served))
    assert decoded_table == served
    assert (decoded_table.throttle_time_s, decoded_table.zk_migration_ready) == (
        0.009,
        True,
    )


def test_a_cluster_heeds_every_constraint(kwire):
    """The choice and the error respect all constraints, not only the first."""
    first, second = (
        kwire.connection.negotiation.Constraint(name, {1: versions})
        for name, versions in (("low", "0-9"), ("lower", "0-2"))
    )
    view = kwire.connection.negotiation.ClusterVersions(
        {"B1": table(kwire, {1: (0, 11)})}
    )
    assert view.pick(1, first, second) == 2
    view.update("B2", table(kwire, {1: (3, 11)}))
    with pytest.raises(kwire.UnsupportedVersion, match="lower requires 0-2") as caught:
        view.pick(1, first, second)
    assert "broker B2" in str(caught.value)


def test_error_without_a_common_version_contains_both_ranges(kwire):
    view = kwire.connection.negotiation.ClusterVersions(
        {"B1": table(kwire, {1: (4, 5)}), "B2": table(kwire, {1: (7, 8)})}
    )
    with pytest.raises(kwire.UnsupportedVersion) as caught:
        view.pick(1)
    ours, theirs = caught.value.ours, caught.value.theirs
    assert ours == kwire.connection.negotiation.DEFAULT_POLICY.range_of(1)
    assert not theirs


def test_class_of_another_library_is_not_an_api(kwire):
    """A class is rejected even if it has a number as its ``api_key``."""
    stranger = type("FetchRequest", (), {"api_key": 1})
    with pytest.raises(TypeError, match="api must be a request class or an API key"):
        table(kwire, {1: (0, 4)}).pick(stranger)


def test_a_feature_with_an_empty_alternative_is_refused(kwire):
    """If an alternative is empty, every broker would support the feature."""
    with pytest.raises(TypeError, match="must use at least one API"):
        kwire.connection.negotiation.Feature("f", {1: "0+"}, {})


def test_a_finalized_feature_with_a_senseless_range_is_off(kwire):
    response = kwire.messages.ApiVersionsResponse
    sent = response(
        finalized_features=[
            response.FinalizedFeatureKey(
                name="f", min_version_level=5, max_version_level=3
            )
        ],
        finalized_features_epoch=0,
    )
    features = kwire.connection.negotiation.FinalizedFeatures()
    assert features.update(
        kwire.connection.negotiation.ApiVersionTable.from_response(sent)
    )
    assert features.level("f") == 0


@pytest.mark.parametrize(("frame", "shown"), [("00000008", 8), ("ffffffff", -1)])
def test_an_empty_answer_to_another_question_is_refused(kwire, frame, shown):
    """An empty response contains only its correlation id."""
    asking = handshake(kwire)
    with pytest.raises(kwire.RemoteProtocolError, match=f"got {shown}"):
        asking.receive_frame(bytes.fromhex(frame))


def test_the_first_version_with_names_may_be_refused_for_them(kwire):
    asking = handshake(kwire, newest=3)
    assert version_in_request(asking) == 3
    assert answer(asking, "002a 01 00000000 00") is None
    assert version_in_request(asking) == 2


def test_of_two_offers_of_api_versions_the_lower_counts(kwire):
    """If two rows offer ApiVersions, the lower range is used.

    The server supports this range, whichever row is valid.
    """
    asking = handshake(kwire)
    version_in_request(asking)
    rows = "0012 0000 0003 0012 0000 0001"
    assert answer(asking, f"0023 00000002 {rows}") is None
    assert version_in_request(asking) == 1


@pytest.mark.parametrize("ends", ["fffd fffe", "8000 ffff", "0005 ffff"])
def test_an_offer_below_zero_leaves_no_version(kwire, ends):
    asking = handshake(kwire)
    with pytest.raises(kwire.UnsupportedVersion, match="not supported by server"):
        answer(asking, f"0023 00000001 0012 {ends}")


def test_negotiated_table_keeps_the_policy(kwire):
    """The policy applies to tables from a response and to fallback tables."""
    policy = kwire.connection.negotiation.VersionPolicy({1: "0"})
    asking = handshake(kwire, newest=0, policy=policy, fallback="0.9.0")
    assert asking.connection_lost().pick(1) == 0
    assert answer(asking, "0000 00000001 0001 0000 000b").pick(1) == 0


def test_a_table_of_a_release_keeps_the_policy(kwire):
    policy = kwire.connection.negotiation.VersionPolicy({1: "0-5"})
    release_table = kwire.connection.negotiation.ApiVersionTable.of_release(
        "3.9", policy=policy
    )
    assert release_table.pick(1) == 5


def test_api_versions_response_over_the_limit_is_rejected(kwire):
    asking = handshake(kwire, newest=0, limits=kwire.Limits(frame_bytes=9))
    with pytest.raises(kwire.LimitExceeded):
        answer(asking, "0000 00000000")


def test_version_picked_under_a_constraint_is_not_cached_for_others(kwire):
    broker_table = table(kwire, {1: (0, 11)})
    only_old = kwire.connection.negotiation.Constraint("only old", {1: "0-2"})
    assert (broker_table.pick(1, only_old), broker_table.pick(1)) == (2, 11)


def test_frames_are_copies_of_a_chunk_that_changes(kwire):
    """If a caller reuses its buffer, earlier frames must not change."""
    chunk = bytearray.fromhex("00000001 61 00000001 62")
    for view in (chunk, memoryview(chunk)):
        frames = list(kwire.messages.framing.FrameSplitter().feed(view))
        assert list(map(type, frames)) == [bytes, bytes]
        assert frames == [b"a", b"b"]


def test_the_offset_of_an_error_counts_all_chunks_before_it(kwire):
    splitter = kwire.messages.framing.FrameSplitter()
    for _ in range(3):
        assert list(splitter.feed(b"\0\0\0\1a")) == [b"a"]
    with pytest.raises(kwire.DecodeError) as caught:
        list(splitter.feed(b"\xff\xff\xff\xff"))
    assert caught.value.offset == 15


def test_a_size_that_only_begins_like_tls_is_not_called_tls(kwire):
    """The byte 0x16 only starts a TLS record if the major version 3 follows it."""
    with pytest.raises(kwire.LimitExceeded) as caught:
        list(kwire.messages.framing.FrameSplitter().feed(b"\x16\x00\x01\x02"))
    assert "TLS" not in str(caught.value)


def table_of_release(release, listener):
    """Return the version table that a node of a release advertises."""
    ranges = releases.ranges(release, listener)
    return {key: (versions.min, versions.max) for key, versions in ranges.items()}


@pytest.mark.parametrize(
    ("table", "expected_guess"),
    [
        # The minimum exceeds the minima in both neighboring releases.
        (table_of_release("3.9", "broker") | {1: (16, 17)}, "at least 3.9, custom"),
        # If a broker has ZooKeeper, it is not newer than 3.9.
        (table_of_release("3.9", "zkBroker") | {1: (0, 18)}, "at least 3.9, custom"),
        (table_of_release("0.8.0", "broker") | {0: (0, 5)}, "at least 0.8.0, custom"),
        # Complete rows match few releases, while the maximum versions alone match more.
        ({16: (1, 1)}, "at least 0.11.0, custom"),
        ({35: (1, 4)}, "at least 4.0, custom"),
    ],
)
def test_release_guess_is_limited_to_its_rows(table, expected_guess):
    assert str(guess_release(table)) == expected_guess


def test_an_api_that_brokers_do_not_share_is_not_offered():
    """An empty range, as in an intersection, does not make a table custom."""
    assert str(guess_release(dict(releases.ranges("4.1", "broker")) | {4: NONE})) == (
        "4.1"
    )


def test_a_guess_without_bounds_is_not_exact():
    assert not guess_release({}).is_exact
