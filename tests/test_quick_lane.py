# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``make quick`` runs the tests of its subject that need no heavy library."""

import subprocess
import sys
from pathlib import Path

import pytest
from quick_lane import ROOT, find_heavy_import, find_light_modules, find_requirements

HEAVY = {
    *("pyspark", "pandas", "duckdb", "polars", "pyright", "mypy", "confluent-kafka"),
    *("kio", "kafka-python", "aiokafka", "crc32c", "lz4", "python-snappy"),
}


def test_the_group_of_the_lane_has_no_heavy_library():
    """A library that is slow to install or compared with kwire is in ``test`` alone."""
    assert set(find_requirements("test")) >= HEAVY
    assert not HEAVY & set(find_requirements("quick"))
    assert {"pytest", "hypothesis", "numpy", "pyarrow", "kwire"} <= find_light_modules()


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import json, numpy, kwire.records", None),
        ("import numpy.lib, polars.io", "polars.io"),
        ("def test():\n    from pyspark import sql", "pyspark.sql"),
        ("from light import x", None),
        ("import first", "duckdb"),
        ("from tools.promises import Figure", None),
    ],
)
def test_a_heavy_import_is_found(tmp_path, code, heavy):
    """At the top, within a function, and through the files that a test imports."""
    (tmp_path / "light.py").write_text("import second_light")
    (tmp_path / "second_light.py").write_text("import light")
    (tmp_path / "first.py").write_text("import second")
    (tmp_path / "second.py").write_text("import duckdb")
    (tmp_path / "test_it.py").write_text(code)
    assert find_heavy_import(tmp_path / "test_it.py") == heavy


@pytest.mark.slow
def test_the_lane_has_its_subject_and_no_peer():
    """``pytest --quick`` collects codec, records and columns, and nothing heavy."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--quick", "--collect-only", "-qq"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    collected = {line.partition(":")[0] for line in done.stdout.splitlines() if line}
    for file in (
        *("test_round_trip", "test_vectors", "twins/test_agreement"),
        *("records/test_formats", "records/test_columns"),
    ):
        assert f"tests/{file}.py" in collected
    for file in ("test_kio", "records/test_column_consumers", "spark/test_log_reading"):
        assert Path(ROOT, f"tests/{file}.py").exists()
        assert f"tests/{file}.py" not in collected
