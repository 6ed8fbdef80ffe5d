# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What ``kafka-log`` plans and reads, without Spark: the same functions, in process.

Real brokers' directories are read beside what a consumer got of them; logs that other
libraries wrote are damaged, cut at random and read in every mode.
"""

import base64
import importlib
import json
import lzma
import os
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "log"))

from log_files import Folder, batch, flip, log_of, messages, overwrite

from kwire import records

DATA = Path(__file__).resolve().parents[1] / "data"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BASE_TIME = 1_700_000_000_000


class Rooms:
    """The modules of ``kwire.spark`` that need no Spark, on one engine."""

    def __init__(self, kwire):
        for name in ("options", "layout", "planning", "reading"):
            setattr(
                self, name, importlib.import_module(f"{kwire.__name__}.spark.{name}")
            )

    def read(self, *paths, columns=None, bounds=None, **given):
        """Read a table as Spark's tasks would, split by split."""
        options = self.options.read_options(
            {"paths": json.dumps(list(map(str, paths))), **given}
        )
        layout = self.layout.default_layout(options)
        if columns is not None:
            known = self.layout._CHOICES[options.view][1]
            wanted = [(name, known.get(name, self.layout._CORRUPT)) for name in columns]
            layout = self.layout.chosen_layout(options, wanted)
        schema = self.layout.arrow_schema(layout)
        batches = []
        for split in self.splits(options, bounds):
            batches += self.reading.read_pieces(split, layout, options)
        assert all(each.schema.equals(schema) for each in batches)
        return pa.Table.from_batches(batches, schema)

    def splits(self, options, bounds=None):
        planning = self.planning
        found = planning.find_partitions(options)
        pieces = planning.plan_pieces(found, options, bounds or planning.Bounds())
        return planning.pack(pieces, options)


@pytest.fixture
def rooms(kwire):
    return Rooms(kwire)


def offsets(table):
    return table.column("offset").to_pylist()


def consumed():
    """What a consumer got of each partition, by isolation level."""
    for release in ("2.8.2", "3.9.2", "4.3.1"):
        with lzma.open(DATA / release / "consumed.json.xz", "rt") as file:
            for name, levels in json.load(file).items():
                for level, rows in levels.items():
                    # Of tiered topics the broker's directory has only the end.
                    if not name.startswith("tiered"):
                        yield pytest.param(
                            release, name, level, rows, id=f"{release}-{name}-{level}"
                        )


def text(content):
    return None if content is None else base64.b64encode(content).decode()


def as_consumed(row):
    """A row as librdkafka gives it: type 0 has no timestamp, 1 and 2 are Kafka's."""
    moment = row["timestamp"]
    kind = row["timestampType"]
    headers = [[each["key"], text(each["value"])] for each in row["headers"] or ()]
    milliseconds = (
        None if moment is None else (moment - EPOCH) // timedelta(milliseconds=1)
    )
    if kind < 0:
        milliseconds = None
    return [
        row["offset"],
        kind + 1,
        milliseconds,
        text(row["key"]),
        text(row["value"]),
        headers,
    ]


@pytest.mark.parametrize(("release", "name", "level", "rows"), list(consumed()))
def test_rows_are_what_a_consumer_got(rooms, release, name, level, rows):
    """Real brokers, a real consumer, both isolation levels, small splits."""
    topic, _, number = name.rpartition("-")
    table = rooms.read(
        DATA / release / "data",
        assign=json.dumps({topic: [int(number)]}),
        isolationLevel=level,
        includeHeaders="true",
        maxPartitionBytes="2000",
    )
    if level == "read_committed":
        assert offsets(table) == rows
        return
    wanted = [[*row[:2], row[2] if row[1] else None, *row[3:]] for row in rows]
    assert [as_consumed(row) for row in table.to_pylist()] == wanted


@pytest.fixture
def orders(tmp_path):
    """Two segments of ten batches of three records, with values of 100 bytes."""
    folder = Folder(tmp_path / "logs" / "orders-0")
    value = b"v" * 100
    folder.first, folder.spans = folder.segment(0, log_of([3] * 10, 0, value=value))
    folder.second, _ = folder.segment(30, log_of([3] * 10, 30, value=value))
    folder.root = tmp_path / "logs"
    return folder


