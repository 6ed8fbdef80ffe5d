# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Custom APIs that Kafka does not have, wherever a frame is used.

``messages.message_class`` creates the classes, and ``framing.ApiRegistry`` registers
them. If the registry is missing, the API's frames are rejected with an error that names
it.
"""

import asyncio
import importlib

import pytest

TEXT = """{{
  "apiKey": {key}, "type": "{kind}", "name": "{name}", "validVersions": "0-2",
  "flexibleVersions": "1+", {more}
  "fields": [{{"name": "Text", "type": "string", "versions": "0+"}}]
}}"""
KEY = 10_042
OFFERED = {3: (0, 12), 18: (0, 5), KEY: (0, 1)}


def make_class(kwire, kind, key=KEY, name="Ping", more=""):
    """Return the request class or the response class of a custom API."""
    full_name = f"{name}{kind.title()}"
    text = TEXT.format(key=key, kind=kind, name=full_name, more=more)
    return kwire.messages.message_class(text)


@pytest.fixture
def api(kwire):
    """Request class, response class and their registry."""
    classes = make_class(kwire, "request"), make_class(kwire, "response")
    return *classes, kwire.messages.framing.ApiRegistry(*classes)


def connect(kwire, registry, offered=None, **options):
    """Return a client and a server that have negotiated versions.

    ``options`` are passed to the server.
    """
    table = kwire.connection.negotiation.ApiVersionTable.from_ranges(offered or OFFERED)
    server = kwire.connection.ServerConnection(table, registry=registry, **options)
    client = kwire.connection.ClientConnection(registry=registry)
    list(server.receive_data(client.data_to_send()))
    list(client.receive_data(server.data_to_send()))
    return client, server


def test_request_of_an_own_api_is_decoded_with_the_registry(kwire, api):
    """Covers all versions with their header versions, and requests for Kafka's APIs."""
    request, _, registry = api
    for version in range(3):
        frame = kwire.messages.framing.encode_request(
            request(text="a"), version, 7, "me"
        )
        header, body = kwire.messages.framing.decode_request(
            frame[4:], registry=registry
        )
        assert (header.request_api_key, header.client_id) == (KEY, "me")
        assert body == request(text="a")
    kafka = kwire.messages.MetadataRequest()
    frame = kwire.messages.framing.encode_request(kafka, 12)
    assert (
        kwire.messages.framing.decode_request(frame[4:], registry=registry)[1] == kafka
    )


def test_request_of_an_own_api_is_rejected_without_the_registry(kwire, api):
    """The error names the argument ``registry``."""
    request, _, _ = api
    frame = kwire.messages.framing.encode_request(request(text="a"), 1)
    with pytest.raises(kwire.UnsupportedVersion, match="registry=ApiRegistry"):
        kwire.messages.framing.decode_request(frame[4:])


def test_own_api_is_negotiated_sent_and_answered(kwire, api):
    """The server has 0-1 and the class has 0-2, so that version 1 is used."""
    request, response, registry = api
    client, server = connect(kwire, registry)
    assert client.table.pick(request) == 1
    assert client.table.usable(request) == (0, 1)
    identifier = client.send(request(text="ping"))
    metadata = client.send(kwire.messages.MetadataRequest())
    first, second = server.receive_data(client.data_to_send())
    assert (first.request, first.version) == (request(text="ping"), 1)
    server.send(second, kwire.messages.MetadataResponse(cluster_id="c"))
    server.send(first, response(text="pong"))
    answers = list(client.receive_data(server.data_to_send()))
    assert [answer.correlation_id for answer in answers] == [identifier, metadata]
    assert answers[0].response == response(text="pong")


def test_connections_without_the_registry_reject_an_own_api(kwire, api):
    """Without the registry, the client rejects a request of the API.

    The server treats such a request as unsupported.
    """
    request = api[0]
    client, _ = connect(kwire, kwire.messages.framing.ApiRegistry())
    with pytest.raises(ValueError, match="registry=ApiRegistry"):
        client.send(request(text="a"))
    assert client.data_to_send() == b"" and client.in_flight == ()
    _, server = connect(kwire, kwire.messages.framing.ApiRegistry())
    frame = kwire.messages.framing.encode_request(request(text="a"), 1)
    (event,) = server.receive_data(frame)
    assert isinstance(event, kwire.connection.UnsupportedReceived)
    assert event.api_key == KEY


def test_server_rejects_an_own_api_that_it_does_not_offer(kwire, api):
    """The registry contains classes, but only the table determines what is offered."""
    request, _, registry = api
    client, server = connect(kwire, registry, {3: (0, 12), 18: (0, 5)})
    with pytest.raises(kwire.UnsupportedVersion, match=f"API key {KEY}"):
        client.send(request(text="a"))
    (event,) = server.receive_data(
        kwire.messages.framing.encode_request(request(text="a"), 1)
    )
    assert isinstance(event, kwire.connection.UnsupportedReceived)


def test_response_of_another_class_is_rejected(kwire, api):
    """The response class must belong to the request's API."""
    request, _, registry = api
    client, server = connect(kwire, registry)
    client.send(request(text="a"))
    (received,) = server.receive_data(client.data_to_send())
    with pytest.raises(TypeError, match="PingRequest"):
        server.send(received, kwire.messages.MetadataResponse())


