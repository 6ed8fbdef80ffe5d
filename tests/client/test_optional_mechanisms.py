# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""GSSAPI and AWS_MSK_IAM, which require the packages ``gssapi`` and ``botocore``.

The exchange tests use fakes for these packages, so that they run everywhere. If the
packages are installed, and a Kerberos server for GSSAPI, the same client also
authenticates with them.
"""

import hashlib
import hmac
import importlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import traceback
from types import ModuleType, SimpleNamespace

import pytest

from tests.client.log_broker import LogBroker
from tests.client.runners import RUNNERS, read

REALM = "KWIRE.TEST"


@pytest.fixture
def sasl(kwire):
    """Module of the mechanisms."""
    return importlib.import_module(f"{kwire.__name__}.connection.sasl")


class GSSError(Exception):
    """Base class of gssapi errors."""


class FakeContext:
    """Client-side security context: two steps, and messages in brackets."""

    offer = b"\x01\0\x10\0"

    def __init__(self, **arguments):
        self.arguments = arguments
        self.complete = False

    def step(self, token=None):
        if token is None:
            return f"ticket for {self.arguments['name']}".encode()
        if token != b"reply":
            raise GSSError("the token has \x1b[31mwrong text")
        self.complete = True
        return None

    def unwrap(self, data):
        if data[:1] != b"[" or data[-1:] != b"]":
            raise GSSError("the message is not protected")
        return SimpleNamespace(message=data[1:-1])

    def wrap(self, data, encrypt):
        assert encrypt is False
        return SimpleNamespace(message=b"[" + data + b"]")


@pytest.fixture
def fake_gssapi(monkeypatch):
    """Fake for the gssapi functions that kwire uses."""
    module = ModuleType("gssapi")
    module.NameType = SimpleNamespace(hostbased_service=1, kerberos_principal=2)
    module.Name = lambda name, kind: name
    module.MechType = SimpleNamespace(kerberos="kerberos")
    module.RequirementFlag = SimpleNamespace(mutual_authentication=2, integrity=32)
    module.SecurityContext = FakeContext
    module.Credentials = lambda **arguments: arguments
    module.exceptions = SimpleNamespace(GSSError=GSSError)
    monkeypatch.setitem(sys.modules, "gssapi", module)
    return module


class FakeServer:
    """Broker side of RFC 4752 for ``FakeContext``.

    ``received`` contains the messages of the client.
    """

    def __init__(self):
        self.received = []
        self.is_done = False

    def answer(self, data):
        self.received.append(data)
        answers = b"reply", b"[\x01\0\x10\0]", b""
        self.is_done = len(self.received) == 3
        return answers[len(self.received) - 1]


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("option", ["argument", "properties"])
def test_gssapi_authenticates_with_the_host_name_of_the_broker(
    kwire, sasl, fake_gssapi, runner, option
):
    servers = []

    def make():
        servers.append(FakeServer())
        return servers[-1]

    options = {"users": {}, "mechanisms": ("GSSAPI",)}
    with LogBroker({"orders": (3,)}, **options) as broker:
        broker.exchanges["GSSAPI"] = make
        connect = {"sasl": sasl.Gssapi("broker")}
        if option == "properties":
            config = {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "GSSAPI",
                "sasl.kerberos.service.name": "broker",
                "sasl.jaas.config": (
                    "com.sun.security.auth.module.Krb5LoginModule required"
                    " useTicketCache=true;"
                ),
            }
            connect = {"config": config}
        chunks = read(kwire, runner, broker.address, "orders", connect=connect)
        assert chunks[-1].next_offset == 3
    expected = [b"ticket for broker@127.0.0.1", b"", b"[\x01\0\0\0]"]
    assert servers[0].received == expected


def test_gssapi_uses_the_keytab_of_the_principal(kwire, fake_gssapi):
    client = importlib.import_module(f"{kwire.__name__}.client")
    jaas = (
        "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true"
        ' storeKey=true keyTab="/etc/alice.keytab" principal="alice@REALM";'
    )
    librdkafka = {
        "sasl.kerberos.keytab": "/etc/alice.keytab",
        "sasl.kerberos.principal": "alice@REALM",
    }
    for more in ({"sasl.jaas.config": jaas}, librdkafka):
        config = {"security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI", **more}
        kafka = client.connect_sync("b:1", config=config)
        mechanism = kafka.settings.new_mechanism()
        mechanism.set_host("b")
        assert mechanism.first() == b"ticket for kafka@b"
        arguments = mechanism._context.arguments["creds"]
        assert arguments["name"] == "alice@REALM"
        assert arguments["store"]["client_keytab"] == "/etc/alice.keytab"
        assert arguments["store"]["ccache"].startswith("MEMORY:")
        assert "alice" not in repr(mechanism)


@pytest.mark.parametrize(
    "tokens",
    [
        [b"other"],
        [b"reply", b"unprotected"],
        [b"reply", b"[\x01\0\0]"],
        [b"reply", b"[]"],
        [b"reply", b"[\x06\0\x10\0]"],
        [b"reply", b"[\x01\0\x10\0]", b"more"],
    ],
)
def test_gssapi_server_that_breaks_the_rules_is_a_sasl_error(sasl, fake_gssapi, tokens):
    exchange = sasl.Gssapi()
    exchange.set_host("b")
    exchange.first()
    for token in tokens[:-1]:
        exchange.challenge(token)
    with pytest.raises(sasl.SaslError) as caught:
        exchange.challenge(tokens[-1])
    assert not exchange.is_done
    assert "\x1b" not in str(caught.value)


def test_gssapi_without_a_ticket_is_a_credentials_error(sasl, fake_gssapi, monkeypatch):
    def fail(**_):
        raise GSSError("No Kerberos credentials available")

    fake_gssapi.SecurityContext = fail
    with pytest.raises(sasl.CredentialsError, match="No Kerberos cred"):
        sasl.Gssapi().first()


def test_keytab_without_a_principal_is_an_error(sasl, fake_gssapi):
    with pytest.raises(sasl.CredentialsError, match="requires a principal"):
        sasl.Gssapi(keytab="/etc/alice.keytab")


@pytest.mark.parametrize(
    ("mechanism", "package", "module"),
    [("GSSAPI", "gssapi", "gssapi"), ("AWS_MSK_IAM", "botocore", "botocore.session")],
)
def test_missing_package_is_named_when_the_client_is_made(
    kwire, monkeypatch, mechanism, package, module
):
    monkeypatch.setitem(sys.modules, module, None)
    client = importlib.import_module(f"{kwire.__name__}.client")
    config = {"security.protocol": "SASL_SSL", "sasl.mechanism": mechanism}
    with pytest.raises(ValueError, match=f"pip install {package}"):
        client.connect("b:1", config=config)


def run(*command, **options):
    """Run a Kerberos command. If it fails, the test fails with its stderr."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def kerberos(tmp_path, monkeypatch):
    """Kerberos server on the loopback interface, with a keytab for both sides."""
    pytest.importorskip("gssapi")
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin")
    if shutil.which("krb5kdc") is None:
        pytest.skip("there is no Kerberos server")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "krb5.conf").write_text(
        f"[libdefaults]\ndefault_realm = {REALM}\ndns_canonicalize_hostname = false\n"
        "rdns = false\nudp_preference_limit = 1\n"
        f"[realms]\n{REALM} = {{\nkdc = 127.0.0.1:{port}\n}}\n"
        f"[domain_realm]\nlocalhost = {REALM}\n127.0.0.1 = {REALM}\n"
    )
    (tmp_path / "kdc.conf").write_text(
        f"[kdcdefaults]\nkdc_listen = 127.0.0.1:{port}\n"
        f"kdc_tcp_listen = 127.0.0.1:{port}\n"
        f"[realms]\n{REALM} = {{\ndatabase_name = {tmp_path}/principal\n"
        f"key_stash_file = {tmp_path}/stash\nacl_file = {tmp_path}/acl\n}}\n"
    )
    for name, value in {
        "KRB5_CONFIG": tmp_path / "krb5.conf",
        "KRB5_KDC_PROFILE": tmp_path / "kdc.conf",
        "KRB5_KTNAME": tmp_path / "broker.keytab",
        "KRB5CCNAME": tmp_path / "cache",
        "KRB5RCACHETYPE": "none",
    }.items():
        monkeypatch.setenv(name, str(value))
    run("kdb5_util", "create", "-s", "-r", REALM, "-P", "loopback", "-W")
    for name, keytab in (("kafka/localhost", "broker"), ("alice", "alice")):
        for request in (
            f"addprinc -randkey {name}",
            f"ktadd -k {keytab}.keytab {name}",
        ):
            run("kadmin.local", "-r", REALM, "-q", request, cwd=tmp_path)
    server = subprocess.Popen(
        ["krb5kdc", "-n", "-r", REALM, "-P", tmp_path / "pid"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    try:
        yield tmp_path / "alice.keytab"
    finally:
        server.terminate()
        server.wait()


class KerberosServer:
    """GSSAPI broker side (RFC 4752) with the real package."""

    def __init__(self):
        self._gssapi = importlib.import_module("gssapi")
        self._context = self._gssapi.SecurityContext(usage="accept")
        self._has_offered = self.is_done = False
        self.user = ""

    def answer(self, data):
        try:
            if not self._context.complete:
                return self._context.step(data) or b""
            if not self._has_offered:
                self._has_offered = True
                assert data == b""
                return self._context.wrap(b"\x01\0\x10\0", False).message
            assert self._context.unwrap(data).message == b"\x01\0\0\0"
            self.user = str(self._context.initiator_name)
            self.is_done = True
            return b""
        except self._gssapi.exceptions.GSSError:
            return None


@pytest.mark.parametrize("runner", RUNNERS)
def test_kerberos_authenticates_both_sides(kwire, kerberos, runner):
    servers = []

    def make():
        servers.append(KerberosServer())
        return servers[-1]

    options = {"users": {}, "mechanisms": ("GSSAPI",), "host": "127.0.0.1"}
    with LogBroker({"orders": (3,)}, **options) as broker:
        broker.exchanges["GSSAPI"] = make
        # The broker's Kerberos principal contains the host name from metadata.
        broker.host = "localhost"
        config = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "GSSAPI",
            "sasl.kerberos.keytab": str(kerberos),
            "sasl.kerberos.principal": f"alice@{REALM}",
        }
        address = f"localhost:{broker.port}"
        connect = {"config": config}
        chunks = read(kwire, runner, address, "orders", connect=connect)
        assert chunks[-1].next_offset == 3
        assert {server.user for server in servers} == {f"alice@{REALM}"}
        client = importlib.import_module(f"{kwire.__name__}.client")
        config["sasl.kerberos.service.name"] = "other"
        with pytest.raises(client.ClusterError, match="Kerberos") as caught:
            read(kwire, runner, address, "orders", connect=connect)
        assert "not found" in str(caught.value)


HOST = "b-1.demo.abc.c2.kafka.eu-west-1.amazonaws.com"
KEY_ID, SECRET, SESSION = "AKIDEXAMPLE", "wonderland/+secret", "sess+/ion=="


def sign(fields, secret):
    """Compute a payload's signature as the aws-msk-iam-auth README defines it."""
    from urllib.parse import quote

    names = {
        "action": "Action",
        "x-amz-algorithm": "X-Amz-Algorithm",
        "x-amz-credential": "X-Amz-Credential",
        "x-amz-date": "X-Amz-Date",
        "x-amz-expires": "X-Amz-Expires",
        "x-amz-security-token": "X-Amz-Security-Token",
        "x-amz-signedheaders": "X-Amz-SignedHeaders",
    }
    query = "&".join(
        f"{names[name]}={quote(fields[name], safe='')}"
        for name in sorted(names, key=names.get)
        if name in fields
    )
    empty = hashlib.sha256(b"").hexdigest()
    canonical = f"GET\n/\n{query}\nhost:{fields['host']}\n\nhost\n{empty}"
    _, day, region, service, kind = fields["x-amz-credential"].split("/")
    scope = f"{day}/{region}/{service}/{kind}"
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    text = f"AWS4-HMAC-SHA256\n{fields['x-amz-date']}\n{scope}\n{hashed}"
    key = f"AWS4{secret}".encode()
    for part in (day, region, service, kind):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.new(key, text.encode(), "sha256").hexdigest()


@pytest.fixture
def aws(monkeypatch, tmp_path):
    """Set the environment variables of an AWS user for the real package."""
    pytest.importorskip("botocore")
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


@pytest.mark.parametrize("session", [None, SESSION])
def test_aws_payload_has_the_signature_that_amazon_documents(
    sasl, aws, monkeypatch, session
):
    if session is not None:
        monkeypatch.setenv("AWS_SESSION_TOKEN", session)
    exchange = sasl.AwsMskIam()
    exchange.set_host(HOST)
    fields = json.loads(exchange.first())
    day = fields["x-amz-date"][:8]
    assert fields["version"] == "2020_10_22"
    assert fields["host"] == HOST and fields["action"] == "kafka-cluster:Connect"
    assert fields["x-amz-credential"].startswith(f"{KEY_ID}/{day}/eu-west-1/")
    assert fields["x-amz-expires"] == "900"
    assert fields.get("x-amz-security-token") == session
    assert fields["x-amz-signature"] == sign(fields, SECRET)
    assert SECRET not in json.dumps(fields) and SECRET not in repr(exchange)
    exchange.challenge(b'{"version": "2020_10_22", "request-id": "r"}')
    assert exchange.is_done


def test_aws_region_is_that_of_the_argument_the_host_or_the_environment(
    sasl, aws, monkeypatch
):
    def region(host, **arguments):
        exchange = sasl.AwsMskIam(**arguments)
        exchange.set_host(host)
        return json.loads(exchange.first())["x-amz-credential"].split("/")[2]

    assert region(HOST, region="us-east-2") == "us-east-2"
    serverless = "boot-x.c1.kafka-serverless.us-west-2.amazonaws.com"
    assert region(serverless) == "us-west-2"
    assert region("b.kafka.cn-north-1.amazonaws.com.cn") == "cn-north-1"
    with pytest.raises(sasl.CredentialsError, match="set AWS_REGION"):
        region("kafka.internal")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "sa-east-1")
    assert region("kafka.internal") == "sa-east-1"