def test_splits_of_any_size_give_each_record_once(rooms, orders):
    """A batch belongs to the split that it begins in, whatever the cuts are."""
    for size in (1, 100, 333, 1000, 5000, 10**6):
        options = {"maxPartitionBytes": str(size), "minPartitions": "1000"}
        assert offsets(rooms.read(orders.root, **options)) == list(range(60))


def test_small_files_share_a_split_and_large_ones_are_cut(rooms, tmp_path):
    """A task is worth its start, and none has much more than was asked for."""
    for number in range(20):
        Folder(tmp_path / f"orders-{number}").segment(0, log_of([3] * 5))
    Folder(tmp_path / "big-0").segment(0, log_of([3] * 400, value=b"v" * 200))
    options = rooms.options.read_options(
        {"path": str(tmp_path), "maxPartitionBytes": "20000", "minPartitions": "1"}
    )
    splits = rooms.splits(options)
    sizes = [sum(piece.size for piece in split) for split in splits]
    assert sum(sizes) == sum(p.stat().st_size for p in tmp_path.rglob("*.log"))
    assert max(sizes) < 40000 and max(map(len, splits)) == 20


def test_a_record_without_headers_has_null_as_in_sparks_own_source(rooms, tmp_path):
    """Not an empty list: ``headers IS NULL`` finds the same rows as on brokers."""
    folder = Folder(tmp_path / "orders-0")
    rows = [(b"a", b"1"), (b"b", b"2", 5, [("h", b"1"), ("h", None)]), (b"c", b"3")]
    folder.segment(0, [records.encode_batch(rows), messages(3, 2)])
    table = rooms.read(tmp_path, includeHeaders="true")
    pairs = [{"key": "h", "value": b"1"}, {"key": "h", "value": None}]
    assert table["headers"].to_pylist() == [None, pairs, None, None, None]


