# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Finds messages by name, or by API key and kind.

``definitions/index.txt`` has one line for each message, so that nothing else is read
until a message is used. The facts themselves are in the definition files.
"""

from __future__ import annotations

from . import notation
from .model import Message
from .versions import VersionRange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Entry:
    """One line of the index: where a message is and what it is called by."""

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
    """List the names of all messages, sorted."""
    return list(_lines())


def find(name: str) -> Entry:
    """Find the index entry of a message; ``KeyError`` if there is none."""
    entry = _entries.get(name)
    if entry is None:
        entry = _entries.setdefault(name, Entry(_lines()[name]))
    return entry


def find_by_key(api_key: int, kind: str, family: str | None = None) -> Entry:
    """Find the message with an API key, record type or record id.

    ``kind`` is one of ``model.KINDS``. Keys of requests and responses are unique; the
    other kinds count anew in each ``family`` (the definition file's name), which has to
    be given where the number alone leaves a choice. ``KeyError`` if none or several
    match.
    """
    entries = [find(name) for name in _index_keys().get((api_key, kind), ())]
    if family is not None:
        entries = [entry for entry in entries if entry.family == family]
    if len(entries) == 1:
        return entries[0]
    if not entries:
        where = f" in {family}" if family else ""
        raise KeyError(f"no {kind} has the key {api_key}{where}")
    choice = ", ".join(f"{entry.name} in {entry.family}" for entry in entries)
    raise KeyError(f"{kind} {api_key} is ambiguous: {choice}; give family=")


def keys(kind: str) -> list[int]:
    """List the numbers that messages of a kind have, sorted."""
    return sorted(key for key, key_kind in _index_keys() if key_kind == kind)


def load(name: str) -> Message:
    """Read the facts of one message from its definition file."""
    return notation.read_message(definition_text(find(name).family), name)


def definition_text(family: str) -> str:
    """Read a definition file (or ``index``) of this package."""
    return _text(f"definitions/{family}")


def fact_text(name: str) -> str:
    """Read a file of facts that are not messages, such as ``releases``."""
    return _text(f"facts/{name}")


def _text(name: str) -> str:
    """Read a text file of this package, wherever it lives.

    The loader knows, in a folder or in a zip; ``importlib.resources`` knows as well,
    but takes thirty times as long to import as a message takes to load.
    """
    path = f"{__file__.removesuffix('registry.py')}{name}.txt"
    data: bytes = __spec__.loader.get_data(path)  # type: ignore[union-attr]
    return data.decode()


def _index_keys() -> Mapping[tuple[int, str], list[str]]:
    if not _by_key:
        table: dict[tuple[int, str], list[str]] = {}
        for name, line in _lines().items():
            _, kind, key, _ = line.split(" ", 3)
            if key != "-":
                table.setdefault((int(key), kind), []).append(name)
        _by_key.update(table)
    return _by_key


def _lines() -> Mapping[str, str]:
    if not _index:
        lines = definition_text("index").split("\n")
        # All at once: another thread must see none of it or the whole.
        _index.update({line.partition(" ")[0]: line for line in lines if line})
    return _index
