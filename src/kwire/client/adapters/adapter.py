# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Installing and removing what replaces parts of another client.

An adapter knows the name of a client, the versions that it was tested with and the
names that it replaces in them. What replaces them is in a file of its own for each
client, which is imported when the adapter is installed.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._engine.active import backend

if TYPE_CHECKING:
    from types import TracebackType


class Replacement(NamedTuple):
    """An attribute of a module or class of the client, and what it becomes."""

    owner: Any
    name: str
    value: Any


class Adapter:
    """Makes the consumers of one client decode records with kwire.

    ``install()`` and ``uninstall()`` change classes of the client, for all consumers of
    the process. As a context manager an adapter is installed for the block.
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
        """The versions of the client that the adapter can be installed into."""
        return self._tested

    @property
    def is_installed(self) -> bool:
        """Whether consumers decode with kwire."""
        return bool(self._replaced)

    def install(self) -> bool:
        """Let the client's consumers decode with kwire; return whether they do.

        A second call changes nothing. With another version of the client than the
        tested ones, and without kwire's compiled engine, there is a ``RuntimeWarning``
        and the client stays as it is.
        Raises ``ImportError`` if the client is not installed.
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
        for each in replacements.make_replacements():
            owner, name, value = each
            self._originals.append(Replacement(owner, name, vars(owner)[name]))
            self._replaced.append(each)
            setattr(owner, name, value)
        return True

    def uninstall(self) -> None:
        """Let the client's consumers decode by themselves again.

        A consumer in use may be left with records that kwire decoded. What another
        library replaced since ``install()`` stays as that library made it.
        """
        for each, original in zip(self._replaced, self._originals, strict=True):
            if vars(each.owner)[each.name] is each.value:
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
        """Find why the adapter cannot be installed; None if it can."""
        version = importlib.import_module(self._package).__version__
        if version not in self._tested:
            return (
                f"kwire's adapter was not tested with version {version}; "
                f"tested are {', '.join(self._tested)}"
            )
        if backend != "fast":
            return "kwire has no compiled engine here, and would be slower"
        return None
