# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Page and stdout of ``kwire offsets`` agree with its tables."""

import json
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pyarrow.parquet
import pytest
from click.testing import CliRunner

from kwire import jobs
from kwire.cli.main import program
from tests.jobs.made_groups import START, Groups, Topic, write_cluster

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOSTILE = '<script>alert("x")</script>&\u202e\x1b[31m'


class Page(HTMLParser):
    """The raw values of an HTML report: tables, line points, cells and bars."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words = [], ""
        self.tables, self.lines, self.cells = {}, {}, {}
        self.feed(text)

    def handle_data(self, data):
        self.words += data

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        if "data-table" in values:
            self.table = self.tables[values["data-table"]] = []
            self.keys = []
        if "data-key" in values:
            self.keys.append(values["data-key"])
        if tag == "tr":
            self.row = {}
        if tag == "td":
            if not self.row:
                self.table.append(self.row)
            self.row[self.keys[len(self.row)]] = values.get("data-value")
        if "data-points" in values:
            points = [point.rsplit(":", 1) for point in values["data-points"].split()]
            series = self.lines.setdefault(values["data-series"], [])
            series.append(
                [(int(timestamp), float(value)) for timestamp, value in points]
            )
        if "data-row" in values:
            self.cells[values["data-row"], values["data-column"]] = values["data-value"]


def raw_text(value):
    """Format a table value in the same way as a raw value in the page."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return str(round((value - EPOCH).total_seconds() * 1000))
    return str(value)


def read(result, name):
    return pyarrow.parquet.read_table(result.tables[name]).to_pylist()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    root = tmp_path_factory.mktemp("cluster")
    groups = write_cluster(root)
    groups.root = root
    return groups


@pytest.fixture(scope="module")
def result(cluster, tmp_path_factory):
    return jobs.offsets(cluster.root, tmp_path_factory.mktemp("job") / "out")


@pytest.fixture(scope="module")
def page(result):
    with open(result.report, encoding="utf-8") as file:
        return Page(file.read())


@pytest.mark.parametrize(
    "name", ["stuck", "groups", "rebalances", "growth", "problems", "history"]
)
def test_the_tables_of_the_page_are_the_parquet_tables(page, result, name):
    """The tables of the page have the rows of the Parquet tables, in the same order."""
    rows = read(result, name)
    for row in rows:
        for key in ("joined", "left"):
            row[key] = len(row.get(f"members_{key}", ()))
    assert len(page.tables[name]) == len(rows) > 0
    for row, expected in zip(page.tables[name], rows, strict=True):
        assert row == {key: raw_text(expected[key]) for key in row}


def test_lag_charts_are_the_table_of_lag_over_time(page, result):
    """The page has lag charts for the four worst groups with lag.

    Stuck groups are first. The points equal the rows of the table ``lag_over_time``.
    """
    expected = {}
    for row in read(result, "lag_over_time"):
        points = expected.setdefault((row["topic"], row["group"]), [])
        # If the lag is unknown, nothing is drawn.
        if row["lag"] is not None:
            points.append((int(raw_text(row["timestamp"])), row["lag"]))
    order = [expected["orders", group] for group in ("dead", "blocked", "slow", "good")]
    assert page.lines == {"orders": order}
    assert "The first 4 of 5 groups; all of them are in lag_over_time/." in page.words


def test_the_heat_map_is_the_table_of_commit_rate(page, result):
    rows = read(result, "commit_rate")
    assert sum(int(value) for value in page.cells.values()) == sum(
        row["commits"] for row in rows
    )
    assert {group for group, _ in page.cells} == {row["group"] for row in rows}


