# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Errors about settings do not show secrets, even if a secret is in a wrong place.

All properties, ``connect`` arguments and CLI options get all forms of a secret, and
property files are broken at every position in a value. The tests check everything that
a program prints about an error: text, arguments, attributes and traceback.
"""

import dataclasses
import functools
import importlib
import inspect
import random
import string
import traceback

import pytest
from click.testing import CliRunner

from kwire.client.property_names import (
    IGNORED_OF_CONNECTIONS,
    IGNORED_OF_CONSUMERS,
    OF_CONNECTIONS,
    OF_CONSUMERS,
    REPLACED,
)
from tests.harness.loopback_brokers import make_certificate

UNSUPPORTED = (
    "ssl.truststore.password",
    "ssl.keystore.password",
    "ssl.cipher.suites",
    "sasl.login.class",
    "ssl.crl.location",
    "schema.registry.url",
)
PROPERTIES = (
    *OF_CONNECTIONS,
    *OF_CONSUMERS,
    *IGNORED_OF_CONNECTIONS,
    *IGNORED_OF_CONSUMERS,
    *REPLACED,
    *UNSUPPORTED,
)
PATHS = tuple(name for name in OF_CONNECTIONS if name.endswith("location"))

SHORT = ("hunter2-Kx9", "wonderland", "correct.horse.battery", "Tr0ub4dor&3", "=x7q=")
BODY = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgq7Zt"
KEY = f"-----BEGIN PRIVATE KEY-----\n{BODY}\n{BODY[::-1]}\n-----END PRIVATE KEY-----\n"
LONG = (KEY, KEY.replace("\n", " "), BODY, f"{BODY}\n{BODY[::-1]}", BODY * 8)
JAAS = 'org.x.PlainLoginModule required username="alice" password="{}";'
BASES = {
    "": {},
    "ssl": {"security.protocol": "SSL"},
    "sasl": {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "alice",
        "sasl.password": "x",
    },
    "sasl.oauthbearer": {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": "https://idp.example/token",
        "sasl.oauthbearer.client.credentials.client.id": "alice",
        "sasl.oauthbearer.client.credentials.client.secret": "x",
    },
}


OAUTH = ("b:1", "--sasl-mechanism", "OAUTHBEARER", "--username", "alice")


def parts(secret):
    """Return the parts of a secret that have more than three characters.

    Shorter parts may occur in a text by chance.
    """
    pieces = {secret, *secret.split("\n"), BODY, BODY[::-1]}
    return [piece for piece in pieces if len(piece) > 3 and "-----" not in piece]


def printed(error):
    """Return all texts that a program may print about an error."""
    texts = ["".join(traceback.format_exception(error)), repr(error)]
    texts += [str(argument) for argument in error.args]
    texts += [f"{name}={value}" for name, value in vars(error).items()]
    return "\n".join((*texts, str(getattr(error, "filename", ""))))


def assert_hidden(call, secret):
    """Call a function, and check that its result or error hides the secret.

    Return whether the function has raised an error.
    """
    try:
        result = call()
    except (ValueError, TypeError, OSError) as error:
        shown, failed = printed(error), True
    else:
        # The client id is shown deliberately, because brokers log it.
        shown, failed = repr(result), False
        if hasattr(result, "settings"):
            shown += repr(dataclasses.replace(result.settings, client_id=None))
    for piece in parts(secret):
        assert piece not in shown, shown
    return failed


@pytest.fixture
def client(kwire):
    """Client package on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.client")


def test_no_property_shows_its_value(client):
    """All properties get all secret forms, with and without their protocol."""
    failures = 0
    for name in PROPERTIES:
        for base in BASES:
            if not name.startswith(base):
                continue
            for secret in LONG if name in PATHS else (*SHORT, *LONG):
                config = {"bootstrap.servers": "b:1", **BASES[base], name: secret}
                failures += assert_hidden(
                    functools.partial(client.connect, config=config), secret
                )
    assert failures > 400


