# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``tools/words.py`` finds banned words in prose, and lets no file gain one."""

import pytest

from tools import words

FILES = {
    "page.md": "The ceiling of it,\nand what stands at its end.\n",
    "code.py": '"""Tells more."""\nceiling = told  # nobody\nx = "came with"\n',
    "code.pyx": 'cdef int ceiling  # behind\nx = "it\'s dear"\n"""One\ntwo amiss."""\n',
}
FOUND = {
    "page.md": [(1, "ceiling"), (2, "stands at")],
    "code.py": [(1, "Tells"), (2, "nobody"), (3, "came with")],
    "code.pyx": [(1, "behind"), (2, "dear"), (4, "amiss")],
}


@pytest.mark.parametrize("name", FILES)
def test_prose_is_searched_and_names_are_not(tmp_path, name):
    """Docstrings, comments, strings and pages, each with its line."""
    (tmp_path / name).write_text(FILES[name])
    found = words.find_words(tmp_path / name)
    assert [(use.line, use.words) for use in found] == FOUND[name]
    assert all(use.instead for use in found)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A tree of one page with one banned word, which is listed."""
    (tmp_path / "page.md").write_text("a ceiling\n")
    monkeypatch.setattr(words, "ROOT", tmp_path)
    monkeypatch.setattr(words, "LIST", tmp_path / "words.txt")
    words.write_list({"page.md": 1, "other.md": 0})
    return tmp_path


@pytest.mark.parametrize(
    ("text", "options", "code", "says"),
    [
        ("a ceiling\n", [], 0, "1 banned words left"),
        ("a ceiling\nbehind\n", [], 1, "page.md:2: 'behind': write after"),
        ("a ceiling\nbehind\n", ["--record"], 1, "page.md:2: 'behind': write after"),
        ("a limit\n", [], 1, "run tools/words.py --record"),
        ("a limit\n", ["--record"], 0, "0 banned words left"),
    ],
)
def test_counts_only_go_down(tree, monkeypatch, capsys, text, options, code, says):
    """More fails, recorded or not; fewer asks to be recorded."""
    (tree / "page.md").write_text(text)
    monkeypatch.setattr(words.sys, "argv", ["words.py", *options])
    assert words.main() == code
    assert says in capsys.readouterr().out
    assert words.read_list() == ({} if code == 0 and options else {"page.md": 1})
