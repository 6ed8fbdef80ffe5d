# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Maps Spark's names of types to pyarrow's types, and Kafka's types to both.

Tables, captures and Spark's functions name their columns' types in Spark's words
("bigint") and make Arrow's from them here. Structs and lists are not in it.
"""

from __future__ import annotations

from functools import cache

from . import plan

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
