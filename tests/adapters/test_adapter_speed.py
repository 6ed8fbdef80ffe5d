# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""An adapter is not slower than the client, however small the batches are.

Processor time of decoding alone, both in one process. Protects topics with a batch for
each record, with and without transactions, where the costs of a batch are all there is.
``benchmarks`` measures how much faster consumers are.
"""

import pytest
from fetched import CLIENTS, drain
from processor_time import take_seconds

import kwire
from kwire.adapters.aiokafka_classes import LEAST_BYTES
from kwire.records import encode_batch

pytestmark = pytest.mark.skipif(
    kwire.backend != "fast",
    reason="this build has one engine, which adapters refuse because it is slower",
)

TRIES = 25
FIELDS = {"producer_id": 5, "producer_epoch": 0, "base_sequence": 0}
ROW = (b"k" * 10, b"v" * 100)


def write(count, **options):
    """Write batches of one record."""
    return b"".join(
        encode_batch([ROW], base_offset=offset, **options) for offset in range(count)
    )


def write_transactions(count):
    """Write transactions of one record, each with its marker."""
    marker = {**FIELDS, "is_transactional": True, "is_control": True}
    return b"".join(
        encode_batch([ROW], base_offset=2 * n, is_transactional=True, **FIELDS)
        + encode_batch([(b"\0\0\0\1", bytes(6))], base_offset=2 * n + 1, **marker)
        for n in range(count)
    )


INPUTS = {
    "one record": write(1),
    "three batches of one record": write(3),
    "20 batches of one record": write(20),
    "1000 batches of one record": write(1000),
    "one batch": encode_batch([ROW] * 1000),
    "transactions of one record": write_transactions(20),
    "transactional batches": write(20, is_transactional=True, **FIELDS),
}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", INPUTS)
def test_no_size_of_batches_is_slower_than_without(client, name):
    """In turn, until the least time with the adapter is no longer than without.

    A tenth is for what differs between two runs of the same code. What the adapter
    leaves to the client takes microseconds, of which one more call is a good part.
    """
    data, committed = INPUTS[name], "transactional" in name
    rounds = max(1, min(2**19 // len(data), 2000))
    most = 1.3 if len(data) < LEAST_BYTES else 1.1

    def call():
        for _ in range(rounds):
            drain(client, data, committed)

    own = adapted = float("inf")
    for _ in range(TRIES):
        own = min(own, take_seconds(call))
        with CLIENTS[client] as adapter:
            assert adapter.is_installed
            adapted = min(adapted, take_seconds(call))
        if adapted <= most * own:
            break
    assert adapted <= most * own
