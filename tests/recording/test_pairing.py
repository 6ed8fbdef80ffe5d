# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Pairs of requests and responses, and frames that contain secrets.

Protects against passwords on the disk, for all ways in which SASL sends passwords.
Responses must be decoded in the request's version.
"""

import pytest

from kwire import messages
from kwire.messages import framing
from kwire.recording.pairing import Conversation, Header
from kwire.schema import registry

NOTHING = Header()


def request(message, version, correlation_id=1, client_id="shop"):
    return framing.encode_request(message, version, correlation_id, client_id)[4:]


def answer(message, version, correlation_id=1):
    return framing.encode_response(message, version, correlation_id)[4:]


def produce(acks, correlation_id, version=9):
    return request(messages.ProduceRequest(acks=acks), version, correlation_id)


def test_an_answer_has_the_header_of_its_request():
    talk = Conversation()
    request_header = talk.request(request(messages.MetadataRequest(), 12, 7))
    assert request_header == (Header(3, 12, 7, "shop"), False)
    assert talk.response(b"\0\0\0\x07rest") == request_header


def test_repeated_id_belongs_to_the_first_open_request():
    """Responses are in order, so the first request with the id is used."""
    talk = Conversation()
    talk.request(request(messages.MetadataRequest(), 12, 0))
    talk.request(request(messages.FetchRequest(), 11, 0))
    keys = [talk.response(bytes(8))[0].api_key for _ in range(2)]
    assert keys == [3, 1]


@pytest.mark.parametrize("version", [3, 9, 13])
def test_requests_without_an_answer_are_not_waited_for(version):
    """A Produce request with acks 0 must not get the response of the next request."""
    talk = Conversation()
    talk.request(produce(0, 5, version))
    talk.request(request(messages.HeartbeatRequest(), 4, 5))
    assert talk.response(b"\0\0\0\x05")[0].api_key == messages.HeartbeatRequest.api_key


def test_skipped_requests_are_removed():
    talk = Conversation()
    for number in range(3):
        talk.request(request(messages.HeartbeatRequest(), 4, number))
    assert talk.response(b"\0\0\0\x02")[0].correlation_id == 2
    assert talk.response(b"\0\0\0\x01") == (Header(correlation_id=1), False)


def test_response_without_a_request_has_only_a_correlation_id():
    talk = Conversation()
    assert talk.response(b"\xff\xff\xff\xff--") == (Header(correlation_id=-1), False)
    assert talk.response(b"\0") == (NOTHING, False)


def test_frames_that_are_not_kafka_are_described_partially():
    talk = Conversation()
    assert talk.request(b"\x7f\x00\x00\x01") == (NOTHING, False)
    unknown = b"\x7f\x00\x00\x01\0\0\0\x09\0\x02me\xff\xff"
    assert talk.request(unknown) == (Header(0x7F00, 1, 9, "me"), False)
    odd = b"\0\x03\0\x0c\0\0\0\x01\0\x09short"
    assert talk.request(odd) == (Header(3, 12, 1, None), False)


def test_the_one_header_without_a_client_id():
    talk = Conversation()
    frame = b"\0\x07\0\0\0\0\0\x01\0\x02me"
    assert talk.request(frame) == (Header(7, 0, 1, None), False)


def test_number_of_awaited_responses_is_limited():
    talk = Conversation()
    frame = request(messages.HeartbeatRequest(), 4, 1)
    for _ in range(70_000):
        talk.request(frame)
    assert len(talk._awaited) < 70_000


SECRET = b"\0shop\0sesame"


@pytest.mark.parametrize("version", [0, 1, 2])
def test_tokens_in_frames_with_headers_are_secret(version):
    talk = Conversation()
    handshake = messages.SaslHandshakeRequest(mechanism="PLAIN")
    assert not talk.request(request(handshake, 1, 1))[1]
    assert not talk.response(answer(messages.SaslHandshakeResponse(), 1, 1))[1]
    token = messages.SaslAuthenticateRequest(auth_bytes=SECRET)
    header, is_secret = talk.request(request(token, version, 2))
    assert is_secret and header.api_key == 36
    done = messages.SaslAuthenticateResponse(auth_bytes=b"v=proof")
    assert talk.response(answer(done, version, 2)) == (header, True)
    assert not talk.request(request(messages.MetadataRequest(), 12, 3))[1]


def test_a_token_whose_version_is_unknown_is_secret_too():
    talk = Conversation()
    header, is_secret = talk.request(b"\0\x24\0\x63\0\0\0\x01\xff\xff" + SECRET)
    assert is_secret and header.api_version == 99


def raw(talk, *turns):
    """Exchange tokens without headers.

    ``turns`` contains (client token, server token) pairs, which must all be secret.
    """
    for token, reply in turns:
        assert talk.request(token) == (NOTHING, True)
        assert talk.response(reply) == (NOTHING, True)


@pytest.mark.parametrize(
    "turns",
    [
        [(SECRET, b"")],
        [(b"n,,n=shop,r=abc", b"r=abcd,s=salt,i=1"), (b"c=biws,p=x", b"v=y")],
        [(b"\x60\x82\x01", b"\x60\x01"), (b"", b"\5\4\0\xff"), (b"\5\4", b"")],
    ],
    ids=["PLAIN", "SCRAM", "GSSAPI"],
)
def test_tokens_without_headers_are_secret(turns):
    """Raw tokens start after a handshake of version 0, until the next request."""
    talk = Conversation()
    handshake = messages.SaslHandshakeRequest(mechanism="PLAIN")
    header = talk.request(request(handshake, 0, 1))
    assert talk.response(answer(messages.SaslHandshakeResponse(), 0, 1)) == header
    raw(talk, *turns)
    header = talk.request(request(messages.MetadataRequest(), 12, 2))
    assert header == (Header(3, 12, 2, "shop"), False)
    assert talk.response(b"\0\0\0\x02--") == header


@pytest.mark.parametrize("version", [0, 1, 2, 99, -1])
def test_tokens_without_headers_are_secret_after_any_handshake(version):
    """Some clients confuse handshake versions, and newer versions may exist."""
    for token in (SECRET, b"n,,n=shop,r=abc", b"", b"\0$oo\0sesame", b"\0A\0pw"):
        talk = Conversation()
        header = talk.request(
            b"\0\x11" + version.to_bytes(2, "big", signed=True) + b"\0\0\0\1\0\2me"
        )
        assert header[0].correlation_id == 1
        assert talk.response(b"\0\0\0\1\0\0") == header
        raw(talk, (token, b""), (SECRET, b"v=proof"))
        # The response belongs to no request, so that it may also be a token.
        assert talk.response(b"v=proof") == (NOTHING, True)
        header = talk.request(request(messages.MetadataRequest(), 12, 2))
        assert header == (Header(3, 12, 2, "shop"), False)
        assert talk.response(b"\0\0\0\x02--") == header
        assert talk.response(b"\0\0\0\x09") == (Header(correlation_id=9), False)


def test_tokens_without_headers_are_secret_after_one_that_has_it():
    talk = Conversation()
    handshake = messages.SaslHandshakeRequest(mechanism="SCRAM-SHA-256")
    talk.request(request(handshake, 1, 1))
    talk.response(answer(messages.SaslHandshakeResponse(), 1, 1))
    token = messages.SaslAuthenticateRequest(auth_bytes=SECRET)
    assert talk.request(request(token, 2, 2))[1]
    assert talk.response(answer(messages.SaslAuthenticateResponse(), 2, 2))[1]
    raw(talk, (b"c=biws,p=proof", b"v=proof"))


@pytest.mark.parametrize("version", [2, 99, -1])
def test_handshakes_of_unknown_versions_are_secret(version):
    """A newer handshake may contain the first token. Only its header is kept."""
    talk = Conversation()
    frame = request(messages.SaslHandshakeRequest(mechanism="PLAIN"), 1, 3) + SECRET
    frame = frame[:2] + version.to_bytes(2, "big", signed=True) + frame[4:]
    assert talk.request(frame) == (Header(17, version, 3, "shop"), True)
    assert talk.response(b"\0\0\0\3" + SECRET)[1]


def test_bytes_after_a_request_are_secret_during_sasl():
    """During SASL, a frame with bytes after its request is secret.

    It may be a token whose first bytes look like a request.
    """
    start = request(messages.ApiVersionsRequest(), 0, 2)
    handshake = request(messages.SaslHandshakeRequest(mechanism="PLAIN"), 1, 1)
    talk = Conversation()
    assert not talk.request(handshake)[1]
    assert talk.request(start + SECRET) == (NOTHING, True)
    assert talk.request(start) == (Header(18, 0, 2, "shop"), False)
    assert Conversation().request(handshake + SECRET)[1]


def envelope(inner, times=1, correlation_id=1):
    """Return a request that is wrapped in ``times`` nested Envelope requests."""
    for _ in range(times):
        around = messages.EnvelopeRequest(request_data=inner)
        inner = request(around, 0, correlation_id)
    return inner


@pytest.mark.parametrize("times", [1, 2, 4])
def test_secrets_within_envelopes_are_secret(times):
    """A request in an Envelope is as secret as without it, and so is its response."""
    for inner_message, expected in (
        (messages.SaslAuthenticateRequest(auth_bytes=SECRET), (True, True)),
        (messages.AlterUserScramCredentialsRequest(), (True, False)),
        (messages.CreateDelegationTokenRequest(), (False, True)),
        (messages.RenewDelegationTokenRequest(hmac=SECRET), (True, False)),
        (messages.IncrementalAlterConfigsRequest(), (True, False)),
        (messages.CreateTopicsRequest(), (False, False)),
    ):
        talk = Conversation()
        inner = request(inner_message, inner_message.valid_versions.max, 9)
        header, is_secret = talk.request(envelope(inner, times))
        assert header == Header(58, 0, 1, "shop")
        assert (is_secret, talk.response(b"\0\0\0\1")[1]) == expected


@pytest.mark.parametrize(
    "inner",
    [
        b"",
        SECRET,
        b"\0\x24\0\x63\0\0\0\x01\xff\xff" + SECRET,
        b"\0\x03\0\x63\0\0\0\x01\xff\xff" + SECRET,
        b"\x7f\0\0\0\0\0\0\x01\xff\xff" + SECRET,
        envelope(request(messages.MetadataRequest(), 12), 60),
    ],
    ids=["empty", "token", "version", "version of no secret", "API", "too deep"],
)
def test_undecodable_envelopes_are_secret(inner):
    """If an Envelope's content cannot be decoded, request and response are secret."""
    talk = Conversation()
    assert talk.request(envelope(inner)) == (Header(58, 0, 1, "shop"), True)
    assert talk.response(b"\0\0\0\1")[1]
    talk = Conversation()
    assert talk.request(b"\0\x3a\0\x09\0\0\0\x01\xff\xff\0" + inner)[1]
    assert talk.response(b"\0\0\0\1")[1]


