# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``LateStore``: an object store that counts requests and takes its time for each.

A file system of fsspec over a local folder. A listing is a request for each 1,000 keys,
one after the other, as S3 answers it; a size and a range are a request each.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import fsspec

PAGE = 1000
ROOT = "late://logs"


class LateStore(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """The store; all instances have one folder, one pause and one count."""

    protocol = "late"

    folder: ClassVar[Path]
    pause_s: ClassVar[float] = 0.0
    requests: ClassVar[Counter[str]] = Counter()
    _lock: ClassVar[threading.Lock] = threading.Lock()

    @classmethod
    def serve(cls, folder: Path, pause_s: float) -> str:
        """Serve a folder from now on; return its URI."""
        fsspec.register_implementation(cls.protocol, cls, clobber=True)
        cls.folder, cls.pause_s = folder, pause_s
        cls.requests.clear()
        return ROOT

    def _request(self, kind: str) -> None:
        with self._lock:
            self.requests[kind] += 1
        time.sleep(self.pause_s)

    def _place(self, path: str) -> Path:
        return self.folder / self._strip_protocol(path).partition("/")[2]

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return the size of an object, or that it is a folder."""
        self._request("size")
        place = self._place(path)
        kind = "directory" if place.is_dir() else "file"
        return {"name": path, "type": kind, "size": place.stat().st_size}

    def find(self, path: str, *_: Any, **__: Any) -> dict[str, dict[str, Any]]:
        """List all objects below a folder."""
        found: dict[str, dict[str, Any]] = {}
        begin = self._strip_protocol(path).rstrip("/")
        for folder, _folders, names in os.walk(self._place(path)):
            below = os.path.relpath(folder, self._place(path))
            for name in names:
                if not len(found) % PAGE:
                    self._request("list")
                key = os.path.normpath(f"{begin}/{below}/{name}")
                size = os.stat(os.path.join(folder, name)).st_size
                found[key] = {"name": key, "type": "file", "size": size}
        return found

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        """Read a range of an object."""
        self._request("range")
        with open(self._place(path), "rb") as file:
            file.seek(start or 0)
            return file.read(-1 if end is None else end - (start or 0))
