# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Column functions in a Spark session: columns, options and errors.

The values of the columns are tested without Spark. These tests cover types, options and
names in Python and SQL.
"""

import json

import pytest

import kwire
from kwire import messages
from kwire.messages import framing
from kwire.messages.columns import internal_topics as internal_topic_columns
from kwire.spark import functions as ks
from kwire.spark.result_schemas import parse_type
from tests.spark.test_functions_pairs import Capture, pairs_of
from tests.spark.test_functions_topics import TOPICS, columns, records

HEARTBEAT = messages.HeartbeatRequest


def skip_before_4_1(name):
    """Skip a test of functions on Arrow arrays before PySpark 4.1."""
    from pyspark.sql import functions

    if not hasattr(functions, "arrow_udf"):
        pytest.skip(f"{name} requires PySpark 4.1")


@pytest.fixture(scope="module")
def requests(spark):
    """Return a data frame with frames of Metadata requests.

    The requests have three versions, and some rows are null or invalid.
    """
    make = messages.MetadataRequest
    rows = [
        (
            version,
            framing.encode_request(
                make(topics=[make.MetadataRequestTopic(name="orders")]),
                version,
                correlation_id=version,
                client_id="me",
            )[4:],
        )
        for version in (1, 9, 12)
    ]
    rows += [(50, None), (51, b""), (52, b"\0\3\0\x09"), (53, rows[1][1][:-1])]
    frame = framing.encode_request(messages.FetchRequest(), 4)[4:]
    rows.append((54, frame))
    return spark.createDataFrame(rows, "id int, frame binary").coalesce(1).cache()


def test_schemas_of_all_messages_are_schemas_to_spark(spark):
    """Spark parses the type texts of all messages to the same types."""
    for name in messages.ALL:
        text = ks.schema_of_kafka_message(name)
        assert parse_type(text).simpleString() == text.replace("`", "")
    bare = ks.schema_of_kafka_message("Heartbeat", options={"mode": "FAILFAST"})
    assert f"{bare[:-1]},`_error`:string>" == ks.schema_of_kafka_message(HEARTBEAT)


def test_fields_that_a_version_lacks_are_null(requests):
    """Fields that a version lacks are null, and so are all fields of an invalid row."""
    decoded = requests.select(
        "id", ks.from_kafka_message("frame", "Metadata").alias("m")
    )
    assert decoded.schema["m"].dataType.simpleString() == ks.schema_of_kafka_message(
        "Metadata"
    ).replace("`", "")
    rows = {row.id: row.m for row in decoded.collect()}
    assert [rows[version].topics[0].name for version in (1, 9, 12)] == ["orders"] * 3
    assert [rows[version].topics[0].topic_id for version in (1, 9, 12)] == [
        None,
        None,
        "A" * 22,
    ]
    assert rows[1].allow_auto_topic_creation is None
    assert rows[9].allow_auto_topic_creation is True
    assert rows[50] is None
    assert rows[1]._error is None and rows[51].topics is None
    assert "input ends here" in rows[53]._error and "API key 1" in rows[54]._error


def test_failfast_ends_the_job_with_the_error(requests):
    """In FAILFAST mode, Spark's exception contains kwire's error class and text."""
    from pyspark.errors import PythonException

    column = ks.from_kafka_message("frame", "Metadata", options={"mode": "FAILFAST"})
    with pytest.raises(PythonException, match="Truncated: RequestHeader v0"):
        requests.select(column).collect()
    good = requests.where("id < 50").select(column.alias("m"))
    assert "_error" not in good.schema["m"].dataType.names and good.count() == 3


def test_frames_and_messages_convert_in_both_directions(requests):
    """Encoding a decoded frame returns the same frame.

    Encoding it in another version returns an equal message.
    """
    skip_before_4_1("to_kafka_message")
    decoded = requests.where("id < 50").select(
        "*",
        ks.from_kafka_message("frame", "Metadata").alias("m"),
        ks.kafka_header("frame").alias("h"),
    )
    same = ks.to_kafka_message(
        "m", "Metadata", "request", "h.api_version", {"mode": "FAILFAST"}, header="h"
    )
    newer = ks.to_kafka_message("m", "Metadata", "request", 13, {"framed": "false"})
    rows = decoded.select("frame", same.alias("s"), newer.alias("n")).collect()
    for row in rows:
        assert row.s == row.frame and row.n._error is None
        read = kwire.decode(messages.MetadataRequest, row.n.data, 13)
        assert read.topics[0].name == "orders"


def test_mixed_streams_become_json(requests):
    """Frames of several APIs in one column are converted to JSON.

    API, kind and version come from other columns or from the frames.
    """
    from pyspark.sql import functions as F

    options = {"as": "json", "mode": "permissive"}
    own_column = ks.from_kafka_message("frame", None, options=options)
    specified = ks.from_kafka_message(
        "frame",
        F.when(F.col("id") == 54, "Fetch").otherwise("Metadata"),
        F.lit("request"),
        F.lit(None).cast("int"),
        options,
    )
    for row in requests.select(
        own_column.alias("own"), specified.alias("given")
    ).collect():
        assert row.own == row.given
        assert row.own is None or (row.own.json is None) is bool(row.own._error)
    last = requests.where("id = 54").select(own_column.json).first()[0]
    assert json.loads(last)["maxWaitMs"] == 0


def test_wrong_arguments_are_rejected_before_a_job(requests):
    """Wrong arguments raise an error with a solution before a job starts."""
    renamed = requests.withColumnRenamed("id", "API")
    for call, words in (
        (lambda: ks.from_kafka_message("frame", "MetaData"), "did you mean Metadata"),
        (lambda: ks.from_kafka_message("frame", 999), "API key 999"),
        (lambda: ks.from_kafka_message("frame", "Fetch", "answer"), "kind must be"),
        (lambda: ks.from_kafka_message("frame", "Fetch", "response"), "pair_requests"),
        (lambda: ks.from_kafka_message("frame", None), "pass api and kind"),
        (lambda: ks.kafka_header("frame", {"made": "x"}), "no option 'made'"),
        (
            lambda: ks.kafka_header("frame", {"mode": "x"}),
            "mode must be one of PERMISSIVE",
        ),
        (lambda: ks.pair_requests(requests), "no column recording"),
        (lambda: ks.read_headers(renamed, "frame", ["API"]), "appear twice"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_lists_and_rows_contain_the_same_records(spark):
    """The array form and the row form contain the same records.

    Their types equal those of Spark's own Kafka source.
    """
    from pyspark.sql import functions as F

    data = kwire.records.encode_batch(
        [(b"k", b"v", 1_700_000_000_123, [("h", b"x")]), (None, None, 5)]
    )
    rows = spark.createDataFrame(
        [(1, data), (2, None), (3, data + data[:-1] + b"\xff")], "id int, data binary"
    )
    lists = rows.select("id", F.explode(ks.from_kafka_records("data")))
    exploded = lists.select("id", "col.*").orderBy("id", "offset").collect()
    direct = ks.read_records(rows, "data", ["id"]).orderBy("id", "offset").collect()
    assert exploded == direct and len(exploded) == 5
    assert [row.id for row in exploded if row._error] == [3]
    assert lists.selectExpr("col.*").schema.simpleString() == (
        "struct<offset:bigint,timestamp:timestamp,timestampType:int,key:binary,"
        "value:binary,headers:array<struct<key:string,value:binary>>,_error:string>"
    )
    good = ks.read_records(rows.where("id < 3"), "data", ["data"], {"mode": "FAILFAST"})
    assert [row.data for row in good.collect()] == [data] * 2


def test_a_schema_is_the_type_of_the_result(spark, requests):
    """The result has exactly the type of the schema.

    The schema is a Spark type or a string, for arrays, rows and messages.
    """
    from pyspark.sql import types

    data = kwire.records.encode_batch([(b"k", b"v", 1_700_000_000_123), (b"k", None)])
    rows = spark.createDataFrame([(1, data)], "id int, data binary")
    record = types.StructType()
    record.add("timestamp", "long", nullable=False).add("KEY", "binary")
    expected = [(1_700_000_000_123, b"k"), (-1, b"k")]
    array = types.ArrayType(record, containsNull=False)
    text = "timestamp bigint NOT NULL, KEY binary"
    for schema, kind in (
        (array, array),
        (record, types.ArrayType(record)),
        (f"array<struct<{text}>>", types.ArrayType(record)),
        (text, types.ArrayType(record)),
    ):
        results = rows.select(ks.from_kafka_records("data", schema=schema).alias("r"))
        assert results.schema["r"].dataType == kind
        assert results.first().r == expected
        exploded = ks.read_records(rows, "data", ["id"], schema=schema)
        assert exploded.schema.simpleString() == (
            "struct<id:int,timestamp:bigint,KEY:binary>"
        )
        assert sorted(row[1:] for row in exploded.collect()) == sorted(expected)

    text = "topics array<struct<name:string>>, allowAutoTopicCreation boolean"
    column = ks.from_kafka_message("frame", "Metadata", schema=text)
    results = requests.select("id", column.alias("m"))
    assert results.schema["m"].dataType.fieldNames() == [
        "topics",
        "allowAutoTopicCreation",
    ]
    messages_by_id = {row.id: row.m for row in results.collect()}
    assert [messages_by_id[version] for version in (1, 9)] == [
        ([("orders",)], None),
        ([("orders",)], True),
    ]
    assert [messages_by_id[number] for number in (50, 51, 52, 53, 54)] == [None] * 5


def test_wrong_schemas_are_rejected_before_a_job(requests):
    """A wrong schema raises an error before a job starts.

    Types that Arrow does not support are included.
    """
    for call, words in (
        (lambda: ks.from_kafka_records("frame", schema="int"), "must be a struct"),
        (lambda: ks.from_kafka_records("frame", schema=int), "must be a struct"),
        (lambda: ks.from_kafka_records("frame", schema="kee binary"), "mean 'key'"),
        (lambda: ks.read_records(requests, "frame", schema="key int"), "key cannot be"),
        (
            lambda: ks.from_kafka_records("frame", schema="headers map<string,binary>"),
            "headers cannot be map<string, binary>; use array<struct<",
        ),
        (
            lambda: ks.from_kafka_message("frame", "Metadata", schema="topics string"),
            "topics cannot be string; use array<struct<",
        ),
        (
            lambda: ks.from_kafka_message(
                "frame", "Metadata", options={"as": "json"}, schema="topics string"
            ),
            "the result is JSON text",
        ),
    ):
        with pytest.raises(ValueError, match=words):
            call()


@pytest.mark.parametrize("topic", TOPICS)
def test_internal_topics_become_structs_or_json(spark, topic):
    """Records of internal topics are converted to structs or to JSON."""
    pairs = [row[:2] for row in records()[topic]]
    rows = spark.createDataFrame(pairs, "key binary, value binary").coalesce(1)
    function = getattr(ks, f"from_{topic.removeprefix('__')}")
    read = rows.select(
        function("key", "value").alias("r"),
        function("key", "value", {"as": "json"}).alias("j"),
    ).collect()
    expected = internal_topic_columns.read_topic(topic, *columns(pairs)).to_pylist()
    assert [row.r.asDict(recursive=True) for row in read] == expected
    assert [row.j.record for row in read] == [line["record"] for line in expected]
    assert all(row.j._error is None for row in read)


def test_only_chosen_record_types_are_in_the_struct(spark):
    """If the option selects record types, the struct contains only these types."""
    pairs = [row[:2] for row in records()["__consumer_offsets"]]
    rows = spark.createDataFrame(pairs, "key binary, value binary")
    options = {"records": "OffsetCommit, GroupMetadata", "mode": "FAILFAST"}
    results = rows.select(ks.from_consumer_offsets("key", "value", options).alias("r"))
    names = ["record", "version", "key", "offset_commit", "group_metadata"]
    assert sorted(results.schema["r"].dataType.names) == sorted(names)
    assert results.where("r.offset_commit IS NOT NULL").count() == sum(
        row[2] == "OffsetCommitValue" for row in records()["__consumer_offsets"]
    )


def test_pair_requests_pairs_rows_in_spark(spark):
    """``pair_requests`` pairs the same rows for any order of rows and partitions."""
    capture = Capture(kwire)
    waiting = []
    for turn in range(40):
        waiting.append((turn % 3, capture.ask(turn % 3, 0), 0))
        if turn % 4:
            capture.answer(*waiting.pop(0))
    schema = (
        "recording string, connection bigint, sequence bigint, direction string,"
        " timestamp timestamp, client_address string, broker_address string,"
        " api_key int, api_version int, correlation_id int, client_id string,"
        " size int, frame binary"
    )
    rows = spark.createDataFrame(capture.rows[::-1], schema).repartition(3)
    paired = ks.pair_requests(rows)
    column = ks.from_kafka_message("response", "Heartbeat", "response", "api_version")
    paired_rows = [row.asDict() for row in paired.withColumn("r", column).collect()]
    assert (
        sum(row["r"] is not None and row["r"]._error is None for row in paired_rows)
        == 30
    )
    pairs = {row["request_sequence"]: row["response_sequence"] for row in paired_rows}
    assert pairs == {
        number: response_number
        for (_, number), response_number in capture.pairs.items()
    }
    assert {number for _, number in pairs_of(kwire, capture)[1]} == pairs.keys()


def test_functions_have_the_same_names_in_sql(spark, requests):
    """The functions have the same names and default options in SQL."""
    skip_before_4_1("SQL")
    ks.register_functions(spark)
    requests.createOrReplaceTempView("requests")
    rows = spark.sql(
        "SELECT kafka_header(frame).api AS api,"
        " from_kafka_message(frame, 'Metadata', 'request', NULL).json AS body"
        " FROM requests WHERE id < 50"
    ).collect()
    assert {row.api for row in rows} == {"Metadata"}
    assert {json.loads(row.body)["topics"][0]["name"] for row in rows} == {"orders"}
    names = ["from_kafka_records(frame)"]
    names += [f"from_{topic.removeprefix('__')}(frame, frame)" for topic in TOPICS]
    row = spark.sql(f"SELECT {', '.join(names)} FROM requests WHERE id = 50").first()
    assert list(row) == [None] * 6


def test_flat_header_columns_equal_the_header_struct(requests):
    """The flat header columns equal the fields of the struct of ``kafka_header``.

    They follow the columns that are kept.
    """
    flat = ks.read_headers(requests, "frame", ["id"])
    structs = requests.select("id", ks.kafka_header("frame").alias("h"))
    assert flat.columns == ["id", *structs.schema["h"].dataType.names]
    headers_by_id = {row.id: row.h for row in structs.collect()}
    for row in flat.collect():
        expected = headers_by_id[row.id]
        assert tuple(row)[1:] == (tuple(expected) if expected else (None,) * 6)