@pytest.mark.parametrize("most", [1, 4, 7, 30, 59, 60, 1000])
def test_no_split_has_more_offsets_than_were_asked_for(rooms, orders, most):
    """As Spark divides a partition: as few parts as can be, of about one size."""
    options = rooms.options.read_options(
        {"path": str(orders.root), "maxRecordsPerPartition": str(most)}
    )
    layout = rooms.layout.default_layout(options)
    found = []
    for split in rooms.splits(options):
        found.append([])
        for each in rooms.reading.read_pieces(split, layout, options):
            found[-1] += each.column("offset").to_pylist()
    assert [row for each in found for row in each] == list(range(60))
    sizes = [len(each) for each in found]
    assert max(sizes) <= most and max(sizes) - min(sizes) <= 1
    assert len(sizes) == -(-60 // most)


def test_partitions_do_not_share_a_split_that_is_bounded_by_records(rooms, tmp_path):
    """Nor do the copies of one partition: together they have more."""
    for folder in ("a/orders-0", "a/orders-1", "b/orders-0"):
        Folder(tmp_path / folder).segment(0, log_of([3]))
    options = rooms.options.read_options(
        {"path": str(tmp_path), "maxRecordsPerPartition": "3"}
    )
    assert len(rooms.splits(options)) == 3


@pytest.mark.parametrize("most", [1, 2, 5, 10, 11, 13])
def test_a_bad_region_is_reported_once_however_records_are_divided(rooms, orders, most):
    """Regions at both ends of what is asked for, and between two segments' splits."""
    for number in (2, 5, 9):
        flip(orders.first, orders.spans[number][0] + 80)
    given = {
        "maxRecordsPerPartition": str(most),
        "startingOffsets": '{"orders": {"0": 7}}',
        "endingOffsets": '{"orders": {"0": 29}}',
    }
    table = rooms.read(orders.root, mode="PERMISSIVE", columns=CORRUPT, **given)
    rows = table.to_pylist()
    assert [
        row["_corrupt_record"]["position"] for row in rows if not row["offset"]
    ] == [orders.spans[number][0] for number in (2, 5, 9)]
    good = [*range(9, 15), *range(18, 27)]
    assert [row["offset"] for row in rows if row["offset"]] == good


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (
            {
                "startingOffsets": '{"orders": {"0": 9}}',
                "endingOffsets": '{"orders": {"0": 7}}',
            },
            "from offset 9 to 7",
        ),
        (
            {
                "startingTimestamp": str(BASE_TIME + 40),
                "endingTimestamp": str(BASE_TIME + 31),
            },
            "from offset 40 to 31",
        ),
    ],
)
def test_a_start_above_the_end_is_refused_as_by_sparks_own_source(
    rooms, orders, given, found
):
    """Two values that changed places gave no rows, and nothing said so."""
    with pytest.raises(ValueError, match="give a start") as caught:
        rooms.read(orders.root, **given)
    assert f"orders-0 would be read {found};" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"startingOffsets": '{"orders": {"0": 7}}'}, range(7, 60)),
        ({"startingOffsets": '{"orders": {"0": -2}}'}, range(60)),
        ({"startingOffsets": '{"orders": {"0": 30}}'}, range(30, 60)),
        ({"startingOffsets": '{"orders": {"0": 60}}'}, range(0)),
        ({"endingOffsets": '{"orders": {"0": 31}}'}, range(31)),
        ({"endingOffsets": '{"orders": {"0": 0}}'}, range(0)),
        ({"endingOffsets": '{"orders": {"0": -1}}'}, range(60)),
        (
            {
                "startingOffsets": '{"orders": {"0": 29}}',
                "endingOffsets": '{"orders": {"0": 31}}',
            },
            range(29, 31),
        ),
        ({"startingTimestamp": str(BASE_TIME + 40)}, range(40, 60)),
        ({"endingTimestamp": str(BASE_TIME + 40)}, range(40)),
        ({"endingTimestamp": str(BASE_TIME + 400)}, range(60)),
        (
            {
                "startingOffsetsByTimestamp": json.dumps(
                    {"orders": {"0": BASE_TIME + 31}}
                )
            },
            range(31, 60),
        ),
        (
            {
                "startingTimestamp": str(BASE_TIME + 400),
                "startingOffsetsByTimestampStrategy": "latest",
            },
            range(0),
        ),
    ],
)
def test_offsets_and_times_choose_as_in_sparks_own_source(
    rooms, orders, given, expected
):
    assert offsets(rooms.read(orders.root, maxPartitionBytes="500", **given)) == list(
        expected
    )


def test_a_time_stands_for_the_first_offset_that_late_not_for_all_rows(rooms, tmp_path):
    """Times run back and forth: Kafka takes the first record that is late enough."""
    folder = Folder(tmp_path / "orders-0")
    times = [100, 500, 200, 300, 50]
    folder.segment(
        0, [batch(n, 1, timestamp=BASE_TIME + t) for n, t in enumerate(times)]
    )
    read = rooms.read(tmp_path, startingTimestamp=str(BASE_TIME + 250))
    assert offsets(read) == [1, 2, 3, 4]
    assert offsets(rooms.read(tmp_path, endingTimestamp=str(BASE_TIME + 250))) == [0]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"startingOffsets": "latest"}, "startingOffsets of a batch cannot be -1"),
        ({"endingOffsets": "earliest"}, "endingOffsets of a batch cannot be -2"),
        ({"startingOffsets": '{"orders": {"1": 5}}'}, "names no offset for orders-0"),
        ({"subscribe": "bills"}, "no bills under"),
        ({"assign": '{"orders": [0, 7]}'}, "no orders-7 under"),
        ({"startingTimestamp": str(2**50)}, "no record of timestamp"),
        (
            {"startingOffsets": '{"orders": {"0": 99}}', "failOnDataLoss": "true"},
            "ends before offset 60, offset 99 is not there",
        ),
    ],
)
def test_what_cannot_be_planned_is_said_in_one_sentence(rooms, orders, given, text):
    with pytest.raises(ValueError, match=r"orders|batch") as caught:
        rooms.read(orders.root, **given)
    assert text in str(caught.value)


