# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""KIP-35, document 001: version lists in three or four columns.

Covers the bytes in the document's example, the preference order, lists with gaps, and
how the draft can be confused with Kafka's ApiVersions.
"""

import importlib
import random

import pytest

REQUEST_KEY = 1000
"""API key of these tests, because the document does not define one."""

FOUR_COLUMNS = bytes.fromhex(
    "00000003"
    "0000 000e 50726f6475636552657175657374 00000003 0002 0001 0000 00000000"
    "0001 000c 466574636852657175657374 00000002 0001 0000 00000000"
    "0002 000d 4f666673657452657175657374 00000001 0002 00000002 0000 0001"
)
THREE_COLUMNS = bytes.fromhex(
    "00000003"
    "0000 000e 50726f6475636552657175657374 00000003 0002 0001 0000"
    "0001 000c 466574636852657175657374 00000002 0001 0000"
    "0002 000d 4f666673657452657175657374 00000001 0002"
)
ROWS = [
    (0, "ProduceRequest", (2, 1, 0), ()),
    (1, "FetchRequest", (1, 0), ()),
    (2, "OffsetRequest", (2,), (0, 1)),
]
"""Example of the document, copied unchanged."""


@pytest.fixture
def draft(kwire):
    return importlib.import_module(
        f"{kwire.__name__}.drafts.kip35_protocol_version_request"
    )


@pytest.fixture
def negotiation(kwire):
    return importlib.import_module(f"{kwire.__name__}.connection.negotiation")


def talk(strategy, server):
    """Send the client's request to the server without a socket.

    Return the result of the client's strategy for the response.
    """
    return strategy.receive_frame(server.answer(strategy.data_to_send()[4:])[4:])


def negotiate(draft, versions, deprecated=None, **options):
    """Let a client negotiate with a server that offers the versions.

    Return the client's strategy. Its table must equal the table of the server.
    """
    server = draft.Server(REQUEST_KEY, draft.supported_apis(versions, deprecated))
    strategy = draft.ClientStrategy(REQUEST_KEY, **options)
    assert talk(strategy, server) == server.table
    return strategy


def test_the_example_of_the_document_has_95_bytes(kwire, draft):
    response = draft.decode(FOUR_COLUMNS)
    assert len(FOUR_COLUMNS) == 95
    assert kwire.encode(response, 0) == FOUR_COLUMNS
    rows = [
        (row.api_key, row.api_name, row.api_versions, row.api_deprecated_versions)
        for row in response.apis
    ]
    assert rows == ROWS


def test_in_three_columns_it_has_79_bytes(kwire, draft):
    response = draft.decode(THREE_COLUMNS, columns=3)
    assert len(THREE_COLUMNS) == 79
    assert kwire.encode(response, 0) == THREE_COLUMNS
    assert [row[:3] for row in ROWS] == [
        (row.api_key, row.api_name, row.api_versions) for row in response.apis
    ]


def test_other_column_counts_are_rejected(draft):
    with pytest.raises(TypeError, match="columns must be 3 or 4"):
        draft.decode(FOUR_COLUMNS, columns=5)


def test_the_request_has_no_body(kwire, draft):
    assert kwire.encode(draft.ProtocolVersionRequest(), 0) == b""
    strategy = draft.ClientStrategy(REQUEST_KEY, client_id="kw", correlation_id=7)
    assert strategy.data_to_send() == bytes.fromhex(
        "0000000c 03e8 0000 00000007 0002 6b77"
    )


def test_the_draft_owns_no_api_key(kwire, draft):
    assert draft.ProtocolVersionRequest.api_key is None
    assert draft.ProtocolVersionResponse.api_key is None
    assert "ProtocolVersionRequest" not in kwire.messages.ALL
    with pytest.raises(TypeError):
        draft.ClientStrategy()


def test_objects_report_that_they_were_never_released(draft):
    assert str(draft.PROVENANCE) == (
        "KIP-35, lists of versions in ProtocolVersionRequest (document 001, page"
        " version 13), never released"
    )


def test_most_preferred_version_is_last(draft):
    """By default, the last version is preferred. ``order="first"`` reverses this.

    With the default, the document's example prefers ProduceRequest version 0.
    """
    assert draft.preferred((0, 1, 2)) == 2
    assert draft.preferred((2, 1, 0)) == 0
    assert draft.preferred((2, 1, 0), order="first") == 2
    assert draft.by_preference((1, 3, 2)) == (2, 3, 1)
    assert draft.preferred(()) is None
    with pytest.raises(TypeError, match='"last" or "first"'):
        draft.preferred((0, 1), order="newest")


@pytest.mark.parametrize(
    ("versions", "descending"),
    [
        ((2, 1, 0), True),
        ((5, 3), True),
        ((0, 1, 2), False),
        ((2, 2), False),
        ((2, 0, 1), False),
        ((2,), False),
        ((), False),
    ],
)
def test_descending_list_is_detected(draft, versions, descending):
    assert draft.is_strictly_descending(versions) is descending


def test_the_client_warns_of_descending_lists(draft):
    """Two lists in the document's example are descending. Single versions are not."""
    strategy = draft.ClientStrategy(REQUEST_KEY)
    assert strategy.suspects() == ()
    strategy.receive_frame(bytes(4) + FOUR_COLUMNS)
    assert strategy.suspects() == ("ProduceRequest", "FetchRequest")


