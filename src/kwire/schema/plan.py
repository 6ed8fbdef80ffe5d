# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles a message and a version into a plan: its fields on the wire, in order.

Only ``compile_plan`` interprets ``versions``, ``nullableVersions``, ``taggedVersions``,
``flexibleVersions``, ``ignorable`` and ``default``. The engines, the JSON format, the
type stubs and the tools use compiled plans and never read the version ranges of a
schema.

A plan is a tree. A ``Step`` represents one field, in schema order. If the field is a
struct, its step contains the struct's plan. For example, HeartbeatRequest version 4 has
this plan:

    slot  attribute          code    place    compact  nullable  minimum bytes
    0     group_id           STRING  PRESENT  yes      no        1
    1     generation_id      INT32   PRESENT  yes      no        4
    2     member_id          STRING  PRESENT  yes      no        1
    3     group_instance_id  STRING  PRESENT  yes      yes       1
          tag section: flexible, no known tags                   1

Plans contain no message classes. A ``Binding`` contains the classes of one engine.
"""

from __future__ import annotations

from ..errors import SchemaError, version_failure
from .model import FIXED_SIZES, Field, Message, Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
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
"""Type of a step. Types up to ``UUID`` have a fixed size."""

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
"""Size of a fixed-size type in bytes, by type code."""

LONGEST_STRING = 32767
"""Kafka's maximum string length in UTF-8 bytes, for classic and compact strings."""

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
"""Location of a field in a version.

* ``PRESENT``: the field is inline.
* ``TAGGED``: the field is in the tag section.
* ``ABSENT``: the version does not contain the field. Encoding a value other than the
  default is an error.
* ``IGNORED``: the version does not contain the field. Its value is not written.
"""


class _StructDefault:
    """Type of ``STRUCT_DEFAULT``, which represents a struct with default values."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "STRUCT_DEFAULT"


STRUCT_DEFAULT = _StructDefault()


class Step:
    """One field of a struct in one version.

    * ``slot``: index of the field in its struct.
    * ``code``: type of the field. If ``is_array``, the element type.
    * ``compact``: whether lengths are encoded as unsigned varints.
    * ``nullable``: whether this version supports null.
    * ``place``: location of the field: ``PRESENT``, ``TAGGED``, ``ABSENT`` or
      ``IGNORED``.
    * ``least``: minimum size of the inline field in bytes.
    * ``element_least``: minimum size of one element in bytes.
    * ``plan``: plan of the struct that the field contains. None if it contains no
      struct, or if the version does not have the field.
    * ``tag``: number of the tag, or -1 if the field has none.
    * ``secret``: whether the value must not be printed.
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
        """Whether the field is inline and has the same size for all values."""
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
    """Describe the values that a field or its elements accept, for an error message."""
    words = WORDS.get(step.code) or (f"a {step.plan.name}" if step.plan else "")
    if step.is_array and not element:
        words = f"a sequence, each element {words}"
    return f"{words} or None" if step.nullable and not element else words


