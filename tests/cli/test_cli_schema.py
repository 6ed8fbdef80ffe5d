# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire schema``: its output, its files and its errors."""

import os

import pytest

from tests.cli.test_cli_process import SOURCE, in_terminal, visible


def cells(ran):
    """Return the words of each line in a printed table, without the header line."""
    return [line.split() for line in ran.out.splitlines()[1:]]


def test_without_arguments_the_newest_release_is_listed(run):
    ran = run("schema")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0].split() == [
        "KEY",
        "NAME",
        "VERSIONS",
        "NOTES",
        "LISTENERS",
    ]
    rows = cells(ran)
    assert [row[0] for row in rows] == [str(key) for key in range(95)]
    assert rows[1] == [
        "1",
        "Fetch",
        "4-18",
        "0-3",
        "removed",
        "in",
        "4.0",
        "broker,controller",
    ]
    assert rows[5] == ["5", "StopReplica", "-", "0-4", "removed", "in", "4.0"]


def test_another_release_is_listed_as_it_was(run):
    rows = cells(run("schema", "--release", "3.9"))
    assert rows[0] == ["0", "Produce", "0-11", "0-2", "deprecated", "zkBroker,broker"]
    assert len(cells(run("schema", "--release", "0.8.0"))) == 8


def test_columns_are_aligned_for_all_names(run):
    for args in ([], ["--all"], ["--since", "3.9"]):
        lines = run("schema", *args).out.splitlines()
        column = lines[0].index("VERSIONS" if "--since" not in args else "REMOVED")
        rows = [line for line in lines[1:] if line[3:5] == "  "]  # Skip the headings.
        assert len(rows) > 30
        for line in rows:
            assert line[column - 1] == " " and line[column] != " ", line


def test_list_as_json_lines_has_numbers_and_lists(run):
    rows = run("schema", "-o", "jsonl").rows
    assert rows[1] == {
        "api_key": 1,
        "name": "Fetch",
        "kind": "api",
        "versions": "4-18",
        "min_version": 4,
        "max_version": 18,
        "notes": [{"versions": "0-3", "note": "removed in 4.0"}],
        "listeners": ["broker", "controller"],
    }
    removed_api = rows[5]
    assert (
        removed_api["versions"],
        removed_api["min_version"],
        removed_api["listeners"],
    ) == (
        None,
        None,
        [],
    )


def test_all_lists_messages_of_no_api_too(run, kwire):
    rows = run("schema", "--all", "-o", "jsonl").rows
    inner_messages = [row for row in rows if row["kind"] != "api"]
    assert len(rows) - len(inner_messages) == 95
    assert 2 * 95 + len(inner_messages) == len(kwire.messages.ALL)
    assert "\nGroup coordinator\n" in run("schema", "--all").out


def test_an_api_is_its_request_and_its_response(run):
    ran = run("schema", "heartbeat")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(
        "# header version 1\n"
        "Heartbeat Request (Version: 0-2) => group_id generation_id member_id\n"
        "  group_id => STRING\n"
        "  generation_id => INT32\n"
        "  member_id => STRING\n"
        "\n"
        "# header version 1\n"
        "Heartbeat Request (Version: 3) => "
    )
    assert ran.out.endswith(
        "# header version 1\n"
        "Heartbeat Response (Version: 4) => throttle_time_ms error_code"
        " _tagged_fields\n"
        "  throttle_time_ms => INT32\n"
        "  error_code => INT16\n"
    )
    assert run("schema", "12").out == ran.out


def test_removed_and_deprecated_layouts_are_marked(run):
    now = run("schema", "FetchRequest", "--version", "2-4").out
    assert [line for line in now.splitlines() if line.startswith("#")] == [
        "# header version 1, removed in 4.0",
        "# header version 1, removed in 4.0",
        "# header version 1",
    ]
    then = run("schema", "FetchRequest", "--version", "2-4", "--release", "3.9").out
    assert then.startswith("# header version 1, deprecated\n")


def test_a_release_limits_the_layouts_to_what_it_speaks(run):
    rows = run("schema", "FetchRequest", "--release", "2.8", "-o", "jsonl").rows
    assert (rows[0]["min_version"], rows[-1]["max_version"]) == (0, 12)
    rows = run("schema", "FetchRequest", "-o", "jsonl").rows
    assert (rows[0]["min_version"], rows[-1]["max_version"]) == (0, 18)


def test_versions_are_chosen_by_number_or_range(run):
    def versions(text):
        rows = run("schema", "FetchRequest", "--version", text, "-o", "jsonl").rows
        return [row["versions"] for row in rows]

    assert versions("1") == ["1"]
    assert versions("1-3") == ["1-2", "3"]
    assert versions("16+") == ["16", "17", "18"]


