# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Find words in prose that kwire replaces with more precise terms.

    python -m tools.check.words             exit 1 if a file has such a word, or if a
                                            commit since ``COMMITS_SINCE`` breaks a rule
    python -m tools.check.words FILE ...    print the words of some files
    python -m tools.check.words --commit FILE    check the message of one commit, as a
                                                 commit-msg hook does

Markdown files are searched completely. Python and Cython files are searched in
docstrings, comments and strings, but not in names. Commit subjects must be short and
imperative.
"""

import argparse
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools import ROOT

FOLDERS = ("src", "tools", "tests", "docs", "benchmarks", "examples", "fuzz")
ENDINGS = (".md", ".py", ".pyx", ".pxd")
GENERATED = ("RESULTS.md",)

BANNED = {
    r"heads? of (?:a|an|the) (?:batch|entry|frame|request)": "the header of it",
    r"(?:batch|request|response|frame|entry)(?:'s)? heads?": "header",
    r"(?<!left )behind": "after",
    r"stands? (?:at|for|in|on|behind|before|ready|there)": "is, is at, appears",
    r"tells|told|say so|says so": "reports, returns, prints; set the option",
    r"ceilings?": "limit",
    r"came with": "was introduced in, requires",
    r"hand(?:s|ed|ing)? (?:it |them )?over|giv(?:e|es|ing) out": "return, pass",
    r"amiss": "wrong, damaged",
    r"nobody|somebody|whoever": "the name of the caller, module or class",
    r"'s business": "the name of what does it",
    r"dear|dearer|dearest|cheap|cheaper|cheapest": "slow to import, costs (a figure)",
    r"needed else": "otherwise not required",
    r"quiet end": "end of input without an error",
    r"largest timestamps?": "max timestamp",
    r"ask(?:s|ed|ing)? (?:a|the) brokers?": "send to, request from a broker",
    r"expected another": "what is wrong and what it got",
    r"is one in the input|asked for was": "what is wrong and what it got",
}
"""Banned patterns with the recommended replacement."""

COMMITS_SINCE = "5fe200f529b839cb2e1137e1fa80d2eff6cbf8f2"
"""Later commit messages are checked if this commit exists in the clone."""

SUBJECT_LENGTH = 60
"""Subjects must be shorter than this number of characters."""

_OTHER_MOODS = ("ed", "ing", "s")
_IMPERATIVES = {"Address", "Bring", "Compress", "Discuss", "Embed", "Express", "Feed"}
_IMPERATIVES |= {"Pass", "Process", "Speed", "Suppress"}
"""Imperative verbs with the ending of another verb form."""

_PATTERN = re.compile(
    "|".join(
        f"(?P<w{number}>{'' if words[0] == chr(39) else chr(92) + 'b'}(?:{words})\\b)"
        for number, words in enumerate(BANNED)
    ),
    re.IGNORECASE,
)
_INSTEAD = list(BANNED.values())
_IN_CYTHON = re.compile(r'"""[\s\S]*?"""|#.*|"(?:[^"\\\n]|\\.)*"')


class Use(NamedTuple):
    """Banned word with its position in a file."""

    line: int
    words: str
    instead: str


def find_words(path: Path) -> list[Use]:
    """Find the banned words in the prose of a file."""
    text = path.read_text("utf-8")
    return [
        use._replace(line=use.line + line)
        for line, prose in _find_prose(text, path.suffix)
        for use in _find_in_prose(prose)
    ]


def _find_in_prose(prose: str) -> Iterator[Use]:
    """Find the banned words in a piece of prose. Its first line has the number 0."""
    for match in _PATTERN.finditer(prose):
        number = int(str(match.lastgroup)[1:])
        line = prose.count("\n", 0, match.start())
        yield Use(line, match[0], _INSTEAD[number])


def _find_prose(text: str, suffix: str) -> Iterator[tuple[int, str]]:
    """Yield all pieces of prose with the number of their first line."""
    if suffix == ".md":
        yield 1, text
    elif suffix == ".py":
        prose = {tokenize.COMMENT, tokenize.STRING}
        # Since CPython 3.12, formatted strings have a separate token type.
        prose.add(getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in prose:
                yield token.start[0], token.string
    else:
        for match in _IN_CYTHON.finditer(text):
            yield 1 + text.count("\n", 0, match.start()), match[0]


def find_files() -> list[Path]:
    """List the manually written files that contain prose."""
    files = [
        file
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.suffix in ENDINGS and file.name not in GENERATED
    ]
    # Exclude the list of words and its test, because they contain the banned words.
    own = {ROOT / "tools" / "check" / name for name in ("words.py", "test_words.py")}
    return sorted({*files, *ROOT.glob("*.md")} - own)


def check_message(message: str) -> Iterator[str]:
    """Yield all problems of a commit message."""
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
    for use in _find_in_prose(message):
        yield f"{use.words!r}: write {use.instead}"


def read_commits() -> list[tuple[str, str]] | None:
    """Return the hashes and messages of later commits, or None without
    ``COMMITS_SINCE``.

    A shallow clone does not contain that commit, and a source archive contains no
    commits.
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
    """Print all problems of later commit messages. Returns the number of problems."""
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
    """Run the command line. Returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--commit", type=Path, metavar="FILE")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    if options.commit:
        lines = options.commit.read_text("utf-8").splitlines()
        message = "\n".join(line for line in lines if not line.startswith("#"))
        problems = list(check_message(message))
        print(*problems, sep="\n", end="\n" if problems else "")
        return int(bool(problems))
    uses = [
        (path, use)
        for path in options.files or find_files()
        for use in find_words(path)
    ]
    for path, use in uses:
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        print(f"{name}:{use.line}: {use.words!r}: write {use.instead}")
    if options.files:
        return int(bool(uses))
    print(f"words: {len(uses)} banned words")
    return int(check_commits() > 0 or bool(uses))


if __name__ == "__main__":
    sys.exit(main())
