# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire explain``: the table, the JSON lines and the page explain all bytes."""

import html
import importlib
import os
import re
from html.parser import HTMLParser

import pytest
from rich.cells import cell_len

import kwire as installed
from tests.cli.test_cli_process import ENGINES, SOURCE, in_terminal, visible
from tests.harness import golden

FRAME = (
    "00000021 0003000c00000007ffff00 02 00000000000000000000000000000007 0000 010000"
)
TABLE = """\
OFFSET  BYTES                    FIELD                                TYPE             \
VALUE
frame
     0  00 00 00 21              size                                 INT32            \
33
RequestHeader v2
     4  00 03                    request_api_key                      INT16            \
3 (Metadata)
     6  00 0c                    request_api_version                  INT16            \
12
     8  00 00 00 07              correlation_id                       INT32            \
7
     c  ff ff                    client_id                            STRING           \
null
     e  00                       _tagged_fields                       UNSIGNED_VARINT  \
0
MetadataRequest v12
     f  02                       topics                               COMPACT_ARRAY    \
1 element
topics[0]
    10  00 00 00 00 00 00 00 …   topic_id                             UUID             \
AAAAAAAAAAAAAAAAAAAABw
    20  00                       name                                 COMPACT_STRING   \
null
    21  00                       _tagged_fields                       UNSIGNED_VARINT  \
0
MetadataRequest v12
    22  01                       allow_auto_topic_creation            BOOLEAN          \
true
    23  00                       include_topic_authorized_operations  BOOLEAN          \
false
    24  00                       _tagged_fields                       UNSIGNED_VARINT  \
0
"""
FETCH = ("--message", "FetchResponse", "--version", "12")


def fetch_response(package, data):
    """Return the body of a Fetch response with a record set."""
    response = package.messages.FetchResponse
    partition = response.PartitionData(partition_index=3, records=data)
    topic = response.FetchableTopicResponse(topic="t", partitions=[partition])
    return package.encode(response(responses=[topic]), 12)


def batch(package, **options):
    """Encode a batch with two records."""
    rows = [(b"k", b"v", 1731000000000), (b"<i>&amp;", b"\x1b[31m", 1731000000009)]
    return package.records.encode_batch(rows, **options)


def values(text):
    """Return {field name: last column} from the printed table."""
    rows = (re.split(r"  +", line.strip()) for line in text.splitlines())
    return {row[2]: row[-1] for row in rows if len(row) > 4}


def test_the_table_has_a_line_for_each_value_under_its_struct(run):
    result = run("explain", FRAME)
    assert (result.code, result.err) == (0, "")
    assert result.out == TABLE


def test_values_are_shown_with_their_meaning(kwire, run):
    data = fetch_response(kwire, batch(kwire) + batch(kwire, compression="gzip"))
    result = run("explain", *FETCH, data.hex())
    assert result.code == 0
    shown_values = values(result.out)
    assert shown_values["error_code"] == "0 (NONE)"
    assert shown_values["last_offset_delta"] == "1 (offset 1)"
    assert shown_values["max_timestamp"] == "2024-11-07 17:20:00.009 (1731000000009)"
    assert shown_values["timestamp_delta"] == "9 (2024-11-07 17:20:00.009)"
    assert shown_values["attributes"] == "1 (gzip)"
    assert re.fullmatch(
        "gzip: 2 records, [0-9]+ bytes unpacked", shown_values["records"]
    )
    assert re.fullmatch("0x[0-9a-f]{8}", shown_values["crc"])
    assert shown_values["key"] == '"<i>&amp;"'
    assert shown_values["value"] == "5 bytes", "an escape sequence is no text to print"
    assert "responses[0].partitions[0].records.batches[1]\n" in result.out


def test_the_bytes_of_the_json_lines_are_the_input(kwire, run):
    """The lines contain all bytes of the input once and in order.

    The positions continue in the second frame.
    """
    data = bytes.fromhex(FRAME) * 2
    result = run("explain", data.hex(), "-o", "jsonl")
    assert result.code == 0
    assert "".join(row["bytes"] for row in result.rows) == data.hex()
    for row in result.rows:
        assert row["bytes"] == data[row["position"] :][: row["size"]].hex()
    assert result.rows[3] == {
        "position": 8,
        "size": 4,
        "bytes": "00000007",
        "part": "RequestHeader v2",
        "path": "correlation_id",
        "type": "INT32",
        "value": 7,
        "kind": "number",
        "meaning": None,
        "prefix": 0,
    }
    by_path = {row["path"]: row for row in result.rows}
    assert by_path["topics[0].topic_id"]["value"] == "AAAAAAAAAAAAAAAAAAAABw"
    assert by_path["client_id"]["type"] == "NULLABLE_STRING"


