# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read and write the directory of definition files in canonical order.

A file contains a *family*: the request and response with the same API key, or related
records. ``index.txt`` contains one line per message. Only ``files_of`` formats both, so
identical definitions always produce identical files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kwire.errors import SchemaError
from kwire.schema import notation, rules
from kwire.schema.model import KINDS, Message
from tools import ROOT
from tools.generate.schema_sources import ImportRefused

DEFINITIONS = ROOT / "src/kwire/schema/definitions"

RETIRED = "retired-records"
"""Family of records that current releases no longer write. Their ids may be reused."""

_RETIRED_NAMES = frozenset(
    (
        "AccessControlRecord",
        "QuotaRecord",
        "RemoveFeatureLevelRecord",
        "ShareGroupPartitionMetadataKey",
        "ShareGroupPartitionMetadataValue",
    )
)
_COORDINATORS = ("group-coordinator", "share-coordinator", "transaction-coordinator")
_FAMILIES = {
    "ShareSnapshot": "share-coordinator",
    "ShareUpdate": "share-coordinator",
    "TransactionLog": "transaction-coordinator",
    "ConsumerProtocol": "consumer-protocol",
    "ControlRecordType": "control-records",
    "EndTxnMarker": "control-records",
    "KRaftVersion": "control-records",
    "LeaderChange": "control-records",
    "SnapshotFooter": "control-records",
    "SnapshotHeader": "control-records",
    "Voters": "control-records",
    "DefaultPrincipal": "principal",
    "AbortedTxn": "log-files",
    "ProducerSnapshot": "log-files",
    "QuorumState": "quorum-state",
    "SubscriptionInfo": "streams-subscription",
}
"""Families of messages without a number, indexed by the start of the name."""


class Entry(NamedTuple):
    """Message, and the name of its definition file without ``.txt``."""

    message: Message
    family: str


Entries = dict[str, Entry]
"""Messages of a definitions directory, indexed by name."""


def family_of(message: Message, origin: str) -> str:
    """Return the name of the file that contains a message, without ``.txt``.

    ``origin`` is the location of the schema in the source.
    """
    name = message.name
    if name in _RETIRED_NAMES:
        return RETIRED
    if message.kind in ("request", "response"):
        api = name.removesuffix("Request").removesuffix("Response")
        return f"{message.api_key:03d}-{api}"
    if message.kind == "header":
        return "headers"
    if message.kind == "metadata":
        # Tiered storage and KRaft number their records independently.
        return "remote-log-records" if name.startswith("Remote") else "metadata-records"
    for module in _COORDINATORS:
        if module in origin:
            return module
    for start, family in _FAMILIES.items():
        if name.startswith(start):
            return family
    is_record = message.kind.startswith("coordinator")
    return "group-coordinator" if is_record else "other-data"


def read_entries(folder: Path) -> Entries:
    """Read all definition files of a directory.

    Raises ``ImportRefused`` with the name of an invalid file.
    """
    entries: Entries = {}
    for file in sorted(folder.glob("*.txt")):
        if file.name == "index.txt":
            continue
        text = file.read_text(encoding="utf-8")
        for line in text.splitlines():
            if not line[:1].isalpha():
                continue
            try:
                name = line.split()[1]
                if name in entries:
                    raise SchemaError(f"{entries[name].family}.txt has it already")
                entries[name] = Entry(notation.read_message(text, name), file.stem)
            except SchemaError as error:
                raise ImportRefused(f"{file.name}: {error}") from None
            except (IndexError, KeyError, ValueError):
                raise ImportRefused(
                    f"{file.name}: {line!r} does not start a message in the notation"
                ) from None
    return entries


def files_of(entries: Entries) -> dict[str, str]:
    """Return the text of each definition file and of the index, by file name."""
    families: dict[str, list[Message]] = {}
    index = []
    for name, (message, family) in sorted(entries.items()):
        families.setdefault(family, []).append(message)
        key = "-" if message.api_key is None else message.api_key
        index.append(
            f"{name} {message.kind} {key} {message.valid_versions}"
            f" {message.flexible_versions} {family}\n"
        )
    files = {
        f"{family}.txt": "\n".join(
            notation.write_message(message) for message in sorted(messages, key=_rank)
        )
        for family, messages in families.items()
    }
    return {**files, "index.txt": "".join(index)}


def _rank(message: Message) -> tuple[bool, int, int, str]:
    """Return the sort key of a message in its file: its number, then its kind.

    Keys precede their values, and requests precede their responses.
    """
    kind = KINDS.index(message.kind)
    return message.api_key is None, message.api_key or 0, kind, message.name


def stale_files(folder: Path, files: dict[str, str]) -> list[str]:
    """Return the names of missing, unexpected and outdated files in a directory."""
    present = {file.name for file in folder.glob("*.txt")}
    return sorted(
        name
        for name in present | files.keys()
        if name not in present
        or name not in files
        or (folder / name).read_text(encoding="utf-8") != files[name]
    )


def write_files(folder: Path, files: dict[str, str]) -> list[str]:
    """Create, update and delete files, so that the directory contains only ``files``.

    Returns the names of the changed files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stale = stale_files(folder, files)
    for name in stale:
        if name in files:
            (folder / name).write_text(files[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return stale


def check_entries(entries: Entries) -> None:
    """Check the rules for each message, and the rules that concern several messages.

    Raises ``ImportRefused`` for the first violated rule.
    """
    try:
        for message, _ in entries.values():
            rules.check(message)
        for messages in _id_spaces(entries):
            rules.check_ids(messages)
    except SchemaError as error:
        raise ImportRefused(f"the definitions: {error}") from None
    halves: dict[tuple[int | None, str], set[str]] = {}
    for message, family in entries.values():
        if message.kind in ("request", "response"):
            halves.setdefault((message.api_key, family), set()).add(message.kind)
    for (key, family), kinds in sorted(halves.items(), key=str):
        if len(kinds) == 1:
            raise ImportRefused(
                f"the definitions: API key {key} has only a {kinds.pop()} in"
                f" {family}.txt; its other half is missing"
            )


def _id_spaces(entries: Entries) -> Iterator[list[Message]]:
    """Yield lists of messages whose numbers must be unique within the list.

    All requests and responses share one list. Every family of records has its own.
    """
    spaces: dict[str, list[Message]] = {}
    for message, family in entries.values():
        space = "api" if message.kind in ("request", "response") else family
        if space != RETIRED:
            spaces.setdefault(space, []).append(message)
    yield from spaces.values()
