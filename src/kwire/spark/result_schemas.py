# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the types that users pass as ``schema`` to the functions of Spark.

A schema is a type of Spark, or its text, such as the one that a UDF was declared with.
``columns.chosen_fields`` says which fields and types it may have.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import types

from ..messages.arrow_types import load_arrow_types


def read_struct_type(schema: Any) -> types.StructType:
    """Read a struct type, or the element type of an array of structs.

    ``schema`` is a type of Spark or a text in Spark's notation, such as
    "struct<offset:bigint>", "offset bigint" or "array<struct<offset:bigint>>". Raises
    ``ValueError`` for a type without fields, and Spark's ``ParseException`` for a text
    that is not a type.
    """
    kind = parse_type(schema)
    element = kind.elementType if isinstance(kind, types.ArrayType) else kind
    if not isinstance(element, types.StructType):
        spelled = (
            kind.simpleString() if isinstance(kind, types.DataType) else repr(kind)
        )
        raise ValueError(
            f"schema must be a struct, or an array of structs (got {spelled:.80})"
        )
    return element


def read_array_type(schema: Any) -> types.ArrayType:
    """Read the type of an array of structs, or make it of the element type.

    As for ``read_struct_type`` otherwise.
    """
    kind = parse_type(schema)
    element = read_struct_type(kind)
    return kind if isinstance(kind, types.ArrayType) else types.ArrayType(element)


def make_arrow_type(kind: types.DataType) -> pa.DataType:
    """Make the Arrow type of a type of Spark, with the names that Spark's has."""
    if isinstance(kind, types.StructType):
        return pa.struct(
            [
                pa.field(field.name, make_arrow_type(field.dataType), field.nullable)
                for field in kind.fields
            ]
        )
    if isinstance(kind, types.ArrayType):
        element = make_arrow_type(kind.elementType)
        return pa.list_(pa.field("element", element, kind.containsNull))
    name = kind.simpleString()
    known = load_arrow_types()
    if name in known:
        return known[name]
    from pyspark.sql.pandas.types import to_arrow_type

    # No field of kwire has such a type; the error names it.
    return to_arrow_type(kind)


def parse_type(schema: Any) -> Any:
    """Parse the text of a type; what is not a text stays as it is."""
    if not isinstance(schema, str):
        return schema
    if hasattr(types.DataType, "fromDDL"):
        return types.DataType.fromDDL(schema)
    # PySpark 3.5 parses the texts of ``udf`` and ``createDataFrame`` with this.
    return types._parse_datatype_string(schema)