def test_preferred_version_may_be_lower_than_the_highest(draft):
    """The table picks the highest version. ``preferred`` is the broker's choice."""
    versions = {1: [0, 4, 2, 3]}
    last = negotiate(draft, versions)
    first = negotiate(draft, versions, order="first")
    assert last.table.pick(1) == 4
    assert (last.preferred(1), first.preferred(1)) == (3, 0)
    assert last.preferred(2) is None


def test_a_preferred_version_is_one_that_both_sides_can_use(draft, negotiation):
    policy = negotiation.VersionPolicy(exclude={1: [3]})
    strategy = negotiate(draft, {1: [0, 4, 2, 3]}, policy=policy)
    assert strategy.preferred(1) == 2
    assert draft.ClientStrategy(REQUEST_KEY).preferred(1) is None


def test_gaps_of_a_version_list_are_not_usable(kwire, draft):
    table = negotiate(draft, {1: [0, 1, 5], 3: [4, 2], 12: [0, 1]}).table
    assert table.ranges()[1] == kwire.VersionRange(0, 5)
    assert table.usable(1) == (0, 1, 5)
    assert table.usable(3) == (2, 4)
    assert table.usable(12) == (0, 1)


def test_gaps_are_added_to_the_exclusions_of_the_client(draft, negotiation):
    """The policy keeps its ranges, its exclusions and its unstable versions."""
    policy = negotiation.VersionPolicy({1: (0, 4)}, {1: [1], 12: [0]}, unstable=True)
    versions = {1: [0, 1, 3, 4, 5], 12: [0, 1], 22: [4, 6]}
    table = negotiate(draft, versions, policy=policy).table
    assert table.usable(1) == (0, 3, 4)
    assert table.usable(12) == (1,)
    assert table.usable(22) == (4, 6)


def test_deprecated_versions_are_for_information(draft):
    """Deprecated versions have no effect, even if they are listed as supported."""
    strategy = negotiate(draft, {1: [0, 1, 2], 2: [2]}, {1: [0, 1], 2: [0, 1]})
    assert strategy.table.usable(1) == (0, 1, 2)
    assert strategy.table.usable(2) == (2,)
    rows = strategy.response.apis
    assert [row.api_deprecated_versions for row in rows] == [(0, 1), (0, 1)]


def test_an_empty_list_offers_nothing(draft):
    strategy = negotiate(draft, {0: [], 1: [0]})
    assert strategy.table.ranges().keys() == {1}
    assert strategy.preferred(0) is None


