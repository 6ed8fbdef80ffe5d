# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Any number of threads may use kwire concurrently, with shared objects.

Eight threads start simultaneously, 20 times (``KWIRE_THREAD_ROUNDS``), while the
interpreter switches between them as often as possible. In a build without the GIL, they
run in parallel, and importing kwire must not enable the GIL.
"""

import importlib
import os
import random
import subprocess
import sys
import sysconfig
import threading
from functools import partial

import pytest

from tests.harness import hostile
from tests.harness.golden import vectors
from tests.harness.together import together
from tests.harness.values import build, systematic

THREADS = 8
ROUNDS = int(os.environ.get("KWIRE_THREAD_ROUNDS", "20"))


@pytest.fixture
def in_threads(kwire, figure):
    """Return a function that runs ``work(number)`` in all threads, for many rounds."""

    def run(work, rounds=ROUNDS):
        started = [one_round(work) for _ in range(rounds)]
        figure_name = "rounds of threads that start as one"
        figure("P13", figure_name, len(started), least=ROUNDS)
        figure("P13", "threads", min(started), least=8)

    return run


def one_round(work):
    """Run ``work(number)`` once per thread.

    Return how many threads have completed it. The first error is raised.
    """
    barrier = threading.Barrier(THREADS)
    done = []

    def run(number):
        barrier.wait(10)
        work(number)
        done.append(number)

    together([partial(run, number) for number in range(THREADS)], interval=1e-6)
    return len(done)


def module_of(package, name):
    """Import a module from the package under test."""
    return importlib.import_module(f"{package.__name__}.{name}")


def test_messages_are_read_and_written_at_once(kwire, in_threads):
    """Concurrent encoding and decoding returns the same as in a single thread."""
    chosen = random.Random(8).sample(vectors(), 12)

    def work(number):
        for vector in chosen[number:] + chosen[:number]:
            cls = getattr(kwire.messages, vector.message)
            message = kwire.decode(cls, vector.data, vector.version)
            assert kwire.encode(message, vector.version) == vector.data
            with pytest.raises(kwire.DecodeError):
                kwire.decode(cls, vector.data + b"\xff" * 9, vector.version)

    in_threads(work)


def test_invalid_messages_are_rejected_concurrently(kwire, in_threads):
    """Concurrent decoding of invalid input has the outcome of a single thread."""
    mutants = [mutant for name in hostile.FAMILIES for mutant in hostile.take(name, 10)]

    def result(mutant):
        cls = getattr(kwire.messages, mutant.message)
        try:
            return kwire.decode(cls, mutant.data, mutant.version)
        except kwire.DecodeError as error:
            return str(error), error.offset, error.path

    alone = list(map(result, mutants))

    def work(number):
        for index in range(len(mutants)):
            turned = (index + 7 * number) % len(mutants)
            assert result(mutants[turned]) == alone[turned]

    in_threads(work)


SCHEMA = """
{ "name": "Fresh%d", "type": "data", "validVersions": "0-3", "flexibleVersions": "1+",
  "fields": [
    { "name": "Names", "type": "[]string", "versions": "0+" },
    { "name": "Parts", "type": "[]Part", "versions": "0+", "fields": [
      { "name": "Id", "type": "uuid", "versions": "0+" } ]}
  ]
}
"""


def test_a_fresh_message_is_met_at_once(kwire, in_threads):
    """Several threads may use a class and version for the first time concurrently."""
    fresh = [kwire.messages.message_class(SCHEMA % number) for number in range(ROUNDS)]
    met = [0] * THREADS

    def work(number):
        cls = fresh[met[number]]
        met[number] += 1
        message = cls(names=["a", "b"], parts=[cls.Part()])
        for version in range(4):
            data = kwire.encode(message, version)
            assert kwire.decode(cls, data, version) == message

    in_threads(work)


def test_schemas_are_compiled_at_once(kwire, in_threads):
    """Several threads may compile the same schema. Each gets its own class."""

    def work(number):
        cls = kwire.messages.message_class(SCHEMA % number)
        assert kwire.decode(cls, bytes(8), 0) == cls()

    in_threads(work)


DEFINITIONS = """
import random, sys
sys.path[:0] = {path!r}
import kwire.messages
from tests.safety import test_threads

names = random.Random(4).sample(sorted(kwire.messages.ALL), len(kwire.messages.ALL))
names = [name for name in names if name not in vars(kwire.messages)]
names = names[:test_threads.ROUNDS]
for name in names:
    found = [None] * test_threads.THREADS

    def work(number):
        found[number] = getattr(kwire.messages, name)

    test_threads.one_round(work)
    assert len(set(map(id, found))) == 1, name
    version = found[0].valid_versions.min
    made = kwire.encode(found[0](), version)
    assert kwire.decode(found[0], made, version) == found[0]()
