# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Version negotiation requests and responses in bytes (KIP-35, KIP-511).

Covers brokers with all releases, all fallbacks between two requests, and brokers that
would make a client send requests forever. ``test_answers.py`` covers the server.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

#: Fetch 4-17 and ApiVersions 0-4, in version 0, without error.
ROWS_V0 = "0000 00000002 0001 0004 0011 0012 0000 0004"
# Error response of brokers since 2.4, in version 0, with only ApiVersions.
SINCE_2_4 = "0023 00000001 0012 0000 {:04x}"


def start(kwire, **options):
    """Return a handshake with short names, so that its request bytes are short."""
    options = {"client_id": "kw", "correlation_id": 7} | options
    version = options.pop("client_version", "1.0")
    return kwire.connection.negotiation.ApiVersionsHandshake(
        "kwire", version, **options
    )


def question(handshake):
    """Return the version of the pending request, and its frame without the size."""
    data = handshake.data_to_send()
    assert int.from_bytes(data[:4], "big") == len(data) - 4
    assert data[4:6] == b"\0\x12"
    assert handshake.data_to_send() == b""
    return int.from_bytes(data[6:8], "big"), data[4:]


def answer(handshake, text, correlation_id=None):
    """Pass a hexadecimal response to the handshake, and return its result.

    The correlation id is added before the response. By default, it is that of the
    request.
    """
    if correlation_id is None:
        correlation_id = handshake.correlation_id
    frame = correlation_id.to_bytes(4, "big", signed=True) + bytes.fromhex(text)
    return handshake.receive_frame(frame)


NAMES = "06 6b77697265 04 312e30 00"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"newest": 0}, "0012 0000 00000007 0002 6b77"),
        ({"newest": 1}, "0012 0001 00000007 0002 6b77"),
        ({"newest": 2}, "0012 0002 00000007 0002 6b77"),
        ({"newest": 3}, f"0012 0003 00000007 0002 6b77 00 {NAMES}"),
        ({"newest": 4}, f"0012 0004 00000007 0002 6b77 00 {NAMES}"),
        ({"newest": 0, "client_id": None}, "0012 0000 00000007 ffff"),
        ({"newest": 3, "client_id": None}, f"0012 0003 00000007 ffff 00 {NAMES}"),
        # Version 5 contains the expected broker. Null and -1 accept any broker.
        (
            {"newest": 5},
            "0012 0005 00000007 0002 6b77 00 06 6b77697265 04 312e30 00 ffffffff 00",
        ),
    ],
)
def test_request_has_the_documented_bytes(kwire, options, expected):
    """Requests up to version 2 have header version 1. Later requests have version 2."""
    assert question(start(kwire, **options))[1] == bytes.fromhex(expected)


def test_step_1_the_newest_version_is_requested_first(kwire):
    """The first request has the newest version that kwire and the policy allow."""
    newest = kwire.messages.ApiVersionsRequest.valid_versions.max
    assert question(start(kwire))[0] == newest
    policy = kwire.connection.negotiation.VersionPolicy({18: "0-3"})
    assert question(start(kwire, policy=policy))[0] == 3
    policy = kwire.connection.negotiation.VersionPolicy(
        exclude={18: [newest, newest - 2]}
    )
    assert question(start(kwire, policy=policy))[0] == newest - 1
    assert question(start(kwire, policy=policy, newest=newest - 2))[0] == newest - 3
    policy_without_versions = kwire.connection.negotiation.VersionPolicy({18: "7"})
    with pytest.raises(kwire.LocalProtocolError, match="no version of ApiVersions"):
        start(kwire, policy=policy_without_versions)


@pytest.mark.parametrize("version", range(6))
def test_step_2_an_answer_without_error_ends_it(kwire, version):
    """A response without an error ends the handshake, in all versions.

    The response header always has version 0, so that it can be decoded.
    """
    rows = {
        0: ROWS_V0,
        1: f"{ROWS_V0} 00000000",
        2: f"{ROWS_V0} 00000000",
    }
    flexible = "0000 03 0001 0004 0011 00 0012 0000 0004 00 00000000 00"
    handshake = start(kwire, newest=version)
    assert question(handshake)[0] == version
    result = answer(handshake, rows.get(version, flexible))
    assert result is handshake.table
    assert result.advertised == {1: (4, 17), 18: (0, 4)}
    assert handshake.data_to_send() == b""
    with pytest.raises(kwire.LocalProtocolError, match="use its table"):
        answer(handshake, ROWS_V0)


