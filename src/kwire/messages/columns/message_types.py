# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The types of messages in Spark: one struct for all versions of a message.

Types are derived from the schemas and spelled as Arrow's, exactly as Spark wants them,
and as Spark's own schema text. Also here: which message is meant by a name, a class or
an API key. ``message_columns.py`` fills the columns.
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
"""The field of a result that says why a row could not be read."""

_SUFFIXES = {"request": "Request", "response": "Response"}

_ARROW_TYPES = load_arrow_types()
_SPARK_NAMES = {kind: name for name, kind in _ARROW_TYPES.items()}


def find_message(api: Api, kind: str = "request") -> str:
    """Find the full name of a message.

    ``api`` is the name of an API ("Fetch") or of a message ("FetchRequest",
    "ConsumerProtocolSubscription"), a class of ``kwire.messages`` or an API key. What
    says no kind has that of ``kind``, "request" or "response".
    ``ValueError`` for what there is not; it names what is nearest.
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
    """Whether a version comes before a message: in a request's header, or alone."""
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
    """Read the schema of a message, once."""
    return registry.load(name)


@cache
def compile_version(name: str, version: int) -> plan.Plan:
    """Compile one version of a message, once."""
    return plan.compile_plan(message_facts(name), version)


@cache
def message_type(name: str) -> pa.StructType:
    """Return the struct that holds every version of a message.

    Its fields are all that any version has, by their names in Python; each may be null.
    Unsigned integers have the next larger signed type, uuids are the 22 characters that
    Kafka prints.
    """
    return struct_type(message_facts(name).struct)


def struct_type(struct: Struct) -> pa.StructType:
    """Return the type of a struct of a message, as ``message_type`` does."""
    return pa.struct([(field.attribute, field_type(field)) for field in struct.fields])


def field_type(field: Field) -> pa.DataType:
    """Return the type of one field."""
    if field.struct is None:
        kind = _ARROW_TYPES[OF_PLAN[plan.CODES[field.type]]]
    else:
        kind = struct_type(field.struct)
    return make_list_type(kind) if field.is_array else kind


def make_list_type(kind: pa.DataType) -> pa.ListType:
    """Return the type of an array; its child has the name that it has in Spark."""
    return pa.list_(pa.field("element", kind))


def with_error(kind: pa.StructType) -> pa.StructType:
    """Append the field for errors."""
    return pa.struct([*kind, pa.field(ERROR, pa.string())])


def without_error(kind: pa.StructType) -> pa.StructType:
    """Remove the field for errors, if there is one."""
    return pa.struct([field for field in kind if field.name != ERROR])


def ddl(kind: pa.DataType) -> str:
    """Spell an Arrow type as Spark's schema text.

    Types that kwire does not make have Arrow's own name.
    """
    if pa.types.is_struct(kind):
        return f"struct<{_fields(kind)}>"
    if pa.types.is_list(kind):
        return f"array<{ddl(kind.value_type)}>"
    return _SPARK_NAMES.get(kind, str(kind))


def table_ddl(schema: Any) -> str:
    """Spell an Arrow schema as the columns of a table of Spark."""
    return ", ".join(f"`{field.name}` {ddl(field.type)}" for field in schema)


def _fields(kind: pa.StructType) -> str:
    # In quotes: `group` and others are words of SQL.
    return ",".join(f"`{field.name}`:{ddl(field.type)}" for field in kind)
