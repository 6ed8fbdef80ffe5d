# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-log`` in a Spark session: plans, tasks and errors.

``test_log_reading.py`` and ``test_log_reading_damage.py`` cover plans and rows without
Spark.
"""

import json
from pathlib import Path

import pytest
from pyspark.sql.functions import expr, lit

from tests.log.log_files import Folder, flip, log_of

DATA = Path(__file__).resolve().parents[1] / "data" / "4.3.1" / "data"
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


@pytest.fixture
def orders(tmp_path):
    """Write two segments of ten batches with three records each."""
    folder = Folder(tmp_path / "logs" / "orders-0")
    folder.first, folder.spans = folder.segment(0, log_of([3] * 10, 0))
    folder.second, _ = folder.segment(30, log_of([3] * 10, 30))
    folder.root = str(tmp_path / "logs")
    return folder


def test_the_format_needs_no_registration(spark):
    """Spark finds the format without registration, in Python and in SQL."""
    count = spark.read.format("kafka-log").load(str(DATA)).count()
    assert count > 1000
    spark.sql(f"CREATE TEMPORARY VIEW logs USING `kafka-log` OPTIONS (path '{DATA}')")
    assert spark.sql("SELECT count(*) FROM logs").first()[0] == count
    spark.sql("DROP VIEW logs")


def test_the_schema_is_sparks_own(spark):
    """The schema equals that of Spark's source ``kafka``.

    Names, types and order are compared.
    """
    reader = spark.read.format("kafka-log").option("includeHeaders", "true")
    assert reader.load(str(DATA)).schema.simpleString() == (
        "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,"
        "timestamp:timestamp,timestampType:int,"
        "headers:array<struct<key:string,value:binary>>>"
    )


def test_every_view_and_every_column_reaches_the_engine(spark):
    """All views and columns have exactly the types that Spark expects."""
    for view in ("records", "batches", "problems", "index"):
        frame = (
            spark.read.format("kafka-log")
            .option("view", view)
            .option("includeHeaders", "true")
            .option("includeBatchColumns", "true")
            .option("includeFilePath", "true")
            .option("columnNameOfCorruptRecord", "bad")
            .load(str(DATA))
        )
        assert (len(frame.collect()) > 0) is (view != "problems")


def test_a_schema_is_a_projection(spark, orders):
    chosen = "offset bigint, file_path string"
    frame = spark.read.format("kafka-log").schema(chosen).load(orders.root)
    rows = frame.orderBy("offset").collect()
    assert [row.offset for row in rows] == list(range(60))
    assert rows[0].file_path == str(orders.first)


def test_several_folders_are_read_at_once(spark, orders, tmp_path):
    Folder(tmp_path / "more" / "bills-0").segment(0, log_of([4]))
    frame = spark.read.format("kafka-log").load([orders.root, str(tmp_path / "more")])
    counts = {
        row.topic: row["count"] for row in frame.groupBy("topic").count().collect()
    }
    assert counts == {"orders": 60, "bills": 4}


FILTERS = [
    "offset >= 45",
    "offset < 7",
    "offset = 31",
    "partition = 0 AND topic = 'orders'",
    "topic IN ('bills', 'x')",
    "topic = 'nothing'",
    "timestamp >= timestamp '2023-11-14 22:13:20.040'",
    "timestamp < timestamp '2023-11-14 22:13:20.010'",
    "timestamp = timestamp '2023-11-14 22:13:20.010' OR offset = 3",
    "offset > 20 AND timestamp <= timestamp '2023-11-14 22:13:20.025'",
    "key IS NULL",
    "topic LIKE 'ord%' AND offset BETWEEN 5 AND 8",
]


def test_filters_give_the_same_rows_pushed_down_or_not(spark, orders):
    """Filters return the same rows whether Spark pushes them down or not.

    The setting of Spark is tested with both values, and with a filter in Spark itself.
    """
    Folder(orders.path.parent / "bills-0").segment(0, log_of([4]))
    reader = spark.read.format("kafka-log").option("pushDownFilters", "true")
    everything = reader.load(orders.root).select("*", lit(1)).collect()
    assert len(everything) == 64
    plain = spark.createDataFrame(everything)
    holds = [expr(condition).alias(condition) for condition in FILTERS]
    rows = plain.select("topic", "offset", *holds).collect()
    for setting, conditions in (("false", FILTERS[::4]), ("true", FILTERS)):
        spark.conf.set(PUSHDOWN, setting)
        try:
            for condition in conditions:
                names_read = names(reader.load(orders.root).where(condition).collect())
                expected = names(row for row in rows if row[condition])
                assert names_read == expected, (setting, condition)
        finally:
            spark.conf.unset(PUSHDOWN)


def names(rows):
    """Return (topic, offset) of the rows."""
    return sorted((row.topic, row.offset) for row in rows)


def test_a_pushed_filter_spares_files(spark, orders):
    """A filter that excludes a segment prevents reading it.

    The first segment is damaged, and no damage is reported.
    """
    flip(orders.first, orders.spans[3][0] + 80)
    reader = spark.read.format("kafka-log").option("pushDownFilters", "true")
    spark.conf.set(PUSHDOWN, "true")
    try:
        assert reader.load(orders.root).where("offset >= 45").count() == 15
    finally:
        spark.conf.unset(PUSHDOWN)
    with pytest.raises(Exception, match="again from 12"):
        reader.load(orders.root).where("offset >= 45").count()


def test_queries_of_one_frame_do_not_disturb_each_other(spark, orders):
    """Several queries on one data frame do not share their filters.

    Spark has one read plan for a data frame, but filters belong to a query.
    """
    spark.conf.set(PUSHDOWN, "true")
    try:
        frame = spark.read.format("kafka-log").load(orders.root)
        first, last = frame.where("offset < 5"), frame.where("offset >= 55")
        assert first.union(last).count() == 10
        assert first.union(frame).count() == 65
        assert (first.count(), frame.count(), last.count()) == (5, 60, 5)
    finally:
        spark.conf.unset(PUSHDOWN)


def test_failfast_error_text_is_complete(spark, orders):
    """In FAILFAST mode, the error text contains all information.

    Spark discards all other attributes of the exception.
    """
    flip(orders.first, orders.spans[3][0] + 80)
    with pytest.raises(Exception, match="CorruptBatch") as caught:
        spark.read.format("kafka-log").load(orders.root).count()
    message = str(caught.value)
    for words in (
        str(orders.first),
        f"byte {orders.spans[3][0]}",
        "good up to offset 8, again from 12",
        "mode=PERMISSIVE returns a row",
    ):
        assert words in message


def test_permissive_rows_and_the_problems_view_agree(spark, orders):
    flip(orders.first, orders.spans[3][0] + 80)
    reader = spark.read.format("kafka-log")
    corrupt = (
        reader.option("mode", "PERMISSIVE")
        .option("columnNameOfCorruptRecord", "bad")
        .load(orders.root)
        .where("bad IS NOT NULL")
        .select(
            "topic", "partition", "bad.path", "bad.position", "bad.length", "bad.reason"
        )
        .collect()
    )
    problems = (
        spark.read.format("kafka-log").option("view", "problems").load(orders.root)
    )
    (row,) = problems.collect()
    names = ("topic", "partition", "path", "position", "length", "reason")
    assert [tuple(problem) for problem in corrupt] == [
        tuple(row[name] for name in names)
    ]
    assert (row.last_good_offset, row.next_good_offset) == (8, 12)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"moode": "FAILFAST"}, "no option 'moode': did you mean mode?"),
        ({"startingOffsets": "latest"}, "startingOffsets of a batch cannot be -1"),
        ({"subscribe": "bills"}, "no bills under"),
    ],
)
def test_wrong_options_are_rejected_when_the_query_is_planned(
    spark, orders, settings, text
):
    with pytest.raises(Exception, match=r"kafka-log|Offsets|no bills") as caught:
        spark.read.format("kafka-log").options(**settings).load(orders.root).count()
    assert text in str(caught.value)


def test_missing_path_is_named_in_the_error(spark, tmp_path):
    with pytest.raises(Exception, match="no such directory") as caught:
        spark.read.format("kafka-log").load(str(tmp_path / "nowhere")).count()
    assert "nowhere" in str(caught.value)


@pytest.mark.parametrize("view", ["records", "batches", "problems", "index"])
def test_a_path_without_any_log_is_refused(spark, orders, tmp_path, view):
    """A path without any log raises an error.

    Otherwise, a wrong path would look like an empty topic.
    """
    (tmp_path / "empty").mkdir()
    reader = spark.read.format("kafka-log").option("view", view)
    for paths in ([str(tmp_path / "empty")], [orders.root, str(tmp_path / "empty")]):
        with pytest.raises(Exception, match=r"no partition in .*empty: give a data"):
            reader.load(paths).count()


def test_aborted_records_are_omitted_as_by_sparks_own_source(spark):
    """``kafka.isolation.level`` omits aborted records, as in Spark's own source."""
    reader = spark.read.format("kafka-log").option("subscribePattern", "transactions")
    everything = reader.load(str(DATA)).count()
    ours = reader.option("isolationLevel", "read_committed").load(str(DATA)).count()
    reader = spark.read.format("kafka-log").option("subscribePattern", "transactions")
    kafkas = reader.option("kafka.isolation.level", "read_committed").load(str(DATA))
    assert kafkas.count() == ours < everything


