# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Client-side connection: correlation ids, order, negotiation, close.

``framing`` or the tests create the bytes. Hostile streams are in
``test_connection_hostile.py``. SASL and empty responses have separate files.
"""

import pytest

OFFERED = {0: (0, 8), 1: (0, 11), 3: (0, 8), 18: (0, 4)}
ANSWER_V4 = "0000 03 0001 0000 000b 00 0003 0000 0008 00 00000000 00"


def make_client(kwire, offered=None, **options):
    """Return a client that does not need to negotiate."""
    offered = OFFERED if offered is None else offered
    table = kwire.connection.negotiation.ApiVersionTable.from_ranges(offered)
    return kwire.connection.ClientConnection(table=table, **options)


def framed(text):
    """Prepend the size to a hexadecimal frame."""
    data = bytes.fromhex(text)
    return len(data).to_bytes(4, "big") + data


def metadata(kwire, topic="t"):
    """Return a Metadata request. Its topic distinguishes it from other requests."""
    request = kwire.messages.MetadataRequest
    return request(topics=[request.MetadataRequestTopic(name=topic)])


def answer(kwire, correlation_id, version=8, **fields):
    """Encode a Metadata response with its size."""
    response = kwire.messages.MetadataResponse(**fields)
    return kwire.messages.framing.encode_response(response, version, correlation_id)


def receive(connection, data):
    """Pass bytes to a connection, and list the events."""
    return list(connection.receive_data(data))


def produce(kwire, acks):
    """Return a Produce request. It has no response if ``acks`` is 0."""
    return kwire.messages.ProduceRequest(acks=acks, timeout_ms=1, topic_data=[])


def test_first_bytes_are_an_api_versions_request(kwire):
    """ApiVersions is sent once, and no other request is sent before its response."""
    connection = kwire.connection.ClientConnection(
        "kw", client_name="kwire", client_version="1.0"
    )
    version, frame = 5, "06 6b77697265 04 312e30 00 ffffffff 00"
    expected_request = framed(f"0012 {version:04x} 00000000 0002 6b77 00 {frame}")
    assert connection.data_to_send() == expected_request
    assert connection.data_to_send() == b""
    assert connection.is_open and connection.table is None
    with pytest.raises(kwire.LocalProtocolError, match="wait for the event Negotiated"):
        connection.send(metadata(kwire))
    with pytest.raises(kwire.LocalProtocolError, match="wait for the event Negotiated"):
        connection.start_sasl("PLAIN")
    assert connection.is_open and connection.failure is None


def test_api_versions_is_repeated_with_the_next_correlation_id(kwire):
    """The two ApiVersions requests have ids 0 and 1, and the first request has id 2."""
    connection = kwire.connection.ClientConnection("kw")
    connection.data_to_send()
    refusal = framed("00000000 0023 00000001 0012 0000 0004")
    assert receive(connection, refusal) == []
    assert connection.data_to_send()[4:12] == bytes.fromhex("0012 0004 00000001")
    (event,) = receive(connection, framed(f"00000001 {ANSWER_V4}"))
    assert isinstance(event, kwire.connection.Negotiated)
    assert event.table is connection.table
    assert event.table.advertised == {1: (0, 11), 3: (0, 8)}
    assert connection.data_to_send() == b""
    assert connection.send(metadata(kwire)) == 2
    assert connection.send(metadata(kwire)) == 3


def test_known_table_omits_api_versions(kwire):
    """With a known table, no ApiVersions is sent, and the first request has id 0."""
    connection = make_client(kwire)
    assert connection.data_to_send() == b""
    assert connection.send(metadata(kwire)) == 0


def test_a_request_goes_out_in_the_highest_common_version(kwire):
    """``framing`` creates the same bytes, with the client id."""
    connection = make_client(kwire, client_id="kw")
    request = metadata(kwire)
    connection.send(request)
    expected = kwire.messages.framing.encode_request(request, 8, 0, "kw")
    assert connection.data_to_send() == expected
    (waiting,) = connection.in_flight
    assert waiting == (0, request, 8)
    assert isinstance(waiting, kwire.connection.Unanswered)


def test_specified_version_is_used(kwire):
    """A specified version is used even if the broker does not offer it."""
    connection = make_client(kwire)
    for version in (0, 9):
        correlation_id = connection.send(metadata(kwire), version)
        assert connection.data_to_send()[6:8] == version.to_bytes(2, "big")
        assert connection.in_flight[correlation_id].version == version


def test_constraints_choose_the_version(kwire):
    """A constraint applies to its message, not to the connection."""
    connection = make_client(kwire, {1: (4, 17)})
    fetch = kwire.messages.FetchRequest()
    connection.send(fetch, constraints=(kwire.connection.negotiation.NO_TOPIC_IDS,))
    connection.send(fetch)
    assert [request.version for request in connection.in_flight] == [12, 17]


@pytest.mark.parametrize("client_id", ["kw", None, ""])
def test_missing_client_id_is_encoded_as_null(kwire, client_id):
    """If the client id is missing, it is null on the wire."""
    connection = make_client(kwire, client_id=client_id)
    connection.send(metadata(kwire), 1)
    header, _ = kwire.messages.framing.decode_request(connection.data_to_send()[4:])
    assert header.client_id == client_id


def test_rejected_request_leaves_the_connection_unchanged(kwire):
    """No id is used, nothing is in flight, and the next request succeeds."""
    connection = make_client(kwire)
    for rejected_call, error in (
        (lambda: connection.send(kwire.messages.HeartbeatRequest()), "Unsupported"),
        (lambda: connection.send(metadata(kwire), 99), "Unsupported"),
        (lambda: connection.send(metadata(kwire, topic=7)), "EncodeError"),
        (lambda: connection.send(metadata(kwire, topic=None)), "EncodeError"),
        (lambda: connection.send(kwire.messages.MetadataResponse()), "TypeError"),
        (lambda: connection.send(kwire.messages.RequestHeader()), "TypeError"),
    ):
        with pytest.raises((kwire.KwireError, TypeError)) as caught:
            rejected_call()
        assert error in type(caught.value).__name__
        assert connection.in_flight == () and connection.data_to_send() == b""
        assert connection.is_open
    assert connection.send(metadata(kwire)) == 0


def test_responses_find_their_requests_in_order(kwire):
    """Five requests in several versions are in flight, and get their responses."""
    connection = make_client(kwire)
    requests = [metadata(kwire, f"t{number}") for number in range(5)]
    versions = [0, 8, 3, 8, 1]
    for request, version in zip(requests, versions, strict=True):
        connection.send(request, version)
    assert [sent.correlation_id for sent in connection.in_flight] == [0, 1, 2, 3, 4]
    answers = [
        answer(kwire, number, version) for number, version in enumerate(versions)
    ]
    for number in range(5):
        (event,) = receive(connection, answers[number])
        assert isinstance(event, kwire.connection.ResponseReceived)
        assert event.request is requests[number]
        assert (event.correlation_id, event.version) == (number, versions[number])
        assert isinstance(event.response, kwire.messages.MetadataResponse)
        assert len(connection.in_flight) == 4 - number


def test_complete_responses_of_a_chunk_are_returned(kwire):
    """The response at the end waits until its remaining bytes arrive."""
    connection = make_client(kwire)
    for _ in range(3):
        connection.send(metadata(kwire))
    stream = b"".join(answer(kwire, number) for number in range(3))
    events = receive(connection, stream[:-3])
    assert [event.correlation_id for event in events] == [0, 1]
    (last,) = receive(connection, stream[-3:])
    assert last.correlation_id == 2


def test_produce_without_acks_has_no_response(kwire):
    """The request is not in flight, but uses a correlation id."""
    connection = make_client(kwire)
    assert [connection.send(produce(kwire, acks)) for acks in (0, 1, 0, -1)] == [
        *range(4)
    ]
    assert [request.correlation_id for request in connection.in_flight] == [1, 3]
    response = kwire.messages.ProduceResponse()
    for number in (1, 3):
        data = kwire.messages.framing.encode_response(response, 8, number)
        (event,) = receive(connection, data)
        assert event.correlation_id == number


def test_ids_start_again_after_the_highest(kwire):
    """After the maximum INT32, the next id is 0, as in Kafka's clients."""
    connection = make_client(kwire)
    connection._next_id = 2**31 - 1
    assert [connection.send(metadata(kwire)) for _ in range(2)] == [2**31 - 1, 0]
    events = receive(connection, answer(kwire, 2**31 - 1) + answer(kwire, 0))
    assert [event.correlation_id for event in events] == [2**31 - 1, 0]


