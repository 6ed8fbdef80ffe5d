# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Capture files: frames are read once, even while files are written and merged.

Protects against partial files, against rows that are repeated or lost during a merge,
and against files that are not captures, which are errors with their path.
"""

import os
import shutil
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from kwire.recording import (
    CAPTURE_COLUMNS,
    CaptureError,
    capture_schema,
    list_capture_files,
    read_capture_file,
    read_captures,
)
from kwire.recording.capture_files import CaptureWriter

HEADER = (3, 12, 7, "shop")
MICROSECONDS = 1_700_000_000_000_000


def row(sequence, frame=b"abc"):
    """Return a row of a capture, as the relay creates it."""
    addresses = "10.0.0.1:5", "broker:9092"
    times = "request", MICROSECONDS + sequence
    size = len(frame or b"")
    return (1, sequence, *times, *addresses, *HEADER, size, frame, False)


def write(writer, first, last):
    return writer.write([row(n, b"frame %d" % n) for n in range(first, last + 1)])


def sequences(path):
    """Return the sequence numbers of all captures below a path, in reading order."""
    batches = read_captures(path, ["sequence"])
    return [n for batch in batches for n in batch.column(0).to_pylist()]


def test_rows_come_back_as_they_were_written(tmp_path):
    writer = CaptureWriter(tmp_path)
    writer.write([row(0), row(1, None)])
    (batch,) = read_captures(tmp_path)
    assert batch.schema.equals(capture_schema())
    first, second = batch.to_pylist()
    moment = first.pop("timestamp")
    assert (moment.timestamp(), str(moment.tzinfo)) == (MICROSECONDS / 1e6, "UTC")
    assert first == {
        "recording": writer.recording,
        "connection": 1,
        "sequence": 0,
        "direction": "request",
        "client_address": "10.0.0.1:5",
        "broker_address": "broker:9092",
        "api_key": 3,
        "api_version": 12,
        "correlation_id": 7,
        "client_id": "shop",
        "size": 3,
        "frame": b"abc",
        "rewritten": False,
    }
    assert second["frame"] is None


def test_every_column_may_be_null():
    """All columns are nullable, because Spark rejects batches with other columns."""
    assert capture_schema().names == list(CAPTURE_COLUMNS)
    assert all(field.nullable for field in capture_schema())


def test_files_are_for_their_owner_alone(tmp_path):
    """Frames contain private data, so the umask must not make files readable."""
    before = os.umask(0)
    try:
        writer = CaptureWriter(tmp_path / "new" / "folder")
        file = write(writer, 0, 1)
        merged = writer.merge([file, write(writer, 2, 3)])
    finally:
        os.umask(before)
    assert os.stat(merged.path).st_mode & 0o777 == 0o600
    assert os.stat(writer.folder).st_mode & 0o777 == 0o700


def test_recordings_and_files_come_in_order(tmp_path):
    """Rows are sorted by recording and sequence, even for numbers with more digits."""
    one, two = CaptureWriter(tmp_path), CaptureWriter(tmp_path)
    for writer in (two, one):
        write(writer, 5, 9)
        write(writer, 0, 4)
        write(writer, 10**12, 10**12 + 1)
    listed = [
        pair
        for batch in read_captures(tmp_path, ["recording", "sequence"])
        for pair in zip(*(c.to_pylist() for c in batch.columns), strict=True)
    ]
    numbers = [*range(10), 10**12, 10**12 + 1]
    recordings = sorted([one.recording, two.recording])
    assert listed == [(name, number) for name in recordings for number in numbers]


def test_merging_puts_small_files_into_one(tmp_path):
    writer = CaptureWriter(tmp_path)
    small = [write(writer, 0, 4), write(writer, 5, 5), write(writer, 6, 9)]
    merged = writer.merge(small)
    assert [file.name for file in writer.folder.iterdir()] == [Path(merged.path).name]
    assert (merged.first, merged.last) == (0, 9)
    assert sequences(tmp_path) == list(range(10))


@pytest.mark.parametrize("deleted", range(4))
def test_a_kill_while_merging_shows_each_row_once(tmp_path, deleted):
    """A kill happens before the rename, after it, or while small files are deleted.

    A reader gets each row once in all cases.
    """
    writer = CaptureWriter(tmp_path)
    small = [write(writer, 0, 4), write(writer, 5, 5), write(writer, 6, 9)]
    write(writer, 10, 12)
    snapshot = tmp_path / "kept"
    shutil.copytree(writer.folder, snapshot)
    merged = Path(writer.merge(small).path)
    partial = snapshot / f".{merged.name}.partial"
    partial.write_bytes(merged.read_bytes()[: merged.stat().st_size // 2])
    assert sequences(snapshot) == list(range(13))
    shutil.copy(merged, snapshot / merged.name)
    for file in small[:deleted]:
        (snapshot / Path(file.path).name).unlink()
    assert sequences(snapshot) == list(range(13))


def test_file_merged_after_the_listing_is_read_completely(tmp_path):
    """A reader that has listed small files reads each row once after their merge."""
    writer = CaptureWriter(tmp_path)
    small = [write(writer, 0, 4), write(writer, 5, 9)]
    listed = list_capture_files(tmp_path)
    batches = read_captures(tmp_path, ["frame", "sequence"])
    writer.merge(small)
    read = [
        batch.column("sequence").to_pylist()
        for file in listed
        for batch in read_capture_file(file, ["sequence", "frame"])
    ]
    assert read == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert [b.schema.names for b in batches] == [["frame", "sequence"]] * 2


def test_files_merged_while_they_are_listed_are_not_missed(tmp_path, monkeypatch):
    """A listing may contain neither the deleted small files nor the merged file.

    The reader must list the directory again.
    """
    writer = CaptureWriter(tmp_path)
    middle = [write(writer, 5, 6), write(writer, 7, 9)]
    write(writer, 0, 4)
    write(writer, 10, 12)
    from kwire.recording import capture_files

    list_folder = capture_files._list_folder
    torn = []

    def listing(filesystem, root):
        listed_files = list_folder(filesystem, root)
        if not torn:
            torn.append(writer.merge(middle))
            return [file for file in listed_files if file.first in (0, 10)]
        return listed_files

    monkeypatch.setattr(capture_files, "_list_folder", listing)
    assert sequences(tmp_path) == list(range(13))


def test_a_gap_of_deleted_files_is_read_over(tmp_path):
    """Rows after deleted files are read, because users may delete old files."""
    writer = CaptureWriter(tmp_path)
    write(writer, 3, 4)
    write(writer, 8, 9)
    assert sequences(tmp_path) == [3, 4, 8, 9]


def test_hidden_files_and_directories_are_skipped(tmp_path):
    writer = CaptureWriter(tmp_path)
    write(writer, 0, 1)
    (writer.folder / ".frames-000000000002-000000000003.parquet.partial").write_text("")
    for name in ("_temporary", ".spark"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.parquet").write_text("no Parquet")
    (writer.folder / "notes.txt").write_text("not Parquet either")
    assert sequences(tmp_path) == [0, 1]


def test_one_file_can_be_read_alone(tmp_path):
    writer = CaptureWriter(tmp_path)
    write(writer, 0, 1)
    assert sequences(write(writer, 2, 3).path) == [2, 3]


def test_a_path_may_be_an_address(tmp_path):
    """``file:///...`` is read with pyarrow's file systems, as ``s3://`` is."""
    writer = CaptureWriter(tmp_path)
    write(writer, 0, 3)
    assert sequences(tmp_path.as_uri()) == [0, 1, 2, 3]
    (file,) = list_capture_files(f"{tmp_path.as_uri()}/")
    assert file.path.startswith("file:///")
    with pytest.raises(
        CaptureError, match="nowhere://x: pyarrow cannot open this address"
    ):
        list_capture_files("nowhere://x")