def test_every_value_of_every_message_can_be_shown(kwire):
    """The text is one printable line, and the JSON contains no NaN."""
    rows = importlib.import_module(f"{kwire.__name__}.cli.output.byte_map_rows")
    byte_formats = importlib.import_module(f"{kwire.__name__}.cli.output.byte_formats")
    maps = importlib.import_module(f"{kwire.__name__}.explain")
    texts = set()
    for vector in golden.vectors():
        cls = getattr(kwire.messages, vector.message)
        for span in maps.byte_map(cls, vector.data, vector.version).spans:
            text = rows.value_text(span)
            assert text and text.isprintable() and len(text) < 900
            texts.add(text)
            line = byte_formats.compact_json(rows.make_row(span, vector.data))
            assert "NaN" not in line and "Infinity," not in line
    assert {"null", "true", "0 elements", "present", '""'} <= texts


def test_a_number_that_json_cannot_state_is_a_string(kwire, run):
    request = kwire.messages.AlterClientQuotasRequest
    ops = [request.OpData(key="k", value=float("-inf"))]
    message = request(entries=[request.EntryData(ops=ops)])
    frame = kwire.messages.framing.encode_request(message, 1)
    rows = run("explain", frame.hex(), "-o", "jsonl").rows
    (row,) = (row for row in rows if row["path"] == "entries[0].ops[0].value")
    assert (row["type"], row["value"]) == ("FLOAT64", "-inf")


def test_bad_bytes_are_shown_up_to_the_failure(kwire, run):
    """The last line shows the position and the bytes that cannot be decoded.

    The error is on stderr.
    """
    data = bytearray.fromhex(FRAME)
    data[0x20] = 0x63
    result = run("explain", data.hex())
    assert result.code == 2 and result.err.count("\n") == 1
    assert "topics[0].name: byte 37: the input ends here" in result.err
    *_, owner, before, last = result.out.splitlines()
    assert owner == "topics[0]" and before.split()[0] == "10"
    assert last.startswith("    20  63 00 01 00 00           name")
    assert "the input ends here" in last
    *_, row = run("explain", data.hex(), "-o", "jsonl").rows
    assert (row["kind"], row["path"]) == ("unread", "topics[0].name")


def test_damaged_batches_in_a_good_message_are_a_problem(kwire, run):
    data = bytearray(batch(kwire))
    data[-2] ^= 1
    result = run("explain", *FETCH, fetch_response(kwire, bytes(data)).hex())
    assert result.code == 1 and result.err.count("\n") == 1
    assert result.err.startswith("kwire: record set: byte ")
    assert "checksum" in values(result.out)["crc"]
    result = run("explain", "--records", bytes(data).hex())
    assert result.code == 2 and "checksum" in result.err
    result = run("explain", "--records", data.hex() + batch(kwire)[:40].hex())
    assert "40 bytes of an incomplete batch" in result.out


# In a terminal ------------------------------------------------------------------------


@pytest.fixture(params=ENGINES)
def environment(request):
    """Environment for a process in a terminal."""
    unwanted = "NO_COLOR", "COLUMNS"
    return {
        **{name: v for name, v in os.environ.items() if name not in unwanted},
        "KWIRE_BACKEND": request.param,
        "PYTHONPATH": str(SOURCE),
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
    }


def test_a_terminal_gets_colours_and_lines_of_its_width(environment):
    row = ("日本語" * 30).encode(), b"v" * 300
    data = fetch_response(installed, installed.records.encode_batch([row]))
    args = ["explain", *FETCH, data.hex()]
    for columns in 80, 100, 150:
        code, output = in_terminal(args, environment, columns=columns)
        assert code == 0 and "\x1b[36m" in output and "\x1b[32m" in output
        lines = visible(output).splitlines()
        widths = [cell_len(line) for line in lines]
        assert max(widths) == columns, "long values are cut, and none too early"
        starts = {line.index("INT") for line in lines if re.search(r" U?INT\d", line)}
        assert len(starts) <= 2, "the types are in one column"
    _, plain = in_terminal(args, environment | {"NO_COLOR": "1"})
    assert "\x1b[3" not in plain


