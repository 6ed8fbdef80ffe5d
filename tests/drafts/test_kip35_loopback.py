# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Drafts of KIP-35 over a socket, with peers that may not support them.

A thread serves, and a client strategy sends requests. If both support the draft, the
client ends with the table of the server. If a server closes the connection, sends the
empty response, or has Kafka's behavior, the result is an error of kwire or the fallback
table, but never a table of misread bytes.
"""

import importlib
from typing import NamedTuple

import pytest

from tests.drafts.loopback import ask, negotiate, serving

REQUEST_KEY = 1000
"""API key for drafts B and C in these tests. Their documents do not define one."""

RELEASE = "2.2"


class Parties(NamedTuple):
    """Functions that create both sides of a draft.

    * ``client``: creates a client's strategy.
    * ``server``: creates a server with the versions of ``RELEASE``.
    """

    client: object
    server: object


def parties_of(kwire, name, api_key=REQUEST_KEY):
    draft = importlib.import_module(f"{kwire.__name__}.drafts.{name}")
    releases = importlib.import_module(f"{kwire.__name__}.schema.releases")
    if name == "kip35_api_version":
        newest = [
            version
            for version in releases.protocol_versions()
            if version.release == RELEASE
        ][-1]
        return Parties(draft.ClientStrategy, lambda **o: draft.Server(newest.id, **o))
    if name == "kip35_protocol_version_request":
        offered = draft.supported_apis(releases.ranges(RELEASE))
        return Parties(
            lambda **options: draft.ClientStrategy(api_key, **options),
            lambda **options: draft.Server(api_key, offered, **options),
        )
    table = negotiation_of(kwire).ApiVersionTable.of_release(RELEASE, None)
    return Parties(
        lambda **options: draft.ClientStrategy(api_key, **options),
        lambda **options: draft.Server(api_key, table, **options),
    )


def negotiation_of(kwire):
    return importlib.import_module(f"{kwire.__name__}.connection.negotiation")


def refusal(kwire, strategy, answer, error, match=None):
    """Run a client with an incompatible server, and return the error.

    The client must have no table afterwards.
    """
    with serving(kwire, answer) as address, pytest.raises(error, match=match) as caught:
        negotiate(kwire, strategy, address)
    assert strategy.table is None
    return caught.value


@pytest.fixture(
    params=[
        "kip35_api_version",
        "kip35_protocol_version_request",
        "kip35_api_versions_query",
    ]
)
def parties(kwire, request):
    return parties_of(kwire, request.param)


def kafka(kwire, table, *, reads_spare_bytes=False):
    """Return a server with Kafka's behavior: ApiVersions and Metadata v1 only."""
    negotiation = negotiation_of(kwire)
    response = kwire.messages.MetadataResponse(
        brokers=[
            kwire.messages.MetadataResponse.MetadataResponseBroker(
                node_id=1, host="h", port=9092
            )
        ],
        controller_id=1,
    )

    def answer(frame):
        if frame[:4] == bytes.fromhex("0003 0001"):
            correlation_id = int.from_bytes(frame[4:8], "big")
            return kwire.messages.framing.encode_response(response, 1, correlation_id)
        if frame[:2] != bytes.fromhex("0012"):
            return None
        if reads_spare_bytes:
            header, request = kwire.messages.framing.decode_request(
                frame, compat="java"
            )
            assert (header.request_api_version, request) == (0, type(request)())
            frame = frame[: 10 + len(header.client_id)]
        return negotiation.answer_api_versions(frame, table).frame

    return answer


def test_client_ends_in_the_table_of_the_server(kwire, parties):
    server = parties.server()
    with serving(kwire, server.answer) as address:
        strategy = parties.client()
        table = negotiate(kwire, strategy, address)
    releases = kwire.schema.releases
    assert table is strategy.table
    assert table == server.table
    assert table.ranges() == releases.ranges(RELEASE)
    assert table.pick(kwire.messages.FetchRequest) == 10


def test_one_server_answers_many_connections(kwire, parties):
    server = parties.server()
    with serving(kwire, server.answer) as address:
        tables = [negotiate(kwire, parties.client(), address) for _ in range(20)]
    assert all(table == server.table for table in tables)


