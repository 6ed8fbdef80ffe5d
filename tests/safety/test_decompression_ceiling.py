# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decompression bombs within batches stop at the default limit.

Every bomb, on each library, at a limit of 1 MiB, with the memory of the whole process
and sizes that are declared wrongly, is in ``compression``. Here the same bombs
come as records do, through all that reads batches, and meet the default of 64 MiB.
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
    what: (name, data)
    for what, (name, data) in BOMBS.items()
    if what in {"gzip", "gzip, many members", "gzip, size too low", "lz4"}
    or what in {"snappy, many blocks", "lz4, large blocks", "lz4, size a lie"}
    or what in {"zstd", "zstd, many frames", "zstd, many frames with sizes"}
}
"""Those that hold 250 MiB and more, whatever they say."""


def largest_block(data):
    """Return how large blocks are: at most 128 KiB, but in lz4 as its header says."""
    return 4 * MIB if b"\x60\x70" in data[:7] else 128 * 1024


BY_ROUTE = [
    (what, route)
    for what in sorted(GROWING)
    for route in sorted(ROUTES)
    if ROUTES[route][0] == GROWING[what][0]
]


@pytest.mark.parametrize(("what", "route"), BY_ROUTE)
def test_the_default_ceiling_stops_every_bomb(twins, monkeypatch, what, route, figure):
    """64 MiB come out at most, and one block more is asked for at most."""
    name, missing = ROUTES[route]
    data = GROWING[what][1]
    if missing:
        monkeypatch.setitem(sys.modules, missing, None)
    asked = [0]

    def allocate(size):
        asked.append(size)
        return bytearray(size)

    codec = Codec(twins.fast, name)
    with pytest.raises(twins.fast.LimitExceeded):
        codec.read(data, allocate=allocate)
    blocks = max(0, max(asked) - DEFAULT) / largest_block(data)
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
    """Through all that reads batches: the memory of one megabyte and a block or two."""
    limits = kwire.Limits(decompressed_bytes=MIB)
    most, refused = 0, 0
    for name, content in GROWING.values():
        data = batch(content, attributes=Codec(kwire, name).number, count=1, crc=0)
        # What is loaded on first use is not the bomb's doing.
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
        # What came out until then, a copy of it, and a block on each side.
        bound = 2 * MIB + 2 * largest_block(content)
        most = max(most, (peak - len(data)) / bound)
        refused += 1
    what = "largest part of the memory for a bomb at 1 MiB: twice that, and two blocks"
    figure("P9", what, most, most=1)
    figure("P9", "bombs in batches refused", refused, least=10)
