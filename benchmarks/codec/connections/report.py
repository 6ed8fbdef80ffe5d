# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the part of ``RESULTS.md`` about connections."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.codec.connections.rows import (
    CODEC,
    CONNECTION_ROWS,
    NEGOTIATION,
    STREAMS,
)
from benchmarks.codec.connections.targets import verdicts_of
from benchmarks.codec.figures import Figures, cell, format_verdict
from benchmarks.harness.tables import table
from benchmarks.workloads.connections import CHUNK_BYTES, FRAMES, RECORD_BYTES

_ABOUT = {
    STREAMS: f"""\
A connection that waits for {FRAMES:,} Fetch responses receives them in chunks of
{CHUNK_BYTES:,} bytes; each has one partition with {RECORD_BYTES} bytes of records,
which stay bytes. Every frame is split off, matched with its request by correlation id
and decoded, and every event or response is kept in a list. Figures are per frame.
kafka-python's is the parser that its own connections use. *{CODEC}* is the fast engine
decoding the same messages, made beforehand, without frames.""",
    NEGOTIATION: """\
All that a client does when it connects, beside the round trips: the question, the
answer decoded into a table of versions, and the first version picked from it. A broker
that does not know the newest version of the question is asked a second time.""",
}
_LABELS = {
    STREAMS: ("kwire", "kwire pure", "kafka-python", CODEC),
    NEGOTIATION: ("kwire", "kwire pure"),
}


def connection_tables(figures: Figures) -> Iterator[str]:
    """Write all that is measured of connections."""
    for section, about in _ABOUT.items():
        labels = _LABELS[section]
        rows = [row for row in CONNECTION_ROWS if row.section == section]
        lines, told = [], []
        for row in rows:
            cells = [cell(figures, row, label) for label in labels]
            entries = dict.fromkeys(target.entry for target in row.targets)
            words = [
                f"{entry}: {format_verdict(figures, row, entry)}" for entry in entries
            ]
            lines.append([row.title, *cells, *(["<br>".join(words)] if words else [])])
            told += [
                f"- {verdict.work.removeprefix(f'{section}, ')}: {verdict.reached}; "
                f"wanted {verdict.wanted}: {'met' if verdict.met else '**missed**'}"
                for verdict in verdicts_of(figures, row)
            ]
        beside = ("beside kafka-python",) if rows[0].targets else ()
        head = ("µs", *labels, *beside)
        parts = [about, table(head, lines), "\n".join(told)]
        yield f"## {section}\n\n" + "\n\n".join(parts)
