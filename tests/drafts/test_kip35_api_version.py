# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""KIP-35, document 000: a number in Metadata v1 identifies a version table.

Covers the document's bytes, what its numbers mean, and how the draft can be confused
with Kafka's Metadata v1.
"""

import importlib

import pytest

from tests.harness.sweeps import sweep

RESPONSE = bytes.fromhex(
    "0004 000a 302e31302e302d495630 00000001 00000001 000168 00002384 00000000"
)
"""Id 4, "0.10.0-IV0", one broker 1 at h:9092, no topics."""

RELEASED_RESPONSE = bytes.fromhex(
    "00000001 00000001 000168 00002384 ffff 00000001 00000000"
)
"""Kafka's Metadata v1 of the same cluster."""

REQ_A = 12
"""API key for the document's REQ_A in these tests."""

DOCUMENTS = {4: {REQ_A: (0, 1)}, 5: {REQ_A: (1, 2)}}
"""The two sample protocol documentations of the document."""


@pytest.fixture
def draft(kwire):
    return importlib.import_module(f"{kwire.__name__}.drafts.kip35_api_version")


def response_of(draft, number=4, text="0.10.0-IV0", **fields):
    """Return a Metadata response with a protocol version and a build description."""
    version = draft.MetadataResponse.ApiVersion(
        protocol_version=number, build_description=text
    )
    return draft.MetadataResponse(api_version=version, **fields)


def one_broker(draft):
    row = draft.MetadataResponse.BrokerEndPoint(node_id=1, host="h", port=9092)
    return response_of(draft, brokers=[row])


def talk(strategy, server):
    """Send the client's request to the server without a socket.

    Return the result of the client's strategy for the response.
    """
    return strategy.receive_frame(server.answer(strategy.data_to_send()[4:])[4:])


def topic(draft, name):
    return draft.MetadataResponse.TopicMetadata(name=name)


def test_response_has_the_bytes_of_the_document(kwire, draft):
    assert kwire.encode(one_broker(draft), 1) == RESPONSE
    assert draft.decode(RESPONSE) == one_broker(draft)


def test_request_has_the_same_bytes_as_the_released_one(kwire, draft):
    """Including the header, a server cannot distinguish both requests."""
    request = draft.ClientStrategy(client_id="kw", correlation_id=7).data_to_send()
    released = kwire.messages.MetadataRequest(topics=None)
    assert request == kwire.messages.framing.encode_request(released, 1, 7, "kw")
    assert request.endswith(bytes.fromhex("ffffffff"))


def test_objects_report_that_they_were_never_released(draft):
    assert draft.PROVENANCE.released is False
    assert str(draft.PROVENANCE) == (
        "KIP-35, one protocol version per broker, in Metadata v1 (document"
        " 000), never released"
    )


def test_the_registry_does_not_know_the_draft(kwire, draft):
    assert kwire.messages.by_key(3, "response") is not draft.MetadataResponse
    assert kwire.messages.by_key(3, "request") is not draft.MetadataRequest


@pytest.mark.parametrize(("number", "usable"), [(4, (0, 1)), (5, (1, 2))])
def test_the_number_of_each_broker_gives_its_versions(draft, number, usable):
    """In the document's example, A has versions 0 and 1, and B has 1 and 2."""
    server = draft.Server(number, "0.10.0", documents=DOCUMENTS)
    strategy = draft.ClientStrategy(documents=DOCUMENTS)
    table = talk(strategy, server)
    assert table.usable(REQ_A) == usable
    assert table.pick(REQ_A) == usable[-1]
    assert table == server.table


def test_id_4_is_the_first_build_of_0_10_0(kwire, draft):
    """Without ``documents``, the protocol versions are those of Kafka's builds."""
    server = draft.Server("0.10.0-IV0")
    strategy = draft.ClientStrategy()
    table = talk(strategy, server)
    assert strategy.response.api_version.protocol_version == 4
    assert strategy.response.api_version.build_description == "0.10.0-IV0"
    assert table.ranges() == kwire.schema.releases.ranges("0.10.0")


def test_every_protocol_version_leads_to_the_table_of_its_release(kwire, draft):
    for protocol_version in kwire.schema.releases.protocol_versions():
        server = draft.Server(protocol_version.id)
        table = talk(draft.ClientStrategy(), server)
        assert table.ranges() == kwire.schema.releases.ranges(
            protocol_version.release
        ), protocol_version


@pytest.mark.parametrize("number", [-1, 6, 32767])
def test_protocol_version_without_documentation_has_no_table(kwire, draft, number):
    """An unknown number is an error, and the client has no table.

    The versions of a lower number must not be used, because an upgrade may have removed
    some of them.
    """
    strategy = draft.ClientStrategy(documents=DOCUMENTS)
    frame = bytes(4) + kwire.encode(response_of(draft, number), 1)
    with pytest.raises(kwire.UnsupportedVersion, match=f"version {number}"):
        strategy.receive_frame(frame)
    assert strategy.table is None


