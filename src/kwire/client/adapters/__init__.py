# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Consumers of kafka-python and aiokafka that decode records with kwire.

    from kwire.client import adapters

    adapters.aiokafka.install()

Programs do not change, because records are instances of the classes of the client, with
the same values. ``runs.py`` decodes fetched bytes. ``adapter.py`` installs an adapter.
The replacements for the code of each client are in a file of their own.
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
"""The adapter for the consumers of kafka-python."""

aiokafka = Adapter("aiokafka", "aiokafka", ("0.11.0", "0.12.0", "0.13.0", "0.14.0"))
"""The adapter for the consumers of aiokafka."""
