# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Column functions for Spark that decode Kafka's bytes into structs, and encode them.

    from kwire.spark.functions import from_kafka_message, kafka_header

    requests.select(kafka_header("frame"), from_kafka_message("frame", "Fetch"))

This module applies Arrow functions to Spark columns. The Arrow functions are
implemented in ``messages/columns`` and ``records``, which do not import Spark.

Every function accepts ``options``. With ``mode`` PERMISSIVE (default), an invalid row
becomes null and the field ``_error`` contains the reason. With FAILFAST, an invalid row
fails the job, and the result has no ``_error``. Null rows remain null.
"""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyspark
from pyspark.sql import functions

from ..messages.columns.chosen_fields import narrow_type
from ..messages.columns.internal_topics import JSON as TOPIC_JSON
from ..messages.columns.internal_topics import read_topic, read_topic_json, topic_type
from ..messages.columns.message_reading import JSON, read_json, read_messages
from ..messages.columns.message_types import (
    ddl,
    find_message,
    make_list_type,
    message_type,
    names_its_version,
    table_ddl,
    with_error,
)
from ..messages.columns.message_writing import DATA, write_messages
from ..messages.columns.request_headers import HEADER, flat_headers
from ..messages.columns.request_headers import read_headers as header_structs
from ..messages.internal_topics import TOPICS
from ..records.record_lists import RECORD, RECORD_LIST, explode_records
from ..records.record_lists import read_records as record_lists
from .capture.request_pairs import COLUMNS, ORDER, PAIRS, pair_batches
from .result_schemas import (
    make_arrow_type,
    parse_type,
    read_array_type,
    read_struct_type,
)
from .short_errors import shorten_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

    from ..messages.columns.message_types import Api

    ColumnOrName: TypeAlias = Column | str
    Options: TypeAlias = Mapping[str, str] | None
    Schema: TypeAlias = DataType | str

_CHOICES = {
    "mode": ("PERMISSIVE", "FAILFAST"),
    "as": ("struct", "json"),
    "framed": ("true", "false"),
    "errors": ("strict", "replace"),
    "records": (),
}
"""Values of every option, the default first. Empty if the option accepts any string."""


def kafka_header(frame: ColumnOrName, options: Options = None) -> Column:
    """Decode the header of a request frame of any API, without decoding the body.

    ``frame`` is a request without its size field, as in the rows of ``kafka-capture``.
    Returns struct<api_key, api, api_version, correlation_id, client_id, _error>.
    Options: ``mode``.
    """
    failfast = _is_failfast(_read_options(options, "mode"))
    kind = HEADER if failfast else with_error(HEADER)

    def read(data: pa.Array) -> pa.Array:
        return header_structs(data, failfast=failfast)

    return _make_column_function("kafka_header", read, kind)(frame)


def from_kafka_message(
    data: ColumnOrName,
    api: Api | Column | None,
    kind: str | Column = "request",
    version: int | ColumnOrName | None = None,
    options: Options = None,
    *,
    schema: Schema | None = None,
) -> Column:
    """Decode messages into one struct for all versions of a message, or into JSON.

    * ``api``: an API name ("Fetch"), another message name
      ("ConsumerProtocolSubscription"), a class in ``kwire.messages``, or an API key.
    * ``kind``: "request" or "response", if ``api`` is the name or key of an API.
    * ``version``: number or column. Optional for framed requests and for messages that
      follow their version, because they contain it. A response has the version of its
      request (see ``pair_requests``). Fields that do not exist in a row's version are
      null.
    * ``options``: ``mode``, ``framed`` and ``as``.
    * ``schema``: result type, for example of the UDF that this function replaces.

    ``framed`` is ``true`` by default: requests and responses start with their header
    (but without the size, as in captures), and other messages start with their version
    as INT16. With ``false``, all rows are bodies without header.

    ``as`` is ``struct`` (default) or ``json``, the format of ``kwire.to_json``. The
    JSON result is struct<json, _error>, or a string with FAILFAST. For JSON, ``api``
    and ``kind`` may be columns, so that one column can contain messages of all types.
    If ``api`` is None, framed requests are decoded as the API in their header.

    ``schema`` is a ``StructType`` or its string form. It names the fields to decode, at
    every level and in any order. It may include the field ``_error``. Without this
    field, an invalid row is null. Field names are compared without case and
    underscores. An integer field may have a wider type.

    Raises ``ValueError`` before any job starts if Kafka has no such message, if
    ``version`` is missing, if an option is not valid, if the message does not have a
    field of ``schema``, or if a type cannot represent all values of its field.
    """
    chosen = _read_options(options, "mode", "as", "framed")
    failfast, framed = _is_failfast(chosen), chosen["framed"] == "true"
    if chosen["as"] == "json":
        if schema is not None:
            raise ValueError(
                'schema: the result is JSON text; remove schema, or {"as": "json"}'
            )
        return _from_message_to_json(data, api, kind, version, framed, failfast)
    if not isinstance(kind, str) or not isinstance(api, (str, type, int)):
        raise ValueError(
            "a struct column has one message type: pass api and kind as strings or"
            ' numbers, or decode into JSON with options={"as": "json"}'
        )
    name = find_message(api, kind)
    if version is None and not (framed and names_its_version(name)):
        raise ValueError(
            f"{name} does not contain its version: pass a number or a column; a"
            " response has the version of its request (pair_requests adds it)"
        )

    columns, fixed = _split_arguments(version=version)
    names = tuple(columns)
    result: pa.StructType = message_type(name)
    returned: Any = result if failfast else with_error(result)
    fields = None
    if schema is not None:
        returned = read_struct_type(schema)
        fields = make_arrow_type(returned)
        narrow_type(with_error(result), fields)

    def read(data: pa.Array, *more: pa.Array) -> pa.Array:
        arguments = fixed | dict(zip(names, more, strict=True))
        return read_messages(
            data,
            name,
            arguments["version"],
            framed=framed,
            failfast=failfast,
            schema=fields,
        )

    return _make_column_function("from_kafka_message", read, returned)(
        data, *columns.values()
    )


def to_kafka_message(
    data: ColumnOrName,
    api: Api,
    kind: str,
    version: int | ColumnOrName,
    options: Options = None,
    *,
    header: ColumnOrName | None = None,
) -> Column:
    """Encode structs, or strings in Kafka's JSON format, into messages of one class.

    * ``api`` and ``kind``: the message, as for ``from_kafka_message``.
    * ``version``: number or column.
    * ``options``: ``mode`` and ``framed``, as for ``from_kafka_message``.
    * ``header``: struct with ``correlation_id`` and ``client_id``, as ``kafka_header``
      returns it, for the headers of framed requests and responses. Default: 0 and null.

    Struct fields may be missing and may have any order. A null or missing field is
    encoded as null if the version allows null, and otherwise as its default value.
    Returns struct<data, _error>, or binary with FAILFAST. Raises ``ValueError`` if
    Kafka has no such message. Raises ``ImportError`` before PySpark 4.1, because only
    the Arrow functions of 4.1 receive structs unchanged.
    """
    _require_arrow_udf("to_kafka_message")
    chosen = _read_options(options, "mode", "framed")
    failfast, framed = _is_failfast(chosen), chosen["framed"] == "true"
    name = find_message(api, kind)
    columns, fixed = _split_arguments(version=version, header=header)
    names = tuple(columns)

    def write(data: pa.Array, *more: pa.Array) -> pa.Array:
        arguments = fixed | dict(zip(names, more, strict=True))
        return write_messages(
            data,
            name,
            arguments["version"],
            framed=framed,
            headers=arguments["header"],
            failfast=failfast,
        )

    result = DATA.field(0).type if failfast else with_error(DATA)
    return _make_column_function("to_kafka_message", write, result)(
        data, *columns.values()
    )


def schema_of_kafka_message(
    api: Api, kind: str = "request", options: Options = None
) -> str:
    """Return the result type of ``from_kafka_message`` as Spark's schema string.

    Options: ``mode``. With FAILFAST, the type has no ``_error``.
    """
    struct_type = message_type(find_message(api, kind))
    failfast = _is_failfast(_read_options(options, "mode"))
    return ddl(struct_type if failfast else with_error(struct_type))


def from_kafka_records(
    data: ColumnOrName, options: Options = None, *, schema: Schema | None = None
) -> Column:
    """Decode record sets, which are the ``records`` fields of Produce and Fetch.

    Returns array<struct<offset, timestamp, timestampType, key, value, headers,
    _error>>, with the names and types of Spark's own source ``kafka``. A damaged batch
    becomes one element in which only ``_error`` is set, and the batches around it are
    decoded. An incomplete batch at the end is not an error, because brokers truncate
    record sets there.
    Options: ``mode``; ``errors``, ``strict`` or ``replace``, for header keys that are
    not valid UTF-8.

    ``schema`` is the result type, for example of the UDF that this function replaces:
    an ``ArrayType`` of a ``StructType``, the ``StructType`` alone, or its string form.
    It names the fields to decode, in any order. It may include the field ``_error``;
    without this field, a damaged batch becomes a null element. ``timestamp`` may be
    ``bigint`` for Kafka's own number: milliseconds since 1970, or -1. Field names are
    compared without case and underscores.

    Raises ``ValueError`` if records do not have a field of ``schema``, or if a type
    cannot represent all values of its field.
    """
    chosen = _read_options(options, "mode", "errors")
    failfast, errors = _is_failfast(chosen), chosen["errors"]
    kind: Any = make_list_type(RECORD) if failfast else RECORD_LIST
    fields = None
    if schema is not None:
        kind = read_array_type(schema)
        fields = make_arrow_type(kind)
        narrow_type(RECORD_LIST, fields)

    def read(data: pa.Array) -> pa.Array:
        return record_lists(data, errors=errors, failfast=failfast, schema=fields)

    return _make_column_function("from_kafka_records", read, kind)(data)


def from_consumer_offsets(
    key: ColumnOrName, value: ColumnOrName, options: Options = None
) -> Column:
    """Decode the records of ``__consumer_offsets``: commits, groups and members.

    ``key`` and ``value`` are columns of Spark's own source ``kafka`` or of
    ``kafka-log``. Returns struct<record, version, key: struct<...>, offset_commit:
    struct<...>, group_metadata: struct<...>, ..., _error>. ``record`` is Kafka's name
    for the record type, and the struct for this type contains the value. All value
    structs of a tombstone are null. A type or version that is newer than kwire is
    reported as an error of its row.

    ``key`` has the fields of all key types under Kafka's names: ``key.group`` is the
    group for commits and classic groups, and ``key.group_id`` the group for the newer
    protocols.

    Options: ``mode``; ``as``, ``struct`` or ``json``, which returns struct<record,
    version, key, value, _error> with Kafka's JSON format in ``key`` and ``value``;
    ``records``, comma-separated names of record types such as ``OffsetCommit``. Other
    types are then not decoded and have no struct, which makes the query faster.
    """
    return _decode_topic("__consumer_offsets", key, value, options)


def from_transaction_state(
    key: ColumnOrName, value: ColumnOrName, options: Options = None
) -> Column:
    """Decode the records of ``__transaction_state`` (see ``from_consumer_offsets``)."""
    return _decode_topic("__transaction_state", key, value, options)


def from_share_group_state(
    key: ColumnOrName, value: ColumnOrName, options: Options = None
) -> Column:
    """Decode the records of ``__share_group_state`` (see ``from_consumer_offsets``)."""
    return _decode_topic("__share_group_state", key, value, options)


def from_cluster_metadata(
    key: ColumnOrName, value: ColumnOrName, options: Options = None
) -> Column:
    """Decode the records of ``__cluster_metadata`` (see ``from_consumer_offsets``).

    These records have no keys, so ``key`` must be null, and the result has no ``key``.
    """
    return _decode_topic("__cluster_metadata", key, value, options)


def from_remote_log_metadata(
    key: ColumnOrName, value: ColumnOrName, options: Options = None
) -> Column:
    """Decode the records of ``__remote_log_metadata`` (see ``from_cluster_metadata``).

    As in ``__cluster_metadata``, the records have no keys.
    """
    return _decode_topic("__remote_log_metadata", key, value, options)


def pair_requests(captures: DataFrame) -> DataFrame:
    """Pair the requests in ``kafka-capture`` rows with their responses.

    Every pair is one row, and has the same recording, connection and correlation id. If
    correlation ids repeat, the order on the connection decides. If a request has no
    response, for example Produce with acks=0, the response columns are null. Columns:
    recording, connection, client_address, broker_address, api_key, api_version,
    correlation_id, client_id, then request_sequence, request_timestamp, request_size
    and request (the frame), the same columns for the response, and latency_ms. Cost:
    one shuffle by connection, and memory for the requests without response so far.
    Raises ``ValueError`` if a required column is missing.
    """
    missing = [name for name in COLUMNS if name not in captures.columns]
    if missing:
        raise ValueError(
            f"the rows have no column {', '.join(missing)}; pass rows of kafka-capture"
        )
    rows = captures.select(*COLUMNS).repartition(*ORDER[:-1])
    rows = rows.sortWithinPartitions(*ORDER)
    return rows.mapInArrow(shorten_errors(pair_batches), table_ddl(PAIRS))


def read_headers(
    rows: DataFrame,
    column: str,
    keep: Sequence[str] = (),
    options: Options = None,
) -> DataFrame:
    """Decode a column as ``kafka_header`` does, into columns instead of a struct.

    This is the fastest way to read headers. The result contains only the columns named
    in ``keep``, and the decoded columns. Raises ``ValueError`` if a column in ``keep``
    has the name of a decoded column.
    """
    failfast = _is_failfast(_read_options(options, "mode"))
    kind = HEADER if failfast else with_error(HEADER)

    def read(batches: Iterable[Any]) -> Iterable[Any]:
        return flat_headers(batches, column, keep, failfast=failfast)

    return _map_batches(rows, read, kind, column, keep)


def read_records(
    rows: DataFrame,
    column: str,
    keep: Sequence[str] = (),
    options: Options = None,
    *,
    schema: Schema | None = None,
) -> DataFrame:
    """Decode a column as ``from_kafka_records`` does, into one row per record.

    This is faster than exploding the arrays. The result contains the columns named in
    ``keep``, with equal values for all records of a row, and the decoded columns.
    ``schema`` contains a record's columns, as for ``from_kafka_records``. If it has no
    ``_error``, all its columns are null for a damaged batch.

    Raises ``ValueError`` if a column in ``keep`` has the name of a decoded column, and
    for ``schema`` in the same cases as ``from_kafka_records``.
    """
    chosen = _read_options(options, "mode", "errors")
    failfast, errors = _is_failfast(chosen), chosen["errors"]
    kind: Any = RECORD if failfast else with_error(RECORD)
    fields = None
    if schema is not None:
        kind = read_struct_type(schema)
        fields = make_arrow_type(kind)
        narrow_type(with_error(RECORD), fields)

    def read(batches: Iterable[Any]) -> Iterable[Any]:
        return explode_records(
            batches, column, keep, errors=errors, failfast=failfast, schema=fields
        )

    return _map_batches(rows, read, kind, column, keep)


def register_functions(spark: SparkSession) -> None:
    """Register the functions for SQL, under their own names and with default options.

    The SQL functions are ``kafka_header(frame)``, ``from_kafka_records(data)``, the
    functions for internal topics such as ``from_consumer_offsets(key, value)``, and
    ``from_kafka_message(data, api, kind, version)``. The last one returns JSON, because
    an SQL function must have one result type for all arguments. Raises ``ImportError``
    before PySpark 4.1.
    """
    _require_arrow_udf("register_functions")

    def headers(frame: pa.Array) -> pa.Array:
        return header_structs(frame)

    def records(data: pa.Array) -> pa.Array:
        return record_lists(data)

    def to_json(
        data: pa.Array, api: pa.Array, kind: pa.Array, version: pa.Array
    ) -> pa.Array:
        return read_json(data, api, kind, version)

    column_functions = [
        _make_column_function("kafka_header", headers, with_error(HEADER)),
        _make_column_function("from_kafka_records", records, RECORD_LIST),
        _make_column_function("from_kafka_message", to_json, with_error(JSON)),
        *map(_make_topic_function, TOPICS),
    ]
    for function in column_functions:
        spark.udf.register(function.__name__, function)


def _decode_topic(
    topic: str, key: ColumnOrName, value: ColumnOrName, options: Options
) -> Column:
    return _make_topic_function(topic, options)(key, value)


def _make_topic_function(topic: str, options: Options = None) -> Callable[..., Column]:
    chosen = _read_options(options, "mode", "as", "records")
    failfast, as_json = _is_failfast(chosen), chosen["as"] == "json"
    records = tuple(filter(None, map(str.strip, chosen["records"].split(","))))
    kind = topic_type(topic, records)
    decode = read_topic
    if as_json:
        kind, decode = TOPIC_JSON, read_topic_json

    def read(key: pa.Array, value: pa.Array) -> pa.Array:
        return decode(topic, key, value, records, failfast=failfast)

    name = f"from_{topic.removeprefix('__')}"
    return _make_column_function(name, read, kind if failfast else with_error(kind))


def _from_message_to_json(
    data: ColumnOrName,
    api: Api | Column | None,
    kind: str | Column,
    version: int | ColumnOrName | None,
    framed: bool,
    failfast: bool,
) -> Column:
    if isinstance(api, type) or (isinstance(kind, str) and isinstance(api, (str, int))):
        # Report an unknown name immediately, instead of as an error of every row.
        api = find_message(api, kind)
    columns, fixed = _split_arguments(version=version)
    for name, given in (("api", api), ("kind", kind)):
        is_fixed = given is None or isinstance(given, (str, int))
        (fixed if is_fixed else columns)[name] = given
    names = tuple(columns)

    def read(data: pa.Array, *more: pa.Array) -> pa.Array:
        arguments = fixed | dict(zip(names, more, strict=True))
        return read_json(
            data,
            arguments["api"],
            arguments["kind"],
            arguments["version"],
            framed=framed,
            failfast=failfast,
        )

    result = JSON.field(0).type if failfast else with_error(JSON)
    return _make_column_function("from_kafka_message", read, result)(
        data, *columns.values()
    )


def _split_arguments(**arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split arguments into columns (or column names) and constants."""
    fixed = {
        name: argument
        for name, argument in arguments.items()
        if argument is None or isinstance(argument, int)
    }
    return {name: arguments[name] for name in arguments if name not in fixed}, fixed


