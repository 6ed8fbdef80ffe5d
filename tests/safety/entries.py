# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Table of all functions that read bytes, except functions for single messages.

An ``Entry`` describes one function: the call, valid inputs, and the documented errors.
``test_entries.py`` tests the promises for all entries. The calls are implemented in
``entry_calls.py``, the valid and damaged inputs in ``entry_inputs.py``. Single messages
have their own tests.
"""

from functools import cache, partial
from typing import Any, NamedTuple

import pyarrow as pa

from tests.harness.values import neutral
from tests.safety import entry_calls as on
from tests.safety import entry_inputs as good


class Entry(NamedTuple):
    """Function that reads bytes.

    * ``run(package, data)``: calls the function on one engine.
    * ``errors``: names of the classes in ``kwire.errors`` that the function may raise.
    * ``share``: number of inputs relative to other entries.
    * ``repair``: function that corrects the checksums of damaged inputs.
    * ``is_buffer``: whether all bytes-like objects are accepted.
    * ``is_view``: whether the engine reads the memory of ``data`` without a copy.
    * ``is_text``: whether inputs are damaged with text fragments, too.
    * ``growth``: maximum bytes of memory per input byte.
    """

    name: str
    run: Any
    seeds: Any
    errors: tuple[str, ...] = ("DecodeError",)
    share: int = 100
    repair: Any = None
    is_buffer: bool = False
    is_view: bool = False
    is_text: bool = False
    growth: int = 40


class Unexpected(AssertionError):
    """An entry broke a promise. The message contains everything to reproduce it."""


def outcome(entry, package, data):
    """Call an entry.

    Return its comparable value, or a tuple with its error attributes.
    """
    try:
        value = entry.run(package, data)
    except Exception as error:
        return fault(entry, package, error, data)
    return plain(value)


def ends(entry, package, data):
    """Call an entry. Return True if it returned a value, and False after an error.

    An error that is not documented raises Unexpected.
    """
    try:
        entry.run(package, data)
    except Exception as error:
        fault(entry, package, error, data)
        return False
    return True


def fault(entry, package, error, data):
    """Check an error that an entry has raised, and return it as a comparable tuple.

    The tuple contains "error", the class name and the message. For a DecodeError, it
    also contains the offset, the path, the message name and the version.

    Raises Unexpected if the error is not documented for the entry, or if the offset of
    a DecodeError is not an integer from 0 to the length of ``data``.
    """
    promised = tuple(getattr(package.errors, name) for name in entry.errors)
    error_text = (type(error).__name__, str(error))
    if not isinstance(error, promised):
        raise Unexpected(f"{entry.name}: {error_text}: {bytes(data).hex()}") from error
    if isinstance(error, package.errors.DecodeError):
        if type(error.offset) is not int or not 0 <= error.offset <= len(data):
            raise Unexpected(
                f"{entry.name}: offset {error.offset}: {error_text}: {data!r}"
            )
        error_text += error.offset, error.path, error.message_name, error.version
    return "error", *error_text


def without_timestamps(kind):
    """Replace timestamp types by int64, because Python's years are limited."""
    if pa.types.is_timestamp(kind):
        return pa.int64()
    if pa.types.is_struct(kind):
        return pa.struct(
            [(field.name, without_timestamps(field.type)) for field in kind]
        )
    if pa.types.is_list(kind):
        inner = kind.value_field
        return pa.list_(pa.field(inner.name, without_timestamps(inner.type)))
    return kind


