# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The Python code of the Spark pages runs block by block."""

import re
import runpy
import sys
from pathlib import Path

import pytest

from examples.drop_in import by_hand
from kwire import client, records
from tests.client.log_broker import LogBroker
from tests.log.log_files import Folder, log_of

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(name):
    return BLOCK.findall((DOCS / name).read_text())


def test_the_block_of_the_readme_runs(spark, tmp_path):
    """The Spark example in README.md runs, and reads the topic "orders"."""
    folder = Folder(tmp_path / "kafka-logs" / "orders-0")
    folder.segment(0, log_of([3] * 10))
    (text,) = [text for text in blocks("../README.md") if "spark.read" in text]
    text = text.replace('"kafka-logs/"', repr(f"{tmp_path}/kafka-logs/"))
    names = {"spark": spark}
    exec(compile(text, "README.md", "exec"), names)
    assert names["orders"].count() == 30


def test_the_udf_of_the_readme_and_its_replacement_return_the_same(spark):
    """The UDF in README.md and ``from_kafka_records`` return equal types and rows."""
    (text,) = [text for text in blocks("../README.md") if "udf(" in text]
    batch = records.encode_batch([(b"a", b"1", 1_700_000_000_000), (b"b", b"2", 5)])
    rows = spark.createDataFrame(
        [(batch,), (None,), (batch + batch,)], "batches binary"
    )

    def decode_by_hand(data):
        """Decode a record set in the same way as the UDF in README.md.

        The result has no headers.
        """
        decoded = by_hand.decode_records(data)
        return decoded and [record[:4] for record in decoded]

    names = {"rows": rows, "decode_by_hand": decode_by_hand}
    exec(compile(text, "README.md", "exec"), names)
    before, after = names["before"], names["after"]
    assert [field.dataType for field in before.schema] == [
        field.dataType for field in after.schema
    ]
    assert [tuple(row) for row in before.collect()] == [
        tuple(row) for row in after.collect()
    ]


def test_the_example_counts_the_records_of_topics(spark, tmp_path, monkeypatch, capsys):
    """``examples/spark_logs.py`` prints one line per topic with its record count."""
    for topic, counts in {"orders": [3] * 10, "refunds": [2, 2]}.items():
        Folder(tmp_path / "kafka-logs" / f"{topic}-0").segment(0, log_of(counts))
    example = DOCS.parent / "examples" / "spark_logs.py"
    monkeypatch.setattr(sys, "argv", ["spark_logs.py", f"{tmp_path}/kafka-logs/"])
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == ["orders 30", "refunds 4"]


@pytest.mark.gate
def test_the_page_about_kafka_log_runs(spark, tmp_path, monkeypatch):
    """All examples on the page about ``kafka-log`` run.

    They only require a topic "orders" in the directory kafka-logs.
    """
    folder = Folder(tmp_path / "kafka-logs" / "orders-0")
    folder.segment(0, log_of([3] * 10))
    monkeypatch.chdir(tmp_path)
    examples = blocks("spark/index.md")
    assert len(examples) >= 6
    names = {"spark": spark}
    for number, text in enumerate(examples):
        # The page has relative paths, but Spark's JVM started in another directory.
        for folder in ("kafka-logs/", "checkpoint/", "orders/"):
            text = text.replace(f'"{folder}"', f'"{tmp_path / folder}"')
        exec(compile(text, f"block {number + 1} of spark/index.md", "exec"), names)
    spark.conf.unset("spark.sql.python.filterPushdown.enabled")
    assert names["records"].count() == 30
    assert names["values"].columns == ["value"]
    assert names["bad"].count() == 0
    assert spark.read.parquet(str(tmp_path / "orders")).count() == 30


@pytest.mark.gate
def test_the_page_about_kafka_live_runs(spark, tmp_path):
    """All examples on the page about ``kafka-live`` run.

    They only require a broker with a topic "orders".
    """
    names = {"spark": spark}
    with LogBroker({"orders": (20, 10)}) as broker:
        for number, text in enumerate(blocks("spark/live.md")):
            text = text.replace('"broker:9092"', repr(broker.address))
            for folder in ("checkpoint/", "orders/"):
                text = text.replace(f'"{folder}"', repr(f"{tmp_path}/{folder}"))
            exec(compile(text, f"block {number + 1} of spark/live.md", "exec"), names)
        assert names["orders"].count() == 30
        assert names["values"].columns == ["value"]
        assert names["values"].count() == 30
    assert spark.read.parquet(f"{tmp_path}/orders/").count() == 30


@pytest.mark.gate
def test_the_page_about_writing_runs(spark, tmp_path):
    """All examples on the page about writing run.

    They only require a broker with two empty topics.
    """
    names = {"spark": spark}
    with LogBroker({"orders": (0,), "loud-orders": (0,)}) as broker:
        for number, text in enumerate(blocks("spark/write.md")):
            text = text.replace('"broker:9092"', repr(broker.address))
            text = text.replace('"checkpoint-loud/"', repr(f"{tmp_path}/checkpoint"))
            exec(compile(text, f"block {number + 1} of spark/write.md", "exec"), names)
        with client.connect_sync(broker.address) as kafka:
            rows = [
                row for chunk in kafka.scan("loud-orders") for row in chunk.records()
            ]
    assert sorted((row.key, row.value) for row in rows) == [
        (b"order-1", b"10 SCREWS"),
        (b"order-2", b"3 NAILS"),
    ]
