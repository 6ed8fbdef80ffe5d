# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles a message and a version into a plan: its fields on the wire, in order.

``compile_plan`` is the only place in kwire that knows what ``versions``,
``nullableVersions``, ``taggedVersions``, ``flexibleVersions``, ``ignorable`` and
``default`` mean. The engines, the JSON form, the stubs and the tools work on finished
plans and never look at the ranges of a schema.

A plan is a tree. Each ``Step`` is one field in schema order, and a step of struct type
has the plan of that struct. Version 4 of HeartbeatRequest has the plan

    slot  attribute          code    place    compact  nullable  least bytes
    0     group_id           STRING  PRESENT  yes      no        1
    1     generation_id      INT32   PRESENT  yes      no        4
    2     member_id          STRING  PRESENT  yes      no        1
    3     group_instance_id  STRING  PRESENT  yes      yes       1
          tag section: flexible, no known tags                   1

Plans have no classes in them: a ``Binding`` holds those that an engine made.
"""

from __future__ import annotations

from ..errors import SchemaError, version_failure
from .model import FIXED_SIZES, Field, Message, Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

(
    BOOL,
    INT8,
    INT16,
    UINT16,
    INT32,
    UINT32,
    INT64,
    FLOAT64,
    UUID,
    STRING,
    BYTES,
    RECORDS,
    STRUCT,
) = range(1, 14)
"""The type of a step. Types up to ``UUID`` have the same size everywhere."""

CODES = {
    "bool": BOOL,
    "int8": INT8,
    "int16": INT16,
    "uint16": UINT16,
    "int32": INT32,
    "uint32": UINT32,
    "int64": INT64,
    "float64": FLOAT64,
    "uuid": UUID,
    "string": STRING,
    "bytes": BYTES,
    "records": RECORDS,
}
SIZES = {CODES[name]: size for name, size in FIXED_SIZES.items()}
"""Bytes of each fixed-size type."""

LONGEST_STRING = 32767
"""Bytes of UTF-8 that Kafka allows in a string, in both forms of its length."""

INT_RANGES = {
    INT8: (-(2**7), 2**7 - 1),
    INT16: (-(2**15), 2**15 - 1),
    UINT16: (0, 2**16 - 1),
    INT32: (-(2**31), 2**31 - 1),
    UINT32: (0, 2**32 - 1),
    INT64: (-(2**63), 2**63 - 1),
}

_CLASSIC_LEAST = {STRING: 2, BYTES: 4, RECORDS: 4}

PRESENT, TAGGED, ABSENT, IGNORED = range(4)
"""Where a version has a field: in line, in the tag section, or nowhere. If nowhere, a
value other than the default is an error (ABSENT) or is not written (IGNORED)."""


class _StructDefault:
    """The type of ``STRUCT_DEFAULT``: a struct with all its defaults."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "STRUCT_DEFAULT"


STRUCT_DEFAULT = _StructDefault()


class Step:
    """One field of a struct in one version.

    ``slot`` is its index among the struct's fields, ``code`` its type (of the elements
    if ``is_array``). If ``compact``, its lengths are unsigned varints; if ``nullable``,
    this version can carry null. ``least`` is the smallest size in bytes of the field in
    line, ``element_least`` that of one element. ``plan`` is the plan of the struct it
    holds. A ``secret`` field is not printed.
    """

    __slots__ = (
        "attribute",
        "code",
        "compact",
        "default",
        "element_least",
        "is_array",
        "least",
        "name",
        "nullable",
        "place",
        "plan",
        "secret",
        "slot",
        "tag",
    )

    attribute: str
    code: int
    compact: bool
    default: object
    element_least: int
    is_array: bool
    least: int
    name: str
    nullable: bool
    place: int
    plan: Plan | None
    secret: bool
    slot: int
    tag: int

    @property
    def is_fixed(self) -> bool:
        """Whether the field is in line and has the same size whatever its value."""
        return self.place == PRESENT and not self.is_array and self.code <= UUID


