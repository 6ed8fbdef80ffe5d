# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``TopicOptions``: topics, offsets and limits, named as in Spark's Kafka source.

These options are shared by ``kafka-log`` and ``kafka-live``. ``spark/log/planning.py``
and ``spark/live/planning.py`` resolve them into offsets, because only these modules
know the existing partitions.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..._text import escape_line
from ...schema.topic_names import CLUSTER_METADATA, COORDINATOR_TOPICS
from .option_names import ISOLATION
from .option_values import (
    check_at_most_one,
    is_number,
    read_count,
    read_duration,
    read_flag,
    read_json,
    read_number,
    read_word,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    IsolationLevel: TypeAlias = Literal["read_uncommitted", "read_committed"]
    Place: TypeAlias = "tuple[str, int]"
    Offsets: TypeAlias = "str | dict[Place, int]"

ISOLATION_LEVELS = ("read_uncommitted", "read_committed")
STRATEGIES = ("error", "latest")
_OF_STREAMS = ("maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay")

EARLIEST, LATEST = -2, -1
"""Special offsets, as in Spark's own source.

* ``EARLIEST``: log start offset of a partition.
* ``LATEST``: log end offset of a partition.
"""

EVERYWHERE = ("", -1)
"""Key of a timestamp that applies to all partitions, instead of (topic, partition)."""

_UNLISTED_TOPICS = COORDINATOR_TOPICS | {CLUSTER_METADATA}
"""Topics that a pattern never matches, as in Spark's own source.

These are Kafka's internal topics, and the log of a KRaft quorum, which brokers do not
list.
"""


@dataclass(frozen=True, kw_only=True)
class TopicOptions:
    """Topics and offsets to read. The fields correspond to the options.

    ``starting`` and ``ending`` are pairs with these elements:

    1. The type of Spark option that was specified: "offsets" or "timestamps".
    2. "earliest", "latest", or offsets or timestamps (ms) by (topic, partition). A
       timestamp for all partitions has the key ("", -1).
    """

    subscribe: frozenset[str] | None = None
    subscribe_pattern: str | None = None
    assign: frozenset[Place] | None = None
    starting: tuple[str, Offsets] = ("offsets", "earliest")
    ending: tuple[str, Offsets] = ("offsets", "latest")
    strategy: str = "error"
    include_headers: bool = False
    isolation_level: IsolationLevel = "read_uncommitted"
    fail_on_data_loss: bool = True
    min_partitions: int | None = None
    max_records_per_partition: int | None = None
    max_offsets_per_trigger: int | None = None
    min_offsets_per_trigger: int | None = None
    max_trigger_delay_ms: float = 15 * 60_000
    _pattern: re.Pattern[str] | None = field(default=None, compare=False, repr=False)

    def takes(self, topic: str, partition: int) -> bool:
        """Return whether the options select a partition."""
        if self.assign is not None:
            return (topic, partition) in self.assign
        if self.subscribe is not None:
            return topic in self.subscribe
        return self.takes_topic(topic)

    def takes_topic(self, topic: str) -> bool:
        """Return whether the option ``subscribePattern`` selects a topic.

        The pattern may match any part of the name. Without a pattern, all topics match.
        """
        if self._pattern is None:
            return True
        return topic not in _UNLISTED_TOPICS and bool(self._pattern.search(topic))


def read_topic_options(
    values: Mapping[str, str], start: str = "earliest"
) -> dict[str, Any]:
    """Read the fields of ``TopicOptions``. Raises ``ValueError`` for an invalid option.

    ``start`` is the starting position if no option specifies it.
    """
    check_at_most_one(values, ("subscribe", "subscribePattern", "assign"))
    pattern = _read_pattern(values)
    min_offsets = read_count(values, "minOffsetsPerTrigger")
    max_offsets = read_count(values, "maxOffsetsPerTrigger")
    if (
        min_offsets is not None
        and max_offsets is not None
        and min_offsets > max_offsets
    ):
        raise ValueError(
            f"minOffsetsPerTrigger is {min_offsets} and maxOffsetsPerTrigger"
            f" {max_offsets}; the minimum must not exceed the maximum"
        )
    return {
        "subscribe": _read_topics(values),
        "subscribe_pattern": pattern,
        "assign": _read_assignment(values),
        "starting": _read_position(values, "starting", start),
        "ending": _read_position(values, "ending", "latest"),
        "strategy": read_word(values, "startingOffsetsByTimestampStrategy", STRATEGIES),
        "include_headers": read_flag(values, "includeHeaders"),
        "isolation_level": _read_isolation_level(values),
        "fail_on_data_loss": read_flag(values, "failOnDataLoss", True),
        "min_partitions": read_count(values, "minPartitions"),
        "max_records_per_partition": read_count(values, "maxRecordsPerPartition"),
        "max_offsets_per_trigger": max_offsets,
        "min_offsets_per_trigger": min_offsets,
        "max_trigger_delay_ms": read_duration(values, "maxTriggerDelay", "15m"),
        "_pattern": _compile_pattern(pattern),
    }


def warn_of_stream_limits(options: Mapping[str, str], format: str) -> None:
    """Warn that a batch query ignores streaming limits, as Spark's own source does."""
    names = {name.lower() for name in options}
    limits = [name for name in _OF_STREAMS if name.lower() in names]
    if limits:
        warnings.warn(
            f"{format} ignores {' and '.join(limits)} in a batch: these options limit"
            " the micro-batches of a stream; set endingOffsets instead",
            stacklevel=2,
        )


def _read_topics(values: Mapping[str, str]) -> frozenset[str] | None:
    if "subscribe" not in values:
        return None
    topics = frozenset(filter(None, map(str.strip, values["subscribe"].split(","))))
    if not topics:
        raise ValueError("subscribe names no topic; give topics separated by commas")
    return topics


def _read_pattern(values: Mapping[str, str]) -> str | None:
    pattern = values.get("subscribePattern")
    if pattern is None:
        return None
    if not pattern.strip():
        raise ValueError(
            "subscribePattern cannot be empty; give a pattern such as orders.*"
        )
    return pattern.strip()


def _compile_pattern(pattern: str | None) -> re.Pattern[str] | None:
    if pattern is None:
        return None
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(
            f"subscribePattern must be a regular expression (got {pattern!r:.80}):"
            f" {error}"
        ) from None


def _read_assignment(values: Mapping[str, str]) -> frozenset[Place] | None:
    if "assign" not in values:
        return None
    example = '{"orders": [0, 1]}'
    places: set[Place] = set()
    for topic, partitions in read_json(values, "assign", dict, example).items():
        if not isinstance(partitions, list) or not all(map(is_number, partitions)):
            raise ValueError(
                f"assign must list the partitions of each topic, such as {example}"
            )
        places.update((topic, number) for number in partitions)
    return frozenset(places)


def _read_isolation_level(values: Mapping[str, str]) -> str:
    """Read the isolation level from kwire's option or from Kafka's setting.

    Raises ``ValueError`` if both are specified and differ.
    """
    ours, kafkas = (
        read_word(values, name, ISOLATION_LEVELS)
        for name in ("isolationLevel", ISOLATION)
    )
    if ours != kafkas and "isolationLevel" in values and ISOLATION in values:
        raise ValueError(
            f"isolationLevel is {ours} and {ISOLATION} is {kafkas}; give one of them"
        )
    return kafkas if ISOLATION in values else ours


def _read_position(
    values: Mapping[str, str], side: str, default: str
) -> tuple[str, Offsets]:
    """Read the starting or ending position from the options.

    ``side`` is "starting" or "ending". If several options specify the position, the
    first option in the order of Spark's own source counts. If no option specifies it,
    the position is ``default`` ("earliest" or "latest"). Returns a pair in the format
    of ``TopicOptions.starting``.
    """
    if f"{side}Timestamp" in values:
        moment = read_number(values, f"{side}Timestamp", "milliseconds since 1970")
        return "timestamps", {EVERYWHERE: moment}
    name = f"{side}OffsetsByTimestamp"
    if name in values:
        return "timestamps", _read_numbers(values, name, 0)
    name = f"{side}Offsets"
    text = values.get(name, default).strip()
    if text.lower() in ("earliest", "latest"):
        return "offsets", text.lower()
    return "offsets", _read_numbers(values, name, EARLIEST)


def _read_numbers(
    values: Mapping[str, str], name: str, lowest: int
) -> dict[Place, int]:
    example = '{"orders": {"0": 23, "1": 5}}'
    if lowest == EARLIEST:
        example += ", or earliest or latest"
    places: dict[Place, int] = {}
    for topic, numbers in read_json(values, name, dict, example).items():
        if not isinstance(numbers, dict):
            raise ValueError(
                f"{name} must have a number for each partition, such as {example}"
            )
        for partition, number in numbers.items():
            # A directory without a partition number is partition -1.
            is_named = partition.isdecimal() or partition == "-1"
            if not is_named or not is_number(number) or number < lowest:
                raise ValueError(
                    f"{name} must be JSON such as {example} (got {number!r:.80} for"
                    f" {topic}-{partition})"
                )
            places[topic, int(partition)] = number
    return places


def find_given(numbers: dict[Place, int], topic_partition: Place, name: str) -> int:
    """Return the offset or timestamp that an option specifies for a partition.

    * ``numbers``: offsets or timestamps by (topic, partition).
    * ``name``: option name for the error.

    Raises ``ValueError`` if there is no value for the partition, as in Spark's own
    source.
    """
    for key in (topic_partition, EVERYWHERE):
        if key in numbers:
            return numbers[key]
    raise ValueError(
        f"{name} names no offset for {name_place(topic_partition)}; name all"
        " partitions that are read, -2 being the earliest offset and -1 the latest"
    )


def name_place(topic_partition: Place) -> str:
    """Format topic and partition as Kafka does: "orders-3"."""
    return f"{escape_line(topic_partition[0])}-{topic_partition[1]}"
