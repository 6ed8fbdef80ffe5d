# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run the Python code in README.md, and check its length and its plain text.

``tests/spark/test_docs_run.py`` runs the blocks for Spark. A block has no ``>>>``, so
that it can be copied. The comment next to ``print`` is the expected output.
``tests/project/test_readme_figures.py`` checks the figures.
"""

import re
from pathlib import Path

import pytest

from tests.client.log_broker import LogBroker

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
QUICK_START = (ROOT / "docs" / "quick-start.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
UDF, OURS, LIVE, SPARK = range(4)


def test_readme_has_four_examples():
    """README has four examples: a UDF, a message, a topic and Spark.

    Tests run all of them.
    """
    assert len(BLOCKS) == 4
    assert "udf(" in BLOCKS[UDF]
    assert "kwire.decode" in BLOCKS[OURS]
    assert "kafka.scan" in BLOCKS[LIVE]
    assert "spark.read" in BLOCKS[SPARK]


def test_the_message_is_printed_as_the_comment_has_it(capsys):
    exec(compile(BLOCKS[OURS], "README.md", "exec"), {})
    (comment,) = re.findall(r"^print\(.*\)\s+# (.+)$", BLOCKS[OURS], re.MULTILINE)
    assert capsys.readouterr().out.strip() == comment


def test_a_topic_is_read_into_polars():
    """A broker on the loopback interface replaces the address "broker"."""
    with LogBroker({"orders": (35, 20)}) as broker:
        text = BLOCKS[LIVE].replace("broker:9092", broker.address)
        assert text != BLOCKS[LIVE]
        names = {}
        exec(compile(text, "README.md", "exec"), names)
    assert names["orders"].height == 55


def test_readme_is_short_and_readable_as_plain_text():
    """A package index may show README without rendering its markup."""
    lines = README.splitlines()
    assert len(lines) <= 130
    assert [line for line in lines if len(line) > 88] == []
    text = README
    for block in BLOCKS:
        text = text.replace(block, "")
    assert not re.search(r"<\w+|^ {0,3}\[\w+\]:", text, re.MULTILINE)


def test_readme_picture_repeats_figures_of_the_text():
    """The picture shows a ratio, and the text before it contains the same figures.

    Otherwise the facts would be missing on a package index.
    """
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", README)
    ((words, path),) = pictures
    assert "the text above has the figures" in " ".join(words.split())
    assert (ROOT / path).is_file()


@pytest.mark.parametrize(
    "command", re.findall(r"^    kwire (\S+)", QUICK_START, re.MULTILINE)
)
def test_a_command_that_the_quick_start_shows_exists(command):
    from kwire.cli.main import program

    assert command in program.list_commands(None)