def test_a_missing_segment_counts_only_if_it_is_asked_about(rooms, orders):
    """A gap is reported by the view problems, and by failOnDataLoss."""
    Folder(orders.path).segment(90, log_of([3], 90))
    assert offsets(rooms.read(orders.root)) == [*range(60), 90, 91, 92]
    with pytest.raises(
        ValueError, match="offsets 60 to 89 of orders-0 are in no segment"
    ):
        rooms.read(orders.root, failOnDataLoss="true")
    before = {"endingOffsets": '{"orders": {"0": 60}}'}
    assert len(rooms.read(orders.root, failOnDataLoss="true", **before)) == 60


def test_replicas_are_all_kept_or_the_longest_is_chosen_or_none(rooms, tmp_path):
    for broker, count in (("a", 2), ("b", 4), ("c", 3)):
        Folder(tmp_path / broker / "orders-0").segment(0, log_of([3] * count))
    assert len(rooms.read(tmp_path)) == 27
    paths = rooms.read(tmp_path, duplicates="longest", includeFilePath="true")
    assert offsets(paths) == list(range(12))
    assert {Path(p).parts[-3] for p in paths.column("file_path").to_pylist()} == {"b"}
    with pytest.raises(ValueError, match=r"orders-0 is in 3 folders: .*longest"):
        rooms.read(tmp_path, duplicates="error")


def test_batch_columns_are_those_of_each_records_batch(rooms, orders):
    table = rooms.read(orders.root, includeBatchColumns="true")
    row = table.to_pylist()[7]
    assert (row["offset"], row["base_offset"], row["magic"]) == (7, 6, 2)
    assert row["batch_position"] == orders.spans[2][0]
    assert (row["producer_id"], row["partition_leader_epoch"]) == (-1, 0)


def test_the_batches_view_is_one_row_a_batch(rooms, orders):
    rows = rooms.read(orders.root, view="batches", maxPartitionBytes="700").to_pylist()
    assert [row["base_offset"] for row in rows] == list(range(0, 60, 3))
    assert {row["record_count"] for row in rows} == {3}
    assert rows[1]["position"] == orders.spans[1][0]
    assert rows[0]["max_timestamp"] == EPOCH + timedelta(milliseconds=BASE_TIME + 2)


def test_old_formats_are_read_alike(rooms, tmp_path):
    """Messages of magic 0 and 1, alone and in compressed wrappers."""
    for magic in (0, 1):
        for codec in ("none", "gzip"):
            folder = Folder(tmp_path / f"m{magic}-{codec}-0")
            folder.segment(
                0, [messages(n, 3, magic=magic, codec=codec) for n in (0, 3)]
            )
    table = rooms.read(tmp_path)
    assert len(table) == 24
    kinds = dict(
        zip(
            table.column("topic").to_pylist(),
            table.column("timestampType").to_pylist(),
            strict=True,
        )
    )
    assert kinds == {"m0-gzip": -1, "m0-none": -1, "m1-gzip": 0, "m1-none": 0}


def test_large_records_come_in_small_batches(rooms, tmp_path):
    """The size of an Arrow batch is bounded by bytes, not by rows."""
    folder = Folder(tmp_path / "orders-0")
    folder.segment(0, log_of([40], value=bytes(500_000), codec="zstd"))
    options = rooms.options.read_options({"path": str(tmp_path)})
    layout = rooms.layout.default_layout(options)
    (split,) = rooms.splits(options)
    sizes = [each.nbytes for each in rooms.reading.read_pieces(split, layout, options)]
    assert sum(sizes) > 20_000_000 and max(sizes) < 5_000_000


# Damage -------------------------------------------------------------------------------

CORRUPT = ("offset", "topic", "_corrupt_record")


@pytest.fixture
def damaged(orders):
    """The orders with a bit flipped in the fourth batch: offsets 9 to 11 are lost."""
    flip(orders.first, orders.spans[3][0] + 80)
    return orders


def test_failfast_says_where_and_what_to_do(rooms, damaged):
    """Spark shows the text of an error and nothing else of it."""
    with pytest.raises(ValueError, match="crc") as caught:
        rooms.read(damaged.root)
    said = str(caught.value)
    assert str(damaged.first) in said and f"byte {damaged.spans[3][0]}" in said
    assert "good up to offset 8, again from 12" in said
    assert "topic orders, partition 0" in said and "mode=PERMISSIVE" in said


