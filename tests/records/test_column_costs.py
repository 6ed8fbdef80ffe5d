# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Columns create no object per record, and let other threads run.

The compiled engine promises both costs. Columns use the engine's own memory, so
``tracemalloc`` and the interpreter only count objects.
"""

import gc
import importlib
import sys
import threading
import time
import tracemalloc

import pyarrow
import pytest

from tests.records.record_bytes import batch, record


def columns_of(twins):
    """Return ``kwire.records.columns`` of the compiled engine."""
    return importlib.import_module(f"{twins.fast.__name__}.records.columns")


def rows(count):
    """Return rows with keys, values and headers, including nulls."""
    return [
        (b"key", None if i % 7 == 0 else b"value", 1000 + i, [("h", b"x")] * (i % 3))
        for i in range(count)
    ]


def measure_call(call):
    """Return (number of memory blocks that the result keeps, peak memory in bytes).

    The call is made twice, first for the blocks and then for the peak.
    """
    call()
    gc.collect()
    gc.disable()
    try:
        before = sys.getallocatedblocks()
        result = call()
        blocks = sys.getallocatedblocks() - before
        del result
        tracemalloc.start()
        result = call()
        peak = tracemalloc.get_traced_memory()[1]
        del result
    finally:
        tracemalloc.stop()
        gc.enable()
    return blocks, peak


@pytest.mark.parametrize(
    ("magic", "codec"), [(0, "none"), (1, "none"), (1, "lz4"), (2, "none"), (2, "zstd")]
)
def test_decoding_makes_no_object_per_record(twins, codec, magic):
    """Decoding 4,000 records creates no more objects than decoding 10 records.

    Neither the result nor temporary objects may grow with the number of records.
    """
    columns = columns_of(twins)
    arrow = importlib.import_module(f"{twins.fast.__name__}.records.arrow")

    def measured(count):
        data = twins.fast.records.encode_batch(
            [row[: 4 if magic == 2 else 3] for row in rows(count)],
            magic=magic,
            compression=codec,
        )
        return [
            measure_call(lambda: columns.decode_records(data, batch_columns=True)),
            measure_call(lambda: arrow.records_to_arrow(data)),
        ]

    for few, many in zip(measured(10), measured(4_000), strict=True):
        assert many[0] <= few[0] + 20
        assert many[1] <= few[1] + 2000


def test_encoding_makes_no_object_per_record(twins):
    """Encoding a table only creates one object, the batch."""
    columns = columns_of(twins)

    def measured(count):
        data = twins.fast.records.encode_batch(rows(count))
        table = pyarrow.table(columns.decode_records(data))
        blocks, peak = measure_call(lambda: columns.encode_batch(table))
        return blocks, peak - 2 * len(data)

    few, many = measured(10), measured(4_000)
    assert many[0] <= few[0] + 20
    # The buffer has space for the longest varints of every record, up to 40 bytes more
    # than the records need.
    assert many[1] <= few[1] + 4_000 * 40


def test_measurement_detects_objects(twins):
    """The measurement detects one object per record.

    ``decode_batches`` creates such objects. If they were not detected, the other tests
    would prove nothing.
    """
    read = twins.fast.records.decode_batches

    def measured(count):
        data = twins.fast.records.encode_batch(rows(count))
        return measure_call(lambda: list(read(data)))

    few, many = measured(10), measured(4_000)
    assert many[0] > few[0] + 4_000
    assert many[1] > few[1] + 4_000 * 50


class Clock:
    """Thread that stores the current time in ``ticks`` whenever it runs."""

    def __enter__(self):
        """Start the thread, and wait until it runs."""
        self.ticks = []
        self.stopped = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        while len(self.ticks) < 5:
            time.sleep(0.001)
        return self

    def run(self):
        """Store the time about every millisecond."""
        while not self.stopped:
            self.ticks.append(time.perf_counter())
            time.sleep(0.001)

    def __exit__(self, *_):
        """Stop the thread."""
        self.stopped = True
        self.thread.join()

    def turns_during(self, call):
        """Return (turns, seconds of processor time) for a call.

        The turns are the times when the thread ran. The first and last tenth of the
        call do not count.
        """
        start, work = time.perf_counter(), time.thread_time()
        result = call()
        end, work = time.perf_counter(), time.thread_time() - work
        margin = (end - start) / 10
        turns = [t for t in self.ticks if start + margin < t < end - margin]
        assert result is not None
        return len(turns), work


def test_other_threads_run_during_one_call(twins):
    """Another thread runs while one call decodes 256 MB of records."""
    columns = columns_of(twins)
    content = bytes(range(256)) * 400
    small_batch = batch(*(record(i, i, b"key", content) for i in range(10)))
    data = small_batch * ((256 << 20) // len(small_batch))
    with Clock() as clock:
        turns, seconds = clock.turns_during(lambda: columns.decode_records(data))
        assert turns >= max(5, seconds / 0.02)
        # Sorting and counting keep the GIL, so the same measurement must find no turns.
        turns, _ = clock.turns_during(lambda: sorted(range(3_000_000, 0, -1)))
        held_turns, _ = clock.turns_during(lambda: data.count(b"\1\2\3\5"))
        assert min(turns, held_turns) < 3
