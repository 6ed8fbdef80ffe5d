# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Assigns records to partitions by key, like Java clients and librdkafka.

    murmur2, crc32                  hash of a key
    murmur2_column, crc32_column    hashes of a column, as numpy int32 and uint32
    murmur2_random                  partitioner of Java, and of librdkafka (same name)
    consistent, consistent_random   partitioners of librdkafka, with CRC-32

The three partitioners are functions of key, all partitions and available partitions.
aiokafka and kafka-python 2 accept these functions as ``partitioner``. For kafka-python
3, the functions have a method ``partition``. Clients that share a topic must use the
same partitioner. Otherwise records with equal keys are written to different partitions.
"""

from __future__ import annotations

from random import choice

from .._engine.active import record_engine as engine
from .columns import BytesColumn, load_numpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from numpy.typing import NDArray
    from typing_extensions import Buffer

    C = TypeVar("C", bound=Callable[..., Any])
    P = TypeVar("P")

__all__ = [
    "consistent",
    "consistent_random",
    "crc32",
    "crc32_column",
    "murmur2",
    "murmur2_column",
    "murmur2_random",
]

_POSITIVE = 0x7FFFFFFF

murmur2 = engine.murmur2


def crc32(key: Buffer) -> int:
    """Return the CRC-32 of a key, from 0 to 2**32 - 1. Source: ``rd_crc32``."""
    return engine.crc32(key)


def murmur2_column(keys: Any) -> NDArray[Any]:
    """Return the MurmurHash2 of every key in a column, as int32; 0 for null.

    ``keys`` is a ``columns.BytesColumn``, or an object that pyarrow can convert to a
    binary column: an Arrow array of bytes or strings, or a sequence of bytes. The
    partition of a key is ``(hash & 0x7fffffff) % partitions``. A null key has no
    assigned partition.

    Raises ``TypeError`` if ``keys`` is not such a column, and ``EncodeError`` if its
    Arrow data is invalid.

    Source: ``Utils.murmur2``, ``Utils.toPositive``.
    """
    return _hash_column(keys, engine.MURMUR2, "int32")


def crc32_column(keys: Any) -> NDArray[Any]:
    """Return the CRC-32 of every key in a column, as uint32; 0 for null.

    ``keys`` and errors are the same as for ``murmur2_column``. The partition of a key
    is ``hash % partitions``. Source: ``rd_kafka_msg_partitioner_consistent``.
    """
    return _hash_column(keys, engine.CRC32, "uint32")


def _with_method(choose: C) -> C:
    """Add the method ``partition``, which kafka-python 3 calls instead of the function.

    It accepts topic, key and cluster, or the arguments of
    ``kafka.partitioner.Partitioner``.
    """

    def partition(topic: str, *arguments: Any) -> Any:
        # The arguments are either (key, cluster) or (key, key bytes, value, value
        # bytes, cluster).
        key, cluster = arguments[len(arguments) // 2 - 1], arguments[-1]
        everything = sorted(cluster.partitions_for_topic(topic))
        available = sorted(cluster.available_partitions_for_topic(topic) or ())
        return choose(key, everything, available)

    choose.partition = partition  # type: ignore[attr-defined]
    return choose


@_with_method
def murmur2_random(
    key: Buffer | None, all_partitions: Sequence[P], available: Sequence[P]
) -> P:
    """Return the partition that a Java client assigns to a key.

    Without a key, returns a random available partition, or a random one of all
    partitions if none is available. Source: ``BuiltInPartitioner``, ``Utils``.
    """
    if key is None:
        return choice(available or all_partitions)
    return all_partitions[(engine.murmur2(key) & _POSITIVE) % len(all_partitions)]


@_with_method
def consistent(
    key: Buffer | None, all_partitions: Sequence[P], available: Sequence[P] = ()
) -> P:
    """Return the partition that librdkafka assigns to a key, based on its CRC-32.

    A missing key is treated like an empty key. Source:
    ``rd_kafka_msg_partitioner_consistent``.
    """
    return all_partitions[engine.crc32(key or b"") % len(all_partitions)]


@_with_method
def consistent_random(
    key: Buffer | None, all_partitions: Sequence[P], available: Sequence[P]
) -> P:
    """Partition like ``consistent``, but randomly if the key is missing or empty.

    Random partitions are chosen from the available ones. This is the default in
    librdkafka. Source: ``rd_kafka_msg_partitioner_consistent_random``.
    """
    if not key:
        return choice(available or all_partitions)
    return consistent(key, all_partitions)


def _hash_column(keys: Any, kind: int, number: str) -> Any:
    if isinstance(keys, BytesColumn):
        array = keys._array
        count, column = len(keys), (*array.buffers, array.offset)
    else:
        from .tables import split_keys

        count, column = split_keys(keys)
    hashes = engine.hash_column(count, column, kind)
    return load_numpy().frombuffer(hashes, number)
