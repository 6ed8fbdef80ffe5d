# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Import Kafka's message schemas into kwire's definition files.

Arguments of ``python -m tools.generate.import_schemas``:

    from kafka/ --write         a checkout, a folder, jars
    from --release x.y.z        the jars of a release, through Maven
    check --release x.y.z       exit 1 if they differ
    index --check               exit 1 if a file is not as written

The definitions contain every version that Kafka has ever released. A release is
therefore merged instead of copied: its versions are imported, and versions that it has
removed are preserved. If a release has changed the layout of an existing version, the
newest layout is kept and the change is displayed. Releases must be imported in
ascending order.

This module contains the commands and merges complete releases. ``schema_sources.py``
reads schemas, ``schema_merge.py`` merges two states of a message, ``schema_files.py``
writes files, and ``schema_changes.py`` describes changes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from kwire.schema.model import Message
from tools.generate.schema_changes import describe
from tools.generate.schema_files import (
    DEFINITIONS,
    RETIRED,
    Entries,
    Entry,
    check_entries,
    family_of,
    files_of,
    read_entries,
    stale_files,
    write_files,
)
from tools.generate.schema_merge import merge
from tools.generate.schema_sources import (
    Found,
    ImportRefused,
    read_schemas,
    release_jars,
)


def absorb(entries: Entries, found: Mapping[str, Found]) -> tuple[Entries, list[str]]:
    """Merge the schemas of one release into the definitions.

    Returns the new definitions and a list of renamed or retired messages. Requests and
    responses are identified by their API key, so that a different name for the same key
    is a rename. Records are identified by their name. If a new record uses the number
    of an old record, the old record is retired.

    Raises ``ImportRefused`` if the definitions cannot represent the result.
    """
    united = dict(entries)
    notes = []
    for name, (message, origin) in sorted(found.items()):
        known = united.get(name)
        if known is None:
            earlier = _owner(united, message, family_of(message, origin))
            if earlier is not None and earlier not in found:
                if message.kind in ("request", "response"):
                    known = united.pop(earlier)
                    notes.append(f"{earlier} is called {name} now")
                else:
                    united[earlier] = Entry(united[earlier].message, RETIRED)
                    notes.append(f"{name} has the number of {earlier}, which retires")
        if known is None and not message.valid_versions:
            notes.append(f"{name} only reserves its key and has no versions")
        elif known is None:
            united[name] = Entry(message, family_of(message, origin))
        else:
            family = known.family
            if message.kind in ("request", "response"):
                family = family_of(message, origin)
            united[name] = Entry(merge(known.message, message), family)
    check_entries(united)
    return united, notes


def _owner(entries: Entries, message: Message, family: str) -> str | None:
    """Return the name of the definition that uses the same number as ``message``.

    Requests and responses share their API keys, and records of one family share their
    record types. Returns None if no definition of this kind uses the number.
    """
    is_api = message.kind in ("request", "response")
    for name, known in entries.items():
        same = (known.message.kind, known.message.api_key)
        if (
            message.api_key is not None
            and same == (message.kind, message.api_key)
            and (is_api or known.family == family)
        ):
            return name
    return None


def _versions(messages: list[Message]) -> int:
    return sum(len(message.valid_versions) for message in messages)


def run_import(arguments: argparse.Namespace) -> int:
    """Print the changes that a source would make to the definitions.

    Writes the definitions with ``from --write``. Returns the exit code: 1 if ``check``
    finds differences.
    """
    paths = list(arguments.paths)
    if arguments.release:
        paths += release_jars(arguments.release)
    found = read_schemas(paths)
    entries = read_entries(arguments.definitions)
    united, notes = absorb(entries, found)
    changes = describe(entries, united)
    for line in notes + changes:
        print(line)
    source = [message for message, _ in found.values() if message.valid_versions]
    union = [message for message, _ in united.values()]
    print(f"The source has {len(source)} messages, {_versions(source)} versions.")
    print(f"The union has {len(union)} messages, {_versions(union)} versions.")
    files = files_of(united)
    if arguments.command == "from" and arguments.write:
        written = write_files(arguments.definitions, files)
        print(f"{len(written)} files written.")
        return 0
    stale = stale_files(arguments.definitions, files)
    if not stale:
        print("The definitions have all of the source, as the source has it.")
        return 0
    print(f"{len(stale)} files differ; nothing is written without from ... --write.")
    return 1 if arguments.command == "check" else 0


def run_index(arguments: argparse.Namespace) -> int:
    """Rewrite the definition files from their own content.

    With ``--check``, outdated files are only reported. Returns the exit code.
    """
    entries = read_entries(arguments.definitions)
    check_entries(entries)
    files = files_of(entries)
    if not arguments.check:
        for name in write_files(arguments.definitions, files):
            print(f"{name} written")
        return 0
    stale = stale_files(arguments.definitions, files)
    for name in stale:
        print(f"{name} is not as it would be written; run: {sys.argv[0]} index")
    if not stale:
        print(f"{len(files)} definition files are fresh, {len(entries)} messages sound")
    return 1 if stale else 0


def main(words: list[str] | None = None) -> int:
    """Run the subcommand and return its exit code.

    An ``ImportRefused`` is printed, and the exit code is 1.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, purpose in (
        ("from", "show what a source changes, and write it with --write"),
        ("check", "fail if the definitions differ from what a source says"),
    ):
        command = commands.add_parser(name, help=purpose)
        command.add_argument("paths", nargs="*", type=Path, metavar="FOLDER_OR_JAR")
        command.add_argument("--release", help="take the jars of this Kafka release")
        if name == "from":
            command.add_argument("--write", action="store_true")
    command = commands.add_parser("index", help="write the index and format the files")
    command.add_argument("--check", action="store_true", help="write nothing, fail")
    for command in commands.choices.values():
        command.add_argument("--definitions", type=Path, default=DEFINITIONS)
    arguments = parser.parse_args(words)
    if arguments.command != "index" and not (arguments.paths or arguments.release):
        parser.error("name a folder, a jar or a --release to take schemas from")
    try:
        if arguments.command == "index":
            return run_index(arguments)
        return run_import(arguments)
    except ImportRefused as error:
        print(f"import_schemas: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
