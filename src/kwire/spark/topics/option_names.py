# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Option names of ``kafka-log`` and ``kafka-live``: supported, ignored and rejected.

The lists contain the options of Spark's own Kafka source and sink, and the settings of
Kafka's consumer and producer (``kafka.*``). Options that only ``kafka-log`` has are
fields in ``spark/log/options.py``. The tests compare the names with the guides.
"""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from ..._text.foreign_names import SPARK_OPTIONS
from ..._text.name_advice import find_advice
from ...client import property_names
from ...client.shown_texts import describe_unknown, looks_like_name

if TYPE_CHECKING:
    from collections.abc import Mapping

ISOLATION = "kafka.isolation.level"
_SECURITY = ("kafka.ssl.", "kafka.sasl.", "kafka.security.")

OF_TOPICS = (
    "subscribe",
    "subscribePattern",
    "assign",
    "startingOffsets",
    "endingOffsets",
    "startingTimestamp",
    "endingTimestamp",
    "startingOffsetsByTimestamp",
    "endingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "includeHeaders",
    "minPartitions",
    "maxRecordsPerPartition",
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "failOnDataLoss",
    "isolationLevel",
    "maxBatchBytes",
    ISOLATION,
)
"""Options for topics, offsets, limits and columns, which both formats support."""

OF_CLIENTS = tuple(f"kafka.{name}" for name in property_names.OF_CONNECTIONS)
"""Connection settings that sources and sinks apply."""

_OF_SCANS = (*OF_CLIENTS, "kafka.default.api.timeout.ms", "kafka.check.crcs")
"""Settings of Kafka's consumer that a scan applies."""

IGNORED = (
    "groupIdPrefix",
    "kafkaConsumer.pollTimeoutMs",
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
    *(f"kafka.{name}" for name in property_names.IGNORED_OF_CONSUMERS),
    *(f"kafka.{name}" for name in property_names.IGNORED_OF_CONNECTIONS),
)
"""Options that sources ignore, because they only affect how records are fetched, and
cannot change the returned rows.
"""

UNUSED = (
    *(name for name in _OF_SCANS if not name.startswith(_SECURITY)),
    "kafka.security.protocol",
    "kafka.security.providers",
    "kafka.config.providers",
    "kafka.ssl.*",
    "kafka.sasl.*",
)
"""Connection settings, which ``kafka-log`` ignores because it only reads files."""

REFUSED = {
    "kafka.auto.offset.reset": (
        "startingOffsets says where to begin, and failOnDataLoss what happens where"
        " offsets are gone"
    ),
    "kafka.key.deserializer": "key is binary; cast or decode the column",
    "kafka.value.deserializer": "value is binary; cast or decode the column",
    "kafka.enable.auto.commit": (
        "nothing is committed to Kafka; a stream keeps its offsets in its checkpoint"
    ),
    "kafka.interceptor.classes": (
        "interceptors may change records, and run in Java only; change the rows in"
        " the query"
    ),
}
"""Options that Spark's own source also rejects, with the recommended alternative."""

_DECISIVE = (ISOLATION, "kafka.acks", "kafka.enable.idempotence")
"""Settings that decide which records are read or kept. Misspelled names are errors."""

_LIKE_IT = 0.8
"""Minimum similarity to a decisive setting for a name to count as misspelled.

No other setting of Kafka's clients is that similar.
"""


