# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire dump``: selected records in all output formats."""

import base64
import csv
import importlib
import io
import json
import os

import pyarrow.parquet as pq
import pytest

from tests.cli.made_logs import START, rows, write_log


def offsets(ran):
    return [(row["partition"], row["offset"]) for row in ran.rows]


def test_json_lines_carry_all_of_a_record(run, orders):
    ran = run("dump", orders, "-o", "jsonl")
    assert (ran.code, ran.err) == (0, "")
    assert offsets(ran) == [(0, n) for n in range(20)] + [(1, n) for n in range(5)]
    assert ran.rows[7] == {
        "topic": "orders",
        "partition": 0,
        "offset": 7,
        "timestamp": START + 7000,
        "timestamp_type": 0,
        "key": "key-1",
        "value": "value 7",
        "headers": [{"key": "n", "value": "7"}],
    }


def test_table_in_a_pipe_has_the_partition_in_each_line(run, orders):
    lines = run("dump", orders).out.splitlines()
    assert lines[0].split() == ["PARTITION", "OFFSET", "TIME", "(UTC)", "KEY", "VALUE"]
    assert len(lines) == 26
    assert lines[1] == (
        "orders-0               0  2023-11-14 22:13:20.000  key-0           value 0"
        "  {n=0}"
    )
    assert lines[21].startswith("orders-1  ")


def test_csv_reads_back(run, orders):
    ran = run("dump", orders, "-o", "csv", "--no-headers")
    parsed = list(csv.DictReader(io.StringIO(ran.out)))
    assert len(parsed) == 25
    assert list(parsed[0]) == [
        "topic",
        "partition",
        "offset",
        "timestamp",
        "timestamp_type",
        "key_encoding",
        "key",
        "value_encoding",
        "value",
        "error",
    ]
    assert parsed[3]["value"] == "value 3" and parsed[3]["value_encoding"] == "text"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--topic", "orders", "--partition", "1"], [(1, n) for n in range(5)]),
        (["-p", "0", "--from", "7", "--to", "12"], range(7, 12)),
        (["-p", "0", "--from", "19"], [19]),
        (["-p", "0", "--from", "99"], []),
        (["-p", "0", "--from", "2023-11-14T22:13:35Z"], range(15, 20)),
        (["-p", "0", "--to", "2023-11-14T22:13:23Z"], range(3)),
        (["-p", "0", "--from", "2023-11-14T23:13:37+01:00"], range(17, 20)),
        (["-p", "0", "--from", "-3"], [17, 18, 19]),
        (["--from", "-2"], [(0, 18), (0, 19), (1, 3), (1, 4)]),
        (["-p", "1", "--from", "-99"], [(1, n) for n in range(5)]),
        (["--from", "latest"], []),
        (["--from", "earliest", "--to", "latest", "-p", "0"], range(20)),
        (["--from", "1h"], []),
        (["-p", "0", "--from", "17", "--to", "1h"], [17, 18, 19]),
        (["-p", "0", "--key", "key-2"], [2, 5, 8, 11, 14, 17]),
        (["-p", "0", "--key", "hex:6b65792d32", "--limit", "2"], [2, 5]),
        (["-p", "0", "--key", "base64:a2V5LTI=", "--from", "12"], [14, 17]),
        (["-p", "0", "--limit", "3"], range(3)),
        (["--limit", "0"], []),
    ],
)
def test_filters_choose_records(run, orders, options, expected):
    ran = run("dump", orders, "-o", "jsonl", *options)
    expected_places = [n if isinstance(n, tuple) else (0, n) for n in expected]
    assert (ran.code, offsets(ran)) == (0, expected_places)


def test_time_selects_from_the_first_record_at_or_after_it(run, tmp_path):
    """The selection starts at the first record with this or a later time.

    Records after it may have earlier times, as in offset lookups for live topics.
    """
    times = [START + 1000 * n for n in (0, 3, 1, 5, 2)]
    write_log(tmp_path / "mixed-0", [[(b"k", b"v", time) for time in times]])
    second = "2023-11-14T22:13:22Z"
    ran = run("dump", tmp_path, "-o", "jsonl", "--from", second)
    assert offsets(ran) == [(0, n) for n in (1, 2, 3, 4)]
    ran = run("dump", tmp_path, "-o", "jsonl", "--to", second)
    assert offsets(ran) == [(0, 0)]


