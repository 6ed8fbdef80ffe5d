# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Generates message classes, and exports ``encode`` and ``decode``.

``build_class`` generates the classes for a message and its structs from a schema, using
the active engine. ``encode`` and ``decode`` are the functions of this engine.
"""

from __future__ import annotations

from collections import Counter
from keyword import iskeyword
from types import MappingProxyType

from .._engine.active import engine
from .._text.foreign_names import ATTRIBUTES
from .._text.name_advice import ForeignName
from ..errors import SchemaError
from ..schema import plan
from ..schema.model import Field, Message, Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

decode = engine.decode
encode = engine.encode
binding_of = engine.binding_of

_RESERVED = frozenset(("replace", "to_dict", "unknown_tagged_fields"))


_FOREIGN = {
    name: ForeignName(name, advice) for name, advice in ATTRIBUTES["message"].items()
}


class _MovedStruct:
    """Class attribute that explains where a nested struct is actually available.

    A struct is an attribute of the message, but not of other structs. Accessing this
    attribute raises ``AttributeError`` with the correct name.
    """

    __slots__ = ("_name", "_path")

    def __init__(self, message_name: str, name: str) -> None:
        self._name = name
        self._path = f"{message_name}.{name}"

    def __get__(self, instance: object, owner: type) -> object:
        raise AttributeError(
            f"{owner.__qualname__} has no attribute {self._name}; nested structs are"
            f" attributes of the message: use {self._path}"
        )


def build_class(message: Message, module: str = plan.__package__) -> type:
    """Generate the class for a message. The classes of its structs are attributes.

    Raises ``SchemaError`` with rule ``attribute-taken`` if two fields of a struct have
    the same Python name, if the name is a Python keyword, or if it would hide an
    attribute that every message has.
    """
    binding = plan.Binding(message)
    for struct in message.structs():
        # Only include the structs of direct fields, so that the total size of all
        # classes is linear in the number of fields.
        moved_structs = {
            field.struct.name: _MovedStruct(message.name, field.struct.name)
            for field in struct.fields
            if field.struct is not None
        }
        _make_struct_class(
            struct, f"{message.name}.{struct.name}", module, {}, binding, moved_structs
        )
    # An attribute that is the name of a field reads the field.
    fields = {field.attribute for field in message.struct.fields}
    class_attributes: dict[str, object] = {
        "api_key": message.api_key,
        "kind": message.kind,
        "valid_versions": message.valid_versions,
        "flexible_versions": message.flexible_versions,
        "__doc__": message.summary(),
        **{name: advice for name, advice in _FOREIGN.items() if name not in fields},
        **{struct.name: binding.classes[struct.name] for struct in message.structs()},
    }
    return _make_struct_class(
        message.struct, message.name, module, class_attributes, binding
    )


def _make_struct_class(
    struct: Struct,
    qualname: str,
    module: str,
    facts: dict[str, object],
    binding: plan.Binding,
    moved: Mapping[str, _MovedStruct] = MappingProxyType({}),
) -> type:
    attributes = tuple(field.attribute for field in struct.fields)
    use_counts = Counter(attributes)
    for field in struct.fields:
        name = field.attribute
        is_taken = use_counts[name] > 1 or iskeyword(name)
        if is_taken or name in facts or name in _RESERVED:
            raise SchemaError(
                f"the field's name in Python would be {name!r}, which is in use",
                "attribute-taken",
                field.name,
                binding.message.name,
                *field.position,
            )
    defaults = tuple(_resolve_default(field, binding) for field in struct.fields)
    secrets = frozenset(field.attribute for field in struct.fields if field.secret)
    cls = engine.make_struct(
        struct.name,
        qualname,
        attributes,
        defaults,
        tuple(field.is_array for field in struct.fields),
        {
            **{name: value for name, value in moved.items() if name not in use_counts},
            **{"__module__": module, "_binding": binding, "_secrets": secrets},
            **facts,
        },
    )
    binding.classes[struct.name] = cls
    binding.defaults[struct.name] = defaults
    binding.shared[struct.name] = cls()
    return cls


def _resolve_default(field: Field, binding: plan.Binding) -> object:
    value = plan.resolve_default(field)
    if value is not plan.STRUCT_DEFAULT:
        return value
    return binding.shared[field.type]


def reduce_struct(cls: type, values: tuple[object, ...]) -> tuple[object, ...]:
    """Return the pickle data of a message or struct, which both engines can restore.

    Raises ``TypeError`` if the class was generated from a schema at run time.
    """
    if cls.__module__ != __package__:
        raise TypeError(
            f"{cls.__qualname__} comes from a schema read at run time; pickle its "
            "encoded bytes"
        )
    from .. import messages

    return messages._restore, (cls.__qualname__, values)


engine.bind_pickle(reduce_struct)
