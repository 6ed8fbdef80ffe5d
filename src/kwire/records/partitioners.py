# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Which partition a record goes to, by its key: as Java clients and librdkafka do.

    murmur2, crc32                  the hash of a key
    murmur2_column, crc32_column    the hashes of a column of keys, as numpy int32
    murmur2_random                  Java's choice; librdkafka's of the same name
    consistent, consistent_random   librdkafka's choices, by CRC-32

The last three are called with key, all partitions and available partitions, which is
what aiokafka and kafka-python 2 take as ``partitioner``; for kafka-python 3 they have a
method. Clients that share a topic have to choose alike, or the records of one key end
up in two partitions.
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
    """Return the MurmurHash2 of each key of a column, as int32; 0 for a null.

    ``keys`` is a ``columns.BytesColumn``, or what pyarrow makes a column of bytes of:
    an Arrow array, text included, or a sequence of bytes. The partition of a key is
    ``(hash & 0x7fffffff) % partitions``; a null has none.
    Source: ``Utils.murmur2``, ``Utils.toPositive``.
    """
    return _hash_column(keys, engine.MURMUR2, "int32")


def crc32_column(keys: Any) -> NDArray[Any]:
    """Return the CRC-32 of each key of a column, as uint32; 0 for a null.

    ``keys`` is as for ``murmur2_column``. The partition of a key is
    ``hash % partitions``. Source: ``rd_kafka_msg_partitioner_consistent``.
    """
    return _hash_column(keys, engine.CRC32, "uint32")


def _with_method(choose: C) -> C:
    """Add the method that kafka-python 3 calls in place of the function.

    It gets topic, key and cluster, or what ``kafka.partitioner.Partitioner`` does.
    """

    def partition(topic: str, *arguments: Any) -> Any:
        # Key and cluster, or key, its bytes, value, its bytes and cluster.
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
    """Choose the partition that a Java client chooses for a key.

    Without a key, any available one. Source: ``BuiltInPartitioner``, ``Utils``.
    """
    if key is None:
        return choice(available or all_partitions)
    return all_partitions[(engine.murmur2(key) & _POSITIVE) % len(all_partitions)]


@_with_method
def consistent(
    key: Buffer | None, all_partitions: Sequence[P], available: Sequence[P] = ()
) -> P:
    """Choose the partition that librdkafka chooses, by the CRC-32 of a key.

    Without a key, that of an empty one. Source:
    ``rd_kafka_msg_partitioner_consistent``.
    """
    return all_partitions[engine.crc32(key or b"") % len(all_partitions)]


@_with_method
def consistent_random(
    key: Buffer | None, all_partitions: Sequence[P], available: Sequence[P]
) -> P:
    """Choose as ``consistent``; any available partition for no key or an empty one.

    librdkafka's default. Source: ``rd_kafka_msg_partitioner_consistent_random``.
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
