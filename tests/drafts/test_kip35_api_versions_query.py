# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""KIP-35, document 004: version ranges for all APIs or for the requested APIs.

Covers the document's bytes, its example with two brokers and two features, a broken
version, and how the draft can be confused with Kafka's ApiVersions.
"""

import importlib
import random

import pytest

REQUEST_KEY = 1000
"""API key of these tests, because the document does not define one."""

B1 = bytes.fromhex("00000002 0000 0000 0003 0001 0002 0003")
B2 = bytes.fromhex("00000003 0000 0001 0002 0001 0000 0003 0002 0000 0000")
RELEASED_V0 = bytes.fromhex("0000 00000002 0000 0000 0003 0001 0002 0003")
"""B1's response in the Kafka 0.10.0 format."""

SERVED = {"B1": {0: (0, 3), 1: (2, 3)}, "B2": {0: (1, 2), 1: (0, 3), 2: (0, 0)}}


@pytest.fixture
def draft(kwire):
    return importlib.import_module(f"{kwire.__name__}.drafts.kip35_api_versions_query")


@pytest.fixture
def negotiation(kwire):
    return importlib.import_module(f"{kwire.__name__}.connection.negotiation")


def ranges_of(table):
    return {
        key: (versions.min, versions.max) for key, versions in table.ranges().items()
    }


def exchange_versions(draft, negotiation, served, api_keys=None, **options):
    """Exchange versions between a client and a server. Return the client's table."""
    table = negotiation.ApiVersionTable.from_ranges(served)
    server = draft.Server(REQUEST_KEY, table)
    strategy = draft.ClientStrategy(REQUEST_KEY, api_keys, **options)
    return strategy.receive_frame(server.answer(strategy.data_to_send()[4:])[4:])


@pytest.mark.parametrize(
    ("api_keys", "body"),
    [(None, "ffffffff"), ((0, 1), "00000002 0000 0001"), ((), "00000000")],
)
def test_request_has_the_bytes_of_the_document(kwire, draft, api_keys, body):
    request = draft.ApiVersionRequest(api_keys=api_keys)
    assert kwire.encode(request, 0) == bytes.fromhex(body)
    assert kwire.decode(draft.ApiVersionRequest, bytes.fromhex(body), 0) == request
    strategy = draft.ClientStrategy(REQUEST_KEY, api_keys, client_id=None)
    assert strategy.data_to_send()[4 + 10 :] == bytes.fromhex(body)


@pytest.mark.parametrize(("broker", "data"), [("B1", B1), ("B2", B2)])
def test_response_has_the_bytes_of_the_document(
    kwire, draft, negotiation, broker, data
):
    response = draft.decode(data)
    assert kwire.encode(response, 0) == data
    rows = {
        row.api_key: (row.min_version, row.max_version) for row in response.api_versions
    }
    assert rows == SERVED[broker]
    assert (
        ranges_of(exchange_versions(draft, negotiation, SERVED[broker]))
        == SERVED[broker]
    )


def test_the_draft_owns_no_api_key(kwire, draft):
    assert draft.ApiVersionRequest.api_key is None
    assert draft.ApiVersionResponse.api_key is None
    assert not {"ApiVersionRequest", "ApiVersionResponse"} & set(kwire.messages.ALL)
    with pytest.raises(TypeError):
        draft.ClientStrategy()


def test_objects_report_that_they_were_never_released(draft):
    assert str(draft.PROVENANCE) == (
        "KIP-35, ranges of versions in ApiVersionRequest (document 004), never released"
    )


@pytest.mark.parametrize(
    ("requested_keys", "expected_keys"),
    [(None, [0, 1, 2]), ((1, 0), [0, 1]), ((2, 77), [2]), ((77,), []), ((), [])],
)
def test_null_requests_all_apis_and_a_list_requests_its_apis(
    draft, negotiation, requested_keys, expected_keys
):
    """Null requests all APIs, while an empty list requests none."""
    table = exchange_versions(draft, negotiation, SERVED["B2"], requested_keys)
    assert ranges_of(table) == {key: SERVED["B2"][key] for key in expected_keys}


def test_response_with_unrequested_apis_is_rejected(kwire, draft):
    strategy = draft.ClientStrategy(REQUEST_KEY, [0])
    with pytest.raises(kwire.RemoteProtocolError, match="API key 1"):
        strategy.receive_frame(bytes(4) + B1)
    assert strategy.table is None


