# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The recipes of the guide "Test your program" pass as they are printed.

``tests/project/test_docs.py`` runs the first example.
"""

import re
import subprocess
import sys

import pytest

from tools.generate import served_apis

pytest.importorskip("confluent_kafka")

pytestmark = pytest.mark.slow

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
PLUGIN = 'pytest_plugins = ["kwire.testing.pytest"]\n'


def list_recipes():
    """Return the Python blocks of the guide that define tests."""
    text = served_apis.PAGE.read_text("utf-8")
    assert f"    {PLUGIN}" in text
    return [code for code in BLOCK.findall(text) if ">>> " not in code]


def run_pytest(directory, *args):
    """Run the tests of a directory in a new process, without other plugins."""
    options = ["-q", "--strict-markers", "-p", "no:randomly", "-p", "no:cacheprovider"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *args, str(directory)],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_each_recipe_of_the_guide_passes(tmp_path):
    recipes = list_recipes()
    code = "\n\n".join(recipes)
    (tmp_path / "conftest.py").write_text(PLUGIN)
    (tmp_path / "test_recipes.py").write_text(code)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    count = code.count("\ndef test_")
    assert count >= 8
    # One recipe runs on three releases.
    assert f"{count + 2} passed" in done.stdout


def test_each_of_the_five_recipes_has_a_heading():
    text = served_apis.PAGE.read_text("utf-8")
    for heading in (
        "A consumer that must survive a leader change",
        "A producer that must not write duplicates",
        "A transaction that is fenced",
        "A slow broker",
        "An old release",
        "When to use a real broker",
        "Differences to a broker",
    ):
        assert f"\n## {heading}\n" in text


def test_the_table_of_served_apis_is_current():
    """Run ``python -m tools.generate.served_apis`` after adding an API."""
    assert served_apis.main(["--check"]) == 0


def test_stale_table_is_found(tmp_path, monkeypatch, capsys):
    page = tmp_path / "testing.md"
    text = served_apis.PAGE.read_text("utf-8")
    page.write_text(text.replace("| Produce | ", "| Produces | "))
    monkeypatch.setattr(served_apis, "PAGE", page)
    assert served_apis.main(["--check"]) == 1
    assert "stale" in capsys.readouterr().err
    assert served_apis.main([]) == 0
    assert page.read_text("utf-8") == text


PLUGIN_TESTS = """
import pytest

pytestmark = pytest.mark.kafka_cluster(topics={"orders": 1}, release="3.9")


@pytest.mark.kafka_cluster(topics={"payments": 2})
def test_closest_marker_overrides_single_arguments(kafka_cluster):
    assert set(kafka_cluster.records("payments")) == {0, 1}
    assert kafka_cluster.release == "3.9"


def test_each_test_has_its_own_cluster(kafka_cluster):
    assert kafka_cluster.write("orders", [b"one"]) == 0


def test_next_test_starts_without_records(kafka_cluster):
    assert kafka_cluster.write("orders", [b"one"]) == 0


@pytest.mark.kafka_cluster(3)
def test_positional_arguments_are_rejected(kafka_cluster):
    raise AssertionError
"""


def test_marker_changes_the_arguments_of_the_fixture(tmp_path):
    (tmp_path / "conftest.py").write_text(PLUGIN)
    (tmp_path / "test_plugin.py").write_text(PLUGIN_TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = run_pytest(tmp_path)
    assert "3 passed, 1 error" in done.stdout, done.stdout + done.stderr
    assert "has only keyword arguments (got (3,))" in done.stdout
    listed = run_pytest(tmp_path, "--markers")
    assert "@pytest.mark.kafka_cluster(**arguments)" in listed.stdout


def test_plugin_is_not_loaded_by_itself(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    assert "kafka_cluster" not in run_pytest(tmp_path, "--fixtures").stdout