def test_end_before_the_log_is_wrong_usage(run, orders):
    ran = run("dump", orders, "--to", "-5")
    assert ran.code == 2 and "--to': it must be an offset of 0 or more" in ran.err


ODD = [
    (None, None),
    (b"", b"\xff\x00"),
    (b"hex:00", "größe €\n".encode()),
    (b"\x1b[31m", "日本".encode(), START, [("h", b"\x80"), ("null", None)]),
]


def test_bytes_that_are_not_text_have_a_format_prefix(run, tmp_path):
    write_log(tmp_path / "odd-0", [ODD])
    printed = run("dump", tmp_path, "-o", "jsonl").rows
    assert printed[0]["key"] is None and printed[0]["value"] is None
    assert printed[1]["key"] == "" and "value" not in printed[1]
    assert base64.b64decode(printed[1]["value_base64"]) == b"\xff\x00"
    assert printed[2]["key"] == "hex:00" and printed[2]["value"] == "größe €\n"
    assert "key" not in printed[3] and printed[3]["value"] == "日本"
    assert printed[3]["headers"] == [
        {"key": "h", "value_base64": "gA=="},
        {"key": "null", "value": None},
    ]


def test_csv_distinguishes_null_empty_text_and_base64(run, tmp_path):
    write_log(tmp_path / "odd-0", [ODD])
    parsed = list(csv.DictReader(io.StringIO(run("dump", tmp_path, "-o", "csv").out)))
    assert [row["key_encoding"] for row in parsed] == ["", "text", "text", "base64"]
    assert parsed[2]["value"] == "größe €\n"
    assert json.loads(parsed[3]["headers"])[0] == {"key": "h", "value_base64": "gA=="}


def test_table_prints_nothing_that_moves_the_cursor(run, tmp_path):
    write_log(tmp_path / "odd-0", [ODD])
    ran = run("dump", tmp_path)
    assert "\x1b" not in ran.out and len(ran.out.splitlines()) == 5
    assert "<null>" in ran.out and "base64:/wA=" in ran.out
    assert "größe €\\n" in ran.out
    assert "text:hex:00" in ran.out, "text that looks like hex must be marked"


@pytest.mark.parametrize(
    ("form", "field", "content"),
    [("hex", "key_hex", "6b65792d30"), ("base64", "key_base64", "a2V5LTA=")],
)
def test_byte_format_option_selects_one_format(run, orders, form, field, content):
    row = run("dump", orders, "-o", "jsonl", "-n", 1, "--format-bytes", form).rows[0]
    assert row[field] == content and "key" not in row


def test_key_copied_from_the_table_finds_the_record(run, tmp_path):
    """A key that is copied from a table can be passed to ``--key``, with its prefix."""
    write_log(tmp_path / "odd-0", [ODD])
    for key, offset in (("base64:G1szMW0=", 3), ("text:hex:00", 2), ("", 1)):
        matching = run("dump", tmp_path, "-o", "jsonl", "--key", key).rows
        assert [row["offset"] for row in matching] == [offset]


def test_batches_are_rows_of_their_own(run, orders):
    batches = run("dump", orders, "--batches", "-o", "jsonl", "-p", 0).rows
    assert [(row["base_offset"], row["last_offset"]) for row in batches] == [
        (0, 3),
        (4, 9),
        (10, 19),
    ]
    assert [row["compression"] for row in batches] == ["none", "gzip", "none"]
    assert batches[1]["position"] == batches[0]["size"]
    assert batches[2]["path"].endswith("orders-0/00000000000000000010.log")
    chosen = run("dump", orders, "--batches", "-o", "csv", "--from", 5, "-p", 0)
    assert len(chosen.out.splitlines()) == 1 + 2
    assert "4..9" in run("dump", orders, "--batches").out


