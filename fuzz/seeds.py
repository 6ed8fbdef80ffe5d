# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Seeds: golden vectors and recorded data, converted to the format of each target.

Seeds are generated when a run requires them and never committed, because ``tests/``
already contains their data. Each function is named after its target, and yields inputs
for it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import lzma
import random
import sys
from functools import cache
from pathlib import Path

from fuzz import engines

TESTS = Path(__file__).resolve().parent.parent / "tests"
LARGEST = 4096
"""Maximum size of a seed in bytes.

Larger seeds take more time, but cover little additional code.
"""


@cache
def golden():
    """Return the module that reads the golden vectors."""
    from tests.harness import golden

    return golden


@cache
def vectors():
    """Return the golden vectors of less than ``LARGEST`` bytes."""
    return [each for each in golden().vectors() if len(each.data) < LARGEST]


def fuzz_message():
    """Yield every vector as an input. The decoding mode alternates."""
    for number, (name, version, data, _) in enumerate(vectors()):
        versions = getattr(engines.packages()[0].messages, name).valid_versions
        head = engines.place_of(name) + bytes((version - versions.min, number % 16))
        yield head + data


@cache
def record_sets():
    """Return batches written by Kafka's classes, and beginnings of real segments."""
    found = []
    with lzma.open(TESTS / "vectors" / "records.jsonl.xz") as lines:
        for line in lines:
            data = json.loads(line).get("bytes")
            if data is not None:
                found.append(base64.b64decode(data))
    for path in sorted((TESTS / "data").glob("*/data/*/*.log")):
        found.append(path.read_bytes()[:LARGEST])
    return list(dict.fromkeys(each for each in found if 0 < len(each) <= LARGEST))


def fuzz_header():
    """Yield frames, prefixed messages, and records of internal topics."""
    kwire = engines.packages()[0]
    framing = kwire.messages.framing
    for number, (name, version, data, _) in enumerate(vectors()[::4]):
        cls = getattr(kwire.messages, name)
        head = engines.place_of(name) + bytes((version - cls.valid_versions.min,))
        mode = bytes((number % 4,))
        if cls.kind in ("request", "response"):
            message = kwire.decode(cls, data, version)
            write = getattr(framing, f"encode_{cls.kind}")
            kind = b"\0" if cls.kind == "request" else b"\1"
            yield kind + mode + head + write(message, version, correlation_id=7)[4:]
        else:
            yield b"\2" + mode + head + version.to_bytes(2, "big") + data
    lines = (TESTS / "vectors" / "internal-topics.jsonl").read_text("utf-8")
    for line in lines.splitlines():
        record = json.loads(line)
        topics = kwire.messages.internal_topics.TOPICS
        topic = bytes((topics.index(record["topic"]),))
        yield b"\3\0\0\0" + topic + _parts(record["key"], record["value"])
    for kind, value in ((0, "000000000007"), (1, "000000000007"), (2, "000000000000")):
        yield b"\4\0\0\0\0" + _parts(f"0000000{kind}", value)


def _parts(key, value):
    """Encode a key and a value (hexadecimal or None) in the format of an input."""
    key = None if key is None else bytes.fromhex(key)
    value = b"null" if value is None else bytes.fromhex(value)
    return b"\xff" + value if key is None else bytes((len(key),)) + key + value


def fuzz_frames():
    """Yield streams of up to three frames, and the starts of invalid streams."""
    framed = [len(each.data).to_bytes(4, "big") + each.data for each in vectors()[::40]]
    for number in range(0, len(framed), 3):
        head = bytes((number % 256, number * 7 % 256, number % 4))
        yield head + b"".join(framed[number : number + 3])
    yield from (b"\0\0\3" + head for head in (b"HTTP", b"\x16\3\1\2", b"\xff" * 4))


def fuzz_wire():
    """Yield the beginning of a vector, and synthetic values, for every primitive."""
    for choice in range(256):
        data = vectors()[choice * 20].data[:64]
        yield bytes((choice, choice % 3)) + data
        yield bytes((choice, 0)) + b"\0\0\0\2" + bytes(range(32))


