# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Verify that all message benchmarks do equal work: same bytes, same values.

Every message task that ``python -m benchmarks`` measures runs here once for every
contender, in a separate process. Nothing is timed here. The measurements only start
after this file has passed.
"""

from __future__ import annotations

import importlib.util

import pytest

from benchmarks.codec.rows import MESSAGE_ROWS

# Test the Python engine instead of the compiled engine if the latter is not built.
BUILT = importlib.util.find_spec("kwire._engine.fast.decoder") is not None
STANDS_IN = {} if BUILT else {"kwire": "kwire pure"}

TASKS = sorted(
    {
        (entry.task, STANDS_IN.get(entry.worker, entry.worker))
        for row in MESSAGE_ROWS
        for entry in row.entries
        if not entry.task[0].startswith("read_")
    },
    key=str,
)
DECODING = [case for case in TASKS if case[0][0].startswith("decode")]


def encoding_of(task):
    """Return the task that encodes the input of a decoding task."""
    operation, *arguments = task
    if operation == "decode_zero_copy":
        return ("encode", *arguments)
    return (operation.replace("decode", "encode"), *arguments)


ENCODING: dict[tuple, set[str]] = {}
for task, worker in TASKS:
    ENCODING.setdefault(encoding_of(task), set()).add(worker)


def name_of(value) -> str:
    """Return the test id of a task, a contender or a set of contenders."""
    if isinstance(value, set):
        return "+".join(sorted(value))
    return value if isinstance(value, str) else "-".join(map(str, value))


@pytest.mark.parametrize(("task", "worker"), DECODING, ids=name_of)
def test_every_contender_decodes_the_values_that_were_encoded(workers, task, worker):
    """Each contender decodes all expected values.

    A contender that skips a value would appear to be faster.
    """
    assert workers[worker].ask("difference", *task) is None


@pytest.mark.parametrize(("task", "labels"), ENCODING.items(), ids=name_of)
def test_all_contenders_encode_the_same_bytes(workers, task, labels):
    """All contenders encode the same bytes.

    Each of them decodes its own bytes, so all of them decode the same input.
    """
    assert len(labels) > 1
    found = {label: workers[label].ask("bytes_of", *task) for label in labels}
    assert len(set(map(str, found.values()))) == 1, found
