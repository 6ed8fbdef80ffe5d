# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the ``kafka-log`` stream under SIGKILL, with a driver that does not use Java.

After a restart, the driver repeats the stored range and reads the same records. In the
end, the sink contains all records once, although the log grows, rolls, has a torn end
and loses segments that were already read. ``make spark`` repeats the test with Spark
(``tools/interop/spark/stream_kills.py``).
"""

import json
import signal

from kwire import records
from tools.prove.fault_runs import Fault

ROUNDS = 10
DRIVER = "tests.safety.faults.stream_driver:run"


class Log:
    """Growing partition with batches of seven records, and 70 offsets per segment."""

    def __init__(self, root):
        self.folder = root / "orders-0"
        self.folder.mkdir(parents=True)
        self.end = 0
        self.torn = b""
        self.deleted = 0

    def grow(self, batches):
        """Append ``batches`` batches.

        Only the first half of the last batch is written. The next call writes the rest.
        """
        for number in range(batches):
            rows = [(None, b"value %d" % n) for n in range(self.end, self.end + 7)]
            data = records.encode_batch(rows, base_offset=self.end)
            path = self.folder / f"{self.end // 70 * 70:020}.log"
            if self.torn:
                with self._torn_path.open("ab") as file:
                    file.write(self.torn)
                self.torn = b""
            with path.open("ab") as file:
                cut = len(data) // 2 if number == batches - 1 else len(data)
                file.write(data[:cut])
                self.torn, self._torn_path = data[cut:], path
            self.end += 7

    def delete_before(self, offset):
        """Delete the segments whose offsets are all below ``offset``."""
        for path in sorted(self.folder.glob("*.log"))[:-1]:
            if int(path.stem) + 70 <= offset:
                path.unlink()
                self.deleted += 1


def read_last_commit(checkpoint):
    numbers = [int(path.name) for path in (checkpoint / "commits").glob("[0-9]*")]
    if not numbers:
        return 0
    return json.loads((checkpoint / "commits" / str(max(numbers))).read_text())[
        "orders"
    ]["0"]


def test_each_record_is_in_the_sink_once_whenever_the_driver_is_killed(
    runner, tmp_path
):
    """The sink contains each record once, at whatever step the driver is killed.

    The steps are the plan, the sink file and the commit.
    """
    logs, checkpoint, sink = (tmp_path / name for name in ("logs", "check", "sink"))
    log = Log(logs)
    arguments = [str(logs), str(checkpoint), str(sink)]
    ranges, killed, unsettled = {}, 0, 0
    for round_ in range(ROUNDS):
        log.grow(8)
        # The driver makes three steps per micro-batch, and one plan before the first
        # one. Kill it at the first to fifth step.
        fault = Fault(kill_call=round_ % 5 + 1, kill_name="replace")
        ended = runner.run(arguments, fault, target=DRIVER)
        assert ended.code in (0, -signal.SIGKILL), ended.err
        killed += ended.code != 0
        for path in (checkpoint / "offsets").glob("[0-9]*"):
            text = path.read_text()
            # A stored range must never change.
            assert ranges.setdefault(path.name, text) == text
        commits = len(list((checkpoint / "commits").glob("[0-9]*")))
        unsettled += len(ranges) - 1 > commits
        log.delete_before(read_last_commit(checkpoint))
    log.grow(3)
    assert runner.run(arguments, target=DRIVER).code == 0
    assert killed >= ROUNDS - 3 and unsettled >= 4 and log.deleted
    rows = [
        tuple(row)
        for path in sorted(sink.glob("[0-9]*"), key=lambda path: int(path.name))
        for row in json.loads(path.read_text())
    ]
    # The last batch is incomplete, so it is not read yet.
    assert rows == [
        ("orders", 0, n, (b"value %d" % n).hex()) for n in range(log.end - 7)
    ]
