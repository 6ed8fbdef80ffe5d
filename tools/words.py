# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Find words in prose that kwire writes in another way, and let no file gain one.

    words.py             exit 1 where a file has more of them than the list allows
    words.py --record    write the list anew; a count in it only goes down
    words.py FILE ...    print every place in some files

Prose is Markdown, and docstrings, comments and strings of Python and Cython; names are
not looked at. ``words.txt`` beside this file holds a count for each file.
"""

import argparse
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIST = Path(__file__).with_name("words.txt")
FOLDERS = ("src", "tools", "tests", "docs", "benchmarks", "examples", "fuzz")
ENDINGS = (".md", ".py", ".pyx", ".pxd")
GENERATED = ("RESULTS.md",)

BANNED = {
    r"heads? of (?:a|an|the) (?:batch|entry|frame|request)": "the header of it",
    r"(?:batch|request|response|frame|entry)(?:'s)? heads?": "header",
    r"behind": "after",
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
"""What is not written, as a pattern, and what is written instead."""

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
    """A banned word in a file."""

    line: int
    words: str
    instead: str


def find_words(path: Path) -> list[Use]:
    """Find the banned words in the prose of a file."""
    text = path.read_text("utf-8")
    found = []
    for line, prose in _find_prose(text, path.suffix):
        for match in _PATTERN.finditer(prose):
            number = int(str(match.lastgroup)[1:])
            at = line + prose.count("\n", 0, match.start())
            found.append(Use(at, match[0], _INSTEAD[number]))
    return found


def _find_prose(text: str, suffix: str) -> Iterator[tuple[int, str]]:
    """Yield each piece of prose with the number of its first line."""
    if suffix == ".md":
        yield 1, text
    elif suffix == ".py":
        prose = {tokenize.COMMENT, tokenize.STRING}
        # A formatted string is a token of its own kind from CPython 3.12 on.
        prose.add(getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in prose:
                yield token.start[0], token.string
    else:
        for match in _IN_CYTHON.finditer(text):
            yield 1 + text.count("\n", 0, match.start()), match[0]


def find_files() -> list[Path]:
    """List the files with prose that is written by hand."""
    files = [
        file
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.suffix in ENDINGS and file.name not in GENERATED
    ]
    # The list of words itself, and its test.
    own = {ROOT / "tools" / "words.py", ROOT / "tests" / "test_words.py"}
    return sorted({*files, *ROOT.glob("*.md")} - own)


def read_list() -> dict[str, int]:
    """Read how many banned words each file may have."""
    lines = LIST.read_text("utf-8").splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return {name: int(count) for name, count in rows}


def write_list(counts: dict[str, int]) -> None:
    """Write the list; files without a banned word are not in it."""
    # In two parts, so that this is not taken for the licence of this file.
    spdx = "# SPDX-"
    head = (
        f"{spdx}FileCopyrightText: 2026 The kwire authors\n"
        f"{spdx}License-Identifier: Apache-2.0\n"
        "# Banned words of each file. A count only goes down: tools/words.py --record\n"
    )
    rows = "".join(f"{name} {count}\n" for name, count in counts.items() if count)
    LIST.write_text(head + rows, "utf-8")


def main() -> int:
    """Check, record or print; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--record", action="store_true")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    for path in options.files:
        for use in find_words(path):
            print(f"{path}:{use.line}: {use.words!r}: write {use.instead}")
    if options.files:
        return 0
    uses = {str(path.relative_to(ROOT)): find_words(path) for path in find_files()}
    counts = {name: len(found) for name, found in uses.items()}
    allowed = read_list()
    more = [name for name, count in counts.items() if count > allowed.get(name, 0)]
    for name in more:
        for use in uses[name]:
            print(f"{name}:{use.line}: {use.words!r}: write {use.instead}")
        print(
            f"{name}: {counts[name]} banned words, {allowed.get(name, 0)} are allowed"
        )
    if more:
        return 1
    if options.record:
        write_list(counts)
    elif any(counts.get(name, 0) < allowed[name] for name in allowed):
        print("words: fewer than listed; run tools/words.py --record")
        return 1
    print(f"words: {sum(counts.values())} banned words left to rewrite")
    return 0


if __name__ == "__main__":
    sys.exit(main())