def fuzz_batch():
    """Yield every record set unchanged, and with its records compressed.

    The codecs alternate.
    """
    for number, data in enumerate(record_sets()[::3]):
        yield bytes((0, number % 256)) + data
        yield bytes((8 + 1 + number % 4, 0xFF)) + data


def _compressed(codec):
    """Yield the compressed records of real batches, and data to compress."""
    kwire = engines.packages()[0]
    compression = engines.module(kwire, "records.compression")
    number = 0
    for data in record_sets():
        try:
            header = kwire.records.read_batch_header(data, check_crc=False)
        except kwire.DecodeError:
            continue
        if header is None or header.attributes & 7 != codec:
            continue
        record_engine = engines.module(kwire, "_engine.active").record_engine
        try:
            start, end = record_engine.find_payload(data, header)
        except kwire.DecodeError:
            continue
        number += 1
        yield bytes((header.magic, 4 + number % 2)) + data[start:end]
    for number, data in enumerate(record_sets()[::40]):
        yield bytes((2, 0x80)) + data
        yield bytes((2, number % 24)) + compression.compress(codec, data, 2)
    # Add data that is easy to compress, and data that is hard to compress.
    for data in (bytes(8000), bytes(range(256)) * 8):
        yield bytes((2, 4)) + compression.compress(codec, data, 2)


def fuzz_gzip():
    """Yield data compressed with gzip, and data to compress."""
    return _compressed(1)


def fuzz_snappy():
    """Yield data compressed with snappy, and data to compress."""
    return _compressed(2)


def fuzz_lz4():
    """Yield data compressed with lz4, and data to compress."""
    return _compressed(3)


def fuzz_zstd():
    """Yield data compressed with zstd, and data to compress."""
    return _compressed(4)


def fuzz_log():
    """Yield beginnings of real segments, each with another file of a partition."""
    from fuzz.targets import fuzz_log as target

    names = (*target.FILES, *target.ABOVE)
    folders = sorted((TESTS / "data").glob("*/data/*-[0-9]*"))
    for number, folder in enumerate(folders):
        segments = sorted(folder.glob("*.log"))
        log = segments[0].read_bytes()[:2000]
        mode = bytes((number * 11 % 64, 0))
        yield b"\0" + mode + log
        for path in sorted(folder.iterdir()) + sorted(folder.parent.glob("*[st]")):
            for choice, name in enumerate(names):
                same = path.name == name or (
                    path.suffix == Path(name).suffix != "" and path.suffix != ".log"
                )
                if path.is_file() and same:
                    beside = path.read_bytes().rstrip(b"\0")[:600]
                    yield bytes((choice,)) + mode + log[:900] + target.CUT + beside
    for number, data in enumerate(record_sets()[::15]):
        yield bytes((6, number % 64, number % 5 + 8)) + data


def fuzz_schema():
    """Yield schemas in Kafka's language, including schemas of registered messages."""
    kwire = engines.packages()[0]
    for path in sorted((TESTS.parent / "src/kwire/drafts/schemas").glob("*.json")):
        yield b"\4\0\1\2\3" + path.read_bytes()
    for text in SCHEMAS:
        yield b"\x08" + bytes(range(8)) + text.encode()
    for name in kwire.messages.ALL[::6]:
        model = (
            engines.module(kwire, "_engine.active")
            .engine.binding_of(getattr(kwire.messages, name))
            .message
        )
        yield b"\x06" + bytes(6) + json.dumps(_as_text(model)).encode()


def _as_text(model):
    """Convert a message to a schema with the properties that seeds require."""
    flexible = model.flexible_versions
    return {
        "name": model.name,
        "type": "data",
        "validVersions": str(model.valid_versions),
        "flexibleVersions": f"{flexible.min}+" if flexible else "none",
        "fields": _fields(model.struct, set()),
    }


def _fields(struct, seen):
    found = []
    for field in struct.fields:
        kind = field.type if field.struct is None else field.struct.name
        line = {
            "name": field.name,
            "type": f"[]{kind}" if field.is_array else kind,
            "versions": str(field.versions),
        }
        if field.struct is not None and kind not in seen:
            seen.add(kind)
            line["fields"] = _fields(field.struct, seen)
        found.append(line)
    return found


