# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Input files for the cases: log segments as written by a broker, and frames.

The first MiB in a segment contains different batches, which then repeat with new base
offsets. The checksum does not cover the base offset, so all batches are valid. The full
segment is followed by an active segment without batches.
"""

from __future__ import annotations

import os
import random
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from kwire import messages, records
from kwire.messages import framing

TOPIC = "orders"
RECORDS = 45
KEY_BYTES, VALUE_BYTES, HEADER_BYTES = 16, 300, 24

_DISTINCT = 64
_HEADER_KEY = "trace-id"
_FIRST_TIMESTAMP = 1_700_000_000_000
_INDEX_ENTRY = struct.Struct(">ii")


@dataclass(frozen=True)
class LogInput:
    """Log directory that has been written as input.

    * ``path``: directory of the log.
    * ``rows``, ``size``: total number of records and bytes.
    * ``batch_size``: size of each batch in bytes.
    * ``segment``: path of the first segment.
    """

    path: str
    rows: int
    size: int
    batch_size: int
    segment: str


def _batches() -> np.ndarray:
    """Encode different batches of equal size.

    Return an array with one batch per row.
    """
    dice = random.Random(1)
    encoded = []
    for number in range(_DISTINCT):
        rows = [
            (
                dice.randbytes(KEY_BYTES),
                dice.randbytes(VALUE_BYTES),
                _FIRST_TIMESTAMP + number,
                [(_HEADER_KEY, dice.randbytes(HEADER_BYTES - len(_HEADER_KEY)))],
            )
            for _ in range(RECORDS)
        ]
        encoded.append(records.encode_batch(rows))
    return np.frombuffer(b"".join(encoded), np.uint8).reshape(_DISTINCT, -1).copy()


def write_log(folder: Path, least_bytes: int, partitions: int = 1) -> LogInput:
    """Write a log with one full segment in each partition.

    The total size is at least ``least_bytes``. The files of all partitions are hard
    links to the files of the first partition.
    """
    block = _batches()
    batch_size = block.shape[1]
    per_segment = -(-least_bytes // partitions)
    count = _DISTINCT * -(-per_segment // block.size) if least_bytes else 0
    first = folder / f"{TOPIC}-0"
    first.mkdir(parents=True)
    numbers = np.arange(_DISTINCT).reshape(-1, 1)
    full = first / f"{0:020}.log"
    with open(full, "wb") as segment, open(full.with_suffix(".index"), "wb") as index:
        for start in range(0, count, _DISTINCT):
            offsets = ((numbers + start) * RECORDS).astype(">i8")
            block[:, :8] = offsets.view(np.uint8)
            segment.write(block)
            for batch in range(max(start, 1), start + _DISTINCT):
                last_offset = batch * RECORDS + RECORDS - 1
                index.write(_INDEX_ENTRY.pack(last_offset, batch * batch_size))
    (first / f"{count * RECORDS:020}.log").touch()
    for number in range(1, partitions):
        other = folder / f"{TOPIC}-{number}"
        other.mkdir()
        for each in first.iterdir():
            os.link(each, other / each.name)
    return LogInput(
        str(folder),
        count * RECORDS * partitions,
        count * batch_size * partitions,
        batch_size,
        str(full),
    )


def frames() -> list[bytes]:
    """Encode requests as sent by clients, without the size field."""
    topic = messages.MetadataRequest.MetadataRequestTopic
    partition = messages.FetchRequest.FetchPartition
    requests = [
        (messages.ApiVersionsRequest(client_software_name="client"), 3),
        (messages.MetadataRequest(topics=(topic(name=TOPIC),)), 12),
        (messages.HeartbeatRequest(group_id="billing", member_id="member-1"), 4),
        (messages.HeartbeatRequest(group_id="billing", member_id="member-2"), 3),
        (
            messages.FetchRequest(
                topics=(
                    messages.FetchRequest.FetchTopic(
                        topic=TOPIC, partitions=(partition(partition=1),)
                    ),
                )
            ),
            12,
        ),
    ]
    return [
        framing.encode_request(request, version, number, f"client-{number % 7}")[4:]
        for number, (request, version) in enumerate(requests * 200)
    ]


def write_frames(folder: Path, least_rows: int, files: int) -> int:
    """Write ``files`` Parquet files with the column ``frame``.

    Return the number of rows.
    """
    folder.mkdir()
    some = pa.array(frames(), pa.binary())
    times = -(-least_rows // (files * len(some)))
    table = pa.table({"frame": pa.chunked_array([some] * times)})
    for number in range(files):
        parquet.write_table(
            table,
            folder / f"part-{number}.parquet",
            compression="none",
            use_dictionary=False,
        )
    return files * table.num_rows
