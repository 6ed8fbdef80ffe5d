# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Column functions for PySpark 3.5 and 4.0, which have no ``arrow_udf``.

``pandas_udf`` is their way to a column. It passes the input as pandas series, and
converts a result value by value into Python objects, which Arrow converts again. The
results here spare both conversions: they are Arrow arrays within a pandas array that
Spark passes on to Arrow unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import functions, types

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column


class UnchangedArray(pd.arrays.ArrowExtensionArray):
    """An Arrow array of Spark's types that keeps its values when Spark converts it.

    Spark converts the values of a nested type with ``Series.apply``, which calls
    ``map`` of the array. Arrow then takes the array from ``__arrow_array__``.
    """

    def map(self, mapper: Any, na_action: Any = None) -> UnchangedArray:
        """Return the array itself: its values have Spark's types already."""
        return self

    def __getitem__(self, item: Any) -> Any:
        """Return no single value: pandas looks at the first one and does not use it.

        Its timestamp may be out of the range of Python's.
        """
        return None if isinstance(item, int) else super().__getitem__(item)


def make_column_function(
    function: Callable[..., pa.Array], kind: types.DataType
) -> Callable[..., Column]:
    """Make a column function of one on Arrow arrays that returns the type ``kind``.

    Its columns are not structs: pandas would make floats of integers beside nulls.
    """
    is_struct = isinstance(kind, types.StructType)

    def decode(*columns: pd.Series) -> pd.Series:
        result = function(*map(_to_arrow, columns))
        if is_struct:
            ends = pa.array(np.arange(len(result) + 1, dtype=np.int32))
            result = pa.ListArray.from_arrays(ends, result)
        return pd.Series(UnchangedArray(pa.chunked_array([result])))

    decode.__name__ = function.__name__
    # pandas_udf reads the annotations, which are texts in this file.
    decode.__annotations__ = {"columns": pd.Series, "return": pd.Series}
    # pandas_udf returns a struct as a data frame, whose rows cannot be null. A struct
    # within an array of one can be null.
    made = functions.pandas_udf(decode, types.ArrayType(kind) if is_struct else kind)

    def call(*columns: Column | str) -> Column:
        column = made(*columns)
        return column.getItem(0) if is_struct else column

    return call


def _to_arrow(column: pd.Series) -> pa.Array:
    """Make an Arrow array of what Spark passes for a column."""
    array = pa.Array.from_pandas(column)
    # pandas makes floats of integers beside nulls; they are versions and API keys.
    return array.cast(pa.int64()) if pa.types.is_floating(array.type) else array
