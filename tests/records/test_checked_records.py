# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``check_records`` rejects records that clients decode differently.

The adapters depend on it: accepted records have the same meaning in kwire, kafka-python
and aiokafka. Without the option, kwire decodes such records like Java's client.
"""

import importlib

import pytest

from tests.records.record_bytes import batch, compressed_batch, record

MAX_INT64 = 2**63 - 1

ORDINARY = {
    "compaction gaps": ([record(0), record(3), record(9)], {"last_delta": 12}),
    "attributes of one byte": ([record(0, attributes=127)], {}),
    "maximum timestamp": ([record(0, MAX_INT64)], {}),
    "minimum timestamp": ([record(0, -MAX_INT64)], {"base_timestamp": -1}),
    "no record": ([], {"last_delta": 4}),
}
"""(records, header fields) by name. All of them are valid."""

ODD = {
    "attributes of two bytes": (1, [record(0), record(1, attributes=128)], {}),
    "maximum attributes": (0, [record(0, attributes=255)], {}),
    "repeated offset": (1, [record(0), record(0)], {}),
    "offset before the batch": (0, [record(-1)], {}),
    "offset after the batch": (1, [record(0), record(2)], {}),
    "descending offsets": (1, [record(1), record(0)], {}),
    "last offset before the first": (0, [record(0)], {"last_delta": -1}),
    "timestamp above 64 bits": (0, [record(0, MAX_INT64)], {"base_timestamp": 1}),
    "timestamp below 64 bits": (
        0,
        [record(0, -MAX_INT64 - 1)],
        {"base_timestamp": -1},
    ),
}
"""(index of the unusual record, records, header fields) by name."""


def decode(package, data, check_records):
    """Decode the records of a batch with the option ``check_records``."""
    # This import binds the engine's record class.
    importlib.import_module(f"{package.__name__}.records")
    engine = importlib.import_module(f"{package.__name__}._engine.active").record_engine
    decompress = importlib.import_module(
        f"{package.__name__}.records.compression"
    ).decompress
    options = engine.ReadOptions(
        lambda codec, payload, magic, position, remaining: decompress(
            codec, payload, magic, package.Limits(), position
        ),
        check_records=check_records,
    )
    return engine.decode_records(data, options)[0]


@pytest.mark.parametrize("write", [batch, compressed_batch])
@pytest.mark.parametrize("name", ORDINARY)
def test_records_in_the_form_of_brokers_pass_the_check(kwire, name, write):
    """Records in the form of brokers are decoded equally with ``check_records``."""
    records, fields = ORDINARY[name]
    data = write(*records, base_offset=5, **fields)
    rows = decode(kwire, data, check_records=True)
    assert rows == decode(kwire, data, check_records=False)
    assert len(rows) == len(records)


@pytest.mark.parametrize("write", [batch, compressed_batch])
@pytest.mark.parametrize("name", ODD)
def test_odd_records_are_rejected_if_records_are_checked(kwire, name, write):
    """With ``check_records``, an unusual record raises an error.

    The error contains the index of the record and the position of the batch.
    """
    index, records, fields = ODD[name]
    before = batch(record())
    data = before + write(*records, base_offset=5, **fields)
    assert len(decode(kwire, data, check_records=False)) == 1 + len(records)
    with pytest.raises(kwire.CorruptBatch, match=f"record {index} has") as caught:
        decode(kwire, data, check_records=True)
    assert caught.value.offset == len(before)
