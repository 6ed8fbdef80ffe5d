# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Options and columns of the ``kafka-live`` sink.

Names and types are the same as in Spark's own Kafka sink. Properties of Kafka's
producer are converted to arguments of ``KafkaSync.producer``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import EncodeError
from ...records.compression import CODECS, NAMES
from ..topics.option_names import SINK_OPTIONS
from ..topics.option_values import (
    read_count,
    read_flag,
    read_number,
    read_size,
    read_word,
)
from .options import check_security, read_cluster

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .options import Cluster

_ACKS = "kafka.acks"
_IDEMPOTENCE = "kafka.enable.idempotence"
_WITH_LEVELS = [each.name for each in CODECS if each.levels[0] <= each.levels[1]]
_SIZES = {
    "kafka.batch.size": "max_batch_bytes",
    "kafka.max.request.size": "max_request_bytes",
    "kafka.buffer.memory": "memory_bytes",
}


@dataclass(frozen=True)
class SinkOptions:
    """Validated options of a ``kafka-live`` sink.

    * ``cluster``: cluster to which the rows are written.
    * ``topic``: topic of all rows, or None if a column contains the topic.
    * ``producer``: arguments of ``KafkaSync.producer``.
    """

    cluster: Cluster
    topic: str | None
    producer: dict[str, Any]


class SinkColumns(NamedTuple):
    """Index of every column to write, or None if there is no such column.

    ``value`` is never None.
    """

    key: int | None
    value: int | None
    headers: int | None
    partition: int | None
    topic: int | None


def read_sink_options(given: Mapping[str, str]) -> SinkOptions:
    """Read a sink's options.

    Raises ``ValueError`` for an invalid option, and ``OSError`` if a file that an
    option names cannot be read.

    Error messages never contain the value of a password.
    """
    check_security(given, SINK_OPTIONS)
    found = SINK_OPTIONS.choose(given)
    topic = found.get("topic")
    if topic is not None and not topic.strip():
        raise ValueError("topic cannot be empty; name a topic, or leave the option out")
    options = SinkOptions(
        read_cluster(found, SINK_OPTIONS.format, "kafka.max.block.ms"),
        None if topic is None else topic.strip(),
        _read_producer(found),
    )
    try:
        options.cluster.connect().producer(**options.producer)
    except EncodeError as error:
        raise ValueError(f"options kafka.compression.*: {error}") from None
    return options


def find_columns(columns: list[tuple[str, str]], topic: str | None) -> SinkColumns:
    """Look up the columns to write. ``topic`` is the value of the topic option.

    ``columns`` contains names and types in Spark's notation, without nullability. All
    other columns are ignored, as in Spark's own sink. Raises ``ValueError`` if a
    required column is missing, if a name is not unique, or if a column has another
    type.
    """
    names = [name for name, _ in columns]
    text, either = ("string",), ("string", "binary")
    headers = ("array<struct<key:string,value:binary>>",)

    def find(name: str, kinds: tuple[str, ...]) -> int | None:
        if names.count(name) > 1:
            raise ValueError(f"several columns have the name {name}; leave one")
        if name not in names:
            return None
        kind = columns[names.index(name)][1]
        if kind not in kinds:
            raise ValueError(
                f"the column {name} must be {' or '.join(kinds)} (got {kind:.200});"
                " cast it"
            )
        return names.index(name)

    if "value" not in names:
        raise ValueError(
            f"{SINK_OPTIONS.format} requires the column value (got"
            f" {', '.join(names) or 'no column'}); name the column that it writes value"
        )
    found = SinkColumns(
        key=find("key", either),
        value=find("value", either),
        headers=find("headers", headers),
        partition=find("partition", ("int",)),
        topic=find("topic", text) if topic is None else None,
    )
    if topic is None and found.topic is None:
        raise ValueError(
            f"{SINK_OPTIONS.format} requires topics: give the option topic, or a column"
            " topic"
        )
    return found


def _read_producer(found: Mapping[str, str]) -> dict[str, Any]:
    """Convert the options to arguments of ``KafkaSync.producer``."""
    acks = read_word(found, _ACKS, ("all", "-1", "1"))
    arguments: dict[str, Any] = {"acks": 1 if acks == "1" else "all"}
    if _IDEMPOTENCE in found:
        arguments["idempotent"] = read_flag(found, _IDEMPOTENCE)
        if arguments["idempotent"] and acks == "1":
            raise ValueError(
                f"{_IDEMPOTENCE}=true requires {_ACKS}=all (got {_ACKS}=1); leave one"
                " of them out"
            )
    codec = read_word(found, "kafka.compression.type", NAMES)
    arguments["compression"] = codec
    for each in _WITH_LEVELS:
        name = f"kafka.compression.{each}.level"
        # Like Kafka's producer, only apply the level of the selected codec. For gzip,
        # -1 is the library's default level.
        if each == codec and name in found and (each, found[name]) != ("gzip", "-1"):
            arguments["compression_level"] = _read_level(found, name)
    for name, argument in _SIZES.items():
        if (size := read_size(found, name)) is not None:
            arguments[argument] = size
    timeout = read_count(found, "kafka.delivery.timeout.ms")
    if timeout is not None:
        arguments["delivery_timeout_s"] = timeout / 1000
    return arguments


def _read_level(found: Mapping[str, str], name: str) -> int:
    """Read a compression level, which may be negative for zstd."""
    sign = -1 if found[name].startswith("-") else 1
    text = {name: found[name].removeprefix("-")}
    return sign * read_number(text, name, "a level of compression")
