# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``make test`` skips redundant test runs on the Python engine."""

from types import SimpleNamespace

import pytest

from tests.harness import second_runs


class Item:
    """Imitation of a test item that pytest has collected."""

    def __init__(self, name, engine, markers=()):
        """Set the file and the engine of the test.

        ``engine`` is "fast" or "pure", or None if the test uses no engine.
        """
        self.path = second_runs.TESTS / name
        self.markers = list(markers)
        if engine:
            self.callspec = SimpleNamespace(params={"kwire": engine})

    def get_closest_marker(self, name):
        return name if name in self.markers else None

    def add_marker(self, marker):
        self.markers.append(marker.name)


@pytest.mark.parametrize(
    ("name", "engine", "markers", "added"),
    [
        ("cli/test_it.py", "pure", [], ["night"]),
        ("test_files.py", "pure", [], ["night"]),
        ("client/machines/test_it.py", "pure", ["gate_on_pure"], ["night"]),
        ("cli/test_it.py", "fast", [], []),
        ("cli/test_it.py", None, [], []),
        ("records/compression/test_it.py", "pure", ["gate_on_pure"], ["gate"]),
        ("records/compression/test_it.py", "fast", ["gate_on_pure"], []),
        ("records/test_it.py", "pure", [], []),
    ],
)
def test_second_runs_have_markers(monkeypatch, name, engine, markers, added):
    """Redundant runs on the Python engine get a marker, and all other runs do not.

    Runs on the compiled engine and both runs of engine tests are not redundant.
    """
    monkeypatch.setattr(second_runs, "PACKAGES", {"fast": None, "pure": None})
    item = Item(name, engine, markers)
    second_runs.pytest_collection_modifyitems([item])
    assert item.markers == [*markers, *added]


def test_a_build_without_the_compiled_engine_runs_all(monkeypatch):
    """If only the Python engine exists, no run is redundant."""
    monkeypatch.setattr(second_runs, "PACKAGES", {"pure": None})
    item = Item("cli/test_it.py", "pure")
    second_runs.pytest_collection_modifyitems([item])
    assert item.markers == []


def test_the_folders_of_both_engines_exist():
    """The directories whose tests always run on both engines exist.

    If a directory is renamed, its tests would no longer run on the Python engine.
    """
    assert all((second_runs.TESTS / name).is_dir() for name in second_runs.BOTH)
