# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run scan simulation seeds: ``python -m tests.client.machines.replay 7 8``.

Prints the scan's final state, and the actual log per partition.
"""

import sys

import kwire
from tests.client.machines.scan_scenario import Scenario


def main() -> None:
    """Run the seeds from the command line."""
    for seed in map(int, sys.argv[1:]):
        scenario = Scenario(kwire, seed)
        try:
            scenario.run()
        except AssertionError as error:
            print(error)
        machine = scenario.machine
        print(f"seed {seed}: failure {machine.failure}, losses {machine.losses}")
        for name, topic in scenario.cluster.topics.items():
            for index, log in enumerate(topic.logs):
                reader = machine.fetcher.readers.get((name, index))
                slots = () if reader is None else reader.__slots__
                reader_state = {key: getattr(reader, key, None) for key in slots}
                seen_records = scenario.seen.get((name, index), [])
                print(f"  {name}-{index}: {reader_state}")
                print(f"    log {log.start} to {log.end}, cut at {log.cut}")
                print(f"    seen {[offset for offset, _ in seen_records]}")


if __name__ == "__main__":
    main()
