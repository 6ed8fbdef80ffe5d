# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``error_texts.txt`` lists every error text, and the tool that writes it works."""

import pytest

from tools import error_texts

PYTHON = '''
from .words import TABLE, refuse

class OwnError(ValueError):
    """Not an error of its own accord."""

class Reader:
    def __init__(self, name):
        self.name = name
        self._ended = "it was closed by this side"
        if name:
            self._ended = f"it failed: {name!r:.40}"

    def check(self, data, limit=3):
        """Docstrings are no texts of errors."""
        if data:
            print("neither are printed lines")
            raise OwnError(f"{len(data)} bytes of {self.name}, "
                           f"{limit} are allowed")
        reason = "no bytes at all" if data is None else "empty " "data"
        raise OwnError(reason)

    def read(self):
        raise OwnError(self._ended)

    def walk(self, kind):
        for rule, words in find_faults(kind):
            refuse(rule, reason=words)

def find_faults(kind):
    yield "rule", f"{kind} is not a kind"

def explain(number):
    kind, words = TABLE[number]
    raise kind(words.format(number))
'''

WORDS = """
TABLE = {1: (ValueError, "row {} is damaged"), 2: (OSError, "row {} is lost")}

def refuse(rule, reason):
    raise KeyError(reason)
"""

CYTHON = '''
"""Docstrings are no texts of errors."""
cdef object fail(int64_t* at, object name):  # nor are comments "of this kind"
    raise ValueError(f"byte {at[0]} of {<object>name} and {call(&at.x)} "
                     'is "wrong"')
'''


def test_every_text_of_an_error_is_in_the_table():
    """A text that changes is read beside the others: tools/error_texts.py --record."""
    listed = error_texts.TABLE.read_text("utf-8")
    found = error_texts.write_table(error_texts.find_texts(error_texts.SOURCE))
    missing = set(found.splitlines()) - set(listed.splitlines())
    assert not missing, "run tools/error_texts.py --record, and read the table"
    assert found == listed, "run tools/error_texts.py --record"


def test_texts_are_followed_to_where_they_are_written(tmp_path):
    """Through variables, attributes, tables, other functions, and both languages."""
    (tmp_path / "reader.py").write_text(PYTHON)
    (tmp_path / "words.py").write_text(WORDS)
    (tmp_path / "engine.pyx").write_text(CYTHON)
    assert error_texts.find_texts(tmp_path) == {
        "engine.pyx": ['byte {at} of {name} and {x} is "wrong"'],
        "reader.py": [
            "it was closed by this side",
            "it failed: {name}",
            "{data} bytes of {name}, {limit} are allowed",
            "no bytes at all",
            "empty data",
            "{kind} is not a kind",
        ],
        "words.py": ["row {} is damaged", "row {} is lost"],
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [("no bytes at all", "nothing to read"), ("is lost", "went missing")],
)
def test_a_text_that_is_not_listed_is_found(
    tmp_path, monkeypatch, capsys, before, after
):
    """The command fails for a new text, and lists it when it records."""
    source = tmp_path / "kwire"
    source.mkdir()
    (source / "reader.py").write_text(PYTHON)
    (source / "words.py").write_text(WORDS)
    monkeypatch.setattr(error_texts, "SOURCE", source)
    monkeypatch.setattr(error_texts, "TABLE", tmp_path / "texts.txt")
    run = monkeypatch.setattr
    run(error_texts.sys, "argv", ["error_texts.py", "--record"])
    assert error_texts.main() == 0
    for file in source.iterdir():
        file.write_text(file.read_text().replace(before, after))
    run(error_texts.sys, "argv", ["error_texts.py"])
    assert error_texts.main() == 1
    assert "--record" in capsys.readouterr().out
    run(error_texts.sys, "argv", ["error_texts.py", "--record"])
    assert error_texts.main() == 0
    assert after in error_texts.TABLE.read_text()
