# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decompression bombs in batches are stopped by the default limit.

The tests in ``compression`` cover every bomb and library with a limit of 1 MiB, the
process memory, and wrong declared sizes. Here, the same bombs are batch payloads. All
functions that read batches read them, and they exceed the default limit of 64 MiB.
"""

import importlib
import sys
import tracemalloc

import pytest

from tests.records.compression.codecs_under_test import MIB, ROUTES, Codec
from tests.records.compression.test_compression_damage import BOMBS
from tests.records.record_bytes import batch

DEFAULT = 64 * MIB

GROWING = {
    bomb: (name, data)
    for bomb, (name, data) in BOMBS.items()
    if bomb in {"gzip", "gzip, many members", "gzip, size too low", "lz4"}
    or bomb in {"snappy, many blocks", "lz4, large blocks", "lz4, size a lie"}
    or bomb in {"zstd", "zstd, many frames", "zstd, many frames with sizes"}
}
"""Bombs that decompress to at least 250 MiB, by name.

Their declared sizes differ.
"""


def largest_block(data):
    """Return the maximum block size in bytes: up to 4 MiB in lz4, otherwise 128 KiB."""
    return 4 * MIB if b"\x60\x70" in data[:7] else 128 * 1024


BY_ROUTE = [
    (bomb, route)
    for bomb in sorted(GROWING)
    for route in sorted(ROUTES)
    if ROUTES[route][0] == GROWING[bomb][0]
]


@pytest.mark.parametrize(("bomb", "route"), BY_ROUTE)
def test_the_default_ceiling_stops_every_bomb(twins, monkeypatch, bomb, route, figure):
    """Every bomb stops at the default limit of 64 MiB.

    At most one block more than the limit is allocated.
    """
    name, missing = ROUTES[route]
    data = GROWING[bomb][1]
    if missing:
        monkeypatch.setitem(sys.modules, missing, None)
    sizes = [0]

    def allocate(size):
        sizes.append(size)
        return bytearray(size)

    codec = Codec(twins.fast, name)
    with pytest.raises(twins.fast.LimitExceeded):
        codec.read(data, allocate=allocate)
    blocks = max(0, max(sizes) - DEFAULT) / largest_block(data)
    figure("P9", "blocks past the default of 64 MiB", blocks, most=1)


READERS = {
    "batches": lambda kwire, data, limits: list(
        kwire.records.decode_batches(data, limits=limits, check_crc=False)
    ),
    "columns": lambda kwire, data, limits: importlib.import_module(
        f"{kwire.__name__}.records.columns"
    ).decode_records(data, limits=limits, check_crc=False),
}


@pytest.mark.parametrize("reader", READERS)
def test_bombs_in_batches_are_refused(kwire, reader, figure):
    """Every reader of batches stops at a limit of 1 MiB.

    The memory is at most that of the decompressed bytes, a copy, and two blocks.
    """
    limits = kwire.Limits(decompressed_bytes=MIB)
    most, refused = 0, 0
    for name, content in GROWING.values():
        data = batch(content, attributes=Codec(kwire, name).number, count=1, crc=0)
        # The first call imports modules, whose memory must not be measured.
        with pytest.raises(kwire.LimitExceeded):
            READERS[reader](kwire, data, limits)
        tracemalloc.start()
        try:
            with pytest.raises(kwire.LimitExceeded) as caught:
                READERS[reader](kwire, data, limits)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert caught.value.offset == 0
        # Includes the decompressed bytes, a copy of them, and an input and an output
        # block.
        bound = 2 * MIB + 2 * largest_block(content)
        most = max(most, (peak - len(data)) / bound)
        refused += 1
    figure_name = (
        "largest part of the memory for a bomb at 1 MiB: twice that, and two blocks"
    )
    figure("P9", figure_name, most, most=1)
    figure("P9", "bombs in batches refused", refused, least=10)
