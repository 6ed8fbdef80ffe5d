# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""OAUTHBEARER with client credentials (KIP-768), and hostile token endpoints."""

import base64
import importlib
import json
import socket
import threading
import time
import traceback

import pytest
from click.testing import CliRunner

from tests.client.log_broker import LogBroker
from tests.client.runners import RUNNERS, read
from tests.client.token_server import serve_tokens
from tests.harness.loopback_brokers import make_certificate, server_context

SECRET = "wonderland"
TOKEN = "header.payload.signature"
GOOD = (200, {"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"})


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Create a certificate and its private key. Return their paths."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def endpoint(kwire):
    """Return one engine's ``kwire.client.token_endpoint``."""
    return importlib.import_module(f"{kwire.__name__}.client.token_endpoint")


@pytest.fixture
def sasl(kwire):
    """Return one engine's ``kwire.connection.sasl``."""
    return importlib.import_module(f"{kwire.__name__}.connection.sasl")


@pytest.fixture
def broker():
    """Broker that accepts ``TOKEN`` as the OAUTHBEARER token of ``alice``."""
    options = {"users": {"alice": TOKEN}, "mechanisms": ("OAUTHBEARER",)}
    with LogBroker({"orders": (30,)}, **options) as running:
        yield running


def make_config(url, **properties):
    """Return the properties of a client that requests its tokens from ``url``.

    ``properties`` are added, or override these properties.
    """
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.oauthbearer.client.credentials.client.id": "alice",
        "sasl.oauthbearer.client.credentials.client.secret": SECRET,
        **properties,
    }


def read_topic(kwire, runner, broker, config):
    """Read the broker's topic, and return the next offset."""
    connect = {"config": config}
    return read(kwire, runner, broker.address, "orders", connect=connect)[
        -1
    ].next_offset


def basic(text):
    """Return the HTTP header for "name:password"."""
    return f"Basic {base64.b64encode(text.encode()).decode()}"


@pytest.mark.parametrize("runner", RUNNERS)
def test_client_authenticates_with_a_token_of_the_endpoint(kwire, runner, broker):
    more = {
        "sasl.oauthbearer.scope": "kafka read",
        "sasl.login.callback.handler.class": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
        ),
        "sasl.jaas.config": "org.x.OAuthBearerLoginModule required;",
    }
    with serve_tokens([GOOD]) as server:
        assert read_topic(kwire, runner, broker, make_config(server.url, **more)) == 30
    headers, body = server.requests[0]
    assert headers["Authorization"] == basic(f"alice:{SECRET}")
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert body == "grant_type=client_credentials&scope=kafka+read"
    assert len(server.requests) == 1


@pytest.mark.parametrize("runner", RUNNERS)
def test_names_of_librdkafka_and_of_jaas_mean_the_same(kwire, runner, broker):
    base = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER"}
    jaas = (
        'org.x.OAuthBearerLoginModule required clientId="alice"'
        f' clientSecret="{SECRET}"'
        ' scope="kafka" extension_logicalCluster="lkc-1" extension_identityPoolId="p";'
    )
    with serve_tokens([GOOD]) as server:
        url = {"sasl.oauthbearer.token.endpoint.url": server.url}
        librdkafka = {
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.id": "alice",
            "sasl.oauthbearer.client.secret": SECRET,
            "sasl.oauthbearer.scope": "kafka",
            "sasl.oauthbearer.extensions": "logicalCluster=lkc-1, identityPoolId=p",
        }
        for more in ({"sasl.jaas.config": jaas}, librdkafka):
            config = {**base, **url, **more}
            assert read_topic(kwire, runner, broker, config) == 30
            client = importlib.import_module(f"{kwire.__name__}.client")
            kafka = client.connect_sync(broker.address, config=config)
            first = kafka.settings.new_mechanism().first()
            assert b"\x01logicalCluster=lkc-1\x01identityPoolId=p\x01" in first
    assert len({(headers["Authorization"], body) for headers, body in server.requests})