WORDS = {
    BOOL: "a bool",
    INT8: "an int8",
    INT16: "an int16",
    UINT16: "a uint16",
    INT32: "an int32",
    UINT32: "a uint32",
    INT64: "an int64",
    FLOAT64: "a float",
    UUID: "a uuid.UUID",
    STRING: "a str",
    BYTES: "bytes",
    RECORDS: "bytes",
}


def describe_expected(step: Step, element: bool) -> str:
    """Describe the values that a field takes, or its elements, for an error."""
    words = WORDS.get(step.code) or (f"a {step.plan.name}" if step.plan else "")
    if step.is_array and not element:
        words = f"a sequence, each element {words}"
    return f"{words} or None" if step.nullable and not element else words


def mask_secret(value: object) -> str:
    """Return the text that is printed in place of a secret: ``<12 bytes, secret>``."""
    if value is None:
        return "None"
    if isinstance(value, str):
        size, unit = len(value), "character"
    elif isinstance(value, (bytes, bytearray, memoryview)):
        with memoryview(value) as view:
            size, unit = view.nbytes, "byte"
    else:
        return f"<{type(value).__name__}, secret>"
    return f"<{size} {unit}{'' if size == 1 else 's'}, secret>"


class Plan:
    """One struct in one version.

    ``steps`` are all its fields in schema order, ``tagged`` those in the tag section
    in ascending order, ``invalid_tags`` the tags that the schema knows but this
    version must not carry. ``least`` is the smallest size of the struct in bytes.
    """

    __slots__ = (
        "flexible",
        "invalid_tags",
        "least",
        "steps",
        "struct",
        "tagged",
        "version",
    )

    def __init__(self, struct: Struct, version: int, flexible: bool) -> None:
        self.struct = struct
        self.version = version
        self.flexible = flexible
        self.steps: tuple[Step, ...] = ()
        self.tagged: tuple[Step, ...] = ()
        self.invalid_tags: tuple[int, ...] = ()
        self.least = 0

    @property
    def name(self) -> str:
        """Kafka's name of the struct or message."""
        return self.struct.name


def compile_plan(message: Message, version: int) -> Plan:
    """Compile the plan of one version of a message.

    Raises ``SchemaError`` for a layout that no decoder could read safely: an array
    whose elements may take no bytes at all. ``version`` has to be valid.
    """
    plans: dict[int, Plan] = {}
    flexible = version in message.flexible_versions

    def plan_of(struct: Struct) -> Plan:
        plan = plans.get(id(struct))
        if plan is None:
            plan = plans[id(struct)] = Plan(struct, version, flexible)
            steps = [
                _step(field, slot, version, flexible, plan_of)
                for slot, field in enumerate(struct.fields)
            ]
            plan.steps = tuple(steps)
            tagged = [step for step in steps if step.place == TAGGED]
            plan.tagged = tuple(sorted(tagged, key=lambda step: step.tag))
            plan.invalid_tags = tuple(
                field.tag
                for field in struct.fields
                if field.tag is not None and version not in field.tagged_versions
            )
            plan.least = flexible + sum(
                step.least for step in steps if step.place == PRESENT
            )
        return plan

    return plan_of(message.struct)


def _step(
    field: Field,
    slot: int,
    version: int,
    flexible: bool,
    plan_of: Callable[[Struct], Plan],
) -> Step:
    step = Step()
    step.name = field.name
    step.attribute = field.attribute
    step.slot = slot
    step.is_array = field.is_array
    step.secret = field.secret
    step.default = resolve_default(field)
    step.tag = -1 if field.tag is None else field.tag
    if version not in field.versions:
        step.place = IGNORED if field.ignorable else ABSENT
    elif version in field.tagged_versions:
        step.place = TAGGED
    else:
        step.place = PRESENT
    step.nullable = version in field.nullable_versions
    step.compact = flexible
    if field.flexible_versions is not None:
        step.compact = version in field.flexible_versions
    step.plan = None
    if field.struct is None:
        step.code = CODES[field.type]
        step.element_least = SIZES.get(step.code, 0) or (
            1 if step.compact else _CLASSIC_LEAST[step.code]
        )
    else:
        step.code = STRUCT
        step.element_least = 0
        if step.place in (PRESENT, TAGGED):
            step.plan = plan_of(field.struct)
            step.element_least = step.plan.least
    if not field.is_array:
        # A nullable struct is at least its marker byte, and may be no more.
        step.least = 1 if step.plan and step.nullable else step.element_least
    else:
        step.least = 1 if step.compact else 4
        if step.place in (PRESENT, TAGGED) and not step.element_least:
            raise SchemaError(
                f"elements of this array take no bytes in version {version}",
                "empty-element",
                field.name,
                "",
                *field.position,
            )
    return step


