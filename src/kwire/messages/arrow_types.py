# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Maps Spark's names of types to pyarrow's types, and Kafka's types to both.

Tables, captures and Spark's functions name their columns' types in Spark's words
("bigint") and make Arrow's from them here.
"""

from __future__ import annotations

from functools import cache

from ..schema import plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

OF_PLAN = {
    plan.BOOL: "boolean",
    plan.INT8: "tinyint",
    plan.INT16: "smallint",
    plan.UINT16: "int",
    plan.INT32: "int",
    plan.UINT32: "bigint",
    plan.INT64: "bigint",
    plan.FLOAT64: "double",
    plan.UUID: "string",
    plan.STRING: "string",
    plan.BYTES: "binary",
    plan.RECORDS: "binary",
}
"""Spark's name of the type that holds each primitive of a plan, null aside."""


@cache
def load_arrow_types() -> Mapping[str, Any]:
    """Import pyarrow, and map Spark's names to its types."""
    import pyarrow

    return {
        "boolean": pyarrow.bool_(),
        "tinyint": pyarrow.int8(),
        "smallint": pyarrow.int16(),
        "int": pyarrow.int32(),
        "bigint": pyarrow.int64(),
        "double": pyarrow.float64(),
        "string": pyarrow.string(),
        "binary": pyarrow.binary(),
        "timestamp": pyarrow.timestamp("us", "UTC"),
    }


def load_pyarrow(user: str) -> Any:
    """Import pyarrow and its Parquet; the error says that ``user`` requires it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            f"{user} requires pyarrow: pip install kwire[arrow]", name="pyarrow"
        ) from None
    return pyarrow


def make_arrow_type(kind: Any) -> Any:
    """Make the type of a column.

    A kind is Spark's name of a type, ``["string"]`` for a list, or a dict of names and
    kinds for a struct.
    """
    import pyarrow

    if isinstance(kind, str):
        return load_arrow_types()[kind]
    if isinstance(kind, list):
        return pyarrow.list_(make_arrow_type(kind[0]))
    fields = [(name, make_arrow_type(each)) for name, each in kind.items()]
    return pyarrow.struct(fields)


def make_arrow_schema(columns: Mapping[str, Any]) -> Any:
    """Make the schema of a table from the kinds of its columns."""
    import pyarrow

    return pyarrow.schema(list(make_arrow_type(columns)))
