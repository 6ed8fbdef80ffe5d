# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The options of ``kafka-log``: Spark's Kafka names, checked, with words for mistakes.

Which names there are is in ``option_names.py``. What an option means for offsets is
worked out in ``planning.py``, where the files are known.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from ..limits import DEFAULT, Limits
from .layout import VIEWS
from .option_names import ISOLATION, choose_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias

    Place: TypeAlias = "tuple[str, int]"
    Offsets: TypeAlias = "str | dict[Place, int]"

MODES = ("FAILFAST", "PERMISSIVE", "DROPMALFORMED")
DUPLICATES = ("keep", "longest", "error")
ISOLATION_LEVELS = ("read_uncommitted", "read_committed")
STRATEGIES = ("error", "latest")

EARLIEST, LATEST = -2, -1
"""Offsets that stand for the two ends of a partition, as in Spark's own source."""

_MIB = 1 << 20
_SIZE = re.compile(r"(\d+)\s*([kmg]?)b?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1 << 10, "m": _MIB, "g": 1 << 30}
_DURATION = re.compile(r"(\d+)\s*([a-z]*)")
_MILLISECONDS: dict[str, float] = {
    **{"": 1, "us": 0.001, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000},
    **{"h": 3_600_000, "d": 86_400_000},
}
"""Spark's units of time; a number without one is in milliseconds."""

_UNLISTED_TOPICS = frozenset(
    (
        *("__consumer_offsets", "__transaction_state", "__share_group_state"),
        "__cluster_metadata",
    )
)
"""Topics that a pattern never matches in Spark's own source: those internal to Kafka,
and the log of a KRaft quorum, which brokers do not list."""


@dataclass(frozen=True)
class LogOptions:
    """What a reader of ``kafka-log`` was asked for; the fields are the options.

    ``starting`` and ``ending`` say which of Spark's options was given, "offsets" or
    "timestamps", with "earliest", "latest", or numbers by (topic, partition);
    a timestamp for all partitions is under the place ("", -1).
    """

    paths: tuple[str, ...]
    view: str = "records"
    subscribe: frozenset[str] | None = None
    subscribe_pattern: str | None = None
    assign: frozenset[Place] | None = None
    starting: tuple[str, Offsets] = ("offsets", "earliest")
    ending: tuple[str, Offsets] = ("offsets", "latest")
    strategy: str = "error"
    include_headers: bool = False
    include_batch_columns: bool = False
    include_file_path: bool = False
    mode: str = "FAILFAST"
    corrupt_record: str = "_corrupt_record"
    names_corrupt_record: bool = False
    duplicates: str = "keep"
    isolation_level: str = "read_uncommitted"
    strict_tail: bool = False
    verify_crc: bool = True
    errors: str = "strict"
    fail_on_data_loss: bool | None = None
    min_partitions: int | None = None
    max_records_per_partition: int | None = None
    max_partition_bytes: int = 128 * _MIB
    max_batch_bytes: int | None = None
    max_offsets_per_trigger: int | None = None
    min_offsets_per_trigger: int | None = None
    max_trigger_delay_ms: float = 15 * 60_000
    push_down_filters: bool = False
    _pattern: re.Pattern[str] | None = field(default=None, compare=False, repr=False)

    @property
    def limits(self) -> Limits:
        """The ceilings of one batch, compressed and decompressed."""
        most = self.max_batch_bytes
        if most is None:
            return DEFAULT
        return Limits(frame_bytes=most, decompressed_bytes=most)

    def takes(self, topic: str, partition: int) -> bool:
        """Whether a partition is among those that were asked for."""
        if self.assign is not None:
            return (topic, partition) in self.assign
        if self.subscribe is not None:
            return topic in self.subscribe
        if self._pattern is None:
            return True
        return topic not in _UNLISTED_TOPICS and bool(self._pattern.search(topic))


EVERYWHERE = ("", -1)
"""The place of a timestamp that is for all partitions."""


def read_options(given: Mapping[str, str]) -> LogOptions:
    """Read the options of a reader; ``ValueError`` says which is wrong and why.

    Names count without case; ``choose_options`` says what becomes of each.
    """
    if "provider" in {name.lower() for name in given}:
        # Spark 4 makes such a table, and forgets its options when it is read.
        raise ValueError(
            "kafka-log cannot be a table of the catalog, as Spark reads those without"
            ' their options; CREATE TEMPORARY VIEW name USING kafka_log OPTIONS (path "'
            'kafka-logs/") makes a name for a query'
        )
    found = choose_options(given)
    view = _one_of(found, "view", VIEWS)
    _at_most_one(found, ("subscribe", "subscribePattern", "assign"))
    pattern = _pattern_text(found)
    least = _count(found, "minOffsetsPerTrigger")
    most = _count(found, "maxOffsetsPerTrigger")
    of_partition = _count(found, "maxRecordsPerPartition")
    if least is not None and most is not None and least > most:
        raise ValueError(
            f"minOffsetsPerTrigger is {least} and maxOffsetsPerTrigger {most}; give a"
            " minimum that is not above the maximum"
        )
    return LogOptions(
        paths=_paths(found),
        view=view,
        subscribe=_topics(found),
        subscribe_pattern=pattern,
        assign=_assignment(found),
        starting=_bound(found, "starting", "earliest"),
        ending=_bound(found, "ending", "latest"),
        strategy=_one_of(found, "startingOffsetsByTimestampStrategy", STRATEGIES),
        include_headers=_flag(found, "includeHeaders"),
        include_batch_columns=_flag(found, "includeBatchColumns"),
        include_file_path=_flag(found, "includeFilePath"),
        mode=_one_of(found, "mode", MODES),
        corrupt_record=found.get("columnNameOfCorruptRecord", "_corrupt_record"),
        names_corrupt_record="columnNameOfCorruptRecord" in found,
        duplicates=_one_of(found, "duplicates", DUPLICATES),
        isolation_level=_isolation_level(found, view),
        strict_tail=_flag(found, "strictTail"),
        # The heads of batches are read without what lies between them, if they may be.
        verify_crc=_flag(found, "verifyCrc", view != "batches"),
        errors=_one_of(found, "errors", ("strict", "replace")),
        fail_on_data_loss=(
            _flag(found, "failOnDataLoss") if "failOnDataLoss" in found else None
        ),
        min_partitions=_count(found, "minPartitions"),
        # The rows of other views are no records.
        max_records_per_partition=of_partition if view == "records" else None,
        max_partition_bytes=_size(found, "maxPartitionBytes") or 128 * _MIB,
        max_batch_bytes=_size(found, "maxBatchBytes"),
        max_offsets_per_trigger=most,
        min_offsets_per_trigger=least,
        max_trigger_delay_ms=_duration(found, "maxTriggerDelay", "15m"),
        push_down_filters=_flag(found, "pushDownFilters"),
        _pattern=_compiled(pattern),
    )


def _paths(found: Mapping[str, str]) -> tuple[str, ...]:
    paths: list[str] = []
    if "paths" in found:
        paths = _json(found, "paths", list, '["kafka-logs-1", "kafka-logs-2"]')
    if found.get("path"):
        paths = [found["path"], *paths]
    if not paths or not all(isinstance(path, str) and path for path in paths):
        raise ValueError(
            'kafka-log needs a path: .load("kafka-logs/"), a data directory of Kafka, a'
            " folder above several, or an address such as s3://bucket/folder"
        )
    return tuple(map(_without_scheme, paths))


def _without_scheme(path: str) -> str:
    """Take ``file:`` off, as Hadoop writes the paths of files."""
    is_short = path.startswith("file:/") and not path.startswith("file://")
    return path.removeprefix("file:") if is_short else path


def _topics(found: Mapping[str, str]) -> frozenset[str] | None:
    if "subscribe" not in found:
        return None
    topics = frozenset(filter(None, map(str.strip, found["subscribe"].split(","))))
    if not topics:
        raise ValueError("subscribe names no topic; it takes them with commas between")
    return topics


def _pattern_text(found: Mapping[str, str]) -> str | None:
    pattern = found.get("subscribePattern")
    if pattern is None:
        return None
    if not pattern.strip():
        raise ValueError("subscribePattern is empty; it is a pattern such as orders.*")
    return pattern.strip()


def _isolation_level(found: Mapping[str, str], view: str) -> str:
    """Read the level under our name or Kafka's; both may be given if they agree."""
    ours, kafkas = (
        _one_of(found, name, ISOLATION_LEVELS) for name in ("isolationLevel", ISOLATION)
    )
    if ours != kafkas and "isolationLevel" in found and ISOLATION in found:
        raise ValueError(
            f"isolationLevel is {ours} and {ISOLATION} is {kafkas}; give one of them"
        )
    level = kafkas if ISOLATION in found else ours
    if level == "read_committed" and view == "batches":
        raise ValueError(
            "view=batches has the batches of all transactions (isolation level"
            " read_committed); leave the level out, or read view=records"
        )
    return level


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    if pattern is None:
        return None
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"subscribePattern is no pattern: {error}") from None


