# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Generate ``src/kwire/messages/__init__.pyi``: all message classes for type checkers.

    python -m tools.generate.stubs          write the file
    python -m tools.generate.stubs --check  fail if the file is stale

The stub is generated from the definitions that also create the classes at run time, so
that both are always consistent. ``HEAD`` contains the common part of all messages.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kwire.schema import plan, registry
from kwire.schema.model import Field, Message, Struct
from tools import ROOT

STUB = ROOT / "src" / "kwire" / "messages" / "__init__.pyi"

HEAD = '''\
# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
#
# Declarations of all message classes and their structs for type checkers.
# tools/generate/stubs.py generates this file from the message definitions. Change the
# definitions, and then run the tool again.
#
# The comment of a field contains the versions that have the field. "null" is followed
# by the versions in which it may be null, and "tag" by the tag and the versions in
# which the field is in the tag section. If a message is decoded with zero_copy=True,
# fields of type bytes contain memoryviews.

from collections.abc import Iterable, Sequence
from typing import (
    Any,
    ClassVar,
    Final,
    Literal,
    Self,
    TypeAlias,
    final,
    overload,
    type_check_only,
)
from uuid import UUID

from typing_extensions import Buffer

from ..schema.versions import VersionRange
from . import arrow as arrow
from . import framing as framing
from . import internal_topics as internal_topics
from . import wire as wire

_Tags: TypeAlias = Iterable[tuple[int, bytes]]

ALL: tuple[str, ...]

@overload
def by_key(
    api_key: int, kind: Literal["request"], family: str | None = None
) -> type[Request]: ...
@overload
def by_key(
    api_key: int, kind: Literal["response"], family: str | None = None
) -> type[Response]: ...
@overload
def by_key(api_key: int, kind: str, family: str | None = None) -> type[Message]: ...

def message_class(text: str) -> type[Any]: ...
def _restore(qualname: str, values: tuple[object, ...]) -> object: ...

# The following four classes only exist for annotations, not at run time.

@type_check_only
class Struct:
    """Base of all messages, and of all structs within messages."""

    unknown_tagged_fields: Final[tuple[tuple[int, bytes], ...]]

    def __init__(self, **fields: Any) -> None: ...
    # Accepts only keyword arguments. The subclasses declare them.
    def replace(self, *args: Any, **changes: Any) -> Self: ...
    def to_dict(self) -> dict[str, Any]: ...
    def __hash__(self) -> int: ...

@type_check_only
class Message(Struct):
    """Base of all messages."""

    api_key: ClassVar[int | None]
    kind: ClassVar[str]
    valid_versions: ClassVar[VersionRange]
    flexible_versions: ClassVar[VersionRange]

@type_check_only
class Request(Message):
    """Base of all requests."""

    api_key: ClassVar[int]  # pyright: ignore[reportIncompatibleVariableOverride]

@type_check_only
class Response(Message):
    """Base of all responses."""

    api_key: ClassVar[int]  # pyright: ignore[reportIncompatibleVariableOverride]
'''

BASES = {"request": "Request", "response": "Response"}

TYPES = {
    "bool": "bool",
    "float64": "float",
    "uuid": "UUID",
    "string": "str",
    "bytes": "bytes",
    "records": "bytes",
}
"""Python types for Kafka types. All other types are integers."""

ACCEPTED = {**TYPES, "bytes": "Buffer", "records": "Buffer"}
"""Types that constructors accept for Kafka types."""


def main() -> int:
    """Write the stub, or compare it with the definitions if ``--check`` is specified.

    Returns the exit code: 1 if the stub is missing or outdated.
    """
    parser = argparse.ArgumentParser(description="Write the stub of kwire.messages.")
    parser.add_argument(
        "--check", action="store_true", help="compare only, fail if the stub is stale"
    )
    parser.add_argument(
        "--output", type=Path, default=STUB, help="the stub file (default: %(default)s)"
    )
    options = parser.parse_args()
    text = write_stub()
    if not options.check:
        options.output.write_text(text, encoding="utf-8")
        print(f"wrote {options.output.name}: {len(registry.names())} messages")
        return 0
    try:
        stored = options.output.read_text(encoding="utf-8")
    except FileNotFoundError:
        stored = ""
    if stored != text:
        line = first_difference(stored, text)
        print(
            f"{options.output.name} is stale from line {line}: it does not say what the"
            " message definitions say; run python -m tools.generate.stubs",
            file=sys.stderr,
        )
        return 1
    print(f"{options.output.name} is fresh")
    return 0


