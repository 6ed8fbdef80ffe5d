# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test that ``tools/check/commits.py`` finds problems in new commit messages only."""

import shutil
import subprocess

import pytest

from tools.check import commits


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
    ],
)
def test_messages_of_commits_are_checked(tmp_path, monkeypatch, message, problem):
    """A subject must be short and imperative, without a full stop.

    ``main`` also checks a message in a file, as a commit-msg hook does. It ignores the
    comment lines that git adds.
    """
    problems = list(commits.check_message(message))
    assert len(problems) == (problem is not None)
    assert problem is None or problem in problems[0]
    (tmp_path / "message").write_text(message + "\n# git: nobody\n")
    argv = ["commits.py", str(tmp_path / "message")]
    monkeypatch.setattr(commits.sys, "argv", argv)
    assert commits.main() == len(problems)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_commits_since_the_base_are_checked(tmp_path, monkeypatch, capsys):
    """Commits before ``COMMITS_SINCE`` are ignored.

    If this commit does not exist, as in a shallow clone, no commit is checked.
    """

    def git(*arguments):
        who = ("-c", "user.name=kwire", "-c", "user.email=kwire@localhost")
        command = ["git", *who, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
        return done.stdout.decode().strip()

    monkeypatch.setattr(commits, "ROOT", tmp_path)
    assert commits.check_commits() == 0
    git("init")
    for subject in ("Words of README", "Add a page", "Added a page"):
        git("commit", "--allow-empty", "--message", subject)
    assert commits.check_commits() == 0
    assert capsys.readouterr().out.count("not checked") == 2
    monkeypatch.setattr(commits, "COMMITS_SINCE", git("rev-parse", "HEAD~2"))
    assert commits.check_commits() == 1
    assert "begins with 'Added'" in capsys.readouterr().out