SCHEMAS = (
    """{"name": "OneRequest", "type": "request", "apiKey": 9, // a comment
  "validVersions": "0-3", "flexibleVersions": "2+", "deprecatedVersions": "0",
  "commonStructs": [{"name": "Shared", "versions": "0+", "fields": [
    {"name": "Id", "type": "uuid", "versions": "0+", "mapKey": "true"}]}],
  "fields": [
    {"name": "Ids", "type": "[]Shared", "versions": "0+", "nullableVersions": "1+"},
    {"name": "Size", "type": "uint32", "versions": "1+", "default": "0xff"},
    {"name": "Rack", "type": "string", "versions": "2+", "nullableVersions": "2+",
     "taggedVersions": "2+", "tag": 0, "default": "null", "ignorable": true},
    /* nested */
    {"name": "Parts", "type": "[]Part", "versions": "0+", "fields": [
      {"name": "Load", "type": "float64", "versions": "0+", "default": 1.5},
      {"name": "Data", "type": "records", "versions": "0-2"}]}]}""",
    """{"name": "Two", "type": "data", "validVersions": "1-2",
  "flexibleVersions": "none", "fields": [
    {"name": "A", "type": "bool", "versions": "0+", "default": "true"},
    {"name": "B", "type": "bytes", "versions": "1", "nullableVersions": "1"},
    {"name": "C", "type": "Inner", "versions": "2+", "fields": [
      {"name": "D", "type": "int64", "versions": "2+", "default": "-1"}]}]}""",
)


def fuzz_negotiation():
    """Yield ApiVersions responses, each as a single frame and after a rejection."""
    refusal = b"\x06\0\0\0\0\0\x23"
    for number, (name, version, data, _) in enumerate(golden().vectors()):
        if name == "ApiVersionsResponse":
            head = bytes((number % 8 | 2, version))
            # The size byte 0xFF means that the frame extends to the end of the input.
            yield head + b"\xff\0\0\0\0" + data[:2000]
            yield bytes((number % 8 | 2, 5)) + refusal + b"\xff\0\0\0\1" + data[:2000]
    yield b"\3\5" + refusal * 5
    yield b"\7\5\4\0\0\0\0"


def fuzz_connection():
    """Yield the bytes that each side receives from its peer in a valid conversation."""
    kwire = engines.packages()[0]
    from fuzz.targets import fuzz_connection as target

    asking = kwire.connection.ClientConnection("fuzz").data_to_send()
    waiting = target.client(kwire, "waiting", {})
    signing = target.client(kwire, "signing", {})
    requests = asking + waiting.data_to_send()
    table = target.table(kwire)
    server = kwire.connection.ServerConnection(table)
    answers = b""
    for sent in (asking, requests, signing.data_to_send()):
        for event in server.receive_data(sent):
            target.answer(kwire, server, event)
        answers = server.data_to_send()
        for side in range(len(target.SIDES)):
            for size in (255, 6):
                yield bytes((side, side, size)) + answers
                yield bytes((side, side, size)) + sent
    for number, (name, version, data, _) in enumerate(vectors()[::9]):
        cls = getattr(kwire.messages, name)
        if cls.api_key in target.OFFERED and cls.kind == "request":
            frame = kwire.messages.framing.encode_request(
                kwire.decode(cls, data, version), version, number
            )
            yield bytes((4 + number % 3, number % 8, 255)) + frame


def fuzz_twins():
    """Yield low and random bytes as the choices for every message."""
    dice = random.Random(1)
    for name in engines.packages()[0].messages.ALL:
        for version in range(4):
            head = engines.place_of(name) + bytes((version,))
            yield head + bytes(dice.choices((1, 3, 5, 0x11), k=40))
            yield head + dice.randbytes(40)