def test_rows_reach_parquet_and_back(spark, orders, tmp_path):
    """Rows of a log can be written to Parquet and read again."""
    reader = spark.read.format("kafka-log").option("includeHeaders", "true")
    frame = reader.load(orders.root)
    frame.write.parquet(str(tmp_path / "out"))
    read_back = spark.read.parquet(str(tmp_path / "out"))
    assert read_back.exceptAll(frame).count() == 0 and read_back.count() == 60


def test_register_adds_names_for_sql_and_push_down(spark, orders):
    """``register`` adds names that SQL accepts without quotes, and enables push-down.

    Calling it twice has no effect.
    """
    import kwire.spark as ks

    try:
        ks.register(spark)
        ks.register(spark)
        assert spark.conf.get(PUSHDOWN) == "true"
        assert spark.read.format("kafka_log").load(orders.root).count() == 60
    finally:
        spark.conf.unset(PUSHDOWN)


def test_offsets_by_partition_are_read_as_json(spark, orders):
    bounds = {
        "startingOffsets": json.dumps({"orders": {"0": 5}}),
        "endingOffsets": json.dumps({"orders": {"0": 8}}),
    }
    frame = spark.read.format("kafka-log").options(**bounds).load(orders.root)
    assert sorted(row.offset for row in frame.collect()) == [5, 6, 7]
