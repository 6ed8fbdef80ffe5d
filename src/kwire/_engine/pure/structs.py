# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Creates struct classes: immutable, keyword-only, compared by class and value.

``make_struct`` creates one class for all versions of a struct. Each class has a builder
class with the same slots, whose objects are mutable. Decoders fill the slots of a
builder and then assign the struct class to it, which is faster than any constructor
call.

Twin: ``fast/structs.pyx``. Differs from its twin in: there is a builder class. In C,
the slots are filled before any other code can access the object.
"""

from __future__ import annotations

from operator import attrgetter

from ...schema import plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SEALED = "messages are frozen; use replace() to get a changed copy"

_pickle: dict[str, Any] = {}


def bind_pickle(reduce_struct: Any) -> None:
    """Set the function that describes a struct for pickle.

    The function needs the module of the messages. The engine cannot import this module,
    because it imports the engine.
    """
    _pickle["reduce"] = reduce_struct


def make_struct(
    name: str,
    qualname: str,
    attributes: tuple[str, ...],
    defaults: tuple[object, ...],
    arrays: tuple[bool, ...],
    namespace: dict[str, Any],
    tagged: bool = True,
) -> type:
    """Create the class of a struct.

    * ``attributes``: field names in schema order.
    * ``defaults``: field defaults. Structs are instances, which all objects share.
    * ``arrays``: True for each field that contains an array.
    * ``namespace``: other attributes of the class: ``__module__``, facts about the
      message, and ``_secrets``, the field names that ``repr`` masks.
    * ``tagged``: add a slot for unknown tagged fields. True for structs of messages,
      False for records and batches.
    """
    slots = (*attributes, "unknown_tagged_fields") if tagged else attributes
    builder = type(f"{name}Builder", (), {"__slots__": slots})
    # No field name begins with an underscore, so these names cannot collide with
    # fields.
    names = {
        "_builder": builder,
        "_array": _array,
        "_tags": _tags,
        "_defaults": defaults,
    }
    lines = ["def __new__(_cls, *"]
    for index, attribute in enumerate(attributes):
        lines.append(f", {attribute}=_defaults[{index}]")
    lines.append(", unknown_tagged_fields=()" if tagged else "")
    lines.append("):\n  _made = _builder()\n")
    for attribute, is_array in zip(attributes, arrays, strict=True):
        value = f"_array({attribute})" if is_array else attribute
        lines.append(f"  _made.{attribute} = {value}\n")
    if tagged:
        lines.append("  _made.unknown_tagged_fields = _tags(unknown_tagged_fields)\n")
    lines.append("  _made.__class__ = _cls\n  return _made\n")
    made: dict[str, Any] = {}
    exec("".join(lines), names, made)  # names come from checked schemas
    made["__new__"].__qualname__ = name
    values = attrgetter(*slots) if attributes else _only_tags
    body: dict[str, Any] = {
        "__slots__": slots,
        "__new__": made["__new__"],
        "__qualname__": qualname,
        "__match_args__": attributes,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__init_subclass__": classmethod(_refuse_subclass),
        "__repr__": _repr,
        "__eq__": _equal,
        "__hash__": _hash,
        "__reduce__": _reduce,
        "__copy__": return_self,
        "__deepcopy__": return_self,
        "__replace__": replace,
        "replace": replace,
        "to_dict": to_dict,
        # Spark and vars() read the fields of an object from __dict__.
        "__dict__": property(to_dict, doc="The fields, as ``to_dict`` returns them."),
        **namespace,
    }
    body["_values"] = staticmethod(values)
    body["_builder"] = builder
    return type(name, (), body)


def replace(self: Any, /, **changes: object) -> Any:
    """Return a copy with some fields changed."""
    struct = type(self)
    names = struct.__slots__
    fields = dict(zip(names, struct._values(self), strict=True))
    return struct(**(fields | changes))


def to_dict(self: Any, /) -> dict[str, Any]:
    """Return the fields as plain dicts, lists and values, at any depth."""
    fields = {name: plain(getattr(self, name)) for name in self.__match_args__}
    if len(self.__slots__) > len(self.__match_args__) and self.unknown_tagged_fields:
        fields["unknown_tagged_fields"] = list(self.unknown_tagged_fields)
    return fields


def plain(value: Any) -> Any:
    """Convert a struct to a dict and an array to a list.

    Other values are returned unchanged.
    """
    if is_struct(value):
        return value.to_dict()
    if not isinstance(value, tuple):
        return value
    elements = []
    for element in value:
        if is_struct(element):
            element = element.to_dict()
        elements.append(element)
    return elements


def is_struct(value: object) -> bool:
    """Return whether the class of a value was created by ``make_struct``."""
    return hasattr(type(value), "_builder")


def return_self(self: Any, memo: object = None) -> Any:
    """Return the struct itself as its copy, because it cannot change."""
    return self


def binding_of(cls: Any) -> plan.Binding:
    """Return the binding of a message class. Raises ``TypeError`` for other objects."""
    binding = getattr(cls, "_binding", None)
    if not isinstance(cls, type) or type(binding) is not plan.Binding:
        raise plan.make_class_error(cls)
    return binding


def _array(value: object) -> object:
    if value is None or type(value) is tuple:
        return value
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        kind = type(value).__name__
        raise TypeError(f"an array must be a sequence of its elements (got {kind})")
    return tuple(value)  # type: ignore[arg-type]


def _tags(value: object) -> object:
    return value if type(value) is tuple else tuple(value)  # type: ignore[arg-type]


def _only_tags(self: Any) -> tuple[object, ...]:
    return (self.unknown_tagged_fields,)


def _refuse(self: object, *args: object) -> None:
    raise AttributeError(_SEALED)


def _refuse_subclass(cls: type, /, **kwargs: object) -> None:
    raise TypeError(f"{cls.__mro__[1].__name__} is final")


def _repr(self: Any) -> str:
    secrets = getattr(type(self), "_secrets", ())
    fields = []
    for name in self.__match_args__:
        value = getattr(self, name)
        text = plan.mask_secret(value) if name in secrets else repr(value)
        fields.append(f"{name}={text}")
    if len(self.__slots__) > len(self.__match_args__) and self.unknown_tagged_fields:
        fields.append(f"unknown_tagged_fields={self.unknown_tagged_fields!r}")
    return f"{type(self).__name__}({', '.join(fields)})"


def _equal(self: Any, other: Any) -> Any:
    struct: Any = type(self)
    if type(other) is not struct:
        return NotImplemented
    return bool(struct._values(self) == struct._values(other))


def _hash(self: Any) -> int:
    return hash((type(self).__qualname__, self._values(self)))


def _reduce(self: Any) -> tuple[Any, ...]:
    described: tuple[Any, ...] = _pickle["reduce"](type(self), self._values(self))
    return described
