# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Valid default values by type: notations, limits and null.

The tests also resolve every default, because a text that the rules accept but that the
plan cannot resolve would fail far away from the schema.
"""

from __future__ import annotations

import json
import math
from uuid import UUID

import pytest

from kwire.errors import SchemaError
from kwire.schema.language import read_message
from kwire.schema.model import Field
from kwire.schema.plan import STRUCT_DEFAULT, resolve_default
from tests.harness.sweeps import sweep


def read(kind: str, default: object, **keys: object) -> Field:
    """Read a message that has a single field with this type and default."""
    field = {"name": "A", "type": kind, "versions": "1+", "default": default} | keys
    if kind.endswith("S"):
        inner = {"name": "X", "type": "int8", "versions": "0+"}
        field["fields"] = [inner]
    document = {
        "name": "Demo",
        "type": "data",
        "validVersions": "0-3",
        "flexibleVersions": "2+",
        "fields": [field],
    }
    return read_message(json.dumps(document)).struct.fields[0]


def check_refused(rule: str, kind: str, default: object, **keys: object) -> SchemaError:
    with pytest.raises(SchemaError) as caught:
        read(kind, default, **keys)
    error = caught.value
    assert (error.rule, error.path, error.message_name) == (rule, "A", "Demo")
    assert len(str(error)) < 200
    return error


LOW, HIGH = -(2**63), 2**63 - 1
ACCEPTED = {
    "int8": {"": 0, "-128": -128, "127": 127, "0x7f": 127, "0x0": 0, "+1": 1, "-0": 0},
    "int16": {"": 0, "-32768": -32768, "32767": 32767, "0x7FFF": 32767},
    "int32": {
        "-2147483648": -(2**31),
        "2147483647": 2**31 - 1,
        "0x7fffffff": 2**31 - 1,
    },
    "int64": {str(LOW): LOW, str(HIGH): HIGH, "0x7" + "f" * 15: HIGH},
    "uint16": {"": 0, "0": 0, "65535": 65535, "0xffff": 65535},
    "uint32": {"": 0, "4294967295": 2**32 - 1, "0xffffffff": 2**32 - 1},
    "bool": {"": False, "true": True, "TRUE": True, "tRuE": True, "False": False},
    "float64": {"": 0.0, "1": 1.0, "-.5": -0.5, "1.": 1.0, "+1e9": 1e9, "2.5E-1": 0.25},
    "uuid": {
        "": UUID(int=0),
        "A" * 21 + "Q": UUID(int=1),
        "_-azAZ09_-azAZ09_-azAA": UUID("ffe6b301-9d3d-ffe6-b301-9d3dffe6b300"),
    },
    "string": {"": "", "any text": "any text", "nil": "nil"},
    "records": {"": None, "null": None, "anything": None},
    "bytes": {"": b""},
    "[]int8": {"": ()},
    "[]S": {"": ()},
    "S": {"": STRUCT_DEFAULT},
}


@sweep(
    ("kind", "text", "value"),
    [
        (kind, text, value)
        for kind, cases in ACCEPTED.items()
        for text, value in cases.items()
    ],
)
def test_an_accepted_default_is_kept_as_written_and_has_its_value(kind, text, value):
    """A valid default keeps its text, and is converted to a value of the exact type."""
    field = read(kind, text)
    assert field.default == text
    assert resolve_default(field) == value
    assert type(resolve_default(field)) is type(value)


def test_nan_and_infinities_are_valid_float_defaults():
    """NaN and infinities are valid float defaults, although JSON has no such number."""
    assert math.isnan(resolve_default(read("float64", "NaN")))
    assert resolve_default(read("float64", "-Infinity")) == -math.inf


@pytest.mark.parametrize(
    ("kind", "literal", "value"),
    [("int8", 7, 7), ("bool", True, True), ("float64", 1.5, 1.5), ("string", 3, "3")],
)
def test_a_default_may_be_a_json_number_or_boolean(kind, literal, value):
    """A default may be a JSON number or a boolean instead of a string.

    Kafka's generator accepts them, too.
    """
    assert resolve_default(read(kind, literal)) == value


REFUSED = {
    "int8": ("-129", "128", "0x80", "0x", "1.0", "1_0", "010", "null", "-0x1", " 1"),
    "int16": ("-32769", "32768", "0x8000", "\u0661", "1e3"),
    "int32": ("-2147483649", "2147483648", "0x80000000", "9" * 5000),
    "int64": (str(LOW - 1), str(HIGH + 1), "0x8" + "0" * 15, "0x" + "f" * 5000),
    "uint16": ("-1", "65536", "0x10000"),
    "uint32": ("-1", "4294967296", "0x100000000"),
    "bool": ("1", "yes", "null"),
    "float64": ("nan", "inf", "1_0", "1e", "0x1p3", ".", "null"),
    "uuid": ("null", "A" * 21, "A" * 23, "A" * 21 + "+", "A" * 22 + "==", "A" * 36),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_default_that_its_type_cannot_hold_is_refused(kind):
    """A default that is out of the range of its type is rejected.

    Notations that only Python accepts are rejected as well.
    """
    for text in REFUSED[kind]:
        check_refused("default-invalid", kind, text)


@pytest.mark.parametrize("kind", ["string", "bytes", "[]int8", "[]S", "S"])
def test_null_is_a_default_only_where_all_versions_are_nullable(kind):
    """Null is only a valid default if the field is nullable in all versions.

    Otherwise, some version could not encode it.
    """
    assert resolve_default(read(kind, "null", nullableVersions="0+")) is None
    check_refused("default-not-nullable", kind, "null", nullableVersions="2+")
    check_refused("default-not-nullable", kind, "null")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("bytes", "bytes"),
        ("[]int8", "an array"),
        ("[]string", "an array"),
        ("[]S", "an array"),
        ("S", "a struct"),
    ],
)
def test_structs_and_arrays_only_default_to_null_or_empty(kind, words):
    error = check_refused("default-not-empty", kind, "0", nullableVersions="0+")
    assert f"no default for {words};" in error.reason
