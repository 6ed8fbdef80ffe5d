# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Options of ``kafka-log``, validated, with the names of Spark's Kafka source.

Options for files are fields of ``LogOptions``. ``spark/topics/option_names.py`` lists
the options that ``kafka-live`` also supports, and ``spark/topics/options.py`` parses
their values. ``planning.py`` resolves offset options, because it knows the files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any

from ..topics.layout import VIEWS
from ..topics.option_names import IGNORED, OF_TOPICS, REFUSED, UNUSED, OptionNames
from ..topics.option_values import (
    make_limits,
    read_flag,
    read_json,
    read_size,
    read_word,
)
from ..topics.options import TopicOptions, read_topic_options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..._limits import Limits

MODES = ("FAILFAST", "PERMISSIVE", "DROPMALFORMED")
DUPLICATES = ("keep", "longest", "error")

_MIB = 1 << 20


def _declare_option(read: Callable[..., Any], *details: Any) -> Any:
    """Declare the field of an option. The option has the field name in camel case.

    ``read`` is a function of ``spark/topics/option_values.py``. It is called with all
    options, the option name and ``details``. Its result for a missing option is the
    field's default value.
    """
    return field(
        default_factory=partial(read, {}, "", *details),
        metadata={"read": read, "details": details},
    )


@dataclass(frozen=True, kw_only=True)
class LogOptions(TopicOptions):
    """Validated options of a ``kafka-log`` reader, one field per option."""

    paths: tuple[str, ...]
    corrupt_record: str = "_corrupt_record"
    names_corrupt_record: bool = False
    view: str = _declare_option(read_word, VIEWS)
    include_batch_columns: bool = _declare_option(read_flag)
    include_file_path: bool = _declare_option(read_flag)
    mode: str = _declare_option(read_word, MODES)
    duplicates: str = _declare_option(read_word, DUPLICATES)
    strict_tail: bool = _declare_option(read_flag)
    verify_crc: bool = _declare_option(read_flag, True)
    errors: str = _declare_option(read_word, ("strict", "replace"))
    max_partition_bytes: int = _declare_option(read_size, 128 * _MIB)
    max_batch_bytes: int | None = _declare_option(read_size)
    push_down_filters: bool = _declare_option(read_flag)

    @property
    def limits(self) -> Limits:
        """Decoding limits for a single batch, from the option ``maxBatchBytes``."""
        return make_limits(self.max_batch_bytes)


_FIELDS = {
    re.sub("_(.)", lambda match: match[1].upper(), each.name): each
    for each in fields(LogOptions)
    if each.metadata
}
"""Fields declared with ``_declare_option``, by option name."""

_SPECIAL = ("path", "paths", "columnNameOfCorruptRecord")

_UNUSED_PREFIXES = tuple(name[:-1] for name in UNUSED if name.endswith("*"))

LOG_OPTIONS = OptionNames(
    "kafka-log",
    tuple(dict.fromkeys((*_SPECIAL, *_FIELDS, *OF_TOPICS))),
    (*(name for name in IGNORED if not name.startswith(_UNUSED_PREFIXES)), *UNUSED),
    REFUSED,
)


def read_options(given: Mapping[str, str]) -> LogOptions:
    """Read a reader's options. Raises ``ValueError`` for an invalid option.

    Option names are compared without case. ``OptionNames.choose`` describes which names
    are supported, ignored or rejected.
    """
    if "provider" in {name.lower() for name in given}:
        # Spark 4 accepts CREATE TABLE for this format, but does not pass the table's
        # options to the reader.
        raise ValueError(
            "kafka-log cannot be a catalog table, because Spark does not pass the"
            " options of such tables; use CREATE TEMPORARY VIEW name USING kafka_log"
            ' OPTIONS (path "kafka-logs/")'
        )
    values = LOG_OPTIONS.choose(given)
    of_files = {
        option_field.name: option_field.metadata["read"](
            values, name, *option_field.metadata["details"]
        )
        for name, option_field in _FIELDS.items()
    }
    view = of_files["view"]
    if view == "batches" and "verifyCrc" not in values:
        # By default, read only the batch headers and skip the records between them. A
        # CRC check would have to read all bytes.
        of_files["verify_crc"] = False
    of_topics = read_topic_options(values)
    if view != "records":
        # Other views do not return records, so a limit for records has no meaning.
        of_topics["max_records_per_partition"] = None
    if view == "batches" and of_topics["isolation_level"] == "read_committed":
        raise ValueError(
            "view=batches returns the batches of all transactions (got isolation level"
            " read_committed); omit the level, or set view=records"
        )
    return LogOptions(
        **of_topics,
        **of_files,
        paths=_read_paths(values),
        corrupt_record=values.get("columnNameOfCorruptRecord", "_corrupt_record"),
        names_corrupt_record="columnNameOfCorruptRecord" in values,
    )


def _read_paths(values: Mapping[str, str]) -> tuple[str, ...]:
    paths: list[str] = []
    if "paths" in values:
        paths = read_json(values, "paths", list, '["kafka-logs-1", "kafka-logs-2"]')
    if values.get("path"):
        paths = [values["path"], *paths]
    if not paths or not all(isinstance(path, str) and path for path in paths):
        raise ValueError(
            'kafka-log requires a path: .load("kafka-logs/"), a data directory of'
            " Kafka, a parent directory of several, or an address such as"
            " s3://bucket/directory"
        )
    return tuple(map(_remove_file_scheme, paths))


def _remove_file_scheme(path: str) -> str:
    """Remove the prefix ``file:`` that Hadoop adds to the paths of local files."""
    is_short = path.startswith("file:/") and not path.startswith("file://")
    return path.removeprefix("file:") if is_short else path
