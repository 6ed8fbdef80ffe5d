# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire read`` to a pipe only imports modules that it uses.

Imports need most of the CPU time if only a few thousand records are read. ``python -m
benchmarks commands`` measures the times.
"""

import os
import subprocess
import sys

import pytest
from confluent_kafka import Producer

UNUSED = {
    # Modules for terminals, other commands and other clients.
    "rich",
    "asyncio",
    "ssl",
    "hashlib",
    "html",
    "tempfile",
    "numpy",
    "pyarrow",
    "jinja2",
    "cramjam",
    "zstandard",
    "isal",
    "kwire.client.machines.broker_versions",
    "kwire.client.machines.controllers",
    "kwire.cli.output.console",
    "kwire.cli.output.progress_bar",
    "kwire.client.runners.aio",
    "kwire.client.consumer",
    "kwire.client.producer",
    "kwire.client.table_batches",
    "kwire.client.transaction",
    "kwire.records.tables",
    "kwire.client.machines.produce.machine",
    "kwire.client.machines.produce.batch_sender",
    "kwire.client.machines.produce.transactions",
    "kwire.client.machines.coordinators",
    "kwire.client.machines.group.machine",
    "kwire.client.machines.group.member",
    "kwire.client.machines.queries",
    "kwire.client.machines.missing_features",
}

RUN = """
import sys
before = {*sys.modules}
from kwire.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(*sorted({*sys.modules} - before), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def address():
    """Address of a mock cluster with records in ``orders``."""
    producer = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1})
    producer.produce("orders", "värde".encode(), b"key")
    assert producer.flush(10) == 0
    broker = producer.list_topics(timeout=10).brokers[1]
    yield f"{broker.host}:{broker.port}"


@pytest.mark.parametrize("backend", ["auto", "pure"])
@pytest.mark.parametrize("form", [("-f", r"%s\n"), ("-o", "jsonl"), ("-o", "csv")])
def test_reading_into_a_pipe_loads_no_unused_module(address, form, backend):
    ran = subprocess.run(
        [sys.executable, "-c", RUN, "read", address, "orders", *form],
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"KWIRE_BACKEND": backend, "PYTHONPATH": ""},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "värde" in ran.stdout
    loaded = set(ran.stderr.split())
    assert {
        "click",
        "kwire.client.machines.scan.machine",
        "kwire.client.kafka",
    } <= loaded
    assert loaded & UNUSED == set()