def test_https_endpoint_must_have_a_trusted_certificate(
    endpoint, sasl, certificate, monkeypatch
):
    with serve_tokens([GOOD], server_context(*certificate)) as server:
        function = endpoint.ClientCredentials(server.url, "alice", SECRET)
        with pytest.raises(sasl.CredentialsError, match="SSL_CERT_FILE"):
            function()
        assert server.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
        assert function() == TOKEN


def test_id_and_secret_are_encoded_on_request(endpoint, kwire):
    with serve_tokens([GOOD]) as server:
        endpoint.ClientCredentials(server.url, "my id", "s&c:", url_encode=True)()
    assert server.requests[0][0]["Authorization"] == basic("my+id:s%26c%3A")


def test_valid_token_is_reused_and_an_expired_one_replaced(endpoint, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(endpoint.time, "monotonic", lambda: now[0])
    second = (200, {"access_token": "second", "expires_in": 100})
    with serve_tokens(
        [(200, {"access_token": "first", "expires_in": "100"}), second]
    ) as (server):
        function = endpoint.ClientCredentials(server.url, "alice", SECRET)
        assert function() == function() == "first"
        now[0] += 79
        assert function() == "first"
        now[0] += 22
        assert function() == "second"
    assert len(server.requests) == 2


def test_token_is_replaced_in_the_background_before_it_expires(endpoint, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(endpoint.time, "monotonic", lambda: now[0])
    first = (200, {"access_token": "first", "expires_in": 100})
    second = (200, {"access_token": "second", "expires_in": 100})
    with serve_tokens([first, second]) as server:
        function = endpoint.ClientCredentials(server.url, "alice", SECRET)
        assert function() == "first"
        now[0] += 81
        # The call returns the old token, because it does not wait for the endpoint.
        assert function() == "first"
        for thread in threading.enumerate():
            if thread.name.endswith("(_refresh)"):
                thread.join(10)
        assert function() == "second"
    assert len(server.requests) == 2


def test_failed_replacement_keeps_the_valid_token(endpoint, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(endpoint.time, "monotonic", lambda: now[0])
    first = (200, {"access_token": "first", "expires_in": 100})
    with serve_tokens([first, (401, {"error": "invalid_client"})]) as server:
        function = endpoint.ClientCredentials(server.url, "alice", SECRET)
        function()
        now[0] += 81
        assert function() == "first"
        for thread in threading.enumerate():
            if thread.name.endswith("(_refresh)"):
                thread.join(10)
        assert function() == "first"


def test_lifetime_is_that_of_the_jwt_if_the_response_has_none(endpoint):
    def make_jwt(exp):
        part = base64.urlsafe_b64encode(json.dumps({"exp": exp}).encode()).decode()
        return f"e30.{part.rstrip('=')}.x"

    now = time.time()
    assert 90 < endpoint._read_jwt_lifetime(make_jwt(now + 100)) <= 100
    unknown = endpoint._UNKNOWN_LIFETIME_S
    invalid_expirations = (now - 1, None, "x", [], 1e400, float("nan"))
    for token in ("opaque", "a.b.c", "..", *map(make_jwt, invalid_expirations)):
        assert endpoint._read_jwt_lifetime(token) == unknown


def test_temporary_errors_of_the_endpoint_are_retried(endpoint):
    with serve_tokens([(503, b""), (429, b"slow down"), GOOD]) as server:
        assert endpoint.ClientCredentials(server.url, "alice", SECRET)() == TOKEN
    assert len(server.requests) == 3


def test_retries_end_after_the_timeout(endpoint, sasl, monkeypatch):
    monkeypatch.setattr(endpoint, "_TIMEOUT_S", 0.5)
    with serve_tokens([(500, b"")]) as server:
        function = endpoint.ClientCredentials(server.url, "alice", SECRET)
        with pytest.raises(sasl.CredentialsError, match="answered HTTP 500"):
            function()
    assert len(server.requests) > 1


def test_rejected_client_is_an_error_after_one_attempt(endpoint, sasl):
    body = {"error": "invalid_client", "error_description": f"bad secret {SECRET}"}
    with serve_tokens([(401, body)]) as server:
        function = endpoint.ClientCredentials(server.url, "alice", SECRET)
        with pytest.raises(sasl.CredentialsError) as caught:
            function()
    assert "HTTP 401 invalid_client; check the client id" in str(caught.value)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert len(server.requests) == 1


def test_redirect_does_not_send_the_secret_elsewhere(endpoint, sasl):
    for status in (301, 302, 303, 307, 308):
        with serve_tokens([(status, b""), GOOD]) as server:
            function = endpoint.ClientCredentials(server.url, "alice", SECRET)
            with pytest.raises(
                sasl.CredentialsError, match=f"redirects .HTTP {status}"
            ):
                function()
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"access_token": ' + b"1" * 10_000 + b"}",
        b"[]",
        b"null",
        b'{"access_token": null}',
        b'{"access_token": ""}',
        b'{"access_token": {"wonderland": 1}}',
        b"<html>wonderland</html>",
    ],
)
def test_response_without_a_token_is_an_error_without_its_text(endpoint, sasl, body):
    with serve_tokens([(200, body)]) as server:
        function = endpoint.ClientCredentials(server.url, "alice", SECRET)
        with pytest.raises(sasl.CredentialsError, match="no access_token") as caught:
            function()
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("status", [200, 400, 500])
def test_endless_response_is_not_read_to_its_end(endpoint, sasl, status):
    def send(handler):
        handler.send_response(status)
        handler.end_headers()
        try:
            for _ in range(100):
                handler.wfile.write(b"x" * (1 << 16))
        except OSError:
            # The client has closed the connection.
            pass

    with serve_tokens([(status, send)]) as server:
        function = endpoint.ClientCredentials(server.url, "alice", SECRET)
        endpoint_timeout = pytest.MonkeyPatch()
        endpoint_timeout.setattr(endpoint, "_TIMEOUT_S", 0.5)
        with endpoint_timeout.context(), pytest.raises(sasl.CredentialsError):
            function()
        endpoint_timeout.undo()


def test_token_that_would_change_the_sasl_message_is_rejected(sasl, endpoint):
    with serve_tokens([(200, {"access_token": "a\x01auth=Bearer b"})]) as server:
        function = endpoint.ClientCredentials(server.url, "alice", SECRET)
        with pytest.raises(sasl.CredentialsError, match="must return a token"):
            sasl.OAuthBearer(function).first()


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("http://wonderland.example/token", "must use https"),
        ("http://127.0.0.1.wonderland.example/token", "must use https"),
        ("https://alice:wonderland@idp/token", "cannot contain a user name"),
        ("wonderland", "must be an https URL"),
        ("file:///wonderland", "must be an https URL"),
        ("https://", "must be an https URL"),
        ("https://[wonderland", "must be an https URL"),
        ("https://idp:wonderland/", "must be an https URL"),
        ("https://wonderländ/", "must be an https URL"),
    ],
)
def test_url_that_exposes_the_secret_is_rejected_without_its_text(kwire, url, text):
    client = importlib.import_module(f"{kwire.__name__}.client")
    for connect in (client.connect, client.connect_sync):
        with pytest.raises(ValueError, match=text) as caught:
            connect("b:1", config=make_config(url))
        assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("runner", RUNNERS)
