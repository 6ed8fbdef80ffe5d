# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test that ``tools/check/words.py`` finds banned words in files and commits."""

import shutil
import subprocess

import pytest

from tools.check import words

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
    """Search docstrings, comments, strings and pages, and report line numbers."""
    (tmp_path / name).write_text(FILES[name])
    found = words.find_words(tmp_path / name)
    assert [(use.line, use.words) for use in found] == FOUND[name]
    assert all(use.instead for use in found)


@pytest.mark.parametrize(
    ("text", "code", "output"),
    [
        ("a limit\n", 0, "words: 0 banned words\n"),
        (
            "a limit\nbehind\n",
            1,
            "page.md:2: 'behind': write after\nwords: 1 banned words\n",
        ),
    ],
)
def test_a_banned_word_in_the_tree_fails(
    tmp_path, monkeypatch, capsys, text, code, output
):
    """The report contains the file, the line and the recommended word."""
    (tmp_path / "page.md").write_text(text)
    monkeypatch.setattr(words, "ROOT", tmp_path)
    monkeypatch.setattr(words, "check_commits", lambda: 0)
    monkeypatch.setattr(words.sys, "argv", ["words.py"])
    assert words.main() == code
    assert capsys.readouterr().out == output


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("Reject zstd in magic 1 batches", None),
        ("Address a defect\n\nWhat was wrong, and what changed.\n", None),
        ("Drop what a test left behind", None),
        ('Revert "Hand the ceiling over, and what else stands behind it"', None),
        ("Shorten README.", "ends with a full stop"),
        ("shorten README", "begins with 'shorten'"),
        ("Shortened README", "begins with 'Shortened'"),
        ("Speeding up", "begins with 'Speeding'"),
        ("Words of README", "begins with 'Words'"),
        ("Name " + 12 * "what ", "has 64 characters"),
        ("Shorten README\nand more", "second line"),
        ("Shorten README\n\nIt came with\nmore.", "'came with': write"),
        ("Lower a ceiling", "'ceiling': write limit"),
    ],
)
def test_messages_of_commits_are_checked(tmp_path, monkeypatch, message, problem):
    """The subject must be short and imperative, without banned words.

    The check is also available as a git hook.
    """
    found = list(words.check_message(message))
    assert len(found) == (problem is not None)
    assert problem is None or problem in found[0]
    (tmp_path / "message").write_text(message + "\n# git: nobody\n")
    argv = ["words.py", "--commit", str(tmp_path / "message")]
    monkeypatch.setattr(words.sys, "argv", argv)
    assert words.main() == len(found)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_commits_since_the_base_are_checked(tmp_path, monkeypatch, capsys):
    """Earlier commits are ignored.

    If the base does not exist, as in a shallow clone, no commit is checked.
    """

    def git(*arguments):
        who = ("-c", "user.name=kwire", "-c", "user.email=kwire@localhost")
        command = ["git", *who, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
        return done.stdout.decode().strip()

    monkeypatch.setattr(words, "ROOT", tmp_path)
    assert words.check_commits() == 0
    git("init")
    for subject in ("Words of README", "Add a page", "Added a page"):
        git("commit", "--allow-empty", "--message", subject)
    assert words.check_commits() == 0
    assert capsys.readouterr().out.count("not checked") == 2
    monkeypatch.setattr(words, "COMMITS_SINCE", git("rev-parse", "HEAD~2"))
    assert words.check_commits() == 1
    assert "begins with 'Added'" in capsys.readouterr().out
