# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that all pages contain the correct message counts and the newest release."""

import re
from pathlib import Path

import pytest

from kwire.schema import registry, releases
from tests.harness.message_counts import MESSAGES, PAIRS
from tests.harness.values import pairs

ROOT = Path(__file__).parents[2]
SOURCES = ("src", "tests", "tools", "docs", "fuzz", "benchmarks", "examples")
NEWEST = releases.NAMES[-1]

COUNTS = r"(\d+) messages(?: and|,) (\d+) (?:\(message, version\)|layouts)"
RELEASES = r"\b0\.8 to (\d+\.\d+)\b"
NAMED = [
    ("README.md", COUNTS),
    ("README.md", RELEASES),
    ("CHANGELOG.md", RELEASES),
    ("CONTRIBUTING.md", RELEASES),
    ("CONTRIBUTING.md", r"own jars, 2\.8 to (\d+\.\d+)\b"),
    ("NOTICE", r"releases, 2\.2\.0 to (\d+\.\d+)\.\d+\b"),
    ("Makefile", r"^RELEASE \?= (\d+\.\d+)\.\d+$"),
    ("tools/interop/oracle/pom.xml", r"<id>(\d+\.\d+)\.\d+</id>"),
    ("tools/interop/oracle/record_classes/pom.xml", r"<id>(\d+\.\d+)\.\d+</id>"),
]
"""(file, pattern) for every file that contains a count or the newest release.

The pattern matches the number in its context.
"""


def test_every_message_and_version_is_there(kwire):
    """No definition is lost in the registry or when its class is created."""
    definitions = [registry.load(name) for name in registry.names()]
    assert len(definitions) == len(kwire.messages.ALL) == MESSAGES
    assert sum(len(definition.valid_versions) for definition in definitions) == PAIRS
    assert len(list(pairs(kwire))) == PAIRS


@pytest.mark.parametrize(("file", "pattern"), NAMED)
def test_a_page_names_the_counts_and_the_newest_release_that_are_true(file, pattern):
    """A page that still contains the previous release is detected."""
    text = (ROOT / file).read_text("utf-8")
    numbers = re.findall(pattern.replace(" ", r"\s+"), text, re.MULTILINE)
    assert numbers, f"{file} has nothing like {pattern}"
    if pattern == COUNTS:
        assert set(numbers) == {(str(MESSAGES), str(PAIRS))}
    else:
        assert max(numbers, key=lambda name: tuple(map(int, name.split(".")))) == NEWEST
        assert pattern != RELEASES or set(numbers) == {NEWEST}


def test_no_other_file_repeats_a_count():
    """No other file contains the number of (message, version) pairs.

    Tests and tools use ``message_counts`` instead of copying the number.
    """
    count = re.compile(rf"(?<![\w.,]){PAIRS}(?![\w.,])")
    repeating = {
        str(file.relative_to(ROOT))
        for folder in SOURCES
        for ending in ("*.py", "*.pyx", "*.md")
        for file in (ROOT / folder).rglob(ending)
        if file.name != "RESULTS.md" and count.search(file.read_text("utf-8"))
    }
    assert repeating == {"tests/harness/message_counts.py"}