def test_hostile_names_are_escaped_in_the_report(tmp_path):
    """Groups, topics, members and metadata are escaped as text."""
    topic = Topic(tmp_path, "t", 0)
    topic.produce(5, START)
    topic.produce(5, START + 400_000)
    topic.write()
    groups = Groups(tmp_path)
    groups.classic(HOSTILE, 1, {HOSTILE: {HOSTILE: [0]}}, START)
    groups.classic(HOSTILE, 2, {}, START + 1)
    groups.commit(HOSTILE, "t", 0, 3, START + 2, metadata=HOSTILE)
    groups.commit(HOSTILE, HOSTILE, 0, 3, START + 900_000)
    groups.write()
    result = jobs.offsets(tmp_path, tmp_path / "out", groups=[HOSTILE])
    text = (tmp_path / "out" / "report.html").read_text("utf-8")
    page = Page(text)
    assert page.tags.count("script") == 1
    assert HOSTILE[:28] in page.words
    assert not {"\x1b", "\u202e"} & set(page.words)
    assert page.tables["groups"][0]["group"] == HOSTILE
    assert result.findings == 1


def test_empty_page_contains_a_note(tmp_path):
    Groups(tmp_path).write()
    jobs.offsets(tmp_path, tmp_path / "out")
    text = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "__consumer_offsets contains no records" in text


def run(*arguments):
    return CliRunner().invoke(program, [str(argument) for argument in arguments])


def test_a_group_without_a_known_time_has_no_span(tmp_path):
    """A group without a known time is omitted from the timeline only."""
    groups = Groups(tmp_path)
    groups.classic("timeless", 1, {"a": {"orders": [0]}}, -1)
    groups.commit("known", "orders", 0, 1, START)
    groups.write()
    result = jobs.offsets(tmp_path, tmp_path / "out")
    assert "timeless" in Path(result.report).read_text(encoding="utf-8")


def test_the_command_prints_the_groups_worst_first(cluster, tmp_path):
    done = run("offsets", cluster.root, "--output", tmp_path / "out")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["GROUP", "dead", "blocked"]
    assert max(map(len, lines)) <= 80
    assert "2 partitions stuck, lag of 1 partition unknown; 1 problem" in done.stderr
    assert "report.html" in done.stderr.splitlines()[-1]


def test_unknown_lag_is_a_gap_and_a_count(tmp_path):
    """If an assigned partition has no commit, the chart has a gap.

    The table counts the partition, and the group's lag is a lower bound.
    """
    topics = [Topic(tmp_path, "t", number) for number in (0, 1)]
    groups = Groups(tmp_path)
    for minute in range(100):
        for topic in topics:
            topic.produce(100, START + minute * 60_000)
        groups.commit("g", "t", 0, 100 * minute, START + minute * 60_000 + 1)
        if minute == 50:
            groups.classic("g", 1, {"m": {"t": [0, 1]}}, START + minute * 60_000 + 2)
    for log in (*topics, groups):
        log.write()
    done = run("offsets", tmp_path, "--output", tmp_path / "out")
    title, row = (line.split() for line in done.stdout.splitlines())
    assert title[3:5] == ["LAG", "UNKNOWN"] and row[3:5] == [">=100", "1"]
    assert "lag of 1 partition unknown" in done.stderr
    page = Page((tmp_path / "out" / "report.html").read_text("utf-8"))
    ((points,),) = page.lines.values()
    assert 20 < len(points) < 30 and points[-1][0] <= START + 51 * 60_000
    assert {lag for _, lag in points} == {100}
    assert "A line has a gap while" in page.words
    assert "None stuck" in page.words and "1 partition assigned without" in page.words


def test_the_command_takes_groups_and_times(cluster, tmp_path):
    options = ["--group", "dead", "-g", "slow", "--stuck-after", "1e9", "-o", "jsonl"]
    done = run("offsets", cluster.root, "--output", tmp_path / "out", *options)
    assert done.exit_code == 0
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["group"], row["stuck"]) for row in rows] == [("dead", 0), ("slow", 0)]
    assert rows[0]["last_commit"] == START + 60_000


def test_command_errors_have_one_line(cluster, tmp_path):
    """The command prints an error of one line for an existing output directory.

    It does the same for an input without the topic ``__consumer_offsets``.
    """
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "file").touch()
    for path in (cluster.root, tmp_path / "out"):
        done = run("offsets", path, "--output", tmp_path / "out")
        assert done.exit_code == 2
        assert len(done.stderr.splitlines()) == 1
