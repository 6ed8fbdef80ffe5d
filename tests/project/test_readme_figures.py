# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests README.md: figures and their sources, links to its parts, and install commands.

The picture and the ratios come from pages that measurements generate. The install
commands refer to a clone until CHANGELOG.md contains a release.
"""

import re
import shutil
from pathlib import Path

import pytest

from kwire.drafts.runs import DOCUMENTS
from tools.generate import readme_figures
from tools.release import install_lines

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
INDEX = (ROOT / "docs" / "index.md").read_text("utf-8")
MEASURED = [
    (ROOT / name).read_text("utf-8")
    for name in ("benchmarks/RESULTS.md", "docs/project/performance.md")
]
PARTS = (
    "codec",
    "negotiation",
    "drafts",
    "Spark",
    "wheels",
    "benchmarks",
    "test cluster",
    "client",
)


def part_rows():
    """Return (part, path, figure) for each row in the README's table of parts."""
    return re.findall(r"^\| \[([^]]+)\]\(([^)]+)\) \| (.+) \|$", README, re.MULTILINE)


CHAPTER = """
## Spark UDFs

| job | seconds | useArrow=False | over by hand | over aiokafka |
| --- | --: | --: | --: | --: |
| UDF: by hand | 3.24 | 2.43 | 1.0x | 0.6x |
| UDF: aiokafka | 1.94 | 1.91 | 1.7x | 1.0x |
| `from_kafka_records` | 0.81 |  | 4.0x | 2.4x |
| `from_kafka_records, schema` | 0.67 |  | 4.9x | 2.9x |
| `read_records, schema` | 0.32 |  | 10.1x | 6.1x |

| job | seconds | useArrow=False | over by hand | over aiokafka |
| --- | --: | --: | --: | --: |
| UDF: by hand | 9.99 | 9.99 | 1.0x | 0.6x |

## Live topics in Spark
"""


def test_the_picture_and_the_text_have_the_measured_figures():
    """``python -m tools.generate.readme_figures --check`` finds no problems."""
    assert list(readme_figures.find_problems(readme_figures.read_groups())) == []


def test_an_old_figure_in_the_text_and_an_old_picture_are_found(tmp_path, monkeypatch):
    """An outdated figure is detected in the text and in the picture."""
    readme, picture = tmp_path / "README.md", tmp_path / "speed.svg"
    monkeypatch.setattr(readme_figures, "ROOT", tmp_path)
    monkeypatch.setattr(readme_figures, "README", readme)
    monkeypatch.setattr(readme_figures, "PICTURE", picture)
    groups = readme_figures.read_groups()
    readme.write_text(README.replace(groups[0].bars[-1].figure, "9.99"), "utf-8")
    picture.write_text("<svg/>", "utf-8")
    problems = [
        problem.partition(" old;")[0]
        for problem in readme_figures.find_problems(groups)
    ]
    assert problems == ["speed.svg is", "the figures of README.md are"]
    assert readme_figures.fill(readme.read_text("utf-8"), groups) == README


def test_the_chapter_about_udfs_fills_the_text_and_the_picture():
    """The chapter about Spark UDFs provides the figures for record sets.

    They are in the first table of the chapter, and appear in the text and the picture.
    """
    bars = readme_figures.read_udf_bars(CHAPTER)
    assert [tuple(bar) for bar in bars] == [
        ("Python UDF by hand", "3.24", ""),
        ("Python UDF with aiokafka", "1.94", ""),
        ("from_kafka_records", "0.67", "4.9x"),
        ("read_records", "0.32", "10.1x"),
    ]
    _, messages = readme_figures.read_groups()
    groups = [readme_figures.Group("Spark", bars), messages]
    text = " ".join(readme_figures.fill(README, groups).split())
    assert (
        "takes 3.24 s (with aiokafka: 1.94 s) and `from_kafka_records` 0.67 s:" in text
    )
    assert "0.67 s: **4.9 times as fast**." in text
    assert "0.32 s: **10.1 times as fast**." in text
    assert "0.67 (4.9x)</text>" in readme_figures.draw(groups)


