# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire decode``: bytes in any notation are recognized and printed."""

import base64
import importlib
import json
import re

import pytest
from click.testing import CliRunner

from tests.harness import golden

RESPONSE = ("--response", "Fetch", "--version", "12")


@pytest.fixture
def request_frame(kwire):
    """Request with its size: 31 bytes."""
    request = kwire.messages.HeartbeatRequest
    message = request(group_id="g", generation_id=5, member_id="me")
    return kwire.messages.framing.encode_request(message, 4, 7, "tester")


@pytest.fixture
def response_frame(kwire):
    """Fetch response of version 12 with its size and two batches."""
    rows = [(b"k", b"v", 1731000000000, [("h", b"\xff")]), (None, None)]
    batches = kwire.records.encode_batch(rows) + kwire.records.encode_batch(
        [(b"z", b"zz")], base_offset=2, compression="gzip"
    )
    return kwire.messages.framing.encode_response(fetch_response(kwire, batches), 12, 9)


def fetch_response(kwire, data):
    """Return a Fetch response with a record set."""
    response = kwire.messages.FetchResponse
    partition = response.PartitionData(partition_index=3, records=data)
    topic = response.FetchableTopicResponse(topic="t", partitions=[partition])
    return response(responses=[topic])


def run_with_input(kwire, data, *args):
    """Run the program with bytes on stdin. Return (exit code, stdout, stderr)."""
    program = importlib.import_module(f"{kwire.__name__}.cli.main").program
    done = CliRunner().invoke(program, [str(arg) for arg in args], input=data)
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.exit_code, done.stdout, done.stderr


def hex_lines(data, offset, ascii_column):
    """Format a hex dump as a tool does.

    ``offset(start)`` and ``ascii_column(text)`` return the columns beside the bytes.
    """
    lines = []
    for start in range(0, len(data), 16):
        piece = data[start : start + 16]
        text = "".join(chr(c) if 32 <= c < 127 else "." for c in piece)
        spaced = piece.hex(" ").ljust(47)
        lines.append(offset(start) + spaced + ascii_column(text))
    return "\n".join(lines)


def spaced(data):
    """Return hex digits in groups of four, as xxd prints them."""
    return re.sub("(....)", r"\1 ", data.hex())