def _assignment(found: Mapping[str, str]) -> frozenset[Place] | None:
    if "assign" not in found:
        return None
    example = '{"orders": [0, 1]}'
    places: set[Place] = set()
    for topic, partitions in _json(found, "assign", dict, example).items():
        if not isinstance(partitions, list) or not all(map(_is_number, partitions)):
            raise ValueError(f"assign wants a list of partitions: {example}")
        places.update((topic, number) for number in partitions)
    return frozenset(places)


def _bound(found: Mapping[str, str], side: str, default: str) -> tuple[str, Offsets]:
    """Read one of the ends; the first that was given counts, in Spark's order."""
    if f"{side}Timestamp" in found:
        moment = _number(found, f"{side}Timestamp", "milliseconds since 1970")
        return "timestamps", {EVERYWHERE: moment}
    name = f"{side}OffsetsByTimestamp"
    if name in found:
        return "timestamps", _by_place(found, name, 0)
    name = f"{side}Offsets"
    text = found.get(name, default).strip()
    if text.lower() in ("earliest", "latest"):
        return "offsets", text.lower()
    return "offsets", _by_place(found, name, EARLIEST)


def _by_place(found: Mapping[str, str], name: str, lowest: int) -> dict[Place, int]:
    example = '{"orders": {"0": 23, "1": 5}}'
    places: dict[Place, int] = {}
    for topic, numbers in _json(found, name, dict, example).items():
        if not isinstance(numbers, dict):
            raise ValueError(f"{name} wants numbers by partition: {example}")
        for partition, number in numbers.items():
            # A folder without a number is partition -1.
            is_named = partition.isdecimal() or partition == "-1"
            if not is_named or not _is_number(number) or number < lowest:
                raise ValueError(
                    f"{name} of {topic}-{partition} is {number!r}; it looks like"
                    f" {example}"
                )
            places[topic, int(partition)] = number
    return places


