# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Installing and uninstalling an adapter, and the conditions under which it refuses.

Protects programs from an adapter for untested classes. Uninstalling must restore
everything, and must respect other libraries that replace the same names.
"""

import importlib
import os
import subprocess
import sys
import warnings

import pytest
from kafka import TopicPartition
from kafka.consumer import fetcher as kafka_fetcher

from kwire.client.adapters import kafka_classes
from kwire.records import encode_batch
from tests.client.adapters.consumers import CONSUMERS, Broker
from tests.client.adapters.fetched import CLIENTS, TOPIC

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    from aiokafka.consumer import consumer as aiokafka_consumer
    from aiokafka.consumer import fetcher as aiokafka_fetcher

SEAMS = {
    "kafka-python": [(kafka_fetcher.Fetcher, "PartitionRecords")],
    "aiokafka": [
        (aiokafka_fetcher, "MemoryRecords"),
        (aiokafka_fetcher, "PartitionRecords"),
        (aiokafka_fetcher.FetchResult, "getall"),
        (aiokafka_consumer.AIOKafkaConsumer, "getone"),
        (aiokafka_consumer.AIOKafkaConsumer, "__anext__"),
    ],
}
PACKAGES = {"kafka-python": "kafka", "aiokafka": "aiokafka"}


@pytest.fixture(params=CLIENTS)
def client(request):
    """Name of the client library: "kafka-python" or "aiokafka"."""
    return request.param


def look(client):
    """Return the client's objects that the adapter replaces."""
    return [vars(owner)[name] for owner, name in SEAMS[client]]


def test_install_replaces_functions_and_uninstall_restores_them(client):
    """``uninstall`` restores the original objects, after any number of calls."""
    adapter, before = CLIENTS[client], look(client)
    adapter.uninstall()
    assert look(client) == before
    assert adapter.install() is True
    installed = look(client)
    assert not any(map(is_same, installed, before))
    assert adapter.install() is True
    assert look(client) == installed
    assert "installed" in repr(adapter)
    adapter.uninstall()
    adapter.uninstall()
    assert look(client) == before
    assert not adapter.is_installed


def is_same(one, other):
    """Return whether both arguments are the same object."""
    return one is other


def test_with_block_restores_the_previous_installation(client):
    """Covers nested blocks, an error, and a previously installed adapter."""
    adapter, before = CLIENTS[client], look(client)
    with adapter, adapter:
        assert adapter.is_installed
    assert look(client) == before
    with pytest.raises(KeyError), adapter:
        raise KeyError
    assert look(client) == before
    adapter.install()
    with adapter:
        pass
    assert adapter.is_installed
    adapter.uninstall()


def test_classes_look_like_the_clients_own(client):
    """Logs and pickles depend on subclasses, names and modules."""
    original_class = look(client)[int(client == "aiokafka")]
    with CLIENTS[client]:
        adapter_class = look(client)[int(client == "aiokafka")]
        assert issubclass(adapter_class, original_class)
        assert (adapter_class.__qualname__, adapter_class.__module__) == (
            original_class.__qualname__,
            original_class.__module__,
        )


def test_unknown_client_version_is_not_patched(client, monkeypatch):
    """A warning contains both versions, and nothing is changed."""
    adapter, before = CLIENTS[client], look(client)
    module = importlib.import_module(PACKAGES[client])
    monkeypatch.setattr(module, "__version__", "99.1")
    with pytest.warns(RuntimeWarning, match=r"99\.1.*" + adapter.tested_versions[-1]):
        assert adapter.install() is False
    with pytest.warns(RuntimeWarning), adapter:
        assert not adapter.is_installed
        assert look(client) == before
    assert look(client) == before


def run(code, **environment):
    """Run code in a new interpreter, and return the words that it prints.

    ``environment`` contains additional environment variables.
    """
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_import_loads_no_client():
    """A client is only imported when its adapter is installed."""
    code = (
        "import sys, kwire, kwire.client.adapters\n"
        "from kwire.client import adapters\n"
        "repr(adapters.aiokafka), adapters.kafka_python.is_installed\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    assert not {"kafka", "aiokafka"} & set(run(code))


@pytest.mark.parametrize("name", ["kafka_python", "aiokafka"])
def test_missing_client_library_raises_an_import_error(name):
    """``install`` raises the ImportError of the missing client library."""
    code = (
        "import sys; sys.modules |= {'kafka': None, 'aiokafka': None}\n"
        "from kwire.client import adapters\n"
        "try:\n"
        f"    adapters.{name}.install()\n"
        "except ImportError:\n"
        "    print('refused')"
    )
    assert run(code) == ["refused"]


@pytest.mark.parametrize("name", ["kafka_python", "aiokafka"])
def test_without_the_compiled_engine_nothing_changes(name):
    """The Python engine would be slower than the clients."""
    code = (
        "import warnings; warnings.simplefilter('ignore', DeprecationWarning)\n"
        "from kwire.client import adapters\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always', RuntimeWarning)\n"
        f"    print(adapters.{name}.install())\n"
        "print(*[each.category.__name__ for each in caught])"
    )
    assert run(code, KWIRE_BACKEND="pure") == ["False", "RuntimeWarning"]


def test_wrapper_of_getone_sees_each_record(monkeypatch):
    """A library may wrap ``getone``. Its wrapper is called for each record."""
    seen = []
    original = aiokafka_consumer.AIOKafkaConsumer.getone

    async def traced(self, *partitions):
        record = await original(self, *partitions)
        seen.append(record.offset)
        return record

    monkeypatch.setattr(aiokafka_consumer.AIOKafkaConsumer, "getone", traced)
    with CLIENTS["aiokafka"], Broker(encode_batch([(b"k", b"v")] * 3)) as broker:
        consumer = CONSUMERS["aiokafka"](broker)
        assert [consumer.take().offset for _ in range(3)] == seen == [0, 1, 2]
        consumer.close()


def test_uninstall_keeps_functions_of_another_library(client, monkeypatch):
    """Restoring the original would silently remove the other library's function."""
    owner, name = SEAMS[client][-1]
    original = vars(owner)[name]
    with CLIENTS[client]:
        other = type("Other", (), {})
        monkeypatch.setattr(owner, name, other)
    assert vars(owner)[name] is other
    monkeypatch.undo()
    setattr(owner, name, original)


def test_other_sources_of_records_keep_the_clients_decoder(monkeypatch):
    """If an object is not fetched data, such as a subclass, the client decodes it."""
    data = encode_batch([(b"k", b"v")] * 3)
    monkeypatch.setattr(kafka_classes, "RunReader", lambda *_: {}[0])

    class Own(kafka_fetcher.MemoryRecords):
        pass

    with CLIENTS["kafka-python"]:
        tp = TopicPartition(TOPIC, 0)
        part = kafka_fetcher.Fetcher.PartitionRecords(0, tp, Own(data))
        assert len(part.take()) == 3
        with pytest.raises(KeyError):
            kafka_fetcher.Fetcher.PartitionRecords(
                0, tp, kafka_fetcher.MemoryRecords(data)
            ).take()