def test_no_part_of_a_value_is_shown_as_a_name(client):
    """If a line is broken, value parts are parsed as property names."""
    for secret in (*SHORT, *LONG, b"wonderland", 7):
        for name in (secret, f"sasl.password{secret}", f"ssl.keystore.key{secret}"):
            config = {"bootstrap.servers": "b:1", name: "x"}
            call = functools.partial(client.connect_sync, config=config)
            text = secret if isinstance(secret, str) else "wonderland"
            assert assert_hidden(call, text)


def test_no_broken_property_file_shows_a_part_of_a_value(client, tmp_path):
    """The value is broken at every position, with and without a continuation."""
    path = tmp_path / "client.properties"
    source = random.Random(1)
    letters = string.ascii_letters + string.digits + "+/=:. !#&"
    failures = 0
    for _ in range(60):
        secret = "".join(source.choices(letters, k=16))
        value = source.choice([secret, JAAS.format(secret), KEY.replace(BODY, secret)])
        name = source.choice(["sasl.password", "sasl.jaas.config", "ssl.keystore.key"])
        first = value.index(secret)
        for cut in range(first, first + len(secret)):
            # A part with less than four letters may be in any text by chance.
            parts = [secret[: cut - first], secret[cut - first :]]
            parts = [part.strip() for part in parts if len(part.strip()) > 4]
            path.write_text(f"{name}={value[:cut]}\n{value[cut:]}\nclient.id=x\n")

            def connect():
                return client.connect("b:1", config=client.read_properties(path))

            for part in parts:
                failures += assert_hidden(connect, part)
    assert failures > 300


def test_pem_text_without_continuation_is_named_by_its_line(client, tmp_path):
    """If continuations are missing, every key line is an unknown property."""
    path = tmp_path / "client.properties"
    path.write_text(f"security.protocol=SSL\nssl.keystore.key={KEY}client.id=x\n")
    with pytest.raises(ValueError, match="line 3: a line of PEM text") as caught:
        client.read_properties(path)
    assert "client.properties" in str(caught.value)
    for piece in parts(KEY):
        assert piece not in printed(caught.value)


def test_no_path_that_is_a_secret_is_shown(client, tmp_path):
    """PEM text is passed as a file name. If a file exists, its name is shown."""
    for secret in LONG:
        assert assert_hidden(functools.partial(client.read_properties, secret), secret)
        for name in PATHS:
            config = {"security.protocol": "SSL", name: secret}
            if name.startswith(("ssl.truststore", "ssl.keystore")):
                config[f"{name.removesuffix('.location')}.type"] = "PEM"
            call = functools.partial(client.connect, "b:1", config=config)
            assert assert_hidden(call, secret)
    missing = str(tmp_path / "missing.pem")
    config = {"security.protocol": "SSL", "ssl.ca.location": missing}
    with pytest.raises(FileNotFoundError, match=r"ssl\.ca\.location") as caught:
        client.connect("b:1", config=config)
    assert caught.value.filename == missing
    with pytest.raises(FileNotFoundError) as caught:
        client.read_properties(missing)
    assert caught.value.filename == missing


@pytest.mark.parametrize("secret", [*SHORT, *LONG])
def test_no_argument_shows_its_value(client, kwire, secret):
    """``connect`` keywords get a secret, directly or in a container."""
    for connect in (client.connect, client.connect_sync):
        for name in inspect.unwrap(connect).__kwdefaults__:
            for value in (secret, [secret], {secret: secret}, secret.encode()):
                assert_hidden(
                    functools.partial(connect, "b:1", **{name: value}), secret
                )
        for address in (
            secret,
            f"alice:{secret}@b:1",
            f"{secret}@b:1",
            f"alice:{secret}",
            f"kafka://alice:{secret}@b:1",
            f"b:1,alice:{secret}@c:1",
            f"{secret}:x",
            secret.encode(),
            [secret],
        ):
            assert assert_hidden(functools.partial(connect, address), secret)
        sasl = importlib.import_module(f"{kwire.__name__}.connection.sasl")
        endpoint = importlib.import_module(f"{kwire.__name__}.client.token_endpoint")
        for make in (
            functools.partial(sasl.Plain, "alice", secret),
            functools.partial(sasl.Scram, "alice", secret),
            functools.partial(
                sasl.OAuthBearer, endpoint.ClientCredentials("https://x", "y", secret)
            ),
        ):
            assert not assert_hidden(
                functools.partial(connect, "b:1", sasl=make), secret
            )
            assert not assert_hidden(
                functools.partial(connect, "b:1", sasl=make()), secret
            )