def _json(found: Mapping[str, str], name: str, kind: type, example: str) -> Any:
    try:
        value = json.loads(found[name])
    except ValueError:
        value = None
    if not isinstance(value, kind):
        raise ValueError(f"{name} is JSON such as {example}, not {found[name]!r:.80}")
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _one_of(found: Mapping[str, str], name: str, words: Sequence[str]) -> str:
    """Read a word without case; the first of the words is the default."""
    text = found.get(name, words[0])
    for word in words:
        if word.lower() == text.lower():
            return word
    raise ValueError(f"{name} is one of {', '.join(words)}, not {text!r:.80}")


def _at_most_one(found: Mapping[str, str], names: Sequence[str]) -> None:
    given = [name for name in names if name in found]
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} cannot be given together; choose one")


def _flag(found: Mapping[str, str], name: str, default: bool = False) -> bool:
    text = found.get(name, str(default)).lower()
    if text not in ("true", "false"):
        raise ValueError(f"{name} is true or false, not {found[name]!r:.80}")
    return text == "true"


def _number(found: Mapping[str, str], name: str, what: str) -> int:
    text = found[name]
    if not text.isdecimal():
        raise ValueError(f"{name} is a number ({what}), not {text!r:.80}")
    return int(text)


def _count(found: Mapping[str, str], name: str) -> int | None:
    if name not in found:
        return None
    number = _number(found, name, "1 or more")
    if number < 1:
        raise ValueError(f"{name} is 1 or more, not {number}")
    return number


def _size(found: Mapping[str, str], name: str) -> int | None:
    if name not in found:
        return None
    match = _SIZE.fullmatch(found[name].strip())
    if match is None:
        raise ValueError(
            f"{name} is a number of bytes such as 134217728 or 128m, not"
            f" {found[name]!r:.80}"
        )
    size = int(match[1]) * _FACTORS[match[2].lower()]
    if size < 1:
        raise ValueError(f"{name} is 1 or more, not {size}")
    return size


def _duration(found: Mapping[str, str], name: str, default: str) -> float:
    """Read a duration as Spark writes it, in milliseconds."""
    text = found.get(name, default)
    match = _DURATION.fullmatch(text.strip().lower())
    if match is None or match[2] not in _MILLISECONDS:
        raise ValueError(
            f"{name} is a time such as 90s, 15m or 1h (a number alone is in ms), not"
            f" {text!r:.80}"
        )
    return int(match[1]) * _MILLISECONDS[match[2]]
