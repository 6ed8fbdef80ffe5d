# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Converts messages to JSON objects and back, like Kafka's ``JsonConverter``.

Objects contain Kafka's field names in camel case. Bytes are base64, uuids are the 22
characters that Kafka prints, and floats without a JSON representation are the strings
``"NaN"``, ``"Infinity"`` and ``"-Infinity"``. The module ``json`` converts objects to
text. The plan determines a version's fields, and the encoder validates the values.
"""

from __future__ import annotations

import base64
import math
import operator
from typing import Any, NoReturn

from .. import errors
from .._engine.active import engine
from ..schema import plan


def to_json(message: Any, version: int) -> dict[str, Any]:
    """Convert a message to the object that Kafka's ``JsonConverter`` creates.

    The result consists of dictionaries, lists and scalars, and is suitable for
    ``json.dumps``. Tagged fields with their default value are omitted, and so are
    fields that the version does not have. As in Kafka, unknown tagged fields are lost,
    and the content of records fields is replaced by ``""``. Time is linear in the
    message size, because the message is encoded once for validation.
    Raises ``EncodeError`` or ``UnsupportedVersion`` in the same cases as ``encode``,
    because a message without an encoding has no JSON representation.
    """
    engine.encode(message, version)
    binding = engine.binding_of(type(message))
    return _write_struct(message, binding.plan(version), binding)


def from_json(cls: type, obj: Any, version: int) -> Any:
    """Convert a JSON object, for example from ``json.loads``, to a message.

    All untagged fields of the version are required. If a tagged field is missing, it
    has its default. Records fields are parsed as base64, like bytes. This function is
    stricter than Kafka's reader, which ignores unknown keys and accepts some integers
    that overflow. ``encode`` accepts every message that this function returns.
    Raises ``InvalidValue`` with the field path (its ``offset`` is 0, because there are
    no bytes), ``UnsupportedVersion`` if the message does not have this version, and
    ``TypeError`` if ``cls`` is a nested struct.
    """
    binding = engine.binding_of(cls)
    if cls is not binding.classes[binding.message.name]:
        raise TypeError(f"{cls.__qualname__} is a struct of a message, not a message")
    layout = binding.plan(version)
    return _Reader(binding, version).read_struct(obj, layout, "")


def _make_key(step: plan.Step) -> str:
    return step.name[0].lower() + step.name[1:]


def _write_struct(
    value: Any, layout: plan.Plan, binding: plan.Binding
) -> dict[str, Any]:
    defaults = binding.defaults[layout.name]
    fields = {}
    for step in layout.steps:
        if step.place not in (plan.PRESENT, plan.TAGGED):
            continue
        field = getattr(value, step.attribute)
        if step.place == plan.TAGGED and field == defaults[step.slot]:
            continue
        if field is not None and step.is_array:
            field = [_write_value(element, step, binding) for element in field]
        elif field is not None:
            field = _write_value(field, step, binding)
        fields[_make_key(step)] = field
    return fields


def _write_value(value: Any, step: plan.Step, binding: plan.Binding) -> object:
    """Convert a value that is not null. Encoding has already validated its type."""
    if step.plan is not None:
        return _write_struct(value, step.plan, binding)
    if step.code in plan.INT_RANGES:
        return int(operator.index(value))
    if step.code == plan.UUID:
        return _format_uuid(value.bytes)
    if step.code == plan.BYTES:
        return base64.b64encode(value).decode()
    if step.code == plan.RECORDS:
        return ""
    if step.code == plan.FLOAT64:
        number = float(value)
        return number if math.isfinite(number) else _NOT_FINITE_NAMES[str(number)]
    return value


_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_NOT_FINITE_NAMES = {str(number): name for name, number in _NOT_FINITE.items()}

_WORDS = {
    plan.BOOL: "true or false",
    plan.FLOAT64: "a number",
    plan.UUID: "a uuid as Kafka prints it, 22 characters of URL-safe base64",
    plan.STRING: "a string",
    plan.BYTES: "a string of base64",
    plan.RECORDS: "a string of base64",
    plan.STRUCT: "an object",
} | {
    code: f"an integer from {low} to {high}"
    for code, (low, high) in plan.INT_RANGES.items()
}


class _Reader:
    """Parser for one message.

    The methods receive the path of their value as a parameter.
    """

    __slots__ = ("binding", "version")

    def __init__(self, binding: plan.Binding, version: int) -> None:
        self.binding = binding
        self.version = version

    def read_struct(self, value: object, layout: plan.Plan, path: str) -> Any:
        if not isinstance(value, dict):
            self.reject(_WORDS[plan.STRUCT], value, path)
        prefix = f"{path}." if path else ""
        fields = {}
        keys = set()
        for step in layout.steps:
            key = _make_key(step)
            field_path = prefix + step.attribute
            keys.add(key)
            if key not in value:
                if step.place == plan.PRESENT:
                    self.fail(f"this version requires the key {key!r}", field_path)
            elif step.place not in (plan.PRESENT, plan.TAGGED):
                self.fail(f"this version has no key {key!r}", field_path)
            else:
                fields[step.attribute] = self.read_field(value[key], step, field_path)
        for key in value:
            if key not in keys:
                self.fail(f"{layout.name} has no key {_describe(key)}", path)
        return self.binding.classes[layout.name](**fields)

    def read_field(self, value: object, step: plan.Step, path: str) -> object:
        if value is None and step.nullable:
            return None
        null = " or null" if step.nullable else ""
        if not step.is_array:
            return self.read_value(value, step, path, null)
        if not isinstance(value, list):
            self.reject(f"an array{null}", value, path, step)
        return tuple(
            self.read_value(element, step, f"{path}[{index}]", "")
            for index, element in enumerate(value)
        )

    def read_value(
        self, value: object, step: plan.Step, path: str, null: str
    ) -> object:
        if step.plan is not None and isinstance(value, dict):
            return self.read_struct(value, step.plan, path)
        scalar = _read_scalar(value, step.code)
        if scalar is None:
            self.reject(_WORDS[step.code] + null, value, path, step)
        if step.code == plan.STRING:
            self.check_text(str(scalar), path)
        return scalar

    def check_text(self, text: str, path: str) -> None:
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            self.fail("text with a lone surrogate, which UTF-8 cannot carry", path)
        if size > plan.LONGEST_STRING:
            self.fail(
                f"a string of {size} bytes exceeds Kafka's limit of"
                f" {plan.LONGEST_STRING}",
                path,
            )

    def reject(
        self, words: str, value: object, path: str, step: plan.Step | None = None
    ) -> NoReturn:
        """Raise an error that contains the unexpected value, unless it is secret."""
        if step is None or step.plan is not None:
            is_secret = self.binding.message.has_secrets()
        else:
            is_secret = step.secret
        description = plan.mask_secret(value) if is_secret else _describe(value)
        self.fail(f"expected {words}, got {description}", path)

    def fail(self, reason: str, path: str) -> NoReturn:
        name = self.binding.message.name
        raise errors.InvalidJson(reason, 0, path, name, self.version)


def _read_scalar(value: object, code: int) -> object:
    """Parse a value that is neither array nor struct.

    Returns None if it is not valid.
    """
    if code in plan.INT_RANGES:
        low, high = plan.INT_RANGES[code]
        return value if type(value) is int and low <= value <= high else None
    if code == plan.BOOL:
        return value if isinstance(value, bool) else None
    if code == plan.FLOAT64:
        return _read_float(value)
    if not isinstance(value, str):
        return None
    if code == plan.STRING:
        return value
    if code == plan.UUID:
        return _read_uuid(value)
    if code in (plan.BYTES, plan.RECORDS):
        return _read_base64(value)
    return None


def _read_float(value: object) -> float | None:
    if isinstance(value, str):
        return _NOT_FINITE.get(value)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _read_base64(text: str) -> bytes | None:
    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    # The strictness of ``validate`` depends on the Python release, so compare the
    # result.
    return raw if base64.b64encode(raw).decode() == text else None


def _read_uuid(text: str) -> object:
    raw = _read_base64(text.replace("-", "+").replace("_", "/") + "==")
    if raw is None or len(raw) != 16 or _format_uuid(raw) != text:
        return None
    import uuid

    return uuid.UUID(bytes=raw)


def _format_uuid(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _describe(value: object) -> str:
    """Describe a value with JSON terminology on one short line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    if isinstance(value, str):
        return repr(value) if len(value) <= 40 else f"{value[:37]!r}..."
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, (int, float)):
        return str(value)
    return f"a Python {type(value).__name__}"
