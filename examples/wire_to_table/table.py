# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What runs in Spark's Python workers: Arrow batches of frames in, table rows out.

The functions are for ``DataFrame.mapInArrow``. No Spark is imported here.
"""

import functools
from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

import kwire
from kwire import framing, messages

COLUMNS = (
    "connection int, sequence int, direction string, api string, version int,"
    " client_id string, correlation_id int, bytes int, error_codes array<int>,"
    " problem string"
)
SCHEMA = pa.schema(
    [
        ("connection", pa.int32()),
        ("sequence", pa.int32()),
        ("direction", pa.string()),
        ("api", pa.string()),
        ("version", pa.int32()),
        ("client_id", pa.string()),
        ("correlation_id", pa.int32()),
        ("bytes", pa.int32()),
        ("error_codes", pa.list_(pa.int32())),
        ("problem", pa.string()),
    ]
)
Batches = Iterable[pa.RecordBatch]


def rows(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Decode each frame into one row; a frame that does not decode says why."""
    for batch in batches:
        frames = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        decoded = [row(*frame) for frame in frames]
        columns = map(list, zip(*decoded, strict=True))
        arrays = list(map(pa.array, columns, SCHEMA.types))
        yield pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def row(
    connection: int,
    sequence: int,
    direction: str,
    api_key: int,
    api_version: int,
    client_id: str | None,
    frame: bytes,
) -> tuple:
    """Decode one frame into a table row.

    A request says itself what it is. For a response, ``api_key``, ``api_version`` and
    ``client_id`` are those of its request.
    """
    name, cls = api(api_key, direction)
    correlation_id, codes, problem = None, None, None
    try:
        if direction == "request":
            header, message = framing.decode_request(frame)
            name, _ = api(header.request_api_key, direction)
            api_version = header.request_api_version
            client_id, correlation_id = header.client_id, header.correlation_id
        else:
            correlation_id, message = framing.decode_response(cls, frame, api_version)
        codes = error_codes(message)
    except kwire.KwireError as error:
        problem = str(error)
    return (
        connection,
        sequence,
        direction,
        name,
        api_version,
        client_id,
        correlation_id,
        len(frame),
        codes,
        problem,
    )


@functools.cache
def api(api_key: int, direction: str) -> tuple[str, type]:
    """Return the name of an API, as in ``Fetch``, and the class of its message."""
    cls = messages.by_key(api_key, direction)
    return cls.__name__.removesuffix(direction.capitalize()), cls


def error_codes(message: object) -> list[int]:
    """Return every error code in a message that is not 0, at any depth."""
    found: list[int] = []
    if has_error_codes(type(message)):
        add_error_codes(message, found)
    return found


@functools.cache
def has_error_codes(cls: type) -> bool:
    """Tell whether a message or one of its structs has a field for an error code."""
    public = (getattr(cls, name) for name in vars(cls) if not name.startswith("_"))
    structs = [cls, *(value for value in public if isinstance(value, type))]
    return any(places(struct)[0] for struct in structs)


def is_struct(value: object) -> bool:
    """Tell a message or struct from plain values."""
    return hasattr(value, "unknown_tagged_fields")


def add_error_codes(struct: object, found: list[int]) -> None:
    """Append the error codes of a struct and of all structs in it to ``found``."""
    codes, others = places(type(struct))
    for name in codes:
        if code := getattr(struct, name):
            found.append(code)
    for name in others:
        value = getattr(struct, name)
        if type(value) is not tuple:
            value = (value,)
        if value and is_struct(value[0]):
            for element in value:
                add_error_codes(element, found)


@functools.cache
def places(cls: type) -> tuple[list[str], list[str]]:
    """Return the attributes of a struct that are error codes or may hold structs."""
    names = cls.__match_args__
    default = cls()
    codes = [name for name in names if name.endswith("error_code")]
    plain = (int, float, str, bytes)
    others = [n for n in names if not isinstance(getattr(default, n), plain)]
    return codes, others


def sizes(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Measure each frame and decode nothing: what Spark itself costs."""
    for batch in batches:
        lengths = pc.binary_length(batch.column("frame"))
        yield pa.RecordBatch.from_arrays([lengths], names=["bytes"])


def backends(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Tell which engine kwire runs on in this worker."""
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"backend": [kwire.backend]})