@pytest.mark.parametrize("newest", range(1, 6))
@pytest.mark.parametrize("broker_newest", range(5))
def test_step_3_a_broker_since_2_4_names_its_versions(kwire, newest, broker_newest):
    """The next request has the highest common version and the next correlation id."""
    if broker_newest >= newest:
        return
    handshake = start(kwire, newest=newest)
    question(handshake)
    assert answer(handshake, SINCE_2_4.format(broker_newest)) is None
    version, frame = question(handshake)
    assert version == broker_newest
    assert frame[4:8] == b"\0\0\0\x08"
    text = ROWS_V0 + (" 00000000" if 0 < broker_newest < 3 else "")
    if broker_newest >= 3:
        text = "0000 03 0001 0004 0011 00 0012 0000 0004 00 00000000 00"
    assert answer(handshake, text).advertised[1] == (4, 17)


@pytest.mark.parametrize(
    "body",
    [
        "0023 00000000",
        # librdkafka's mock cluster sends a compact zero count, followed by a row.
        "0023 01 0012 0000 0002 00000000",
        # The layout of the requested version, although error 35 requires version 0.
        "0023 02 0012 0000 0002 00 00000000 00",
        "0023 00000001 0003 0000 0009",
        "0023",
        "0023 ffffffff",
        "0023 7fffffff 0012",
        "0023 00000001 0012 0000 0000 ff",
        "",
    ],
)
def test_step_3_other_unsupported_responses_lead_to_version_0(kwire, body):
    """Covers empty lists from old brokers, mixed bodies, KIP-35's empty response."""
    handshake = start(kwire)
    question(handshake)
    assert answer(handshake, body) is None
    assert question(handshake)[1] == bytes.fromhex("0012 0000 00000008 0002 6b77")
    assert answer(handshake, ROWS_V0).advertised == {1: (4, 17), 18: (0, 4)}


def test_step_3_range_below_0_is_an_error(kwire):
    """If the range ends below 0, no version is left for another request."""
    handshake = start(kwire)
    with pytest.raises(kwire.UnsupportedVersion, match="not supported by server"):
        answer(handshake, SINCE_2_4.format(0xFFFF))


def test_step_3_versions_that_the_policy_excludes_are_not_asked_in(kwire):
    """The highest common version is only used if the policy allows it."""
    policy = kwire.connection.negotiation.VersionPolicy(exclude={18: [3, 2]})
    handshake = start(kwire, policy=policy)
    question(handshake)
    answer(handshake, SINCE_2_4.format(3))
    assert question(handshake)[0] == 1


@pytest.mark.parametrize(
    ("newest", "body", "words"),
    [
        (0, "0023 00000000", "version 0 of ApiVersions"),
        (0, SINCE_2_4.format(0), "version 0 of ApiVersions, but offers 0"),
        (0, "", "not supported by server"),
        (3, SINCE_2_4.format(3), "version 3 of ApiVersions, but offers 0-3"),
        (3, SINCE_2_4.format(9), "version 3 of ApiVersions, but offers 0-9"),
    ],
)
def test_step_4_no_lower_version_ends_it(kwire, newest, body, words):
    """A broker that rejects a version cannot offer it, and must not reject version 0.

    In both cases, the handshake ends. Otherwise, it would be an endless loop.
    """
    handshake = start(kwire, newest=newest)
    question(handshake)
    with pytest.raises(kwire.UnsupportedVersion) as caught:
        answer(handshake, body)
    assert words in str(caught.value)
    assert caught.value.api_key == 18
    assert 0 in caught.value.ours
    assert handshake.table is None and handshake.data_to_send() == b""


def test_step_5_a_bad_name_is_omitted(kwire):
    """After INVALID_REQUEST, the request is sent in version 2, which has no names."""
    handshake = start(kwire, newest=4)
    question(handshake)
    assert answer(handshake, "002a 01 00000000 00") is None
    assert question(handshake)[1] == bytes.fromhex("0012 0002 00000008 0002 6b77")
    assert answer(handshake, f"{ROWS_V0} 00000000").advertised[1] == (4, 17)


