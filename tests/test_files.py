# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``_files``: files only appear when they are complete, on any file system.

Kills and full disks are in ``tests/safety/faults``.
"""

import errno
import os

import pytest

from kwire._files import create_file


def failing(code):
    def call(*arguments, **named):
        raise OSError(code, os.strerror(code))

    return call


def read_file(path):
    with create_file(path) as file:
        file.write(b"whole")
    return path.read_bytes()


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOTSUP])
def test_a_file_system_without_links_is_enough(tmp_path, monkeypatch, code):
    """``create_file`` also works on a file system without hard links."""
    monkeypatch.setattr(os, "link", failing(code))
    assert read_file(tmp_path / "new") == b"whole"
    assert os.listdir(tmp_path) == ["new"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_name_that_cannot_be_given_leaves_nothing(tmp_path, monkeypatch, code):
    """If a file cannot get its final name, the error contains the path.

    No temporary file remains.
    """
    monkeypatch.setattr(os, "link", failing(code))
    with pytest.raises(OSError) as caught:
        read_file(tmp_path / "new")
    assert caught.value.errno == code
    assert caught.value.filename == str(tmp_path / "new")
    assert os.listdir(tmp_path) == []


def test_a_name_taken_meanwhile_is_not_replaced(tmp_path):
    """If two writers use the same name, the second one raises an error.

    The file of the first writer is unchanged.
    """
    path = tmp_path / "new"
    with (
        pytest.raises(FileExistsError, match="exists already"),
        create_file(path) as file,
    ):
        file.write(b"late")
        path.write_bytes(b"early")
    assert path.read_bytes() == b"early"
    assert os.listdir(tmp_path) == ["new"]


def folder_that_fails(monkeypatch, code):
    real = os.fsync

    def fsync(handle):
        if os.path.isdir(f"/proc/self/fd/{handle}"):
            raise OSError(code, os.strerror(code))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs Linux's /proc")
def test_a_folder_that_cannot_be_synced_is_no_failure(tmp_path, monkeypatch):
    """A directory that cannot be synced causes no error.

    Some file systems do not support it. The file is complete nevertheless.
    """
    folder_that_fails(monkeypatch, errno.EINVAL)
    assert read_file(tmp_path / "new") == b"whole"


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs Linux's /proc")
def test_a_name_that_is_not_safe_is_told(tmp_path, monkeypatch):
    """If syncing the directory fails, the error contains the path of the file."""
    folder_that_fails(monkeypatch, errno.EIO)
    with pytest.raises(OSError) as caught:
        read_file(tmp_path / "new")
    assert caught.value.filename == str(tmp_path / "new")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("FIFO", "is a FIFO, not a regular file; name a new file"),
        ("device", "is a character device, not a regular file; name a new file"),
        ("link", "exists already"),
    ],
)
def test_what_is_no_file_is_named_and_not_to_be_removed(tmp_path, kind, words):
    """A path that is not a regular file raises an error and is not opened.

    Opening a FIFO would wait for a reader. The path is not removed either.
    """
    path = tmp_path / "new"
    if kind == "FIFO":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/full" if kind == "device" else tmp_path / "nothing")
    with pytest.raises(FileExistsError, match=words), create_file(path):
        raise AssertionError("it was opened")
    assert os.listdir(tmp_path) == ["new"]