def test_unsupported_own_api_has_its_versions_in_the_error(kwire, api):
    """After an empty response (KIP-35), the error has the versions of the class."""
    request, _, registry = api
    client, _ = connect(kwire, registry)
    client.send(request(text="a"))
    empty = b"\0\0\0\4" + client.in_flight[0].correlation_id.to_bytes(4, "big")
    (event,) = client.receive_data(empty)
    assert str(event.error.ours) == "0-2"


def test_unstable_version_of_an_own_api_requires_the_policy(kwire):
    """``latestVersionUnstable`` has the same effect as in Kafka's APIs."""
    more = '"latestVersionUnstable": true, "listeners": ["broker"],'
    cls = make_class(kwire, "request", more=more)
    stable = kwire.connection.negotiation.VersionPolicy()
    unstable = kwire.connection.negotiation.VersionPolicy(
        unstable=True, exclude={cls: [1]}
    )
    assert stable.versions(cls) == (0, 1)
    assert stable.versions(KEY) == ()
    assert unstable.versions(cls) == (0, 2)


def test_damaged_frame_of_an_own_api_raises_decode_errors(kwire, api):
    """The frame is truncated at each length, or has one additional byte."""
    request, _, registry = api
    frame = kwire.messages.framing.encode_request(request(text="abc"), 2, 7, "me")[4:]
    for damaged in [frame[:size] for size in range(len(frame))] + [frame + b"\0"]:
        with pytest.raises(kwire.DecodeError):
            kwire.messages.framing.decode_request(damaged, registry=registry)
    bad_version = frame[:2] + b"\0\x09" + frame[4:]
    with pytest.raises(kwire.UnsupportedVersion):
        kwire.messages.framing.decode_request(bad_version, registry=registry)


def test_byte_map_of_an_own_api_has_its_fields(kwire, api):
    """With the registry, the byte map has all fields of the body.

    Without the registry, the body is an error.
    """
    byte_map = importlib.import_module(f"{kwire.__name__}.explain")
    request, _, registry = api
    frame = kwire.messages.framing.encode_request(request(text="abc"), 2)[4:]
    mapped = byte_map.frame_map(frame, registry=registry)
    assert mapped.error is None
    assert any(span.path == "text" for span in mapped.spans)
    unknown = byte_map.frame_map(frame)
    assert isinstance(unknown.error, kwire.UnsupportedVersion)


def test_client_sends_an_own_api(kwire, api):
    """``connect`` passes the registry to its connections."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    request, response, registry = api
    table = kwire.connection.negotiation.ApiVersionTable.from_ranges(OFFERED)

    async def serve(reader, writer):
        server = kwire.connection.ServerConnection(table, registry=registry)
        while data := await reader.read(65536):
            for event in server.receive_data(data):
                if isinstance(event, kwire.connection.RequestReceived):
                    server.send(event, response(text=event.request.text * 2))
            writer.write(server.data_to_send())
        writer.close()

    async def ask():
        listener = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with listener:
            port = listener.sockets[0].getsockname()[1]
            async with client.connect(f"127.0.0.1:{port}", registry=registry) as kafka:
                return await kafka.request(request(text="ab"))

    assert asyncio.run(ask()) == response(text="abab")
    with (
        client.connect_sync("127.0.0.1:1") as kafka,
        pytest.raises(
            ValueError, match=r"pass registry=ApiRegistry\(\.\.\.\) to connect"
        ),
    ):
        kafka.request(request(text="ab"))


@pytest.mark.parametrize(
    ("kinds", "error", "text"),
    [
        (["request"], ValueError, "no response class"),
        (["response"], ValueError, "no request class"),
        (["request", "response", "request"], ValueError, "second request class"),
        (["data"], TypeError, "request and response classes"),
    ],
)
def test_registry_rejects_classes_that_make_no_api(kwire, kinds, error, text):
    """A registry is rejected if a class has no counterpart or is not part of an API."""
    classes = []
    for kind in kinds:
        if kind == "data":
            classes.append(kwire.messages.ConsumerProtocolSubscription)
        else:
            classes.append(make_class(kwire, kind))
    with pytest.raises(error, match=text):
        kwire.messages.framing.ApiRegistry(*classes)


def test_registry_rejects_api_keys_of_kafka(kwire):
    """A class with an API key of Kafka is rejected.

    It would change the meaning of Kafka's frames.
    """
    classes = [make_class(kwire, kind, key=3) for kind in ("request", "response")]
    with pytest.raises(ValueError, match="Kafka's MetadataRequest"):
        kwire.messages.framing.ApiRegistry(*classes)
    with pytest.raises(TypeError, match="request and response classes"):
        kwire.messages.framing.ApiRegistry("PingRequest")


def test_registry_shows_its_classes(kwire, api):
    """``repr`` lists the custom classes, but not Kafka's classes."""
    assert repr(api[2]) == "ApiRegistry(PingRequest, PingResponse)"
    assert repr(kwire.messages.framing.ApiRegistry()) == "ApiRegistry()"
