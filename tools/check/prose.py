# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Find sentences without content, words outside the glossary, and vague names.

    python -m tools.check.prose             check the tree; exit 1 if it has a finding
    python -m tools.check.prose FILE ...    check the prose of some files

The prose of a file is its comments and docstrings, or the text of a Markdown page
without its code and tables. Names are checked only on lines that were added after
``NAMES_SINCE``. Regular expressions find suspects, but only a reader can tell whether a
sentence is good.
"""

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tools import ROOT

FOLDERS = ("src", "tests", "tools", "docs", "benchmarks", "examples", "fuzz")
ENDINGS = (".md", ".py", ".pyx", ".pxd", ".pxi")
GENERATED = {ROOT / "benchmarks" / "RESULTS.md"}

GLOSSARY = {
    r"at once": "immediately, or at the same time",
    r"by itself|anew|as it is(?! [a-z]+(?:ed|nt)\b)": "automatically, again, unchanged",
    r"ceilings?": "limit",
    r"asked for|on its way": "requested, in flight",
    r"left out|leaves? out|goes on|going on|go on": "omitted, continues",
    r"any more|works out|finds out": "no longer, computes, detects",
    r"end of (?:a|the) log|change of epoch": "log end offset, epoch bump",
    r"heads? of (?:a|an|the) (?:batch|entry|frame|request)": "header",
    r"hand(?:s|ed|ing)? (?:it |them )?over|giv(?:e|es|ing) out": "return, pass",
    r"amiss|nobody|somebody|whoever|dearer|dearest": "the exact word",
    r"stands? (?:at|in|on|behind|before|ready|there)": "is, appears",
}
"""Patterns that the glossary replaces, with the recommended terms."""

VAGUE_NAMES = {"found", "each", "made", "wanted", "given", "known", "place", "asked"}
VAGUE_NAMES |= {"taken", "kept", "told"}
"""Names of variables that do not say what the variable contains."""

NAMES_SINCE = "f2c617ff9ce054c49d81f17caf4ce7fcc6fc8e85"
"""Hash of a commit. Names are checked on lines that were added after this commit."""

_EMPTY_WORDS = """
a about above after again all also always an and any anything are as at away be because
been before being below between both but by can come comes could did do does done down
each either else end ends enough even ever every everything few first for from get gets
give given gives go goes gone had has have having here hold holds how if in instead into
is it its itself just keep keeps kept kind last leave leaves left less let lets like
made make makes many may might more most much must need needs neither never next no none
nor not nothing now of off often on once one ones only or other others out over own part
parts place places put puts rest same say says should side so some something stand
stands still such take taken takes tell tells than that the their them then there these
they thing things this those though through time to together too under until up upon use
used uses very want wants was way ways were what whatever when where whether which while
who whole whom whose why will with without word words would yet
"""
EMPTY_WORDS = frozenset(_EMPTY_WORDS.split())
"""Words without technical content: grammar, and the most general verbs and nouns."""

_SHARE = 0.2
_SHORTEST = 4
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_SENTENCE_END = re.compile(
    r"(?<=[.!?:])[\"')\]]*\s+(?=[A-Z`\"(])|\n\s*\n|\n(?=\s*[-*]\s)"
)
_LITERAL = re.compile(r"``.*?``|`[^`\n]*`|https?://\S+", re.DOTALL)
_NO_PROSE = re.compile(r"noqa|type: ignore|SPDX|pragma|cython:|fmt:|ruff")
_PATTERN = re.compile(
    "|".join(
        rf"(?P<w{index}>\b(?:{words})\b)".replace(" ", r"\s+")
        for index, words in enumerate(GLOSSARY)
    ),
    re.IGNORECASE,
)
_TERMS = list(GLOSSARY.values())


class Finding(NamedTuple):
    """Problem of the prose or of a name, with the number of its line."""

    line: int
    problem: str


def check_prose(path: Path) -> Iterator[Finding]:
    """Yield the light sentences of a file and its words that the glossary replaces."""
    for line, text in _read_prose(path):
        prose = _LITERAL.sub(" literal ", text)
        for match in _PATTERN.finditer(prose):
            term = _TERMS[int(str(match.lastgroup)[1:])]
            words = " ".join(match[0].split())
            yield Finding(line, f"{words!r}: write {term}")
        for sentence in _SENTENCE_END.split(prose):
            if is_light(sentence):
                words = " ".join(sentence.split())
                yield Finding(line, f"a sentence without content: {words!r}")


def is_light(sentence: str) -> bool:
    """Return whether fewer than a fifth of the words have technical content."""
    words = [word.lower() for word in _WORD.findall(sentence)]
    content = sum(word not in EMPTY_WORDS for word in words)
    return len(words) >= _SHORTEST and content < _SHARE * len(words)


def check_names(path: Path, lines: set[int]) -> Iterator[Finding]:
    """Yield the vague names that a Python file assigns on the specified lines."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                if name in VAGUE_NAMES and node.lineno in lines:
                    problem = f"{name!r}: name the content of the variable"
                    yield Finding(node.lineno, problem)