def test_a_broker_that_was_upgraded_in_between_has_a_new_table(kwire):
    """A table expires with its connection. The next connection has a new table."""
    draft = importlib.import_module(f"{kwire.__name__}.drafts.kip35_api_version")
    documents = {4: {12: (0, 1)}, 5: {12: (1, 2)}}
    running = [
        draft.Server(number, "0.10.0", documents=documents) for number in documents
    ]
    with serving(kwire, lambda frame: running.pop(0).answer(frame)) as address:
        before = negotiate(kwire, draft.ClientStrategy(documents=documents), address)
        before.expire()
        after = negotiate(kwire, draft.ClientStrategy(documents=documents), address)
    assert after.usable(12) == (1, 2)
    with pytest.raises(kwire.LocalProtocolError):
        before.pick(12)


def test_a_server_that_hangs_up_is_a_typed_error(kwire, parties):
    words = "does not know this draft"
    refusal(
        kwire, parties.client(), lambda frame: None, kwire.RemoteProtocolError, words
    )


def test_an_empty_response_is_an_unsupported_request(kwire, parties):
    """The response only contains a correlation id, as documents 000 and 001 propose."""
    other = parties_of(
        kwire, "kip35_protocol_version_request", REQUEST_KEY + 1
    ).server()
    words = "request not supported by server"
    error = refusal(
        kwire, parties.client(), other.answer, kwire.UnsupportedVersion, words
    )
    assert error.api_key in (3, REQUEST_KEY)


@pytest.mark.parametrize("on_unsupported", ["empty", "close"])
def test_a_client_with_a_fallback_assumes_it(kwire, parties, on_unsupported):
    other = parties_of(kwire, "kip35_protocol_version_request", REQUEST_KEY + 1)
    answer = other.server(on_unsupported=on_unsupported).answer
    with serving(kwire, answer) as address:
        table = negotiate(kwire, parties.client(fallback="0.9.0.1"), address)
    assert table == negotiation_of(kwire).fallback_table("0.9.0")


def test_fallback_release_with_api_versions_is_ignored(kwire, parties):
    client = parties.client(fallback="2.8")
    refusal(kwire, client, lambda frame: None, kwire.RemoteProtocolError)


def test_an_answer_with_another_correlation_id_is_refused(kwire, parties):
    server = parties.server()

    def confused(frame):
        reply = bytearray(server.answer(frame))
        reply[7] ^= 1
        return bytes(reply)

    error = kwire.RemoteProtocolError
    refusal(kwire, parties.client(), confused, error, "expected 0, got 1")


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ("00000000", "RemoteProtocolError"),
        ("00000000 00000000", "RemoteProtocolError"),
        ("00000002 0000", "Truncated"),
        ("00000005 00000000 00", "DecodeError"),
        ("ffffffff", "InvalidLength"),
        ("7fffffff", "LimitExceeded"),
        ("00000100 00000000", "RemoteProtocolError"),
    ],
    ids=lambda value: value.replace(" ", "-"),
)
def test_invalid_responses_end_in_typed_errors(kwire, parties, reply, error):
    """Covers empty frames in both other formats, missing bytes, and wrong sizes.

    An incomplete frame ends with its connection.
    """

    def answer(frame):
        answers.append(frame)
        return bytes.fromhex(reply) if len(answers) == 1 else None

    answers = []
    question = parties.client()
    # The server responds to the first request, and closes the connection on the second.
    data = question.data_to_send()
    with serving(kwire, answer) as address, pytest.raises(getattr(kwire, error)):
        frame = ask(kwire, address, data * 2)
        if frame is None:
            question.connection_lost()
        question.receive_frame(frame)
    assert question.table is None


def test_draft_a_rejects_the_response_of_kafka(kwire):
    """Kafka decodes the request as its own, and the client rejects its response."""
    table = negotiation_of(kwire).ApiVersionTable.of_release("2.8")
    client = parties_of(kwire, "kip35_api_version").client()
    refusal(kwire, client, kafka(kwire, table), kwire.DecodeError)


@pytest.mark.parametrize(
    "name", ["kip35_protocol_version_request", "kip35_api_versions_query"]
)
def test_kafka_closes_connections_of_drafts_b_and_c(kwire, name):
    """Kafka closes the connection because it does not know the API key."""
    table = negotiation_of(kwire).ApiVersionTable.of_release("2.8")
    client = parties_of(kwire, name).client()
    refusal(kwire, client, kafka(kwire, table), kwire.RemoteProtocolError)