def test_aws_without_credentials_is_a_clear_error(sasl, aws, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    exchange = sasl.AwsMskIam()
    exchange.set_host(HOST)
    exchange.prepare()
    with pytest.raises(sasl.CredentialsError, match="there are no AWS credentials"):
        exchange.first()


def test_error_of_botocore_does_not_show_its_message(sasl, aws):
    exchange = sasl.AwsMskIam(profile="wonderland")
    exchange.set_host(HOST)
    exchange.prepare()
    with pytest.raises(sasl.CredentialsError, match="raised ProfileNotFound") as caught:
        exchange.first()
    assert "wonderland" not in "".join(traceback.format_exception(caught.value))


@pytest.fixture
def fake_botocore(monkeypatch):
    """Replace the botocore functions that kwire uses by fakes."""
    modules = {f"botocore.{name}": ModuleType(name) for name in ("auth", "session")}
    modules["botocore.awsrequest"] = ModuleType("awsrequest")
    frozen = SimpleNamespace(get_frozen_credentials=lambda: "keys")

    class Session:
        def __init__(self, profile=None):
            self.profile = profile

        def get_credentials(self):
            return frozen

        def get_config_variable(self, name):
            return "eu-north-1" if name == "region" else None

    class Request:
        def __init__(self, method, url):
            self.method, self.url = method, url

    class Signer:
        def __init__(self, keys, service, region, expires):
            self.scope = f"{keys}/{region}/{service}"

        def add_auth(self, request):
            assert request.method == "GET"
            request.url += f"&X-Amz-Credential={self.scope}&X-Amz-Signature=abc"

    modules["botocore.session"].Session = Session
    modules["botocore.awsrequest"].AWSRequest = Request
    modules["botocore.auth"].SigV4QueryAuth = Signer
    monkeypatch.setitem(sys.modules, "botocore", ModuleType("botocore"))
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)