def test_step_5_a_bad_name_where_there_is_none_is_an_error(kwire):
    """Before version 3, the request contains no name that can be omitted."""
    handshake = start(kwire, newest=2)
    with pytest.raises(kwire.RemoteProtocolError, match=r"INVALID_REQUEST \(42\)"):
        answer(handshake, "002a 00000000 00000000")


def test_step_5_fallback_respects_the_policy(kwire):
    """A fallback version that the policy excludes is not used."""
    policy = kwire.connection.negotiation.VersionPolicy(exclude={18: [2]})
    handshake = start(kwire, policy=policy)
    question(handshake)
    assert answer(handshake, "002a 01 00000000 00") is None
    assert question(handshake)[0] == 1
    handshake = start(
        kwire, policy=kwire.connection.negotiation.VersionPolicy({18: "3-4"})
    )
    question(handshake)
    with pytest.raises(kwire.KwireError):
        answer(handshake, "002a 01 00000000 00")


def test_step_6_a_broker_that_hangs_up_has_the_configured_release(kwire):
    """The broker closes the connection, so that it is older than 0.10.0.

    If no fallback release is configured, this is an error.
    """
    handshake = start(kwire, fallback="0.9.0.1")
    question(handshake)
    assumed = handshake.connection_lost()
    assert assumed == kwire.connection.negotiation.fallback_table("0.9.0")
    assert handshake.table is None
    for fallback in (None, "0.10.2", "3.9"):
        with pytest.raises(kwire.RemoteProtocolError, match="closed the connection"):
            start(kwire, fallback=fallback).connection_lost()
    with pytest.raises(kwire.UnsupportedVersion, match=r"Kafka 0\.7$"):
        start(kwire, fallback="0.7").connection_lost()


def test_step_6_a_broker_that_has_answered_is_not_old(kwire):
    """If the broker closes the connection later, this does not show its release."""
    handshake = start(kwire, newest=0, fallback="0.9.0")
    answer(handshake, ROWS_V0)
    with pytest.raises(kwire.RemoteProtocolError):
        handshake.connection_lost()


@pytest.mark.parametrize(
    ("code", "name"),
    [(129, "REBOOTSTRAP_REQUIRED"), (31, "CLUSTER_AUTHORIZATION_FAILED"), (-1, "")],
)
def test_step_7_another_error_is_reported_by_name(kwire, code, name):
    """The response is valid but has an error code, so that there is no table."""
    handshake = start(kwire, newest=3)
    with pytest.raises(kwire.RemoteProtocolError, match=rf"{name} ?\({code}\)"):
        answer(handshake, f"{code & 0xFFFF:04x} 01 00000000 00")
    assert handshake.table is None


def test_an_answer_to_another_question_is_refused(kwire):
    """The correlation id must be that of the last request.

    A response to the previous request would be decoded in the wrong version.
    """
    handshake = start(kwire)
    question(handshake)
    with pytest.raises(kwire.RemoteProtocolError, match="expected 7, got 8"):
        answer(handshake, ROWS_V0, correlation_id=8)
    answer(handshake, SINCE_2_4.format(0))
    with pytest.raises(kwire.RemoteProtocolError, match="expected 8, got 7"):
        answer(handshake, ROWS_V0, correlation_id=7)


@pytest.mark.parametrize(
    "body",
    ["0000", "0000 03", f"{ROWS_V0} 00", "0000 7fffffff", "0000 ffffffff", "00"],
)
def test_wrong_bytes_are_a_decode_error(kwire, body):
    """Covers truncated responses, additional bytes, and impossible counts."""
    handshake = start(kwire, newest=0)
    with pytest.raises(kwire.DecodeError):
        answer(handshake, body)
    assert handshake.table is None


@pytest.mark.parametrize("size", range(4))
def test_a_frame_without_a_correlation_id_is_a_decode_error(kwire, size):
    """If the correlation id is missing, the frame belongs to no request."""
    with pytest.raises(kwire.DecodeError):
        start(kwire).receive_frame(bytes(size))


@pytest.mark.parametrize("name", ["", "a b", "-a", "a-", ".a", "a_b", "é", "a\n"])
def test_software_names_that_brokers_reject_are_rejected(kwire, name):
    """If such names were sent, brokers would respond with INVALID_REQUEST."""
    with pytest.raises(kwire.EncodeError, match="client_software_version"):
        start(kwire, client_version=name)
    with pytest.raises(kwire.EncodeError, match="client_software_name"):
        kwire.connection.negotiation.ApiVersionsHandshake(name, "1.0")


