# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Scan some partitions repeatedly and report every rejected Fetch.

Usage: ``python -m benchmarks.leaders.reader ADDRESSES TOPIC RECORDS hints|none``. The
program exits when its standard input ends. It prints a JSON line when a partition is
served for the first time, and when it is served again after a rejected Fetch. With
``none`` the leader hints are discarded. kwire has no option for this, so the fetcher is
replaced.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from typing import Any

from kwire.client.machines import ClusterSettings, ScanMachine, ScanOptions
from kwire.client.machines.scan.fetcher import Fetcher
from kwire.client.options import read_addresses
from kwire.client.runners.blocking import BlockingRunner
from kwire.client.runners.network import Network

PACE_S = 0.001
FETCH_BYTES = 1 << 16


class MovedFetcher(Fetcher):
    """Fetcher that reads each partition repeatedly, and may ignore leader hints."""

    def __init__(self, machine: ScanMachine, record_count: int, has_hints: bool):
        """Create a fetcher that rewinds a partition after ``record_count`` records."""
        super().__init__(machine.cluster, machine.options, now=time.monotonic())
        self._record_count = record_count
        self._has_hints = has_hints
        # Both dictionaries have partitions as keys:
        #   _served_at  time at which records were last received
        #   _refusals   number of errors since then
        self._served_at: dict[int, float] = {}
        self._refusals: dict[int, int] = {}

    def _take_hint(self, reader: Any, part: Any, brokers: Any) -> bool:
        return self._has_hints and super()._take_hint(reader, part, brokers)

    def _take_error(self, reader: Any, error_code: int, *rest: Any) -> None:
        partition = reader.partition
        self._refusals[partition] = self._refusals.get(partition, 0) + 1
        super()._take_error(reader, error_code, *rest)

    def _take_records(self, reader: Any, part: Any, *rest: Any) -> None:
        super()._take_records(reader, part, *rest)
        now, partition = time.monotonic(), reader.partition
        refusals = self._refusals.pop(partition, 0)
        served_at = self._served_at.get(partition)
        if refusals or served_at is None:
            gap = 0.0 if served_at is None else now - served_at
            line = {"partition": partition, "at": now, "gap": gap, "refusals": refusals}
            print(json.dumps(line), flush=True)
        self._served_at[partition] = now
        if reader.position >= self._record_count:
            reader.rewind(0)


def main() -> None:
    """Run the scan until the standard input ends."""
    addresses, topic, records, hints = sys.argv[1:]
    options = ScanOptions(topics=(topic,), follow=True, fetch_bytes=FETCH_BYTES)
    machine = ScanMachine(
        read_addresses(addresses),
        ClusterSettings(),
        options,
        now=time.monotonic(),
        random=random.Random(),
    )
    machine.fetcher = MovedFetcher(machine, int(records), hints == "hints")
    is_ending = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        is_ending.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    runner = BlockingRunner(machine, machine.cluster, Network())
    try:
        while not is_ending.is_set():
            runner.run_until(machine.has_result)
            fetched = machine.take()
            if fetched is None:
                raise SystemExit(f"the scan ended: {machine.failure}")
            machine.release(fetched)
            time.sleep(PACE_S)
    finally:
        machine.close(time.monotonic())
        runner.close()


if __name__ == "__main__":
    main()