def mask_secret(value: object) -> str:
    """Return the text that is printed instead of a secret: ``<12 bytes, secret>``."""
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

    * ``steps``: all fields in schema order.
    * ``tagged``: fields in the tag section, in ascending order of their tags.
    * ``invalid_tags``: tags of the schema that this version must not contain.
    * ``least``: minimum size of the struct in bytes.
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
    """Compile the plan for one message version. The version must be valid.

    Raises ``SchemaError`` if an array can have elements of 0 bytes. A decoder could not
    process such a layout safely, because the input size would not limit the array
    length.
    """
    plans: dict[int, Plan] = {}
    flexible = version in message.flexible_versions

    def plan_of(struct: Struct) -> Plan:
        plan = plans.get(id(struct))
        if plan is None:
            plan = plans[id(struct)] = Plan(struct, version, flexible)
            steps = [
                _compile_step(field, slot, version, flexible, plan_of)
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


def _compile_step(
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
        # A null struct is encoded as a marker byte only, so this is the minimum.
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
    """Compute the maximum memory that decoding allocates per byte of input.

    Decoding ``n`` bytes allocates at most ``n`` times this factor plus 64 KiB. The
    factor is the smallest integer that covers the memory of every array element and
    every unknown tag, for all possible values. The objects of the Python engine
    (``compiled=False``) are larger.
    """
    sizes = _object_sizes(compiled, zero_copy)
    # While text is decoded, there can be two copies that occupy four bytes per input
    # byte.
    factor = 8
    while not _is_enough(layout, factor, sizes):
        factor += 1
    return factor


class _ObjectSizes:
    """Sizes of CPython objects in bytes, including garbage collector headers."""

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
    # When a list grows, it allocates one eighth more than its length requires.
    sizes.listed = sizes.slot + sizes.slot // 8
    sizes.lists = not compiled
    sizes.text = getsizeof("\u0100")
    sizes.bytes = getsizeof(b"ab")
    sizes.view = getsizeof(memoryview(b"")) if zero_copy else 0
    uuid = object.__basicsize__ + collected + 3 * sizes.slot
    # CPython allocates two digits even if an int needs only one, so measure integer
    # types with a value that has two digits.
    sizes.fixed = {
        code: getsizeof(max(high, 2**31)) for code, (low, high) in INT_RANGES.items()
    } | {BOOL: 0, FLOAT64: getsizeof(1.5), UUID: uuid + getsizeof(2**127)}
    return sizes


def _is_enough(layout: Plan, factor: int, sizes: _ObjectSizes) -> bool:
    """Return whether all array elements fit into the memory that ``factor`` allows.

    The inner functions return the maximum number of bytes by which a value exceeds the
    memory that ``factor`` allows for it.
    """
    max_excess = 0

    def content(step: Step) -> int:
        if step.code <= UUID:
            return sizes.fixed[step.code] - factor * SIZES[step.code]
        if step.plan is not None:
            return struct(step.plan)
        length = 1 if step.compact else _CLASSIC_LEAST[step.code]
        if step.code == STRING:
            # Empty strings and ASCII characters are shared objects. The smallest input
            # that allocates a string has two bytes, which encode one non-ASCII
            # character.
            return max(0, sizes.text - 2 * factor) - length * factor
        if sizes.view:
            return sizes.view - length * factor
        return max(0, sizes.bytes - 2 * factor) - length * factor

    def elements(element_excess: int, listed: bool) -> int:
        nonlocal max_excess
        max_excess = max(max_excess, element_excess + (sizes.listed if listed else 0))
        return max(0, sizes.tuple + element_excess)

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
            # A small tag number is a shared int, and other tag numbers have at least
            # two bytes. Likewise, values of up to one byte are shared objects.
            pair += max(0, sizes.fixed[INT32] - factor)
            pair += max(0, sizes.bytes - 2 * factor)
            cost += elements(pair, True) - factor
        return cost

    struct(layout)
    return max_excess == 0


def resolve_default(field: Field) -> object:
    """Resolve a field's default value, which is the same in all versions.

    Returns ``STRUCT_DEFAULT`` for a struct. The engine then uses its own default
    instance.
    Source: ``FieldSpec`` and section "defaults" of Kafka's message language.
    """
    text = field.default
    if text == "null" and (field.struct or field.is_array or field.type in _NULLABLE):
        return None
    if field.is_array:
        return ()
    if field.struct is not None:
        return STRUCT_DEFAULT
    type_name = field.type
    if type_name == "string":
        return text or ""
    if type_name == "bytes":
        return b""
    if type_name == "records":
        return None
    if type_name == "bool":
        return text is not None and text.lower() == "true"
    if type_name == "float64":
        return float(text or 0)
    if type_name == "uuid":
        return _parse_uuid(text)
    return int(text, 16 if "x" in text.lower() else 10) if text else 0


_NULLABLE = frozenset(("string", "bytes", "records"))


def _parse_uuid(text: str | None) -> object:
    import uuid

    if not text:
        return uuid.UUID(int=0)
    import base64

    return uuid.UUID(bytes=base64.urlsafe_b64decode(text + "=="))


def suggest_field(name: str, names: Iterable[str]) -> str:
    """Return ``; did you mean a?`` for an unknown field, or an empty string."""
    # Imported here because only errors need it.
    from difflib import get_close_matches

    near = get_close_matches(name[:80].lower(), names, 1)
    return f"; did you mean {near[0]}?" if near else ""


def make_class_error(cls: object) -> TypeError:
    """Return the error for an object in place of a message class."""
    kind = type(cls).__name__
    if isinstance(cls, (bytes, bytearray, memoryview)):
        return TypeError(
            f"a message class of kwire.messages is required (got {kind}); it comes"
            " before the data: decode(MetadataResponse, data, version=12)"
        )
    if isinstance(cls, str):
        return TypeError(
            f"a message class of kwire.messages is required (got {cls!r:.80}); import"
            " the class of this name from kwire.messages"
        )
    return TypeError(f"a message class of kwire.messages is required (got {cls!r:.80})")


class Binding:
    """A message with the classes that one engine generated for its structs.

    * ``classes``: generated classes by struct name, including the message itself.
    * ``defaults``: default values of the fields by struct name. Structs are instances.
    * ``shared``: default instances by struct name.
    * ``programs``: compiled plans by version. The engine adds a version when it is
      first used.
    """

    __slots__ = ("classes", "defaults", "message", "programs", "shared")

    def __init__(self, message: Message) -> None:
        self.message = message
        self.shared: dict[str, object] = {}
        self.classes: dict[str, type] = {}
        self.defaults: dict[str, tuple[object, ...]] = {}
        self.programs: dict[int, Any] = {}

    def number(self, version: object) -> int:
        """Validate a version and convert it to an int.

        Accepts every object with the method ``__index__``. Raises
        ``UnsupportedVersion`` if the message does not have this version. None, which
        means that the caller has not passed a version, raises it too.
        """
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
        """Return the plan for one version.

        If the engine has already used the version, its existing plan is returned.
        Otherwise, the plan is compiled. Raises ``UnsupportedVersion`` if the message
        does not have this version, and the ``SchemaError`` of ``compile_plan``.
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
    """Return the header version for a request.

    Flexible versions have header version 2, and other versions have header version 1.
    ControlledShutdown version 0 has header version 0, because it is older than client
    ids. The version does not need to be supported by kwire.
    Source: KIP-482, ``ApiKeys.requestHeaderVersion``.
    """
    if message.api_key == _CONTROLLED_SHUTDOWN and version == 0:
        return 0
    return 2 if version in message.flexible_versions else 1


def response_header_version(message: Message, version: int) -> int:
    """Return the header version for a response.

    Flexible versions have header version 1, and other versions have header version 0.
    ApiVersions always has header version 0, because its receiver may not yet know which
    versions the broker supports. Source: KIP-511.
    """
    if message.api_key == _API_VERSIONS:
        return 0
    return 1 if version in message.flexible_versions else 0


def reads_newer_versions(message: Message) -> bool:
    """Return whether versions above the maximum are decoded as the maximum version.

    Consumer group members can run different releases, so new versions of the consumer
    protocol only append fields. Source: ``ConsumerProtocol``.
    """
    return message.name.startswith("ConsumerProtocol")