@pytest.mark.parametrize(
    "options",
    [
        ["--batches", "--key", "k"],
        ["--control", "--isolation-level", "read_committed"],
        ["--from", "soon"],
        ["--key", "hex:0"],
        ["--partition", "7"],
        ["--topic", "absent"],
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(run, orders, options):
    ran = run("dump", orders, *options)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("kwire")


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_file_name_selects_the_format(run, orders, tmp_path, suffix):
    path = tmp_path / f"out.{suffix}"
    ran = run("dump", orders, "--output", path)
    assert (ran.code, ran.out) == (0, "")
    assert path.read_text() == run("dump", orders, "-o", suffix).out


def test_an_existing_file_is_never_overwritten(run, orders):
    path = orders / "orders-1" / f"{0:020}.log"
    before = path.read_bytes()
    for form in ("jsonl", "parquet"):
        ran = run("dump", orders, "-o", form, "--output", path)
        assert ran.code == 2 and "exists already" in ran.err
    assert path.read_bytes() == before


def test_parquet_has_the_bytes_and_several_row_groups(
    run, kwire, tmp_path, monkeypatch
):
    parquet = importlib.import_module(f"{kwire.__name__}.cli.output.parquet")
    monkeypatch.setattr(parquet, "_GROUP_ROWS", 10)
    write_log(tmp_path / "in" / "odd-0", [ODD, rows(4, 21)])
    target = tmp_path / "out.parquet"
    assert run("dump", tmp_path / "in", "--output", target).code == 0
    file = pq.ParquetFile(target)
    assert [file.metadata.row_group(n).num_rows for n in range(3)] == [10, 10, 5]
    table = pq.read_table(target).to_pylist()
    assert [row["offset"] for row in table] == list(range(25))
    assert (table[0]["key"], table[1]["value"]) == (None, b"\xff\x00")
    assert table[3]["headers"] == [
        {"key": "h", "value": b"\x80"},
        {"key": "null", "value": None},
    ]
    assert table[10]["timestamp"].timestamp() * 1000 == START + 10_000
    assert "key_json" not in table[0]


def test_damage_stops_a_dump_after_the_valid_records(run, damaged):
    ran = run("dump", damaged, "-o", "jsonl")
    assert ran.code == 2
    assert [row["offset"] for row in ran.rows] == [0, 1, 2, 3, 4]
    assert ran.err.count("\n") == 1
    assert "--skip-corrupt" in ran.err and damaged.name in ran.err


def test_damage_can_be_passed_over(run, damaged):
    ran = run("dump", damaged, "-o", "jsonl", "--skip-corrupt")
    assert ran.code == 0
    assert [row["offset"] for row in ran.rows] == [*range(5), *range(10, 20)]
    assert "skipped 1 damaged region" in ran.err


def test_files_beside_segments_are_not_taken_for_logs(run, orders):
    index = orders / "orders-0" / f"{0:020}.index"
    index.write_bytes(bytes(8))
    ran = run("dump", index)
    assert ran.code == 2 and "give the .log file" in ran.err


def test_a_partition_that_is_named_twice_comes_once(run, orders):
    ran = run("dump", orders, orders / "orders-1", "-o", "jsonl")
    assert len(ran.rows) == 25


def test_header_names_that_are_not_text_do_not_stop_a_dump(run, kwire, tmp_path):
    path = write_log(tmp_path / "odd-0", [[(b"k", b"v", START, [("nnnn", b"")])]])
    data = bytearray(path.read_bytes().replace(b"nnnn", b"nn\xff\xff"))
    crc = importlib.import_module(f"{kwire.__name__}._engine.pure.checksums").crc32c
    data[17:21] = crc(bytes(data[21:])).to_bytes(4, "big")
    path.write_bytes(data)
    ran = run("dump", tmp_path, "-o", "jsonl")
    assert ran.code == 0
    assert ran.rows[0]["headers"][0]["key"] == "nn\ufffd\ufffd"


def test_an_unknown_suffix_is_an_error(run, orders, tmp_path):
    """A file name with an unknown suffix is an error unless ``-o`` names the format.

    A text table in a file with the suffix of a spreadsheet would be unusable.
    """
    for name in ("out.xlsx", "out", "out.jsonl.gz", "out.parq"):
        ran = run("dump", orders, "--output", tmp_path / name)
        assert ran.code == 2 and ".jsonl" in ran.err and "--format" in ran.err
        assert not (tmp_path / name).exists()
    assert run("dump", orders, "--output", tmp_path / "OUT.CSV").code == 0
    assert (tmp_path / "OUT.CSV").read_text().startswith("topic,partition,")
    assert run("dump", orders, "--output", tmp_path / "out.txt").code == 0
    assert run("dump", orders, "--output", tmp_path / "odd", "-o", "csv").code == 0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--tail", 3], [17, 18, 19, 2, 3, 4]),
        (["--tail", 12, "-p", 0], list(range(8, 20))),
        (["--tail", 50], [*range(20), *range(5)]),
        (["--tail", 0], []),
        (["--tail", 2, "--key", "key-1"], [16, 19, 1, 4]),
        (["--tail", 2, "--to", 9], [7, 8, 3, 4]),
        (["--tail", 9, "--from", 15], [15, 16, 17, 18, 19]),
        (["--tail", 3, "--limit", 4], [17, 18, 19, 2]),
    ],
)
def test_tail_is_the_end_of_each_partition(run, orders, options, expected):
    """The last selected rows of each partition are printed, in offset order."""
    ran = run("dump", orders, "-o", "jsonl", *options)
    assert [row["offset"] for row in ran.rows] == expected