@pytest.mark.parametrize("reads_spare_bytes", [True, False])
@pytest.mark.parametrize(
    "name", ["kip35_protocol_version_request", "kip35_api_versions_query"]
)
def test_drafts_b_and_c_meet_kafka_at_the_key_of_api_versions(
    kwire, name, reads_spare_bytes
):
    """Draft B has the same bytes as ApiVersions v0. Draft C has additional bytes."""
    table = negotiation_of(kwire).ApiVersionTable.of_release("2.8")
    answer = kafka(kwire, table, reads_spare_bytes=reads_spare_bytes)
    closes = name == "kip35_api_versions_query" and not reads_spare_bytes
    expected = kwire.RemoteProtocolError if closes else kwire.TrailingBytes
    refusal(kwire, parties_of(kwire, name, 18).client(), answer, expected)


@pytest.mark.parametrize("key", [18, REQUEST_KEY])
@pytest.mark.parametrize("on_unsupported", ["empty", "close"])
@pytest.mark.parametrize(
    "name",
    ["kip35_api_version", "kip35_protocol_version_request", "kip35_api_versions_query"],
)
def test_released_client_rejects_every_draft(kwire, name, on_unsupported, key):
    """The handshake ends with an error, whatever API key the draft uses."""
    server = parties_of(kwire, name, key).server(on_unsupported=on_unsupported)
    handshake = negotiation_of(kwire).ApiVersionsHandshake()
    refused = pytest.raises(kwire.errors.KwireError)
    with serving(kwire, server.answer) as address, refused:
        for _ in range(10):
            frame = ask(kwire, address, handshake.data_to_send())
            if frame is None:
                handshake.connection_lost()
            handshake.receive_frame(frame)
    assert handshake.table is None


def test_released_metadata_client_rejects_draft_a(kwire):
    server = parties_of(kwire, "kip35_api_version").server()
    request = kwire.messages.MetadataRequest(topics=None)
    with serving(kwire, server.answer) as address:
        data = kwire.messages.framing.encode_request(request, 1, 7)
        frame = ask(kwire, address, data)
    with pytest.raises(kwire.DecodeError):
        kwire.messages.framing.decode_response(
            kwire.messages.MetadataResponse, frame, 1
        )


def others_of(kwire, client):
    """Return the names of the drafts that a client does not implement."""
    names = (
        "kip35_api_version",
        "kip35_protocol_version_request",
        "kip35_api_versions_query",
    )
    modules = [f"{kwire.__name__}.drafts.{name}" for name in names]
    assert type(client).__module__ in modules
    return [
        name
        for name, module in zip(names, modules, strict=True)
        if module != type(client).__module__
    ]


def test_each_draft_meets_the_servers_of_the_others(kwire, parties):
    for name in others_of(kwire, parties.client()):
        answer = parties_of(kwire, name).server().answer
        refusal(kwire, parties.client(), answer, kwire.errors.KwireError)


def test_no_draft_reads_the_answer_of_another(kwire, parties):
    """Where drafts have the same API key and version, their layouts are different."""
    for name in others_of(kwire, parties.client()):
        other = parties_of(kwire, name)
        answer = other.server().answer(other.client().data_to_send()[4:])
        with pytest.raises(kwire.DecodeError):
            parties.client().receive_frame(answer[4:])


def test_strategy_accepts_one_response(kwire, parties):
    server = parties.server()
    strategy = parties.client()
    with serving(kwire, server.answer) as address:
        frame = ask(kwire, address, strategy.data_to_send())
    assert strategy.data_to_send() == b""
    strategy.receive_frame(frame)
    for again in (lambda: strategy.receive_frame(frame), strategy.connection_lost):
        with pytest.raises(kwire.LocalProtocolError, match="exchange is complete"):
            again()


def test_servers_refuse_requests_that_are_cut_or_too_long(kwire, parties):
    server = parties.server()
    frame = parties.client().data_to_send()[4:]
    for size in range(len(frame)):
        with pytest.raises(kwire.DecodeError):
            server.answer(frame[:size])
    with pytest.raises(kwire.DecodeError):
        server.answer(frame + b"\0")


@pytest.mark.parametrize("position", [1, 3], ids=["key", "version"])
def test_servers_respond_empty_or_close_on_unsupported_requests(
    kwire, parties, position
):
    """Covers an unknown API key, and an unknown version in the supported API."""
    unknown = bytearray(parties.client(correlation_id=7).data_to_send()[4:])
    unknown[position] ^= 0x10
    empty = bytes.fromhex("00000004 00000007")
    assert parties.server(on_unsupported="empty").answer(bytes(unknown)) == empty
    assert parties.server(on_unsupported="close").answer(bytes(unknown)) is None


def test_servers_reject_other_on_unsupported_values(parties):
    with pytest.raises(TypeError, match='"empty" or "close"'):
        parties.server(on_unsupported="ignore")