@pytest.mark.parametrize(
    ("sent", "came", "words"),
    [
        (2, 7, "correlation id 7, which no request in flight has .expected 0"),
        (2, -1, "correlation id -1"),
        (2, 1, "the response to request 1 arrived before that to 0"),
        (0, 0, "no response is expected"),
    ],
)
def test_an_id_that_is_not_next_breaks_the_rules(kwire, sent, came, words):
    """The id is unknown, out of order, or belongs to no request."""
    connection = make_client(kwire)
    for _ in range(sent):
        connection.send(metadata(kwire))
    with pytest.raises(kwire.RemoteProtocolError, match=words):
        receive(connection, answer(kwire, came))


def test_an_answer_that_comes_twice_breaks_the_rules(kwire):
    """The second response has no request."""
    connection = make_client(kwire)
    connection.send(metadata(kwire))
    with pytest.raises(kwire.RemoteProtocolError, match="no response is expected"):
        receive(connection, answer(kwire, 0) * 2)


def test_response_after_the_negotiation_has_no_request(kwire):
    """A response after the negotiation closes the connection with an error.

    The event with the table is still returned before the error.
    """
    connection = kwire.connection.ClientConnection()
    response = framed(f"00000000 {ANSWER_V4}")
    events = connection.receive_data(response + answer(kwire, 1))
    negotiated = next(events)
    assert negotiated.table.advertised
    assert not negotiated.table.is_alive
    with pytest.raises(kwire.RemoteProtocolError, match="no response is expected"):
        next(events)


