# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test frames and headers: the header version for every message, byte for byte.

The byte strings were written by hand from the protocol layout: INT32 size, API key,
version, correlation id, client id and tags. The splitter is tested in
``test_frame_splitter.py``.
"""

import pytest

from tests.harness.values import pairs

HEARTBEAT_BODY = "0001 67 00000005 0001 6d"
"""Body of Heartbeat version 0: group "g", generation 5, member "m"."""


def from_hex(text):
    """Return the bytes of a hexadecimal text, ignoring spaces."""
    return bytes.fromhex(text)


def framed(text):
    """Return the bytes of a hexadecimal text after their INT32 size."""
    body = from_hex(text)
    return len(body).to_bytes(4, "big") + body


@pytest.fixture
def heartbeat(kwire):
    """Return a Heartbeat request that can be encoded in versions 0 to 4."""
    return kwire.messages.HeartbeatRequest(group_id="g", generation_id=5, member_id="m")


def test_request_header_v1_has_a_client_id(kwire, heartbeat):
    """Request header version 1 has an API key, a version, an id and a client id."""
    frame = kwire.messages.framing.encode_request(
        heartbeat, 0, correlation_id=7, client_id="me"
    )
    assert frame == framed(f"000c 0000 00000007 0002 6d65 {HEARTBEAT_BODY}")


def test_request_header_v2_has_tags_and_a_classic_client_id(kwire, heartbeat):
    """Request header version 2 has a tag section after the client id.

    The client id keeps its INT16 length, although the version is flexible.
    """
    frame = kwire.messages.framing.encode_request(
        heartbeat, 4, correlation_id=-2, client_id="me"
    )
    body = "02 67 00000005 02 6d 00 00"
    assert frame == framed(f"000c 0004 fffffffe 0002 6d65 00 {body}")


@pytest.mark.parametrize(("version", "tags"), [(0, ""), (4, "00")])
def test_null_client_id_is_encoded_as_minus_one(kwire, heartbeat, version, tags):
    """The client id None is encoded as length -1, and decoded as None."""
    frame = kwire.messages.framing.encode_request(heartbeat, version, 1, None)
    assert frame[4:].startswith(from_hex(f"000c 000{version} 00000001 ffff {tags}"))
    header, request = kwire.messages.framing.decode_request(frame[4:])
    assert header.client_id is None
    assert request == heartbeat


def test_request_header_v0_is_controlled_shutdown_v0_alone(kwire):
    """Only ControlledShutdown version 0 has request header version 0.

    This header has no client id.
    """
    request = kwire.messages.ControlledShutdownRequest(broker_id=3)
    frame = kwire.messages.framing.encode_request(request, 0, 7, "not sent")
    assert frame == framed("0007 0000 00000007 00000003")
    header, decoded = kwire.messages.framing.decode_request(frame[4:])
    assert (header.correlation_id, header.client_id) == (7, "")
    assert decoded == request
    later = kwire.messages.framing.encode_request(request, 1, 7, "me")
    assert later == framed("0007 0001 00000007 0002 6d65 00000003")


def test_request_header_version_depends_on_flexible_versions(kwire):
    """The request header version is 2 for flexible versions, and 1 for others.

    The only exception is ControlledShutdown version 0, which has header version 0.
    """
    counts = {0: 0, 1: 0, 2: 0}
    for name, version in pairs(kwire):
        cls = getattr(kwire.messages, name)
        if cls.kind != "request":
            continue
        message = kwire._engine.active.engine.binding_of(cls).message
        header_version = kwire.schema.plan.request_header_version(message, version)
        old = name == "ControlledShutdownRequest" and version == 0
        assert header_version == (0 if old else 1 + (version in cls.flexible_versions))
        counts[header_version] += 1
    assert counts[0] == 1
    assert min(counts.values()) > 0


def test_header_of_an_unknown_api_version_is_decoded(kwire):
    """The header of an unknown ApiVersions version is decoded as header version 2.

    A broker must answer such a request with error 35, and needs its correlation id.
    """
    cls = kwire.messages.ApiVersionsRequest
    message = kwire._engine.active.engine.binding_of(cls).message
    assert kwire.schema.plan.request_header_version(message, 99) == 2
    with pytest.raises(kwire.UnsupportedVersion, match="ApiVersionsRequest"):
        kwire.messages.framing.decode_request(
            from_hex("0012 0063 00000007 0002 6d65 00 01 02 03")
        )


def test_response_header_v1_adds_tags(kwire):
    """Response header version 0 has only a correlation id, and version 1 also tags."""
    response = kwire.messages.HeartbeatResponse(throttle_time_ms=1, error_code=27)
    for version, expected in [
        (0, "00000007 001b"),
        (1, "00000007 00000001 001b"),
        (4, "00000007 00 00000001 001b 00"),
    ]:
        frame = kwire.messages.framing.encode_response(
            response if version else response.replace(throttle_time_ms=0), version, 7
        )
        assert frame == framed(expected)
        decoded = kwire.messages.framing.decode_response(
            type(response), frame[4:], version
        )
        assert decoded == (
            7,
            response if version else response.replace(throttle_time_ms=0),
        )


def test_api_versions_response_never_has_header_v1(kwire):
    """The response of ApiVersions always has header version 0.

    The client may not know the broker's versions yet, so no tags may precede.
    """
    response = kwire.messages.ApiVersionsResponse(error_code=35)
    for version in response.valid_versions:
        frame = kwire.messages.framing.encode_response(response, version, 7)
        assert frame[4:10] == from_hex("00000007 0023")
        assert kwire.messages.framing.decode_response(
            type(response), frame[4:], version
        ) == (
            7,
            response,
        )


def test_tags_in_headers_are_read_and_dropped(kwire):
    """Unknown tags in a header are skipped. They do not affect the message."""
    header, request = kwire.messages.framing.decode_request(
        from_hex("000c 0004 00000007 0002 6d65 01 05 02 aabb 02 67 00000005 026d 00 00")
    )
    assert header.unknown_tagged_fields == ((5, b"\xaa\xbb"),)
    assert request.group_id == "g"
    correlation_id, response = kwire.messages.framing.decode_response(
        kwire.messages.HeartbeatResponse,
        from_hex("00000007 01 05 01 aa 00000001 001b 00"),
        4,
    )
    assert (correlation_id, response.error_code) == (7, 27)


def test_request_frames_round_trip(kwire):
    """Every request is decoded from its frame.

    The header identifies API and version.
    """
    keys = set()
    for name, version in pairs(kwire):
        cls = getattr(kwire.messages, name)
        if cls.kind != "request":
            continue
        frame = kwire.messages.framing.encode_request(cls(), version, 9, "é")
        assert int.from_bytes(frame[:4], "big") == len(frame) - 4
        header, request = kwire.messages.framing.decode_request(memoryview(frame)[4:])
        assert type(request) is cls
        assert request == cls()
        assert header.request_api_key == cls.api_key
        assert (header.request_api_version, header.correlation_id) == (version, 9)
        keys.add(cls.api_key)
    assert keys == set(range(95))


def test_response_frames_round_trip(kwire):
    """Every response is decoded from its frame, with the same correlation id."""
    for name, version in pairs(kwire):
        cls = getattr(kwire.messages, name)
        if cls.kind == "response":
            frame = kwire.messages.framing.encode_response(cls(), version, -1)
            decoded = kwire.messages.framing.decode_response(cls, frame[4:], version)
            assert decoded == (-1, cls())


def test_trailing_bytes_are_refused_where_they_begin(kwire, heartbeat):
    """Trailing bytes raise an error with the offset of the first one.

    With ``compat="java"``, they are ignored, as in Kafka's reader.
    """
    framing = kwire.messages.framing
    frame = framing.encode_request(heartbeat, 0, 1, "me")[4:]
    with pytest.raises(kwire.TrailingBytes) as caught:
        framing.decode_request(frame + b"xy")
    assert caught.value.offset == len(frame)
    assert framing.decode_request(frame + b"xy", compat="java")[1] == heartbeat
    response = kwire.messages.HeartbeatResponse
    with pytest.raises(kwire.TrailingBytes) as caught:
        framing.decode_response(response, bytes(7), 0)
    assert caught.value.offset == 6
    assert framing.decode_response(response, bytes(7), 0, compat="java")[0] == 0


def test_offsets_count_from_the_start_of_the_frame(kwire, heartbeat):
    """The offset of an error in the body is relative to the start of the frame."""
    frame = kwire.messages.framing.encode_request(heartbeat, 0, 1, "me")[4:]
    with pytest.raises(kwire.Truncated) as caught:
        kwire.messages.framing.decode_request(frame[:-1])
    assert caught.value.offset == len(frame) - 1
    assert caught.value.path == "member_id"
    body = len(frame) - len(from_hex(HEARTBEAT_BODY))
    bad = frame[:body] + b"\xff\xfe" + frame[body + 2 :]
    with pytest.raises(kwire.InvalidLength) as caught:
        kwire.messages.framing.decode_request(bad)
    assert (caught.value.offset, caught.value.path) == (body, "group_id")


@pytest.mark.parametrize("version", [0, 4])
def test_every_prefix_of_a_frame_is_refused(kwire, heartbeat, version):
    """A truncated frame raises a DecodeError that contains a field."""
    frame = kwire.messages.framing.encode_request(heartbeat, version, 1, "me")[4:]
    for end in range(len(frame)):
        with pytest.raises(kwire.DecodeError) as caught:
            kwire.messages.framing.decode_request(frame[:end])
        assert caught.value.offset == end
        assert caught.value.path
        named = "RequestHeader" if end < 12 + (version > 0) else "HeartbeatRequest"
        assert caught.value.message_name == named
    answer = kwire.messages.framing.encode_response(
        kwire.messages.HeartbeatResponse(), 4
    )[4:]
    for end in range(len(answer)):
        with pytest.raises(kwire.DecodeError) as caught:
            kwire.messages.framing.decode_response(
                kwire.messages.HeartbeatResponse, answer[:end], 4
            )
        assert caught.value.offset == end


def test_twins_agree_on_headers_cut_short(twins):
    """Both engines raise the same error for a truncated header.

    The API key and the version are decoded outside of the engines.
    """
    for end in range(14):
        outcomes = []
        for package in twins:
            with pytest.raises(package.DecodeError) as caught:
                package.messages.framing.decode_request(
                    from_hex("000c 0000 00000007 0002 6d65")[:end]
                )
            error = caught.value
            outcomes.append(
                (type(error).__name__, str(error), error.path, error.offset)
            )
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("key", [-1, 95, 32767])
def test_unknown_api_keys_list_the_known_range(kwire, key):
    """An unknown API key raises UnsupportedVersion with the range of known keys."""
    frame = key.to_bytes(2, "big", signed=True) + bytes(10)
    with pytest.raises(
        kwire.UnsupportedVersion, match=f"{key}.*kwire supports 0 to 94"
    ):
        kwire.messages.framing.decode_request(frame)


@pytest.mark.parametrize("version", [-1, 5, 32767])
def test_unknown_versions_name_both_ranges(kwire, version):
    """An unknown version raises an error with the version and the supported ones."""
    frame = b"\0\x0c" + version.to_bytes(2, "big", signed=True) + bytes(10)
    with pytest.raises(kwire.UnsupportedVersion, match=f"0 to 4.*{version}"):
        kwire.messages.framing.decode_request(frame)


def test_only_requests_and_responses_have_frames(kwire):
    """Messages that are neither requests nor responses raise TypeError."""
    messages, framing = kwire.messages, kwire.messages.framing
    # Encode a request first, because its cached encoder must not accept other classes.
    framing.encode_request(messages.HeartbeatRequest(), 0)
    framing.encode_response(messages.HeartbeatResponse(), 0)
    with pytest.raises(TypeError, match="a request is required"):
        framing.encode_request(messages.HeartbeatResponse(), 0)
    with pytest.raises(TypeError, match="a response is required"):
        framing.encode_response(messages.HeartbeatRequest(), 0)
    with pytest.raises(TypeError, match="a request is required"):
        framing.encode_request(messages.TopicRecord(), 0)
    with pytest.raises(kwire.UnsupportedVersion, match="0 to 4"):
        framing.encode_request(messages.HeartbeatRequest(), 5)


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"correlation_id": 2**31}, "correlation_id"),
        ({"correlation_id": None}, "correlation_id"),
        ({"client_id": 5}, "client_id"),
        ({"client_id": "x" * 32768}, "client_id"),
        ({"client_id": "\ud800"}, "client_id"),
    ],
)
def test_header_is_checked_before_the_body(kwire, heartbeat, arguments, path):
    """If the header and the body are invalid, the error of the header is raised."""
    for request in (heartbeat, heartbeat.replace(group_id=5)):
        with pytest.raises(kwire.EncodeError) as caught:
            kwire.messages.framing.encode_request(request, 4, **arguments)
        assert caught.value.message_name == "RequestHeader"
        assert caught.value.path == path


def test_prefixed_messages_follow_their_version(kwire):
    """A prefixed message is an INT16 version, followed by the message."""
    messages, framing = kwire.messages, kwire.messages.framing
    principal = messages.DefaultPrincipalData(type="User", name="a")
    data = framing.encode_prefixed(principal, 0)
    assert data == from_hex("0000 05 55736572 02 61 00 00")
    assert framing.decode_prefixed(type(principal), bytearray(data)) == principal


@pytest.mark.parametrize("version", [4, 5, 32767])
def test_newer_consumer_protocol_is_read_as_the_highest_known(kwire, version):
    """A consumer protocol message of a newer version is decoded as the highest known.

    Group members may use newer versions, whose additional fields are ignored.
    """
    cls = kwire.messages.ConsumerProtocolSubscription
    subscription = cls(topics=["a"], generation_id=3, rack_id="r")
    data = kwire.messages.framing.encode_prefixed(subscription, 3)
    newer = version.to_bytes(2, "big") + data[2:] + b"appended"
    assert kwire.messages.framing.decode_prefixed(cls, newer) == subscription
    with pytest.raises(kwire.TrailingBytes) as caught:
        kwire.messages.framing.decode_prefixed(cls, data + b"appended")
    assert caught.value.offset == len(data)


def test_other_prefixed_messages_have_no_newer_versions(kwire):
    """In other prefixed messages, an unknown version raises an error."""
    messages, framing = kwire.messages, kwire.messages.framing
    for cls, prefix in [
        (messages.DefaultPrincipalData, "0001"),
        (messages.ConsumerProtocolAssignment, "ffff"),
    ]:
        with pytest.raises(kwire.UnsupportedVersion, match=cls.__name__):
            framing.decode_prefixed(cls, from_hex(prefix) + bytes(20))


@pytest.mark.parametrize("size", [0, 1])
def test_truncated_version_prefix_is_an_error(kwire, size):
    """A version prefix of less than two bytes raises Truncated."""
    with pytest.raises(kwire.Truncated) as caught:
        kwire.messages.framing.decode_prefixed(
            kwire.messages.DefaultPrincipalData, bytes(size)
        )
    assert (caught.value.offset, caught.value.path) == (size, "version")


def test_frame_bytes_limits_frames(kwire, heartbeat):
    """``frame_bytes`` limits the input of every decoding function.

    It is checked before the input is read.
    """
    small = kwire.Limits(frame_bytes=10)
    frame = kwire.messages.framing.encode_request(heartbeat, 0)[4:]
    principal = kwire.messages.DefaultPrincipalData
    for call in (
        lambda: kwire.messages.framing.decode_request(frame, limits=small),
        lambda: kwire.messages.framing.decode_response(
            kwire.messages.HeartbeatResponse, bytes(11), 0, limits=small
        ),
        lambda: kwire.messages.framing.decode_prefixed(
            principal, bytes(11), limits=small
        ),
        lambda: kwire.decode(principal, bytes(11), 0, limits=small),
    ):
        with pytest.raises(kwire.LimitExceeded):
            call()


def test_frame_at_the_limit_is_accepted(kwire):
    """A frame whose size equals ``frame_bytes`` is accepted, and one byte more is not.

    The same applies to the default limit.
    """
    principal = kwire.messages.DefaultPrincipalData
    for size, options in (
        (11, {"limits": kwire.Limits(frame_bytes=11)}),
        (kwire.Limits().frame_bytes, {}),
    ):
        with pytest.raises(kwire.DecodeError) as caught:
            kwire.decode(principal, bytes(size), 0, **options)
        assert type(caught.value) is not kwire.LimitExceeded
        with pytest.raises(kwire.LimitExceeded):
            kwire.decode(principal, bytes(size + 1), 0, **options)


SIZE_HINT = "begins with its own size; pass frame[4:]"


def test_a_frame_with_its_size_is_recognized(kwire):
    """If a frame still has its size, the error says to remove the size.

    Users who read frames from a socket often forget this.
    """
    messages, framing = kwire.messages, kwire.messages.framing
    for name, version in pairs(kwire):
        cls = getattr(kwire.messages, name)
        if cls.kind == "request":
            sized = framing.encode_request(cls(), version, 7, "me")
            with pytest.raises((kwire.DecodeError, kwire.UnsupportedVersion)) as caught:
                framing.decode_request(sized)
            assert SIZE_HINT in str(caught.value), name
            assert framing.decode_request(sized[4:])[1] == cls()
    sized = framing.encode_request(messages.MetadataRequest(), 12, 7, "me")
    for data in (bytearray(sized), memoryview(sized)):
        with pytest.raises(kwire.UnsupportedVersion, match="begins with its own size"):
            framing.decode_request(data)
    with pytest.raises(kwire.UnsupportedVersion) as caught:
        framing.decode_request(sized + b"x")
    assert "size" not in str(caught.value)


def test_a_response_with_its_size_is_recognized(kwire):
    """If a response frame still has its size, the error says to remove the size.

    The size is decoded as the correlation id, so that a later field fails.
    """
    count = 0
    for name, version in pairs(kwire):
        cls = getattr(kwire.messages, name)
        if cls.kind == "response":
            sized = kwire.messages.framing.encode_response(cls(), version, 7)
            try:
                kwire.messages.framing.decode_response(cls, sized, version)
            except kwire.DecodeError as error:
                count += 1
                assert SIZE_HINT in str(error) and error.args[0] == error.reason
    assert count > 350


def test_a_body_with_a_header_or_a_size_is_recognized(kwire):
    """If ``decode`` receives a frame, the error suggests the function for frames.

    ``decode`` expects the body without a header and a size.
    """
    messages, framing = kwire.messages, kwire.messages.framing
    request, response = messages.MetadataRequest(), messages.MetadataResponse()
    sized = framing.encode_request(request, 12, 7, "me")
    for data, words in (
        (sized[4:], "a request header; pass data to framing.decode_request"),
        (sized, "a frame's size and a request header; pass data[4:] to framing"),
    ):
        with pytest.raises(kwire.DecodeError) as caught:
            kwire.decode(messages.MetadataRequest, data, 12)
        assert words in str(caught.value)
        with pytest.raises(kwire.DecodeError) as caught:
            kwire.decode(messages.MetadataRequest, data, 11)
        assert "framing" not in str(caught.value)
    with pytest.raises(kwire.DecodeError) as caught:
        data = framing.encode_response(response, 12, 7)
        kwire.decode(messages.MetadataResponse, data, 12)
    assert "pass data[4:] to framing.decode_response" in str(caught.value)


def test_other_errors_have_no_hint(kwire):
    """All other errors have no hint. Text, offset and class are unchanged."""
    messages = kwire.messages
    for data in (b"", b"\0", b"\0\0\0", bytes(4), bytes(40), b"\xff" * 40):
        for call in (
            lambda data=data: kwire.decode(messages.ProduceRequest, data, 0),
            lambda data=data: kwire.decode(messages.FetchResponse, data, 12),
            lambda data=data: kwire.decode(messages.TopicRecord, data, 0),
            lambda data=data: kwire.messages.framing.decode_request(data),
            lambda data=data: kwire.messages.framing.decode_response(
                messages.FetchResponse, data, 12
            ),
        ):
            try:
                call()
            except (kwire.DecodeError, kwire.UnsupportedVersion) as error:
                # The input of four zeros may also be the size of an empty frame.
                assert ("framing" in str(error)) is False or data == bytes(4)
                assert ("its own size" in str(error)) <= (data == bytes(4))