def _map_batches(
    rows: DataFrame,
    function: Callable[[Iterable[Any]], Iterable[Any]],
    kind: Any,
    column: str,
    keep: Sequence[str],
) -> DataFrame:
    """Apply a function to batches of ``column`` and ``keep``, and add its new columns.

    ``kind`` is the type of the new columns: an Arrow struct or a Spark struct. Raises
    ``ValueError`` if a column to keep has the name of a new column.
    """
    new = {field.name.lower() for field in kind}
    twice = [name for name in keep if name.lower() in new]
    if twice:
        raise ValueError(
            f"the column {twice[0]!r} would appear twice: rename the one to keep,"
            f' such as df.withColumnRenamed("{twice[0]}", "old_{twice[0]}")'
        )
    chosen = rows.select(column, *(name for name in keep if name != column))
    schema = rows.select(*keep).schema
    for field in read_struct_type(
        table_ddl(kind) if isinstance(kind, pa.DataType) else kind
    ):
        schema.add(field)
    return chosen.mapInArrow(shorten_errors(function), schema)


def _require_arrow_udf(name: str) -> None:
    if not hasattr(functions, "arrow_udf"):
        raise ImportError(
            f"{name} requires PySpark 4.1 or newer (installed: {pyspark.__version__});"
            " the other functions of kwire.spark.functions work on PySpark 3.5"
        )


