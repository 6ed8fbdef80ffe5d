# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Chapters of ``RESULTS.md`` with a run of their own survive other runs."""

import pytest

from benchmarks.harness import chapters

LIVE, MOVES, *_, SPARK, _ = chapters.SEPARATE


@pytest.fixture
def report(tmp_path):
    """A report of the common run and of two others."""
    path = tmp_path / "RESULTS.md"
    chapters.put_common(path, "# Results\n\n## Decode\n\nfast")
    chapters.put_chapter(path, f"{SPARK}\n\nrows")
    chapters.put_chapter(path, f"{LIVE}\n\ntopics")
    return path


def test_chapters_are_in_one_order_whatever_ran_first(report):
    """The common run first, then the others as they are listed."""
    assert report.read_text() == (
        f"# Results\n\n## Decode\n\nfast\n\n{LIVE}\n\ntopics\n\n{SPARK}\n\nrows\n"
    )


def test_a_run_replaces_its_own_chapter_alone(report):
    """Neither the common run nor another one is touched."""
    chapters.put_chapter(report, f"{LIVE}\n\nothers")
    assert report.read_text() == (
        f"# Results\n\n## Decode\n\nfast\n\n{LIVE}\n\nothers\n\n{SPARK}\n\nrows\n"
    )


def test_the_common_run_keeps_the_others(report):
    """They are written by runs that take long."""
    chapters.put_common(report, "# Results\n\n## Encode\n\nfaster")
    text = report.read_text()
    assert "Decode" not in text
    assert text.index("faster") < text.index("\ntopics") < text.index("rows")


def test_writing_a_chapter_twice_changes_nothing(report):
    """No blank lines pile up."""
    chapters.put_chapter(report, f"{MOVES}\n\nmoved")
    once = report.read_text()
    chapters.put_chapter(report, f"{MOVES}\n\nmoved")
    assert report.read_text() == once
