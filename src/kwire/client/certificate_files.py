# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``FileContext``: a TLS context that is loaded again when its files change.

Certificates with a lifetime of a few hours are replaced while a client is running. New
connections use the current files. Existing connections keep their certificate.
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
    """TLS context that is loaded from files, and loaded again if they have changed.

    * ``make``: function that loads the context. The constructor calls it immediately,
      and raises its exceptions.
    * ``paths``: path of every file by property name.

    A file has changed if its modification time, size or inode is different. Symbolic
    links are followed, so that a link to another directory counts as a change too.

    If a changed file cannot be loaded, the previous context remains in use, because the
    file may be incomplete at the moment. A warning is logged once for every change, and
    ``load`` tries again before the next connection.
    """

    def __init__(
        self, make: Callable[[], tls.SSLContext], paths: Mapping[str, str]
    ) -> None:
        self._make = make
        self._paths = dict(paths)
        # Read the stamps first. If a file changes before ``make`` reads it, the next
        # call of ``load`` detects the change.
        self._stamps = self._read_stamps()
        self._context = make()
        self._reported: dict[str, _Stamp] | None = None

    def load(self) -> tls.SSLContext:
        """Return the TLS context for the next connection.

        If a file has changed since the last call, the context is loaded again. If that
        fails, a warning is logged, and the previous context is returned.
        """
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
                # Log only the reason or the class, because the text of an error may
                # contain a path or a part of a key.
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
        """Return (modification time, size, inode) of every regular file.

        The keys are the property names in ``paths``. Other kinds of files are omitted.
        """
        stamps: dict[str, _Stamp] = {}
        for name, path in self._paths.items():
            try:
                status = os.stat(path)
            except (OSError, ValueError):
                continue
            # Ignore pipes and other special files, because a pipe can be read only
            # once.
            if stat.S_ISREG(status.st_mode):
                stamps[name] = status.st_mtime_ns, status.st_size, status.st_ino
        return stamps
