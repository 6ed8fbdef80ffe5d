# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Header names that are not UTF-8, in all forms in which a client returns records.

Such names exist, because any producer can write them. It must not make the topic
unreadable, and a caller that must copy names exactly needs a way to reject it.
"""

import asyncio
import importlib
from itertools import product

import pyarrow
import pytest

from tests.client.log_broker import LogBroker

RUNNERS = ("blocking", "asyncio")
GOOD, BAD, READ = b"good", b"b\xffd!", "b�d!"


def make_batch(kwire, base_offset):
    """Return a two-record batch. The second record has an invalid header name."""
    rows = [
        (b"key", b"value", 1000, [("good", b"1")]),
        (b"key", b"value", 1001, [("back", b"2")]),
    ]
    batch = kwire.records.encode_batch(rows, base_offset=base_offset)
    batch = batch.replace(b"back", BAD)
    crc32c = importlib.import_module(
        f"{kwire.__name__}._engine.active"
    ).record_engine.crc32c
    return batch[:17] + crc32c(batch[21:]).to_bytes(4, "big") + batch[21:]


@pytest.fixture(scope="module")
def broker():
    """Broker with a three-batch topic. All batches have an invalid header name."""
    import kwire

    with LogBroker({"orders": (0,)}) as running:
        running.cluster_truth.add_group("readers", ["orders"])
        log = running.log("orders")
        for number in range(3):
            log.append_bytes(make_batch(kwire, 2 * number), 2)
        yield running


def open_reader(kafka, kind, options):
    """Open a reader for the topic: a scan, or a consumer with all partitions."""
    if kind == "scan":
        return kafka.scan("orders", **options)
    return kafka.consumer("orders", group_id="readers", partitions="all", **options)


def read(kwire, runner, kind, address, form, **options):
    """Read the topic, and return the header names.

    ``form(chunk)`` returns the header names of a chunk.
    """
    client = importlib.import_module(f"{kwire.__name__}.client")
    names = []
    if runner == "blocking":
        with (
            client.connect_sync(address) as kafka,
            open_reader(kafka, kind, options) as reader,
        ):
            for chunk in reader:
                names += form(chunk)
                if len(names) >= 6:
                    break
        return names

    async def run():
        async with (
            client.connect(address) as kafka,
            open_reader(kafka, kind, options) as reader,
        ):
            async for chunk in reader:
                names.extend(form(chunk))
                if len(names) >= 6:
                    break

    asyncio.run(run(), debug=True)
    return names


def names_of(records):
    """Return the header names of records or messages."""
    return [name for record in records for name, _ in record.headers]


FORMS = {
    "rows": lambda chunk: names_of(chunk.records()),
    "messages": lambda chunk: names_of(chunk.iter_records()),
    "batches": lambda chunk: [n for b in chunk.batches() for n in names_of(b.records)],
    "records": lambda chunk: [
        chunk.columns.headers.key[row].decode()
        for row in range(len(chunk.columns.headers.key))
    ],
    "arrow": lambda chunk: [
        header["key"]
        for headers in chunk.to_arrow().column("headers").to_pylist()
        for header in headers
    ],
}
WAYS = list(product(RUNNERS, ("scan", "consumer"), FORMS))


@pytest.mark.parametrize(("runner", "kind", "form"), WAYS)
def test_bad_header_names_are_read_with_replacement_by_default(
    kwire, broker, runner, kind, form
):
    """All readers return U+FFFD instead of the invalid byte, in all forms."""
    names = read(kwire, runner, kind, broker.address, FORMS[form])
    assert names == ["good", READ] * 3


@pytest.mark.parametrize(("runner", "kind", "form"), WAYS)
def test_bad_header_names_are_rejected_if_strict(kwire, broker, runner, kind, form):
    """``errors="strict"`` applies to all readers, in all forms."""
    with pytest.raises(kwire.DecodeError, match="UTF-8"):
        read(kwire, runner, kind, broker.address, FORMS[form], errors="strict")


@pytest.mark.parametrize("kind", ["scan", "consumer"])
def test_messages_of_a_reader_have_replaced_header_names(kwire, broker, kind):
    """Covers ``records()`` in scans and consumers, with both clients."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with (
        client.connect_sync(broker.address) as kafka,
        open_reader(kafka, kind, {}) as reader,
    ):
        messages = reader.records()
        blocking = names_of(next(messages) for _ in range(6))

    async def run():
        async with (
            client.connect(broker.address) as kafka,
            open_reader(kafka, kind, {}) as reader,
        ):
            messages = reader.records()
            return names_of([await anext(messages) for _ in range(6)])

    assert blocking == asyncio.run(run()) == ["good", READ] * 3


def test_a_table_of_a_scan_has_replaced_header_names(kwire, broker):
    """``pyarrow.table(scan)`` reads the topic, or rejects it if strict."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(broker.address) as kafka:
        headers = pyarrow.table(kafka.scan("orders"))["headers"].to_pylist()
        assert [h["key"] for row in headers for h in row] == ["good", READ] * 3
        with pytest.raises(Exception, match="UTF-8"):
            pyarrow.table(kafka.scan("orders", errors="strict"))


def test_other_values_of_errors_are_rejected(kwire):
    """A misspelled value is an error. It must not have the effect of the default."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    kafka = client.connect_sync("localhost:1")
    with pytest.raises(ValueError, match='errors must be "strict" or "replace"'):
        kafka.scan("orders", errors="ignore")
    with pytest.raises(ValueError, match='errors must be "strict" or "replace"'):
        kafka.consumer("orders", group_id="g", errors="ignore")