def test_json_in_a_terminal_is_coloured_json(environment):
    code, output = in_terminal(["decode", FRAME], environment)
    assert code == 0 and "\x1b[" in output
    plain = visible(output)
    assert '"topicId": "AAAAAAAAAAAAAAAAAAAABw"' in plain
    assert max(map(len, plain.splitlines())) <= 80


# The HTML page ------------------------------------------------------------------------


class Page(HTMLParser):
    """Parses an HTML page, and checks that all elements are closed.

    * ``shown``: byte texts by field number.
    * ``fields``: field texts by field number.
    """

    def __init__(self, text):
        super().__init__()
        self.stack = []
        self.links = []
        self.shown = {}
        self.fields = {}
        self.lines = 0
        self.feed(text)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.links += [attrs[name] for name in ("src", "href") if name in attrs]
        if tag not in ("meta", "link"):
            self.stack.append((tag, attrs))
        number = attrs.get("data-s")
        if number is not None:
            spans = self.shown if self._section() == "bytes" else self.fields
            spans.setdefault(int(number), []).append("")

    def handle_endtag(self, tag):
        assert self.stack.pop()[0] == tag

    def handle_data(self, data):
        for _, attrs in reversed(self.stack):
            if "data-s" in attrs:
                spans = self.shown if self._section() == "bytes" else self.fields
                spans[int(attrs["data-s"])][-1] += data
                break

    def _section(self):
        return next((a["id"] for tag, a in self.stack if tag == "section"), None)


def page_of(run, path, *args, code=0):
    """Write a page to ``path``. Return it as a ``Page`` and as text."""
    result = run("explain", *args, "--html", path)
    assert (result.code, result.out) == (code, "")
    return Page(path.read_text()), path.read_text()


def test_the_page_has_each_value_among_the_bytes_and_in_the_tree(kwire, run, tmp_path):
    data = fetch_response(kwire, batch(kwire) + batch(kwire, compression="gzip"))
    page, _ = page_of(run, tmp_path / "page.html", *FETCH, data.hex())
    rows = run("explain", *FETCH, data.hex(), "-o", "jsonl").rows
    assert sorted(page.fields) == sorted(page.shown) == list(range(len(rows)))
    for number, row in enumerate(rows):
        pieces = page.shown[number]
        # Each line shows its bytes, and then its characters.
        read = "".join(pieces[::2]).replace(" ", "")
        assert read == row["bytes"]
        assert sum(map(len, pieces[1::2])) == row["size"]
        (field,) = page.fields[number]
        assert row["path"].split(".")[-1].endswith(field.split()[0]), field
        assert row["type"] in field


def test_the_page_needs_nothing_else_and_shows_text_as_text(kwire, run, tmp_path):
    request = kwire.messages.HeartbeatRequest(group_id="<script>alert(1)</script>&")
    frame = kwire.messages.framing.encode_request(request, 4, 7)
    page, text = page_of(run, tmp_path / "page.html", frame.hex())
    assert page.links == ["data:,"] and "://" not in text
    assert "<script>alert" not in text and "@import" not in text
    fields = "".join("".join(texts) for texts in page.fields.values())
    assert '"<script>alert(1)</script>&"' in fields
    assert "<title>HeartbeatRequest v4</title>" in text


def lines_of(text):
    """Return the lines of the tree without markup: summaries and values."""
    tree = text.partition("<section id=tree>")[2]
    lines = re.findall(r"<(?:summary|div)\b.*?</(?:summary|div)>", tree, re.S)
    return [html.unescape(re.sub("<[^>]*>", "", line)) for line in lines]