def test_secret_messages_are_those_of_the_definitions():
    """The definitions mark secret messages of an API, for all versions."""
    secret = set()
    for api_key in registry.keys("request"):
        talk = Conversation()
        name = registry.find_by_key(api_key, "request").name
        head = api_key.to_bytes(2, "big") + b"\0\x63\0\0\0\x01\xff\xff"
        if talk.request(head)[1]:
            secret.add(name)
        if talk.response(b"\0\0\0\1")[1]:
            secret.add(name.replace("Request", "Response"))
    assert secret == {
        "AlterConfigsRequest",
        "AlterUserScramCredentialsRequest",
        "CreateDelegationTokenResponse",
        "DescribeDelegationTokenResponse",
        "EnvelopeRequest",
        "EnvelopeResponse",
        "ExpireDelegationTokenRequest",
        "FetchSnapshotResponse",
        "IncrementalAlterConfigsRequest",
        "RenewDelegationTokenRequest",
        "SaslAuthenticateRequest",
        "SaslAuthenticateResponse",
        # In versions that kwire knows, these messages contain no secret.
        "SaslHandshakeRequest",
        "SaslHandshakeResponse",
    }


def test_kerberos_tokens_without_any_handshake_are_secret():
    talk = Conversation()
    raw(talk, (b"\x60\x82\x01\x02", b"\x60\x01"), (b"more", b"again"))
    assert not talk.request(request(messages.MetadataRequest(), 1, 2))[1]


