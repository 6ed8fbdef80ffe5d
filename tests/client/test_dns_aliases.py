# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Bootstrap addresses that are DNS aliases: TLS and SASL use canonical names."""

import importlib
import socket
import ssl

import pytest

from tests.client.log_broker import LogBroker
from tests.client.runners import RUNNERS, read
from tests.harness.loopback_brokers import make_certificate, server_context

ALIAS = "alias.example"
CANONICAL = "resolve_canonical_bootstrap_servers_only"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Certificate and key of "localhost" and 127.0.0.1, as paths."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def dns(monkeypatch):
    """Resolve the alias to the loopback interface.

    The fixture is {address: canonical name}.
    """
    names = {"127.0.0.1": "localhost"}
    real = socket.getaddrinfo

    def resolve(host, *args, **kwargs):
        return real("127.0.0.1" if host == ALIAS else host, *args, **kwargs)

    def name(address, flags):
        assert flags == socket.NI_NAMEREQD
        if address[0] not in names:
            raise socket.gaierror(socket.EAI_NONAME, "no name")
        return names[address[0]], str(address[1])

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "getnameinfo", name)
    return names


@pytest.fixture
def client(kwire):
    """Client package on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.client")


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("option", ["argument", "property"])
def test_tls_checks_the_canonical_name_of_an_alias(
    kwire, client, dns, certificate, runner, option
):
    trusted = ssl.create_default_context(cafile=certificate[0])
    with LogBroker({"orders": (3,)}, context=server_context(*certificate)) as broker:
        address = f"{ALIAS}:{broker.port}"
        connect = {"ssl": trusted}
        with pytest.raises(client.BrokersUnreachable, match="Hostname mismatch"):
            read(kwire, runner, address, "orders", connect=connect)
        if option == "argument":
            connect["dns_lookup"] = CANONICAL
        else:
            connect["config"] = {
                "security.protocol": "SSL",
                "client.dns.lookup": CANONICAL,
            }
        chunks = read(kwire, runner, address, "orders", connect=connect)
        assert chunks[-1].next_offset == 3


@pytest.mark.parametrize("runner", RUNNERS)
def test_address_without_a_canonical_name_is_checked_itself(
    kwire, dns, certificate, runner
):
    dns.clear()
    connect = {
        "ssl": ssl.create_default_context(cafile=certificate[0]),
        "dns_lookup": CANONICAL,
    }
    with LogBroker({"orders": (3,)}, context=server_context(*certificate)) as broker:
        address = f"{ALIAS}:{broker.port}"
        chunks = read(kwire, runner, address, "orders", connect=connect)
        assert chunks[-1].next_offset == 3


@pytest.mark.parametrize("runner", RUNNERS)
def test_advertised_names_are_not_replaced(kwire, client, dns, certificate, runner):
    """Only bootstrap addresses are aliases.

    Host names from metadata are not replaced by canonical names.
    """
    connect = {
        "ssl": ssl.create_default_context(cafile=certificate[0]),
        "dns_lookup": CANONICAL,
        "timeout_s": 1.0,
    }
    with LogBroker({"orders": (3,)}, context=server_context(*certificate)) as broker:
        address = f"localhost:{broker.port}"
        broker.host = ALIAS
        with pytest.raises(client.BrokersUnreachable, match="Hostname mismatch"):
            read(kwire, runner, address, "orders", connect=connect)


class NamingMechanism:
    """Mechanism that sends the broker's host name instead of a password."""

    mechanism = "NAMING"

    def __init__(self):
        self._host = ""

    def set_host(self, host):
        self._host = host

    def first(self):
        return self._host.encode()

    def challenge(self, data):
        return None


class NamingServer:
    """Server side of ``NamingMechanism``. Accepts and stores all names."""

    def __init__(self, names):
        self._names = names
        self.is_done = True

    def answer(self, data):
        self._names.append(data.decode())
        return b""


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("lookup", ["use_all_dns_ips", CANONICAL])
def test_mechanism_gets_the_canonical_name_of_an_alias(kwire, dns, runner, lookup):
    dns["127.0.0.1"] = "broker-1.internal"
    names = []
    with LogBroker({"orders": (3,)}, users={}, mechanisms=("NAMING",)) as broker:
        broker.exchanges["NAMING"] = lambda: NamingServer(names)
        connect = {"sasl": NamingMechanism(), "dns_lookup": lookup}
        address = f"{ALIAS}:{broker.port}"
        read(kwire, runner, address, "orders", connect=connect)
    expected = "broker-1.internal" if lookup == CANONICAL else ALIAS
    assert set(names) == {expected, broker.host}


def test_unknown_lookup_is_an_error_without_its_value(client):
    for connect in (client.connect, client.connect_sync):
        with pytest.raises(ValueError, match="dns_lookup must be one of use_all"):
            connect("b:1", dns_lookup="wonderland")
        with pytest.raises(ValueError, match=r"client\.dns\.lookup must be") as caught:
            connect("b:1", config={"client.dns.lookup": "wonderland"})
        assert "wonderland" not in str(caught.value)
