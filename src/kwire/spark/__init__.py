# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Kafka's bytes in Spark: formats, column functions, and kwire for its workers.

    import kwire.spark as ks

    ks.register(spark)      # formats, filter push-down, functions for SQL
    spark.read.format("kafka-log").load("kafka-logs/")
    ks.bundle("deps.zip")   # kwire for the workers of a cluster

pyspark is imported when something that needs it is touched; kwire never installs it,
as a platform brings its own.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MODULES = {
    "KafkaLiveSource": "live.source",
    "KafkaLogSource": "log.source",
    "KafkaCaptureSource": "capture.source",
    "KafkaRequestLogSource": "capture.request_log_source",
    "bundle": "shipping.bundle",
    "read_headers": "functions",
    "read_records": "functions",
    "register": "registration",
}

__all__ = [
    "KafkaCaptureSource",
    "KafkaLiveSource",
    "KafkaLogSource",
    "KafkaRequestLogSource",
    "bundle",
    "read_headers",
    "read_records",
    "register",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        found = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyspark":
            raise
        raise ImportError(
            f"kwire.spark.{name} requires pyspark 4.0 or newer: pip install pyspark"
        ) from None
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