def test_order_and_unknown_keys_stay_as_received(draft):
    table = negotiate(draft, {900: [1, 7], 1: [0]}).table
    assert list(table.advertised.items()) == [(900, (1, 7)), (1, (0, 0))]
    assert table.usable(900) == ()


def test_long_version_lists_are_limited_to_known_versions(draft):
    """6,000 lists contain only their two ends, and must not be expanded.

    kwire only stores the versions that it knows.
    """
    table = negotiate(draft, {key: [0, 32767] for key in range(-3000, 3000)}).table
    assert table.usable(3) == (0,)


def test_names_are_those_of_the_registry(draft):
    rows = draft.supported_apis({2: (0,), 900: (0,)}, columns=3).apis
    assert [row.api_name for row in rows] == ["ListOffsetsRequest", "API key 900"]


def test_three_columns_are_spoken_if_both_sides_say_so(draft):
    response = draft.supported_apis({1: (0, 1)}, columns=3)
    server = draft.Server(REQUEST_KEY, response)
    strategy = draft.ClientStrategy(REQUEST_KEY, columns=3)
    assert talk(strategy, server) == server.table


def test_each_number_of_columns_read_as_the_other_fails(kwire, draft):
    with pytest.raises(kwire.DecodeError):
        draft.decode(FOUR_COLUMNS, columns=3)
    with pytest.raises(kwire.DecodeError):
        draft.decode(THREE_COLUMNS, columns=4)


@pytest.mark.parametrize("version", range(6))
def test_draft_read_as_released_api_versions_fails(kwire, draft, version):
    for data in (FOUR_COLUMNS, THREE_COLUMNS):
        with pytest.raises(kwire.DecodeError):
            kwire.decode(kwire.messages.ApiVersionsResponse, data, version)


@pytest.mark.parametrize("version", range(6))
def test_released_api_versions_read_as_draft_fails(kwire, draft, version):
    """Version 0 is read as an empty list, because the error code is half the count."""
    cls = kwire.messages.ApiVersionsResponse
    rows = [cls.ApiVersion(api_key=0, min_version=0, max_version=3)]
    for response in (cls(api_keys=rows), cls(api_keys=rows * 60), cls()):
        data = kwire.encode(response, version)
        for columns in (3, 4):
            with pytest.raises(kwire.DecodeError):
                draft.decode(data, columns=columns)


def test_describe_permission_on_the_cluster_is_required(draft):
    """Unauthorized clients get no response, because the document defines no error."""
    checked_clients = []

    def may_describe(client_id):
        checked_clients.append(client_id)
        return client_id == "admin"

    response = draft.supported_apis({1: (0,)})
    server = draft.Server(REQUEST_KEY, response, may_describe=may_describe)
    admin = draft.ClientStrategy(REQUEST_KEY, client_id="admin")
    assert talk(admin, server) == server.table
    nobody = draft.ClientStrategy(REQUEST_KEY, client_id=None)
    assert server.answer(nobody.data_to_send()[4:]) is None
    assert checked_clients == ["admin", None]


def test_every_shorter_and_every_longer_input_is_refused(kwire, draft):
    for size in range(len(FOUR_COLUMNS)):
        with pytest.raises(kwire.DecodeError):
            draft.decode(FOUR_COLUMNS[:size])
    with pytest.raises(kwire.TrailingBytes) as caught:
        draft.decode(FOUR_COLUMNS + b"\0")
    assert caught.value.offset == 95


def test_any_answer_gives_a_table_or_a_typed_error(kwire, draft):
    """Covers repeated keys, versions below 0, and wrong lengths."""
    chance = random.Random(35)
    outcomes = set()
    for _ in range(3000):
        data = bytearray(FOUR_COLUMNS)
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(95)] = chance.choice([0, 1, 2, 0x7F, 0x80, 0xFF])
        strategy = draft.ClientStrategy(REQUEST_KEY)
        try:
            strategy.receive_frame(bytes(4) + data).usable(1)
            strategy.preferred(1)
            outcomes.add("table")
        except kwire.DecodeError:
            outcomes.add("error")
    assert outcomes == {"table", "error"}
