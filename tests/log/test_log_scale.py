# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Thousands of segments need little memory, few requests, and parallel requests."""

import itertools
import struct
import threading
import tracemalloc

import pytest
from click.testing import CliRunner

from benchmarks.scale.inputs import SEGMENTS, write_logs
from benchmarks.scale.store import LateStore
from kwire import log
from kwire.cli.main import program
from kwire.log.file_bytes import FileBytes
from kwire.spark.log.options import read_options
from kwire.spark.log.planning import Bounds, find_partitions, plan_pieces
from tests.log.log_files import Folder, log_of

MIB = 1 << 20


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Write two partitions with 20 segments of 256 MiB each, and return the directory.

    The files are sparse, so that they need little disk space.
    """
    folder = tmp_path_factory.mktemp("large")
    write_logs(folder, 2 * SEGMENTS)
    return folder


def plan(path, **options):
    options = read_options({"path": str(path), **options})
    return plan_pieces(find_partitions(options), options, Bounds())


def test_a_plan_keeps_no_index_in_memory(large):
    """Planning the splits needs less than 1 MiB of memory, whatever the index sizes.

    One index has 16,000 entries in 130 KB. As tuples, they would need 2 MB.
    """
    plan(large)
    tracemalloc.start()
    try:
        assert len(plan(large)) == 4 * SEGMENTS
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MIB


def test_a_plan_in_a_store_has_two_requests_for_each_segment(large):
    """Planning the splits in a store makes two range requests per segment.

    One request reads the index and one reads batches. The listing contains all sizes.
    """
    splits = plan(LateStore.serve(large, 0), failOnDataLoss="false")
    assert LateStore.requests == {"list": 1, "size": 1, "range": 4 * SEGMENTS}
    cut = [(split.path.rpartition("/")[2], split.start) for split in splits]
    assert cut == [
        (split.path.rpartition("/")[2], split.start) for split in plan(large)
    ]


def test_a_search_for_lost_records_has_three_requests_for_each_segment(large):
    """A search for lost records makes three range requests per segment.

    The requests are for the index, for the last indexed batch, and for the headers
    after it.
    """
    plan(LateStore.serve(large, 0), failOnDataLoss="false")
    before = LateStore.requests["range"]
    plan(LateStore.serve(large, 0))
    # In the newest segment, finding the end of the data has already read the index,
    # which remains in the cache. This saves one request when the segment is split.
    assert LateStore.requests["range"] - before == 3 * 2 * (SEGMENTS - 1) + 2 * 2


@pytest.mark.parametrize("job", ["search", "plan", "ls"])
def test_requests_for_several_segments_run_in_parallel(large, monkeypatch, job):
    """Requests for different segments are made in parallel.

    The store does not respond to range requests until eight are pending. A search for
    lost records first makes six requests to find the ends of both partitions.
    """
    uri = LateStore.serve(large, 0)
    gate, lock = threading.Barrier(8, timeout=60), threading.Lock()
    numbers = itertools.count(-6 if job == "search" else 0)
    cat_file = LateStore.cat_file

    def wait(self, *arguments, **options):
        with lock:
            number = next(numbers)
        if 0 <= number < 8:
            gate.wait()
        return cat_file(self, *arguments, **options)

    monkeypatch.setattr(LateStore, "cat_file", wait)
    if job != "ls":
        fails = "true" if job == "search" else "false"
        assert len(plan(uri, failOnDataLoss=fails)) == 4 * SEGMENTS
    else:
        assert CliRunner().invoke(program, ["ls", uri]).exit_code == 0


def test_a_store_is_listed_as_a_disk_is(large):
    """The listing of a store equals the listing of a disk.

    The order of the segments does not depend on the order of the responses.
    """
    uri = LateStore.serve(large, 0)
    remote = CliRunner().invoke(program, ["ls", "--segments", uri])
    local = CliRunner().invoke(program, ["ls", "--segments", str(large)])
    assert remote.stdout.replace(uri, str(large)) == local.stdout
    assert local.stdout.count(".log") == 2 * SEGMENTS


def test_unreadable_file_only_affects_its_partition(large):
    """If a file cannot be read, the other partitions are still listed.

    The exit code is 2, and an error at the end names the missing partition.
    """
    uri = LateStore.serve(large, 0)
    cat_file = LateStore.cat_file

    def fail(self, path, *arguments, **options):
        if "orders-0" in path and path.endswith(".log"):
            raise PermissionError(13, "no", path)
        return cat_file(self, path, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LateStore, "cat_file", fail)
        done = CliRunner().invoke(program, ["ls", "--format", "csv", uri])
    assert done.exit_code == 2 and "orders-1" in done.stdout
    assert "orders-0" not in done.stdout and "orders-0" in done.stderr


def test_an_error_drops_the_calls_that_have_not_begun():
    """If one call fails, calls that have not started yet are canceled.

    Otherwise, an error in one of thousands of segments would still request all others.
    """
    from kwire.log.storage import THREADS, map_requests

    called = []

    def call(number):
        called.append(number)
        if not number:
            raise OSError("no")
        return number

    failing_results = map_requests(call, range(100 * THREADS), is_remote=True)
    with pytest.raises(OSError, match="no"):
        list(failing_results)
    assert len(called) <= 4 * THREADS
    results = map_requests(str, range(1000), is_remote=True)
    assert list(results) == [str(number) for number in range(1000)]


@pytest.mark.parametrize(
    "tail", [bytes(400), b"\xff" * 40, bytes(8) + b"\x01" * 80, b"\0\0\0\7\0\0\0\1" * 9]
)
def test_bytes_after_the_index_entries_are_ignored(tmp_path, tail):
    """Bytes after the entries of an index are ignored.

    They may be zeros of an unused part, or remains of a crash.
    """
    batches = log_of([4] * 60)
    positions = []
    for name, end in (("plain", b""), ("torn", tail)):
        folder = Folder(tmp_path / name / "orders-0")
        path, spans = folder.segment(0, batches)
        entries = [(4 * n + 3, spans[n][0]) for n in range(2, 60, 2)]
        index = folder.beside(0, ".index", ">ii", *entries)
        index.write_bytes(index.read_bytes() + end)
        segment = log.Segment(path)
        assert segment.index.entries == tuple(entries)
        assert segment.index.has_stray_bytes == bool(end.strip(b"\0"))
        offsets = range(-1, 260, 3)
        positions.append([segment.seek_before(offset) for offset in offsets])
        positions[-1] += [segment.seek(offset) for offset in offsets]
        positions[-1] += segment.find_splits(1000)
    assert positions[0] == positions[1]


def test_entries_that_do_not_ascend_are_followed_only_to_batches(tmp_path):
    """If index entries are not ascending, a search still returns a correct batch.

    It starts at or before the requested offset.
    """
    folder = Folder(tmp_path / "orders-0")
    path, spans = folder.segment(0, log_of([4] * 60))
    entries = [(4 * n + 3, spans[n][0]) for n in range(1, 60)]
    places = {position: 4 * n for n, (position, _) in enumerate(spans)}
    for broken in (
        entries[::-1],
        entries[30:] + entries[:30],
        [(offset, -1) for offset, _ in entries],
        [(offset, spans[5][0]) for offset, _ in entries],
        [(offset, position + 7) for offset, position in entries],
    ):
        data = b"".join(struct.pack(">ii", *entry) for entry in broken)
        path.with_suffix(".index").write_bytes(data)
        segment = log.Segment(path)
        for offset in range(0, 240, 5):
            assert places[segment.seek_before(offset)] <= offset
            assert segment.seek(offset) == spans[offset // 4][0]
        cuts = segment.find_splits(1000)
        assert set(cuts) <= set(places) and list(cuts) == sorted(set(cuts))
        assert len(cuts) > 2


def test_few_bytes_are_read_after_the_requested_header(tmp_path):
    """After a request for one byte, a read fetches less than 1 MiB.

    Later reads grow to the full window of 4 MiB.
    """
    path = tmp_path / "file"
    path.write_bytes(bytes(8 * MIB))
    with FileBytes(path, "read") as file:
        file.stop = 1
        assert file.fill(0, 4 * MIB) < MIB
        end = file.fill(0, 4 * MIB)
        while (filled_end := file.fill(0, 4 * MIB)) > end:
            end = filled_end
        assert end == 4 * MIB
