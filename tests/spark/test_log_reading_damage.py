# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-log`` with damaged, missing and foreign files in all modes.

The tables are read in process, without Spark. ``test_log_reading.py`` covers the rest.
"""

import os
import random

import pyarrow as pa
import pytest

from tests.log.log_files import Folder, batch, flip, log_of, overwrite
from tests.spark.log_tables import LogTables, offsets, write_orders


@pytest.fixture
def tables(kwire):
    return LogTables(kwire)


@pytest.fixture
def orders(tmp_path):
    return write_orders(tmp_path)


CORRUPT = ("offset", "topic", "_corrupt_record")


@pytest.fixture
def damaged(orders):
    """Return a log in which one bit of the fourth batch is changed.

    The offsets 9 to 11 are lost.
    """
    flip(orders.first, orders.spans[3][0] + 80)
    return orders


def test_failfast_error_contains_position_and_solution(tables, damaged):
    """The FAILFAST error contains the position of the damage and a solution.

    Spark only shows the text of the error.
    """
    with pytest.raises(ValueError, match="crc") as caught:
        tables.read(damaged.root)
    error_text = str(caught.value)
    assert (
        str(damaged.first) in error_text and f"byte {damaged.spans[3][0]}" in error_text
    )
    assert "good up to offset 8, again from 12" in error_text
    assert "topic orders, partition 0" in error_text and "mode=PERMISSIVE" in error_text


def test_permissive_gives_one_row_for_each_bad_region(tables, damaged):
    rows = tables.read(damaged.root, columns=CORRUPT, mode="PERMISSIVE").to_pylist()
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


def test_dropmalformed_skips_the_damaged_region(tables, damaged):
    table = tables.read(damaged.root, mode="DROPMALFORMED")
    assert offsets(table) == [*range(9), *range(12, 60)]


def test_damage_outside_of_the_range_is_ignored(tables, damaged):
    """Damage outside of the requested range is ignored.

    It is reported if it overlaps the range.
    """
    behind = {"startingOffsets": '{"orders": {"0": 12}}'}
    assert offsets(tables.read(damaged.root, **behind)) == list(range(12, 60))
    before = {"endingOffsets": '{"orders": {"0": 9}}'}
    assert offsets(tables.read(damaged.root, **before)) == list(range(9))
    with pytest.raises(ValueError, match="again from 12"):
        tables.read(damaged.root, startingOffsets='{"orders": {"0": 11}}')


def test_a_torn_tail_is_fine_in_the_newest_segment_alone(tables, orders):
    """An incomplete end is only valid in the newest segment.

    A broker truncates it there. In an older segment, it is damage.
    """
    data = orders.second.read_bytes()
    orders.second.write_bytes(data[:-50])
    assert offsets(tables.read(orders.root)) == list(range(57))
    with pytest.raises(ValueError, match="ends within a batch"):
        tables.read(orders.root, strictTail="true")
    orders.second.write_bytes(data)
    orders.first.write_bytes(orders.first.read_bytes()[:-50])
    with pytest.raises(ValueError, match="ends within a batch"):
        tables.read(orders.root)


def test_a_checksum_that_is_right_over_records_that_are_not(tables, tmp_path):
    """A batch with a valid checksum and invalid records is a damaged region."""
    folder = Folder(tmp_path / "orders-0")
    broken = bytearray(batch(3, 3))
    broken[61] = 0x7F
    import crc32c

    broken[17:21] = crc32c.crc32c(bytes(broken[21:])).to_bytes(4, "big")
    folder.segment(0, [batch(0, 3), bytes(broken), batch(6, 3)])
    rows = tables.read(tmp_path, columns=CORRUPT, mode="PERMISSIVE").to_pylist()
    assert [row["offset"] for row in rows] == [0, 1, 2, None, 6, 7, 8]
    (reason,) = [r["_corrupt_record"]["reason"] for r in rows if r["_corrupt_record"]]
    assert reason == "records"


def test_deleted_file_is_handled_according_to_the_mode(tables, orders):
    """The mode decides what happens if a segment is deleted before it is read.

    A broker may delete a segment between the plan and the read.
    """
    basic = {"path": str(orders.root), "columnNameOfCorruptRecord": "bad"}
    plans = {}
    for mode in tables.options.MODES:
        options = tables.options.read_options({**basic, "mode": mode})
        plans[mode] = (
            options,
            tables.layout.default_layout(options),
            tables.splits(options),
        )
    orders.first.unlink()

    def read(mode):
        options, layout, splits = plans[mode]
        batches = [
            b for s in splits for b in tables.reading.read_pieces(s, layout, options)
        ]
        return pa.Table.from_batches(batches).to_pylist()

    with pytest.raises(FileNotFoundError, match=r"missing: .*topic orders"):
        read("FAILFAST")
    assert [row["offset"] for row in read("DROPMALFORMED")] == list(range(30, 60))
    first = read("PERMISSIVE")[0]
    assert (first["offset"], first["bad"]["reason"]) == (None, "missing")


@pytest.fixture
def oddly_named(tmp_path):
    """Return two topics with a damaged batch. One topic name is not valid UTF-8."""
    for name in (b"good-0", b"b\xffd-0"):
        folder = Folder(tmp_path / os.fsdecode(name))
        path, spans = folder.segment(0, log_of([5] * 4))
        folder.beside(0, ".index", ">ii", (9, spans[1][0]))
        flip(path, spans[2][0] + 70)
    return tmp_path


@pytest.mark.parametrize("view", ["records", "batches"])
def test_topic_name_that_is_not_utf_8_is_escaped(tables, oddly_named, view):
    """A topic name that is not valid UTF-8 is shown with escapes.

    The other topic is read completely.
    """
    settings = {"view": view, "mode": "PERMISSIVE"}
    rows = tables.read(oddly_named, **settings).to_pylist()
    assert {row["topic"] for row in rows} == {"good", r"b\xffd"}
    rows = tables.read(oddly_named, subscribe=r"b\xffd", **settings).to_pylist()
    assert {row["topic"] for row in rows} == {r"b\xffd"}
    columns = ["offset", "topic", "file_path", "_corrupt_record"]
    if view == "records":
        rows = tables.read(oddly_named, columns=columns, **settings).to_pylist()
        assert any(rf"b\xffd-0{os.sep}" in row["file_path"] for row in rows)
        bad = [row["_corrupt_record"] for row in rows if row["_corrupt_record"]]
        assert len(bad) == 2 and all(problem["bytes"] for problem in bad)


@pytest.mark.parametrize("view", ["problems", "index"])
def test_views_of_such_a_topic_have_text_too(tables, oddly_named, view):
    options = tables.options.read_options({"path": str(oddly_named), "view": view})
    layout = tables.layout.default_layout(options)
    rows = []
    for partition in tables.planning.find_partitions(options):
        if view == "problems":
            pieces = tables.reading.read_problems(partition, layout, options)
        else:
            pieces = tables.reading.read_indexes(partition.segments, layout)
        rows += [row for table in pieces for row in table.to_pylist()]
    assert {row["topic"] for row in rows} == {"good", r"b\xffd"}
    assert sum(rf"b\xffd-0{os.sep}" in row["path"] for row in rows) == 1


def test_foreign_and_empty_files_cost_nothing_good(tables, orders):
    """An empty segment has no rows, and a file that is not a log is a damaged region.

    Neither affects the rows of other files.
    """
    (orders.path / f"{60:020}.log").write_bytes(b"")
    assert offsets(tables.read(orders.root)) == list(range(60))
    (orders.path / f"{60:020}.log").write_bytes(b"PK\x03\x04" + bytes(range(256)) * 20)
    (orders.path / f"{70:020}.log").write_bytes(batch(70, 2))
    rows = tables.read(orders.root, columns=CORRUPT, mode="PERMISSIVE").to_pylist()
    bad = [row["_corrupt_record"] for row in rows if row["_corrupt_record"]]
    assert [bad_region["length"] for bad_region in bad] == [4 + 256 * 20]
    assert len(bad[0]["bytes"]) == 4096
    assert [r["offset"] for r in rows if r["offset"] is not None] == [
        *range(60),
        70,
        71,
    ]


@pytest.mark.parametrize("seed", range(25))
def test_random_damage_read_in_random_splits_loses_nothing_else(tables, tmp_path, seed):
    """With random damage, random splits return the same rows as a single walk.

    The damaged regions are equal, too.
    """
    chance = random.Random(seed)
    folder = Folder(tmp_path / "orders-0")
    codec = chance.choice(["none", "gzip", "zstd"])
    sizes = [chance.randrange(1, 9) for _ in range(60)]
    path, spans = folder.segment(
        0, log_of(sizes, codec=codec, value=chance.randbytes(90))
    )
    for _ in range(chance.randrange(1, 5)):
        start, size = spans[chance.randrange(len(spans))]
        position = start + chance.randrange(size)
        content = chance.choice([bytes(40), chance.randbytes(30), b"\xff"])
        overwrite(path, position, content[: path.stat().st_size - position])
    whole_read = tables.read(
        tmp_path,
        columns=CORRUPT,
        mode="PERMISSIVE",
        minPartitions="1",
        strictTail="true",
    )
    for _ in range(6):
        size = str(chance.randrange(1, 4000))
        parts = tables.read(
            tmp_path,
            columns=CORRUPT,
            mode="PERMISSIVE",
            maxPartitionBytes=size,
            strictTail="true",
        )
        key = repr
        assert sorted(parts.to_pylist(), key=key) == sorted(
            whole_read.to_pylist(), key=key
        )


def test_batches_over_the_limit_are_reported_and_can_be_allowed(tables, tmp_path):
    """A batch that exceeds a limit is a damaged region, unless an option raises it.

    Spark cannot pass ``limits``. Compressed batches are tested, too.
    """
    folder = Folder(tmp_path / "orders-0")
    large = batch(3, 1, value=bytes(5 << 20))
    folder.segment(
        0, [batch(0, 3), large, batch(4, 1, value=bytes(7 << 20), codec="gzip")]
    )
    for size, text in (("4m", "a batch of 52"), ("6m", "grows past 6291456")):
        with pytest.raises(ValueError, match="maxBatchBytes allows") as caught:
            tables.read(tmp_path, maxBatchBytes=size)
        assert text in str(caught.value)
    assert offsets(tables.read(tmp_path, maxBatchBytes="8m")) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("most", [1, 2, 5, 10, 11, 13])
def test_a_bad_region_is_reported_once_with_any_number_of_records(tables, orders, most):
    """A damaged region is reported once, whatever the size of the splits is.

    The regions are at both ends of the range and between segments.
    """
    for number in (2, 5, 9):
        flip(orders.first, orders.spans[number][0] + 80)
    settings = {
        "maxRecordsPerPartition": str(most),
        "startingOffsets": '{"orders": {"0": 7}}',
        "endingOffsets": '{"orders": {"0": 29}}',
    }
    table = tables.read(orders.root, mode="PERMISSIVE", columns=CORRUPT, **settings)
    rows = table.to_pylist()
    assert [
        row["_corrupt_record"]["position"] for row in rows if not row["offset"]
    ] == [orders.spans[number][0] for number in (2, 5, 9)]
    good = [*range(9, 15), *range(18, 27)]
    assert [row["offset"] for row in rows if row["offset"]] == good
