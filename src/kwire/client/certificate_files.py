# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``FileContext``: a TLS context that is created again when its files change.

Certificates that are valid for hours are replaced while a client runs. Existing
connections keep their certificate; each new one uses the files of that moment.
"""

from __future__ import annotations

import logging
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl as tls
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    _Stamp: TypeAlias = tuple[int, int, int]

_logger = logging.getLogger("kwire.client.connection")


class FileContext:
    """Loads a TLS context from files, and again before a connection if they changed.

    * ``make``: loads the context. It is called immediately.
    * ``paths``: the path of each file, by property name.

    If a changed file cannot be loaded, the previous context remains in use. The error
    is logged as a warning, once for each change, and ``load`` tries again before the
    next connection, because the file may be only half written. A file counts as changed
    if its modification time, size or inode differs. Symbolic links are followed, so
    that a link to another directory is a change too.
    """

    def __init__(
        self, make: Callable[[], tls.SSLContext], paths: Mapping[str, str]
    ) -> None:
        self._make = make
        self._paths = dict(paths)
        # If a file changes between the two lines, the next call of ``load`` notices it.
        self._stamps = self._read_stamps()
        self._context = make()
        self._reported: dict[str, _Stamp] | None = None

    def load(self) -> tls.SSLContext:
        """Return the context for the next connection."""
        stamps = self._read_stamps()
        if stamps == self._stamps:
            return self._context
        names = ", ".join(
            name for name in self._paths if stamps.get(name) != self._stamps.get(name)
        )
        try:
            self._context = self._make()
        except (OSError, ValueError) as error:
            if stamps != self._reported:
                self._reported = stamps
                # The text of an error may contain a path or a part of a key.
                _logger.warning(
                    "TLS files changed but cannot be loaded: %s (%s); the previous"
                    " certificates remain in use",
                    names,
                    getattr(error, "reason", None) or type(error).__name__,
                )
            return self._context
        self._stamps, self._reported = stamps, None
        _logger.info("TLS files changed and were loaded again: %s", names)
        return self._context

    def _read_stamps(self) -> dict[str, _Stamp]:
        """Return modification time, size and inode of each file that is available."""
        stamps: dict[str, _Stamp] = {}
        for name, path in self._paths.items():
            try:
                status = os.stat(path)
            except (OSError, ValueError):
                continue
            # A pipe can be read only once.
            if stat.S_ISREG(status.st_mode):
                stamps[name] = status.st_mtime_ns, status.st_size, status.st_ino
        return stamps