def test_unknown_protocol_version_is_rejected(kwire, draft):
    strategy = draft.ClientStrategy()
    frame = bytes(4) + kwire.encode(response_of(draft, 32767), 1)
    with pytest.raises(kwire.UnsupportedVersion, match="32767"):
        strategy.receive_frame(frame)


def test_a_server_needs_a_protocol_version_that_exists(draft):
    with pytest.raises(KeyError):
        draft.Server("0.10.0-IV99")


@pytest.mark.parametrize(
    ("requested_names", "expected_names"),
    [(None, []), ((), ["a", "b"]), (("b",), ["b"]), (("b", "x"), ["b", "x"])],
)
def test_null_topics_request_only_the_version(
    kwire, draft, requested_names, expected_names
):
    """Null requests no topics, and an empty list requests all, as in Metadata v0."""
    topics = [topic(draft, "a"), topic(draft, "b")]
    server = draft.Server(4, "0.10.0", documents=DOCUMENTS, topics=topics)
    body = kwire.encode(draft.MetadataRequest(topics=requested_names), 1)
    frame = bytes.fromhex("0003 0001 00000007 ffff") + body
    topics_of_response = draft.decode(server.answer(frame), 8).topics
    assert [topic.name for topic in topics_of_response] == expected_names
    assert [topic.name for topic in topics_of_response if topic.error_code == 3] == (
        ["x"] if "x" in expected_names else []
    )


@pytest.mark.parametrize(
    "text", ["0.8.2.X", "0.9.0.X", "0.10.0-IV0", "1.0-IV0", "0.10.1.1", "4.4"]
)
def test_release_names_are_valid_build_descriptions(kwire, draft, text):
    data = kwire.encode(response_of(draft, text=text), 1)
    assert draft.decode(data).api_version.build_description == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "kafka",
        "0.10.0-IV",
        "0.10.0-IV0 ",
        "1.0\n",
        "\0",
        "\u0660.\u0661",
        ".1",
    ],
)
def test_invalid_build_descriptions_are_rejected(kwire, draft, text):
    data = kwire.encode(response_of(draft, text=text), 1)
    with pytest.raises(
        kwire.InvalidValue, match="must be the name of a release"
    ) as caught:
        draft.decode(b"1234" + data, 4)
    assert caught.value.path == "api_version.build_description"
    assert caught.value.offset == 4 + 4
    assert (caught.value.message_name, caught.value.version) == ("MetadataResponse", 1)


@pytest.mark.parametrize("number", range(1, 22))
def test_draft_read_as_released_metadata_fails(kwire, draft, number):
    """Id and text length are read as an impossible broker count."""
    data = kwire.encode(
        one_broker(draft).replace(
            api_version=draft.MetadataResponse.ApiVersion(
                protocol_version=number, build_description="0.10.0-IV0"
            )
        ),
        1,
    )
    with pytest.raises(kwire.InvalidLength) as caught:
        kwire.decode(kwire.messages.MetadataResponse, data, 1)
    assert (caught.value.offset, caught.value.path) == (0, "brokers")


def test_draft_of_the_oldest_broker_read_as_released_metadata_fails(kwire, draft):
    """Id 0 results in a possible broker count, but in an invalid host."""
    data = kwire.encode(response_of(draft, 0, "0.8.0.X", brokers=[]), 1)
    with pytest.raises(kwire.DecodeError):
        kwire.decode(kwire.messages.MetadataResponse, data, 1)


def test_released_metadata_read_as_draft_fails(kwire, draft):
    cls = kwire.messages.MetadataResponse
    assert kwire.decode(cls, RELEASED_RESPONSE, 1).controller_id == 1
    with pytest.raises(kwire.DecodeError):
        draft.decode(RELEASED_RESPONSE)


@sweep("brokers", range(12))
@sweep("node_id", [0, 1, 1001, 0x312E3200, 0x312E3232])
def test_released_metadata_of_any_cluster_read_as_draft_fails(
    kwire, draft, brokers, node_id
):
    """Includes node ids whose bytes are the name of a release ("1.2")."""
    cls = kwire.messages.MetadataResponse
    response = cls(
        brokers=[
            cls.MetadataResponseBroker(node_id=node_id + n, host=f"b{n}", port=9092)
            for n in range(brokers)
        ],
        controller_id=node_id,
    )
    with pytest.raises(kwire.DecodeError):
        draft.decode(kwire.encode(response, 1))


def test_every_shorter_and_every_longer_input_is_refused(kwire, draft):
    for size in range(len(RESPONSE)):
        with pytest.raises(kwire.DecodeError):
            draft.decode(RESPONSE[:size])
    with pytest.raises(kwire.TrailingBytes) as caught:
        draft.decode(RESPONSE + b"\0")
    assert caught.value.offset == len(RESPONSE)


def test_changed_bytes_give_a_response_or_a_typed_error(kwire, draft):
    refused = 0
    for position in range(len(RESPONSE)):
        for value in (0x00, 0x7F, 0x80, 0xFF):
            data = RESPONSE[:position] + bytes([value]) + RESPONSE[position + 1 :]
            try:
                draft.decode(data)
            except kwire.DecodeError:
                refused += 1
    assert refused > len(RESPONSE)
