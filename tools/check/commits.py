# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check that commit messages are short and imperative.

    python -m tools.check.commits           check the commits since ``COMMITS_SINCE``
    python -m tools.check.commits FILE      check one message, as a commit-msg hook does

Exit code 1 if a message has a problem.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools import ROOT

COMMITS_SINCE = "5fe200f529b839cb2e1137e1fa80d2eff6cbf8f2"
"""Hash of a commit. The messages of all later commits are checked if the clone contains
this commit.
"""

SUBJECT_LENGTH = 60
"""Number of characters from which the subject of a commit is too long."""

_OTHER_MOODS = ("ed", "ing", "s")
_IMPERATIVES = {"Address", "Bring", "Compress", "Discuss", "Embed", "Express", "Feed"}
_IMPERATIVES |= {"Pass", "Process", "Speed", "Suppress"}
"""Imperative verbs with the ending of another verb form."""


def check_message(message: str) -> Iterator[str]:
    """Yield a sentence for each problem of a commit message."""
    subject, _, rest = message.strip().partition("\n")
    if subject.startswith('Revert "'):
        return
    if len(subject) >= SUBJECT_LENGTH:
        yield f"the subject has {len(subject)} characters: use under {SUBJECT_LENGTH}"
    if subject.endswith("."):
        yield "the subject ends with a full stop: leave it out"
    first = subject.partition(" ")[0]
    if not first[:1].isupper() or (
        first.endswith(_OTHER_MOODS) and first not in _IMPERATIVES
    ):
        yield f"the subject begins with {first!r}: begin with a verb, as in 'Add'"
    if rest.partition("\n")[0].strip():
        yield "the second line is not empty"


def read_commits() -> list[tuple[str, str]] | None:
    """Return the (hash, message) pairs of the commits after ``COMMITS_SINCE``.

    Returns None if git cannot list them: a shallow clone does not contain
    ``COMMITS_SINCE``, and a source archive contains no commits.
    """
    form = "--format=%h %B%x00"
    command = ["git", "log", "--no-merges", form, f"{COMMITS_SINCE}..HEAD"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    texts = done.stdout.decode("utf-8", "replace").split("\0")
    rows = [text.strip().partition(" ") for text in texts if text.strip()]
    return [(commit, message) for commit, _, message in rows]


def check_commits() -> int:
    """Print all problems of the commits after ``COMMITS_SINCE``.

    Returns the number of problems, or 0 if the commits cannot be listed.
    """
    commits = read_commits()
    if commits is None:
        print(f"commits: not checked, {COMMITS_SINCE} is not in this clone")
        return 0
    count = 0
    for commit, message in commits:
        for problem in check_message(message):
            print(f"commit {commit}: {problem}")
            count += 1
    return count


def main() -> int:
    """Check the message file that the command line names, or all later commits.

    Returns the exit code: 1 if a message has a problem, otherwise 0.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("message", nargs="?", type=Path, metavar="FILE")
    path = parser.parse_args().message
    if path is None:
        return int(check_commits() > 0)
    lines = path.read_text("utf-8").splitlines()
    message = "\n".join(line for line in lines if not line.startswith("#"))
    problems = list(check_message(message))
    print(*problems, sep="\n", end="\n" if problems else "")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
