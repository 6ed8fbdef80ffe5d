# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Minimal stream driver that imitates Spark's driver, without Java.

The driver stores a range before reading it, replaces the micro-batch's sink file, and
then commits. On startup, it repeats micro-batches that were planned but not committed.
All state is in the checkpoint, so the process may be killed at any time.
"""

import json
import os
import sys
from pathlib import Path

from kwire.spark.log.options import read_options
from kwire.spark.log.stream import LogStream
from kwire.spark.topics.layout import default_layout
from kwire.spark.topics.stream_reader import make_stream_reader

MOST = 40
"""Maximum number of offsets in a micro-batch."""


def run(arguments):
    """Read a complete log in micro-batches, and write them to JSON files."""
    log, checkpoint, sink = map(Path, arguments)
    for folder in checkpoint / "offsets", checkpoint / "commits", sink:
        folder.mkdir(parents=True, exist_ok=True)
    settings = {"path": str(log), "maxOffsetsPerTrigger": str(MOST)}
    options = read_options(settings)
    stream = LogStream(options, default_layout(options))
    reader = make_stream_reader(lambda: stream)
    planned, committed = newest(checkpoint / "offsets"), newest(checkpoint / "commits")
    if planned < 0:
        write(checkpoint / "offsets" / "0", reader.initialOffset())
        planned = 0
    for number in range(max(1, committed + 1), planned + 1):
        micro_batch(reader, number, checkpoint, sink)
    while True:
        start = json.loads((checkpoint / "offsets" / str(planned)).read_text())
        end = reader.latestOffset(start, reader.getDefaultReadLimit())
        if end == start:
            return
        planned += 1
        write(checkpoint / "offsets" / str(planned), end)
        micro_batch(reader, planned, checkpoint, sink)


def micro_batch(reader, number, checkpoint, sink):
    """Read the planned range of a micro-batch, write its rows, and commit it."""
    start, end = (
        json.loads((checkpoint / "offsets" / str(batch_number)).read_text())
        for batch_number in (number - 1, number)
    )
    rows = [
        [row["topic"], row["partition"], row["offset"], row["value"].hex()]
        for part in reader.partitions(start, end)
        for batch in reader.read(part)
        for row in batch.to_pylist()
    ]
    file = sink / str(number)
    if file.exists() and json.loads(file.read_text()) != rows:
        sys.exit("a micro-batch that was read again is another one")
    write(file, rows)
    write(checkpoint / "commits" / str(number), end)


def newest(folder):
    """Return the highest micro-batch number among the files in a directory, or -1."""
    names = (path.name for path in folder.iterdir())
    return max((int(name) for name in names if name.isdigit()), default=-1)


def write(path, value):
    """Write a value as JSON to a file, which appears only when it is complete."""
    hidden = path.with_name(f".{path.name}")
    hidden.write_text(json.dumps(value))
    os.replace(hidden, path)
