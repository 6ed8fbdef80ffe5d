# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Both engines encode unusual values to the same bytes, or raise the same error.

Every field kind is combined with every unusual value. A kind is defined by the type,
array or not, length encoding, nullability, position (inline, tagged, absent) and depth
(top level or nested). ``encode`` may only raise ``EncodeError`` with the path of the
field. A constructor may also raise ``TypeError``.
"""

import array
import decimal
import enum
import uuid
from collections import namedtuple

import numpy
import pytest

from tests.harness.values import TAGS, Middle, binding_of, build, pairs

PLACES_PER_KIND = 2


class Index:
    """Object that only supports conversion to an integer with ``__index__``."""

    def __init__(self, value):
        """Store the result of ``__index__``."""
        self.value = value

    def __index__(self):
        """Return the stored value, which may have a wrong type."""
        return self.value


class Failing:
    """Object whose number conversions and comparisons raise ZeroDivisionError."""

    def fail(self, *args):
        """Raise ZeroDivisionError."""
        return 1 // 0

    __index__ = __float__ = __eq__ = fail
    __hash__ = None


class Number(enum.IntEnum):
    """Integer of a subclass of int."""

    SEVEN = 7


class Text(str):
    """String of a subclass of str."""


Pair = namedtuple("Pair", "first second")

BITS = (7, 8, 15, 16, 31, 32, 63, 64)
INTS = [0, 1, -1, 77, 10**400, 10**5000]
INTS += [2**bits + offset for bits in BITS for offset in (-1, 0)]
INTS += [-(2**bits) - offset for bits in BITS for offset in (0, 1)]
ODD = [
    *INTS,
    None,
    True,
    False,
    Number.SEVEN,
    Index(5),
    Index(2**40),
    Index("no int"),
    1.5,
    2.0,
    float("nan"),
    float("inf"),
    -0.0,
    1e308,
    3j,
    decimal.Decimal(5),
    decimal.Decimal("1.5"),
    "",
    "text",
    "a\0b",
    "x" * 32767,
    "x" * 32768,
    "é" * 16384,
    Text("text"),
    "\ud800",
    "lone \udfff surrogate",
    "x" * 40000 + "\ud800",
    b"",
    b"data",
    bytearray(b"data"),
    memoryview(b"data"),
    memoryview(b""),
    memoryview(b"abcdef")[::2],
    memoryview(bytes(6)).cast("B", (2, 3)),
    memoryview(bytes(8)).cast("i"),
    array.array("h", (1, 2)),
    numpy.int8(5),
    numpy.int64(2**40),
    numpy.uint64(2**63),
    numpy.bool_(True),
    numpy.float32(1.5),
    numpy.float64(2.5),
    numpy.str_("text"),
    numpy.bytes_(b"d"),
    numpy.zeros(3, "u1"),
    numpy.arange(6, dtype="u1")[::2],
    Failing(),
    uuid.UUID(int=3),
    str(uuid.UUID(int=3)),
    object(),
    int,
    ...,
    (),
    [],
    [1, 2],
    (1, 2),
    ("a", "b"),
    (None,),
    (b"a",),
    {},
    {1: 2},
    {3},
    Pair(1, 2),
    range(3),
    (1, "a"),
    ("a", 1),
    ((),),
    (1, 2**70),
]


def foreign_structs(package):
    """Return structs of an unrelated message: alone, in arrays, and a whole message."""
    message = package.messages.TransactionLogValue
    foreign_struct = message.PartitionsSchema(topic="t")
    return [foreign_struct, (foreign_struct,), [foreign_struct, None], message()]


def steps(layout, path=()):
    """Yield (path, step) for all fields of a plan and of its nested structs."""
    for step in layout.steps:
        yield path, step
        if step.plan is not None:
            index = 0 if step.is_array else None
            yield from steps(step.plan, (*path, (step.attribute, index)))


def choose_fields(package):
    """Choose up to ``PLACES_PER_KIND`` fields per kind, from different messages."""
    places_by_kind = {}
    for name, version in pairs(package):
        for path, step in steps(binding_of(package, name).plan(version)):
            kind = (
                step.code,
                step.is_array,
                step.compact,
                step.nullable,
                step.place,
                bool(path),
                step.default is None,
            )
            chosen = places_by_kind.setdefault(kind, [])
            if len(chosen) < PLACES_PER_KIND and name not in {c[0] for c in chosen}:
                chosen.append((name, version, path, step.attribute))
    return [position for chosen in places_by_kind.values() for position in chosen]


def replace_at_path(message, path, attribute, value):
    """Return a copy of the message with another value for one attribute.

    ``path`` leads from the message to the nested struct that has the attribute.
    """
    if not path:
        return message.replace(**{attribute: value})
    (name, index), *rest = path
    inner = getattr(message, name)
    if index is None:
        return message.replace(**{name: replace_at_path(inner, rest, attribute, value)})
    changed = replace_at_path(inner[index], rest, attribute, value)
    return message.replace(**{name: (*inner[:index], changed, *inner[index + 1 :])})


def build_base(package, name, version):
    """Build a message in which every field has a value other than its default."""
    layout = binding_of(package, name).plan(version)
    return build(package, name, Middle().message(package.schema.plan, layout))


def try_to_encode(package, message, version, path, attribute, value):
    """Replace a value and encode the message.

    Return the bytes, or a tuple with all attributes of the error.
    """
    try:
        changed = replace_at_path(message, path, attribute, value)
    except TypeError:
        return "TypeError"
    try:
        return "bytes", package.encode(changed, version)
    except package.errors.KwireError as error:
        assert type(error) is package.errors.EncodeError
        assert error.path.split(".")[-1].split("[")[0] == attribute
        return error.expected, error.path, error.message_name, error.version, str(error)
    except Exception as error:
        return "escaped", repr(error)


def find_differences(twins, name, version, path, attribute, values):
    """Yield the values for which the engines return different bytes or errors."""
    messages = [build_base(package, name, version) for package in twins]
    for package, message in zip(twins, messages, strict=True):
        assert isinstance(package.encode(message, version), bytes)
    for variants in values:
        fast, pure = (
            try_to_encode(package, message, version, path, attribute, value)
            for package, message, value in zip(twins, messages, variants, strict=True)
        )
        if fast != pure or fast[0] == "escaped":
            yield name, version, path, attribute, repr(variants[0])[:60], fast, pure


def test_engines_agree_on_unusual_field_values(twins):
    """All field kinds with all unusual values have the same outcome."""
    alone = [
        *zip(ODD, ODD, strict=True),
        *zip(*map(foreign_structs, twins), strict=True),
    ]
    in_arrays = [*alone, *(((a,), (b,)) for a, b in alone)]
    chosen = choose_fields(twins.pure)
    assert len(chosen) > 150
    for position in chosen:
        assert list(find_differences(twins, *position, in_arrays)) == []


BAD_TAGS = [
    (1,),
    (1, 2),
    ((),),
    ((9000,),),
    ((9000, b"", 1),),
    ([9000, b""],),
    ((9000, "text"),),
    ((9000, bytearray(b"x")),),
    ((9000, None),),
    (("9", b""),),
    ((-1, b""),),
    ((2**32, b""),),
    ((2**64, b""),),
    ((-(2**64), b""),),
    ((True, b""),),
    ((Number.SEVEN, b""),),
    ((numpy.int32(9), b""),),
    ((9000, b""), (9000, b"")),
    ((9001, b""), (9000, b"")),
    ((9000, b""), (1,)),
    None,
    5,
    b"xy",
    "xy",
    {9000: b""},
    *(((tag, b""),) for tag in range(6)),
    (),
    [],
    [(9000, b"")],
    ((9000, b"kept"),),
    ((2**32 - 1, b""),),
    ((5000, b"a"), (5001, bytes(200)), (2**31, b"")),
]


def test_engines_agree_on_unknown_tags(twins):
    """Both engines return the same result for unusual values of unknown tagged fields.

    The values are wrong pairs, unordered tags, tags that the schema defines, invalid
    tag numbers, and tags in versions that do not support them.
    """
    chosen = {}
    for name, version in pairs(twins.pure):
        layout = binding_of(twins.pure, name).plan(version)
        for path, plan in [((), layout), *_structs(layout)]:
            tags = tuple(step.tag for step in plan.tagged)
            kind = plan.flexible, bool(path), len(tags), bool(plan.invalid_tags)
            chosen.setdefault(kind, (name, version, path))
    disagreements = []
    bad = [(value, value) for value in BAD_TAGS]
    for name, version, path in chosen.values():
        disagreements += find_differences(twins, name, version, path, TAGS, bad)
    assert len(chosen) > 8
    assert disagreements == []


def _structs(layout):
    for path, step in steps(layout):
        if step.plan is not None:
            index = 0 if step.is_array else None
            yield (*path, (step.attribute, index)), step.plan


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (2**31, "v12: topics[1].partitions[2].leader_id: expected an int32, got"),
        ("1", "v12: topics[1].partitions[2].leader_id: expected an int32, got str"),
        (None, "v12: topics[1].partitions[2].leader_id: cannot be null"),
    ],
)
def test_error_names_the_element(kwire, value, words):
    """The path in the error includes the index of the invalid array element."""
    response = kwire.messages.MetadataResponse
    topic = response.MetadataResponseTopic
    partition = topic_partition = response.MetadataResponsePartition
    bad = topic(
        name="b",
        partitions=[partition(), topic_partition(), partition(leader_id=value)],
    )
    message = response(topics=[topic(name="a"), bad])
    with pytest.raises(kwire.EncodeError) as caught:
        kwire.encode(message, 12)
    assert str(caught.value).startswith(f"MetadataResponse {words}")


@pytest.mark.parametrize("version", [-1, 14, 99, 2**40, True, 1.0, "1", None])
def test_unsupported_version_error_names_the_valid_versions(twins, version):
    """The error contains the requested version and the valid ones, on both engines."""
    outcomes = []
    for package in twins:
        request = package.messages.MetadataRequest
        # Use a neighboring version first, because plans are cached per version.
        package.encode(request(topics=None), 1)
        for call, value in [
            (package.encode, (request(topics=None), version)),
            (package.decode, (request, bytes(4), version)),
        ]:
            try:
                outcomes.append(("value", repr(call(*value))))
            except package.UnsupportedVersion as error:
                outcomes.append(("error", str(error)))
    assert outcomes[:2] == outcomes[2:]
    if version is not True:
        assert all(
            repr(version) in words and "0 to 13" in words for _, words in outcomes
        )
