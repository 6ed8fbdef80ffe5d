# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Output files appear completely or not at all, whatever happens to the command.

No file or directory with its final name is ever incomplete. A killed command only
leaves ``.partial`` files, which do not block later runs. Inputs are never modified, and
users see a one-line error. A full disk is simulated with ``/dev/full`` or with a limit
for the file size, so that the tests do not need mount permissions.
``tools/prove/faults.py`` uses a small disk and hundreds of kills.
"""

import os
import signal
import stat
import time
from pathlib import Path

import pyarrow as pa
import pytest

from kwire.jobs.tables import Output, open_table
from tools.prove.fault_runs import KILLED, Fault, content, judge

SPREAD = 2
"""Number of kills of a long job before its last steps.

In addition, it is killed at every one of the last steps.
"""

LAST = 3
LONGEST_S = 30


def kill_points(calls):
    """Return the numbers of the system calls before which a command is killed.

    If there are many calls, they are a selection and all of the last calls.
    """
    count = len(calls) + 1
    if count <= SPREAD + LAST + 2:
        return range(1, count + 1)
    early = range(1, count - LAST, max(1, (count - LAST) // SPREAD))
    # The directory is renamed during the last calls.
    name = max(n for n, call in enumerate(calls, 1) if call == "rename")
    return sorted({*early, name, name + 1, *range(count - LAST, count + 1)})


def test_a_kill_at_any_step_leaves_all_or_nothing(runner, work, normal_run, tmp_path):
    """A command that is killed at any step leaves a complete output or none.

    All kills use the same directory, so that later runs find the files of earlier ones.
    """
    run, whole = normal_run[work.name]
    killed = there = 0
    for call in kill_points(run.calls):
        ended = runner.run(work.arguments, Fault(kill_call=call), tmp_path)
        assert ended.code in {*KILLED, work.code}, ended.err
        killed += ended.code in KILLED
        if judge(tmp_path, work, whole):
            there += 1
            refused = runner.run(work.arguments, folder=tmp_path)
            assert (refused.code, refused.err.count("\n")) == (2, 1)
            assert "exists already; remove it" in refused.err
            assert judge(tmp_path, work, whole)
            out = tmp_path / work.output
            out.rename(tmp_path / f".partial-{there}")
    assert killed >= 5 and there >= 2
    last = runner.run(work.arguments, folder=tmp_path)
    assert last.code == work.code and judge(tmp_path, work, whole)


@pytest.mark.parametrize("share", [0.01, 0.9])
def test_a_kill_in_the_middle_of_a_file_leaves_nothing(
    runner, kind_of_work, normal_run, tmp_path, share
):
    """A command that is killed while it writes a file leaves no output.

    The kernel terminates the process at a specific byte.
    """
    _, whole = normal_run[kind_of_work.name]
    size = int(max(map(len, whole.values())) * share)
    fault = Fault(file_bytes=max(size, 600), dies=True)
    ended = runner.run(kind_of_work.arguments, fault, tmp_path)
    assert ended.code == -signal.SIGXFSZ
    assert not judge(tmp_path, kind_of_work, whole)
    assert list(tmp_path.iterdir())
    assert runner.run(kind_of_work.arguments, folder=tmp_path).code == kind_of_work.code
    assert judge(tmp_path, kind_of_work, whole)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault(full_from=1), "no space left on device"),
        (Fault(file_bytes=4000), "file too large"),
    ],
    ids=["at the last file", "at 4,000 bytes"],
)
def test_a_full_disk_is_one_line_and_leaves_nothing(
    runner, work, normal_run, tmp_path, fault, reason
):
    """If the disk is full, the error has one line and no output remains.

    The command succeeds when it is repeated with enough space.
    """
    _, whole = normal_run[work.name]
    if fault.full_from:
        fault = Fault(full_from=len(whole))
    ended = runner.run(work.arguments, fault, tmp_path)
    out = tmp_path / work.output if len(whole) > 1 else work.output
    assert (ended.code, ended.err) == (2, f"kwire: {out}: {reason}\n")
    assert list(tmp_path.iterdir()) == []
    assert runner.run(work.arguments, folder=tmp_path).code == work.code
    assert judge(tmp_path, work, whole)


def test_read_only_directory_is_one_line(runner, kind_of_work, normal_run, tmp_path):
    """If the directory is read-only, the error has one line.

    The process does not have the capability of root to write everywhere.
    """
    folder = tmp_path / "kept"
    folder.mkdir(stat.S_IRUSR | stat.S_IXUSR)
    fault = Fault(has_no_rights=True)
    ended = runner.run(kind_of_work.arguments, fault, folder)
    assert ended.code == 2
    assert ended.err.startswith("kwire: ") and ended.err.count("\n") == 1
    assert kind_of_work.output in ended.err
    assert ended.err.endswith(": permission denied\n")
    assert list(folder.iterdir()) == []


def test_concurrent_writers_of_a_file_leave_one_complete_file(
    runner, kind_of_work, normal_run, tmp_path
):
    """When the first of two commands publishes its output, the output already exists.

    The first command is stopped right before it renames its output. After the second
    command has finished, the first command reports the conflict and changes nothing.
    """
    run, whole = normal_run[kind_of_work.name]
    naming = "rename" if len(whole) > 1 else "link"
    call = max(n for n, name in enumerate(run.calls, 1) if name == naming)
    first = runner.start(kind_of_work.arguments, Fault(stop_call=call), tmp_path)
    deadline = time.monotonic() + LONGEST_S
    while len(first.calls()) < call - 1:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    assert runner.run(kind_of_work.arguments, folder=tmp_path).code == kind_of_work.code
    os.kill(first.pid, signal.SIGCONT)
    ended = runner.wait(first)
    assert (ended.code, ended.err.count("\n")) == (2, 1), ended.err
    assert "exists already; remove it" in ended.err
    assert judge(tmp_path, kind_of_work, whole)
    assert [path.name for path in tmp_path.iterdir()] == [kind_of_work.output]


def test_a_name_is_given_after_the_bytes_are_safe(normal_run):
    """A file is renamed only after its bytes are safe on the disk.

    The order of the syncs is data, name and directory, in case of a power failure.
    """
    file = ["open", "fsync", "link", "unlink", "open", "fsync"]
    assert normal_run["repair"][0].calls == file
    assert normal_run["dump to Parquet"][0].calls == file
    calls = normal_run["export"][0].calls
    tables = len(normal_run["export"][1]) - len(["report.html"])
    name = max(n for n, call in enumerate(calls) if call == "rename")
    assert calls[name - 2 : name + 3] == ["open", "fsync", "rename", "open", "fsync"]
    assert calls.count("replace") == tables + len(["the headers of batches"])


def test_jobs_with_equal_process_ids_use_different_files(tmp_path):
    """Two jobs with the same process id use different temporary files.

    Containers that share a disk may have equal process ids.
    """
    out = tmp_path / "out"
    with pytest.raises(FileExistsError, match="remove it"), Output(out) as slow:
        slow.write_report("slow")
        with Output(out) as fast:
            fast.write_report("fast")
        assert content(slow._partial) == {"report.html": b"slow"}
    assert content(tmp_path) == {"out/report.html": b"fast"}


def test_files_of_a_killed_task_are_not_in_the_table(tmp_path):
    """If Spark repeats a failed task, the first attempt's output is not in the table.

    Its files are hidden and then deleted.
    """
    rows = pa.table({"a": [1, 2]})
    with Output(tmp_path / "out") as output:
        path = Path(output.table_path("rows"))
        with open_table(path, rows.schema) as killed:
            killed.write(rows)
            (left,) = path.parent.iterdir()
            half = left.read_bytes()
        assert left.name.startswith(".") and left.name.endswith(".partial")
        left.write_bytes(half)
    assert content(tmp_path).keys() == {"out/rows/part-00000.parquet"}
    assert output.result(0).counts == {"rows": 2}