SPELLINGS = {
    "hex": lambda data: data.hex(),
    "upper case": lambda data: data.hex().upper(),
    "spaces": lambda data: data.hex(" "),
    "colons": lambda data: data.hex(":"),
    "groups": spaced,
    "lines": lambda data: "\n".join(re.findall(".{1,20}", data.hex())),
    "an array of C": lambda data: "{" + ", ".join(f"0x{b:02x}" for b in data) + "}",
    "xxd": lambda data: hex_lines(data, "{:08x}: ".format, "  {}".format),
    "hexdump": lambda data: (
        hex_lines(data, "{:08x}  ".format, "  |{}|".format) + f"\n{len(data):08x}\n"
    ),
    "a network tool": lambda data: hex_lines(data, "{:04x}   ".format, "   {}".format),
    "tcpdump": lambda data: hex_lines(data, "\t0x{:04x}:  ".format, "  {}".format),
    "od": lambda data: hex_lines(data, "{:07o} ".format, lambda text: ""),
    "escapes": lambda data: "".join(f"\\x{b:02x}" for b in data),
    "Python": repr,
    "base64": lambda data: base64.b64encode(data).decode(),
    "base64 in lines": lambda data: base64.encodebytes(data).decode(),
    "base64 for URLs": lambda data: base64.urlsafe_b64encode(data).decode(),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_bytes_are_read_however_they_are_written(
    kwire, run, request_frame, tmp_path, spelling
):
    """The bytes come from an argument, a file or stdin, in any spelling.

    All 256 byte values are preserved.
    """
    text = SPELLINGS[spelling](request_frame)
    expected = run("decode", request_frame.hex(), "-o", "jsonl")
    assert expected.code == 0 and expected.rows[0]["header"]["clientId"] == "tester"
    assert run("decode", "-o", "jsonl", "--", text) == expected
    (tmp_path / "text").write_text(text)
    assert run("decode", "-o", "jsonl", f"@{tmp_path / 'text'}") == expected
    for stdin in (), ("-",):
        outcome = run_with_input(kwire, text.encode(), "decode", "-o", "jsonl", *stdin)
        assert outcome == tuple(expected)
    read = importlib.import_module(f"{kwire.__name__}.cli.input.bytes").read_input
    every = bytes(range(256)) + b"||  ab  >cd<   ef"
    assert read(SPELLINGS[spelling](every)) == every


def test_files_hold_the_bytes_themselves_as_well(kwire, run, request_frame, tmp_path):
    path = tmp_path / "frame"
    path.write_bytes(request_frame)
    expected = run("decode", request_frame.hex())
    assert run("decode", f"@{path}") == expected
    assert run_with_input(kwire, request_frame, "decode", "-") == tuple(expected)


def test_notation_can_be_specified(run, tmp_path):
    """Four letters are two bytes in hex, three in base64, and four as text."""
    path = tmp_path / "letters"
    path.write_text("cafe")
    sizes = {}
    for form in "auto", "hex", "base64", "binary":
        result = run("explain", "--records", f"@{path}", "--input", form, "-o", "jsonl")
        (row,) = result.rows
        sizes[form] = row["size"]
    assert sizes == {"auto": 2, "hex": 2, "base64": 3, "binary": 4}
    result = run("explain", "--records", "--input", "base64", "-o", "jsonl", "qw")
    assert result.rows[0]["bytes"] == "ab", "who says base64 needs no padding"


def test_request_is_recognized_by_its_header(kwire, run, request_frame):
    """A Heartbeat request is decoded with and without its size."""
    for data in request_frame, request_frame[4:]:
        (row,) = run("decode", data.hex(), "-o", "jsonl").rows
        assert (row["message"], row["version"]) == ("HeartbeatRequest", 4)
        assert row["header"] == {
            "requestApiKey": 12,
            "requestApiVersion": 4,
            "correlationId": 7,
            "clientId": "tester",
        }
        assert row["body"]["memberId"] == "me"


def test_every_request_is_recognized(kwire):
    """A request of each API and version is recognized with and without its size."""
    guess = importlib.import_module(f"{kwire.__name__}.cli.input.pieces")._guess_pieces
    for (name, version), vectors in golden.by_pair().items():
        cls = getattr(kwire.messages, name)
        if cls.kind != "request":
            continue
        message = kwire.decode(cls, vectors[-1].data, version)
        frame = kwire.messages.framing.encode_request(message, version, 1, "c")
        for data in frame, frame[4:], frame + frame:
            pieces, _ = guess(data)
            assert len(pieces) == (2 if len(data) > len(frame) else 1)
            for piece in pieces:
                reading = piece.read()
                assert (reading.message, reading.version) == (message, version)


def test_several_frames_are_all_printed(kwire, run, request_frame):
    result = run("decode", (request_frame * 3).hex(), "-o", "jsonl")
    assert result.code == 0 and len(result.rows) == 3
    assert result.rows[0] == result.rows[2]


def test_a_cut_last_frame_costs_only_itself(kwire, run, request_frame):
    result = run("decode", (request_frame * 2)[:-3].hex(), "-o", "jsonl")
    assert result.code == 2 and len(result.rows) == 1
    end = len(request_frame) * 2 - 3
    assert f"byte {end}: the input ends here" in result.err
    assert result.err.count("\n") == 1 and "--response" not in result.err


def test_offsets_of_errors_count_from_the_start_of_the_input(run, request_frame):
    data = bytearray(request_frame * 2)
    data[-1] = 9
    result = run("decode", data.hex(), "-o", "jsonl")
    assert result.code == 2 and f"byte {len(data) - 1}:" in result.err


def test_responses_are_decoded_as_they_are_named(kwire, run, response_frame):
    """``--response`` accepts an API name, a class name or an API key.

    Names may be in lower case or upper case.
    """
    expected = kwire.messages.framing.decode_response(
        kwire.messages.FetchResponse, response_frame[4:], 12
    )
    for name in "Fetch", "FetchResponse", "fetch", "1":
        for data in response_frame, response_frame[4:]:
            args = ("-r", name, "-v", 12, data.hex())
            (row,) = run("decode", *args, "-o", "jsonl").rows
            assert row["header"] == {"correlationId": 9}
            assert (row["message"], row["version"]) == ("FetchResponse", 12)
            lines = run("decode", *args, "-o", "repr").out.splitlines()
            assert lines[1].startswith("FetchResponse(throttle_time_ms=0")
            assert repr(expected[1])[:300] in lines[1]


def test_a_body_is_decoded_without_header(kwire, run):
    for vector in golden.by_pair()["RegisterBrokerRecord", 3]:
        result = run(
            "decode",
            "-m",
            "registerbroker",
            "-v",
            "3",
            "-o",
            "jsonl",
            vector.data.hex(),
        )
        message = kwire.decode(
            kwire.messages.RegisterBrokerRecord, vector.data, vector.version
        )
        (row,) = result.rows
        assert "header" not in row
        assert without_additions(row["body"]) == kwire.to_json(message, 3)


def test_a_message_with_one_version_needs_none_named(run):
    (row,) = run("decode", "-m", "TopicRecord", "-o", "jsonl", "02 61" + "00" * 17).rows
    assert row["body"]["name"] == "a" and row["version"] == 0


def test_message_after_its_version_prefix_is_recognized(kwire, run):
    cls = kwire.messages.ConsumerProtocolSubscription
    data = kwire.messages.framing.encode_prefixed(cls(topics=["t"]), 1)
    args = ("-m", cls.__name__, "--prefixed", "-o", "jsonl")
    (row,) = run("decode", *args, data.hex()).rows
    assert (row["version"], row["body"]["topics"]) == (1, ["t"])
    newer = b"\0\x63" + kwire.encode(cls(topics=["t"]), 3) + b"appended"
    (row,) = run("decode", *args, newer.hex()).rows
    assert row["version"] == 3


def test_record_sets_are_recognized(kwire, run):
    for magic in 0, 1, 2:
        data = kwire.records.encode_batch(
            [(b"k", b"v"), (b"\xff", None)], magic=magic, compression="gzip"
        )
        for options in (), ("--records",):
            (batch,) = run("decode", data.hex(), *options, "-o", "jsonl").rows
            assert (batch["magic"], batch["compression"]) == (magic, "gzip")
            first, second = batch["records"]
            assert (first["key"], first["value"]) == ("k", "v")
            assert (second["key_base64"], second["value"]) == ("/w==", None)


def test_batches_of_a_message_are_decoded_in_place(run, response_frame):
    """The batches in a message are decoded in place.

    Kafka's own JSON form does not contain them.
    """
    (row,) = run("decode", *RESPONSE, response_frame.hex(), "-o", "jsonl").rows
    (partition,) = row["body"]["responses"][0]["partitions"]
    first, second = partition["records"]
    assert first["records"] == [
        {
            "offset": 0,
            "timestamp": 1731000000000,
            "key": "k",
            "value": "v",
            "headers": [{"key": "h", "value_base64": "/w=="}],
        },
        {"offset": 1, "timestamp": -1, "key": None, "value": None},
    ]
    assert second["records"][0]["value"] == "zz" and second["base_offset"] == 2


def test_control_records_are_decoded(kwire, run):
    data = kwire.records.encode_batch(
        [(b"\0\0\0\1", b"\0\0\0\0\0\7", 0)],
        is_control=True,
        is_transactional=True,
        producer_id=1,
        producer_epoch=0,
    )
    (batch,) = run("decode", data.hex(), "-o", "jsonl").rows
    (record,) = batch["records"]
    assert record["key_control"] == "COMMIT"
    assert record["value_json"]["data"]["coordinatorEpoch"] == 7


def test_damaged_batches_in_a_good_message_are_a_problem(kwire, run):
    good = kwire.records.encode_batch([(b"k", b"v")])
    bad = bytearray(good)
    bad[-3] ^= 1
    message = fetch_response(kwire, good + bytes(bad))
    data = kwire.messages.framing.encode_response(message, 12, 9)
    result = run("decode", *RESPONSE, data.hex(), "-o", "jsonl")
    assert result.code == 1
    (partition,) = result.rows[0]["body"]["responses"][0]["partitions"]
    assert partition["records"][0]["records"][0]["key"] == "k"
    assert "checksum" in partition["records"][1]["error"]
    assert re.fullmatch("kwire: record set: byte [0-9]+: .*checksum.*\n", result.err)


def without_additions(form):
    """Remove fields that Kafka's JSON form does not have."""
    if isinstance(form, list):
        return [without_additions(element) for element in form]
    if not isinstance(form, dict):
        return form
    form = {
        key: "" if key in ("records", "unalignedRecords") and value else value
        for key, value in form.items()
        if key != "unknownTaggedFields"
    }
    return {key: without_additions(value) for key, value in form.items()}


def tags_of(struct):
    """Return the number of unknown tagged fields in a message and its structs."""
    if isinstance(struct, tuple):
        return sum(map(tags_of, struct))
    names = getattr(type(struct), "__match_args__", None)
    if names is None:
        return 0
    below = sum(tags_of(getattr(struct, name)) for name in names)
    return len(struct.unknown_tagged_fields) + below


def test_decode_json_equals_to_json_with_additions(kwire):
    """Without the additions of the command, the JSON is that of ``to_json``.

    Covers all messages that Kafka's own classes have encoded.
    """
    module = importlib.import_module(f"{kwire.__name__}.cli.output.message_json")
    tag_count = 0
    for vector in golden.vectors():
        cls = getattr(kwire.messages, vector.message)
        message = kwire.decode(cls, vector.data, vector.version)
        form = module.MessageJson().message(message, vector.version)
        assert without_additions(form) == kwire.to_json(message, vector.version)
        tags = json.dumps(form).count('{"tag": ')
        assert tags == tags_of(message)
        tag_count += tags
        text = module.indent_json(form, 80)
        assert repr(json.loads(text)) == repr(form)
    assert tag_count > 1000


def test_lines_are_filled_and_not_wider_than_asked(kwire):
    indent_json = importlib.import_module(
        f"{kwire.__name__}.cli.output.message_json"
    ).indent_json
    value = {"ids": list(range(60)), "empty": [], "none": None, "inner": {"a": [{}]}}
    text = indent_json(value, 40)
    assert json.loads(text) == value
    lines = text.split("\n")
    assert max(map(len, lines)) <= 40 and len(lines) < 15
    assert '  "inner": {"a": [{}]}' in lines
    assert indent_json(value, 10_000).count("\n") == 0
    for width in range(20, 200, 7):
        assert max(map(len, indent_json(value, width).split("\n"))) <= width


@pytest.mark.parametrize(
    ("args", "error_text"),
    [
        (("",), "the input is empty"),
        (("123",), "even number of digits (got 3)"),
        (("zz",), "neither hex nor base64 (got 'zz'); write @FILE"),
        (("hello world",), "is neither hex nor base64"),
        (("\\x0g",), "unknown escape"),
        (("--input", "hex", "0g"), "invalid digit (got 'g')"),
        (("--input", "binary", "00"), "binary input must come from @FILE or stdin"),
        (("0000000 0000 1700\n0000004",), "swaps the bytes of each pair"),
        (("00000000: 0001\n00000003: 04",), "offsets of the dump do not match"),
        (("@no/such/file",), "no/such/file: no such file"),
        (("-r", "Fetc", "00"), "did you mean Fetch, "),
        (("-r", "Fetch", "00"), "choose one with --version"),
        (("-r", "Fetch", "-v", "99", "00"), "has versions 0 to 18 (got 99)"),
        (("-r", "FetchRequest", "-v", "4", "00"), "FetchRequest has no response"),
        (("-r", "999", "-v", "4", "00"), "999"),
        (
            ("-m", "Fetch", "-v", "4", "00"),
            "is ambiguous; give FetchRequest or FetchResponse",
        ),
        (("-m", "TopicRecord", "-r", "Fetch", "00"), "give one of"),
        (("--records", "-r", "Fetch", "00"), "give one of"),
        (("--prefixed", "00"), "--prefixed requires --message"),
        (("-v", "3", "00"), "--version requires"),
        (("-m", "TopicRecord", "--prefixed", "-v", "0", "00"), "--version requires"),
        (("deadbeefdeadbeef",), "name its type with --response or --message"),
        (("00",), "name its type with --response or --message"),
        (("0012 0063 00000007 0000 00",), "versions 0 to 5 (got 99)"),
        (("0000 0007 0000",), "if these are not requests, name their type"),
    ],
)
def test_undecodable_input_is_a_one_line_error_with_a_solution(run, args, error_text):
    for command in "decode", "explain":
        result = run(command, *args)
        assert result.code == 2 and error_text in result.err, result.err
        assert result.err.count("\n") == 1 and result.err.startswith("kwire")
        assert "Traceback" not in result.err


def test_a_file_without_its_sign_is_recognized(run, tmp_path):
    path = tmp_path / "payload.bin"
    path.write_bytes(b"\0")
    result = run("decode", path)
    assert result.code == 2 and f"write @{path}" in result.err


def test_empty_stdin_is_distinguished_from_a_terminal(kwire):
    code, out, err = run_with_input(kwire, b"", "decode")
    assert (code, out) == (2, "") and "the input is empty" in err
