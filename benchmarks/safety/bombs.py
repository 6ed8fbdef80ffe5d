# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure the time until a decompression bomb is rejected, by codec.

For comparison, the codec's own library decompresses as many bytes as permitted.
"""

from __future__ import annotations

from typing import Any

import kwire
from benchmarks.safety.linear import least_seconds
from kwire.records import compression

CEILING = 64 * 2**20
CODECS = ("gzip", "snappy", "lz4", "zstd")


def run() -> float:
    """Measure and print the time until a bomb is rejected, for each codec.

    Returns the maximum additional time in milliseconds, compared with the time for
    reading the permitted 64 MiB.
    """
    print(f"\n{'bomb of 128 MiB':24}{'refused':>12}{'64 MiB read':>14}{'more':>12}")
    most = 0.0
    for name in CODECS:
        codec = compression.codec_of(name)
        bomb = compression.compress(codec, bytes(2 * CEILING), 2)
        allowed = compression.compress(codec, bytes(CEILING), 2)
        refused = least_seconds(lambda c=codec, b=bomb: _read(c, b, False))
        read = least_seconds(lambda c=codec, a=allowed: _read(c, a, True))
        more = 1000 * max(0.0, refused - read)
        most = max(most, more)
        print(
            f"{name:24}{refused * 1000:9,.1f} ms{read * 1000:11,.1f} ms{more:9,.1f} ms",
            flush=True,
        )
    return most


def _read(codec: int, data: Any, is_allowed: bool) -> None:
    try:
        compression.decompress(codec, data, 2, kwire.Limits(), 0)
    except kwire.LimitExceeded:
        assert not is_allowed
    else:
        assert is_allowed
