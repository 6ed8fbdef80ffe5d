# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the chapters in ``RESULTS.md``: separate runs and template variables."""

import re
import string

import pytest

from benchmarks.harness import chapters

LIVE, MOVES, *_, SPARK, _ = chapters.SEPARATE


@pytest.fixture
def report(tmp_path):
    """Path of a report with chapters of the common run and of two separate runs."""
    path = tmp_path / "RESULTS.md"
    chapters.put_common(path, "# Results\n\n## Decode\n\nfast")
    chapters.put_chapter(path, f"{SPARK}\n\nrows")
    chapters.put_chapter(path, f"{LIVE}\n\ntopics")
    return path


def test_chapters_are_in_one_order_whatever_ran_first(report):
    """Common chapters precede separate chapters, in the order of ``SEPARATE``."""
    assert report.read_text() == (
        f"# Results\n\n## Decode\n\nfast\n\n{LIVE}\n\ntopics\n\n{SPARK}\n\nrows\n"
    )


def test_a_run_replaces_its_own_chapter_alone(report):
    """Chapters of the common run and of other separate runs remain unchanged."""
    chapters.put_chapter(report, f"{LIVE}\n\nothers")
    assert report.read_text() == (
        f"# Results\n\n## Decode\n\nfast\n\n{LIVE}\n\nothers\n\n{SPARK}\n\nrows\n"
    )


def test_the_common_run_keeps_the_others(report):
    """The common run keeps the chapters of separate runs, which take a long time."""
    chapters.put_common(report, "# Results\n\n## Encode\n\nfaster")
    text = report.read_text()
    assert "Decode" not in text
    assert text.index("faster") < text.index("\ntopics") < text.index("rows")


def test_writing_a_chapter_twice_changes_nothing(report):
    """The second time does not add blank lines."""
    chapters.put_chapter(report, f"{MOVES}\n\nmoved")
    once = report.read_text()
    chapters.put_chapter(report, f"{MOVES}\n\nmoved")
    assert report.read_text() == once


TEMPLATES = sorted((chapters.ROOT / "benchmarks").glob("*/chapter.md"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.parent.name)
def test_every_figure_of_a_template_is_computed(path):
    """Each variable of a template occurs in the module that fills the template.

    Otherwise, a missing value would be reported only after a run of several minutes.
    """
    code = path.with_suffix(".py").read_text("utf-8")
    fields = [field for _, field, *_ in string.Formatter().parse(path.read_text())]
    names = {re.split(r"[.\[]", field)[0] for field in fields if field}
    assert {name for name in names if not re.search(rf"\b{name}\b", code)} <= {
        "summary"
    }
