# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests ``kwire record`` under kills, with a full disk, and without permission.

Frames in a file with its final name survive merges, kills and a full disk. Frames
appear once, and no file is incomplete. The maximum time span that a kill can lose is
tested in ``tests/recording``.
"""

import re
import signal
import socket
import stat
import threading
import time
from contextlib import suppress

import pytest

from kwire.recording import read_captures
from tests.harness.loopback_brokers import TIMEOUT_S, Listener
from tools.prove.fault_runs import Fault

FLUSH = "--flush", "0.03"
MANY_MINUTES = "tests.safety.faults.many_minutes:run"


def echo(connection):
    while chunk := connection.recv(1 << 16):
        connection.sendall(chunk)


@pytest.fixture(scope="module")
def peer():
    """Return a broker that sends all received bytes back to the client."""
    with Listener(echo) as peer:
        yield peer


def talk_until_it_ends(going, out, size=40):
    """Send frames until the relay ends.

    Return the highest sequence number in the name of a recorded file.
    """
    last = -1
    deadline = time.monotonic() + TIMEOUT_S
    while not (
        listening := re.search(r"listening on 127\.0\.0\.1:(\d+) ", going.said())
    ):
        assert time.monotonic() < deadline, going.said()
        if "Error" in going.said():
            return last
        time.sleep(0.001)
    frame = (size + 4).to_bytes(4, "big") + bytes(4) + b"." * size
    with (
        suppress(OSError),
        socket.create_connection(("127.0.0.1", int(listening[1])), TIMEOUT_S) as client,
    ):
        while time.monotonic() < deadline:
            client.sendall(frame)
            if not client.recv(1 << 16):
                break
            for name in out.glob("*/frames-*"):
                last = max(last, int(name.stem.rpartition("-")[2]))
            time.sleep(0.001)
    return last


def sequences(out):
    numbers = []
    for batch in read_captures(out, ["sequence", "frame"]):
        numbers += batch.column(0).to_pylist()
    return numbers


def names_of(folder):
    (recording,) = folder.iterdir()
    return sorted(path.name for path in recording.iterdir())


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("open", 3),
        ("fsync", 3),
        ("replace", 1),
        ("replace", 3),
        ("replace", 4),
        ("replace", 5),
        ("fsync", 12),
        ("unlink", 1),
        ("unlink", 3),
        ("unlink", 6),
    ],
)
def test_a_kill_at_any_step_costs_no_frame_of_a_named_file(
    runner, peer, tmp_path, name, number
):
    """A kill at any step loses no frame of a file with its final name.

    The recorder merges three small files repeatedly while new files appear.
    """
    command = ["record", "--listen", "127.0.0.1:0", "--upstream", peer.address]
    command += ["--output", str(tmp_path), *FLUSH]
    fault = Fault(kill_call=number, kill_name=name)
    going = runner.start(command, fault, target=MANY_MINUTES)
    last = talk_until_it_ends(going, tmp_path)
    ended = runner.wait(going)
    assert ended.code == -signal.SIGKILL
    assert ended.calls.count(name) == number - 1
    if "replace" in ended.calls:
        recorded = sequences(tmp_path)
        assert recorded == list(range(len(recorded)))
        assert len(recorded) > last
    else:
        assert last == -1
        with pytest.raises(FileNotFoundError):
            sequences(tmp_path)
    leftovers = [
        entry for entry in names_of(tmp_path) if not entry.startswith("frames-")
    ]
    assert all(re.fullmatch(r"\.frames-.*\.partial", entry) for entry in leftovers)


@pytest.mark.parametrize("file", [1, 4])
def test_full_disk_ends_the_recorder_in_one_line(runner, peer, tmp_path, file):
    """If the disk is full, the recorder ends with an error of one line."""
    command = ["record", "--listen", "127.0.0.1:0", "--upstream", peer.address]
    command += ["--output", str(tmp_path), *FLUSH]
    going = runner.start(command, Fault(full_from=file), target=MANY_MINUTES)
    talk_until_it_ends(going, tmp_path)
    ended = runner.wait(going)
    (folder,) = tmp_path.iterdir()
    assert ended.code == 2
    report = re.search(
        rf"^kwire: {folder}: no space left on device; recording ended. The first"
        r" ([\d,]+) frames are written, ([\d,]+) are lost: free some space, or give"
        r" another --output\n\Z",
        ended.err,
        re.MULTILINE,
    )
    assert report, ended.err
    safe, lost = (int(text.replace(",", "")) for text in report.groups())
    assert lost > 0 and (safe > 0) == (file > 1)
    if safe:
        assert sequences(tmp_path) == list(range(safe))
    assert not [name for name in names_of(tmp_path) if ".partial" in name]


def test_read_only_directory_is_one_line(runner, peer, tmp_path):
    """If the directory is read-only, the recorder ends with an error of one line."""
    folder = tmp_path / "kept"
    folder.mkdir(stat.S_IRUSR | stat.S_IXUSR)
    command = ["record", "--listen", "127.0.0.1:0", "--upstream", peer.address]
    command += ["--output", "kept"]
    ended = runner.run(command, Fault(has_no_rights=True), tmp_path)
    assert ended.code == 2
    assert re.fullmatch(r"kwire: kept/\S+: permission denied\n", ended.err), ended.err
    assert list(folder.iterdir()) == []


def test_two_recorders_share_a_directory(runner, peer, tmp_path):
    """Two recorders in one directory write separate subdirectories.

    A reader reads the files of both.
    """
    command = ["record", "--listen", "127.0.0.1:0", "--upstream", peer.address]
    command += ["--output", str(tmp_path), *FLUSH, "--count", "20"]
    going = [runner.start(command, target=MANY_MINUTES) for _ in range(2)]
    talks = [
        threading.Thread(target=talk_until_it_ends, args=(recorder, tmp_path))
        for recorder in going
    ]
    for talk in talks:
        talk.start()
    for talk in talks:
        talk.join()
    ended = [runner.wait(recorder) for recorder in going]
    assert [run.code for run in ended] == [0, 0]
    # Directory, data and name are synced in this order, in case of a power failure.
    steps = ["mkdir", "open", "fsync", "open", "fsync", "replace", "open", "fsync"]
    assert ended[0].calls[:8] == steps
    batches = list(read_captures(tmp_path, ["recording", "sequence"]))
    rows = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    assert rows == sorted(rows) and len({recording for recording, _ in rows}) == 2
    assert len(rows) == len(set(rows)) >= 40
