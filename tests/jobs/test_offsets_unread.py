# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The lag of a partition without a commit is unknown, and never 0."""

from pathlib import Path

from tests.jobs.made_groups import (
    MINUTE,
    START,
    TOPIC_ID_TEXT,
    Groups,
    Topic,
    consumer_records,
)
from tests.jobs.offsets_tables import read_rows, read_tuples


def unread(root, partitions=2):
    """Write a topic with ``partitions`` partitions, and a group.

    The group has only committed an offset for partition 0.

    Every partition gets 100 records per minute for 200 minutes.
    """
    topics = {}
    for number in range(partitions):
        topic = topics["t", number] = Topic(root, "t", number)
        for minute in range(200):
            topic.produce(100, START + minute * MINUTE)
        topic.write()
    groups = Groups(root, 0, topics)
    for minute in range(200):
        timestamp = START + minute * MINUTE + 1
        groups.commit("g", "t", 0, 100 * (minute + 1), timestamp)
    return groups


def test_an_assigned_partition_without_a_commit_has_no_known_lag(offsets, tmp_path):
    """20,000 unread records must not be drawn as 0, whatever other partitions show.

    The command kafka-consumer-groups --describe prints "-" in this case.
    """
    groups = unread(tmp_path)
    groups.classic("g", 1, {"m": {"t": [0, 1]}}, START + 100 * MINUTE)
    groups.commit("g", "t", 0, 20_000, START + 200 * MINUTE)
    groups.write()
    result = offsets(tmp_path)
    (group,) = read_rows(result, "groups")
    assert (group["lag"], group["known_lag"]) == (None, 0)
    assert (group["partitions"], group["unknown_lags"], group["stuck"]) == (2, 1, 0)
    assert read_tuples(
        result, "partitions", "partition", "committed", "log_end", "lag", "is_assigned"
    ) == [(0, 20_000, 20_000, 0, True), (1, None, 20_000, None, True)]
    over_time = read_rows(result, "lag_over_time")
    before = [row for row in over_time if row["timestamp"] < START + 100 * MINUTE]
    after = over_time[len(before) :]
    assert {(row["lag"], row["unknown_lags"]) for row in before} == {(0, 0)}
    expected = {(None, 1, 0, 0)}
    columns = "lag", "unknown_lags", "known_lag", "missing_logs"
    assert {tuple(row[name] for name in columns) for row in after} == expected
    page = Path(result.report).read_text("utf-8")
    assert "1 partition assigned without a commit" in page
    assert "1 partition unknown" in page and "None stuck" in page


def test_a_partition_is_unknown_while_it_is_assigned_and_uncommitted(offsets, tmp_path):
    """A partition's lag is unknown while it is assigned and has no commit.

    This is the time from the assignment to the first commit, and after a tombstone.
    """
    groups = unread(tmp_path, 3)
    timestamp = START + 200 * MINUTE
    groups.classic("g", 1, {"m": {"t": [0, 1], "unseen": [4]}}, timestamp)
    groups.commit("g", "t", 1, 19_000, timestamp + 20 * MINUTE)
    groups.commit("g", "t", 1, None, timestamp + 40 * MINUTE)
    groups.classic("g", 2, {"m": {"t": [0]}}, timestamp + 60 * MINUTE)
    groups.commit("g", "t", 0, 20_000, timestamp + 80 * MINUTE)
    groups.write()
    result = offsets(tmp_path)
    rows = [row for row in read_rows(result, "lag_over_time") if row["topic"] == "t"]
    lags_by_minute = {}
    for row in rows:
        minutes = (row["timestamp"] - START) // MINUTE
        if minutes >= 180:
            lags_by_minute.setdefault((minutes - 1) // 20 * 20, set()).add(row["lag"])
    assert lags_by_minute == {180: {0}, 200: {None}, 220: {1000}, 240: {None}, 260: {0}}
    other_rows = [
        row for row in read_rows(result, "lag_over_time") if row["topic"] != "t"
    ]
    assert {(row["unknown_lags"], row["missing_logs"]) for row in other_rows} == {
        (1, 1)
    }
    (group,) = read_rows(result, "groups")
    assert (group["lag"], group["unknown_lags"]) == (0, 0)


def test_a_group_that_never_committed_has_a_row(offsets, tmp_path):
    """A group that never committed has a row with log end offsets, but no lag."""
    groups = unread(tmp_path)
    groups.write_records(
        consumer_records("new", 1, {"m": (1, [0, 1])}, joined=["m"], assigned=1),
        START + 200 * MINUTE,
    )
    groups.write()
    (tmp_path / "t-0" / "partition.metadata").write_text(
        f"version: 0\ntopic_id: {TOPIC_ID_TEXT}\n"
    )
    result = offsets(tmp_path)
    rows = {row["group"]: row for row in read_rows(result, "groups")}
    new = rows["new"]
    assert (new["lag"], new["known_lag"], new["unknown_lags"]) == (None, None, 2)
    partition_rows = read_tuples(
        result, "partitions", "group", "partition", "log_end", "lag"
    )
    assert partition_rows == [
        ("g", 0, 20_000, 0),
        ("new", 0, 20_000, None),
        ("new", 1, 20_000, None),
    ]