def test_events_before_an_error_are_returned(kwire):
    """The error is raised once. Later calls contain it as the reason."""
    connection = make_client(kwire)
    for _ in range(3):
        connection.send(metadata(kwire))
    data = answer(kwire, 0) + answer(kwire, 1) + answer(kwire, 5) + answer(kwire, 2)
    events = connection.receive_data(data)
    assert [next(events).correlation_id for _ in range(2)] == [0, 1]
    with pytest.raises(kwire.RemoteProtocolError) as caught:
        next(events)
    assert connection.failure is caught.value
    assert not connection.is_open
    assert [request.correlation_id for request in connection.in_flight] == [2]


def every_call(kwire, connection):
    """Return functions that call each method which a closed connection must reject."""
    return (
        lambda: connection.send(metadata(kwire)),
        lambda: connection.send(metadata(kwire), 3),
        lambda: connection.start_sasl("PLAIN"),
        lambda: connection.send_sasl_token(b""),
        connection.finish_sasl,
        lambda: connection.receive_data(answer(kwire, 0)),
        lambda: connection.receive_data(b""),
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("ffffffff", "a frame cannot have -1 bytes"),
        ("00000000", "an empty frame"),
        ("00000003 000000", r"correlation id of 4 bytes \(got 3 bytes"),
        ("00000006 00000000 0000", "still needed"),
        ("00000005 00000007 00", "correlation id 7"),
        ("7fffffff", "over the limit"),
        ("16030100 ff", "TLS handshake"),
        ("15030100 02 02 28", "TLS alert"),
    ],
)
def test_after_an_error_every_call_says_why(kwire, data, reason):
    """Later calls raise the first error as the reason. The table is closed as well."""
    connection = make_client(kwire)
    table = connection.table
    connection.send(metadata(kwire))
    with pytest.raises(kwire.KwireError, match=reason) as first:
        receive(connection, bytes.fromhex(data))
    assert not isinstance(first.value, kwire.LocalProtocolError)
    assert connection.failure is first.value and not connection.is_open
    for _ in range(2):
        for call in every_call(kwire, connection):
            with pytest.raises(kwire.LocalProtocolError) as caught:
                call()
            assert str(first.value) in str(caught.value)
            assert caught.value.__cause__ is first.value
        connection.close()
    assert not table.is_alive
    assert connection.data_to_send() == b""


