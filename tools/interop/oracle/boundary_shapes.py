# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Messages and records with one variable count or length, for measuring Kafka's limits.

``boundaries.py`` lets Kafka decode the shapes and writes ``boundaries.txt``. This
module does not require Java, because tests use it to compare kwire with the recorded
limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

RECORDED = Path(__file__).resolve().parent / "boundaries.txt"
HIGHEST_POWER = 7
ONE_NAME = b"\x02a"


class Shape(NamedTuple):
    """Message with one variable count or length.

    ``encode`` returns the bytes of the message in ``version`` for a count.
    """

    name: str
    message: str
    version: int
    encode: Callable[[int], bytes]

    def measure(self, count: int) -> int:
        """Estimate the encoded size in bytes from a sample of up to 1,000 elements."""
        sample = min(count, 1000)
        return len(self.encode(sample)) * count // max(sample, 1)


class RecordShape(NamedTuple):
    """Record batch with one variable count or length.

    * ``highest``: maximum count that the format supports.
    * ``make_rows``: returns the rows of the batch for a count.
    """

    name: str
    highest: int
    make_rows: Callable[[int], list[Any]]
    compression: str = "none"

    def encode(self, count: int) -> bytes:
        """Encode the batch for a count, with a valid checksum."""
        from kwire import records

        return records.encode_batch(self.make_rows(count), compression=self.compression)


class Boundary(NamedTuple):
    """Measured limit of one shape in one release.

    * ``accepted``: largest accepted count, or 0.
    * ``rejected``: smallest rejected count, or 0.
    """

    shape: str
    release: str
    accepted: int
    rejected: int


