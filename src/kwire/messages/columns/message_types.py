# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Spark types for messages: one struct for all versions of a message.

Types are derived from the schemas, and available as Arrow types, which exactly match
Spark's expectations, and as Spark's schema strings. ``find_message`` resolves a name,
class or API key to a message. ``message_columns.py`` fills the columns.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from ...schema import plan, registry
from ..arrow_types import OF_PLAN, load_arrow_types

if TYPE_CHECKING:
    from ...schema.model import Field, Message, Struct

    Api: TypeAlias = str | type | int

ERROR = "_error"
"""Result field with the reason why a row could not be decoded."""

_SUFFIXES = {"request": "Request", "response": "Response"}

_ARROW_TYPES = load_arrow_types()
_SPARK_NAMES = {kind: name for name, kind in _ARROW_TYPES.items()}


def find_message(api: Api, kind: str = "request") -> str:
    """Return the full name of a message.

    ``api`` is an API name ("Fetch"), a message name ("FetchRequest",
    "ConsumerProtocolSubscription"), a class in ``kwire.messages``, or an API key.
    ``kind`` is "request" or "response". It is ignored if ``api`` implies it. Raises
    ``ValueError`` with the most similar name if there is no such message, or if
    ``kind`` is required and has another value.
    """
    if isinstance(api, type):
        api = api.__name__
    if isinstance(api, int):
        try:
            return registry.find_by_key(api, kind).name
        except KeyError:
            last = registry.keys("request")[-1]
            raise ValueError(
                f"Kafka has no {kind} with API key {api}; keys are 0 to {last}"
            ) from None
    names = registry.names()
    if api in names:
        return api
    suffix = _suffix(kind)
    if f"{api}{suffix}" in names:
        return f"{api}{suffix}"
    apis = [name.removesuffix(suffix) for name in names if name.endswith(suffix)]
    near = get_close_matches(str(api), [*apis, *names], 1)
    hint = f"; did you mean {near[0]}?" if near else "; see kwire.messages.ALL"
    raise ValueError(f"Kafka has no {kind} {api!r:.80}{hint}")


def names_its_version(name: str) -> bool:
    """Whether a framed message contains its version. False only for responses."""
    return registry.find(name).kind != "response"


def _suffix(kind: str) -> str:
    if kind not in _SUFFIXES:
        raise ValueError(
            f'kind must be "request" or "response" (got {kind!r:.80}); name other'
            " messages in full, without a kind"
        )
    return _SUFFIXES[kind]


@cache
def message_facts(name: str) -> Message:
    """Return the schema of a message. The first call loads it."""
    return registry.load(name)


@cache
def compile_version(name: str, version: int) -> plan.Plan:
    """Return the plan of a message version. The first call compiles it."""
    return plan.compile_plan(message_facts(name), version)


@cache
def message_type(name: str) -> pa.StructType:
    """Return the struct type that can hold every version of a message.

    It contains the fields of all versions under their Python names, and each field is
    nullable. Unsigned integers have the next larger signed type, and uuids are strings
    with the 22 characters that Kafka prints.
    """
    return struct_type(message_facts(name).struct)


def struct_type(struct: Struct) -> pa.StructType:
    """Return the type of a nested struct, with the rules of ``message_type``."""
    return pa.struct([(field.attribute, field_type(field)) for field in struct.fields])


def field_type(field: Field) -> pa.DataType:
    """Return the Arrow type of a message field."""
    if field.struct is None:
        kind = _ARROW_TYPES[OF_PLAN[plan.CODES[field.type]]]
    else:
        kind = struct_type(field.struct)
    return make_list_type(kind) if field.is_array else kind


def make_list_type(kind: pa.DataType) -> pa.ListType:
    """Return a list type whose child field is named as in Spark."""
    return pa.list_(pa.field("element", kind))


def with_error(kind: pa.StructType) -> pa.StructType:
    """Return the struct type with the field ``_error`` appended."""
    return pa.struct([*kind, pa.field(ERROR, pa.string())])


def without_error(kind: pa.StructType) -> pa.StructType:
    """Return the struct type without the field ``_error``, if it has this field."""
    return pa.struct([field for field in kind if field.name != ERROR])


def ddl(kind: pa.DataType) -> str:
    """Format an Arrow type as a Spark schema string.

    Types that kwire does not use keep their Arrow name.
    """
    if pa.types.is_struct(kind):
        return f"struct<{_fields(kind)}>"
    if pa.types.is_list(kind):
        return f"array<{ddl(kind.value_type)}>"
    return _SPARK_NAMES.get(kind, str(kind))


def table_ddl(schema: Any) -> str:
    """Format an Arrow schema as the column list of a Spark table."""
    return ", ".join(f"`{field.name}` {ddl(field.type)}" for field in schema)


def _fields(kind: pa.StructType) -> str:
    # Quote field names, because names such as `group` are SQL keywords.
    return ",".join(f"`{field.name}`:{ddl(field.type)}" for field in kind)