def test_layouts_as_json_lines_are_nested(run):
    (row,) = run("schema", "TopicRecord", "-o", "jsonl").rows
    assert row == {
        "name": "TopicRecord",
        "kind": "metadata",
        "api_key": 2,
        "versions": "0",
        "min_version": 0,
        "max_version": 0,
        "flexible": True,
        "header_version": None,
        "notes": [],
        "fields": [
            {
                "name": name,
                "type": kind,
                "array": None,
                "nullable": False,
                "tag": None,
                "default": None,
            }
            for name, kind in (("name", "COMPACT_STRING"), ("topic_id", "UUID"))
        ],
    }


def test_keys_and_values_of_coordinators_come_together(run):
    names = [row["name"] for row in run("schema", "TransactionLog", "-o", "jsonl").rows]
    assert names == ["TransactionLogKey", "TransactionLogValue", "TransactionLogValue"]


def test_a_terminal_gets_lines_that_fit_and_bold_titles(run):
    environment = {
        **{name: os.environ[name] for name in os.environ if name != "NO_COLOR"},
        **{"PYTHONPATH": str(SOURCE), "TERM": "xterm-256color"},
    }
    for args in (["schema"], ["schema", "--all"], ["schema", "Fetch"]):
        code, output = in_terminal(args, environment)
        assert code == 0
        assert "\x1b[1m" in output
        assert max(map(len, visible(output).splitlines())) <= 80
    # Lines are wrapped instead of truncated, so that layouts are complete.
    assert visible(output).split() == run("schema", "Fetch").out.split()


def test_upgrade_prints_removed_and_added_versions(run):
    rows = cells(run("schema", "--release", "4.0", "--since", "3.9"))
    assert ["0", "Produce", "0-2", "12"] in rows
    assert ["4", "LeaderAndIsr", "0-7", "-"] in rows
    assert ["3", "Metadata", "-", "13"] in rows
    assert "Heartbeat" not in [row[1] for row in rows]
    args = "--release", "4.0", "--since", "3.9", "-o", "jsonl"
    assert run("schema", "fetch", *args).rows == [
        {"api_key": 1, "name": "Fetch", "removed": "0-3", "added": None}
    ]


def test_page_is_written_to_a_new_file_or_into_a_directory(run, tmp_path):
    ran = run("schema", "--html", tmp_path / "page.html", "--release", "2.8")
    assert (ran.code, ran.out) == (0, "")
    assert "page.html: Kafka 2.8, " in ran.err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>Kafka 2.8 protocol</title>" in page
    run("schema", "--html", tmp_path)
    assert (tmp_path / "kafka-4.4.html").stat().st_size > 100_000
    run("schema", "topic", "--html", tmp_path / "topic.html")
    assert (tmp_path / "topic.html").stat().st_size < 20_000


def test_a_file_that_exists_is_not_touched(run, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("mine")
    ran = run("schema", "--html", path)
    assert ran.code == 2 and "exists already" in ran.err
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["fetc"], "no message fetc; did you mean Fetch, "),
        (["95"], "unknown API key 95; kwire supports 0 to 94"),
        (["--release", "5.9"], "no release 5.9; kwire has 0.8.0 to "),
        (["--since", "x"], "no release x; "),
        (["--since", "4.0", "--release", "3.9"], "--since 4.0 is not before 3.9"),
        (["--since", "4.0", "TopicRecord"], "--since compares requests and responses"),
        (["--since", "4.0", "--all"], "--since excludes all options but --release"),
        (["--version", "3"], "--version requires a MESSAGE"),
        (["fetch", "--version", "x"], "'x' is not a version number"),
        (["fetch", "--version", "30"], "versions 0-18 of FetchRequest, not 30"),
        (["fetch", "--version", "30+"], "versions 0-18 of FetchRequest, not 30+"),
        (
            ["fetch", "--version", "13", "--release", "2.8"],
            "Kafka 2.8 supports versions 0-12 of FetchRequest, not 13; omit --release",
        ),
        (
            ["StopReplica", "--release", "4.4"],
            "supports no version of StopReplicaRequest",
        ),
        (["Vote", "--release", "2.1"], "Kafka 2.1 supports no version of VoteRequest"),
        (["Vote", "--release", "2.1", "--html", "v.html"], "Kafka 2.1 has no Vote"),
        (["--html", "v.html", "--all"], "--html excludes all options but"),
        (["--html", "no/such/folder/p.html"], "no such file or directory"),
        (["-o", "csv"], "'csv' is not one of"),
    ],
)
def test_wrong_schema_usage_is_a_one_line_error(
    run, args, words, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    ran = run("schema", *args)
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 1
    assert words in ran.err
    assert list(tmp_path.iterdir()) == []