def test_tail_prints_the_last_batches_of_each_partition(run, orders):
    ran = run("dump", orders, "-o", "jsonl", "--batches", "--tail", 2)
    assert [row["base_offset"] for row in ran.rows] == [4, 10, 0]


def test_tail_does_not_read_earlier_records(run, tmp_path):
    """Damage at the start of a large segment does not affect its last records."""
    batches = [[(b"k", os.urandom(50_000), START)] for _ in range(100)]
    path = write_log(tmp_path / "large-0", batches)
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    assert run("dump", path, "-o", "jsonl").code == 2
    ran = run("dump", path, "-o", "jsonl", "--tail", 3)
    assert (ran.code, offsets(ran)) == (0, [(0, 97), (0, 98), (0, 99)])


def test_format_string_has_the_placeholders_of_kcat(run, tmp_path):
    """The placeholders and escapes are the same as in kcat.

    Keys and values are printed as unchanged bytes.
    """
    rows = [
        (b"k1", b"\xff\x00\n", START, [("a", b"1"), ("b", None)]),
        (None, None, START + 1, []),
    ]
    write_log(tmp_path / "odd-3", [rows])
    target = tmp_path / "out"
    form = r"%t[%p] %o@%T %k=%v|%s (%K,%S) %h %%\t\\\x41\n"
    assert run("dump", tmp_path / "odd-3", "-f", form, "--output", target).code == 0
    assert target.read_bytes() == (
        b"odd[3] 0@1700000000000 k1=\xff\x00\n|\xff\x00\n (2,3) a=1,b=NULL %\t\\A\n"
        b"odd[3] 1@1700000000001 =| (-1,-1)  %\t\\A\n"
    )
    (tmp_path / "framed").unlink(missing_ok=True)
    run("dump", tmp_path / "odd-3", "-f", "%R%s", "--output", tmp_path / "framed")
    assert (tmp_path / "framed").read_bytes() == b"\0\0\0\3\xff\0\n\xff\xff\xff\xff"


def test_a_form_of_ones_own_takes_the_other_options(run, orders):
    """A format string can be combined with filters and with hex output.

    Nothing is added to the pattern, such as a line end.
    """
    ran = run("dump", orders, "-p", 1, "--tail", 2, "-f", r"%o:%k;")
    assert ran.out == "3:key-0;4:key-1;"
    ran = run("dump", orders, "-p", 1, "-n", 1, "--format-bytes", "hex", "-f", "%k %h")
    assert ran.out == "6b65792d30 n=30"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("%z", "'%z'; use %t"),
        ("100%", "'%'"),
        (r"\q", r"unknown escape '\\q'"),
        ("\\", "unknown escape"),
    ],
)
def test_invalid_format_string_is_an_error_with_the_reason(run, orders, form, text):
    ran = run("dump", orders, "-f", form)
    assert ran.code == 2 and text in ran.err and ran.out == ""


@pytest.mark.parametrize("option", [["-o", "csv"], ["--batches"], ["-o", "parquet"]])
def test_output_formats_exclude_each_other(run, orders, option):
    ran = run("dump", orders, "-f", "%k", *option)
    assert ran.code == 2 and "exclude each other" in ran.err
