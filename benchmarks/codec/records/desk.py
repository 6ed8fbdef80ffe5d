# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run one library's record tasks in a separate process.

A task names a function in the contender module. The expected results are defined here,
so that no contender affects them.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

from crc32c import crc32c

from benchmarks.harness.desk import Desk
from benchmarks.workloads import records as workloads

ENCODING = ("encode_rows", "append_rows", "encode_columns")


class RecordDesk(Desk):
    """Desk that runs the record tasks of one contender.

    The parent process calls its public methods by name.
    """

    def _find_values(self, operation: str, *arguments: Any) -> Any:
        result = super()._find_values(operation, *arguments)
        return workloads.apart(bytes(result)) if operation in ENCODING else result

    def _expect_values(self, operation: str, *arguments: Any) -> Any:
        name = arguments[0]
        if operation == "append_rows":
            return workloads.apart(workloads.encoded(name, "none"))
        if operation in ENCODING:
            return workloads.apart(workloads.encoded(name, arguments[1]))
        if operation in ("compress", "decompress", "join_records", "join_compressed"):
            return workloads.section(name)
        if operation == "copy_and_crc":
            data = workloads.encoded(name, "none")
            return data, crc32c(data)
        if operation.startswith("messages_"):
            return workloads.messages(name, arguments[1])
        return workloads.decoded(name)

    def compressed_size(self, operation: str, *arguments: Any) -> int:
        """Run a compression task. Returns the compressed size without batch header."""
        result = self._statement(operation, *arguments).result()
        if operation in ENCODING:
            return len(result) - workloads.BATCH_HEADER
        return len(workloads.joined(result))

    def column_bytes(self, *task: Any) -> int:
        """Run a task. Returns the total size of its Arrow buffers in bytes."""
        import pyarrow as pa

        columns = pa.record_batch(self._statement(*task).result())
        return int(columns.get_total_buffer_size())

    def held_blocks(self, *task: Any) -> int:
        """Return the number of memory blocks that a task's result keeps allocated."""
        statement = self._statement(*task)
        statement.result()
        gc.collect()
        before = sys.getallocatedblocks()
        held = statement.result()
        after = sys.getallocatedblocks()
        del held
        return after - before