def test_permissive_gives_one_row_for_each_bad_region(rooms, damaged):
    rows = rooms.read(damaged.root, columns=CORRUPT, mode="PERMISSIVE").to_pylist()
    bad = [row for row in rows if row["_corrupt_record"] is not None]
    assert [row["offset"] for row in rows if row not in bad] == [
        *range(9),
        *range(12, 60),
    ]
    position, length = damaged.spans[3]
    content = damaged.first.read_bytes()[position : position + length]
    assert bad == [
        {
            "offset": None,
            "topic": "orders",
            "_corrupt_record": {
                "path": str(damaged.first),
                "position": position,
                "length": length,
                "reason": "crc",
                "bytes": content,
            },
        }
    ]


def test_dropmalformed_reads_around_it(rooms, damaged):
    table = rooms.read(damaged.root, mode="DROPMALFORMED")
    assert offsets(table) == [*range(9), *range(12, 60)]


def test_damage_outside_of_what_is_asked_for_is_nobodys_business(rooms, damaged):
    """And damage within is, even where the asked offsets begin in the middle of it."""
    behind = {"startingOffsets": '{"orders": {"0": 12}}'}
    assert offsets(rooms.read(damaged.root, **behind)) == list(range(12, 60))
    before = {"endingOffsets": '{"orders": {"0": 9}}'}
    assert offsets(rooms.read(damaged.root, **before)) == list(range(9))
    with pytest.raises(ValueError, match="again from 12"):
        rooms.read(damaged.root, startingOffsets='{"orders": {"0": 11}}')


def test_a_torn_tail_is_fine_in_the_newest_segment_alone(rooms, orders):
    """A broker cuts it off; in an older segment it is damage."""
    data = orders.second.read_bytes()
    orders.second.write_bytes(data[:-50])
    assert offsets(rooms.read(orders.root)) == list(range(57))
    with pytest.raises(ValueError, match="ends within a batch"):
        rooms.read(orders.root, strictTail="true")
    orders.second.write_bytes(data)
    orders.first.write_bytes(orders.first.read_bytes()[:-50])
    with pytest.raises(ValueError, match="ends within a batch"):
        rooms.read(orders.root)


def test_a_checksum_that_is_right_over_records_that_are_not(rooms, tmp_path):
    """A batch that cannot be decoded is a bad region like any other."""
    folder = Folder(tmp_path / "orders-0")
    broken = bytearray(batch(3, 3))
    broken[61] = 0x7F
    import crc32c

    broken[17:21] = crc32c.crc32c(bytes(broken[21:])).to_bytes(4, "big")
    folder.segment(0, [batch(0, 3), bytes(broken), batch(6, 3)])
    rows = rooms.read(tmp_path, columns=CORRUPT, mode="PERMISSIVE").to_pylist()
    assert [row["offset"] for row in rows] == [0, 1, 2, None, 6, 7, 8]
    (reason,) = [r["_corrupt_record"]["reason"] for r in rows if r["_corrupt_record"]]
    assert reason == "records"


def test_a_file_that_vanished_is_what_the_mode_makes_of_it(rooms, orders):
    """Between the plan and the read a broker may delete a segment."""
    given = {"path": str(orders.root), "columnNameOfCorruptRecord": "bad"}
    plans = {}
    for mode in rooms.options.MODES:
        options = rooms.options.read_options({**given, "mode": mode})
        plans[mode] = (
            options,
            rooms.layout.default_layout(options),
            rooms.splits(options),
        )
    orders.first.unlink()

    def read(mode):
        options, layout, splits = plans[mode]
        found = [
            b for s in splits for b in rooms.reading.read_pieces(s, layout, options)
        ]
        return pa.Table.from_batches(found).to_pylist()

    with pytest.raises(FileNotFoundError, match=r"missing: .*topic orders"):
        read("FAILFAST")
    assert [row["offset"] for row in read("DROPMALFORMED")] == list(range(30, 60))
    first = read("PERMISSIVE")[0]
    assert (first["offset"], first["bad"]["reason"]) == (None, "missing")