def memory_factor(
    layout: Plan, *, compiled: bool = True, zero_copy: bool = False
) -> int:
    """Compute how many bytes of memory decoding may allocate for each byte of input.

    Decoding ``n`` bytes allocates at most ``n`` times this factor, and 64 KiB. It is
    the least whole number at which no element of an array, and no unknown tag, needs
    more memory than its bytes allow, whatever the values are. The engine in plain
    Python (not ``compiled``) has larger objects.
    """
    sizes = _object_sizes(compiled, zero_copy)
    # Text may take four bytes for each byte while it is read, twice.
    factor = 8
    while not _is_enough(layout, factor, sizes):
        factor += 1
    return factor


class _ObjectSizes:
    """Sizes of CPython's objects in bytes, with the header of the garbage collector."""

    __slots__ = (
        "bytes",
        "fixed",
        "head",
        "listed",
        "lists",
        "slot",
        "text",
        "tuple",
        "view",
    )

    bytes: int
    fixed: dict[int, int]
    head: int
    listed: int
    lists: bool
    slot: int
    text: int
    tuple: int
    view: int


def _object_sizes(compiled: bool, zero_copy: bool) -> _ObjectSizes:
    from sys import getsizeof

    sizes = _ObjectSizes()
    sizes.slot = tuple.__itemsize__
    sizes.tuple = getsizeof(())
    collected = sizes.tuple - tuple.__basicsize__
    sizes.head = object.__basicsize__ + (0 if compiled else collected)
    # A list grows by an eighth more than it requires.
    sizes.listed = sizes.slot + sizes.slot // 8
    sizes.lists = not compiled
    sizes.text = getsizeof("\u0100")
    sizes.bytes = getsizeof(b"ab")
    sizes.view = getsizeof(memoryview(b"")) if zero_copy else 0
    uuid = object.__basicsize__ + collected + 3 * sizes.slot
    # Ints of one digit are given the room of two.
    sizes.fixed = {
        code: getsizeof(max(high, 2**31)) for code, (low, high) in INT_RANGES.items()
    } | {BOOL: 0, FLOAT64: getsizeof(1.5), UUID: uuid + getsizeof(2**127)}
    return sizes


def _is_enough(layout: Plan, factor: int, sizes: _ObjectSizes) -> bool:
    """Whether no element of an array needs more memory than ``factor`` allows.

    The inner functions return by how much a value exceeds that, at the most.
    """
    dearest = 0

    def content(step: Step) -> int:
        if step.code <= UUID:
            return sizes.fixed[step.code] - factor * SIZES[step.code]
        if step.plan is not None:
            return struct(step.plan)
        length = 1 if step.compact else _CLASSIC_LEAST[step.code]
        if step.code == STRING:
            # Nothing and single bytes are shared; two may be one larger character.
            return max(0, sizes.text - 2 * factor) - length * factor
        if sizes.view:
            return sizes.view - length * factor
        return max(0, sizes.bytes - 2 * factor) - length * factor

    def elements(each: int, listed: bool) -> int:
        nonlocal dearest
        dearest = max(dearest, each + (sizes.listed if listed else 0))
        return max(0, sizes.tuple + each)

    def value(step: Step) -> int:
        if step.is_array:
            length = 1 if step.compact else 4
            listed = sizes.lists and step.code >= UUID
            return elements(sizes.slot + content(step), listed) - length * factor
        if step.plan is not None and step.nullable:
            return max(0, content(step)) - factor
        return content(step)

    def struct(layout: Plan) -> int:
        cost = sizes.head + sizes.slot * (len(layout.steps) + 1)
        for step in layout.steps:
            if step.place == PRESENT:
                cost += value(step)
            elif step.place == TAGGED:
                cost += max(0, value(step) - 2 * factor)
        if layout.flexible:
            pair = sizes.tuple + 3 * sizes.slot - 2 * factor
            # The number of a tag is shared or has two bytes; so is what it holds.
            pair += max(0, sizes.fixed[INT32] - factor)
            pair += max(0, sizes.bytes - 2 * factor)
            cost += elements(pair, True) - factor
        return cost

    struct(layout)
    return dearest == 0


