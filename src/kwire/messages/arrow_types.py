# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Maps Spark type names to pyarrow types, and Kafka's types to both.

Tables, captures and Spark functions declare their column types with Spark's names
("bigint"), and use this module to create the Arrow types.
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
"""Spark type name for every primitive type of a plan. All types are nullable."""


@cache
def load_arrow_types() -> Mapping[str, Any]:
    """Import pyarrow, and return its types by their Spark name."""
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
    """Import pyarrow and pyarrow.parquet.

    If pyarrow is not installed, raises ``ImportError`` with the name ``user`` of the
    code that requires it, and with the command that installs it.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            f"{user} requires pyarrow: pip install kwire[arrow]", name="pyarrow"
        ) from None
    return pyarrow


def make_arrow_type(kind: Any) -> Any:
    """Create the Arrow type of a column.

    ``kind`` is a Spark type name, ``["string"]`` for a list, or a dict of names and
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
    """Create the schema of a table from the kinds of its columns."""
    import pyarrow

    return pyarrow.schema(list(make_arrow_type(columns)))