class AwsServer:
    """Broker side of AWS_MSK_IAM. Adds the decoded payload to ``payloads``."""

    def __init__(self, payloads):
        self.payloads = payloads
        self.is_done = False

    def answer(self, data):
        self.payloads.append(json.loads(data))
        self.is_done = True
        return b'{"version":"2020_10_22","request-id":"r"}'


@pytest.mark.parametrize("runner", RUNNERS)
def test_aws_client_is_configured_like_javas(kwire, fake_botocore, runner):
    config = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "AWS_MSK_IAM",
        "sasl.jaas.config": (
            'software.amazon.msk.auth.iam.IAMLoginModule required awsProfileName="p";'
        ),
        "sasl.client.callback.handler.class": (
            "software.amazon.msk.auth.iam.IAMClientCallbackHandler"
        ),
    }
    payloads = []
    options = {"users": {}, "mechanisms": ("AWS_MSK_IAM",)}
    with LogBroker({"orders": (3,)}, **options) as broker:
        broker.exchanges["AWS_MSK_IAM"] = lambda: AwsServer(payloads)
        connect = {"config": config}
        chunks = read(kwire, runner, broker.address, "orders", connect=connect)
        assert chunks[-1].next_offset == 3
    assert payloads[0] == {
        "version": "2020_10_22",
        "host": "127.0.0.1",
        "user-agent": "kwire",
        "action": "kafka-cluster:Connect",
        "x-amz-credential": "keys/eu-north-1/kafka-cluster",
        "x-amz-signature": "abc",
    }


@pytest.mark.parametrize(
    "answer", [b"", b"{}", b"[]", b"null", b"\xff", b"[" * 10**5, b'{"version": "1"}']
)
def test_aws_server_that_breaks_the_rules_is_a_sasl_error(sasl, fake_botocore, answer):
    exchange = sasl.AwsMskIam()
    exchange.set_host("b")
    exchange.first()
    with pytest.raises(sasl.SaslError, match="must answer AWS_MSK_IAM"):
        exchange.challenge(answer)
    assert not exchange.is_done


@pytest.mark.parametrize("host", ["", "b/?x=1", "b&x", "b\n", "b@c", "é", "b" * 300])
def test_host_that_would_change_the_signed_request_is_rejected(
    sasl, fake_botocore, host
):
    exchange = sasl.AwsMskIam()
    exchange.set_host(host)
    with pytest.raises(sasl.CredentialsError, match="requires the host name"):
        exchange.first()
