# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Errors in Spark show kwire's sentence first, without a traceback.

The tests find all functions of kwire that Spark calls, so that new ones must have short
errors as well.
"""

import ast
import importlib
import inspect
import json
import pickle
import pkgutil
import re
import shutil
import sys
import types
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)

import kwire.spark
from kwire import CorruptBatch
from kwire.spark import functions, short_errors
from kwire.spark.short_errors import SparkEntry, shorten_errors
from kwire.spark.topics.stream_reader import RefusedStreamReader, TopicStreamReader

DATA = Path(__file__).resolve().parents[1] / "data" / "4.3.1" / "data"
SOURCES = Path(kwire.spark.__file__).parent
SPARKS = (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceWriter,
    DataSourceStreamWriter,
)
TO_SPARK = {"mapInArrow", "mapInPandas", "applyInArrow", "arrow_udf", "pandas_udf"}


def subclasses(kind):
    for subclass in kind.__subclasses__():
        yield subclass
        yield from subclasses(subclass)


def our_classes():
    for module in pkgutil.walk_packages([str(SOURCES)], "kwire.spark."):
        importlib.import_module(module.name)
    all_classes = {subclass for kind in SPARKS for subclass in subclasses(kind)}
    return [
        subclass for subclass in all_classes if subclass.__module__.startswith("kwire.")
    ]


def test_every_method_that_spark_calls_has_short_errors():
    """Every public method of a source or reader uses the wrapper for short errors."""
    classes = our_classes()
    assert len(classes) >= 9
    method_names = set()
    for entry in classes:
        assert issubclass(entry, SparkEntry), entry
        for name, method in vars(entry).items():
            if not name.startswith("_") and isinstance(method, types.FunctionType):
                assert hasattr(method, "__wrapped__"), f"{entry.__name__}.{name}"
                method_names.add(name)
    assert method_names >= {"schema", "reader", "streamReader", "partitions", "read"}
    assert method_names >= {"initialOffset", "latestOffset", "pushFilters"}


def test_every_function_given_to_spark_has_short_errors():
    """Every function for ``mapInArrow`` and similar methods is wrapped."""
    call_count = 0
    for path in SOURCES.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            name = isinstance(node, ast.Call) and (
                getattr(node.func, "attr", "") or getattr(node.func, "id", "")
            )
            if name in TO_SPARK:
                call_count += 1
                argument = ast.unparse(node.args[0])
                assert argument.startswith("shorten_errors("), (
                    f"{path.name}: {argument}"
                )
    assert call_count >= 3


def kwires_own(body):
    """Return a function that seems to belong to a module of kwire.

    The wrapper only shortens the errors of such functions.
    """
    names = {"__name__": "kwire.spark.log.options", "json": json}
    exec(f"def own():\n    {body}", names)
    return names["own"]


refuse = kwires_own("raise ValueError('no such option')")


def frames_of(call):
    try:
        call()
    except Exception as error:
        frames, traceback = [], error.__traceback__
        while traceback is not None:
            frames.append(traceback.tb_frame.f_code.co_name)
            traceback = traceback.tb_next
        return frames, error
    raise AssertionError("nothing was raised")


def in_three_frames(kind):
    def middle():
        def inner():
            try:
                {}["cause"]
            except KeyError:
                raise kind from None

        inner()

    return middle


@pytest.mark.parametrize(
    "error",
    [CorruptBatch("bad", 3), FileNotFoundError(2, "No such file", "/data")],
    ids=["of kwire", "of the system"],
)
def test_expected_errors_have_no_frames_of_kwire(error):
    """A documented error has no traceback frames of kwire except that of the wrapper.

    This also applies if an iterator raises the error later.
    """
    frames, raised = frames_of(shorten_errors(in_three_frames(error)))
    assert raised is error
    assert frames[1:] == ["entry"]
    assert raised.__suppress_context__

    def items():
        yield 1
        in_three_frames(error)()

    frames, raised = frames_of(lambda: list(shorten_errors(items)()))
    assert raised is error
    assert frames[2:] == ["_shorten_iterator"]


def test_value_error_raised_by_kwire_is_short():
    """A ValueError that a ``raise`` statement of kwire has raised is short."""
    frames, _ = frames_of(shorten_errors(refuse))
    assert frames[1:] == ["entry"]


def test_a_defect_keeps_all_its_frames():
    """Errors of other classes, and errors that Python raises, keep all their frames.

    They are defects of kwire.
    """
    for code in ("int('x')", "[].index(1)", "{}['x']", "json.loads('x')", "None + 1"):
        frames, _ = frames_of(shorten_errors(kwires_own(code)))
        assert frames[1:3] == ["entry", "own"], code
    frames, _ = frames_of(shorten_errors(in_three_frames(ValueError("of a user"))))
    assert frames[-1] == "inner"


def test_tracebacks_are_hidden_in_workers_alone(monkeypatch):
    """Spark's option to hide tracebacks is only set in worker processes.

    In a process that continues, the setting would remain after the error.
    """
    monkeypatch.delenv("SPARK_HIDE_TRACEBACK", raising=False)
    frames_of(shorten_errors(refuse))
    assert "SPARK_HIDE_TRACEBACK" not in short_errors.os.environ
    main = types.SimpleNamespace(__spec__=types.SimpleNamespace(name="pyspark.daemon"))
    monkeypatch.setitem(sys.modules, "__main__", main)
    frames_of(shorten_errors(in_three_frames(KeyError("defect"))))
    assert "SPARK_HIDE_TRACEBACK" not in short_errors.os.environ
    # Setting the variable with monkeypatch restores it at the end of the test.
    monkeypatch.setenv("SPARK_HIDE_TRACEBACK", "")
    frames_of(shorten_errors(refuse))
    assert short_errors.os.environ["SPARK_HIDE_TRACEBACK"] == "1"


def test_entries_keep_signatures_and_pickle():
    """Wrapped functions keep their signature and can be pickled.

    Spark inspects signatures, and pickles functions.
    """
    signature = inspect.signature(TopicStreamReader.partitions)
    assert list(signature.parameters) == ["self", "start", "end"]
    reader = pickle.loads(pickle.dumps(RefusedStreamReader(ValueError("no"))))
    with pytest.raises(ValueError, match="no"):
        reader.initialOffset()


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """Write a data directory with a changed bit, and files of other types."""
    folder = tmp_path_factory.mktemp("damaged")
    shutil.copytree(DATA / "codec-none-0", folder / "codec-none-0")
    log = min((folder / "codec-none-0").glob("*.log"))
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    (folder / "junk.parquet").write_bytes(b"junk" * 10)
    (folder / "request.log").write_text(
        "[2026-11-20 10:00:00,000] DEBUG Completed request:{broken"
        " (kafka.request.logger)\n"
    )
    return folder


def stream(spark, folder, checkpoint, **options):
    reader = spark.readStream.format("kafka-log").options(**options)
    query = (
        reader.load(str(folder))
        .writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    try:
        query.awaitTermination()
    finally:
        query.stop()


def rows(spark):
    return spark.createDataFrame([(b"abc", 1)], "frame binary, n int")


def select(name, *columns, **options):
    return lambda spark, folder, _: rows(spark).select(
        getattr(functions, name)(*columns, options=options)
    )


def sql(expression):
    def run(spark, folder, _):
        kwire.spark.register(spark)
        return spark.sql(f"SELECT {expression} FROM {{rows}}", rows=rows(spark))

    return run


def load(source, name="", **options):
    return lambda spark, folder, _: (
        spark.read.format(source).options(**options).load(str(folder / name))
    )


SAID = {
    "an unknown option": (
        load("kafka-log", moode="x"),
        "ValueError: kafka-log has no option 'moode'",
    ),
    "an unknown column": (
        lambda spark, folder, _: (
            spark.read.format("kafka-log").schema("nope int").load(str(folder))
        ),
        "ValueError: kafka-log has no column 'nope'",
    ),
    "no such path": (
        load("kafka-log", "nothing"),
        r"FileNotFoundError: .*nothing",
    ),
    "damage": (
        load("kafka-log"),
        r"kwire\.errors\.CorruptBatch: .*byte \d+: crc: .*mode=PERMISSIVE",
    ),
    "an unknown option of captures": (
        load("kafka-capture", moode="x"),
        "ValueError: kafka-capture has no option 'moode'",
    ),
    "no such captures": (
        load("kafka-capture", "nothing"),
        r"FileNotFoundError: .*nothing",
    ),
    "not a capture": (
        load("kafka-capture", "junk.parquet"),
        r"kwire\.recording\.capture_files\.CaptureError: .*junk\.parquet: ",
    ),
    "an unknown mode of request logs": (
        load("kafka-request-log", mode="x"),
        "ValueError: mode must be one of FAILFAST",
    ),
    "no such request logs": (
        load("kafka-request-log", "nothing"),
        r"FileNotFoundError: .*nothing",
    ),
    "a bad line of a request log": (
        load("kafka-request-log", "request.log"),
        r"ValueError: .*request\.log: line 1, byte 0: ",
    ),
    "a bad header": (
        select("kafka_header", "frame", mode="FAILFAST"),
        r"kwire\.errors\.Truncated: RequestHeader v0: ",
    ),
    "a bad message": (
        select("from_kafka_message", "frame", "Fetch", mode="FAILFAST"),
        r"kwire\.errors\.Truncated: RequestHeader v0: ",
    ),
    "a bad record of a topic": (
        select("from_consumer_offsets", "frame", "frame", mode="FAILFAST"),
        r"kwire\.errors\.\w+: ",
    ),
    "a number in place of bytes": (
        select("kafka_header", "n"),
        r"TypeError: Kafka's bytes must be in a column of binary \(got int32\)",
    ),
    "a number in place of record sets": (
        lambda spark, folder, _: functions.read_records(rows(spark), "n"),
        r"TypeError: Kafka's bytes must be in a column of binary \(got int32\)",
    ),
    "a text in place of a version": (
        sql("from_kafka_message(frame, 'Fetch', 'request', 'one')"),
        r"TypeError: versions must be integers \(got a column of string\)",
    ),
    "no argument": (
        sql("kafka_header()"),
        r"TypeError: kafka_header\(frame\) requires 1 argument \(got 0\)",
    ),
    "one argument too many": (
        sql("from_kafka_records(frame, n)"),
        r"TypeError: from_kafka_records\(data\) requires 1 argument \(got 2\)",
    ),
    "two of four arguments": (
        sql("from_kafka_message(frame, 'Fetch')"),
        r"TypeError: from_kafka_message\(data, api, kind, version\) requires 4"
        r" arguments \(got 2\)",
    ),
    "one of two arguments": (
        sql("from_consumer_offsets(frame)"),
        r"TypeError: from_consumer_offsets\(key, value\) requires 2 arguments"
        r" \(got 1\)",
    ),
    "a stream of batches": (
        lambda spark, folder, checkpoint: stream(
            spark, folder, checkpoint, view="batches"
        ),
        "ValueError: view must be records in a stream",
    ),
    "a stream from nowhere": (
        lambda spark, folder, checkpoint: stream(
            spark, folder, checkpoint, startingOffsets='{"nope": {"0": 23}}'
        ),
        "ValueError: startingOffsets names no offset for codec-none-0",
    ),
    "a stream of damage": (
        stream,
        r"kwire\.errors\.CorruptBatch: .*byte \d+: crc: ",
    ),
}


ALIKE = {
    "an unknown option of captures",
    "no such captures",
    "a bad record of a topic",
    "an unknown mode of request logs",
    "no such request logs",
    "a bad message",
    "one argument too many",
    "two of four arguments",
    "one of two arguments",
}
"""Cases whose error reaches Spark in the same way as that of another case.

Only the gate runs them.
"""


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=pytest.mark.gate if case in ALIKE else ())
        for case in SAID
    ],
)
def test_error_starts_with_the_sentence_of_kwire(spark, damaged, tmp_path, case):
    """The error starts with the sentence of kwire.

    It is on the first or second line, after Spark's own description.
    """
    action, sentence = SAID[case]
    with pytest.raises(PySparkException) as caught:
        action(spark, damaged, tmp_path).collect()
    text = str(caught.value)
    assert "Traceback" not in text
    assert 'File "' not in text
    assert re.match(rf"[^\n]*?(:\n|: |\A){sentence}", text), text[:600]


def test_a_defect_has_its_frames_in_spark(spark):
    """A defect keeps its frames in Spark, even after a short error in its worker."""
    header = functions.kafka_header("frame", {"mode": "FAILFAST"})
    with pytest.raises(PySparkException):
        rows(spark).select(header).collect()

    def broken(batches):
        yield from ()
        {}["a defect"]

    with pytest.raises(PySparkException) as caught:
        rows(spark).mapInArrow(shorten_errors(broken), "n int").collect()
    text = str(caught.value)
    assert "Traceback" in text
    assert "in broken" in text
    assert "KeyError: 'a defect'" in text