@pytest.mark.parametrize("runner", ["blocking", "asyncio"])
def test_the_message_of_a_users_function_is_not_repeated(kwire, runner):
    """Libraries include a token request's secret in their errors."""
    from tests.client.log_broker import LogBroker
    from tests.client.runners import read

    sasl = importlib.import_module(f"{kwire.__name__}.connection.sasl")
    cluster = importlib.import_module(f"{kwire.__name__}.client.machines")
    requests = importlib.import_module("tests.client.requests.request_calls")
    client = importlib.import_module(f"{kwire.__name__}.client")

    class Own:
        mechanism = "PLAIN"

        def first(self):
            raise RuntimeError("wonderland")

        def challenge(self, data):
            raise AssertionError

    class Late(Own):
        def first(self):
            return b"\0alice\0x"

        def challenge(self, data):
            raise OSError("wonderland")

    def fail():
        raise OSError("wonderland")

    users = {"alice": "x"}
    kinds = ("OAUTHBEARER", "PLAIN")
    with LogBroker({"orders": (1,)}, users=users, mechanisms=kinds) as broker:
        for mechanism in (sasl.OAuthBearer(fail), Own(), Late(), fail):
            connect = {"sasl": mechanism}
            calls = (
                lambda c=connect: read(
                    kwire, runner, broker.address, "orders", connect=c
                ),
                lambda c=connect: requests.send(client, runner, broker, **c),
            )
            for call in calls:
                with pytest.raises(
                    cluster.AuthenticationFailed,
                    match=r"raised (OSError|RuntimeError)",
                ) as caught:
                    call()
                assert "wonderland" not in printed(caught.value)


def test_no_option_of_the_command_line_shows_a_secret(kwire, tmp_path, monkeypatch):
    """The password replaces a file or a mechanism, or is in the address."""
    program = importlib.import_module(f"{kwire.__name__}.cli.main").program
    monkeypatch.setenv("KWIRE_SASL_PASSWORD", "x")
    certificate = make_certificate(tmp_path)[0]
    broken = tmp_path / "client.properties"
    for secret in (*SHORT, *LONG):
        broken.write_text(f"security.protocol=SSL\nsasl.password=x\n{secret}\n")
        for args in (
            [f"alice:{secret}@b:1"],
            [f"{secret}@b:1"],
            [f"b:1,alice:{secret}@c:1"],
            ["b:1", "--password", secret],
            ["b:1", f"--password={secret}"],
            ["b:1", "--password-file", secret],
            ["b:1", "--sasl-mechanism", secret],
            ["b:1", "--scope", secret],
            ["b:1", "--token-url", secret],
            [*OAUTH, "--token-url", secret],
            [*OAUTH, "--token-url", f"https://alice:{secret}@idp/"],
            ["b:1", "--tls", "--ca", str(certificate), "--tls-key", secret]
            if secret in LONG
            else ["b:1", "--username", secret],
            ["b:1", "--tls", "--cert", secret] if secret in LONG else ["b:1", "-p"],
            ["b:1", "--config", secret] if secret in LONG else ["b:1", "-p"],
            ["b:1", "--config", str(broken)],
        ):
            for command in ("topics", "versions"):
                if command == "versions" and "--config" in args:
                    continue
                done = CliRunner().invoke(program, [command, *args], prog_name="kwire")
                assert done.exit_code == 2, (args, done.output)
                for piece in parts(secret):
                    assert piece not in done.output, done.output
