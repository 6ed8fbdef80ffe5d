# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Schema model: ``Message``, ``Struct`` and ``Field``.

These plain objects contain the facts exactly as Kafka's schemas state them. ``plan.py``
interprets the facts for one version, ``language.py`` parses them from Kafka's JSON,
``notation.py`` parses them from kwire's own files, and ``rules.py`` validates them.
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
"""Size in bytes, by type, for types that have the same size in every version."""

VARIABLE_TYPES = ("string", "bytes", "records")


def snake_case(name: str) -> str:
    """Convert a Kafka field name to Python: ``KRaftVersion`` -> ``k_raft_version``.

    An upper-case letter gets an underscore as its prefix if the preceding character is
    a lower-case letter or a digit. It also gets one if the following character is a
    lower-case letter, unless the upper-case letter is the first character of the name.
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

    * ``type``: name of a primitive type or struct. If the field is an array, this is
      the element type without ``[]``.
    * ``struct``: the resolved struct if ``type`` is a struct's name, otherwise None.
    * ``attribute``: Python name of the field.
    * ``default``: the default as the schema writes it, or None if the schema specifies
      no default. The string ``"null"`` is Kafka's notation for a default of null.
    * ``secret``: True if the value must not be printed or recorded, because it is a
      password, a proof or a token, or because it may contain such a secret. Kafka's
      schemas do not have this mark, so kwire adds it.
    * ``position``: (line, column) of the field in its schema text, or (0, 0) if the
      field was not read from text.
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
    """Named list of fields. Several fields can refer to the same common struct."""

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
    """A Kafka message with all its versions.

    * ``struct``: the struct with the message's fields.
    * ``common_structs``: the structs that the schema declares in ``commonStructs``.
    * ``deprecated_versions``, ``listeners``: properties that Kafka specifies for
      requests.
    * ``api_key``: API key, record type or record id, or None if Kafka assigns no
      number.
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
        """Kafka's name for the message."""
        return self.struct.name

    def summary(self) -> str:
        """Return the one-line docstring of the message class.

        It contains the kind, the number and the versions of the message.
        """
        number = "" if self.api_key is None else f" {self.api_key}"
        flexible = self.flexible_versions & self.valid_versions
        versions = f"versions {self.valid_versions}, flexible {flexible}"
        return f"{self.kind.capitalize()}{number}, {versions}."

    def has_secrets(self) -> bool:
        """Return whether a field of the message, at any depth, is secret."""
        structs = (self.struct, *self.structs())
        return any(field.secret for struct in structs for field in struct.fields)

    def structs(self) -> list[Struct]:
        """List the nested structs of the message without repetition.

        Inner structs come before the structs that contain them.
        """
        structs_by_id: dict[int, Struct] = {}

        def visit(struct: Struct) -> None:
            for field in struct.fields:
                if field.struct is not None and id(field.struct) not in structs_by_id:
                    visit(field.struct)
                    structs_by_id[id(field.struct)] = field.struct

        visit(self.struct)
        return list(structs_by_id.values())