def test_error_applies_even_if_no_event_is_read(kwire):
    """The bytes are processed by the call, not during iteration over the events."""
    connection = make_client(kwire)
    connection.receive_data(bytes.fromhex("ffffffff"))
    assert isinstance(connection.failure, kwire.InvalidLength)
    with pytest.raises(kwire.LocalProtocolError, match="-1 bytes"):
        connection.send(metadata(kwire))


def test_unread_events_are_returned_by_the_next_call(kwire):
    """If an iterator is discarded, its events are returned by the next call."""
    connection = make_client(kwire)
    for _ in range(3):
        connection.send(metadata(kwire))
    connection.receive_data(answer(kwire, 0))
    next(connection.receive_data(answer(kwire, 1)))
    events = receive(connection, answer(kwire, 2))
    assert [event.correlation_id for event in events] == [1, 2]


def test_closed_connection_reports_unanswered_requests(kwire):
    """The broker may or may not have executed the unanswered requests."""
    connection = make_client(kwire)
    table, requests = connection.table, [metadata(kwire, name) for name in "ab"]
    for request in requests:
        connection.send(request)
    (event,) = receive(connection, b"")
    assert isinstance(event, kwire.connection.ConnectionClosed)
    assert [sent.request for sent in event.unanswered] == requests
    assert event.fallback is None
    assert event.reason == (
        "the broker closed the connection; requests without a response: 2"
    )
    assert not connection.is_open and connection.failure is None
    assert not table.is_alive
    for call in every_call(kwire, connection):
        with pytest.raises(kwire.LocalProtocolError, match="the broker closed"):
            call()


def test_close_within_a_frame_reports_the_received_bytes(kwire):
    """The event contains how many bytes of the frame were received."""
    connection = make_client(kwire)
    connection.send(metadata(kwire))
    assert receive(connection, answer(kwire, 0)[:9]) == []
    (event,) = receive(connection, b"")
    assert "in the middle of a frame, after 9 bytes" in event.reason
    assert len(event.unanswered) == 1


@pytest.mark.parametrize("empty", [b"", bytearray(), memoryview(b"")])
def test_empty_data_of_any_type_closes_the_connection(kwire, empty):
    """Empty data means that the peer has closed its side of the socket."""
    (event,) = receive(make_client(kwire), empty)
    assert event.reason == "the broker closed the connection"


def test_a_close_on_the_question_leads_to_the_fallback(kwire):
    """The event has the fallback table for the next connection.

    That connection does not negotiate.
    """
    connection = kwire.connection.ClientConnection(fallback="0.9.0")
    connection.data_to_send()
    (event,) = receive(connection, b"")
    assert event.fallback == kwire.connection.negotiation.fallback_table("0.9.0")
    assert event.fallback.is_alive and connection.table is None
    following = kwire.connection.ClientConnection(table=event.fallback)
    assert following.data_to_send() == b""
    following.send(kwire.messages.FetchRequest())
    assert following.data_to_send()[4:8] == bytes.fromhex("0001 0001")


@pytest.mark.parametrize(
    ("fallback", "words"),
    [(None, "older than 0.10.0"), ("3.9", "TLS")],
)
def test_close_before_the_response_without_a_fallback_has_reasons(
    kwire, fallback, words
):
    """The event contains possible reasons."""
    connection = kwire.connection.ClientConnection(fallback=fallback)
    (event,) = receive(connection, b"")
    assert event.fallback is None and words in event.reason


