# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Lines that are formatted for many records together, compared with single lines."""

import io
import json
import tracemalloc

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.cli.output.byte_formats import BYTE_FORMATS, make_cell
from kwire.cli.output.json_fields import format_fields
from kwire.cli.output.record_pattern import RecordFormat, RecordWriter
from kwire.cli.output.record_rows import RowMaker
from kwire.cli.output.record_runs import (
    RecordRun,
    join_runs,
    make_run,
    write_runs,
)
from kwire.cli.output.records import open_records
from kwire.cli.output.tables import Output, RowFormat
from kwire.records import Record, decode_batches, encode_batch

# Bytes at the limits of text: control characters, escapes, partial UTF-8 sequences.
PIECES = [
    b"",
    b"a",
    b'"',
    b"\\",
    b"\n",
    b"\r",
    b"\t",
    b"\0",
    b"\x1b",
    b"\x7f",
    b"%",
    b"%d",
    # Values of this size are split with ``index`` instead of ``bytes.split``.
    b"long" * 500,
    b"\xc2",
    b"\x80",
    b"\xc2\x80",
    b"\xc2\x9f",
    b"\xc2\xa0",
    b"\xc3\xa9",
    b"\xe2",
    b"\xe2\x80\xa8",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    b"\xff",
    b"\\u0000",
]
CONTENTS = st.none() | st.lists(st.sampled_from(PIECES), max_size=4).map(b"".join)
HEADERS = st.lists(
    st.tuples(st.sampled_from(["h", "", "ü", 'a"b', "%", "\x1b"]), CONTENTS), max_size=2
)
RECORDS = st.lists(
    st.builds(
        Record,
        offset=st.integers(0, 2**63 - 1),
        timestamp=st.integers(-1, 2**62),
        key=CONTENTS,
        value=CONTENTS,
        headers=HEADERS.map(tuple),
    ),
    min_size=1,
    max_size=6,
)
TOPIC = "to%dpic"
PATTERN = r"%t %p %o %T %k %v %s %h %K %S %R%% %%d\n"


def make_plain_run(records, topic=TOPIC):
    """Return a run of records with the properties of a topic with user data."""
    return RecordRun(topic, 3, 1, False, records, 100)


def write(open_writer, run):
    """Write a run, and return the bytes that a pipe receives."""
    file = io.BytesIO()
    output = Output(io.TextIOWrapper(file, "utf-8", newline="\n"))
    open_writer(output).write(run)
    output.flush()
    return file.getvalue()


def name_field(name, data, byte_format):
    """Return the JSON field of one key or value as {name: content}.

    If the content is not text, its encoding is part of the name.
    """
    cell = make_cell(data, byte_format)
    suffix = "" if cell.encoding in ("", "text") else f"_{cell.encoding}"
    return {f"{name}{suffix}": cell.content}


@settings(deadline=None)
@given(st.lists(CONTENTS, min_size=1, max_size=8), st.sampled_from(BYTE_FORMATS))
def test_fields_of_many_values_are_those_of_each_value(values, byte_format):
    expected = [name_field("key", value, byte_format) for value in values]
    fields = format_fields(b"key", values, byte_format)
    assert [json.loads(b"{%b}" % field) for field in fields] == expected


@pytest.mark.parametrize("small_count", [0, 1, 5000])
def test_value_of_nuls_takes_memory_for_its_base64_only(small_count):
    """A value of 1 MB that consists of NULs needs less than 8 MB.

    Values are separated by NUL while they are formatted together.
    """
    values = [b"\0" * 1_000_000] + [b"x"] * small_count
    tracemalloc.start()
    try:
        first, *rest = format_fields(b"value", values, "text")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert first.startswith(b'"value_base64":"AAAA')
    assert rest == [b'"value":"x"'] * small_count
    assert peak < 8_000_000


@settings(deadline=None)
@given(RECORDS, st.sampled_from(BYTE_FORMATS), st.booleans())
def test_json_lines_are_the_fields_of_each_record(records, byte_format, headers):
    maker = RowMaker(byte_format, False)
    form = RowFormat("jsonl")
    data = write(
        lambda output: open_records(output, form, maker, headers),
        make_plain_run(records),
    )
    lines = data.decode().split("\n")
    assert lines.pop() == ""
    for line, record in zip(lines, records, strict=True):
        expected = {
            "topic": TOPIC,
            "partition": 3,
            "offset": record.offset,
            "timestamp": None if record.timestamp == -1 else record.timestamp,
            "timestamp_type": 1,
            **name_field("key", record.key, byte_format),
            **name_field("value", record.value, byte_format),
        }
        if headers:
            expected["headers"] = [
                {"key": name, **name_field("value", value, byte_format)}
                for name, value in record.headers
            ]
        assert line == json.dumps(expected, ensure_ascii=False, separators=(",", ":"))


