# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Column functions for PySpark 3.5 and 4.0, which have no ``arrow_udf``.

In these versions, ``pandas_udf`` is the only interface for column functions. It passes
the input as pandas series, and converts each result value into a Python object, which
Arrow converts again. The functions of this module avoid both conversions: they wrap
Arrow arrays in a pandas array, which Spark passes to Arrow unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import functions, types

from .short_errors import shorten_errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column


class UnchangedArray(pd.arrays.ArrowExtensionArray):
    """Arrow array of Spark's types that keeps its values when Spark converts it.

    Spark converts nested values with ``Series.apply``, which calls ``map`` of the
    array. Afterwards Arrow reads the array from ``__arrow_array__``.
    """

    def map(self, mapper: Any, na_action: Any = None) -> UnchangedArray:
        """Return the array itself, because its values already have Spark's types."""
        return self

    def __getitem__(self, item: Any) -> Any:
        """Return None for a single value.

        pandas only requests the first value, and does not use it. The value may be a
        timestamp outside the range that Python supports.
        """
        return None if isinstance(item, int) else super().__getitem__(item)


def make_column_function(
    function: Callable[..., pa.Array], kind: types.DataType
) -> Callable[..., Column]:
    """Make a column function with result type ``kind`` from a function on Arrow arrays.

    Its input columns must not be structs, because pandas converts integers to floats if
    the column also contains nulls.
    """
    is_struct = isinstance(kind, types.StructType)

    def decode(*columns: pd.Series) -> pd.Series:
        result = function(*map(_to_arrow, columns))
        if is_struct:
            ends = pa.array(np.arange(len(result) + 1, dtype=np.int32))
            result = pa.ListArray.from_arrays(ends, result)
        return pd.Series(UnchangedArray(pa.chunked_array([result])))

    decode.__name__ = function.__name__
    # pandas_udf requires annotation objects, but the annotations of this file are
    # strings.
    decode.__annotations__ = {"columns": pd.Series, "return": pd.Series}
    # pandas_udf returns a struct as a data frame, whose rows cannot be null. Wrap each
    # struct in an array with one element, which can be null.
    returned = types.ArrayType(kind) if is_struct else kind
    column_function = functions.pandas_udf(shorten_errors(decode), returned)

    def call(*columns: Column | str) -> Column:
        column = column_function(*columns)
        return column.getItem(0) if is_struct else column

    return call


def _to_arrow(column: pd.Series) -> pa.Array:
    """Convert a column from Spark into an Arrow array."""
    array = pa.Array.from_pandas(column)
    # pandas converts integers to floats if there are nulls. Kwire's numeric input
    # columns are versions and API keys, so convert them back to integers.
    return array.cast(pa.int64()) if pa.types.is_floating(array.type) else array
