# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Opens an HTML page in headless Chromium and prints what is wrong with it.

A page of kwire is complete in itself: an error in the console, an exception, or a
request for anything but the page is a finding. Needs Chromium (Debian: ``apt-get
install chromium``) and nothing else: it is spoken to over a pipe.

    python -m tools.interop.browser.check_page page.html --screenshot page.png --dark

Scripts use ``open_page``::

    with open_page("page.html") as page:
        assert page.evaluate("document.title") == "..."
        assert page.findings == []
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS_TO_ANSWER = 300
OPTIONS = (
    "--headless",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-dev-shm-usage",
)
FIRST_FREE = 10
"""Descriptors from here on are out of the way of those that Chromium expects."""


class BrowserError(Exception):
    """The browser is missing, died, or refused a command."""


class Page:
    """One open page. ``findings`` grows as the page lives; empty is good."""

    def __init__(self, commands: int, events: int) -> None:
        self.findings: list[str] = []
        self._commands = commands
        self._events = events
        self._pending = b""
        self._number = 0
        self._session: str | None = None
        self._loaded = False
        self._address = ""

    def open(self, path: str, width: int, height: int, dark: bool) -> None:
        """Attach to a fresh tab, and load the file in it."""
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.command(
            "Target.attachToTarget", targetId=target, flatten=True
        )["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(f"{domain}.enable")
        self.resize(width, height)
        scheme = "dark" if dark else "light"
        self.command(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        self._address = Path(path).resolve().as_uri()
        self.command("Page.navigate", url=self._address)
        while not self._loaded:
            self._take(self._receive())
        # What the page starts while it loads is answered, or refused, after that.
        self.evaluate("new Promise(done => setTimeout(done, 200))")

    def resize(self, width: int, height: int) -> None:
        """Give the window another size."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            **{"width": width, "height": height},
            **{"deviceScaleFactor": 1, "mobile": False},
        )

    def print_on(self, width: int, height: int) -> None:
        """Look at the page as it is printed on paper of a size (pixels)."""
        self.resize(width, height)
        light = [{"name": "prefers-color-scheme", "value": "light"}]
        self.command("Emulation.setEmulatedMedia", media="print", features=light)

    def evaluate(self, script: str) -> Any:
        """Run an expression in the page, await it, and return what JSON has of it."""
        done = self.command(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in done:
            raise BrowserError(f"{script}: {_exception(done['exceptionDetails'])}")
        return done["result"].get("value")

    def screenshot(self, path: str) -> None:
        """Save what the window shows as PNG."""
        data = self.command("Page.captureScreenshot", format="png")["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def command(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Send one command of the DevTools protocol and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": arguments}
        if self._session is not None:
            message["sessionId"] = self._session
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self._commands, rest) :]
        while True:
            answer = self._receive()
            if answer.get("id") != self._number:
                self._take(answer)
                continue
            if "error" in answer:
                raise BrowserError(f"{method}: {answer['error']['message']}")
            result: dict[str, Any] = answer["result"]
            return result

    def _receive(self) -> dict[str, Any]:
        end = time.monotonic() + SECONDS_TO_ANSWER
        while b"\0" not in self._pending:
            left = max(0.0, end - time.monotonic())
            if not select.select([self._events], [], [], left)[0]:
                raise BrowserError(f"no answer within {SECONDS_TO_ANSWER} seconds")
            piece = os.read(self._events, 1 << 20)
            if not piece:
                raise BrowserError("the browser has ended; does it start by hand?")
            self._pending += piece
        data, _, self._pending = self._pending.partition(b"\0")
        message: dict[str, Any] = json.loads(data)
        return message

    def _take(self, event: dict[str, Any]) -> None:
        method, facts = event.get("method"), event.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.findings.append(f"exception: {_exception(facts['exceptionDetails'])}")
        elif method == "Runtime.consoleAPICalled":
            if facts["type"] in ("error", "warning", "assert"):
                words = (str(each.get("value", each)) for each in facts["args"])
                self.findings.append(f"console: {' '.join(words)}")
        elif method == "Log.entryAdded":
            if facts["entry"]["level"] in ("error", "warning"):
                self.findings.append(f"log: {facts['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            url = facts["request"]["url"].partition("#")[0]
            if url != self._address and not url.startswith("data:"):
                self.findings.append(f"request: {url}")


def _exception(details: dict[str, Any]) -> str:
    text: str = details.get("exception", {}).get("description", details["text"])
    return text.partition("\n")[0]


@contextlib.contextmanager
def open_page(
    path: str, width: int = 1280, height: int = 900, dark: bool = False
) -> Iterator[Page]:
    """Open a file in a browser of its own, which ends with the block."""
    name = next(filter(None, map(shutil.which, NAMES)), None)
    if name is None:
        raise BrowserError("no Chromium here; on Debian: apt-get install chromium")
    if not Path(path).is_file():
        raise BrowserError(f"{path}: no such file")
    ours, theirs = [], []
    for mine, other in (os.pipe()[::-1], os.pipe()):
        ours.append(mine)
        theirs.append(fcntl.fcntl(other, fcntl.F_DUPFD, FIRST_FREE))
        os.close(other)

    def place_descriptors() -> None:
        for descriptor, place in zip(theirs, (3, 4), strict=True):
            os.dup2(descriptor, place)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [name, *OPTIONS, f"--user-data-dir={folder}"]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        process = subprocess.Popen(
            [*command, "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(3, 4),
            preexec_fn=place_descriptors,
        )
        for descriptor in theirs:
            os.close(descriptor)
        try:
            page = Page(*ours)
            page.open(path, width, height, dark)
            yield page
        finally:
            for descriptor in ours:
                os.close(descriptor)
            process.terminate()
            process.wait(SECONDS_TO_ANSWER)


def main() -> int:
    """Check one page; the exit code is 1 if there are findings."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("page", help="an HTML file")
    parser.add_argument("--screenshot", metavar="PNG", help="save what it looks like")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--dark", action="store_true", help="prefer the dark scheme")
    parser.add_argument("--script", help="run this first and print what it gives")
    given = parser.parse_args()
    try:
        with open_page(given.page, given.width, given.height, given.dark) as page:
            if given.script:
                print(json.dumps(page.evaluate(given.script)))
            if given.screenshot:
                page.screenshot(given.screenshot)
            for finding in page.findings:
                print(f"{given.page}: {finding}")
    except BrowserError as error:
        print(f"check_page: {error}", file=sys.stderr)
        return 2
    return 1 if page.findings else 0


if __name__ == "__main__":
    sys.exit(main())