@pytest.fixture
def oddly_named(tmp_path):
    """Two topics with a damaged batch each; the name of one is no UTF-8."""
    for name in (b"good-0", b"b\xffd-0"):
        folder = Folder(tmp_path / os.fsdecode(name))
        path, spans = folder.segment(0, log_of([5] * 4))
        folder.beside(0, ".index", ">ii", (9, spans[1][0]))
        flip(path, spans[2][0] + 70)
    return tmp_path


@pytest.mark.parametrize("view", ["records", "batches"])
def test_a_topic_whose_name_is_no_utf_8_is_text(rooms, oddly_named, view):
    """It is shown with escapes, and the good topic beside it is there."""
    given = {"view": view, "mode": "PERMISSIVE"}
    rows = rooms.read(oddly_named, **given).to_pylist()
    assert {row["topic"] for row in rows} == {"good", r"b\xffd"}
    rows = rooms.read(oddly_named, subscribe=r"b\xffd", **given).to_pylist()
    assert {row["topic"] for row in rows} == {r"b\xffd"}
    columns = ["offset", "topic", "file_path", "_corrupt_record"]
    if view == "records":
        rows = rooms.read(oddly_named, columns=columns, **given).to_pylist()
        assert any(rf"b\xffd-0{os.sep}" in row["file_path"] for row in rows)
        bad = [row["_corrupt_record"] for row in rows if row["_corrupt_record"]]
        assert len(bad) == 2 and all(each["bytes"] for each in bad)


@pytest.mark.parametrize("view", ["problems", "index"])
def test_views_of_such_a_topic_have_text_too(rooms, oddly_named, view):
    options = rooms.options.read_options({"path": str(oddly_named), "view": view})
    layout = rooms.layout.default_layout(options)
    rows = []
    for partition in rooms.planning.find_partitions(options):
        if view == "problems":
            found = rooms.reading.read_problems(partition, layout, options)
        else:
            found = rooms.reading.read_indexes(partition.segments, layout)
        rows += [row for each in found for row in each.to_pylist()]
    assert {row["topic"] for row in rows} == {"good", r"b\xffd"}
    assert sum(rf"b\xffd-0{os.sep}" in row["path"] for row in rows) == 1


def test_foreign_and_empty_files_cost_nothing_good(rooms, orders):
    """An empty segment is none; a file that is no log is one bad region."""
    (orders.path / f"{60:020}.log").write_bytes(b"")
    assert offsets(rooms.read(orders.root)) == list(range(60))
    (orders.path / f"{60:020}.log").write_bytes(b"PK\x03\x04" + bytes(range(256)) * 20)
    (orders.path / f"{70:020}.log").write_bytes(batch(70, 2))
    rows = rooms.read(orders.root, columns=CORRUPT, mode="PERMISSIVE").to_pylist()
    bad = [row["_corrupt_record"] for row in rows if row["_corrupt_record"]]
    assert [each["length"] for each in bad] == [4 + 256 * 20]
    assert len(bad[0]["bytes"]) == 4096
    assert [r["offset"] for r in rows if r["offset"] is not None] == [
        *range(60),
        70,
        71,
    ]


@pytest.mark.parametrize("seed", range(25))
def test_random_damage_read_in_random_splits_loses_nothing_else(rooms, tmp_path, seed):
    """The union of all splits is what one walk finds: rows and bad regions alike."""
    chance = random.Random(seed)
    folder = Folder(tmp_path / "orders-0")
    codec = chance.choice(["none", "gzip", "zstd"])
    sizes = [chance.randrange(1, 9) for _ in range(60)]
    path, spans = folder.segment(
        0, log_of(sizes, codec=codec, value=chance.randbytes(90))
    )
    for _ in range(chance.randrange(1, 5)):
        at, size = spans[chance.randrange(len(spans))]
        where = at + chance.randrange(size)
        content = chance.choice([bytes(40), chance.randbytes(30), b"\xff"])
        overwrite(path, where, content[: path.stat().st_size - where])
    whole = rooms.read(
        tmp_path,
        columns=CORRUPT,
        mode="PERMISSIVE",
        minPartitions="1",
        strictTail="true",
    )
    for _ in range(6):
        size = str(chance.randrange(1, 4000))
        parts = rooms.read(
            tmp_path,
            columns=CORRUPT,
            mode="PERMISSIVE",
            maxPartitionBytes=size,
            strictTail="true",
        )
        key = repr
        assert sorted(parts.to_pylist(), key=key) == sorted(whole.to_pylist(), key=key)


