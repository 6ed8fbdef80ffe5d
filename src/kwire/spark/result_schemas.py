# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Parses the types that users pass as ``schema`` to Spark functions.

A schema is a Spark type or its string form, for example from the declaration of a UDF.
``columns.chosen_fields`` checks which fields and types are allowed.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import types

from ..messages.arrow_types import load_arrow_types


def read_struct_type(schema: Any) -> types.StructType:
    """Read a struct type, or the element type of an array of structs.

    ``schema`` is a Spark type or a string in Spark's notation, such as
    "struct<offset:bigint>", "offset bigint" or "array<struct<offset:bigint>>". Raises
    ``ValueError`` if the type is neither a struct nor an array of structs, and Spark's
    ``ParseException`` if the string is not a type.
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
    """Read an array of structs. A struct type becomes an array of this struct.

    Input and errors are the same as for ``read_struct_type``.
    """
    kind = parse_type(schema)
    element = read_struct_type(kind)
    return kind if isinstance(kind, types.ArrayType) else types.ArrayType(element)


def make_arrow_type(kind: types.DataType) -> pa.DataType:
    """Return the Arrow type for a Spark type, with the same field names."""
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

    # No kwire field has this type. Convert it only so that the error can name it.
    return to_arrow_type(kind)


def parse_type(schema: Any) -> Any:
    """Parse the string form of a type. Returns any other value unchanged."""
    if not isinstance(schema, str):
        return schema
    if hasattr(types.DataType, "fromDDL"):
        return types.DataType.fromDDL(schema)
    # PySpark 3.5 uses this function for the strings of ``udf`` and ``createDataFrame``.
    return types._parse_datatype_string(schema)
