# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Looks up messages by name, or by API key and kind.

``definitions/index.txt`` contains one line per message, so that a definition file is
not read until one of its messages is used.
"""

from __future__ import annotations

from . import notation
from .model import Message
from .versions import VersionRange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Entry:
    """One line of the index, which locates and identifies a message."""

    __slots__ = (
        "api_key",
        "family",
        "flexible_versions",
        "kind",
        "name",
        "valid_versions",
    )

    def __init__(self, line: str) -> None:
        name, kind, key, versions, flexible, family = line.split(" ")
        self.name = name
        self.kind = kind
        self.api_key = None if key == "-" else int(key)
        self.valid_versions = VersionRange.from_text(versions)
        self.flexible_versions = VersionRange.from_text(flexible)
        self.family = family


_index: dict[str, str] = {}
_entries: dict[str, Entry] = {}
_by_key: dict[tuple[int, str], list[str]] = {}


def names() -> list[str]:
    """List all message names in ascending order."""
    return list(_load_index())


def find(name: str) -> Entry:
    """Look up a message in the index. Raises ``KeyError`` if the name is unknown."""
    entry = _entries.get(name)
    if entry is None:
        entry = _entries.setdefault(name, Entry(_load_index()[name]))
    return entry


def find_by_key(api_key: int, kind: str, family: str | None = None) -> Entry:
    """Look up a message by its API key, record type or record id.

    * ``kind``: an element of ``model.KINDS``.
    * ``family``: name of the definition file. Request and response keys are globally
      unique, but other kinds are numbered separately in every family. Required if the
      number is ambiguous.

    Raises ``KeyError`` if no message or more than one message matches.
    """
    entries = [find(name) for name in _load_index_keys().get((api_key, kind), ())]
    if family is not None:
        entries = [entry for entry in entries if entry.family == family]
    if len(entries) == 1:
        return entries[0]
    if not entries:
        location = f" in {family}" if family else ""
        raise KeyError(f"no {kind} has the key {api_key}{location}")
    matches = ", ".join(f"{entry.name} in {entry.family}" for entry in entries)
    raise KeyError(f"{kind} {api_key} is ambiguous: {matches}; give family=")


def keys(kind: str) -> list[int]:
    """List the API keys or record numbers that a kind uses, in ascending order."""
    return sorted(key for key, key_kind in _load_index_keys() if key_kind == kind)


def load(name: str) -> Message:
    """Parse a message's definition. Raises ``KeyError`` if the name is unknown."""
    return notation.read_message(definition_text(find(name).family), name)


def definition_text(family: str) -> str:
    """Read a definition file, or ``index``, of this package."""
    return _read_text(f"definitions/{family}")


def fact_text(name: str) -> str:
    """Read a file with facts that are not message definitions, such as ``releases``."""
    return _read_text(f"facts/{name}")


def _read_text(name: str) -> str:
    """Read a text file of this package, from a directory or from a zip archive.

    The loader of this module supports both locations. ``importlib.resources`` supports
    them too, but importing it takes 30 times as long as loading a message.
    """
    path = f"{__file__.removesuffix('registry.py')}{name}.txt"
    data: bytes = __spec__.loader.get_data(path)  # type: ignore[union-attr]
    return data.decode()


def _load_index_keys() -> Mapping[tuple[int, str], list[str]]:
    if not _by_key:
        table: dict[tuple[int, str], list[str]] = {}
        for name, line in _load_index().items():
            _, kind, key, _ = line.split(" ", 3)
            if key != "-":
                table.setdefault((int(key), kind), []).append(name)
        _by_key.update(table)
    return _by_key


def _load_index() -> Mapping[str, str]:
    if not _index:
        lines = definition_text("index").split("\n")
        # Insert all lines with one ``update``, so that other threads see either an
        # empty or a complete index.
        _index.update({line.partition(" ")[0]: line for line in lines if line})
    return _index
