# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test that the reference lists all exception classes of kwire."""

import importlib
import re

import pytest

import kwire
from tools.generate import error_classes

REFERENCE = error_classes.PAGE.parent


def list_subclasses(base):
    """Yield all direct and indirect subclasses of a class that are currently loaded."""
    for subclass in base.__subclasses__():
        yield subclass
        yield from list_subclasses(subclass)


def test_the_table_of_exceptions_is_up_to_date():
    """``--record`` writes the table that this test compares with the page."""
    page = error_classes.PAGE.read_text("utf-8")
    assert error_classes.replace_table(page, error_classes.write_table()) == page


def test_each_exception_of_kwire_is_in_the_table():
    """Compare the table with the loaded classes. The tool only reads source files."""
    listed = error_classes.find_classes()
    for name in ("client.errors", "connection.sasl", "log", "recording"):
        importlib.import_module(f"kwire.{name}")
    assert kwire.jobs.JobError.__module__ == "kwire.jobs.running"
    loaded = {
        subclass.__name__
        for subclass in list_subclasses(kwire.KwireError)
        if subclass.__module__.startswith("kwire.")
        and not subclass.__name__.startswith("_")
    }
    assert {"ClusterError", "JobError", "ListenError", "SaslError"} <= loaded
    assert loaded <= set(listed)


def test_each_subclass_of_kwire_error_is_described_in_the_reference():
    pages = "".join(page.read_text("utf-8") for page in REFERENCE.glob("*.md"))
    described = set(re.findall(r"autoclass:: (?:[\w.]+\.)?(\w+)", pages))
    classes = error_classes.find_classes()
    assert {name for name in classes if is_own(name, classes)} <= described


def is_own(name, classes):
    """Return whether a listed class is ``KwireError`` or is derived from it."""
    return name == "KwireError" or any(
        is_own(base, classes) for base in classes[name].bases if base in classes
    )


@pytest.mark.parametrize("base", ["ProtocolError", "NotRegularFile", "OSError"])
def test_a_new_exception_class_makes_the_table_stale(monkeypatch, tmp_path, base):
    """A class that is derived from ``KwireError``, directly or not, is found."""
    source = tmp_path / "kwire"
    source.mkdir()
    for name in ("errors.py", "_files.py"):
        text = (error_classes.SOURCE / name).read_text("utf-8")
        (source / name).write_text(text)
    (source / "new.py").write_text(f'class Fresh({base}):\n    """It is new. Yes."""\n')
    monkeypatch.setattr(error_classes, "SOURCE", source)
    assert error_classes.find_classes()["Fresh"].meaning == "It is new"