def test_a_figure_that_is_missing_in_its_page_is_named():
    """If a figure is missing on its page, the error names the missing row.

    The tool must not draw a picture without this bar.
    """
    with pytest.raises(
        ValueError, match="has no row 'UDF: aiokafka' in '## Spark UDFs'"
    ):
        readme_figures.read_udf_bars(CHAPTER.replace("| UDF: aiokafka", "| other"))
    with pytest.raises(ValueError, match="has no row 'Metadata response v9'"):
        readme_figures.read_message_bars("nothing")
    with pytest.raises(ValueError, match=r"README\.md needs one paragraph"):
        readme_figures.fill("nothing", readme_figures.read_groups())


def test_the_table_has_a_row_for_each_part():
    """The parts have a fixed order, and they link to existing pages."""
    assert tuple(part for part, _, _ in part_rows()) == PARTS
    for _, path, _ in part_rows():
        assert (ROOT / path).is_file()


@pytest.mark.parametrize(("part", "path", "figure"), part_rows())
def test_each_figure_of_the_table_is_in_its_page_or_in_the_results(part, path, figure):
    """An outdated or unmeasured figure is detected."""
    pages = [(ROOT / path).read_text("utf-8"), *MEASURED]
    numbers = re.findall(r"\d[\d,]*(?:\.\d+)?", figure)
    assert numbers, f"the row of {part} has no figure"
    for number in numbers:
        pattern = rf"(?<![\d.,]){re.escape(number)}(?![\d,])"
        assert any(re.search(pattern, page) for page in pages), number


@pytest.mark.parametrize("word", ["UDF", "drop-in", "KIP", "draft", "Cython"])
def test_a_word_that_readers_search_for_is_there(word):
    """README.md contains a word that readers search for."""
    assert re.search(rf"\b{word}\b", README)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.number)
def test_each_design_is_linked(document):
    """README.md and the documentation index have a line for every design."""
    assert f"](docs/drafts/{document.page}.md)" in README
    assert f"](drafts/{document.page}.md)" in INDEX


def test_the_measured_time_of_kip_951_is_beside_its_design():
    """The README and the documentation index have the measured medians for KIP-951.

    They are the times with the leader hints, and with ignored hints.
    """
    page = (ROOT / "docs" / "drafts" / "002-kip-951-measured.md").read_text("utf-8")
    (hints,) = re.findall(r"^\| with hints \| \d+ \| (\d+) \|", page, re.MULTILINE)
    (ignored,) = re.findall(r"^\| hints ignored \| \d+ \| (\d+) \|", page, re.MULTILINE)
    for text in README, INDEX:
        start = text.index("002-kip-951-leader-endpoints.md")
        line = " ".join(text[start : text.index("002-kip-951-measured.md")].split())
        assert f"{hints} ms" in line
        assert f"{ignored} ms" in line


@pytest.mark.parametrize("name", install_lines.PAGES)
def test_the_install_lines_are_those_of_a_clone_until_there_is_a_release(name):
    """The commands change in the commit that adds a dated release to CHANGELOG.md."""
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    is_released = re.search(r"^## [\d.]+ \(\d{4}-\d\d-\d\d\)", changes, re.MULTILINE)
    text = (ROOT / name).read_text("utf-8")
    assert install_lines.is_switched(name, text) == bool(is_released)


def test_the_switch_installs_from_pypi_and_changes_nothing_else(tmp_path):
    """Switching to PyPI changes the install commands and nothing else.

    A second switch changes nothing.
    """
    for name in install_lines.PAGES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    install_lines.switch_pages(tmp_path)
    first = [(tmp_path / name).read_text("utf-8") for name in install_lines.PAGES]
    install_lines.switch_pages(tmp_path)
    assert first == [
        (tmp_path / name).read_text("utf-8") for name in install_lines.PAGES
    ]
    for name, text in zip(install_lines.PAGES, first, strict=True):
        assert install_lines.is_switched(name, text)
        assert re.search(r"^    pip install kwire\b", text, re.MULTILINE)
        assert "not on PyPI" not in text
        assert "pip install ." not in text
        before = (ROOT / name).read_text("utf-8")
        assert abs(len(before) - len(text)) < 250


def test_changed_install_lines_are_an_error_and_not_published_unswitched(tmp_path):
    """If the install commands were edited, the tool raises an error with the file name.

    Otherwise, a release could be published with commands for a clone.
    """
    (tmp_path / "README.md").write_text("pip install .\n", "utf-8")
    with pytest.raises(ValueError, match=r"README\.md has no install lines"):
        install_lines.switch_pages(tmp_path, ("README.md",))
