# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A server's responses to ApiVersions: all versions, and invalid requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st


def make_served_table(kwire, offered=None, **options):
    """Return the version table that a server offers: ApiVersions 0-4 by default."""
    offered = {1: (4, 17), 18: (0, 4)} if offered is None else offered
    return kwire.connection.negotiation.ApiVersionTable.from_ranges(offered, **options)


def frame(text):
    """Convert hexadecimal text to a frame."""
    return bytes.fromhex(text)


V3 = "0012 0003 00000007 0002 6b77 00 06 6b77697265 04 312e30 00"
V4 = V3.replace("0012 0003", "0012 0004")
V0 = "0012 0000 00000007 0002 6b77"


def answer_in_hex(kwire, text, table=None, **options):
    """Respond to a hexadecimal request.

    Return the response, and the bytes after its correlation id.
    """
    response = kwire.connection.negotiation.answer_api_versions(
        frame(text), make_served_table(kwire) if table is None else table, **options
    )
    size = int.from_bytes(response.frame[:4], "big")
    assert size == len(response.frame) - 4
    return response, response.frame[8:]


@pytest.mark.parametrize(
    ("text", "version", "body"),
    [
        (V0, 0, "0000 00000002 0001 0004 0011 0012 0000 0004"),
        (
            V0.replace("0012 0000", "0012 0001"),
            1,
            "0000 00000002 0001 0004 0011 0012 0000 0004 00000000",
        ),
        (
            V0.replace("0012 0000", "0012 0002"),
            2,
            "0000 00000002 0001 0004 0011 0012 0000 0004 00000000",
        ),
        # The response header always has version 0, so no tagged fields are before the
        # body.
        (V3, 3, "0000 03 0001 0004 0011 00 0012 0000 0004 00 00000000 00"),
        (V4, 4, "0000 03 0001 0004 0011 00 0012 0000 0004 00 00000000 00"),
    ],
)
def test_response_has_the_version_and_correlation_id_of_its_request(
    kwire, text, version, body
):
    """The response follows the correlation id, in the version of the request."""
    response, rest = answer_in_hex(kwire, text)
    assert response.frame[4:8] == b"\0\0\0\x07"
    assert rest == bytes.fromhex(body)
    assert (response.version, response.error_code) == (version, 0)
    assert (response.correlation_id, response.client_id) == (7, "kw")
    names = (response.software_name, response.software_version)
    assert names == (("kwire", "1.0") if version >= 3 else ("", ""))


@pytest.mark.parametrize("version", ["0005", "0006", "7fff", "ffff"])
@pytest.mark.parametrize("rest", ["", "0002 6b77", "ff", "00" * 30])
def test_an_unknown_version_is_answered_in_version_0_unread(kwire, version, rest):
    """An unknown version is answered without decoding the request.

    The bytes after the correlation id include the rest of the request header.
    """
    response, body = answer_in_hex(kwire, f"0012 {version} 80000001 {rest}")
    assert response.frame[4:8] == bytes.fromhex("80000001")
    assert body == bytes.fromhex("0023 00000001 0012 0000 0004")
    assert response.error_code == 35 and response.client_id is None
    assert response.version == int.from_bytes(bytes.fromhex(version), signed=True)


def test_servers_before_2_4_list_nothing(kwire):
    """Before ApiVersions 3, the response to an unsupported version lists no APIs."""
    _, body = answer_in_hex(
        kwire, V3, make_served_table(kwire, {1: (0, 9), 18: (0, 2)})
    )
    assert body == bytes.fromhex("0023 00000000")
    _, body = answer_in_hex(
        kwire, V4, make_served_table(kwire, {1: (0, 9), 18: (0, 3)})
    )
    assert body == bytes.fromhex("0023 00000001 0012 0000 0003")


@pytest.mark.parametrize(
    ("name", "software_version"),
    [("", "1.0"), ("kwire", ""), ("a b", "1"), ("-a", "1"), ("a", "1."), ("a_b", "1")],
)
def test_a_name_that_is_none_is_an_invalid_request(kwire, name, software_version):
    """The response has the version of the request, and contains no rows."""
    request = kwire.messages.ApiVersionsRequest(
        client_software_name=name, client_software_version=software_version
    )
    data = kwire.messages.framing.encode_request(request, 3, 7, "kw")[4:]
    response, body = answer_in_hex(kwire, data.hex())
    assert response.error_code == 42 and response.version == 3
    assert body == bytes.fromhex("002a 01 00000000 00")
    assert response.software_name == name


FEATURES = {"new": "0-2", "old": "1-2"}


