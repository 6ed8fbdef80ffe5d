# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Spark integration: data sources, column functions, and deployment to workers.

The data sources read files, live topics and recordings. They parse options into a plan
and read each part of the plan as Arrow batches. pyspark is imported on first use and
not installed by kwire, because each platform provides its own. Code that works without
Spark belongs to the packages below.
May import: ``errors``, ``_limits``, ``_files``, ``_text``, ``schema``,
``messages``, ``records``, ``log``, ``client``, ``recording``.
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
        value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyspark":
            raise
        raise ImportError(_explain_missing(name, error.name or "")) from None
    globals()[name] = value
    return value


def _explain_missing(name: str, module: str) -> str:
    """Return the error text for a missing module, with the required PySpark version."""
    if module == "pyspark":
        return f"kwire.spark.{name} requires PySpark 3.5 or newer: pip install pyspark"
    import pyspark

    return (
        f"kwire.spark.{name} requires PySpark 4.0 or newer, which has Python data"
        f" sources (installed: {pyspark.__version__}); kwire.spark.functions works on"
        " PySpark 3.5"
    )


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