def show(data, byte_format):
    """Return the bytes that kcat prints for a key or value. Null is empty."""
    if data is None or byte_format == "text":
        return data or b""
    return str(make_cell(data, byte_format).content).encode()


@settings(deadline=None)
@given(RECORDS, st.sampled_from(BYTE_FORMATS))
def test_a_pattern_prints_each_field_of_each_record(records, byte_format):
    parts = RecordFormat().convert(PATTERN, None, None)
    maker = RowMaker(byte_format, False)
    data = write(
        lambda output: RecordWriter(output, parts, maker), make_plain_run(records)
    )
    expected = b""
    for record in records:
        key, value = show(record.key, byte_format), show(record.value, byte_format)
        key_size = -1 if record.key is None else len(key)
        size = -1 if record.value is None else len(value)
        headers = b",".join(
            name.encode()
            + b"="
            + (b"NULL" if content is None else show(content, byte_format))
            for name, content in record.headers
        )
        position_text = b"%b 3 %d %d " % (
            TOPIC.encode(),
            record.offset,
            record.timestamp,
        )
        expected += position_text + b"%b %b %b %b " % (key, value, value, headers)
        expected += b"%d %d " % (key_size, size) + size.to_bytes(4, "big", signed=True)
        expected += b"% %d\n"
    assert data == expected


@pytest.mark.parametrize("pattern", ["", r"a%%\n"])
def test_a_pattern_without_fields_is_printed_for_each_record(pattern):
    parts = RecordFormat().convert(pattern, None, None)
    run = make_plain_run([Record(offset=n) for n in range(3)])
    data = write(lambda out: RecordWriter(out, parts, RowMaker("text", False)), run)
    assert data == (b"a%\n" * 3 if pattern else b"")


def make_runs(counts, **options):
    """Yield a run for each of several consecutive batches.

    ``counts`` contains the number of records in each batch.
    """
    first = 0
    for count in counts:
        rows = [
            Record(offset=first + n, key=b"k", value=b"v" * 10) for n in range(count)
        ]
        (batch,) = decode_batches(encode_batch(rows, **options))
        yield make_run("orders", 0, batch, batch.records)
        first += count


def offsets_of(runs):
    """Return the offsets of all records in runs, and the record count of each run."""
    runs = list(runs)
    offsets = [record.offset for run in runs for record in run.records]
    return offsets, [len(run.records) for run in runs]


def test_small_batches_are_formatted_together():
    """All records are in order. Runs have limits for records and bytes."""
    offsets, counts = offsets_of(join_runs(make_runs([1] * 1200 + [700, 3])))
    assert offsets == list(range(1903))
    assert len(counts) < 10 and max(counts) < 1200


def test_compressed_batches_are_joined_by_their_decompressed_size():
    """Joined by file size, batches with large content would be in memory together."""
    rows = [Record(offset=0, key=b"", headers=(("h", b"x" * 40_000),))]
    (batch,) = decode_batches(encode_batch(rows, compression="gzip"))
    assert batch.size < 1000
    runs = [make_run("orders", 0, batch, batch.records) for _ in range(10)]
    assert all(len(run.records) == 1 for run in join_runs(runs))


def test_runs_of_different_batches_are_not_joined():
    """Joined runs have the same topic, partition, timestamp type and control flag."""
    run = make_plain_run([Record(offset=0)])
    other_runs = [run._replace(timestamp_type=0), run._replace(is_control=True)]
    other_runs += [run._replace(partition=4), run._replace(topic="other")]
    for other_run in other_runs:
        assert list(join_runs([run, other_run])) == [run, other_run]


def test_records_before_a_failure_are_written():
    def fail():
        yield from make_runs([2, 2])
        raise click.ClickException("damaged")

    written = []
    with pytest.raises(click.ClickException):
        write_runs(join_runs(fail()), None, written.append)
    assert offsets_of(written)[0] == [0, 1, 2, 3]
    for limit in range(5):
        written = []
        assert write_runs(join_runs(fail()), limit, written.append) == limit
        assert offsets_of(written)[0] == list(range(limit))


def test_a_run_is_split_by_bytes_and_records():
    large = [Record(offset=n, value=b"x" * 30_000) for n in range(10)]
    run = make_plain_run(large)._replace(size=300_000)
    assert offsets_of(run.split()) == (list(range(10)), [2] * 5)
    small = make_plain_run([Record(offset=n) for n in range(2500)])
    assert offsets_of(small.split())[1] == [1000, 1000, 500]
