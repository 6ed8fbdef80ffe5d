# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Logs in object stores have the same result as the same files on a disk.

Covers three stores: file URIs and S3, both with pyarrow, and fsspec's memory store. The
tests run their own S3 server, which records its requests. Only the built engine is
tested, because stores return bytes.
"""

import errno
import importlib
import pickle
import random
import sys
import threading
import time

import pytest

from kwire import log
from kwire.log import storage
from tests.log.log_files import Folder, batch, flip, log_of, overwrite
from tests.log.s3_server import S3Server
from tests.log.test_log_cuts import add_damage, assert_cuts_lose_nothing, make_batches

MIB = 1 << 20
LARGE = 99_121


@pytest.fixture(scope="module")
def s3_server():
    with pytest.MonkeyPatch.context() as patch, S3Server() as server:
        patch.setenv("AWS_ACCESS_KEY_ID", "kwire")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "something")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield server


@pytest.fixture
def s3(s3_server):
    s3_server.objects.clear()
    s3_server.asked.clear()
    s3_server.refuse = None
    return s3_server


def copy_to_store(store, root, server):
    """Copy a directory tree to a store, and return the URI of the copy."""
    if store == "file":
        return root.as_uri()
    files = [path for path in root.rglob("*") if path.is_file()]
    names = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    if store == "s3":
        for name, data in names.items():
            server.objects[f"bucket/kafka/{name}"] = data
        return server.uri("bucket/kafka")
    memory = importlib.import_module("fsspec").filesystem("memory")
    memory.store.clear()
    memory.pipe({f"/kafka/{name}": data for name, data in names.items()})
    return "memory://kafka"


@pytest.fixture(params=["file", "s3", "memory"])
def stored(request, s3):
    """Return a function that copies a directory tree to a store and returns its URI."""
    return lambda root: copy_to_store(request.param, root, s3)


def tree(root):
    """Create the logs of two brokers, with indexes, checkpoints and some damage."""
    for broker in ("one", "two"):
        for partition in range(2):
            folder = Folder(root / broker / f"orders-{partition}")
            for base in (0, 60, 120):
                batches = log_of([4] * 15, base, codec=["none", "gzip"][partition])
                path, spans = folder.segment(base, batches)
                entries = [(4 * n, spans[n][0]) for n in range(2, 15, 2)]
                folder.beside(base, ".index", ">ii", *entries)
                folder.beside(base, ".timeindex", ">qi", (1_700_000_000_000 + base, 0))
                if broker == "two" and base == 60:
                    flip(path, spans[3][0] + 40)
                    overwrite(path, spans[9][0] - 20, bytes(200))
            (folder.path / "partition.metadata").write_text(
                "version: 0\ntopic_id: X_PRpIxbTw6djitqPB1OXw\n"
            )
            (folder.path / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
        (root / broker / "cleaner-offset-checkpoint").write_text("0\n1\norders 1 60\n")
    (root / "readme.txt").write_text("nothing of Kafka's")
    return root


def describe_tree(path):
    """Yield all properties of the partitions, batches and problems in a tree.

    Paths are relative to the tree, so that a disk and a store have equal results.
    """

    def below(text):
        return text.partition("?")[0].removeprefix(str(path).partition("?")[0])

    def problem_fields(problem):
        details = problem.position, problem.length, problem.reason, problem.detail
        return below(problem.path), *details

    directory = log.LogDirectory(path)
    yield [str(error) for error in directory.unreadable]
    for partition in directory:
        owner = below(str(partition.path)), partition.topic, partition.partition
        yield owner, partition.topic_id, partition.checkpoints, partition.leader_epochs
        yield partition.start_offset, partition.end_offset, partition.is_compacted
        yield [problem_fields(problem) for problem in log.verify(partition, deep=True)]
        yield list(partition.batches(on_corrupt="skip"))
        columns = list(partition.columns(on_corrupt="skip"))
        yield [offset for records in columns for offset in records.offset.tolist()]
        yield [records.value[n] for records in columns for n in range(len(records))]
        transactions = partition.transactions()
        yield transactions.aborted, transactions.open
        yield [partition.offset_for_timestamp(1_700_000_000_000 + n) for n in (0, 70)]
        yield [snapshot.entries for snapshot in partition.producer_snapshots]
        for segment in (*partition.segments, *partition.snapshots):
            identity = segment.kind, segment.base_offset, segment.next_base_offset
            yield below(str(segment.path)), segment.size, identity, segment.is_newest
            for index in (segment.index, segment.time_index, segment.transaction_index):
                yield None if index is None else index.entries
            yield list(segment.good_regions())
            yield [segment.seek(offset) for offset in (0, 63, 150)]
            yield segment.find_splits(1000)[:1]


@pytest.fixture(scope="module")
def real(request):
    return request.path.parent.parent / "data"


def test_a_tree_is_read_as_it_is_from_files(tmp_path, stored):
    root = tree(tmp_path / "a tree")
    local, remote = list(describe_tree(root)), list(describe_tree(stored(root)))
    assert remote == local and len(local) > 100


@pytest.mark.parametrize("release", ["2.8.2", "3.9.2", "4.3.1"])
def test_real_directories_are_read_as_they_are_from_files(real, stored, release):
    """A real broker's directory in a store has the same content as on a disk.

    The directories contain KRaft snapshots and transactions. One contains tiered
    storage.
    """
    root = real / release
    assert list(describe_tree(stored(root))) == list(describe_tree(root))


@pytest.mark.parametrize("index", [True, False])
def test_splits_of_a_stored_segment_lose_no_batch(tmp_path, stored, index):
    """The parts of a segment in a store contain the same as the whole segment.

    Without an index, split positions are found by a search. Batches inside of record
    values must not be mistaken for batches of the segment.
    """
    folder = Folder(tmp_path / "tree" / "orders-0")
    inner = b"".join(log_of([1] * 40, 30, value=bytes(3000)))
    batches = [batch(3 * n, 3, value=inner) for n in range(20)]
    _, spans = folder.segment(0, batches)
    if index:
        entries = [(3 * n, spans[n][0]) for n in range(1, 20)]
        folder.beside(0, ".index", ">ii", *entries)
    (segment,) = log.LogDirectory(stored(tmp_path / "tree")).segments
    assert segment.is_remote
    assert assert_cuts_lose_nothing(segment, MIB) >= 4
    assert set(segment.find_splits(MIB)) <= {start for start, _ in spans}


@pytest.mark.parametrize("seed", range(30))
def test_splits_of_a_damaged_stored_segment_lose_no_batch(tmp_path, s3, seed):
    rng = random.Random(seed)
    kind = ["plain", "compressed", "magic 1", "mixed"][seed % 4]
    batches = make_batches(kind, rng)
    folder = Folder(tmp_path / "tree" / "orders-0")
    path, _ = folder.segment(0, batches)
    path.write_bytes(add_damage(bytearray(b"".join(batches)), rng, rng.randrange(6)))
    uri = copy_to_store("memory", tmp_path / "tree", s3)
    (segment,) = log.LogDirectory(uri).segments
    assert_cuts_lose_nothing(segment, 300)


def write_large_segment(folder, size):
    """Write a segment with about ``size`` bytes in different batches of 100 kB.

    The batches must differ from those of other tests. If a store returns fewer bytes
    than requested, its client may return old memory, which could contain such batches.
    """
    data = batch(0, value=random.Random(str(folder.path)).randbytes(33_000))
    assert len(data) == LARGE
    path = folder.path / f"{0:020}.log"
    with path.open("wb") as file:
        for number in range(size // len(data)):
            file.write((3 * number).to_bytes(8, "big") + data[8:])
    return path


def test_opening_a_stored_tree_lists_once_and_reads_no_segment(tmp_path, s3):
    """Opening a tree in a store lists it once and makes no request for segments.

    Files that are not needed are not requested either.
    """
    for partition in range(30):
        folder = Folder(tmp_path / f"orders-{partition}")
        for base in range(0, 60, 3):
            folder.segment(base, [batch(base, 3)])
            folder.beside(base, ".index", ">ii")
    uri = copy_to_store("s3", tmp_path, s3)
    s3.asked.clear()
    directory = log.LogDirectory(uri)
    assert len(directory) == 30 and len(directory.segments) == 600
    assert all(segment.size > 0 for segment in directory.segments)
    lists = [request for request in s3.asked if request[0] == "LIST"]
    assert len(lists) <= 3 and s3.count("GET") == 0, s3.asked
    s3.asked.clear()
    first = directory.segments[0]
    assert first.time_index is None and first.transaction_index is None
    assert s3.asked == []


def test_ranges_grow_to_eight_mib_and_no_byte_is_requested_twice(tmp_path, s3):
    folder = Folder(tmp_path / "orders-0")
    path = write_large_segment(folder, 40 * MIB)
    (segment,) = log.LogDirectory(copy_to_store("s3", tmp_path, s3)).segments
    s3.asked.clear()
    assert len(list(segment.headers(check_crc=True))) == path.stat().st_size // LARGE
    spans = [request[2] for request in s3.asked if request[0] == "GET"]
    edges = [tuple(map(int, span[6:].split("-"))) for span in spans]
    assert [end - start + 1 for start, end in edges[:-1]] == [
        MIB // 4,
        MIB,
        4 * MIB,
        *[8 * MIB] * (len(edges) - 4),
    ]
    assert [start for start, _ in edges[1:]] == [end + 1 for _, end in edges[:-1]]
    assert edges[-1][1] + 1 == path.stat().st_size


def test_reader_of_a_part_requests_few_later_bytes(tmp_path, s3):
    """Reading a part of a segment requests only few bytes of the next part."""
    path = write_large_segment(Folder(tmp_path / "orders-0"), 40 * MIB)
    (segment,) = log.LogDirectory(copy_to_store("s3", tmp_path, s3)).segments
    cuts = [*segment.find_splits(10 * MIB), path.stat().st_size]
    assert len(cuts) == 5
    s3.asked.clear()
    list(segment.headers(cuts[1], cuts[2], check_crc=True))
    spans = [request[2] for request in s3.asked if request[0] == "GET"]
    edges = [tuple(map(int, span[6:].split("-"))) for span in spans]
    assert edges[0][0] == cuts[1]
    assert cuts[2] <= edges[-1][1] + 1 <= cuts[2] + MIB // 2


def test_one_range_is_fetched_while_another_is_read(tmp_path, s3):
    """While the reader processes one range of bytes, only the next one is requested.

    The test pauses the reader in the fourth range.
    """
    write_large_segment(Folder(tmp_path / "orders-0"), 48 * MIB)
    (segment,) = log.LogDirectory(copy_to_store("s3", tmp_path, s3)).segments
    s3.asked.clear()
    headers = segment.headers()
    while next(headers).position < 6 * MIB:
        pass
    deadline = time.monotonic() + 20
    while s3.count("GET") < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)
    assert s3.count("GET") == 5
    assert "kwire-read-ahead" in str(threading.enumerate())
    assert len(list(headers)) > 400
    assert "kwire-read-ahead" not in str(threading.enumerate())


def test_an_object_that_vanishes_is_named(tmp_path, stored, s3):
    folder = Folder(tmp_path / "orders-0")
    path = write_large_segment(folder, 8 * MIB)
    uri = stored(tmp_path)
    (segment,) = log.LogDirectory(uri).segments
    headers = segment.headers()
    next(headers)
    if uri.startswith("file"):
        path.unlink()
        # An object that is already open remains readable.
        assert len(list(headers)) > 50
    else:
        s3.objects.clear()
        importlib.import_module("fsspec").filesystem("memory").store.clear()
        with pytest.raises(FileNotFoundError) as caught:
            list(headers)
        assert caught.value.filename == str(segment.path)
    with pytest.raises(FileNotFoundError) as caught:
        list(segment.headers())
    assert caught.value.filename == str(segment.path)
    with pytest.raises(FileNotFoundError) as caught:
        log.LogDirectory(f"{uri}/nothing" if "?" not in uri else s3.uri("bucket/no"))
    assert "no such object or directory" in str(caught.value)


def test_an_object_that_shrinks_ends_earlier(tmp_path, stored, s3):
    """If an object becomes shorter while it is read, it ends with an incomplete batch.

    This is the same result as for a file.
    """
    path = write_large_segment(Folder(tmp_path / "orders-0"), 8 * MIB)
    uri = stored(tmp_path)
    (segment,) = log.LogDirectory(uri).segments
    headers = segment.headers(check_crc=True)
    next(headers)
    data = path.read_bytes()[: 3 * MIB]
    if uri.startswith("file"):
        with path.open("r+b") as file:
            file.truncate(3 * MIB)
    elif uri.startswith("s3"):
        (key,) = s3.objects
        s3.objects[key] = data
    else:
        memory = importlib.import_module("fsspec").filesystem("memory")
        memory.pipe(f"/kafka/orders-0/{path.name}", data)
    assert 1 + len(list(headers)) == 3 * MIB // LARGE


def test_object_may_become_shorter_than_the_read_part(tmp_path, s3):
    path = write_large_segment(Folder(tmp_path / "orders-0"), 8 * MIB)
    (segment,) = log.LogDirectory(copy_to_store("s3", tmp_path, s3)).segments
    headers = segment.headers()
    next(headers)
    (key,) = s3.objects
    s3.objects[key] = path.read_bytes()[:1000]
    assert len(list(headers)) < 10


def test_rejected_request_is_an_os_error_with_the_uri(tmp_path, s3):
    write_large_segment(Folder(tmp_path / "orders-0"), 8 * MIB)
    (segment,) = log.LogDirectory(copy_to_store("s3", tmp_path, s3)).segments
    headers = segment.headers()
    next(headers)
    s3.refuse = lambda method, key, span: 403 if method == "GET" else None
    with pytest.raises(OSError) as caught:
        list(headers)
    assert caught.value.filename == str(segment.path)
    assert caught.value.errno and "\n" not in caught.value.strerror
    s3.refuse = lambda *_: 403
    with pytest.raises(OSError) as caught:
        log.LogDirectory(s3.uri("bucket/kafka"))
    assert caught.value.filename == s3.uri("bucket/kafka")


def test_paths_and_their_objects_can_be_pickled(tmp_path, stored):
    root = tree(tmp_path / "tree")
    for partition in log.LogDirectory(stored(root)):
        restored = pickle.loads(pickle.dumps(partition))
        assert restored.path == partition.path and hash(restored.path) == hash(
            partition.path
        )
        assert [s.size for s in restored.segments] == [
            s.size for s in partition.segments
        ]
        assert list(restored.headers(on_corrupt="skip")) == list(
            partition.headers(on_corrupt="skip")
        )
        for segment in partition.segments:
            assert len(pickle.dumps(segment.path)) < 400
            assert list(log.Segment(str(segment.path)).headers(on_corrupt="skip"))


def test_paths_are_taken_apart_and_put_together():
    path = storage.StoredPath("s3a://bucket/a/b//topic-0/00.log?region=here")
    assert str(path) == "s3://bucket/a/b//topic-0/00.log?region=here"
    assert (path.name, path.suffix) == ("00.log", ".log")
    assert str(path.with_suffix(".index")).endswith("/topic-0/00.index?region=here")
    assert path.parent.name == "topic-0" and path.parent / "00.log" == path
    assert path.absolute() is path and repr(path) == f"StoredPath({str(path)!r})"
    for uri in ("s3://bucket", "s3://bucket/", "s3://bucket//"):
        assert str(storage.StoredPath(uri) / "x") == "s3://bucket/x"
    spaced = storage.locate("file:///tmp/a%20b/c")
    assert str(spaced) == "file:///tmp/a%20b/c" and spaced.parent.name == "a b"
    name = "abfs://box@account.dfs.core.windows.net/x"
    assert str(storage.locate(name)) == name
    for local in ("/tmp/x", "x", "C:/x", "topic:0", "a:/b"):
        assert not isinstance(storage.locate(local), storage.StoredPath)


def test_a_drive_of_windows_belongs_to_the_root_of_a_uri():
    """For the URI file:///C:/logs, the file system gets the path C:/logs.

    On Windows, a path with a slash before the drive would be invalid.
    """
    path = storage.locate("file:///C:/logs/a%20b/00.log")
    assert str(path) == "file:///C:/logs/a%20b/00.log"
    assert str(path.parent.parent / "x") == "file:///C:/logs/x"
    assert storage.locate("file:///C%3A/logs/a%20b/00.log") == path
    assert str(storage.locate("file:///c:/") / "x") == "file:///c:/x"
    assert pickle.loads(pickle.dumps(path)) == path
    assert str(storage.locate("file:///tmp/C:/x")) == "file:///tmp/C%3A/x"


@pytest.mark.parametrize(
    "uri", ["s3://name:hunter2@bucket/x", "abfs://b@h/x?client_secret=hunter2"]
)
def test_secrets_are_refused_and_not_repeated(uri):
    with pytest.raises(OSError, match="environment") as caught:
        log.LogDirectory(uri)
    assert "hunter2" not in str(caught.value)


def test_unknown_uri_scheme_is_an_error(monkeypatch):
    with pytest.raises(OSError) as caught:
        log.LogDirectory("nowhere://bucket/x")
    assert caught.value.filename == "nowhere://bucket/x"
    assert "nowhere" in caught.value.strerror
    assert caught.value.errno == errno.EIO
    with pytest.raises(OSError, match=r"require a store of pyarrow \(got memory:"):
        log.LogDirectory("memory://bucket/x?region=here")


def test_missing_libraries_are_named(monkeypatch):
    storage._connect.cache_clear()
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ImportError, match=r"memory:// .* pip install fsspec and"):
        log.LogDirectory("memory://bucket/x")
    monkeypatch.setitem(sys.modules, "pyarrow.fs", None)
    with pytest.raises(ImportError, match=r"s3:// .* pip install kwire\[arrow\]"):
        log.LogDirectory("s3://bucket/x")


def test_local_paths_need_no_library(tmp_path, monkeypatch):
    for name in ("pyarrow", "pyarrow.fs", "fsspec"):
        monkeypatch.setitem(sys.modules, name, None)
    Folder(tmp_path / "orders-0").segment(0, log_of([3]))
    (partition,) = log.LogDirectory(tmp_path)
    assert len(list(partition.batches())) == 1
