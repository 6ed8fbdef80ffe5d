# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that ``make quick`` runs the codec tests that need no slow library."""

import subprocess
import sys

import pytest

from tests.harness.quick_lane import (
    ROOT,
    TESTS,
    find_heavy_import,
    find_light_modules,
    find_requirements,
    is_left_out,
)

HEAVY = {
    "pyspark",
    "pandas",
    "duckdb",
    "polars",
    "pyright",
    "mypy",
    "confluent-kafka",
    "kio",
    "kafka-python",
    "aiokafka",
    "crc32c",
    "lz4",
    "python-snappy",
}


def test_the_group_of_the_lane_has_no_heavy_library():
    """The dependency group ``quick`` contains no slow library and no other client.

    They are only in the group ``test``.
    """
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
        ("from tools.generate.promises import Figure", None),
    ],
)
def test_a_heavy_import_is_found(tmp_path, code, heavy):
    """``find_heavy_import`` detects imports of slow libraries.

    It examines imports at the top level, in functions, and in imported files.
    """
    (tmp_path / "light.py").write_text("import second_light")
    (tmp_path / "second_light.py").write_text("import light")
    (tmp_path / "first.py").write_text("import second")
    (tmp_path / "second.py").write_text("import duckdb")
    (tmp_path / "test_it.py").write_text(code)
    assert find_heavy_import(tmp_path / "test_it.py") == heavy


def test_a_library_without_a_wheel_is_heavy(tmp_path):
    """``--without`` treats a library as slow.

    It is used on processors for which the library has no wheel.
    """
    (tmp_path / "test_it.py").write_text("import pyarrow.compute")
    assert find_heavy_import(tmp_path / "test_it.py") is None
    heavy_import = find_heavy_import(tmp_path / "test_it.py", frozenset({"pyarrow"}))
    assert heavy_import == "pyarrow.compute"


def is_taken(name):
    """Return whether the lane runs a test file, which must exist."""
    path = TESTS / name
    assert path.exists()
    folders = [folder for folder in path.parents if TESTS in folder.parents]
    return not any(map(is_left_out, [path, *folders]))


def test_the_lane_has_its_subject_and_no_peer():
    """``make quick`` runs tests of codecs, records and columns, and no other client."""
    for name in (
        "messages/test_round_trip.py",
        "messages/test_vectors.py",
        "engine/twins/test_agreement.py",
        "records/test_formats.py",
        "records/test_columns.py",
    ):
        assert is_taken(name)
    for name in (
        "messages/test_kio.py",
        "records/test_column_consumers.py",
        "spark/test_log_reading.py",
    ):
        assert not is_taken(name)


@pytest.mark.slow
def test_pytest_takes_the_files_of_the_lane_alone():
    """``pytest --quick`` only collects the lane's directories."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "--quick",
            "--collect-only",
            "-qq",
            # Skip these directories, because collecting their tests takes too long.
            "--ignore=tests/records",
            "--ignore=tests/messages",
            "--ignore=tests/schema",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    collected = {line.rpartition("/")[0] for line in done.stdout.splitlines() if line}
    assert collected == {"tests/engine", "tests/engine/twins"}
