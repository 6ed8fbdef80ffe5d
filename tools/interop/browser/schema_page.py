# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the page of ``kwire schema --html`` in a browser.

Its text must be identical to the output of ``kwire.explain.guide``. The search must
find existing content, a link to a version must open its layouts, and the page must fit
on a telephone screen. As a self-test, an invalid page must be rejected first.

    python -m tools.interop.browser.schema_page [--screenshots FOLDER]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from kwire.explain import apis, guide, guide_page
from kwire.schema import registry
from tools.interop.browser.check_page import open_page

RELEASES = apis.NEWEST, "3.9", "0.10.0"
SEARCHED = "leader_epoch"
LARGEST = 3_000_000
WIDE, NARROW = (1800, 1000), (390, 844)

BAD_PAGE = """<!doctype html><title>bad</title><img src="missing.png"><script>
console.error("a complaint"); setTimeout(() => { nothing_of_that_name(); }, 0);
</script>"""
KINDS = "Request", "Response"
FAULTS = "request:", "console:", "exception:"

TEXTS = """Object.fromEntries([...document.querySelectorAll(".layout")].map(
  layout => [layout.querySelector("a").id,
    [...layout.querySelectorAll("div")].map(line => line.textContent)]))"""
VISIBLE = """[...document.querySelectorAll("section")]
  .filter(section => section.checkVisibility()).map(section => section.id)"""
OPEN = """[...document.querySelectorAll("details[open] a[id]")].map(a => a.id)"""
TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"


def search(page: Page, words: str) -> list[str]:
    """Type words into the search box.

    Returns the ids of the sections that remain visible.
    """
    page.evaluate(
        f"search.value = {words!r}; search.dispatchEvent(new Event('input'));"
        "new Promise(done => setTimeout(done, 300))"
    )
    sections: list[str] = page.evaluate(VISIBLE)
    return sections


def expected_texts(release: str) -> dict[str, list[str]]:
    """Return the layouts that the page must contain, by message and first version."""
    versions_by_api = {api.name: list(api.status) for api in apis.apis(release)}
    versions = {
        f"{name}{kind}": each
        for name, each in versions_by_api.items()
        for kind in KINDS
    }
    others = [names for _, names in apis.other_messages()]
    versions |= {
        name: list(registry.find(name).valid_versions)
        for names in others
        for name in names
    }
    return {
        f"{name}-{layout.versions.min}": layout.text().splitlines()
        for name, each in versions.items()
        for layout in guide.layouts(registry.load(name), each)
    }


def check_release(release: str, folder: Path) -> list[str]:
    """Test the page of one release. Returns the list of errors."""
    path = folder / f"{release}.html"
    path.write_text(guide_page.page(release), encoding="utf-8")
    wrong = []

    def expect(what: str, actual: object, expected: object) -> None:
        if actual != expected:
            wrong.append(f"{release}: {what}: {actual!r}, expected {expected!r}")

    expect("below 3 MB", path.stat().st_size < LARGEST, True)
    texts = expected_texts(release)
    with open_page(str(path), *WIDE) as (page, findings):
        shown = page.evaluate(TEXTS)
        expect("layouts", sorted(shown), sorted(texts))
        for name in shown.keys() & texts.keys():
            expect(name, shown[name], texts[name])
        with_it = {
            name.partition("-")[0]
            for name, lines in texts.items()
            if SEARCHED in "\n".join(lines)
        }
        results = search(page, SEARCHED)
        has = {name: with_it & set(members(name)) for name in results}
        expect("found in vain", [name for name in results if not has[name]], [])
        expect("not found", with_it - set().union(*has.values()), set())
        expect("key 3", "Metadata" in search(page, "3"), True)
        expect("nonsense", search(page, "no such field"), [])
        page.screenshot(path=folder / f"{release}-nothing.png")
        # A link must show its target even if the search has hidden it before.
        page.evaluate(
            "location.hash = '#FetchRequest-0'; new Promise(requestAnimationFrame)"
        )
        opened = [name for name in page.evaluate(OPEN) if name.startswith("Fetch")]
        opened = [name for name in opened if not name.startswith("FetchSnapshot")]
        expect("0 is open", {"FetchRequest-0", "FetchResponse-0"} <= set(opened), True)
        expect("newest is closed", "FetchRequest-18" in opened, False)
        page.screenshot(path=folder / f"{release}-wide.png")
        expect("findings", findings, [])
    with open_page(str(path), *NARROW, dark=True) as (page, findings):
        expect("columns too wide", page.evaluate(TOO_WIDE), 0)
        expect("menu is folded", page.evaluate("menu.open"), False)
        page.screenshot(path=folder / f"{release}-narrow.png")
        page.evaluate("menu.open = true")
        expect("columns too wide with the menu", page.evaluate(TOO_WIDE), 0)
        expect("findings", findings, [])
    return wrong


def members(section: str) -> list[str]:
    """List the messages that a section of the page can contain."""
    if section.endswith("-records"):
        return [section.replace("-records", end) for end in ("Key", "Value")]
    return [section, *(section + kind for kind in KINDS)]


def main() -> int:
    """Test the pages of several releases.

    Returns the exit code: 1 if a test fails.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--screenshots", metavar="FOLDER", help="keep what was seen")
    options = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.screenshots or temporary)
        folder.mkdir(exist_ok=True)
        bad = folder / "bad.html"
        bad.write_text(BAD_PAGE, encoding="utf-8")
        with open_page(str(bad)) as (_page, findings):
            for fault in FAULTS:
                if not any(finding.startswith(fault) for finding in findings):
                    wrong.append(f"a bad page: no finding of {fault}")
        for release in RELEASES:
            faults = check_release(release, folder)
            wrong += faults
            print(f"page of {release}: {'wrong' if faults else 'fine'}")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