def test_the_tree_sums_up_each_element_beside_its_index(kwire, run, tmp_path):
    data = fetch_response(kwire, batch(kwire) + batch(kwire, compression="gzip"))
    _, text = page_of(run, tmp_path / "page.html", *FETCH, data.hex())
    elements = [line for line in lines_of(text) if line.startswith("[")]
    assert elements == [
        '[0]topic "t"',
        "[0]partition_index 3, high_watermark 0, last_stable_offset -1",
        "[0]base_offset 0, none, 2 records",
        '[0]offset 0, key "k", value "v"',
        '[1]offset 1, key "<i>&amp;", value 5 bytes',
        "[1]base_offset 0, gzip, 2 records",
        '[0]offset 0, key "k", value "v"',
        '[1]offset 1, key "<i>&amp;", value 5 bytes',
    ]


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_the_tree_shows_the_records_inside_compressed_batches(
    kwire, run, tmp_path, magic
):
    """The records refer to the compressed bytes of their batch."""
    headers = [("h", b"w")] if magic == 2 else []
    rows = [(b"k%d" % n, b"v" * n, 1731000000000 + n, headers) for n in range(3)]
    data = kwire.records.encode_batch(rows, compression="gzip", magic=magic)
    # Put another batch before the data, so that the records must refer to the second
    # batch.
    page, text = page_of(
        run, tmp_path / "page.html", "--records", (batch(kwire) + data).hex()
    )
    spans = run("explain", "--records", (batch(kwire) + data).hex(), "-o", "jsonl").rows
    (number,) = (
        index for index, row in enumerate(spans) if row["kind"] == "compressed"
    )
    unpacked = re.findall(r"<div data-u=(\d+)", text)
    assert set(unpacked) == {str(number)}
    assert page.fields[number][0].startswith("records" if magic == 2 else "value")
    lines = lines_of("<section id=tree>" + text[text.rindex("gzip: 3 records") :])
    expected_lines = ['[2]offset 2, key "k2", value "vv"', "offset 2", 'key "k2"']
    expected_lines.append('value "vv"')
    first_line = lines.index(expected_lines[0])
    assert lines[first_line : first_line + 4] == expected_lines
    time = "2024-11-07 17:20:00.002 (1731000000002)" if magic else "-1"
    assert lines[first_line + 4] == f"timestamp {time}"
    if magic == 2:
        assert lines[first_line + 5 : first_line + 7] == [
            'headers[0].key "h"',
            'headers[0].value "w"',
        ]


def test_of_very_many_packed_records_the_first_are_shown(kwire, run, tmp_path):
    """A few bytes decompress to many records, and the page shows their number."""
    rows = [(None, b"")] * 1_000
    data = kwire.records.encode_batch(rows, compression="gzip") * 11
    source = tmp_path / "data"
    source.write_bytes(data)
    path = tmp_path / "page.html"
    _, text = page_of(run, path, "--records", f"@{source}")
    assert text.count("<div class=more>500 records more</div>") == 10
    assert path.stat().st_size < 3_000_000


def test_page_shows_the_error_of_invalid_bytes(kwire, run, tmp_path):
    data = bytearray(batch(kwire))
    data[-2] ^= 1
    body = fetch_response(kwire, bytes(data))[:-1]
    _, text = page_of(run, tmp_path / "page.html", *FETCH, body.hex(), code=2)
    problems = re.findall("<p class=problem>(.*)</p>", text)
    assert len(problems) == 2
    assert "the input ends here" in problems[0] and "checksum" in problems[1]


def test_the_middle_of_long_values_is_not_in_the_page(kwire, run, tmp_path):
    row = b"k", b"v" * 1_000_000
    data = fetch_response(kwire, kwire.records.encode_batch([row]))
    source = tmp_path / "data"
    source.write_bytes(data)
    path = tmp_path / "page.html"
    _, text = page_of(run, path, *FETCH, f"@{source}")
    assert path.stat().st_size < 60_000
    (hidden,) = re.findall("<div class=more>([0-9,]+) bytes more</div>", text)
    shown_bytes = text.count("76 76") + text.count(" 76<")
    assert int(hidden.replace(",", "")) > 999_000 and shown_bytes
    lines = re.findall(r"<div><i>([0-9a-f]+)</i>", text)
    assert len(lines) * 16 + int(hidden.replace(",", "")) - len(data) in range(16)


def test_a_page_of_several_frames_has_them_all(run, tmp_path):
    _, text = page_of(run, tmp_path / "page.html", FRAME * 2)
    assert text.count("<u>MetadataRequest v12</u>") == 2
    assert "<title>MetadataRequest v12</title>" in text


def test_no_file_is_overwritten(run, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("mine")
    result = run("explain", FRAME, "--html", path)
    assert result.code == 2 and "exists already" in result.err
    assert path.read_text() == "mine"