@pytest.mark.parametrize("name", ["a", "1", "a-b", "kwire", "1.0.0-rc1", "A..b--9"])
def test_valid_software_names_are_sent(kwire, name):
    """A name contains letters, digits, dots and dashes.

    The first and last characters are letters or digits.
    """
    assert name.encode() in question(start(kwire, client_version=name))[1]


def test_expected_broker_is_only_sent_in_version_5(kwire):
    """A cluster id and a node id (KIP-1242). Version 4 omits both fields."""
    handshake = start(kwire, cluster_id="c1", node_id=3)
    version, frame = question(handshake)
    assert version == 5 and frame.endswith(b"\x03c1\0\0\0\x03\0")
    answer(handshake, SINCE_2_4.format(4))
    version, frame = question(handshake)
    assert version == 4 and b"c1" not in frame


def test_the_last_correlation_id_is_followed_by_one_that_fits(kwire):
    """The correlation id is an INT32, so it wraps after its maximum."""
    handshake = start(kwire, correlation_id=2**31 - 1)
    question(handshake)
    assert answer(handshake, SINCE_2_4.format(0)) is None
    assert question(handshake)[1][4:8] == bytes(4)


class Broker:
    """Simulated broker with hand-written bytes, so that it does not depend on kwire.

    * ``newest``: newest ApiVersions version. Newer requests get error 35.
    * ``lists_itself``: whether this error lists the supported ApiVersions versions.
    * ``asked``: ApiVersions versions that were requested, in order.
    """

    def __init__(self, newest, lists_itself):
        self.newest = newest
        self.lists_itself = lists_itself
        self.asked = []

    def __call__(self, frame):
        """Return the hexadecimal response to a frame, without the correlation id."""
        version = int.from_bytes(frame[2:4], "big")
        self.asked.append(version)
        if version > self.newest:
            return (
                SINCE_2_4.format(self.newest)
                if self.lists_itself
                else ("0023 00000000")
            )
        if version >= 3:
            return "0000 03 0001 0004 0011 00 0012 0000 0004 00 00000000 00"
        return ROWS_V0 + (" 00000000" if version else "")


@pytest.mark.parametrize("lists_itself", [True, False])
@pytest.mark.parametrize("newest", range(8))
def test_brokers_of_every_age_end_in_the_same_table(kwire, newest, lists_itself):
    """Negotiation needs one or two requests."""
    broker = Broker(newest, lists_itself)
    handshake = start(kwire)
    while handshake.table is None:
        answer(handshake, broker(question(handshake)[1]))
    assert handshake.table.advertised == {1: (4, 17), 18: (0, 4)}
    expected = [5]
    if newest < 5:
        expected.append(newest if lists_itself else 0)
    assert broker.asked == expected


CODES = st.sampled_from([0, 35, 42, 129, 0xFFFF])
BODIES = st.one_of(
    st.binary(max_size=30),
    st.builds(
        lambda code, tail: code.to_bytes(2, "big") + tail, CODES, st.binary(max_size=30)
    ),
    st.builds(
        lambda code, low, high: (
            code.to_bytes(2, "big") + b"\0\0\0\1\0\x12" + low + high
        ),
        CODES,
        st.binary(min_size=2, max_size=2),
        st.sampled_from([bytes((0, code)) for code in range(7)] + [b"\xff\xff"]),
    ),
)


@given(st.lists(BODIES, min_size=12, max_size=12))
def test_any_sequence_of_responses_ends_the_handshake(twins, bodies):
    """Each response ends the handshake, or lowers the version of the next request.

    Both engines send the same requests.
    """
    ends = []
    for kwire in twins:
        handshake = start(kwire)
        versions = [question(handshake)[0]]
        for body in bodies:
            try:
                result = answer(handshake, body.hex())
            except kwire.KwireError as error:
                ends.append((versions, type(error).__name__, str(error)))
                break
            if result is not None:
                ends.append((versions, result.advertised))
                break
            versions.append(question(handshake)[0])
            assert versions[-1] < versions[-2]
        else:
            pytest.fail(f"still asking after {versions}")
    assert ends[0] == ends[1]
