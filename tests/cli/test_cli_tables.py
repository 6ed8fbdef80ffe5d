# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tables on a terminal: aligned columns, truncated to the terminal width."""

import importlib
import io
import re

import pytest

from kwire import messages
from kwire.messages import internal_topics
from tests.cli.made_logs import DATA, START, write_log

OFFSETS = "__consumer_offsets"
GROUP = "connect-analytics-sink-" + "group-" * 12
TOPIC = "company.payments.europe." + "v1-" * 12


@pytest.fixture
def table(kwire, run, monkeypatch):
    """Function that runs a command, and returns the printed lines.

    Its first parameter is the width of the terminal. None means a pipe.
    """
    module = importlib.import_module(f"{kwire.__name__}.cli.output.tables")
    original_init = module.Output.__init__

    def lines(columns, *args):
        def make(self, stream, **options):
            original_init(self, stream, **options)
            self.width = columns

        monkeypatch.setattr(module.Output, "__init__", make)
        return run(*args).out.splitlines()

    return lines


def write_commit(folder, group, topic):
    """Write a log with one offset commit of a group. Return the path of the segment."""
    key = messages.OffsetCommitKey(group=group, topic=topic, partition=7)
    value = messages.OffsetCommitValue(
        offset=123456, metadata="m", commit_timestamp=START
    )
    row = (*internal_topics.encode(OFFSETS, key, value, 3), START, [])
    return write_log(folder / f"{OFFSETS}-0", [[row]])


@pytest.mark.parametrize("columns", [40, 80, 120, None])
@pytest.mark.parametrize(("group", "topic"), [("g", "t"), (GROUP, TOPIC)])
def test_commit_row_shows_group_topic_partition_and_offset(
    table, tmp_path, columns, group, topic
):
    """Group, topic, partition and offset are shown even in narrow terminals."""
    write_commit(tmp_path, group, topic)
    lines = table(columns, "dump", tmp_path)
    text = re.sub(r"\s+", "" if len(group) > 10 else " ", " ".join(lines))
    for word in (f"group={group}", f"topic={topic}", "partition=7", "offset=123456"):
        assert word in text
    if columns is None:
        assert len(lines) == 2 and not lines[1].endswith("expireTimestamp=-1")
    else:
        assert max(map(len, lines)) <= columns


def test_internal_topics_of_brokers_are_readable_in_80_columns(table):
    """The rows contain type and key of the records, and have only a few lines."""
    lines = table(80, "dump", DATA / "4.3.1" / "data", "-t", OFFSETS)
    begins = [n for n, line in enumerate(lines) if re.match(r" +\d+  \d{4}-", line)]
    assert len(begins) > 20 and max(map(len, lines)) <= 80
    for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
        text = " ".join(lines[begin:end])
        assert re.search(r" [A-Z]\w+ +group(Id)?=\S+", text), text
        assert 1 <= end - begin <= 4


NAMES = ["k", "key-of-16-letters", "a-much-longer-key-than-the-column-has-" * 3, "k"]


@pytest.mark.parametrize("columns", [80, 130, None])
def test_values_are_aligned_in_one_column(table, tmp_path, columns):
    """In a terminal, long keys are truncated, so that the values are aligned.

    A pipe gets the complete keys.
    """
    rows = [(name.encode(), b"VALUE", START, []) for name in NAMES]
    write_log(tmp_path / "t-0", [rows])
    titles, *lines = table(columns, "dump", tmp_path)
    lines = [line for line in lines if line != "t-0"]
    starts = [line.index("VALUE") for line in lines]
    if columns is None:
        assert NAMES[2] in lines[2], "a pipe gets every character"
        assert starts[3] == lines[3].index("VALUE") == 14 + 37 + 64 + 2
    else:
        assert set(starts) == {titles.index("VALUE")}


@pytest.mark.parametrize("columns", [80, None])
def test_tables_with_long_names_are_aligned(kwire, columns):
    """Cells after a long name are below their column header."""
    module = importlib.import_module(f"{kwire.__name__}.cli.output.tables")
    stream = io.StringIO()
    output = module.Output(stream)
    output.width = columns
    names = ["g", "g" * 30, "group-" * 20, "日本" * 20, "line\nend\x1b[2J"]
    rows = [("", [name, str(n), "STATE"]) for n, name in enumerate(names)]
    module.write_table(output, ("GROUP", " NUMBER", "STATE"), rows)
    from rich.cells import cell_len

    titles, *lines = stream.getvalue().split("\n")[:-1]
    assert len(lines) == len(names)
    starts = {cell_len(line.partition("STATE")[0]) for line in (titles, *lines)}
    assert len(starts) == 1
    if columns is None:
        assert all(name in line for name, line in zip(names[:4], lines, strict=False))