def test_unreachable_endpoint_fails_the_authentication(
    kwire, runner, broker, monkeypatch
):
    endpoint = importlib.import_module(f"{kwire.__name__}.client.token_endpoint")
    monkeypatch.setattr(endpoint, "_TIMEOUT_S", 0.3)
    client = importlib.import_module(f"{kwire.__name__}.client")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/token"
    with pytest.raises(client.ClusterError, match="cannot be reached") as caught:
        read_topic(kwire, runner, broker, make_config(url))
    assert "ConnectionRefusedError" in str(caught.value)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_event_loop_is_not_blocked_by_the_endpoint(kwire, broker):
    """The token is not requested by the event loop's thread."""
    import asyncio

    client = importlib.import_module(f"{kwire.__name__}.client")
    is_running = threading.Event()

    def send(handler):
        # This event is only set if the event loop runs during the request.
        assert is_running.wait(10)
        data = json.dumps(GOOD[1]).encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    async def run(url):
        async def beat():
            while not server.requests:
                await asyncio.sleep(0.01)
            is_running.set()

        task = asyncio.ensure_future(beat())
        async with client.connect(broker.address, config=make_config(url)) as kafka:
            topics = await kafka.topics()
        await task
        return topics

    with serve_tokens([(200, send)]) as server:
        assert "orders" in asyncio.run(run(server.url))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sasl.login.callback.handler.class", "com.example.wonderland"),
        ("sasl.oauthbearer.jwt.retriever.class", "com.example.wonderland"),
        ("sasl.oauthbearer.method", "wonderland"),
        ("sasl.oauthbearer.grant.type", "wonderland"),
        ("sasl.oauthbearer.header.urlencode", "wonderland"),
        ("sasl.oauthbearer.extensions", "wonder\x01land=x"),
        ("sasl.oauthbearer.extensions", "auth=wonderland"),
    ],
)
def test_setting_that_is_not_supported_is_an_error_without_its_value(
    kwire, name, value
):
    client = importlib.import_module(f"{kwire.__name__}.client")
    config = make_config("https://idp/token", **{name: value})
    with pytest.raises(ValueError, match=r"must (be|have)") as caught:
        client.connect("b:1", config=config)
    assert "land" not in "".join(traceback.format_exception(caught.value))


