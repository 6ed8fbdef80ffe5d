# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Certificate files are loaded again for a new connection if they have changed."""

import asyncio
import importlib
import logging
import os
import shutil
import ssl

import pytest

from tests.client.log_broker import LogBroker
from tests.client.runners import RUNNERS
from tests.harness.loopback_brokers import make_certificate, server_context

LOGGER = "kwire.client.connection"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Two certificates with their keys, as paths."""
    folder = tmp_path_factory.mktemp("tls")
    pairs = []
    for name in ("old", "new"):
        (folder / name).mkdir()
        pairs.append(make_certificate(folder / name))
    return pairs


def install(pair, folder):
    """Replace certificate and key, as a rotation does, and return the properties."""
    for source, name in zip(pair, ("certificate.pem", "key.pem"), strict=True):
        shutil.copy(source, folder / f"{name}.new")
        os.replace(folder / f"{name}.new", folder / name)
    return {
        "security.protocol": "SSL",
        "ssl.ca.location": str(folder / "certificate.pem"),
        "ssl.certificate.location": str(folder / "certificate.pem"),
        "ssl.key.location": str(folder / "key.pem"),
    }


class Session:
    """Client with either runner that remains open between operations."""

    def __init__(self, client, runner, address, config):
        self._runner = runner
        connect = client.connect_sync if runner == "blocking" else client.connect
        self._kafka = connect(address, config=config, connect_timeout_s=5)

    def topics(self):
        """Request the topics over a new connection, and return their names."""
        if self._runner == "blocking":
            return list(self._kafka.topics())

        async def run():
            return list(await self._kafka.topics())

        return asyncio.run(run())

    def close(self):
        """Close the client."""
        if self._runner == "blocking":
            self._kafka.close()
        else:
            asyncio.run(self._kafka.close())


@pytest.fixture
def client(kwire):
    """Client package on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.client")


@pytest.mark.parametrize("runner", RUNNERS)
def test_replaced_files_are_used_by_the_next_connection(
    client, runner, certificates, tmp_path, caplog
):
    old, new = certificates
    config = install(old, tmp_path)
    context = server_context(*new, client_ca=new[0])
    caplog.set_level(logging.INFO, LOGGER)
    with LogBroker({"orders": (1,)}, context=context) as broker:
        session = Session(client, runner, broker.address, config)
        with pytest.raises(client.BrokersUnreachable, match="not trusted"):
            session.topics()
        install(new, tmp_path)
        assert session.topics() == ["orders"]
        assert session.topics() == ["orders"]
        session.close()
    texts = [record.getMessage() for record in caplog.records]
    reloads = [text for text in texts if "were loaded again" in text]
    names = "ssl.ca.location, ssl.certificate.location, ssl.key.location"
    assert reloads == [f"TLS files changed and were loaded again: {names}"]


@pytest.mark.parametrize("runner", RUNNERS)
def test_bad_new_file_keeps_the_old_context_and_is_reported_once(
    client, runner, certificates, tmp_path, caplog
):
    old, _ = certificates
    config = install(old, tmp_path)
    context = server_context(*old, client_ca=old[0])
    with LogBroker({"orders": (1,)}, context=context) as broker:
        session = Session(client, runner, broker.address, config)
        for bad in (b"wonderland", b"-----BEGIN CERTIFICATE-----\nwonderland"):
            (tmp_path / "certificate.pem").write_bytes(bad)
            assert session.topics() == session.topics() == ["orders"]
        (tmp_path / "certificate.pem").unlink()
        assert session.topics() == ["orders"]
        install(old, tmp_path)
        assert session.topics() == ["orders"]
        session.close()
    warnings = [
        record for record in caplog.records if record.levelno == logging.WARNING
    ]
    warnings = [
        record.getMessage() for record in warnings if "TLS files" in record.getMessage()
    ]
    assert len(warnings) == 3
    assert all("ssl.ca.location" in text for text in warnings)
    assert not any("land" in text or str(tmp_path) in text for text in warnings)


def test_key_that_does_not_fit_keeps_the_old_context(client, certificates, tmp_path):
    """The old context is used while only the certificate or the key was replaced."""
    old, new = certificates
    config = install(old, tmp_path)
    kafka = client.connect_sync("b:1", config=config)
    first = kafka.network.load_context()
    shutil.copy(new[0], tmp_path / "certificate.pem")
    assert kafka.network.load_context() is first
    shutil.copy(new[1], tmp_path / "key.pem")
    second = kafka.network.load_context()
    assert second is not first
    assert kafka.network.load_context() is second


def test_unchanged_files_are_not_read_again(client, certificates, tmp_path):
    kafka = client.connect_sync("b:1", config=install(certificates[0], tmp_path))
    first = kafka.network.load_context()
    os.utime(tmp_path / "key.pem", ns=(0, os.stat(tmp_path / "key.pem").st_mtime_ns))
    assert kafka.network.load_context() is first


def test_link_to_another_directory_is_a_change(client, certificates, tmp_path):
    """Kubernetes replaces a mounted secret by changing a link to its directory."""
    for name, pair in zip(("a", "b"), certificates, strict=True):
        (tmp_path / name).mkdir()
        install(pair, tmp_path / name)
    (tmp_path / "data").symlink_to("a")
    config = {
        "security.protocol": "SSL",
        "ssl.ca.location": str(tmp_path / "data" / "certificate.pem"),
    }
    kafka = client.connect_sync("b:1", config=config)
    first = kafka.network.load_context()
    (tmp_path / "data.new").symlink_to("b")
    os.replace(tmp_path / "data.new", tmp_path / "data")
    assert kafka.network.load_context() is not first


def test_context_of_an_argument_is_used_unchanged(client):
    context = ssl.create_default_context()
    assert client.connect_sync("b:1", ssl=context).network.load_context() is context
