# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Convert the output of Kafka's dump tool for a data directory to JSON.

This module does not decode files: all values in the manifest are text that
``DumpLogSegments`` printed. tests/data/README.md describes the structure.
"""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path
from typing import Any

from tools.interop.broker.broker import BrokerError, tool

Entry = dict[str, Any]

DECODERS = {
    "__cluster_metadata": "--cluster-metadata-decoder",
    "__consumer_offsets": "--offsets-decoder",
    "__remote_log_metadata": "--remote-log-metadata-decoder",
    "__share_group_state": "--share-group-state-decoder",
    "__transaction_state": "--transaction-log-decoder",
}
# Names in the manifest by the name that DumpLogSegments prints, if they differ.
RENAMED = {
    "compresscodec": "compression",
    "isvalid": "is_valid",
    "deleteHorizonMs": "delete_horizon_ms",
}
TIMES = {"CreateTime", "LogAppendTime", "NoTimestampType"}
PAIR = re.compile(r"(\w+): (\S+)")
RECORD = re.compile(
    r"\| (?P<fields>offset: .*?)"
    r"(?: headerKeys: \[(?P<header_keys>.*?)\])?"
    r"(?: (?P<control>(?:endTxnMarker|LeaderChange|SnapshotHeader|SnapshotFooter"
    r"|KRaftVersion|KRaftVoters|controlType).*)|"
    r"(?P<key>(?: key: .*?)?)(?P<payload>(?: payload: .*)?))"
)
# Fields that describe a record. They are listed because the 2.8 tool also prints the
# batch fields on every record line.
RECORD_FIELDS = {
    "crc",
    "is_valid",
    "key_size",
    "offset",
    "sequence",
    "timestamp",
    "timestamp_type",
    "value_size",
}
TALK = re.compile(
    r"(?:Log s|S)tarting offset: |Snapshot end offset: |KRaft bootstrap snapshot"
    r"|.* is empty\.$"
)


def manifest_of(release: str, data: Path) -> Entry:
    """Dump all files below a data directory that ``DumpLogSegments`` supports.

    Returns the manifest, which contains the parsed output for each file. Raises
    ``BrokerError`` if the tool skips a file.
    """
    groups: dict[tuple[str, ...], list[Path]] = {}
    for path in sorted(data.rglob("*")):
        options = options_for(path)
        if options is not None and path.stat().st_size:
            groups.setdefault(options, []).append(path)
    files: dict[str, Entry] = {}
    for options, paths in groups.items():
        listing = ",".join(map(str, paths))
        printed = tool(release, "DumpLogSegments", *options, "--files", listing)
        for section in re.split(r"^Dumping ", printed, flags=re.MULTILINE)[1:]:
            name, _, text = section.partition("\n")
            path = Path(name)
            files[str(path.relative_to(data))] = read_section(path, text)
        if missing := {str(path.relative_to(data)) for path in paths} - files.keys():
            raise BrokerError(f"DumpLogSegments printed nothing of {sorted(missing)}")
    return {
        "release": release,
        "tool": "DumpLogSegments",
        "files": dict(sorted(files.items())),
    }


def options_for(path: Path) -> tuple[str, ...] | None:
    """Return the options of ``DumpLogSegments`` for a file.

    Returns None if the tool does not support files of this type.
    """
    if path.parent.name == "remote-log-index-cache":
        return None
    if path.suffix in (".index", ".timeindex", ".txnindex", ".snapshot"):
        return ()
    if path.suffix not in (".log", ".checkpoint"):
        return None
    topic = path.parent.name.rpartition("-")[0]
    if path.suffix == ".checkpoint":
        topic = "__cluster_metadata"
    return ("--deep-iteration", DECODERS.get(topic, "--print-data-log"))


def read_section(path: Path, text: str) -> Entry:
    """Parse the output of the tool for one file.

    Returns a dictionary with the list "entries", or "batches" for logs and checkpoints.
    Raises ``BrokerError`` if a line has an unknown format.
    """
    lines = [line for line in text.split("\n") if line and not TALK.match(line)]
    if path.suffix not in (".log", ".checkpoint"):
        return {"entries": [read_fields(line) for line in lines]}
    batches: list[Entry] = []
    for line in lines:
        if not line.startswith("| "):
            batches.append({**read_fields(line), "records": []})
        elif found := RECORD.fullmatch(line):
            batches[-1]["records"].append(read_record(found))
        else:
            raise BrokerError(f"{path}: cannot read what the tool printed: {line}")
    return {"batches": batches}


def read_record(found: re.Match[str]) -> Entry:
    """Convert the line of one record, which matches ``RECORD``, to a dictionary."""
    fields = read_fields(found["fields"])
    record = {name: fields[name] for name in fields if name in RECORD_FIELDS}
    for name in ("header_keys", "control"):
        if found[name] is not None:
            record[name] = found[name]
    for name in ("key", "payload"):
        if found[name]:
            record[name] = found[name].removeprefix(f" {name}: ")
    return record


def read_fields(line: str) -> Entry:
    """Parse the ``name: value`` pairs of a line.

    Numbers and booleans become JSON values.

    Raises ``BrokerError`` if the line contains anything else.
    """
    fields: Entry = {}
    for name, text in PAIR.findall(line):
        if name in TIMES:
            fields["timestamp_type"] = name
            name = "timestamp"
        name = RENAMED.get(name) or re.sub("(?=[A-Z])", "_", name).lower()
        # Kafka 2.8 prints codec names in upper case.
        fields[name] = read_value(text.lower() if name == "compression" else text)
    if not fields or PAIR.sub("", line).strip():
        raise BrokerError(f"cannot read what DumpLogSegments printed: {line}")
    return fields


def read_value(text: str) -> int | bool | str | None:
    """Convert a value as printed by the tool to a JSON value."""
    if text in ("OptionalLong.empty", "null"):
        return None
    if found := re.fullmatch(r"(?:OptionalLong\[)?(-?\d+)\]?", text):
        return int(found[1])
    return {"true": True, "false": False}.get(text, text)


def write_packed(path: Path, content: Entry) -> None:
    """Write a JSON value to a file, compressed with LZMA."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
