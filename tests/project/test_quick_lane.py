# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``make quick`` runs the tests of its subject that need no heavy library."""

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
        ("from tools.generate.promises import Figure", None),
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


def test_a_library_without_a_wheel_is_heavy(tmp_path):
    """Some processors have no wheel of one: ``--without`` leaves out what needs it."""
    (tmp_path / "test_it.py").write_text("import pyarrow.compute")
    assert find_heavy_import(tmp_path / "test_it.py") is None
    found = find_heavy_import(tmp_path / "test_it.py", frozenset({"pyarrow"}))
    assert found == "pyarrow.compute"


def is_taken(name):
    """Whether the lane runs a file of the tests; it has to exist."""
    path = TESTS / name
    assert path.exists()
    folders = [folder for folder in path.parents if TESTS in folder.parents]
    return not any(map(is_left_out, [path, *folders]))


def test_the_lane_has_its_subject_and_no_peer():
    """Codec, records and columns, and nothing heavy."""
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
    """``pytest --quick`` collects a folder of the lane, and no other."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "--quick",
            "--collect-only",
            "-qq",
            # What would take long to collect.
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
