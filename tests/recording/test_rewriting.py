# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Responses that contain broker addresses get the relay's address in all versions.

Clients must never receive an address that bypasses the relay, and all other fields must
remain unchanged.
"""

import pytest

from kwire import error_codes, messages
from kwire.messages import (
    ApiVersionsResponse,
    DescribeClusterResponse,
    FetchResponse,
    FindCoordinatorResponse,
    MetadataResponse,
    ProduceResponse,
    ShareAcknowledgeResponse,
    ShareFetchResponse,
    framing,
)
from kwire.recording.pairing import Header
from kwire.recording.rewriting import limit_versions, read_answer
from kwire.schema import registry

BROKER, OTHER, RELAY = ("kafka-1", 9092), ("kafka-2", 9092), ("127.0.0.1", 40001)

LISTS = {
    MetadataResponse: ("brokers", "MetadataResponseBroker", 0),
    DescribeClusterResponse: ("brokers", "DescribeClusterBroker", 0),
    FindCoordinatorResponse: ("coordinators", "Coordinator", 4),
    ProduceResponse: ("node_endpoints", "NodeEndpoint", 10),
    FetchResponse: ("node_endpoints", "NodeEndpoint", 16),
    ShareFetchResponse: ("node_endpoints", "NodeEndpoint", 0),
    ShareAcknowledgeResponse: ("node_endpoints", "NodeEndpoint", 0),
}
OF_OTHERS = {
    "DescribeQuorumResponse": "controllers, for people",
    "StreamsGroupHeartbeatResponse": "what applications tell each other",
    "StreamsGroupDescribeResponse": "what applications tell each other",
    "VoteResponse": "between controllers",
    "BeginQuorumEpochResponse": "between controllers",
    "EndQuorumEpochResponse": "between controllers",
    "FetchSnapshotResponse": "between controllers",
    "UpdateRaftVoterResponse": "between controllers",
}


def versions_with_brokers():
    for cls, (attribute, struct, first) in LISTS.items():
        for version in range(cls.valid_versions.min, cls.valid_versions.max + 1):
            if version >= first:
                yield pytest.param(
                    cls, version, attribute, struct, id=f"{cls.__name__}-{version}"
                )


def answer_of(cls, version, attribute, struct, *addresses):
    nodes = [getattr(cls, struct)(host=host, port=port) for host, port in addresses]
    return framing.encode_response(cls(**{attribute: nodes}), version, 9)[4:]


def decode_frame(cls, frame, version):
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    correlation_id, message = framing.decode_response(cls, frame[4:], version)
    assert correlation_id == 9
    return message


def test_every_answer_with_an_address_is_known():
    """The relay knows all responses that contain a host and a port.

    The test fails if a new release adds another one.
    """
    with_address = {
        message.name
        for key in registry.keys("response")
        for message in [registry.load(registry.find_by_key(key, "response").name)]
        for struct in [message.struct, *message.structs()]
        if {"Host", "Port"} <= {field.name for field in struct.fields}
    }
    assert with_address == {cls.__name__ for cls in LISTS} | OF_OTHERS.keys()


@pytest.mark.parametrize(
    ("cls", "version", "attribute", "struct"), list(versions_with_brokers())
)
def test_brokers_become_listeners_in_every_version(cls, version, attribute, struct):
    """Brokers with a listener get its address. All other brokers keep their address."""
    frame = answer_of(cls, version, attribute, struct, BROKER, OTHER)
    answer = read_answer(Header(cls.api_key, version), frame)
    assert answer.addresses == {BROKER, OTHER}
    message = decode_frame(cls, answer.write({BROKER: RELAY}), version)
    nodes = getattr(message, attribute)
    assert [(node.host, node.port) for node in nodes] == [RELAY, OTHER]
    original_nodes = [nodes[0].replace(host=BROKER[0], port=BROKER[1]), nodes[1]]
    again = framing.encode_response(
        message.replace(**{attribute: original_nodes}), version, 9
    )
    assert again[4:] == frame


@pytest.mark.parametrize("version", range(4))
def test_coordinator_address_in_old_responses_is_rewritten(version):
    message = FindCoordinatorResponse(node_id=1, host=BROKER[0], port=BROKER[1])
    frame = framing.encode_response(message, version, 9)[4:]
    answer = read_answer(Header(FindCoordinatorResponse.api_key, version), frame)
    assert answer.addresses == {BROKER}
    response = decode_frame(
        FindCoordinatorResponse, answer.write({BROKER: RELAY}), version
    )
    assert (response.host, response.port) == RELAY


@pytest.mark.parametrize("version", [3, 4])
def test_a_coordinator_that_was_not_found_stays_as_it_is(version):
    message = FindCoordinatorResponse(host="", port=-1, error_code=15)
    if version == 4:
        lost = FindCoordinatorResponse.Coordinator(host="", port=-1, error_code=15)
        message = FindCoordinatorResponse(coordinators=[lost])
    frame = framing.encode_response(message, version, 9)[4:]
    answer = read_answer(Header(FindCoordinatorResponse.api_key, version), frame)
    assert answer.addresses == set()
    assert answer.write({BROKER: RELAY}) is None


@pytest.mark.parametrize(
    ("cls", "version"), [(FetchResponse, 16), (MetadataResponse, 9)]
)
def test_response_without_changes_is_not_rewritten(cls, version):
    attribute, struct, _ = LISTS[cls]
    frame = answer_of(cls, version, attribute, struct, RELAY)
    answer = read_answer(Header(cls.api_key, version), frame)
    assert answer.write({BROKER: RELAY}) is None
    frame = answer_of(cls, version, attribute, struct)
    assert read_answer(Header(cls.api_key, version), frame).write({}) is None


def test_responses_without_addresses_are_not_decoded():
    for cls, version in ((ProduceResponse, 9), (FetchResponse, 15)):
        assert read_answer(Header(cls.api_key, version), b"not a frame") is None
    assert read_answer(Header(messages.HeartbeatResponse.api_key, 0), b"") is None
    assert read_answer(Header(), b"") is None


def test_tagged_fields_of_the_future_survive():
    message = MetadataResponse(
        brokers=[MetadataResponse.MetadataResponseBroker(host="kafka-1", port=9092)],
    ).replace(unknown_tagged_fields=((77, b"new"),))
    frame = framing.encode_response(message, 12, 9)[4:]
    answer = read_answer(Header(3, 12), frame)
    survived = decode_frame(MetadataResponse, answer.write({BROKER: RELAY}), 12)
    assert survived.unknown_tagged_fields == ((77, b"new"),)


def test_a_version_of_the_future_is_an_error():
    """A response in an unknown version raises an error.

    The relay then forwards it unchanged, and reports the error.
    """
    from kwire import UnsupportedVersion

    with pytest.raises(UnsupportedVersion):
        read_answer(Header(3, 99), bytes(40))


def offer(*ranges, version=3, **fields):
    api = ApiVersionsResponse.ApiVersion
    message = ApiVersionsResponse(
        api_keys=[api(api_key=k, min_version=a, max_version=b) for k, a, b in ranges],
        **fields,
    )
    return framing.encode_response(message, version, 9)[4:]


@pytest.mark.parametrize("version", range(5))
def test_versions_that_cannot_be_rewritten_are_not_offered(version):
    newest = MetadataResponse.valid_versions.max
    frame = offer((0, 0, 3), (3, 0, newest + 2), (19, 0, 99), version=version)
    changed, words = limit_versions(Header(18, version), frame)
    response = decode_frame(ApiVersionsResponse, changed, version)
    version_ranges = [
        (api.api_key, api.min_version, api.max_version) for api in response.api_keys
    ]
    assert version_ranges == [(0, 0, 3), (3, 0, newest), (19, 0, 99)]
    assert words == [f"Metadata {newest + 1}-{newest + 2}"]


def test_an_offer_that_kwire_knows_passes_as_it_is():
    newest = MetadataResponse.valid_versions.max
    assert limit_versions(Header(18, 3), offer((3, 0, newest), (19, 0, 99))) is None
    # The broker supports no version that the relay knows. The response is unchanged, so
    # that the client detects this.
    assert limit_versions(Header(18, 3), offer((3, newest + 1, newest + 2))) is None


def test_a_refusal_in_version_0_is_left_alone():
    """Error 35 is always in version 0 (KIP-511)."""
    frame = offer((18, 0, 3), version=0, error_code=error_codes.UNSUPPORTED_VERSION)
    assert limit_versions(Header(18, 4), frame) is None
