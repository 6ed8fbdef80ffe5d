# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes columns with request frames into request headers, using only pyarrow."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ...schema import registry, releases
from .. import arrow_messages
from .array_rows import as_binary, is_valid, make_struct
from .message_types import with_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HEADER = pa.struct(
    [
        ("api_key", pa.int16()),
        ("api", pa.string()),
        ("api_version", pa.int16()),
        ("correlation_id", pa.int32()),
        ("client_id", pa.string()),
    ]
)
"""Request header; ``api`` is the API name, such as "Fetch"."""


def read_headers(data: Any, *, failfast: bool = False) -> pa.StructArray:
    """Decode the headers of request frames without decoding the bodies.

    A null row becomes a null struct. If a row is invalid, or its API or version is
    unknown to kwire, ``_error`` contains the reason, and all other fields are null.
    With ``failfast``, there is no ``_error``, and the first invalid row raises the
    error from ``kwire.messages.framing.decode_request``.
    """
    rows = as_binary(data)
    kind = HEADER if failfast else with_error(HEADER)
    return make_struct(kind, _columns(rows, failfast), is_valid(rows))


def flat_headers(
    batches: Iterable[pa.RecordBatch],
    column: str,
    keep: Sequence[str] = (),
    *,
    failfast: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Decode a column with request frames into columns of their own.

    Every result batch contains the columns ``keep`` of the input batch, followed by the
    fields of ``HEADER`` and, unless ``failfast`` is True, ``_error``. Invalid rows are
    handled as in ``read_headers``.
    """
    fields = list(HEADER if failfast else with_error(HEADER))
    for batch in batches:
        kept = batch.select(list(keep))
        columns = _columns(as_binary(batch.column(column)), failfast)
        yield pa.RecordBatch.from_arrays(
            [*kept.columns, *columns], schema=pa.schema([*kept.schema, *fields])
        )


def _columns(rows: pa.BinaryArray, failfast: bool) -> list[pa.Array]:
    made = arrow_messages.request_headers_to_arrow(
        rows, on_error="raise" if failfast else "null"
    )
    found = dict(zip((field.name for field in made.type), made.flatten(), strict=True))
    del found["body_position"]
    api_key = found.pop("api_key")
    return [api_key, _api_names().take(api_key), *found.values()]


@cache
def _api_names() -> pa.StringArray:
    """Return the API names, indexed by API key."""
    known = registry.keys("request")
    names = {key: releases.name_of(key) for key in known}
    return pa.array([names.get(key) for key in range(known[-1] + 1)], pa.string())
