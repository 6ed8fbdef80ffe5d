# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Switch install lines to PyPI: ``python -m tools.release.install_lines``.

Before the first release, README.md and the quick start describe the installation from a
clone. The sdist is built after this switch, so that the README on PyPI shows a valid
command. The tree is switched once, in the commit of the first release. With ``--check``
this program fails if the tree still contains the lines for a clone.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools import ROOT

README_FROM_CLONE = """\
kwire is not on PyPI yet. Install it from a clone:

    pip install .                 # messages, records, log files
    pip install '.[all]'          # and compression, Arrow, the kwire command

kwire requires Python 3.11 or newer, and a C compiler unless KWIRE_BUILD_PURE=1. With
"""
README_FROM_PYPI = """\
    pip install kwire             # messages, records, log files
    pip install 'kwire[all]'      # and compression, Arrow, the kwire command

kwire requires Python 3.11 or newer. Wheels contain the compiled engine. With
"""
QUICK_START_FROM_CLONE = """\
Until the first release on PyPI, install kwire from a clone:

    pip install .

These pages use the names on PyPI: `pip install kwire` and `pip install 'kwire[cli]'`.
In a clone, use `.` instead of `kwire`.
"""
QUICK_START_FROM_PYPI = """\
    pip install kwire
"""
PAGES = {
    "README.md": (README_FROM_CLONE, README_FROM_PYPI),
    "docs/quick-start.md": (QUICK_START_FROM_CLONE, QUICK_START_FROM_PYPI),
}
"""Install lines for a clone and for PyPI, by page."""


def is_switched(name: str, text: str) -> bool:
    """Return whether a page contains the install lines for PyPI.

    Raises ``ValueError`` if it contains neither these lines nor the lines for a clone.
    """
    from_clone, from_pypi = PAGES[name]
    if text.count(from_clone) == 1:
        return False
    if text.count(from_pypi) == 1:
        return True
    raise ValueError(
        f"{name} has no install lines that tools/release/install_lines.py knows;"
        " change the page and the tool together"
    )


def switch_pages(root: Path, names: tuple[str, ...] = tuple(PAGES)) -> None:
    """Replace the install lines for a clone. Pages that use PyPI remain unchanged."""
    for name in names:
        path = root / name
        text = path.read_text("utf-8")
        if not is_switched(name, text):
            path.write_text(text.replace(*PAGES[name]), "utf-8")


def main() -> int:
    """Switch the pages of the tree, or check them with ``--check``.

    Returns the exit code: 1 if a checked page still installs from a clone.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        switch_pages(ROOT)
        return 0
    status = 0
    for name in PAGES:
        if not is_switched(name, (ROOT / name).read_text("utf-8")):
            print(f"{name} installs from a clone; run python -m {__spec__.name}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
