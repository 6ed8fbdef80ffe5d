# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Count the calls with which an adapter decodes consecutive batches.

Protects topics with single-record batches, with and without transactions. Call overhead
dominates there, so that an adapter could be slower than its client. Calls are counted,
while ``python -m benchmarks adapters`` measures the time. An adapter leaves the
shortest fetches to the client.
"""

import pytest

from kwire.client.adapters import runs
from kwire.client.adapters.aiokafka_classes import LEAST_BYTES
from kwire.records import encode_batch
from tests.client.adapters.fetched import CLIENTS, drain

FIELDS = {"producer_id": 5, "producer_epoch": 0, "base_sequence": 0}
ROW = (b"k" * 10, b"v" * 100)


def write(count, **options):
    """Encode ``count`` batches, each with one record."""
    return b"".join(
        encode_batch([ROW], base_offset=offset, **options) for offset in range(count)
    )


def write_transactions(count):
    """Encode ``count`` transactions: a batch with one record, and a commit marker."""
    marker = {**FIELDS, "is_transactional": True, "is_control": True}
    return b"".join(
        encode_batch([ROW], base_offset=2 * n, is_transactional=True, **FIELDS)
        + encode_batch([(b"\0\0\0\1", bytes(6))], base_offset=2 * n + 1, **marker)
        for n in range(count)
    )


INPUTS = {
    "one record": (1, write(1)),
    "three batches of one record": (3, write(3)),
    "20 batches of one record": (20, write(20)),
    "1000 batches of one record": (1000, write(1000)),
    "one batch": (1, encode_batch([ROW] * 1000)),
    "transactions of one record": (40, write_transactions(20)),
    "transactional batches": (20, write(20, is_transactional=True, **FIELDS)),
}
"""(number of batches, their bytes) by name."""


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", INPUTS)
def test_runs_are_decoded_by_one_call_each(client, name, monkeypatch):
    """A run is decoded by one call, and each batch header is read once.

    The additional header read finds the end of the data. aiokafka's adapter makes no
    call if the data is shorter than ``LEAST_BYTES``.
    """
    batches, data = INPUTS[name]
    calls = []
    for owner, name_of in (
        (runs.engine, "decode_records"),
        (runs, "read_batch_header"),
    ):
        counted = count_calls(getattr(owner, name_of), calls)
        monkeypatch.setattr(owner, name_of, counted)
    with CLIENTS[client]:
        drain(client, data, "transaction" in name)
    if client == "aiokafka" and len(data) < LEAST_BYTES:
        assert calls == []
    else:
        assert calls.count("read_batch_header") == batches + 1
        most = 1 + len(data) // runs.RUN_BYTES
        assert 1 <= calls.count("decode_records") <= most


def count_calls(function, calls):
    """Wrap a function. Each call appends the function's name to ``calls``."""

    def counted(*arguments, **options):
        calls.append(function.__name__)
        return function(*arguments, **options)

    return counted