def _read_prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the pieces of prose of a file as pairs.

    A pair consists of the number of the first line and the text.
    """
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        return _read_page(text)
    if path.suffix == ".py":
        return _read_python(text)
    return _read_cython(text)


def _read_page(text: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a Markdown page as (first line number, text) pairs.

    Code blocks, tables, headings and HTML comments are replaced by empty lines, so that
    the line numbers remain correct.
    """
    blank = re.compile(
        r"^(`{3,}|~{3,}).*?^\1|<!--.*?-->|^\s*\|[^\n]*|^#+ [^\n]*", re.DOTALL | re.M
    )
    text = blank.sub(lambda match: "\n" * match[0].count("\n"), text)
    line = 1
    for paragraph in re.split(r"(\n\s*\n)", text):
        if paragraph.strip():
            yield line, re.sub(r"\]\([^)]*\)", "]", paragraph)
        line += paragraph.count("\n")


def _read_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and the joined comments of a Python file.

    The items are (first line number, text) pairs. Strings below constants, which
    document the constants, count as docstrings.
    """
    for node in ast.walk(ast.parse(text)):
        # A docstring, or a string below a constant, is a statement that contains only
        # the string.
        match node:
            case ast.Expr(value=ast.Constant(value=str(docstring))):
                yield node.lineno, docstring
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    yield from _join_comments(
        (token.start[0], token.string)
        for token in tokens
        if token.type == tokenize.COMMENT
    )


def _read_cython(text: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and the joined comments of a Cython file.

    The items are (first line number, text) pairs.
    """
    pieces = re.finditer(r'"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|#.*', text)
    comments = []
    for piece in pieces:
        line = 1 + text.count("\n", 0, piece.start())
        if piece[0].startswith('"""'):
            yield line, piece[0].strip('"')
        elif piece[0].startswith("#"):
            comments.append((line, piece[0]))
    yield from _join_comments(comments)


def _join_comments(comments: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Join the comments of consecutive lines, because sentences span lines."""
    first = last = -1
    lines: list[str] = []
    for line, comment in comments:
        if _NO_PROSE.search(comment):
            continue
        if line != last + 1 and lines:
            yield first, "\n".join(lines)
            lines = []
        if not lines:
            first = line
        lines.append(comment.lstrip("#: "))
        last = line
    if lines:
        yield first, "\n".join(lines)


def find_files() -> list[Path]:
    """List the files whose prose is checked.

    Generated files are omitted, and so are this module and its test, because they quote
    poor prose.
    """
    files = [
        file
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.suffix in ENDINGS
    ]
    own = {Path(__file__), Path(__file__).with_name("test_prose.py")}
    return sorted({*files, *ROOT.glob("*.md")} - own - GENERATED)


def read_added_lines() -> dict[Path, set[int]]:
    """Return the line numbers that were added after ``NAMES_SINCE``, by Python file.

    Returns an empty dictionary if the clone does not have this commit, for example
    because it is shallow.
    """
    command = ["git", "diff", "--unified=0", "--no-renames", NAMES_SINCE, "--", "*.py"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        print(f"names: not checked, {NAMES_SINCE} is not in this clone")
        return {}
    lines: dict[Path, set[int]] = {}
    path = ROOT
    for line in done.stdout.decode("utf-8", "replace").split("\n"):
        if line.startswith("+++ b/"):
            path = ROOT / line.removeprefix("+++ b/")
        elif match := re.match(r"@@ .* \+(\d+)(?:,(\d+))? @@", line):
            start, count = int(match[1]), int(match[2] or 1)
            lines.setdefault(path, set()).update(range(start, start + count))
    return lines


def main() -> int:
    """Print the findings in the files of the command line, or in the complete tree.

    Returns the exit code: 1 if there are findings, otherwise 0.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    files = parser.parse_args().files
    findings = [
        (path, finding)
        for path in files or find_files()
        for finding in check_prose(path)
    ]
    if not files:
        findings += [
            (path, finding)
            for path, lines in read_added_lines().items()
            for finding in check_names(path, lines)
        ]
    for path, finding in findings:
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        print(f"{name}:{finding.line}: {finding.problem}")
    print(f"prose: {len(findings)} findings")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
