# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the page of ``kwire explain --html`` in a browser.

Pointing at a byte highlights its field, and pointing at a field highlights its bytes. A
struct highlights all of its bytes. A click locks the selection and scrolls the other
side into view. Arrow keys move between values. The page fits on a telephone screen.
Records from a compressed batch are displayed and highlight the compressed bytes. The
printed page contains everything.

    python -m tools.interop.browser.explain_page [--screenshots FOLDER]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from kwire import records
from kwire.messages import FetchResponse, framing
from tools.interop.browser.check_page import open_page, print_on

WIDE, NARROW = (1280, 800), (390, 844)
ROWS = 300
HEIGHT = "document.getElementById('{}').scrollTop"
TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"
MARKED = """[...new Set([...document.querySelectorAll('#{} .{}')]
  .map(each => +each.dataset.s))]"""
STATUS = "document.getElementById('status').textContent"
UNPACKED = """[...document.querySelectorAll("details")].filter(
  each => each.querySelector(":scope > [data-u]")).length"""
SUMMARY = """[...document.querySelectorAll("summary em")].at(-1).textContent"""
LAST = 'offset 299, key "key-299", value "value"'
PAPER = 1040, 720
LEFT_OUT = """[...document.querySelectorAll("section")].filter(each =>
  each.scrollHeight > each.clientHeight + 1 || each.scrollWidth > innerWidth)
  .map(each => each.id)"""
SEND = """document.querySelector({!r}).dispatchEvent(
  new MouseEvent({!r}, {{bubbles: true}}))"""


def frame(is_bad: bool) -> bytes:
    """Encode a Fetch response with two batches of the same records.

    The second batch is compressed. If ``is_bad``, one byte of a record and the last
    byte of the response are wrong.
    """
    rows = [(b"key-%d" % number, b"value") for number in range(ROWS)]
    batches = records.encode_batch(rows) + records.encode_batch(
        rows, compression="gzip"
    )
    partition = FetchResponse.PartitionData(records=batches)
    topic = FetchResponse.FetchableTopicResponse(topic="orders", partitions=[partition])
    data = bytearray(framing.encode_response(FetchResponse(responses=[topic]), 12, 7))
    if is_bad:
        data[data.index(b"key-7")] ^= 1
        data[-1] = 9
    return bytes(data)


PARTS = "bytes", "tree"


def marked(page: Page, name: str) -> tuple[list[int], list[int]]:
    """Return the numbers of the highlighted spans: in the bytes, and in the tree."""
    left, right = (page.evaluate(MARKED.format(part, name)) for part in PARTS)
    return sorted(left), sorted(right)


def check(path: Path, is_bad: bool, folder: Path) -> list[str]:
    """Test the page at ``path``. Returns the list of errors.

    * ``is_bad``: the page displays a response with errors.
    * ``folder``: directory for the screenshots.
    """
    wrong = []

    def expect(what: str, found: Any, expected: Any) -> None:
        if found != expected:
            wrong.append(
                f"{path.name}: {what}: {found!r:.99}, expected {expected!r:.99}"
            )

    with open_page(str(path), *WIDE) as (page, findings):
        for number in 1, 5, 20:
            for part in PARTS:
                target = f"#{part} [data-s='{number}']"
                if part == "tree" and page.evaluate(
                    f"!!document.querySelector({target!r}).closest('summary')"
                ):
                    continue
                page.evaluate(SEND.format(target, "mouseover"))
                both = [number], [number]
                expect(f"over {number} of {part}", marked(page, "over"), both)
                page.evaluate(SEND.format(f"#{part}", "mouseleave"))
                expect("over nothing", marked(page, "over"), ([], []))
        count = page.evaluate("places.length")
        first = page.evaluate(
            "+document.querySelectorAll('#tree > details > summary')[2].dataset.a"
        )
        page.evaluate(SEND.format("#tree > details:nth-of-type(3) > summary", "click"))
        body = list(range(first, count))
        expect("a struct is held", marked(page, "held")[0], body)
        last = count - 1
        page.evaluate("document.getElementById('bytes').scrollTop = 1e9")
        page.evaluate(SEND.format(f"#bytes [data-s='{last}']", "click"))
        expect("the last is held", marked(page, "held"), ([last], [last]))
        expect("the tree follows", page.evaluate(HEIGHT.format("tree")) > 0, True)
        page.screenshot(path=folder / f"{path.stem}-wide.png")
        page.evaluate(
            "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowUp'}))"
        )
        expect("the one before", marked(page, "held"), ([last - 1], [last - 1]))
        page.evaluate(SEND.format("#bytes [data-s='0']", "click"))
        said = page.evaluate(STATUS)
        expect("status", said.startswith("0x0, 4 bytes, frame: size = "), True)
        if not is_bad:
            page.evaluate(SEND.format("#tree [data-u] b", "click"))
            packed = page.evaluate("+document.querySelector('[data-u]').dataset.u")
            expect("packed bytes", marked(page, "held")[0], [packed])
            said = page.evaluate(STATUS)
            expect("packed value", said.endswith("records[0].offset = 0"), True)
            expect("packed records", page.evaluate(UNPACKED), ROWS)
            expect("summary", page.evaluate(SUMMARY), LAST)
        problems = page.evaluate("document.querySelectorAll('.problem').length")
        expect("problems", problems, 2 if is_bad else 0)
        expect("findings", findings, [])
        print_on(page, *PAPER)
        expect("left out on paper", page.evaluate(LEFT_OUT), [])
    with open_page(str(path), *NARROW, dark=True) as (page, findings):
        expect("columns too wide", page.evaluate(TOO_WIDE), 0)
        page.screenshot(path=folder / f"{path.stem}-narrow.png")
        expect("findings", findings, [])
    return wrong


def main() -> int:
    """Test the page of a valid and of an invalid response.

    Returns the exit code: 1 if a test fails.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--screenshots", metavar="FOLDER", help="keep what was seen")
    options = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.screenshots or temporary)
        folder.mkdir(exist_ok=True)
        for name, is_bad in ("good", False), ("bad", True):
            source, path = Path(temporary, name), Path(temporary, f"{name}.html")
            source.write_bytes(frame(is_bad))
            command = [sys.executable, "-m", "kwire", "explain", f"@{source}"]
            command += ["--response", "Fetch", "--version", "12", "--html", str(path)]
            code = subprocess.run(command, capture_output=True, check=False).returncode
            if code != (2 if is_bad else 0):
                wrong.append(f"{name}: exit code {code}")
            faults = check(path, is_bad, folder)
            wrong += faults
            print(f"{name} page: {'wrong' if faults else 'fine'}")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
