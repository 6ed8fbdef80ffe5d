# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The Python of README.md runs, and README.md is short and plain text.

``tests/spark/test_docs_run.py`` runs the block for Spark. A block has no ``>>>``, so
that it can be copied; a comment beside ``print`` shows what it prints.
"""

import re
from pathlib import Path

import pytest

from tests.client.log_broker import LogBroker

README = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
OURS, LIVE, SPARK = range(3)


def test_there_are_three_examples():
    """A message, a topic and Spark: each is known to the test that runs it."""
    assert len(BLOCKS) == 3
    assert "kwire.decode" in BLOCKS[OURS]
    assert "kafka.scan" in BLOCKS[LIVE]
    assert "spark.read" in BLOCKS[SPARK]


def test_the_message_is_printed_as_the_comment_has_it(capsys):
    exec(compile(BLOCKS[OURS], "README.md", "exec"), {})
    (comment,) = re.findall(r"^print\(.*\)\s+# (.+)$", BLOCKS[OURS], re.MULTILINE)
    assert capsys.readouterr().out.strip() == comment


def test_a_topic_is_read_into_polars():
    """From a broker on the loopback interface, which takes the place of "broker"."""
    with LogBroker({"orders": (35, 20)}) as broker:
        text = BLOCKS[LIVE].replace("broker:9092", broker.address)
        assert text != BLOCKS[LIVE]
        names = {}
        exec(compile(text, "README.md", "exec"), names)
    assert names["orders"].height == 55


def test_it_is_short_and_reads_well_as_plain_text():
    """A package index shows it without pictures, perhaps as it is written."""
    lines = README.splitlines()
    assert len(lines) <= 130
    assert [line for line in lines if len(line) > 88] == []
    assert not re.search(r"!\[|<\w+|^ {0,3}\[\w+\]:", README, re.MULTILINE)


@pytest.mark.parametrize(
    "command", re.findall(r"^    kwire (\S+)", README, re.MULTILINE)
)
def test_a_command_that_it_shows_exists(command):
    from kwire.cli.main import program

    assert command in program.list_commands(None)
