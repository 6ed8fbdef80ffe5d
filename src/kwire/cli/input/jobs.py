# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Options and helpers for commands that run ``kwire.jobs``."""

from __future__ import annotations

from typing import Any

import click

spark_option = click.option(
    "--spark",
    metavar="MASTER",
    help="Run on Spark, such as local[4]; the default for large input.",
)


def read_rows(folder: str) -> list[dict[str, Any]]:
    """Read a small table that a job has written. Returns its rows."""
    import pyarrow.parquet

    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(folder).to_pylist()
    return rows