print(len(names))
"""


def test_definitions_are_met_at_once(kwire, figure):
    """Several threads that load a message for the first time get the same class.

    The test runs in a new process.
    """
    done = subprocess.run(
        [sys.executable, "-c", DEFINITIONS.format(path=sys.path)],
        env=os.environ | {"KWIRE_BACKEND": kwire.backend},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figure_name = "messages first met by eight threads at once"
    figure("P13", figure_name, int(done.stdout), least=min(ROUNDS, 10))


def test_one_message_is_shared(kwire, in_threads):
    """Several threads may hash, print, compare and encode one message without locks."""
    plain = dict(systematic(kwire, "MetadataResponse", 12))["unknown tags"]
    message = build(kwire, "MetadataResponse", plain)
    expected = kwire.encode(message, 12), hash(message), repr(message)

    def work(number):
        for _ in range(3):
            outcome = kwire.encode(message, 12), hash(message), repr(message)
            assert outcome == expected
            assert message.replace(cluster_id="other") != message

    in_threads(work)


def test_records_are_read_and_written_at_once(kwire, in_threads):
    """Several threads may decode the same record bytes, compressed or not."""
    rows = [(b"key", bytes([i]) * i, i, [("name", b"x")]) for i in range(30)]
    plain = kwire.records.encode_batch(rows)
    packed = kwire.records.encode_batch(rows, compression="gzip")

    def work(number):
        data = bytearray(plain + packed)
        batches = list(kwire.records.decode_batches(data))
        assert [len(batch.records) for batch in batches] == [30, 30]
        assert batches[0].records[number].value == rows[number][1]
        assert kwire.records.encode_batch(rows) == plain
        data[-1] ^= 1
        with pytest.raises(kwire.CorruptBatch):
            list(kwire.records.decode_batches(data))

    in_threads(work)


def test_columns_are_read_and_written_at_once(kwire, in_threads):
    """Several threads may share columns, and decode their own columns."""
    columns = module_of(kwire, "records.columns")
    rows = [(b"key", bytes([i]) * i, i, []) for i in range(30)]
    plain = kwire.records.encode_batch(rows)
    shared = columns.decode_records(plain)

    def work(number):
        mine = columns.decode_records(plain)
        assert mine.value[number] == shared.value[number] == rows[number][1]
        assert columns.encode_batch(mine) == columns.encode_batch(shared)
        with pytest.raises(kwire.CorruptBatch):
            columns.decode_records(plain[:-1] + b"?")

    in_threads(work)


def test_memory_of_columns_is_used_again_at_once(kwire):
    """A large block that is reused never belongs to two threads."""
    columns = module_of(kwire, "records.columns")
    headers = [("first", b"x"), ("zweiter ü", None)]
    rows = [(b"key", bytes([i % 256]) * (i % 400), i, headers) for i in range(900)]
    compressed = kwire.records.encode_batch(rows, compression="gzip")
    plain = kwire.records.encode_batch(rows)

    def work(number):
        first = columns.decode_records(plain)
        second = columns.decode_records(compressed)
        assert columns.encode_batch(first) == plain
        assert kwire.records.encode_batch(rows) == plain
        assert columns.encode_batch(second) == columns.encode_batch(first)

    for _ in range(ROUNDS if kwire.backend == "fast" else 1):
        assert one_round(work) == THREADS


def test_each_thread_has_a_connection(kwire, in_threads):
    """Several threads may use connections that share a version table."""
    connection = module_of(kwire, "connection")
    negotiation = module_of(kwire, "connection.negotiation")
    table = negotiation.ApiVersionTable.from_ranges({3: (0, 9), 18: (0, 4)})
    cls, request = kwire.messages.MetadataResponse, kwire.messages.MetadataRequest

    def work(number):
        client = connection.ClientConnection(f"client-{number}", table=table)
        server = connection.ServerConnection(table)
        for step in range(3):
            client.send(request(topics=None))
            (received,) = server.receive_data(client.data_to_send())
            assert received.client_id == f"client-{number}"
            server.send(received, cls(cluster_id=f"{number}-{step}"))
            (answer,) = client.receive_data(server.data_to_send())
            assert answer.response.cluster_id == f"{number}-{step}"

    in_threads(work)


LOCK = """
import sys
sys.path[:0] = {path!r}
import kwire, kwire.records.columns, kwire.connection, kwire.messages.wire
from kwire.messages import MetadataRequest as cls
assert kwire.decode(cls, kwire.encode(cls(), 12), 12) == cls()
print(getattr(sys, "_is_gil_enabled", lambda: True)())
"""


def test_import_does_not_enable_the_gil(kwire, monkeypatch):
    """In a build without the GIL, importing kwire does not enable the GIL.

    An extension without the required declaration would enable it.
    """
    monkeypatch.setenv("KWIRE_BACKEND", kwire.backend)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", LOCK.format(path=sys.path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    has_lock = not sysconfig.get_config_var("Py_GIL_DISABLED")
    assert done.stdout.strip() == str(has_lock)