def first_difference(found: str, wanted: str) -> int:
    """Return the number of the first line (from 1) that differs between two texts."""
    pairs = zip(found.splitlines(), wanted.splitlines(), strict=False)
    same = 0
    for left, right in pairs:
        if left != right:
            break
        same += 1
    return same + 1


def write_stub() -> str:
    """Return the content of the stub file: ``HEAD`` and the class of every message."""
    classes = (message_class(registry.load(name)) for name in registry.names())
    return HEAD + "".join(f"\n{text}" for text in classes)


def message_class(message: Message) -> str:
    """Format the class of a message, including its structs."""
    parts = [struct_body(message.struct, message)]
    for struct in message.structs():
        body = struct_body(struct, message)
        parts.append(indented(f"@final\nclass {struct.name}(Struct):\n{body}"))
    base = BASES.get(message.kind, "Message")
    doc = indented(f'"""{message.summary()}"""\n\n')
    return f"@final\nclass {message.name}({base}):\n{doc}" + "\n".join(parts)


def struct_body(struct: Struct, message: Message) -> str:
    """Format the body of a struct's class: fields, ``__init__`` and ``replace``."""
    names = "".join(f'"{field.attribute}", ' for field in struct.fields)
    lines = [f"__match_args__ = ({names.strip()})"]
    created, changed = [], []
    for field in struct.fields:
        held = type_of(field, message, TYPES, "tuple[{}, ...]")
        taken = type_of(field, message, ACCEPTED, "Sequence[{}]")
        lines.append(f"{field.attribute}: Final[{held}]  # {versions_of(field)}")
        created.append(f"{field.attribute}: {taken} = {default_text(field)}")
        changed.append(f"{field.attribute}: {taken} = ...")
    created.append("unknown_tagged_fields: _Tags = ()")
    changed.append("unknown_tagged_fields: _Tags = ...")
    lines += ["", *method("__init__", created, "None")]
    lines += method("replace", changed, "Self")
    return indented("\n".join(lines) + "\n")


def method(name: str, parameters: list[str], result: str) -> list[str]:
    """Return the lines of a method whose parameters are keyword-only."""
    taken = [f"    {parameter}," for parameter in ("self", "*", *parameters)]
    return [f"def {name}(", *taken, f") -> {result}: ..."]


def type_of(field: Field, message: Message, types: dict[str, str], array: str) -> str:
    """Return the type annotation of a field.

    * ``types``: annotations by Kafka type. The default is "int".
    * ``array``: format string for the annotation of an array.
    """
    if field.struct is not None:
        text = f"{message.name}.{field.type}"
    else:
        text = types.get(field.type, "int")
    if field.is_array:
        text = array.format(text)
    nullable = field.nullable_versions or plan.resolve_default(field) is None
    return f"{text} | None" if nullable else text


def default_text(field: Field) -> str:
    """Format the default of a field as Python code.

    Returns ``...`` if the default is a struct, which a stub does not have to specify.
    """
    default = plan.resolve_default(field)
    if default is None or isinstance(default, (bool, int, float)):
        return repr(default)
    if isinstance(default, str):
        return '"{}"'.format(default.replace("\\", "\\\\").replace('"', '\\"'))
    if isinstance(default, bytes):
        return 'b""'
    return "()" if default == () else "..."


def versions_of(field: Field) -> str:
    """Format the versions in which a field is present, nullable and tagged.

    The text becomes a comment in the stub.
    """
    text = str(field.versions)
    if field.nullable_versions:
        text += f", null {field.nullable_versions}"
    if field.tagged_versions:
        text += f", tag {field.tag} {field.tagged_versions}"
    return text


def indented(text: str) -> str:
    """Indent all non-empty lines by one level."""
    return "".join(
        f"    {line}" if line.strip() else line for line in text.splitlines(True)
    )


if __name__ == "__main__":
    sys.exit(main())
