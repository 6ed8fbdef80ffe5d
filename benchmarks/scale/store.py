# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``LateStore``: an object store that counts requests and delays its responses.

It is an fsspec file system for a local directory. A listing needs one request per 1,000
keys, in sequence, like a listing in S3. A size or a byte range needs one request.
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
    """File system that simulates an object store.

    All instances share one directory, one delay and one request count.
    """

    protocol = "late"

    folder: ClassVar[Path]
    pause_s: ClassVar[float] = 0.0
    requests: ClassVar[Counter[str]] = Counter()
    _lock: ClassVar[threading.Lock] = threading.Lock()

    @classmethod
    def serve(cls, folder: Path, pause_s: float) -> str:
        """Serve a directory.

        Each request is delayed by ``pause_s`` seconds. Returns the URI.
        """
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
        """Return the type and the size of an object or directory."""
        self._request("size")
        local_path = self._place(path)
        kind = "directory" if local_path.is_dir() else "file"
        return {"name": path, "type": kind, "size": local_path.stat().st_size}

    def find(self, path: str, *_: Any, **__: Any) -> dict[str, dict[str, Any]]:
        """Return the types and sizes of all objects below a directory."""
        objects: dict[str, dict[str, Any]] = {}
        begin = self._strip_protocol(path).rstrip("/")
        for folder, _folders, names in os.walk(self._place(path)):
            below = os.path.relpath(folder, self._place(path))
            for name in names:
                if not len(objects) % PAGE:
                    self._request("list")
                key = os.path.normpath(f"{begin}/{below}/{name}")
                size = os.stat(os.path.join(folder, name)).st_size
                objects[key] = {"name": key, "type": "file", "size": size}
        return objects

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        """Read the bytes of an object from ``start`` to ``end``.

        The default is the complete object.
        """
        self._request("range")
        with open(self._place(path), "rb") as file:
            file.seek(start or 0)
            return file.read(-1 if end is None else end - (start or 0))
