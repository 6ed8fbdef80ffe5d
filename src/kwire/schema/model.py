# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The model of a schema: ``Message``, ``Struct`` and ``Field``.

Plain objects with the facts as Kafka states them. ``plan.py`` knows what they mean for
one version, ``language.py`` reads them from Kafka's JSON, ``notation.py`` from kwire's
own files, and ``rules.py`` checks them.
"""

from __future__ import annotations

from .versions import NONE, VersionRange

KINDS = (
    "request",
    "response",
    "header",
    "data",
    "metadata",
    "coordinator-key",
    "coordinator-value",
)

FIXED_SIZES = {
    "bool": 1,
    "int8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "float64": 8,
    "uuid": 16,
}
"""Bytes of each type that has the same size in every version."""

VARIABLE_TYPES = ("string", "bytes", "records")


def snake_case(name: str) -> str:
    """Turn Kafka's field name into Python's: ``KRaftVersion`` -> ``k_raft_version``.

    An underscore goes before an upper-case letter that follows a lower-case letter
    or digit, or that is followed by a lower-case letter and is not the first.
    """
    parts = []
    for index, letter in enumerate(name):
        if index and letter.isupper():
            before = name[index - 1]
            after = name[index + 1 : index + 2]
            if not before.isupper() or after.islower():
                parts.append("_")
        parts.append(letter.lower())
    return "".join(parts)


class Field:
    """One field of a struct.

    ``type`` is the type without the ``[]`` of an array: a primitive's name or a
    struct's. ``struct`` is that struct, resolved, or None. ``attribute`` is the
    field's name in Python. ``default`` is the text that the schema gives, None where
    it gives none: the text ``null`` is Kafka's way to say that the default is null.
    ``secret`` marks what must not be printed or recorded: passwords, proofs, tokens,
    and bytes that may hold them. Kafka's schemas lack it; it is kwire's own.
    ``position`` is (line, column) in the text the field was read from, (0, 0) where
    there is none.
    """

    __slots__ = (
        "attribute",
        "default",
        "entity_type",
        "flexible_versions",
        "ignorable",
        "is_array",
        "map_key",
        "name",
        "nullable_versions",
        "position",
        "secret",
        "struct",
        "tag",
        "tagged_versions",
        "type",
        "versions",
        "zero_copy",
    )

    def __init__(
        self,
        name: str,
        type: str,
        versions: VersionRange,
        *,
        is_array: bool = False,
        struct: Struct | None = None,
        nullable_versions: VersionRange = NONE,
        tagged_versions: VersionRange = NONE,
        tag: int | None = None,
        default: str | None = None,
        ignorable: bool = False,
        map_key: bool = False,
        entity_type: str | None = None,
        flexible_versions: VersionRange | None = None,
        zero_copy: bool = False,
        secret: bool = False,
        position: tuple[int, int] = (0, 0),
    ) -> None:
        self.name = name
        self.attribute = snake_case(name)
        self.type = type
        self.versions = versions
        self.is_array = is_array
        self.struct = struct
        self.nullable_versions = nullable_versions
        self.tagged_versions = tagged_versions
        self.tag = tag
        self.default = default
        self.ignorable = ignorable
        self.map_key = map_key
        self.entity_type = entity_type
        self.flexible_versions = flexible_versions
        self.zero_copy = zero_copy
        self.secret = secret
        self.position = position


class Struct:
    """A named list of fields; several fields may refer to one common struct."""

    __slots__ = ("fields", "name", "position", "versions")

    def __init__(
        self,
        name: str,
        versions: VersionRange,
        fields: list[Field],
        position: tuple[int, int] = (0, 0),
    ) -> None:
        self.name = name
        self.versions = versions
        self.fields = fields
        self.position = position


class Message:
    """One message of Kafka in all its versions.

    ``struct`` holds its fields, ``common_structs`` the structs that it declares
    apart from them, ``deprecated_versions`` and ``listeners`` what Kafka says of a
    request; ``api_key`` is None where Kafka gives none.
    """

    __slots__ = (
        "api_key",
        "common_structs",
        "deprecated_versions",
        "flexible_versions",
        "kind",
        "latest_version_unstable",
        "listeners",
        "struct",
        "valid_versions",
    )

    def __init__(
        self,
        kind: str,
        api_key: int | None,
        struct: Struct,
        flexible_versions: VersionRange,
        *,
        common_structs: list[Struct] | None = None,
        deprecated_versions: VersionRange = NONE,
        listeners: tuple[str, ...] = (),
        latest_version_unstable: bool = False,
    ) -> None:
        self.kind = kind
        self.api_key = api_key
        self.struct = struct
        self.valid_versions = struct.versions
        self.flexible_versions = flexible_versions
        self.common_structs = common_structs or []
        self.deprecated_versions = deprecated_versions
        self.listeners = listeners
        self.latest_version_unstable = latest_version_unstable

    @property
    def name(self) -> str:
        """Kafka's name of the message."""
        return self.struct.name

    def summary(self) -> str:
        """Return the docstring of the message's class: one line with its versions."""
        number = "" if self.api_key is None else f" {self.api_key}"
        flexible = self.flexible_versions & self.valid_versions
        versions = f"versions {self.valid_versions}, flexible {flexible}"
        return f"{self.kind.capitalize()}{number}, {versions}."

    def has_secrets(self) -> bool:
        """Whether a field of the message, at any depth, is secret."""
        structs = (self.struct, *self.structs())
        return any(field.secret for struct in structs for field in struct.fields)

    def structs(self) -> list[Struct]:
        """List the structs below the message, each once, inner before outer."""
        found: dict[int, Struct] = {}

        def visit(struct: Struct) -> None:
            for field in struct.fields:
                if field.struct is not None and id(field.struct) not in found:
                    visit(field.struct)
                    found[id(field.struct)] = field.struct

        visit(self.struct)
        return list(found.values())
