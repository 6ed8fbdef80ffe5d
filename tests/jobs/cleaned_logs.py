# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compacted topic whose replicas were cleaned at different times, and damaged.

The expected records are computed separately for every offset. This is slow, but simpler
than the tested code.
"""

from __future__ import annotations

import random

from kwire import records
from tests.jobs.broken_logs import BASE_TIME, ranges_of

KNOWN, DAMAGED = "known", "damaged"


class Cleaned:
    """Two or three replicas of the partition ``ids-0``.

    * ``rows``: the records that ``export`` must recover.
    * ``lost``: the offset ranges that it must report as lost.
    """

    def __init__(self, root, seed):
        self.random = random.Random(seed)
        starts = self._log()
        self.brokers = [
            root / f"broker-{number}" for number in range(self.random.choice((2, 3)))
        ]
        end = self.log[-1][-1][0] + 1
        rows_by_key, states = {}, []
        for broker in self.brokers:
            folder = broker / "ids-0"
            folder.mkdir(parents=True)
            (broker / "replication-offset-checkpoint").write_text(
                f"0\n1\nids 0 {end}\n"
            )
            (broker / "cleaner-offset-checkpoint").write_text("0\n1\nids 0 5\n")
            state = self._replica(folder, starts, rows_by_key)
            states.append(state)
        self.rows = sorted(rows_by_key.values(), key=lambda row: row[0])
        self.lost = ranges_of(
            offset
            for offset in range(end)
            if not any(state.get(offset) == KNOWN for state in states)
            and any(state.get(offset) == DAMAGED for state in states)
        )

    def _log(self):
        """Create the original batches.

        Return the batch indexes at which segments start.
        """
        self.log, starts, offset = [], [], 0
        for number in range(self.random.randint(10, 30)):
            count = self.random.randint(1, 8)
            self.log.append(
                [
                    (
                        offset + index,
                        b"key %d" % self.random.randrange(20),
                        self.random.randbytes(self.random.randrange(40)),
                        BASE_TIME + offset + index,
                        (),
                    )
                    for index in range(count)
                ]
            )
            if number % 5 == 0:
                starts.append(number)
            offset += count
        return starts

    def _replica(self, folder, starts, rows_by_key):
        """Write one replica whose segments are compacted and damaged at random.

        Return a dict from offset to its state in this replica.
        """
        state, before, is_whole = {}, 0, True
        for number, start in enumerate(starts):
            stop = starts[number + 1] if number + 1 < len(starts) else len(self.log)
            name = self.log[start][0][0]
            clean = number + 1 < len(starts) and self.random.random() < 0.8
            # If the file before is complete, the offsets between both files were
            # compacted.
            between = KNOWN if is_whole else DAMAGED
            state.update(dict.fromkeys(range(before, name), between))
            data, before, is_whole = b"", name, True
            for rows in self.log[start:stop]:
                remaining = [
                    row for row in rows if not clean or self.random.random() < 0.5
                ]
                # A broker deletes a segment if compaction removes all of its records.
                remaining = remaining or ([] if data else rows[:1])
                if not remaining:
                    continue
                batch = encoded(rows, remaining, ("none", "zstd")[rows[0][0] % 2])
                first, last = rows[0][0], rows[-1][0]
                if self.random.random() < 0.15:
                    batch = bytearray(batch)
                    batch[61 + self.random.randrange(len(batch) - 61)] ^= 4
                    is_whole = False
                else:
                    rows_by_key.update((row[0], row) for row in remaining)
                    # Offsets between two intact batches were compacted, so they are not
                    # lost.
                    between = KNOWN if is_whole else DAMAGED
                    state.update(dict.fromkeys(range(before, first), between))
                    state.update(dict.fromkeys(range(first, last + 1), KNOWN))
                    before, is_whole = last + 1, True
                data += batch
            (folder / f"{name:020}.log").write_bytes(data)
        if not is_whole:
            end = self.log[-1][-1][0] + 1
            state.update(dict.fromkeys(range(before, end), DAMAGED))
        return state


def encoded(rows, remaining, codec):
    """Encode the batch ``rows`` with only the ``remaining`` records.

    As after compaction, the batch keeps its original first and last offset.
    """
    return records.encode_batch(
        [
            records.Record(offset=offset, timestamp=time, key=key, value=value)
            for offset, key, value, time, _ in remaining
        ],
        base_offset=rows[0][0],
        last_offset=rows[-1][0],
        compression=codec,
        partition_leader_epoch=0,
    )
