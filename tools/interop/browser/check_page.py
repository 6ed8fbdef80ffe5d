# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Open an HTML page in the system's headless Chromium and collect errors.

kwire's pages are self-contained. Console errors, exceptions and requests for any other
resource are therefore reported as findings. Playwright controls the browser:

    with open_page("page.html") as (page, findings):
        assert page.evaluate("document.title") == "..."
        assert findings == []
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import ConsoleMessage, Error, Page, Request, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
TIMEOUT_MS = 300_000


@contextlib.contextmanager
def open_page(
    path: str, width: int = 1280, height: int = 900, dark: bool = False
) -> Iterator[tuple[Page, list[str]]]:
    """Open a page in a new browser window of the specified size in pixels.

    Yields the page and the list of findings, which grows while the page is open.
    ``dark`` selects the dark colour scheme.
    """
    name = next(filter(None, map(shutil.which, NAMES)), None)
    if name is None:
        raise SystemExit("no Chromium here; on Debian: apt-get install chromium")
    address = Path(path).resolve(strict=True).as_uri()
    findings: list[str] = []

    def note_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            findings.append(f"console: {message.text}")

    def note_error(error: Error) -> None:
        findings.append(f"exception: {error}")

    def note_request(request: Request) -> None:
        url = request.url.partition("#")[0]
        if url != address and not url.startswith("data:"):
            findings.append(f"request: {url}")

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=name, timeout=TIMEOUT_MS)
        page = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
        )
        page.set_default_timeout(TIMEOUT_MS)
        page.on("console", note_console)
        page.on("pageerror", note_error)
        page.on("request", note_request)
        page.goto(address)
        # Requests that the page starts while it is loading may fail after the load
        # event. Wait for them.
        page.wait_for_timeout(200)
        yield page, findings
        browser.close()


def resize(page: Page, width: int, height: int) -> None:
    """Set the size of the browser window in pixels."""
    page.set_viewport_size({"width": width, "height": height})


def print_on(page: Page, width: int, height: int) -> None:
    """Switch to the print layout, for paper of the specified size in pixels."""
    resize(page, width, height)
    page.emulate_media(media="print", color_scheme="light")