def resolve_default(field: Field) -> object:
    """Resolve the default value of a field, the same in all versions.

    A struct's own default is ``STRUCT_DEFAULT``; each engine puts its instance there.
    Source: ``FieldSpec`` and section "defaults" of Kafka's message language.
    """
    text = field.default
    if text == "null" and (field.struct or field.is_array or field.type in _NULLABLE):
        return None
    if field.is_array:
        return ()
    if field.struct is not None:
        return STRUCT_DEFAULT
    kind = field.type
    if kind == "string":
        return text or ""
    if kind == "bytes":
        return b""
    if kind == "records":
        return None
    if kind == "bool":
        return text is not None and text.lower() == "true"
    if kind == "float64":
        return float(text or 0)
    if kind == "uuid":
        return _uuid(text)
    return int(text, 16 if "x" in text.lower() else 10) if text else 0


_NULLABLE = frozenset(("string", "bytes", "records"))


def _uuid(text: str | None) -> object:
    import uuid

    if not text:
        return uuid.UUID(int=0)
    import base64

    return uuid.UUID(bytes=base64.urlsafe_b64decode(text + "=="))


class Binding:
    """A message with the classes that one engine made for its structs.

    ``classes`` goes from struct name to class, the message's own included, and
    ``defaults`` from struct name to the default of each field, structs as instances;
    ``shared`` has the default instance of each struct. ``programs`` belongs to the
    engine: what it made of the plan of each version that was used.
    """

    __slots__ = ("classes", "defaults", "message", "programs", "shared")

    def __init__(self, message: Message) -> None:
        self.message = message
        self.shared: dict[str, object] = {}
        self.classes: dict[str, type] = {}
        self.defaults: dict[str, tuple[object, ...]] = {}
        self.programs: dict[int, Any] = {}

    def number(self, version: object) -> int:
        """Check a version and make it a plain int; ``UnsupportedVersion`` otherwise."""
        try:
            number: int = version.__index__()  # type: ignore[attr-defined]
        except (AttributeError, TypeError):
            number = -1
        if number not in self.message.valid_versions:
            raise version_failure(
                self.message.name, self.message.valid_versions, version
            )
        return number

    def plan(self, version: object) -> Plan:
        """Return the plan of one version; ``UnsupportedVersion`` if there is none.

        It is compiled, unless the engine has used the version and keeps its plan.
        """
        number = self.number(version)
        program = self.programs.get(number)
        if program is None:
            return compile_plan(self.message, number)
        layout: Plan = program.layout
        return layout


_API_VERSIONS = 18
_CONTROLLED_SHUTDOWN = 7


def request_header_version(message: Message, version: int) -> int:
    """Return the version of the header of a request.

    2 before flexible versions, 1 before others; ControlledShutdown version 0 is older
    than client ids and has 0. The version need not be one that kwire knows.
    Source: KIP-482, ``ApiKeys.requestHeaderVersion``.
    """
    if message.api_key == _CONTROLLED_SHUTDOWN and version == 0:
        return 0
    return 2 if version in message.flexible_versions else 1


def response_header_version(message: Message, version: int) -> int:
    """Return the version of the header of a response.

    1 before flexible versions, else 0; ApiVersions always has 0, as its reader may
    not yet know what the broker speaks. Source: KIP-511.
    """
    if message.api_key == _API_VERSIONS:
        return 0
    return 1 if version in message.flexible_versions else 0


def reads_newer_versions(message: Message) -> bool:
    """Whether a version above the highest is read as the highest one.

    Members of one consumer group may be of different releases, so the consumer
    protocol only ever appends fields. Source: ``ConsumerProtocol``.
    """
    return message.name.startswith("ConsumerProtocol")
