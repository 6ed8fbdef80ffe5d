# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Consumers of kafka-python and aiokafka that decode records with kwire.

    from kwire.client import adapters

    adapters.aiokafka.install()

Programs do not have to be changed, because they receive instances of the client's own
record classes, with the same values. ``adapter.py`` installs an adapter, and
``runs.py`` decodes fetched bytes. ``aiokafka_classes.py`` and ``kafka_classes.py``
contain the replacements for client code.
"""

from __future__ import annotations

from .adapter import Adapter as Adapter

__all__ = ["Adapter", "aiokafka", "kafka_python"]

kafka_python = Adapter(
    "kafka-python",
    "kafka",
    (
        "2.2.21",
        "2.3.0",
        "2.3.1",
        "2.3.2",
        "2.3.3",
        "3.0.0",
        "3.0.1",
        "3.0.2",
        "3.0.4",
        "3.0.5",
        "3.0.6",
        "3.0.7",
        "3.0.8",
        "3.0.9",
        "3.0.10",
        "3.0.11",
        "3.0.12",
    ),
)
"""Adapter for kafka-python consumers."""

aiokafka = Adapter("aiokafka", "aiokafka", ("0.11.0", "0.12.0", "0.13.0", "0.14.0"))
"""Adapter for aiokafka consumers."""