def test_two_brokers_have_the_common_versions_of_the_document(
    draft, negotiation, kwire
):
    """The document's common ranges are 1-2 for key 0 and 2-3 for key 1.

    One of the brokers does not support key 2.
    """
    tables = {
        broker: exchange_versions(draft, negotiation, served)
        for broker, served in SERVED.items()
    }
    cluster = negotiation.ClusterVersions(tables)
    assert ranges_of(cluster) == {0: (1, 2), 1: (2, 3)}
    first = negotiation.Feature("Feature1", {0: (3, 3), 1: (2, 3)})
    second = negotiation.Feature("Feature2", {0: (0, 1), 1: (2, 3)})
    assert not cluster.supports(first)
    assert cluster.supports(second)
    assert tables["B1"].supports(first)


def test_a_version_can_be_in_the_range_and_not_be_used(draft, negotiation):
    """In the document's example, version 1 of the offered range 0-2 is broken.

    A policy excludes it.
    """
    policy = negotiation.VersionPolicy(exclude={1: [1]})
    table = exchange_versions(draft, negotiation, {1: (0, 2)}, policy=policy)
    assert ranges_of(table) == {1: (0, 2)}
    assert table.usable(1) == (0, 2)
    assert table.pick(1) == 2


def test_where_the_broken_version_is_the_highest_the_next_one_is_picked(
    draft, negotiation
):
    policy = negotiation.VersionPolicy(exclude={1: [1]})
    table = exchange_versions(draft, negotiation, {1: (0, 1)}, policy=policy)
    assert table.pick(1) == 0


def test_invalid_ranges_are_stored_but_unusable(kwire, draft):
    """Covers a range from 3 to 1, and a range below 0."""
    data = bytes.fromhex("00000002 0001 0003 0001 0002 ffff 0001")
    table = draft.ClientStrategy(REQUEST_KEY).receive_frame(bytes(4) + data)
    assert table.advertised == {1: (3, 1), 2: (-1, 1)}
    for key in (1, 2):
        assert table.usable(key) == ()
        with pytest.raises(kwire.UnsupportedVersion):
            table.pick(key)


def test_released_message_of_the_same_content_has_an_error_code_more(kwire, draft):
    released = draft.to_api_versions(draft.decode(B1))
    assert kwire.encode(released, 0) == RELEASED_V0 == b"\0\0" + B1


def test_released_bytes_read_as_draft_fail_because_of_remaining_bytes(kwire, draft):
    """The error code and the count are read as an empty list of the draft.

    Only the remaining bytes show the error.
    """
    with pytest.raises(kwire.TrailingBytes) as caught:
        draft.decode(RELEASED_V0)
    assert caught.value.offset == 4


@pytest.mark.parametrize("version", range(6))
def test_any_released_version_read_as_draft_fails(kwire, draft, version):
    cls = kwire.messages.ApiVersionsResponse
    rows = [cls.ApiVersion(api_key=0, min_version=0, max_version=3)]
    for error in (0, 35, 42):
        for count in (0, 1, 2, 59, 95):
            response = cls(error_code=error, api_keys=rows * count)
            with pytest.raises(kwire.DecodeError):
                draft.decode(kwire.encode(response, version))


@pytest.mark.parametrize("version", range(6))
@pytest.mark.parametrize("data", [B1, B2])
def test_draft_read_as_any_released_version_fails(kwire, data, version):
    with pytest.raises(kwire.DecodeError):
        kwire.decode(kwire.messages.ApiVersionsResponse, data, version)


def test_released_request_is_too_short_for_the_draft(kwire, draft):
    with pytest.raises(kwire.Truncated):
        kwire.decode(draft.ApiVersionRequest, b"", 0)
    with pytest.raises(kwire.TrailingBytes):
        kwire.decode(kwire.messages.ApiVersionsRequest, bytes.fromhex("ffffffff"), 0)


def test_every_shorter_and_every_longer_input_is_refused(kwire, draft):
    for size in range(len(B2)):
        with pytest.raises(kwire.DecodeError):
            draft.decode(B2[:size])
    with pytest.raises(kwire.TrailingBytes):
        draft.decode(B2 + b"\0")


def test_any_answer_gives_a_table_or_a_typed_error(kwire, draft):
    chance = random.Random(35)
    outcomes = set()
    for _ in range(2000):
        data = bytearray(B2)
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(len(B2))] = chance.choice([0, 1, 2, 0x7F, 0xFF])
        strategy = draft.ClientStrategy(REQUEST_KEY)
        try:
            strategy.receive_frame(bytes(4) + data).usable(1)
            outcomes.add("table")
        except kwire.DecodeError:
            outcomes.add("error")
    assert outcomes == {"table", "error"}
