# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Passwords, tokens and proofs are not printed with a message.

Log lines, tracebacks and error reports show no secrets, and the message itself is
unchanged. Recordings are tested in ``recording/test_pairing.py``.
"""

import pickle

import pytest

from kwire import messages
from kwire.connection import SaslToken, sasl
from kwire.schema import registry

SECRET = "hunter2-hunter2"
SECRET_BYTES = SECRET.encode()


def holders(struct, secret):
    """Yield (path, value) for every secret field in a struct, at any depth."""
    for field in struct.fields:
        if field.secret:
            yield {field.attribute: SECRET if field.type == "string" else secret}
        elif field.struct is not None:
            for inner in holders(field.struct, secret):
                yield {field.attribute: (field, inner)}


def make_holder(cls, message_cls, values):
    """Build the message that contains a value of ``holders``."""
    fields = {}
    for name, value in values.items():
        if isinstance(value, tuple):
            field, inner = value
            nested = make_holder(getattr(message_cls, field.type), message_cls, inner)
            fields[name] = [nested] if field.is_array else nested
        else:
            fields[name] = value
    return cls(**fields)


def secret_messages(kwire, secret=SECRET_BYTES):
    """Yield one message for every secret field of every message class."""
    for name in kwire.messages.ALL:
        cls = getattr(kwire.messages, name)
        for values in holders(registry.load(name).struct, secret):
            yield make_holder(cls, cls, values)


def test_no_secret_is_printed(kwire):
    """``repr`` of a message does not contain a secret.

    It may be in a list, a view or a nested message.
    """
    assert len({type(message) for message in secret_messages(kwire)}) == 14
    for secret in (SECRET_BYTES, bytearray(SECRET_BYTES), SECRET, [SECRET]):
        for message in secret_messages(kwire, secret):
            for text in (repr(message), str(message), f"{message}", repr([message])):
                assert SECRET not in text and SECRET_BYTES.hex() not in text
                assert "secret>" in text


def test_repr_shows_whether_a_secret_is_set(kwire):
    """``repr`` shows the type and size of a secret.

    An empty token therefore differs from a missing one.
    """
    request = kwire.messages.SaslAuthenticateRequest
    texts = [
        (b"", "<0 bytes, secret>"),
        (b"x", "<1 byte, secret>"),
        (memoryview(bytes(12)), "<12 bytes, secret>"),
        ("ab", "<2 characters, secret>"),
        (None, "None"),
        (7, "<int, secret>"),
    ]
    for value, text in texts:
        message = request(auth_bytes=value)
        assert repr(message) == f"SaslAuthenticateRequest(auth_bytes={text})"
    config = kwire.messages.AlterConfigsRequest.AlterableConfig
    assert repr(config(name="ssl.key.password", value="abc")) == (
        "AlterableConfig(name='ssl.key.password', value=<3 characters, secret>)"
    )
    assert repr(config(name="a", value=None)) == "AlterableConfig(name='a', value=None)"


def test_secret_is_only_hidden_in_repr(kwire):
    """Only ``repr`` hides a secret.

    Equality, copies, pickles, encoding and ``to_dict`` use the secret itself.
    """
    for message in secret_messages(kwire):
        assert SECRET in str(message.to_dict())
        assert pickle.loads(pickle.dumps(message)) == message
        assert message.replace() == message
        version = message.valid_versions.max
        data = kwire.encode(message, version)
        assert SECRET_BYTES in data
        assert kwire.decode(type(message), data, version) == message


@pytest.mark.parametrize("bad_value", [SECRET, 7, [SECRET], {"a": SECRET}, None])
def test_encode_error_does_not_quote_a_secret(kwire, bad_value):
    """If a password has a wrong type, the EncodeError does not contain it."""
    for message in secret_messages(kwire, bad_value):
        try:
            kwire.encode(message, message.valid_versions.max)
        except kwire.EncodeError as error:
            for text in (str(error), repr(error), str(error.args)):
                assert SECRET not in text


def test_versions_that_lack_a_field_do_not_quote_it(kwire):
    """If a version lacks a secret field, the error does not contain its value.

    For other fields, this error quotes the value.
    """
    schema = """{"name": "Outer", "type": "data", "validVersions": "0-1",
      "flexibleVersions": "none", "fields": [
        {"name": "Held", "type": "string", "versions": "1+"}]}"""
    outer = kwire.messages.message_class(schema)
    token = kwire.messages.RenewDelegationTokenRequest(hmac=SECRET_BYTES)
    with pytest.raises(kwire.EncodeError) as caught:
        kwire.encode(outer(held=token), 0)
    assert "got RenewDelegationTokenRequest(" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("bad_value", [SECRET, f"{SECRET}!", [SECRET], {SECRET: 1}, 5])
def test_rejected_json_is_not_quoted(kwire, bad_value):
    """If a password is invalid base64 in JSON, the error does not contain it."""
    with pytest.raises(kwire.DecodeError) as caught:
        kwire.from_json(
            kwire.messages.SaslAuthenticateRequest, {"authBytes": bad_value}, 2
        )
    assert SECRET not in str(caught.value)
    assert caught.value.path == "auth_bytes"


@pytest.mark.parametrize(
    ("form", "path"),
    [
        (SECRET, ""),
        ({"deletions": [], "upsertions": SECRET}, "upsertions"),
        ({"deletions": [], "upsertions": [SECRET]}, "upsertions[0]"),
        ({"deletions": [SECRET], "upsertions": []}, "deletions[0]"),
    ],
)
def test_json_that_replaces_a_container_is_not_quoted(kwire, form, path):
    """If a password is in the place of an object or array, it is not quoted."""
    request = kwire.messages.AlterUserScramCredentialsRequest
    with pytest.raises(
        kwire.DecodeError, match=r"got <\d+ characters, secret>"
    ) as caught:
        kwire.from_json(request, form, 0)
    assert SECRET not in str(caught.value)
    assert caught.value.path == path


def test_misplaced_arguments_are_not_quoted(kwire):
    """If a token is passed instead of an array, the error contains only its type."""
    request = kwire.messages.AlterUserScramCredentialsRequest
    for bad_value in (SECRET, SECRET_BYTES, bytearray(SECRET_BYTES)):
        for call in (request, request().replace):
            with pytest.raises(TypeError, match="sequence") as caught:
                call(upsertions=bad_value)
            assert SECRET not in str(caught.value)


def test_objects_of_sasl_print_no_secret():
    """``repr`` of SASL objects does not contain a secret.

    Examples are mechanisms, token events, and passwords in a wrong argument.
    """
    texts = [
        repr(sasl.Plain("me", SECRET)),
        repr(sasl.Scram("me", SECRET)),
        repr(SaslToken(SECRET_BYTES, 5)),
        str(SaslToken(SECRET_BYTES)),
    ]
    with pytest.raises(ValueError, match="mechanism must be") as caught:
        sasl.Scram("me", "SCRAM-SHA-256", SECRET)
    texts.append(str(caught.value))
    exchange = sasl.Scram("me", "password")
    exchange.first()
    for challenge in (f"{SECRET}", f"v={SECRET},v={SECRET}"):
        with pytest.raises(sasl.SaslError) as caught:
            exchange.challenge(challenge.encode())
        texts.append(str(caught.value))
    assert not any(SECRET in text for text in texts)
    assert repr(SaslToken(b"abc", 5)) == (
        "SaslToken(data=<3 bytes, secret>, session_lifetime_s=5)"
    )
    assert SaslToken(b"abc").data == b"abc"


def test_invalid_request_is_not_quoted():
    """If a token is passed to ``send`` instead of a request, it is not quoted."""
    from kwire.connection import ClientConnection
    from kwire.connection.negotiation import ApiVersionTable

    table = ApiVersionTable.from_response(
        messages.ApiVersionsResponse(
            api_keys=[messages.ApiVersionsResponse.ApiVersion(api_key=3)]
        )
    )
    connection = ClientConnection("me", table=table)
    with pytest.raises(TypeError, match="got bytes") as caught:
        connection.send(SECRET_BYTES)
    assert SECRET not in str(caught.value)
