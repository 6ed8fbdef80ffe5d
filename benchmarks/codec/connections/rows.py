# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Rows for the connection tables: tasks, libraries and targets.

If a target does not compare two entries in a row, it is defined in ``targets.py``: the
negotiation time in microseconds, and the overhead compared with the codec.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.harness.work import Entry, Row, Target
from benchmarks.workloads.connections import FRAMES, QUESTIONS

STREAMS = "Small responses on a connection"
NEGOTIATION = "Negotiation"
CONNECTION_SECTIONS = (STREAMS, NEGOTIATION)

FETCH_VERSIONS = (4, 11, 17)
LEAST = 10
CODEC = "messages alone"


def _stream_rows() -> Iterator[Row]:
    labels = ("kwire", "kwire pure", "kafka-python")
    for version in FETCH_VERSIONS:
        receiving = (
            Entry(label, f"{label} connections", ("receive_stream", version))
            for label in labels
        )
        alone = Entry(CODEC, "kwire connections", ("decode_bodies", version))
        yield Row(
            STREAMS,
            f"{FRAMES:,} Fetch responses v{version}",
            (*receiving, alone),
            (
                Target("kwire", ("kafka-python",), LEAST),
                Target("kwire pure", ("kafka-python",), 1),
            ),
        )


def _negotiation_rows() -> Iterator[Row]:
    for release, questions in QUESTIONS.items():
        times = "once" if questions == 1 else "twice"
        entries = tuple(
            Entry(label, f"{label} connections", ("negotiate", release))
            for label in ("kwire", "kwire pure")
        )
        yield Row(NEGOTIATION, f"broker of {release}, asked {times}", entries)


CONNECTION_ROWS = (*_stream_rows(), *_negotiation_rows())
