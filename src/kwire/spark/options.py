# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The options of ``kafka-log``, checked, with the names of Spark's Kafka source.

``option_names.py`` lists the names, ``topic_options.py`` reads the options that
``kafka-live`` has too. ``planning.py``, which knows the files, finds the offsets that
an option means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..limits import DEFAULT, Limits
from .layout import VIEWS
from .option_names import LOG_OPTIONS
from .option_values import read_flag, read_json, read_size, read_word
from .topic_options import TopicOptions, read_topic_options

if TYPE_CHECKING:
    from collections.abc import Mapping

MODES = ("FAILFAST", "PERMISSIVE", "DROPMALFORMED")
DUPLICATES = ("keep", "longest", "error")

_MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class LogOptions(TopicOptions):
    """What a reader of ``kafka-log`` was asked for; the fields are the options."""

    paths: tuple[str, ...]
    view: str = "records"
    include_batch_columns: bool = False
    include_file_path: bool = False
    mode: str = "FAILFAST"
    corrupt_record: str = "_corrupt_record"
    names_corrupt_record: bool = False
    duplicates: str = "keep"
    strict_tail: bool = False
    verify_crc: bool = True
    errors: str = "strict"
    max_partition_bytes: int = 128 * _MIB
    max_batch_bytes: int | None = None
    push_down_filters: bool = False

    @property
    def limits(self) -> Limits:
        """The limits of one batch, compressed and decompressed."""
        most = self.max_batch_bytes
        if most is None:
            return DEFAULT
        return Limits(frame_bytes=most, decompressed_bytes=most)


def read_options(given: Mapping[str, str]) -> LogOptions:
    """Read the options of a reader; ``ValueError`` says which is wrong and why.

    Names count without case; ``OptionNames.choose`` says what becomes of each.
    """
    if "provider" in {name.lower() for name in given}:
        # Spark 4 makes such a table, and forgets its options when it is read.
        raise ValueError(
            "kafka-log cannot be a table of the catalog, as Spark reads those without"
            ' their options; CREATE TEMPORARY VIEW name USING kafka_log OPTIONS (path "'
            'kafka-logs/") makes a name for a query'
        )
    found = LOG_OPTIONS.choose(given)
    view = read_word(found, "view", VIEWS)
    of_topics = read_topic_options(found)
    if view != "records":
        # The rows of other views are no records.
        of_topics["max_records_per_partition"] = None
    if view == "batches" and of_topics["isolation_level"] == "read_committed":
        raise ValueError(
            "view=batches has the batches of all transactions (isolation level"
            " read_committed); leave the level out, or read view=records"
        )
    return LogOptions(
        **of_topics,
        paths=_paths(found),
        view=view,
        include_batch_columns=read_flag(found, "includeBatchColumns"),
        include_file_path=read_flag(found, "includeFilePath"),
        mode=read_word(found, "mode", MODES),
        corrupt_record=found.get("columnNameOfCorruptRecord", "_corrupt_record"),
        names_corrupt_record="columnNameOfCorruptRecord" in found,
        duplicates=read_word(found, "duplicates", DUPLICATES),
        strict_tail=read_flag(found, "strictTail"),
        # Headers of batches are read without what is between them, if they may be.
        verify_crc=read_flag(found, "verifyCrc", view != "batches"),
        errors=read_word(found, "errors", ("strict", "replace")),
        max_partition_bytes=read_size(found, "maxPartitionBytes") or 128 * _MIB,
        max_batch_bytes=read_size(found, "maxBatchBytes"),
        push_down_filters=read_flag(found, "pushDownFilters"),
    )


def _paths(found: Mapping[str, str]) -> tuple[str, ...]:
    paths: list[str] = []
    if "paths" in found:
        paths = read_json(found, "paths", list, '["kafka-logs-1", "kafka-logs-2"]')
    if found.get("path"):
        paths = [found["path"], *paths]
    if not paths or not all(isinstance(path, str) and path for path in paths):
        raise ValueError(
            'kafka-log requires a path: .load("kafka-logs/"), a data directory of'
            " Kafka, a folder above several, or an address such as s3://bucket/folder"
        )
    return tuple(map(_without_scheme, paths))


def _without_scheme(path: str) -> str:
    """Take ``file:`` off, as Hadoop writes the paths of files."""
    is_short = path.startswith("file:/") and not path.startswith("file://")
    return path.removeprefix("file:") if is_short else path