def fuzz_arrow():
    """Yield rows of messages, rows of request headers, and record sets."""
    kwire = engines.packages()[0]
    by_pair = golden().by_pair()
    for number, ((name, version), found) in enumerate(by_pair.items()):
        cls = getattr(kwire.messages, name)
        head = engines.place_of(name) + bytes((version - cls.valid_versions.min,))
        small = [each.data for each in found if len(each.data) < 250][:3]
        rows = b"".join(bytes((len(data),)) + data for data in small) + b"\xff"
        yield bytes((number % 4 * 4,)) + head + rows
        if cls.kind == "request" and number % 5 == 0:
            message = kwire.decode(cls, found[0].data, version)
            frame = kwire.messages.framing.encode_request(message, version, number)[
                4:250
            ]
            yield bytes((2 + number % 4 * 4,)) + head + bytes((len(frame),)) + frame
    for number, data in enumerate(record_sets()[::9]):
        yield bytes((3, 0, 0, number % 4)) + data


def fuzz_tables():
    """Yield small tables in every format and type, text lines, and C arrays."""
    import pyarrow
    from pyarrow import parquet

    from fuzz.targets import fuzz_tables as target

    for table in _small_tables(pyarrow):
        for compression in (None, "lz4", "zstd"):
            options = pyarrow.ipc.IpcWriteOptions(compression=compression)
            for create in (pyarrow.ipc.new_file, pyarrow.ipc.new_stream):
                sink = pyarrow.BufferOutputStream()
                with create(sink, table.schema, options=options) as writer:
                    writer.write_table(table, 2)
                yield b"\1" + sink.getvalue().to_pybytes()
        for options in ({}, {"use_dictionary": False, "compression": "zstd"}):
            sink = pyarrow.BufferOutputStream()
            parquet.write_table(table, sink, **options)
            yield b"\0" + sink.getvalue().to_pybytes()
    line = (
        b'{"key": "k", "value_hex": "00ff", "headers": [{"key": "h"}], "timestamp": 5}'
    )
    yield b"\2" + line + b'\n{"value_json": [1]}\n{"value_base64": "AA=="}\n'
    head = b"key,value,value_encoding,headers,timestamp\n"
    yield b"\3" + head + b'k,00ff,hex,"[{""key"":""h""}]",5\n,text,,,\n'
    yield b"\4key:value\n:\nkey:\n"
    dice = random.Random(2)
    for first in range(len(target.TYPES)):
        for _ in range(12):
            yield b"\5" + bytes((first,)) + dice.randbytes(13)


def _small_tables(pyarrow):
    """Yield tables with the columns of a record, in all suitable types."""
    texts = pyarrow.array(["a", "text of more than twelve bytes", None, "a"])
    pair = pyarrow.struct([("key", pyarrow.string()), ("value", pyarrow.binary())])
    lists = [[("h", b"v"), ("i", None)], None, [], [("h", b"w")]]
    headers = pyarrow.array(lists, pyarrow.list_(pair))
    times = pyarrow.array([1, None, 3, 4], pyarrow.timestamp("ms", "UTC"))
    columns = [texts, texts.dictionary_encode(), pyarrow.nulls(4)]
    for kind in ("binary", "large_string", "binary_view", "string_view"):
        columns.append(texts.cast(getattr(pyarrow, kind)()))
    for column in columns:
        named = {"key": texts, "value": column, "headers": headers}
        yield pyarrow.table(named | {"timestamp": times, "other": [1, 2, 3, 4]})
    views = pyarrow.array(lists, pyarrow.list_view(pair))
    yield pyarrow.table({"value": columns[0], "headers": views})


def write(target, folder):
    """Write the seeds of a target to a directory.

    Returns whether they differ from its previous content.
    """
    folder.mkdir(parents=True, exist_ok=True)
    inputs = {
        hashlib.sha1(data, usedforsecurity=False).hexdigest(): data
        for data in globals()[target]()
    }
    if {path.name for path in folder.iterdir()} == inputs.keys():
        return False
    for path in folder.iterdir():
        path.unlink()
    for name, data in inputs.items():
        (folder / name).write_bytes(data)
    return True


if __name__ == "__main__":
    # python -m fuzz.seeds FOLDER writes the seeds of all targets, for fuzzing services
    # that do not use the runner.
    for path in Path(__file__).parent.glob("targets/fuzz_*.py"):
        write(path.stem, Path(sys.argv[1]) / path.stem)