def test_command_line_reads_with_client_credentials(kwire, broker, tmp_path):
    program = importlib.import_module(f"{kwire.__name__}.cli.main").program
    path = tmp_path / "secret"
    path.write_text(f"{SECRET}\n")
    with serve_tokens([GOOD]) as server:
        args = ["topics", broker.address, "--sasl-mechanism", "oauthbearer"]
        args += ["--username", "alice", "--password-file", str(path)]
        args += ["--token-url", server.url, "--scope", "kafka"]
        done = CliRunner().invoke(program, args, prog_name="kwire")
    assert done.exit_code == 0, done.output
    assert "orders" in done.output
    assert server.requests[0][1].endswith("scope=kafka")


def test_command_line_rejects_options_of_another_mechanism(kwire, monkeypatch):
    program = importlib.import_module(f"{kwire.__name__}.cli.main").program
    monkeypatch.setenv("KWIRE_SASL_PASSWORD", SECRET)
    args = ["topics", "b:1", "--sasl-mechanism", "PLAIN", "--username", "a"]
    for more in (["--token-url", "https://idp/"], ["--scope", "s"]):
        done = CliRunner().invoke(program, [*args, *more], prog_name="kwire")
        assert done.exit_code == 2
        assert f"{more[0]} has no effect with PLAIN" in done.output


def test_spark_reads_with_client_credentials(broker):
    from kwire.spark.live.options import read_live_options

    with serve_tokens([GOOD]) as server:
        options = {
            f"kafka.{name}": value for name, value in make_config(server.url).items()
        }
        options |= {"kafka.bootstrap.servers": broker.address, "subscribe": "orders"}
        cluster = read_live_options(options).cluster
        with cluster.open() as kafka:
            assert "orders" in kafka.topics()
    assert SECRET not in repr(cluster)


def test_objects_do_not_show_the_secret(endpoint, sasl):
    function = endpoint.ClientCredentials("https://idp/", "alice", SECRET)
    for shown in (repr(function), repr(sasl.OAuthBearer(function))):
        assert SECRET not in shown and "alice" not in shown