def test_batches_over_the_ceiling_are_told_and_can_be_allowed(rooms, tmp_path):
    """In Spark no call can pass limits; an option does, compressed or not."""
    folder = Folder(tmp_path / "orders-0")
    large = batch(3, 1, value=bytes(5 << 20))
    folder.segment(
        0, [batch(0, 3), large, batch(4, 1, value=bytes(7 << 20), codec="gzip")]
    )
    for size, text in (("4m", "a batch of 52"), ("6m", "grows past 6291456")):
        with pytest.raises(ValueError, match="maxBatchBytes allows") as caught:
            rooms.read(tmp_path, maxBatchBytes=size)
        assert text in str(caught.value)
    assert offsets(rooms.read(tmp_path, maxBatchBytes="8m")) == [0, 1, 2, 3, 4]


def test_a_task_gets_the_transactions_of_its_segment_alone(rooms, tmp_path):
    """All of a long log would travel with each of its thousands of tasks."""
    folder = Folder(tmp_path / "orders-0")
    for first in (0, 10, 20):
        marker = batch(first + 5, 1, producer=first, control=b"\0\0\0\0")
        folder.segment(
            first, [batch(first, 5, producer=first), marker, batch(first + 6, 4)]
        )
    options = rooms.options.read_options(
        {"path": str(tmp_path), "isolationLevel": "read_committed"}
    )
    pieces = [piece for split in rooms.splits(options) for piece in split]
    aborted = [[each.first_offset for each in p.transactions.aborted] for p in pieces]
    assert aborted == [[0], [10], [20]]
    table = rooms.read(tmp_path, isolationLevel="read_committed")
    assert offsets(table) == [n for n in range(30) if n % 10 > 5]


# Filters ------------------------------------------------------------------------------


def plan_of(rooms, root, **bounds):
    options = rooms.options.read_options(
        {"path": str(root), "maxPartitionBytes": "400", "minPartitions": "1000"}
    )
    found = rooms.planning.find_partitions(options)
    return rooms.planning.plan_pieces(found, options, rooms.planning.Bounds(**bounds))


def test_bounds_spare_what_cannot_have_such_rows(rooms, orders):
    everything = plan_of(rooms, orders.root)
    assert len(everything) > 12
    assert plan_of(rooms, orders.root, topics=frozenset(["bills"])) == []
    assert plan_of(rooms, orders.root, partitions=frozenset([3])) == []
    assert len(plan_of(rooms, orders.root, start_offset=45)) <= 16
    first = plan_of(rooms, orders.root, end_offset=30)
    assert {each.path for each in first} == {str(orders.first)}
    late = plan_of(rooms, orders.root, start_timestamp=BASE_TIME + 50)
    assert 0 < len(late) <= 4


def test_an_upper_time_spares_nothing_that_clients_dated(rooms, tmp_path):
    """The header has the time of the first record, which need not be the smallest."""
    folder = Folder(tmp_path / "orders-0")
    log = [batch(n, 1, timestamp=BASE_TIME + 1000 * n) for n in range(10)]
    folder.segment(0, log)
    assert len(plan_of(rooms, tmp_path, end_timestamp=BASE_TIME + 10)) == len(
        plan_of(rooms, tmp_path)
    )


def test_an_upper_time_spares_what_the_broker_dated(rooms, tmp_path):
    """There all records of a batch have its one time."""
    import crc32c

    folder = Folder(tmp_path / "orders-0")
    log = []
    for number in range(10):
        made = bytearray(batch(number, 1, timestamp=BASE_TIME + 1000 * number))
        made[22] |= 8
        made[17:21] = crc32c.crc32c(bytes(made[21:])).to_bytes(4, "big")
        log.append(bytes(made))
    folder.segment(0, log)
    everything = plan_of(rooms, tmp_path)
    few = plan_of(rooms, tmp_path, end_timestamp=BASE_TIME + 10)
    assert 0 < len(few) < len(everything)
