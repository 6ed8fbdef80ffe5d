# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reading committed records in the same way as a consumer."""

import pytest

from tests.log.log_files import (
    ABORT,
    COMMIT,
    Folder,
    aborted_entry,
    batch,
    flip,
    module,
)

PIECES = [
    batch(0, 2, producer=7),  # aborted
    batch(2, 2),  # outside of transactions
    batch(4, 1, producer=8),  # committed
    batch(5, 1, producer=7),  # aborted
    batch(6, control=ABORT, producer=7),
    batch(7, 1, producer=7),  # committed
    batch(8, control=COMMIT, producer=8),
    batch(9, control=COMMIT, producer=7),
    batch(10, 3, producer=8),  # aborted, across segments
    batch(13, 1),
    batch(14, control=ABORT, producer=8),
    batch(15, 2, producer=8),  # committed
    batch(17, control=COMMIT, producer=8),
    batch(18, 2),
    batch(20, 2, producer=9),  # without a marker
    batch(22, 2),  # after the first open transaction
]
COMMITTED = [2, 3, 4, 7, 13, 15, 16, 18, 19]
ABORTED = [(7, 0, 6), (8, 10, 14)]


@pytest.fixture
def log(kwire):
    return module(kwire, "log")


class Written:
    def __init__(self, tmp_path):
        self.root = tmp_path
        self.folder = Folder(tmp_path / "orders-0")
        self.first, self.first_spans = self.folder.segment(0, PIECES[:9])
        self.second, self.second_spans = self.folder.segment(13, PIECES[9:])

    def write_indexes(self):
        for base, entry in ((0, ABORTED[0]), (13, ABORTED[1])):
            path = self.folder.path / f"{base:020}.txnindex"
            path.write_bytes(aborted_entry(*entry))


@pytest.fixture
def written(tmp_path):
    return Written(tmp_path)


def partition_of(log, written):
    return log.LogDirectory(written.root)["orders", 0]


def committed(log, written, **options):
    batches = partition_of(log, written).batches(
        isolation_level="read_committed", **options
    )
    return [record.offset for b in batches for record in b.records]


def test_transactions_are_found_by_their_markers(log, written):
    transactions = partition_of(log, written).transactions()
    assert [tuple(transaction) for transaction in transactions.aborted] == ABORTED
    assert transactions.open == {9: 20} and transactions.last_stable_offset == 20


def test_read_committed_returns_only_committed_records(log, written):
    assert committed(log, written) == COMMITTED
    written.write_indexes()
    assert committed(log, written) == COMMITTED


def test_read_uncommitted_returns_all_records_and_markers(log, written):
    batches = list(partition_of(log, written).batches())
    assert [r.offset for b in batches for r in b.records] == list(range(24))
    kinds = [control.type_name for b in batches for control in b.control_records]
    assert kinds == ["ABORT", "COMMIT", "COMMIT", "ABORT", "COMMIT"]


def test_hidden_batches_are_returned_without_records(log, written):
    batches = partition_of(log, written).batches(isolation_level="read_committed")
    assert [b.base_offset for b in batches] == [0, 2, *range(4, 11), 13, 14, 15, 17, 18]


def test_columns_and_batches_hide_the_same_records(log, written):
    partition = partition_of(log, written)
    tables = list(partition.columns(isolation_level="read_committed"))
    assert [n for table in tables for n in table.offset.tolist()] == COMMITTED
    offsets = [n for table in partition.columns() for n in table.offset.tolist()]
    markers = {6, 8, 9, 14, 17}
    assert offsets == [n for n in range(24) if n not in markers]


@pytest.mark.parametrize(("start", "end"), [(5, 16), (11, 30), (0, 4), (7, 8)])
def test_offset_range_uses_the_transactions_of_the_partition(log, written, start, end):
    expected = [n for n in COMMITTED if start <= n < end]
    assert committed(log, written, start_offset=start, end_offset=end) == expected


def test_segment_alone_only_knows_its_own_transactions(log, written):
    """A single segment does not know transactions that began in earlier segments.

    Pass the transactions of the partition to omit the aborted records.
    """
    batches = log.Segment(written.first).batches(isolation_level="read_committed")
    assert [r.offset for b in batches for r in b.records] == [2, 3, 4, 7]
    transactions = partition_of(log, written).transactions()
    batches = log.Segment(written.second).batches(
        isolation_level="read_committed", transactions=transactions
    )
    assert [r.offset for b in batches for r in b.records] == [13, 15, 16, 18, 19]


def test_transaction_index_replaces_a_lost_marker(log, written):
    flip(written.first, written.first_spans[4][0] + 16, 0x10)
    written.write_indexes()
    assert committed(log, written, on_corrupt="skip") == COMMITTED


def test_markers_replace_a_damaged_transaction_index(log, written):
    written.write_indexes()
    for path in written.folder.path.glob("*.txnindex"):
        path.write_bytes(b"\0\5" + path.read_bytes()[2:20])
    assert committed(log, written) == COMMITTED


def test_markers_without_data_abort_nothing(log, tmp_path):
    folder = Folder(tmp_path / "orders-0")
    contents = [
        batch(0, 2),
        batch(2, control=ABORT, producer=5),
        batch(3, 2, producer=5),
    ]
    folder.segment(0, [*contents, batch(5, control=COMMIT, producer=5)])
    partition = log.LogDirectory(tmp_path)["orders", 0]
    assert partition.transactions().aborted == ()
    batches = partition.batches(isolation_level="read_committed")
    assert [r.offset for b in batches for r in b.records] == [0, 1, 3, 4]


def test_an_unknown_isolation_level_is_refused(log, written):
    for form in ("batches", "columns"):
        reader = getattr(partition_of(log, written), form)
        with pytest.raises(ValueError, match="isolation_level"):
            list(reader(isolation_level="committed"))
