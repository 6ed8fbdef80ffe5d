# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``make test`` leaves out runs on plain Python that add nothing."""

from types import SimpleNamespace

import pytest

from tests.harness import second_runs


class Item:
    """A test as pytest collects it."""

    def __init__(self, name, engine, markers=()):
        """Place it in a file of the tests; ``engine`` is None without ``kwire``."""
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
    """All runs on the compiled engine, and both runs of an engine's folder, stay."""
    monkeypatch.setattr(second_runs, "PACKAGES", {"fast": None, "pure": None})
    item = Item(name, engine, markers)
    second_runs.pytest_collection_modifyitems([item])
    assert item.markers == [*markers, *added]


def test_a_build_without_the_compiled_engine_runs_all(monkeypatch):
    """There the run on plain Python is the only one."""
    monkeypatch.setattr(second_runs, "PACKAGES", {"pure": None})
    item = Item("cli/test_it.py", "pure")
    second_runs.pytest_collection_modifyitems([item])
    assert item.markers == []


def test_the_folders_of_both_engines_exist():
    """A folder with a new name would lose its runs on plain Python."""
    assert all((second_runs.TESTS / name).is_dir() for name in second_runs.BOTH)