def test_close_within_the_response_does_not_lead_to_the_fallback(kwire):
    """The broker supports ApiVersions, because it had started to respond."""
    connection = kwire.connection.ClientConnection(fallback="0.9.0")
    receive(connection, framed(f"00000000 {ANSWER_V4}")[:10])
    (event,) = receive(connection, b"")
    assert event.fallback is None and "in the middle of a frame" in event.reason


def test_closing_expires_the_table(kwire):
    """If the connection is closed again, nothing happens."""
    connection = make_client(kwire)
    table = connection.table
    connection.send(metadata(kwire))
    connection.close()
    connection.close()
    assert not table.is_alive and not connection.is_open
    assert connection.failure is None and connection.data_to_send() == b""
    for call in every_call(kwire, connection):
        with pytest.raises(kwire.LocalProtocolError, match="closed by this side"):
            call()


def test_a_handshake_that_fails_ends_the_connection(kwire):
    """The error closes the connection, and no request is repeated."""
    for text, error in (
        ("00000000 0081 01 00000000 00", "RemoteProtocolError"),
        ("00000009 0000 01 00000000 00", "RemoteProtocolError"),
        ("00000000 0023 00000001 0012 0000 0009", "UnsupportedVersion"),
        ("00000000 0000 7f", "InvalidLength"),
        ("", "RemoteProtocolError"),
        ("00", "Truncated"),
    ):
        connection = kwire.connection.ClientConnection()
        connection.data_to_send()
        with pytest.raises(kwire.KwireError) as caught:
            receive(connection, framed(text))
        assert type(caught.value).__name__ == error, text
        assert connection.failure is caught.value
        assert connection.data_to_send() == b""


def test_zero_copy_gives_views_of_the_frame(kwire):
    """Records are views of the frame. If zero copy is off, they are bytes."""
    response = kwire.messages.FetchResponse
    message = response(
        responses=[
            response.FetchableTopicResponse(
                topic="t",
                partitions=[
                    response.PartitionData(partition_index=0, records=b"records")
                ],
            )
        ]
    )
    data = kwire.messages.framing.encode_response(message, 11, 0)
    for zero_copy, kind in ((False, bytes), (True, memoryview)):
        connection = make_client(kwire, zero_copy=zero_copy)
        connection.send(kwire.messages.FetchRequest())
        (event,) = receive(connection, data)
        records = event.response.responses[0].partitions[0].records
        assert type(records) is kind and bytes(records) == b"records"


def test_frame_limit_is_an_argument_of_the_client(kwire):
    """A frame that exceeds the limit by one byte is rejected, also in negotiation."""
    data = answer(kwire, 0)
    limits = kwire.Limits(frame_bytes=len(data) - 4)
    connection = make_client(kwire, limits=limits)
    connection.send(metadata(kwire))
    assert len(receive(connection, data)) == 1
    smaller = kwire.Limits(frame_bytes=len(data) - 5)
    for connection in (
        make_client(kwire, limits=smaller),
        kwire.connection.ClientConnection(limits=smaller),
    ):
        with pytest.raises(kwire.LimitExceeded):
            receive(connection, data[:4])


def test_any_buffer_type_is_accepted_as_data(kwire):
    """Sockets write into all buffer types. A string is not a buffer."""
    for make in (bytes, bytearray, memoryview):
        connection = make_client(kwire)
        connection.send(metadata(kwire))
        assert len(receive(connection, make(answer(kwire, 0)))) == 1
    with pytest.raises(TypeError):
        make_client(kwire).receive_data("text")


def test_a_buffer_may_be_used_again_after_the_call(kwire):
    """The connection must copy the content, because ``recv_into`` reuses its buffer."""
    connection = make_client(kwire)
    connection.send(metadata(kwire))
    data = bytearray(answer(kwire, 0, cluster_id="one"))
    events = connection.receive_data(data)
    data[:] = bytes(len(data))
    data.clear()
    (event,) = events
    assert event.response.cluster_id == "one"