def varint(number: int) -> bytes:
    """Encode an integer in Kafka's UNSIGNED_VARINT format."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def int32(number: int) -> bytes:
    """Encode an integer as four bytes in big-endian order."""
    return number.to_bytes(4, "big")


def empty_tags(count: int) -> bytes:
    """Encode a tag section with ``count`` unknown, empty tagged fields."""
    tags = (varint(tag) + b"\x00" for tag in range(1000, 1000 + count))
    return varint(count) + b"".join(tags)


def nested_partitions(count: int) -> bytes:
    """Encode ``count`` partitions, grouped into topics with at most 1,000 partitions.

    The topic names are unique. Kafka stores the topics in a hash table, so identical
    names would require quadratic time.
    """
    sizes = [1000] * (count // 1000) + [count % 1000] * bool(count % 1000)
    topics = (
        b"\x00\x05%05d" % number + int32(size) + bytes(4 * size)
        for number, size in enumerate(sizes)
    )
    return int32(len(sizes)) + b"".join(topics)


def tagged_directories(count: int) -> bytes:
    """Encode a broker heartbeat with ``count`` directory ids in its tagged field."""
    content = varint(count + 1) + bytes(16 * count)
    return bytes(22) + b"\x01\x00" + varint(len(content)) + content


SHAPES = (
    Shape(
        "elements of an array of strings",
        "DeleteTopicsRequest",
        1,
        lambda n: int32(n) + b"\x00\x01a" * n + bytes(4),
    ),
    Shape(
        "elements of a compact array of strings",
        "DescribeGroupsRequest",
        5,
        lambda n: varint(n + 1) + ONE_NAME * n + b"\x00\x00",
    ),
    Shape(
        "elements of an array of structs",
        "MetadataRequest",
        4,
        lambda n: int32(n) + b"\x00\x01a" * n + b"\x00",
    ),
    Shape(
        "elements of a compact array of structs",
        "ListOffsetsRequest",
        10,
        lambda n: bytes(4) + b"\x00" + varint(n + 1) + b"\x02a\x01\x00" * n + bytes(5),
    ),
    Shape(
        "elements of an array of integers",
        "DescribeLogDirsRequest",
        1,
        lambda n: int32(1) + b"\x00\x01a" + int32(n) + bytes(4 * n),
    ),
    Shape(
        "elements of all arrays within an array",
        "DescribeLogDirsRequest",
        1,
        nested_partitions,
    ),
    Shape(
        "elements of an array in a tagged field",
        "BrokerHeartbeatRequest",
        1,
        tagged_directories,
    ),
    Shape(
        "tagged fields of a message",
        "ApiVersionsRequest",
        3,
        lambda n: ONE_NAME * 2 + empty_tags(n),
    ),
    Shape(
        "tagged fields of a struct",
        "MetadataRequest",
        9,
        lambda n: b"\x02" + ONE_NAME + empty_tags(n) + bytes(4),
    ),
    Shape(
        "number of an unknown tag",
        "ApiVersionsRequest",
        3,
        lambda n: ONE_NAME * 2 + b"\x01" + varint(n) + b"\x00",
    ),
    Shape(
        "bytes of an unknown tagged field",
        "ApiVersionsRequest",
        3,
        lambda n: ONE_NAME * 2 + b"\x01\x09" + varint(n) + bytes(n),
    ),
    Shape(
        "bytes of a string",
        "FindCoordinatorRequest",
        0,
        lambda n: (n & 0xFFFF).to_bytes(2, "big") + b"a" * n,
    ),
    Shape(
        "bytes of a compact string",
        "FindCoordinatorRequest",
        3,
        lambda n: varint(n + 1) + b"a" * n + b"\x00\x00",
    ),
    Shape(
        "bytes of a bytes field",
        "SaslAuthenticateRequest",
        1,
        lambda n: int32(n) + bytes(n),
    ),
    Shape(
        "bytes of a compact bytes field",
        "SaslAuthenticateRequest",
        2,
        lambda n: varint(n + 1) + bytes(n) + b"\x00",
    ),
)


RECORD_SHAPES = (
    RecordShape("records of a batch", 10**5, lambda n: [(None, b"")] * n),
    RecordShape("records of a gzip batch", 10**5, lambda n: [(None, b"")] * n, "gzip"),
    RecordShape(
        "headers of a record", 10**5, lambda n: [(None, b"", 0, [("h", b"")] * n)]
    ),
    RecordShape(
        "bytes of a header name", 10**6, lambda n: [(None, b"", 0, [("h" * n, b"")])]
    ),
    RecordShape("bytes of a key", 10**6, lambda n: [(bytes(n), b"")]),
    RecordShape("bytes of a value", 10**6, lambda n: [(None, bytes(n))]),
    RecordShape("bytes of a gzip value", 10**6, lambda n: [(None, bytes(n))], "gzip"),
)


def counts() -> list[int]:
    """Return all powers of ten, and the numbers one below and one above, in order."""
    powers = [10**power for power in range(HIGHEST_POWER + 1)]
    return sorted(
        {count for power in powers for count in (power - 1, power, power + 1)}
    )


def make_boundary(shape: str, release: str, verdicts: dict[int, bool]) -> Boundary:
    """Compute the limit of a shape from ``verdicts``.

    ``verdicts`` maps every tested count to True if the release accepts it. Raises
    ``ValueError`` if the release rejects a count but accepts a larger one.
    """
    accepted = [count for count, is_accepted in verdicts.items() if is_accepted]
    rejected = [count for count, is_accepted in verdicts.items() if not is_accepted]
    if accepted and rejected and max(accepted) > min(rejected):
        raise ValueError(f"{shape}: Kafka {release} rejects only {rejected}")
    return Boundary(shape, release, max(accepted, default=0), min(rejected, default=0))


def format_boundaries(boundaries: Iterable[Boundary]) -> str:
    """Format the boundaries as text, one line for every shape and release."""
    return "".join(
        f"{boundary.shape:40} {boundary.release:8}"
        f" {boundary.accepted:10} {boundary.rejected:10}\n"
        for boundary in boundaries
    )


def read_boundaries(text: str) -> list[Boundary]:
    """Parse the output of ``format_boundaries``. Comment lines are skipped."""
    rows = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            *words, release, accepted, rejected = line.split()
            rows.append(
                Boundary(" ".join(words), release, int(accepted), int(rejected))
            )
    return rows


def changes(boundaries: Iterable[Boundary]) -> list[str]:
    """Describe each shape whose limit is not the same in all releases."""
    by_shape: dict[str, list[Boundary]] = {}
    for each in boundaries:
        by_shape.setdefault(each.shape, []).append(each)
    return [
        f"{shape}: "
        + ", ".join(f"{each.release} accepts {each.accepted}" for each in rows)
        for shape, rows in by_shape.items()
        if len({(each.accepted, each.rejected) for each in rows}) > 1
    ]
