# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces parts of another Kafka client, and restores them.

An adapter contains the client name, the tested versions, and the replaced attributes.
Every client has a module with its replacements, which is imported when the adapter is
installed.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._engine.active import backend

if TYPE_CHECKING:
    from types import TracebackType


class Replacement(NamedTuple):
    """New value for an attribute of another client.

    * ``owner``: module or class that has the attribute.
    * ``name``: name of the attribute.
    * ``value``: new value.
    """

    owner: Any
    name: str
    value: Any


class Adapter:
    """Makes the consumers of one client decode records with kwire.

    ``install()`` and ``uninstall()`` change the client's classes, and therefore affect
    all consumers in the process. If the adapter is used as a context manager, it is
    installed for the block.
    """

    def __init__(self, client: str, package: str, tested: tuple[str, ...]) -> None:
        self._client = client
        self._package = package
        self._tested = tested
        self._originals: list[Replacement] = []
        self._replaced: list[Replacement] = []
        self._found_installed: list[bool] = []

    @property
    def tested_versions(self) -> tuple[str, ...]:
        """Client versions that the adapter supports."""
        return self._tested

    @property
    def is_installed(self) -> bool:
        """Whether consumers decode with kwire."""
        return bool(self._replaced)

    def install(self) -> bool:
        """Make the consumers of the client decode with kwire; return whether they do.

        If the client's version was not tested, or kwire's compiled engine is not
        available, this method emits a ``RuntimeWarning`` and does not change the
        client. A second call has no effect. Raises ``ImportError`` if the client is not
        installed.
        """
        if self.is_installed:
            return True
        reason = self._find_obstacle()
        if reason is not None:
            warnings.warn(
                f"{self._client} keeps its own decoder: {reason}",
                RuntimeWarning,
                stacklevel=2,
            )
            return False
        replacements = importlib.import_module(f"{__package__}.{self._package}_classes")
        for replacement in replacements.make_replacements():
            owner, name, value = replacement
            self._originals.append(Replacement(owner, name, vars(owner)[name]))
            self._replaced.append(replacement)
            setattr(owner, name, value)
        return True

    def uninstall(self) -> None:
        """Make the consumers of the client use their own decoder again.

        A consumer in use may still return records that kwire has decoded. Attributes
        that another library has replaced since ``install()`` are not changed.
        """
        for replacement, original in zip(self._replaced, self._originals, strict=True):
            if vars(replacement.owner)[replacement.name] is replacement.value:
                setattr(*original)
        self._replaced.clear()
        self._originals.clear()

    def __enter__(self) -> Adapter:
        self._found_installed.append(self.is_installed)
        self.install()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._found_installed.pop():
            self.uninstall()

    def __repr__(self) -> str:
        state = "installed" if self.is_installed else "not installed"
        return f"<Adapter for {self._client}, {state}>"

    def _find_obstacle(self) -> str | None:
        """Return why the adapter cannot be installed, or None if it can."""
        version = importlib.import_module(self._package).__version__
        if version not in self._tested:
            return (
                f"kwire's adapter was not tested with version {version}; "
                f"tested versions: {', '.join(self._tested)}"
            )
        if backend != "fast":
            return "kwire has no compiled engine here, and its Python engine is slower"
        return None