class OptionNames(NamedTuple):
    """Option names of one format.

    * ``honoured``: supported options.
    * ``ignored``: options that have no effect in this format.
    * ``refused``: maps rejected names, in lower case, to the recommended alternative.
    """

    format: str
    honoured: tuple[str, ...]
    ignored: tuple[str, ...]
    refused: dict[str, str]

    def choose(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the supported options, spelled as in ``honoured``.

        Option names are compared without case. A ``kafka.`` setting that Kafka's
        clients do not have is ignored with a warning, as in Kafka. Raises
        ``ValueError`` for rejected options, for unknown options, and for a misspelled
        decisive setting.
        """
        unused = []
        by_lower = {name.lower(): name for name in (*self.honoured, *self.ignored)}
        values: dict[str, str] = {}
        for name, text in given.items():
            lower = name.lower()
            if lower in self.refused:
                raise ValueError(
                    f"{self.format} does not support {name}: {self.refused[lower]}"
                )
            supported_name = by_lower.get(lower)
            if supported_name in self.honoured:
                values[supported_name] = str(text)
            elif supported_name is None:
                self._check_unknown(name, lower, by_lower)
                if lower not in _OF_KAFKA:
                    unused.append(name)
        if unused:
            names = (*self.honoured, *self.ignored)
            advice = "Kafka's clients have no such setting"
            described = describe_unknown(unused, names, advice)
            text = f"{self.format} ignores the option {described}"
            warnings.warn(text, stacklevel=3)
        return values

    def _check_unknown(self, name: str, lower: str, by_lower: dict[str, str]) -> None:
        """Raise ``ValueError`` for an unknown name that is no ``kafka.`` setting.

        A misspelled decisive ``kafka.`` setting is also an error.
        """
        if lower.startswith("kafka."):
            decisive = [setting for setting in _DECISIVE if setting in by_lower]
            near = get_close_matches(lower, decisive, 1, _LIKE_IT)
            if not near:
                return
        else:
            near = get_close_matches(lower, by_lower, 1)
        advice = find_advice(SPARK_OPTIONS, name)
        if advice and "subscribe" in self.honoured:
            hint = advice.removeprefix("; ")
        elif near:
            hint = f"did you mean {by_lower[near[0]]}?"
        else:
            hint = f"use one of {', '.join(self.honoured)}"
        is_name = looks_like_name(name, (*by_lower.values(), *OF_TOPICS))
        shown = repr(name) if is_name else "of such a name"
        raise ValueError(f"{self.format} has no option {shown}: {hint}")


LIVE_OPTIONS = OptionNames(
    "kafka-live",
    (*OF_TOPICS, *_OF_SCANS),
    IGNORED,
    {
        **REFUSED,
        "kafka.config.providers": "kwire reads no providers; give the value itself",
        "kafka.security.providers": "they run in Java only; leave it out",
    },
)

SINK_OPTIONS = OptionNames(
    "the sink kafka-live",
    (
        "topic",
        *OF_CLIENTS,
        *(f"kafka.{name}" for name in property_names.OF_PRODUCERS),
    ),
    (
        "includeHeaders",
        "checkpointLocation",
        "queryName",
        *(f"kafka.{name}" for name in property_names.IGNORED_OF_CONNECTIONS),
        *(f"kafka.{name}" for name in property_names.IGNORED_OF_PRODUCERS),
    ),
    {
        "kafka.key.serializer": "key is written as it is; encode the column",
        "kafka.value.serializer": "value is written as it is; encode the column",
        "kafka.partitioner.class": (
            "classes run in Java only; give the column partition, or keys, which go"
            " where Kafka's default partitioner sends them"
        ),
        "kafka.partitioner.ignore.keys": "give the column partition",
        "kafka.transactional.id": (
            "rows are written without transactions, at least once; leave it out"
        ),
        "kafka.interceptor.classes": REFUSED["kafka.interceptor.classes"],
        "kafka.config.providers": LIVE_OPTIONS.refused["kafka.config.providers"],
        "kafka.security.providers": LIVE_OPTIONS.refused["kafka.security.providers"],
    },
)

_OF_KAFKA = frozenset(
    (
        *(f"kafka.{name}" for name in property_names.KNOWN),
        *LIVE_OPTIONS.refused,
        *SINK_OPTIONS.refused,
    )
)
"""Settings of Kafka's consumers and producers.

Jobs pass the same settings to sources and sinks, so settings for the opposite side are
ignored without a warning.
"""