def _make_column_function(
    name: str, function: Callable[..., Any], kind: Any
) -> Callable[..., Column]:
    """Make a column function from an Arrow function.

    ``kind`` is the result type: an Arrow type or a Spark type.
    """
    signature = inspect.signature(function)
    names = list(signature.parameters)

    @wraps(function)
    def call(*columns: Any) -> Any:
        # SQL passes any number of arguments without a check.
        try:
            signature.bind(*columns)
        except TypeError:
            raise TypeError(
                f"{name}({', '.join(names)}) requires {len(names)}"
                f" argument{'s' * (len(names) > 1)} (got {len(columns)})"
            ) from None
        return function(*columns)

    call.__name__ = name
    returned = ddl(kind) if isinstance(kind, pa.DataType) else kind
    try:
        from pyspark.sql.functions import arrow_udf
    except ImportError:
        from .pandas_columns import make_column_function

        return make_column_function(call, parse_type(returned))
    column_function: Callable[..., Column] = arrow_udf(shorten_errors(call), returned)
    return column_function


def _read_options(options: Options, *supported: str) -> dict[str, Any]:
    """Read options without regard to the case of their names, and add the defaults.

    Raises ``ValueError`` if an option or its value is not one of the supported ones.
    """
    values = {name: (*_CHOICES[name], "")[0] for name in supported}
    for name, value in (options or {}).items():
        option = name.lower()
        if option not in supported:
            raise ValueError(f"no option {name!r}; use one of {', '.join(supported)}")
        choices = _CHOICES[option] or (str(value),)
        matching = [
            choice for choice in choices if choice.lower() == str(value).lower()
        ]
        if not matching:
            words = ", ".join(choices)
            raise ValueError(f"{option} must be one of {words} (got {value!r:.80})")
        values[option] = matching[0]
    return values


def _is_failfast(options: dict[str, Any]) -> bool:
    return str(options["mode"]) == "FAILFAST"