def test_columns_are_chosen_and_ordered_by_the_caller(tmp_path):
    write(CaptureWriter(tmp_path), 0, 1)
    (batch,) = read_captures(tmp_path, ["frame", "api_key", "sequence"])
    assert batch.to_pydict() == {
        "frame": [b"frame 0", b"frame 1"],
        "api_key": [3, 3],
        "sequence": [0, 1],
    }
    with pytest.raises(ValueError, match="no column 'offset'; it has recording, "):
        read_captures(tmp_path, ["offset"])


def test_batches_stay_small_where_frames_are_large(tmp_path):
    """10,000 frames of 64 KB in one batch would need 640 MB."""
    frame = os.urandom(1 << 16)
    CaptureWriter(tmp_path).write([row(n, frame) for n in range(300)])
    sizes = [batch.nbytes for batch in read_captures(tmp_path)]
    assert len(sizes) > 3 and max(sizes) < 6 << 20


def test_files_of_others_are_read_if_they_have_the_columns(tmp_path):
    """Wider types are converted, and additional columns are ignored.

    Files with other names are read after the numbered files.
    """
    rows = [{"sequence": 5, "api_key": 18, "frame": b"x", "note": "mine"}]
    fields = [(f.name, f.type) for f in capture_schema() if f.name != "api_key"]
    fields += [("api_key", pyarrow.int64()), ("note", pyarrow.string())]
    table = pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(fields))
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    (batch,) = read_captures(tmp_path)
    assert batch.schema.equals(capture_schema())
    assert batch.column("api_key").to_pylist() == [18]


def damage_byte(path):
    """Change a byte of a file, which belongs to a recorded frame."""
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


def cut(path):
    path.write_bytes(path.read_bytes()[:-20])


def empty_file(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [damage_byte, cut, empty_file])
def test_damaged_file_is_an_error_with_path_and_solution(tmp_path, damage):
    writer = CaptureWriter(tmp_path)
    path = Path(writer.write([row(n, os.urandom(99)) for n in range(99)]).path)
    damage(path)
    with pytest.raises(CaptureError) as caught:
        list(read_captures(tmp_path))
    assert str(caught.value).startswith(
        f"{path}: this file cannot be read as a capture"
    )
    assert str(caught.value).endswith("copy it again, or remove it")


def test_parquet_file_with_other_columns_is_not_a_capture(tmp_path):
    path = tmp_path / "orders.parquet"
    table = pyarrow.table({"sequence": [1], "order": ["a"]})
    pyarrow.parquet.write_table(table, path)
    with pytest.raises(CaptureError) as caught:
        list(read_captures(tmp_path))
    text = str(caught.value)
    assert text.startswith(
        f"{path}: this Parquet file is not a capture: it lacks record"
    )


def test_columns_of_another_type_are_not_a_capture(tmp_path):
    path = tmp_path / "orders.parquet"
    table = pyarrow.table({"sequence": ["one"]})
    pyarrow.parquet.write_table(table, path)
    with pytest.raises(CaptureError, match="cannot be read as a capture"):
        sequences(path)


def test_directory_without_captures_is_an_error(tmp_path):
    """A wrong path must not look like a network without traffic."""
    with pytest.raises(FileNotFoundError, match="no captures in this directory"):
        list_capture_files(tmp_path)
    with pytest.raises(FileNotFoundError, match="no such file or directory"):
        list_capture_files(tmp_path / "absent")