def test_credentials_in_other_messages_are_secret():
    """Messages with salted passwords or keys of delegation tokens are secret.

    These values prove an identity.
    """
    talk = Conversation()
    alter = messages.AlterUserScramCredentialsRequest()
    assert talk.request(request(alter, 0))[1]
    assert not talk.response(b"\0\0\0\x01")[1]
    for name in ("RenewDelegationToken", "ExpireDelegationToken"):
        assert talk.request(request(getattr(messages, f"{name}Request")(), 2))[1]
        assert not talk.response(b"\0\0\0\x01")[1]
    for name in ("CreateDelegationToken", "DescribeDelegationToken"):
        assert not talk.request(request(getattr(messages, f"{name}Request")(), 2))[1]
        assert talk.response(b"\0\0\0\x01")[1]


def test_the_oldest_header_has_no_client_id():
    """In ControlledShutdown 0, the body follows directly, without a client id."""
    from kwire import messages
    from kwire.messages import framing
    from kwire.recording.pairing import Conversation

    request = messages.ControlledShutdownRequest(broker_id=65536 + 97)
    headers = []
    for version in (0, 1):
        frame = framing.encode_request(request, version, 5, "me")[4:]
        header, is_secret = Conversation().request(frame)
        headers.append((header.correlation_id, header.client_id, is_secret))
    assert headers == [(5, None, False), (5, "me", False)]
