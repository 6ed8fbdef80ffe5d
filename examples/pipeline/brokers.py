# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The disks of two brokers with the same partitions, and what happened to them.

Both are copies of files that a real broker wrote (``tests/data``). The expected batches
and offsets come from Kafka's own tool, which read the same files. kwire has to find the
same.
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
"""A topic, a partition, an offset."""


class Injury(NamedTuple):
    """What happened to one batch, or to one file, on one broker or on both."""

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
    """A batch as Kafka's tool saw it."""

    file: str
    position: int
    size: int
    first: int
    last: int


def copy(folder: Path) -> None:
    """Copy the disks of both brokers, and the store of tiered segments."""
    for name in BOTH:
        shutil.copytree(DATA / "data", folder / name)
    shutil.copytree(DATA / "remote", folder / "remote")


def injure(folder: Path) -> set[Offset]:
    """Damage the copies; return the offsets that no broker holds any more."""
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
    """Damage the bytes of a batch in one of a few ways."""
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
    """Return the offsets of all records but control records, of every partition."""
    found: set[Offset] = set()
    for file, batch in logged():
        topic, number = split(file.partition("/")[0])
        for record in batch["records"]:
            if CONTROL_FIELD not in record:
                found.add((topic, number, record["offset"]))
    return found


def commits() -> set[tuple[str, str, int, int | None]]:
    """Return (group, topic, partition, offset) of each commit; None deletes one."""
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
    """Return what librdkafka's consumer got of the broker, while it ran."""
    found: set[Offset] = set()
    for partition, got in read_json("consumed.json.xz").items():
        topic, number = split(partition)
        found.update((topic, number, row[0]) for row in got["read_uncommitted"])
    return found


def logged() -> Iterator[tuple[str, dict]]:
    """Yield file and batch of all that Kafka's tool printed of segments."""
    files = read_json("manifest.json.xz")["files"]
    for file in sorted(files):
        if file.endswith(".log"):
            for batch in files[file]["batches"]:
                yield file, batch


def read_json(name: str) -> dict:
    """Read one of the files that describe the disks."""
    with lzma.open(DATA / name, "rt", encoding="utf-8") as file:
        return json.load(file)


def split(partition: str) -> tuple[str, int]:
    """Split the name of a partition's folder."""
    topic, _, number = partition.rpartition("-")
    return topic, int(number)