@pytest.mark.parametrize(
    ("version", "listed"), [(3, {"old"}), (4, {"new", "old"}), (0, set())]
)
def test_features_from_0_are_listed_from_version_4_on(kwire, version, listed):
    """Older clients reject the feature if its range starts at 0."""
    table = make_served_table(
        kwire,
        supported_features=FEATURES,
        finalized_features={"old": "2"},
        finalized_features_epoch=3,
    )
    text = V0 if version == 0 else V3.replace("0012 0003", f"0012 {version:04x}")
    answer, _ = answer_in_hex(kwire, text, table)
    _, response = kwire.messages.framing.decode_response(
        kwire.messages.ApiVersionsResponse, answer.frame[4:], version
    )
    assert {feature.name for feature in response.supported_features} == listed
    assert response.finalized_features_epoch == (3 if version else -1)
    again = kwire.connection.negotiation.ApiVersionTable.from_response(response)
    assert set(again.supported_features) == listed
    if version:
        assert str(again.finalized_features["old"]) == "2"


def test_an_epoch_of_none_lists_no_finalized_features(kwire):
    """When the response is decoded, the result must be the served table."""
    table = make_served_table(kwire, supported_features={"old": "1-2"})
    answer, _ = answer_in_hex(kwire, V4, table)
    _, response = kwire.messages.framing.decode_response(
        kwire.messages.ApiVersionsResponse, answer.frame[4:], 4
    )
    assert response.finalized_features == ()
    assert kwire.connection.negotiation.ApiVersionTable.from_response(response) == table


@pytest.mark.parametrize(
    ("identity", "expected"),
    [
        ((None, -1), 0),
        (("c1", 3), 0),
        (("c2", 3), 129),
        (("c1", 4), 129),
        (("c1", -1), 42),
        ((None, 3), 42),
    ],
)
def test_a_client_that_means_another_broker_hears_it(kwire, identity, expected):
    """The client may expect a cluster id and a node id in version 5 (KIP-1242).

    If they are not those of the server, or if one is missing, the response is an error.
    """
    request = kwire.messages.ApiVersionsRequest(
        client_software_name="a",
        client_software_version="1",
        cluster_id=identity[0],
        node_id=identity[1],
    )
    data = kwire.messages.framing.encode_request(request, 5, 7, "kw")[4:]
    table = make_served_table(kwire, {18: (0, 5)})
    response, _ = answer_in_hex(kwire, data.hex(), table, cluster_id="c1", node_id=3)
    assert response.error_code == expected


@pytest.mark.parametrize(
    "text",
    [
        "0012",
        "0012 0000 000000",
        "0012 0003 00000007 0002 6b",
        V3[:-3],
        V0 + " 00",
        V3 + " 00",
        V3.replace("06 6b77697265", "00"),
    ],
)
def test_wrong_bytes_in_a_known_version_are_a_decode_error(kwire, text):
    """Covers truncated requests, additional bytes, and a null name."""
    with pytest.raises(kwire.DecodeError):
        kwire.connection.negotiation.answer_api_versions(
            frame(text), make_served_table(kwire)
        )


@given(st.binary(max_size=40))
def test_any_question_has_an_answer_or_is_a_decode_error(twins, tail):
    """Both engines have the same result: a response or a ``DecodeError``."""
    ends = []
    for kwire in twins:
        try:
            response = kwire.connection.negotiation.answer_api_versions(
                b"\0\x12" + tail, make_served_table(kwire)
            )
            ends.append(tuple(response))
        except kwire.DecodeError as error:
            ends.append(str(error))
    assert ends[0] == ends[1]


VERSIONS = st.integers(0, 20)
PAIRS = st.tuples(VERSIONS, VERSIONS).map(sorted).map(tuple)


@given(
    offered=st.dictionaries(st.integers(1, 300), PAIRS, max_size=20),
    server_newest=st.integers(0, 5),
    client_newest=st.integers(0, 5),
)
def test_a_client_and_a_server_of_any_age_agree(
    twins, offered, server_newest, client_newest
):
    """The client ends with the table that the server offers."""
    for kwire in twins:
        table = make_served_table(kwire, offered | {18: (0, server_newest)})
        handshake = kwire.connection.negotiation.ApiVersionsHandshake(
            newest=client_newest
        )
        rounds = 0
        while handshake.table is None:
            question = handshake.data_to_send()[4:]
            response = kwire.connection.negotiation.answer_api_versions(question, table)
            handshake.receive_frame(response.frame[4:])
            rounds += 1
        assert handshake.table == table
        assert list(handshake.table.advertised) == list(table.advertised)
        assert rounds == (1 if client_newest <= server_newest else 2)
