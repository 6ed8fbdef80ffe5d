# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Files next to segments are decoded in the same way as by Kafka's classes.

``tests/data/file-readers.jsonl.xz`` contains a broker's own results for real files:
complete, empty, and truncated at every byte. ``tools/interop/broker/file_readers.py``
wrote it.
"""

import base64
import json
import lzma
from collections import Counter
from pathlib import Path
from uuid import UUID

import pytest

from tests.log.log_files import module

VERDICTS = Path(__file__).parents[1] / "data" / "file-readers.jsonl.xz"


@pytest.fixture
def log(kwire):
    return module(kwire, "log")


def read_verdicts():
    """Yield (type, name, content, Kafka's result) for all files."""
    for line in lzma.decompress(VERDICTS.read_bytes()).decode().splitlines():
        row = json.loads(line)
        data = base64.b64decode(row["bytes"])
        yield row["kind"], row["name"], data, row["verdict"]


def write_uuid(value: UUID) -> str:
    return base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")


def read_index(index):
    """Return the entries of an index. Return None if bytes after them are no entry."""
    return None if index.has_stray_bytes else index.entries


READERS = {
    "offsets": lambda log, path: [
        (topic, partition, offset)
        for (topic, partition), offset in sorted(
            log.read_offset_checkpoint(path).items(),
            key=lambda item: f"{item[0][0]} {item[0][1]}",
        )
    ],
    "epochs": lambda log, path: log.read_leader_epochs(path),
    "metadata": lambda log, path: [
        (metadata.version, write_uuid(metadata.topic_id))
        for metadata in [log.read_partition_metadata(path)]
    ],
    "properties": lambda log, path: sorted(log.read_meta_properties(path).items()),
    "index": lambda log, path: read_index(log.OffsetIndex(path)),
    "timeindex": lambda log, path: read_index(log.TimeIndex(path)),
    "txnindex": lambda log, path: [
        (e.producer_id, e.first_offset, e.last_offset, e.last_stable_offset)
        for e in log.TransactionIndex(path).entries
    ],
    "snapshot": lambda log, path: [
        (entry.producer_id, entry.epoch) for entry in log.ProducerSnapshot(path).entries
    ],
}
"""Functions that read a file of a type and return its rows, by type.

The rows have the format that ``FileReaders`` prints for Kafka's classes.
"""


def read_with_kwire(kwire, kind, path):
    """Read a file with kwire. Return "ok" and the rows, or "error".

    ``FileReaders`` prints the results of Kafka's classes in the same format.
    """
    try:
        rows = READERS[kind](module(kwire, "log"), path)
    except kwire.DecodeError:
        return "error"
    return "error" if rows is None else "ok " + ",".join(map(write_row, rows))


def write_row(row):
    return " ".join(map(str, row))


def name_deviation(kind, data):
    """Return the reason for an allowed difference from Kafka, or None.

    Kafka counts zeros at the index end as entries. Kwire does not, because a broker
    creates an index at its full size. Kafka ignores an incomplete last entry in a
    transaction index. Kwire reports it, because an aborted transaction is missing.
    """
    if kind in ("index", "timeindex") and data.endswith(bytes(24)):
        return "zeros at the end of an index"
    if kind == "txnindex" and len(data) % 34:
        return "a part of an entry"
    return None


def test_files_beside_segments_are_read_as_kafkas_classes_read_them(kwire, tmp_path):
    """Files have the same result with kwire and with Kafka's classes.

    The files are empty, complete, and truncated at every byte.
    """
    counts, deviations = Counter(), Counter()
    for kind, name, data, verdict in read_verdicts():
        path = tmp_path / name
        path.write_bytes(data)
        expected = "error" if verdict.startswith("error ") else verdict
        outcome = read_with_kwire(kwire, kind, path)
        counts[kind, expected == "error"] += 1
        reason = name_deviation(kind, data)
        if reason is None:
            assert outcome == expected, (kind, name, data)
        else:
            deviations[kind, reason] += outcome != expected
    assert {kind for kind, _ in counts} == set(READERS)
    # If an allowed difference never occurs, its reason must be removed.
    assert all(deviations.values()), deviations


def test_empty_checkpoints_of_a_new_broker_are_valid(log, tmp_path):
    """An empty ``cleaner-offset-checkpoint`` is valid.

    A broker creates this file without content when it starts for the first time.
    """
    folder = tmp_path / "orders-0"
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(b"")
    for suffix in ("index", "timeindex", "txnindex"):
        (folder / f"{0:020}.{suffix}").write_bytes(b"")
    (folder / "leader-epoch-checkpoint").write_bytes(b"")
    for name in ("cleaner", "log-start", "recovery-point", "replication"):
        name += "-offset-checkpoint"
        (tmp_path / name).write_bytes(b"")
    directory = log.LogDirectory(tmp_path)
    assert [list(log.verify(partition)) for partition in directory] == [[]]
    assert not directory.unreadable
