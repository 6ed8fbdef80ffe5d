# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Data directories of two brokers with the same partitions, and their damage.

Both directories are copies of files that a real broker wrote (``tests/data``). Kafka's
own tool read the same files. kwire must find the same batches and offsets.
"""

import json
import lzma
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

RELEASE = "4.3.1"
DATA = Path(__file__).resolve().parents[2] / "tests" / "data" / RELEASE
CONTROL_FIELD = "control"

Offset = tuple[str, int, int]
"""Topic, partition and offset."""


class Injury(NamedTuple):
    """Damage to the files of a partition.

    * ``partition``: directory of the partition.
    * ``batch``: index of the damaged batch in the partition.
    * ``how``: type of the damage.
    * ``brokers``: brokers whose copies are damaged.
    """

    partition: str
    batch: int
    how: str
    brokers: tuple[str, ...]


BOTH = ("broker-1", "broker-2")
INJURIES = (
    Injury("codec-gzip-0", 3, "a bit flipped", ("broker-1",)),
    Injury("codec-none-0", -1, "the file cut within", ("broker-2",)),
    Injury("codec-zstd-0", 4, "a bit flipped", BOTH),
    Injury("shared-0", 1, "all bytes zeroed", BOTH),
    Injury("segments-0", 20, "its file deleted", BOTH),
)


class Batch(NamedTuple):
    """Batch as described by Kafka's dump tool.

    * ``position``, ``size``: bytes of the batch in its file.
    * ``first``, ``last``: first and last offset.
    """

    file: str
    position: int
    size: int
    first: int
    last: int


def copy(folder: Path) -> None:
    """Copy the data directories of both brokers, and the tiered storage."""
    for name in BOTH:
        shutil.copytree(DATA / "data", folder / name)
    shutil.copytree(DATA / "remote", folder / "remote")


def injure(folder: Path) -> set[Offset]:
    """Damage the copies of both brokers.

    Returns the offsets that no broker contains afterwards.
    """
    lost: set[Offset] = set()
    for injury in INJURIES:
        every = list(batches(injury.partition))
        batch = every[injury.batch]
        for broker in injury.brokers:
            hurt(folder / broker / batch.file, batch, injury.how)
        if injury.brokers == BOTH:
            gone = [batch]
            if injury.how == "its file deleted":
                gone = [each for each in every if each.file == batch.file]
            topic, number = split(injury.partition)
            for each in gone:
                offsets = range(each.first, each.last + 1)
                lost.update((topic, number, offset) for offset in offsets)
    return lost


def hurt(path: Path, batch: Batch, how: str) -> None:
    """Damage a batch in a file, or delete the file. ``how`` selects the damage."""
    if how == "its file deleted":
        path.unlink()
        return
    data = bytearray(path.read_bytes())
    middle = batch.position + batch.size - batch.size // 4
    if how == "a bit flipped":
        data[middle] ^= 0x10
    elif how == "all bytes zeroed":
        data[batch.position : batch.position + batch.size] = bytes(batch.size)
    else:
        del data[middle:]
    path.write_bytes(data)


def batches(partition: str) -> Iterator[Batch]:
    """Yield the batches of a partition in the order of their offsets."""
    for file, batch in logged():
        if file.startswith(f"{partition}/"):
            yield Batch(
                file,
                batch["position"],
                batch["size"],
                batch["base_offset"],
                batch["last_offset"],
            )


def records() -> set[Offset]:
    """Return the offsets of all records in all partitions, without control records."""
    found: set[Offset] = set()
    for file, batch in logged():
        topic, number = split(file.partition("/")[0])
        for record in batch["records"]:
            if CONTROL_FIELD not in record:
                found.add((topic, number, record["offset"]))
    return found


def commits() -> set[tuple[str, str, int, int | None]]:
    """Return (group, topic, partition, offset) of all commits.

    The offset is None for a tombstone, which deletes a commit.
    """
    found = set()
    for file, batch in logged():
        if not file.startswith("__consumer_offsets-"):
            continue
        for record in batch["records"]:
            key = json.loads(record.get("key", "{}"))
            if key.get("type") in ("0", "1"):
                text = record["payload"]
                is_gone = text == "<DELETE>"
                offset = None if is_gone else json.loads(text)["data"]["offset"]
                found.add((*key["data"].values(), offset))
    return found


def consumed() -> set[Offset]:
    """Return the offsets of the records that librdkafka read from a live broker."""
    found: set[Offset] = set()
    for partition, got in read_json("consumed.json.xz").items():
        topic, number = split(partition)
        found.update((topic, number, row[0]) for row in got["read_uncommitted"])
    return found


def logged() -> Iterator[tuple[str, dict]]:
    """Yield (file, batch) for each batch that Kafka's dump tool has printed."""
    files = read_json("manifest.json.xz")["files"]
    for file in sorted(files):
        if file.endswith(".log"):
            for batch in files[file]["batches"]:
                yield file, batch


def read_json(name: str) -> dict:
    """Read a compressed JSON file that describes the data directories."""
    with lzma.open(DATA / name, "rt", encoding="utf-8") as file:
        return json.load(file)


def split(partition: str) -> tuple[str, int]:
    """Split the name of a partition directory into topic and partition."""
    topic, _, number = partition.rpartition("-")
    return topic, int(number)
