# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Calls the functions in ``entries.py`` with one engine and one input.

The results can be compared across engines. If two functions must return the same data,
the call verifies that they do.
"""

import atexit
import base64
import importlib
import itertools
import json
import shutil
import struct
import tempfile
import threading
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pyarrow as pa

import kwire
from tests.safety import entry_inputs as good

TOPICS = (
    "__cluster_metadata",
    "__consumer_offsets",
    "__remote_log_metadata",
    "__share_group_state",
    "__transaction_state",
)


@cache
def module(package, name):
    """Import a module of the package on one engine."""
    return importlib.import_module(f"{package.__name__}.{name}")


@cache
def folder():
    """Create a temporary directory for this process and its children.

    It is deleted when the process exits.
    """
    memory = Path("/dev/shm")
    path = tempfile.mkdtemp(
        prefix="kwire-entries-", dir=memory if memory.is_dir() else None
    )
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def place():
    """Return the directory of the current thread.

    The main thread uses the directory of the process, other threads a subdirectory of
    it.
    """
    thread = threading.current_thread()
    if thread is threading.main_thread():
        return folder()
    path = folder() / thread.name
    path.mkdir(exist_ok=True)
    return path


@contextmanager
def split_and_use(data):
    """Yield the key and the value that an input contains. Release both afterwards.

    ``entry_inputs.pair`` describes the format.
    """
    with memoryview(data) as whole, whole.cast("B") as view:
        size = int.from_bytes(view[:2], "big", signed=True)
        start = min(len(view), 3)
        end = min(len(view), start + max(0, size))
        with view[start:end] as key, view[end:] as value:
            marker = int.from_bytes(view[2:3], "big")
            yield None if size < 0 else key, None if marker == 0xFF else value


def rows_of(data):
    """Create an Arrow array of rows that shares the memory of the input.

    The size before a row becomes a separate row, which is null but has bytes.
    """
    spots, valid, position = [0], [], 0
    view = memoryview(data)
    while position < len(view):
        size = int.from_bytes(view[position : position + 2], "big")
        start = min(len(view), position + 2)
        position = min(len(view), start + size)
        spots += start, position
        valid += False, True
    bits = sum(1 << row for row, is_valid in enumerate(valid) if is_valid)
    validity = pa.py_buffer(bits.to_bytes(len(valid) // 8 + 1, "little"))
    offsets = pa.py_buffer(struct.pack(f"={len(spots)}i", *spots))
    buffers = [validity, offsets, pa.py_buffer(view)]
    return pa.Array.from_buffers(pa.binary(), len(valid), buffers)


def call(path, *arguments, **options):
    """Return a function that calls ``path`` with the input as first argument.

    ``path`` is the name of a public function below ``kwire``.
    """
    name, _, function = path.rpartition(".")

    def run(package, data):
        return getattr(module(package, name), function)(data, *arguments, **options)

    return run


def bulk(name):
    """Return a function that decodes the input with a bulk function.

    It requests about half as many values as the input has bytes.
    """

    def run(package, data):
        read = getattr(package.messages.wire, name)
        values, end = read(data, len(data) // 2 + len(data) % 2)
        return values.dtype.name, values.tolist(), end

    return run


def message_of(name, path, *arguments, **options):
    """Return a function that calls ``path`` with a message class and the input."""
    package_path, _, function = path.rpartition(".")

    def run(package, data):
        cls = getattr(package.messages, name)
        return getattr(module(package, package_path), function)(
            cls, data, *arguments, **options
        )

    return run


def rows(path, **options):
    """Return a function that calls ``path`` with the input as an Arrow array."""
    name, _, function = path.rpartition(".")

    def run(package, data):
        read = getattr(module(package, name), function)
        return checked(read(rows_of(data), **options))

    return run


def rows_of_class(name, version, mode):
    """Return a function that calls ``messages_to_arrow`` with the input as an array."""

    def run(package, data):
        cls = getattr(package.messages, name)
        read = module(package, "messages.arrow").messages_to_arrow
        return checked(read(rows_of(data), cls, version, on_error=mode))

    return run


def frames_of_class(name, mode, schema=None):
    """Return a function that calls ``frames_to_arrow`` with the input as an array."""

    def run(package, data):
        cls = getattr(package.messages, name)
        decode_frames = module(package, "messages.arrow").frames_to_arrow
        return checked(decode_frames(rows_of(data), cls, on_error=mode, schema=schema))

    return run


def views_of_class(name, version, mode):
    """Return a function that decodes the input to columns of views."""

    def run(package, data):
        cls = getattr(package.messages, name)
        read = module(package, "messages.arrow").messages_to_arrow
        array = read(rows_of(data), cls, version, on_error=mode, views=True)
        # Skip full validation, because it fails if a viewed byte changes after the view
        # stored its prefix.
        array.validate()
        return array.cast(without_views(array.type))

    return run


def without_views(kind):
    """Replace binary views by binary in a type."""
    if kind == pa.binary_view():
        return pa.binary()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(without_views(field.type)) for field in kind])
    if pa.types.is_list(kind):
        inner = kind.value_field
        return pa.list_(inner.with_type(without_views(inner.type)))
    return kind


def checked(array):
    """Validate all offsets and strings of an Arrow object, and return it."""
    array.validate(full=True)
    return array


def split(package, data, most=5000):
    """Feed a stream to a splitter in three pieces.

    Return the frames, and the text and offset of the error if there is one.
    """
    splitter = package.messages.framing.FrameSplitter(package.Limits(frame_bytes=most))
    frames = []
    cuts = (0, len(data) // 3, len(data) // 3 + 1, len(data))
    with memoryview(data) as view:
        try:
            for start, end in itertools.pairwise(cuts):
                with view[start:end] as piece:
                    frames += splitter.feed(piece)
        except package.DecodeError as error:
            return frames, str(error), error.offset
    return frames, splitter.pending


def decode_all(package, data, **options):
    """Decode batches as objects. Return (headers, records, control records)."""
    batches = []
    for batch in package.records.decode_batches(data, **options):
        marks = batch.control_records if batch.is_control else ()
        batches.append((batch.header, tuple(batch.records), marks))
    return batches


def columns(package, data, **options):
    """Decode batches as columns. Return (record batch, end position)."""
    table = module(package, "records.columns").decode_records(data, **options)
    return pa.record_batch(table), table.end_position


def views(package, data, **options):
    """Decode batches as columns of views.

    Return a copy that does not refer to the input.
    """
    table = module(package, "records.columns").decode_records(
        data, views=True, **options
    )
    batch = pa.record_batch(table)
    batch.validate()
    copied_columns = [
        column.cast(without_views(column.type)) for column in batch.columns
    ]
    flat = pa.RecordBatch.from_arrays(copied_columns, batch.schema.names)
    # Copy all columns, because even a fixed-width column would keep the input alive.
    copied = pa.ipc.read_record_batch(flat.serialize(), flat.schema)
    return copied, table.end_position


def decompressed(codec, package, data):
    """Decompress a payload with one codec."""
    read = module(package, "records.compression").decompress
    return bytes(read(codec, data, 2, package.Limits(), 0))


def control(package, data):
    """Decode a control record from a key and a value in one input."""
    with split_and_use(data) as (key, value):
        return module(package, "messages.control_records").decode_control_record(
            key, value
        )


def internal(topic, package, data):
    """Decode a record of an internal topic from a key and a value in one input."""
    with split_and_use(data) as (key, value):
        return package.messages.internal_topics.decode(topic, key, value)


def in_file(name, read, package, data):
    """Write the input to a file with this name, and read the file."""
    path = place() / name
    path.write_bytes(data)
    return read(package, path)


def logged(kind, *names):
    """Return a function that reads a file with the class ``kind`` of ``kwire.log``.

    The function returns the attributes ``names``.
    """

    def read(package, path):
        reader = getattr(package.log, kind)(path)
        return tuple(getattr(reader, name) for name in names)

    return read


def segment(package, path):
    """Read a segment as objects and as columns, which must contain the same records."""
    log_segment, object_problems = package.log.Segment(path, topic="t", partition=0), []
    batches = list(log_segment.batches(on_corrupt=object_problems.append))
    offsets = [r.offset for b in batches if not b.is_control for r in b.records]
    problems, numbers = [], []
    for table in log_segment.columns(on_corrupt=problems.append):
        numbers += table.offset.tolist()
    # Columns skip control batches, so damage in them is only reported for objects.
    assert offsets == numbers and set(problems) <= set(object_problems), (
        offsets,
        numbers,
    )
    transactions = package.log.find_transactions((log_segment,))
    stable = list(
        log_segment.batches(on_corrupt="skip", isolation_level="read_committed")
    )
    return (
        [(batch.header, tuple(batch.records)) for batch in batches],
        [str(problem) for problem in object_problems],
        list(log_segment.headers(on_corrupt="skip")),
        (transactions.aborted, transactions.open, transactions.last_stable_offset),
        [batch.header for batch in stable],
        [log_segment.seek(offset) for offset in (0, 3, 20, 2**40)],
        log_segment.seek_timestamp(1_700_000_000_000),
    )


def strict_segment(package, path):
    """Read a segment, and raise an error if it is damaged or truncated."""
    log_segment = package.log.Segment(path, topic="t", partition=0)
    return [batch.header for batch in log_segment.batches(strict_tail=True)]


@cache
def partition(package, root):
    """Copy a partition of a real broker. Return its directory.

    Tests damage one file of the copy at a time.
    """
    directory = root / package.__name__ / "transactions-0"
    directory.mkdir(parents=True, exist_ok=True)
    for path in sorted((good.NEWEST / "transactions-0").iterdir()):
        if path.name < "00000000000000000099" or not path.name[0].isdigit():
            (directory / path.name).write_bytes(path.read_bytes())
    return directory


def verified(name, package, data):
    """Replace a file of the partition by the input, verify it, and restore the file."""
    copy = partition(package, place())
    before = (copy / name).read_bytes()
    (copy / name).write_bytes(data)
    try:
        log_partition = package.log.LogDirectory(copy.parent)["transactions", 0]
        problems = [
            str(problem) for problem in package.log.verify(log_partition, deep=True)
        ]
        heads = [batch.header for batch in log_partition.batches(on_corrupt="skip")]
        spots = [log_partition.segments[0].seek(offset) for offset in (0, 5, 17, 1000)]
    finally:
        (copy / name).write_bytes(before)
    return [problem.replace(str(copy), "") for problem in problems], heads, spots


@cache
def first_answers():
    """Return response frames for the first ApiVersions request.

    Some of them reject the version of the request.
    """
    newest = max(kwire.messages.ApiVersionsResponse.valid_versions)
    new = good.bodies("ApiVersionsResponse", newest)
    refused = [b"\0\x23" + body[2:] for body in good.bodies("ApiVersionsResponse", 0)]
    answers = [*new, *refused, b"\0\x2a" + new[0][2:]]
    return [b"\0\0\0\7" + body for body in answers]


def first_replies():
    """Return the frames of ``first_answers`` as streams, with the correlation id 0."""
    return [good.sized([bytes(4) + frame[4:]]) for frame in first_answers()]


def asking(package, data):
    """Pass a response frame to an ApiVersions handshake.

    Return the version table and the guessed release, or the bytes of the next request.
    """
    asks = package.connection.negotiation.ApiVersionsHandshake(correlation_id=7)
    table = asks.receive_frame(bytes(data))
    if table is None:
        return asks.data_to_send()
    guess = package.connection.negotiation.guess_release(table)
    fetch = table.usable(package.messages.FetchRequest)
    return repr(table), str(guess), fetch, table.supported_features


@cache
def served(package):
    """Return the version table of a Kafka 4.1 broker."""
    return package.connection.negotiation.ApiVersionTable.of_release("4.1")


def answered(package, data):
    """Answer the ApiVersions request in the input as a broker does."""
    return package.connection.negotiation.answer_api_versions(
        bytes(data), served(package)
    )


def feed_stream(package, connection, data):
    """Feed a stream to a connection in two pieces.

    Return the events, the bytes to send, and the error or None.
    """
    events, error = [], None
    try:
        for piece in (data[: len(data) // 2], data[len(data) // 2 :]):
            if piece and connection.is_open:
                events += connection.receive_data(piece)
    except (package.DecodeError, package.errors.RemoteProtocolError) as failure:
        error = failure
        assert not connection.is_open and connection.failure is failure
    except package.UnsupportedVersion as failure:
        error = failure
    return [event_values(event) for event in events], connection.data_to_send(), error


def event_values(event):
    """Convert an event to a comparable value.

    A version table is replaced by its repr.
    """
    if hasattr(event, "table"):
        return type(event).__name__, repr(event.table)
    return event


CALLS = (("MetadataRequest", 12), ("FetchRequest", 16), ("ApiVersionsRequest", 3))


def client(package, data):
    """Feed responses to a client connection with three requests in flight."""
    connection = module(package, "connection").ClientConnection(table=served(package))
    for name, version in CALLS:
        connection.send(getattr(package.messages, name)(), version)
    return feed_stream(package, connection, data)


@cache
def replies():
    """Return streams with the responses to ``CALLS``. They use all golden vectors."""
    streams = []
    for number in range(30):
        frames = []
        for correlation_id, (name, version) in enumerate(CALLS):
            answer = name.replace("Request", "Response")
            vectors = good.responses(answer, version)
            frame = vectors[number % len(vectors)]
            frames.append(correlation_id.to_bytes(4, "big") + frame[4:])
        streams.append(good.sized(frames))
    return list(dict.fromkeys(streams))


def new_client(package, data):
    """Feed responses to a client connection that has not negotiated versions yet."""
    return feed_stream(package, module(package, "connection").ClientConnection(), data)


def server(package, data):
    """Feed requests to a server connection."""
    connection = module(package, "connection").ServerConnection(
        served(package), on_unsupported="empty"
    )
    return feed_stream(package, connection, data)


def second_draft_response(package):
    """Return the response of a second-draft server that supports two APIs."""
    return module(package, "drafts.kip35_protocol_version_request").supported_apis(
        {3: [1, 0], 18: (0,)}
    )


def answer_draft(name, arguments, package, data):
    """Pass a response frame to the client strategy of a draft."""
    arguments = [
        argument(package) if callable(argument) else argument for argument in arguments
    ]
    draft = module(package, f"drafts.{name}")
    answer = draft.ClientStrategy(*arguments).receive_frame(bytes(data))
    return repr(answer)


def draft_answer(name, arguments, package, data):
    """Pass a request frame to the server strategy of a draft."""
    arguments = [
        argument(package) if callable(argument) else argument for argument in arguments
    ]
    return module(package, f"drafts.{name}").Server(*arguments).answer(bytes(data))


HEAD = b"\0\0\0\0"
DRAFT_A = HEAD + b"\0\5\0\x080.10.0.X" + b"\0\0\0\1\0\0\0\1\0\1h\0\0\x23\x84\0\0\0\0"
DRAFT_B = HEAD + b"\0\0\0\1\0\3\0\1m\0\0\0\2\0\0\0\1" + b"\0\0\0\1\0\0"
DRAFT_C = HEAD + b"\0\0\0\2\0\0\0\0\0\5\0\3\0\1\0\7"
"""Response frames of the three KIP-35 drafts, written by hand from the proposals."""


def changes_of_leaders(package, data):
    """Decode a response of the KIP-951 draft, and return its leader changes."""
    draft = module(package, "drafts.kip951_leader_endpoints")
    return draft.leader_changes(package.decode(draft.FetchResponse, data, 15))


def compiled(package, data):
    """Compile a schema, and return the name, versions and default of its class."""
    text = bytes(data).decode(errors="surrogateescape")
    cls = module(package, "messages").message_class(text)
    return cls.__name__, str(cls.valid_versions), repr(cls())


def readable(run):
    """Return a function that decodes the input as UTF-8, and calls ``run`` with it.

    Input that is not UTF-8 is skipped.
    """

    def only_text(package, data):
        try:
            text = bytes(data).decode()
        except UnicodeDecodeError:
            return None
        return run(package, text)

    return only_text


def from_json(name, version, package, text):
    """Decode a message from its JSON form."""
    try:
        form = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return package.from_json(getattr(package.messages, name), form, version)


NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = (
    f"r={NONCE}%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
).encode()
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
"""Server messages of the SCRAM exchange in RFC 7677, section 3."""


def challenged(is_last, package, data):
    """Pass the first or the final server message to a SCRAM exchange.

    The client nonce of the example is set in this exchange only, because other threads
    have their own exchanges.
    """
    sasl = module(package, "connection.sasl")
    exchange = sasl.Scram("user", "pencil", max_iterations=4096)
    first = exchange.first().decode()
    exchange._bare = first.removeprefix("n,,").replace(exchange._nonce, NONCE).encode()
    exchange._nonce = NONCE
    if is_last:
        exchange._server_signature = base64.b64decode(SERVER_FINAL[2:])
    return exchange.challenge(bytes(data)), exchange.is_done


def conversation(package, data):
    """Pass frames to ``Conversation``, which pairs requests with responses."""
    pairing = module(package, "recording.pairing")
    talk, headers = pairing.Conversation(), []
    for frame in (bytes(data), bytes(data[4:]), bytes(data)):
        headers.append(talk.request(frame))
    return [*headers, talk.response(bytes(data[4:])), talk.response(bytes(data))]


def rewritten(version, package, data):
    """Replace the broker addresses in a response, as a relay does."""
    module(package, "recording.rewriting")
    pairing = module(package, "recording.pairing")
    header = pairing.Header(3, version, 7, "me")
    answer = module(package, "recording.rewriting").read_answer(header, bytes(data))
    listeners = dict.fromkeys(answer.addresses, ("relay", 9))
    return sorted(answer.addresses), answer.write(listeners)


def limited(package, data):
    """Remove the versions that a relay cannot rewrite from an ApiVersions response."""
    header = module(package, "recording.pairing").Header(18, 3, 7, "me")
    return module(package, "recording.rewriting").limit_versions(header, bytes(data))


def request_log(package, path):
    """Read a request log as a whole and in two parts.

    Both must return the same lines.
    """
    reader = module(package, "recording.request_log")
    all_entries = list(reader.read_request_log(path))
    parts = reader.split_request_log(path, 900)
    cut = [one for part in parts for one in reader.read_request_log(path, *part)]
    assert [one for one in cut if type(one) is not reader.BadLine] == [
        one for one in all_entries if type(one) is not reader.BadLine
    ]
    assert len(cut) == len(all_entries)
    return reader.is_request_log(path), all_entries


def of_path(path):
    """Return a function that calls ``path`` with the path of a file or a directory."""
    name, _, function = path.rpartition(".")
    return lambda package, directory: getattr(module(package, name), function)(
        directory
    )


def captures(package, path):
    """Read a capture file."""
    reader = module(package, "recording")
    return list(reader.read_captures(path))


def column_call(path, *arguments, **options):
    """Return a function that calls a column function with the input as an array."""
    name, _, function = path.rpartition(".")

    def run(package, data):
        read = getattr(module(package, name), function)
        return checked(read(rows_of(data), *arguments, **options))

    return run


def topic_columns(function, topic, failfast, package, data):
    """Decode records of an internal topic as columns."""
    with split_and_use(data) as (key, value):
        key_and_value = [None if one is None else one.tobytes() for one in (key, value)]
    keys, values = (pa.array([None, item, item], pa.binary()) for item in key_and_value)
    read = getattr(module(package, "messages.columns.internal_topics"), function)
    return checked(read(topic, keys, values, failfast=failfast))


def paired(package, data):
    """Pair a captured request with its response."""
    pairs = module(package, "spark.capture.request_pairs")
    names = {"direction": ["request", "response"], "correlation_id": [7, 7]}
    names |= {"api_key": [0, 0], "sequence": [0, 1], "frame": [bytes(data)] * 2}
    schema = module(package, "recording").capture_schema()
    columns_of = [
        pa.array(names.get(name, [None, None]), schema.field(name).type)
        for name in pairs.COLUMNS
    ]
    batch = pa.RecordBatch.from_arrays(columns_of, names=list(pairs.COLUMNS))
    return list(pairs.pair_batches([batch, batch]))


def write_json_column(package, text):
    """Encode a message from its JSON form, as a column."""
    write = module(package, "messages.columns.message_writing").write_messages
    return checked(write(pa.array([text, None]), "MetadataRequest", 12))


def mapped(package, data):
    """Return the byte map of a request. Its spans must cover the whole input."""
    frame_map = module(package, "explain").frame_map(data)
    position = 0
    for span in frame_map.spans:
        assert span.position == position and span.size >= 0
        position = span.end
    assert position == len(data)
    return [tuple(span)[:6] for span in frame_map.spans], frame_map.error


def mapped_records(package, data):
    """Return the byte map of a record set. Its spans must cover the whole input."""
    record_map = module(package, "explain").record_map(data)
    position = 0
    for span in record_map.spans:
        assert span.position == position and span.size >= 0
        position = span.end
    assert position == len(data)
    return [tuple(span)[:6] for span in record_map.spans], record_map.error