def plain(value):
    """Convert a value of either engine to a form that can be compared."""
    if value is None or isinstance(value, (bytes, str, bool, int)):
        return value
    if isinstance(value, (pa.Array, pa.RecordBatch)):
        value.validate(full=True)
        if isinstance(value, pa.RecordBatch):
            return value.schema.names, *map(plain, value.columns)
        return str(value.type), repr(
            value.cast(without_timestamps(value.type)).to_pylist()
        )
    if hasattr(value, "unknown_tagged_fields"):
        return neutral(value)
    if isinstance(value, dict):
        return tuple((plain(key), plain(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return type(value).__name__, *map(plain, value)
    if isinstance(value, BaseException):
        return type(value).__name__, str(value)
    if isinstance(value, memoryview):
        return value.tobytes()
    names = getattr(type(value), "__match_args__", None)
    if names is not None:
        return type(value).__name__, *(plain(getattr(value, name)) for name in names)
    return type(value).__name__, repr(value)


# The table ----------------------------------------------------------------------------

VERSIONED = ("DecodeError", "UnsupportedVersion")
PEER = (*VERSIONED, "RemoteProtocolError")
ANY = {"is_buffer": True, "is_view": True}
RECORDS = {"seeds": good.batches, "repair": good.correct_size, "growth": 1100}


def primitives():
    """Yield entries for single primitives, all array types, and bulk functions."""
    texts = (b"\0\3abc", b"\xff\xff", "\0\6né日".encode(), b"\0\0", b"\4abc", b"\0")
    numbers = (b"\0", b"\x7f", b"\xac\2", b"\xff\xff\xff\xff\x0f", b"\xff" * 9 + b"\1")
    lists = (b"\0\0\0\2" + bytes(range(16)), b"\3" + bytes(range(16)), b"\0", b"\1")
    bytes_ = (b"\0\0\0\3abc", b"\xff" * 4, b"\5abcd", b"\0")
    tags = (b"\0", b"\2\0\1a\5\0", b"\1\x80\1\2ab")
    seeds = dict.fromkeys(("unsigned_varint", "varint", "varlong"), numbers)
    seeds |= dict.fromkeys(("uuid",), (bytes(range(16)),))
    seeds |= {"tagged_fields": tags}
    for compact in ("", "compact_"):
        for null in ("", "nullable_"):
            seeds |= {f"{compact}{null}string": texts, f"{compact}{null}bytes": bytes_}
    for name, inputs in seeds.items():
        yield Entry(
            f"wire {name}",
            on.call(f"messages.wire.decode_{name}"),
            inputs,
            share=50,
            **ANY,
        )
    for compact in ("", "compact_"):
        for kind in ("int8", "int16", "uint16", "int32", "uint32", "int64", "float64"):
            run = on.call(f"messages.wire.decode_{compact}array", type=kind)
            yield Entry(f"wire {compact}array {kind}", run, lists, share=30, **ANY)
    for name in ("unsigned_varints", "varints", "varlongs"):
        samples = (b"\0\1\2\3", b"\xac\2" * 6, b"\x80\1\xff\xff\3\7" * 3)
        yield Entry(f"wire {name}", on.bulk(f"decode_{name}"), samples, share=50, **ANY)


def frames():
    """Yield entries for frames, headers and messages with a version prefix."""
    for title, options in (
        ("", {}),
        (" java", {"compat": "java"}),
        (" zero copy", {"zero_copy": True}),
    ):
        run = on.call("messages.framing.decode_request", **options)
        seeds = good.requests
        yield Entry(f"request{title}", run, seeds, VERSIONED, share=300, **ANY)
    for name, version in (
        ("MetadataResponse", 12),
        ("FetchResponse", 16),
        ("ApiVersionsResponse", 4),
        ("ProduceResponse", 9),
        ("DescribeGroupsResponse", 5),
    ):
        run = on.message_of(name, "messages.framing.decode_response", version)
        seeds = partial(good.responses, name, version)
        yield Entry(f"response {name}", run, seeds, share=150, **ANY)
    for name in (
        "ConsumerProtocolSubscription",
        "ConsumerProtocolAssignment",
        "DefaultPrincipalData",
        "EndTxnMarker",
        "OffsetCommitValue",
    ):
        run = on.message_of(name, "messages.framing.decode_prefixed")
        seeds = partial(good.prefixed, name)
        yield Entry(f"prefixed {name}", run, seeds, VERSIONED, share=150, **ANY)
    yield Entry("splitter", on.split, streams, share=300, **ANY)
    run = partial(on.split, most=None)
    yield Entry("splitter without a limit", run, cut_streams, share=100, **ANY)


def streams():
    """Return streams of up to three request frames, each after its size."""
    frames = good.requests()
    return [good.sized(frames[start : start + 3]) for start in range(0, len(frames), 3)]


def cut_streams():
    """Return streams that end in a frame whose declared size is one gibibyte."""
    return [stream + b"\x40\0\0\0" + stream for stream in streams()]


def arrays():
    """Yield entries for Arrow arrays of frames, messages and records."""
    seeds = partial(on_rows, good.requests)
    for mode in ("raise", "null"):
        run = on.rows("messages.arrow.request_headers_to_arrow", on_error=mode)
        errors = VERSIONED if mode == "raise" else ()
        name = f"header columns {mode}"
        yield Entry(name, run, seeds, errors, share=200, is_view=True, growth=400)
        for cls, version in (
            ("MetadataResponse", 12),
            ("ProduceRequest", 9),
            ("FetchResponse", 11),
            ("ApiVersionsResponse", 3),
            ("JoinGroupRequest", 9),
        ):
            run = on.rows_of_class(cls, version, mode)
            errors = ("DecodeError",) if mode == "raise" else ()
            bodies = partial(on_rows, partial(good.bodies, cls, version))
            name = f"message columns {cls} {mode}"
            yield Entry(name, run, bodies, errors, share=40, is_view=True, growth=900)
        cls, version = "ProduceRequest", 9
        run = on.views_of_class(cls, version, mode)
        bodies = partial(on_rows, partial(good.bodies, cls, version))
        name = f"message views {mode}"
        yield Entry(name, run, bodies, errors, share=40, is_view=True, growth=900)
    run = on.call(
        "records.arrow.records_to_arrow", batch_columns=True, errors="replace"
    )
    yield Entry("records to arrow", run, is_buffer=True, is_view=True, **RECORDS)


RECORD_FIELDS = pa.struct([("value", pa.binary()), ("timestamp", pa.int64())])
REQUEST_FIELDS = pa.struct(
    [
        ("timeout_ms", pa.int64()),
        ("topic_data", pa.list_(pa.struct([("name", pa.string())]))),
    ]
)


def decoded_arrays():
    """Yield entries for functions on arrays of record sets and of frames.

    The results have all fields or selected fields.
    """
    record_sets = partial(on_rows, good.batches)
    frames = partial(on_rows, partial(good.request_frames, "ProduceRequest"))
    for mode in ("raise", "null"):
        is_strict = mode == "raise"
        for fields, name in ((None, "all fields"), (RECORD_FIELDS, "chosen fields")):
            schema = fields and pa.list_(fields)
            path = "records.arrow.record_sets_to_arrow"
            run = on.rows(path, on_error=mode, schema=schema)
            errors = VERSIONED if is_strict else ()
            title = f"record sets to arrow {name} {mode}"
            yield Entry(title, run, record_sets, errors, share=20, growth=1100)
        for fields, name in ((None, "all fields"), (REQUEST_FIELDS, "chosen fields")):
            run = on.frames_of_class("ProduceRequest", mode, fields)
            errors = VERSIONED if is_strict else ()
            title = f"frames to arrow {name} {mode}"
            yield Entry(title, run, frames, errors, share=20, growth=900)


def on_rows(frames):
    """Return inputs that encode up to three frames each, for arrays of three rows."""
    frame_list = frames()
    return [
        good.rows(frame_list[start : start + 3])
        for start in range(0, len(frame_list), 3)
    ]


def record_sets():
    """Yield entries for record sets, their payloads and the records in them."""
    errors = VERSIONED
    yield Entry("batches", on.decode_all, errors=errors, share=150, **RECORDS, **ANY)
    run = partial(on.decode_all, check_crc=False, errors="replace", start_offset=3)
    yield Entry("batches without checksums", run, errors=errors, **RECORDS, **ANY)
    yield Entry("columns", on.columns, share=150, **RECORDS, **ANY)
    yield Entry("columns of views", on.views, **RECORDS, **ANY)
    run = partial(on.columns, batch_columns=True, start_offset=2, end_offset=30)
    yield Entry("columns of a part", run, **RECORDS, **ANY)
    for magic in range(3):
        run = on.call("records.convert_batches", magic)
        errors = ("DecodeError", "EncodeError")
        name = f"conversion to magic {magic}"
        yield Entry(name, run, errors=errors, share=40, **RECORDS, **ANY)
    yield Entry("record map", on.mapped_records, share=20, **RECORDS)
    for number, name in enumerate(("gzip", "snappy", "lz4", "zstd"), 1):
        seeds = partial(good.payloads, number)
        run = partial(on.decompressed, number)
        yield Entry(f"payload of {name}", run, seeds, growth=1100, **ANY)
    yield Entry(
        "control record", on.control, good.control_records, VERSIONED, share=150, **ANY
    )
    for topic in on.TOPICS:
        run, seeds = partial(on.internal, topic), partial(good.records_of, topic)
        yield Entry(f"record of {topic}", run, seeds, VERSIONED, share=80, **ANY)


def logs():
    """Yield entries for the files of a data directory."""
    beside = (
        ("OffsetIndex", ".index", ("entries", "has_stray_bytes"), None),
        ("TimeIndex", ".timeindex", ("entries", "has_stray_bytes"), None),
        ("TransactionIndex", ".txnindex", ("entries",), None),
        ("ProducerSnapshot", ".snapshot", ("entries",), good.with_snapshot_crc),
    )
    for kind, suffix, names, repair in beside:
        run = partial(on.in_file, f"{20:020}{suffix}", on.logged(kind, *names))
        seeds = partial(good.files, f"*/data/*/*{suffix}")
        yield Entry(kind, run, seeds, share=40, repair=repair)
    texts = (
        ("read_leader_epochs", "*/data/*/leader-epoch-checkpoint"),
        ("read_offset_checkpoint", "*/data/*-checkpoint"),
        ("read_partition_metadata", "*/data/*/partition.metadata"),
        ("read_meta_properties", "*/data/meta.properties"),
    )
    for function, pattern in texts:
        run = partial(on.in_file, "text", on.of_path(f"log.{function}"))
        seeds = partial(good.files, pattern)
        yield Entry(function, run, seeds, share=40, is_text=True)
    seeds = partial(good.files, "*/data/*/*.log", 4000)
    options = {"repair": good.repaired, "growth": 1100, "share": 6}
    run = partial(on.in_file, f"{0:020}.log", on.segment)
    yield Entry("segment", run, seeds, (), **options)
    run = partial(on.in_file, f"{0:020}.log", on.strict_segment)
    yield Entry("strict segment", run, seeds, **options)
    run = partial(on.in_file, f"{9:020}-{1:010}.checkpoint", on.segment)
    checkpoints = partial(good.files, "*/data/**/*.checkpoint", 20_000)
    yield Entry("snapshot of metadata", run, checkpoints, (), **options)
    for name in (
        f"{0:020}.log",
        f"{41:020}.index",
        f"{41:020}.timeindex",
        f"{59:020}.txnindex",
        f"{59:020}.snapshot",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ):
        path = good.NEWEST / "transactions-0" / name
        run, seeds = partial(on.verified, name), lambda path=path: [path.read_bytes()]
        repair = good.repaired if name.endswith(".log") else None
        yield Entry(
            f"verify {name}", run, seeds, (), share=1, repair=repair, growth=2000
        )


def connections():
    """Yield entries for connections, negotiation, drafts, SASL and recordings."""
    yield Entry("handshake", on.asking, on.first_answers, PEER)
    seeds = partial(good.framed, "ApiVersionsRequest")
    yield Entry("answer to ApiVersions", on.answered, seeds, PEER)
    yield Entry("new client", on.new_client, on.first_replies, (), share=60)
    yield Entry("client", on.client, on.replies, (), share=60)
    yield Entry("server", on.server, streams, (), share=60)
    for name, response, request, arguments in (
        ("kip35_api_version", on.DRAFT_A, b"\0\3\0\1", ("0.10.0-IV0",)),
        (
            "kip35_protocol_version_request",
            on.DRAFT_B,
            b"\0\x12\0\0",
            (18, on.second_draft_response),
        ),
        ("kip35_api_versions_query", on.DRAFT_C, b"\0\x12\0\0", (18, on.served)),
    ):
        asking = () if name == "kip35_api_version" else (18,)
        run = partial(on.answer_draft, name, asking)
        yield Entry(f"answer of {name}", run, (response,), PEER, share=50)
        run = partial(on.draft_answer, name, arguments)
        frame = request + b"\0\0\0\7\0\2me\xff\xff\xff\xff"
        yield Entry(f"question of {name}", run, (frame,), PEER, share=50)
    run = on.call("drafts.kip87_tombstone_flag.decode")
    yield Entry(
        "messages of kip87",
        run,
        good.kip87_sets,
        repair=good.correct_size,
        growth=1100,
        is_buffer=True,
    )
    seeds = partial(good.bodies, "FetchResponse", 15)
    yield Entry("leaders of kip951", on.changes_of_leaders, seeds, PEER)
    errors = ("RemoteProtocolError",)
    for number, server_message in enumerate((on.SERVER_FIRST, on.SERVER_FINAL)):
        run = partial(on.challenged, number)
        yield Entry(
            f"SCRAM {number}", run, (server_message,), errors, share=15, is_text=True
        )
    yield Entry("recorded frames", on.conversation, good.requests, ())
    errors = (*VERSIONED, "EncodeError")
    seeds = partial(good.responses, "MetadataResponse", 9)
    yield Entry("rewritten", partial(on.rewritten, 9), seeds, errors)
    seeds = partial(good.responses, "ApiVersionsResponse", 3)
    yield Entry("limited", on.limited, seeds, errors)
    run = partial(on.in_file, "request.log", on.request_log)
    yield Entry("request log", run, good.request_lines, (), share=10, is_text=True)
    run = partial(on.in_file, "frames.parquet", on.captures)
    yield Entry("captures", run, good.capture_files, ("KwireError",), share=4)
    yield Entry("request map", on.mapped, good.requests, (), share=30)


def texts():
    """Yield entries for schemas and JSON forms."""
    yield Entry(
        "schema",
        on.compiled,
        good.schema_texts,
        ("SchemaError",),
        **{"share": 8, "is_text": True, "growth": 4000},
    )
    for name, version in (("MetadataResponse", 12), ("FetchRequest", 16)):
        run = on.readable(partial(on.from_json, name, version))
        seeds = partial(good.json_forms, name, version)
        errors = ("DecodeError",)
        yield Entry(f"JSON of {name}", run, seeds, errors, is_text=True)
    seeds = partial(good.json_forms, "MetadataRequest", 12)
    run = on.readable(on.write_json_column)
    yield Entry("columns of JSON", run, seeds, (), share=50, is_text=True)


def spark():
    """Yield entries for Spark functions: bad rows become null or raise an error."""
    for failfast in (False, True):
        errors = VERSIONED if failfast else ()
        mode = "failfast" if failfast else "permissive"
        options = {"failfast": failfast}
        run = on.column_call("messages.columns.request_headers.read_headers", **options)
        seeds = partial(on_rows, good.requests)
        yield Entry(f"spark headers {mode}", run, seeds, errors, share=20, growth=900)
        for name in ("MetadataRequest", "ProduceRequest"):
            run = on.column_call(
                "messages.columns.message_reading.read_messages", name, **options
            )
            frames = partial(on_rows, partial(good.framed, name))
            title = f"spark messages {name} {mode}"
            yield Entry(title, run, frames, errors, share=10, growth=2000)
            run = on.column_call(
                "messages.columns.message_reading.read_json", name, **options
            )
            yield Entry(f"spark JSON {name} {mode}", run, frames, errors, share=10)
        run = on.column_call(
            "messages.columns.message_reading.read_json", None, **options
        )
        yield Entry(f"spark JSON {mode}", run, seeds, errors, share=10, growth=400)
        run = on.column_call(
            "messages.columns.message_reading.read_messages",
            "FetchResponse",
            11,
            **options,
        )
        frames = partial(on_rows, partial(good.responses, "FetchResponse", 11))
        yield Entry(
            f"spark responses {mode}", run, frames, errors, share=10, growth=2000
        )
        run = on.column_call(
            "records.record_lists.read_records", errors="replace", **options
        )
        sets = partial(on_rows, good.batches)
        yield Entry(f"spark records {mode}", run, sets, errors, share=10, growth=2000)
        for topic in on.TOPICS:
            for function in ("read_topic", "read_topic_json"):
                run = partial(on.topic_columns, function, topic, failfast)
                pairs = partial(good.records_of, topic)
                title = f"spark {function} {topic} {mode}"
                yield Entry(title, run, pairs, errors, share=3, growth=4000)
    yield Entry("spark pairs", on.paired, good.requests, (), share=8, growth=400)


def _all():
    parts = (primitives, frames, arrays, decoded_arrays, record_sets)
    parts += (logs, connections, texts, spark)
    for part in parts:
        for entry in part():
            seeds = entry.seeds
            if not callable(seeds):
                entry = entry._replace(seeds=lambda seeds=seeds: seeds)
            yield entry._replace(seeds=cache(entry.seeds))


ENTRIES = {entry.name: entry for entry in _all()}
