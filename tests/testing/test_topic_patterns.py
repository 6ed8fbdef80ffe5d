# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Subscription patterns of test clusters: same matches as ``re``, in linear time."""

from __future__ import annotations

import re
import time

import pytest

from kwire.testing.state.topic_pattern import TopicPattern

NAMES = ["", "a", "b", "ab", "aab", "abab", "orders", "orders-eu", "A.1", "a_b", "B-12"]

PATTERNS = [
    "a",
    "a*",
    "a+b?",
    "(a|b)+",
    "(ab){2}",
    "(ab){1,}",
    "a{0,2}b",
    ".*",
    "orders(-[a-z]{2})?",
    "^orders.*$",
    "[^a].*",
    "[A-Z]\\.\\d",
    "(?i)b-\\d+",
    "(?:a|)b",
    "(?P<x>a)_b",
    "\\w+",
    "a||b",
    "",
    "[]a]+",
    "a*?b",
]


@pytest.mark.parametrize("text", PATTERNS)
def test_pattern_matches_the_same_names_as_re(text):
    expected = {name for name in NAMES if re.fullmatch(text, name)}
    assert TopicPattern.parse(text).filter(NAMES) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[:lower:]]+", {"a", "b", "ab", "aab", "abab", "orders"}),
        ("[[:upper:][:digit:].]+", {"A.1"}),
        ("[^[:alpha:]]*", {""}),
        ("[[a]b", {"ab"}),
        ("[a&&b]+", {"a", "b", "ab", "aab", "abab"}),
        ("[a||b~~]", {"a", "b"}),
        ("[+--A]\\.1", {"A.1"}),
        ("[\\d-AB]+", {"B-12"}),
        ("[-\\x61b]+", {"a", "b", "ab", "aab", "abab"}),
    ],
)
def test_character_class_has_the_meaning_of_re2(text, expected):
    assert TopicPattern.parse(text).filter(NAMES) == expected


@pytest.mark.parametrize(
    "text",
    [
        "(",
        ")",
        "a)",
        "[",
        "*",
        "a**",
        "a{2,1}",
        "a{5000}",
        "\\",
        "(?=a)",
        "(?<a",
        "\\1",
        "[a--b]",
        "[[:letter:]]",
        "[!-[:digit:]]",
        "[a-\\d]",
        "[\\b]",
        "[\\x4]",
    ],
)
def test_invalid_pattern_is_rejected(text):
    assert TopicPattern.parse(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "((((a{1000}){1000}){1000}){1000}){1000}",
        "(((){1000}){1000}){1000}",
        "(" * 10_000,
        "a" * 100_000,
        "(a?){1000}" * 100,
    ],
    ids=["nested", "empty", "deep", "long", "wide"],
)
def test_large_pattern_is_rejected_quickly(text):
    start = time.process_time()
    assert TopicPattern.parse(text) is None
    assert time.process_time() - start < 1


def test_pattern_with_nested_repetitions_takes_linear_time():
    pattern = TopicPattern.parse("(a*)*(a|aa)+(a*)+x")
    start = time.process_time()
    assert pattern.filter(["a" * 249]) == set()
    assert time.process_time() - start < 1
