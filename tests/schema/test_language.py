# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test how Kafka's JSON message language is read: keys, types and structs."""

from __future__ import annotations

import json

import pytest

from kwire.errors import SchemaError
from kwire.schema import language
from kwire.schema.model import FIXED_SIZES, KINDS, VARIABLE_TYPES
from kwire.schema.versions import NONE, VersionRange

EVERY_KEY = """{
  // A request that uses every key that the language has.
  "name": "DemoRequest",
  "type": "request",
  "apiKey": 71,
  "validVersions": "1-4",
  "flexibleVersions": "2+",
  "deprecatedVersions": "1",
  "listeners": ["zkBroker", "broker", "controller"],
  "latestVersionUnstable": true,
  "about": "ignored",
  "commonStructs": [
    { "name": "Place", "versions": "1+", "fields": [
      { "name": "TopicName", "type": "string", "versions": "1+", "mapKey": true,
        "entityType": "topicName" }
    ]}
  ],
  "fields": [
    { "name": "Text", "type": "string", "versions": "1+", "nullableVersions": "3+",
      "default": "hello", "ignorable": true, "flexibleVersions": "none" },
    { "name": "Blob", "type": "bytes", "taggedVersions": "2+", "tag": 0,
      "zeroCopy": true, "about": ["ignored", {"too": 1}] },
    { "name": "Places", "type": "[]Place", "versions": "1-3" },
    { "name": "Best", "type": "Place", "versions": "4+", "nullableVersions": "4+",
      "default": "null" },
    { "name": "Sizes", "type": " [] Size ", "versions": "1+", "fields": [
      { "name": "Bytes", "type": "[]int64", "versions": "1+" }
    ]}
  ]
}"""


def document(field: dict | None = None, **keys: object) -> dict:
    """Return a valid message as a dict, in which keys are changed.

    ``field`` contains changes of its only field, and ``keys`` changes of the message.
    """
    result = {
        "name": "DemoRequest",
        "type": "request",
        "apiKey": 1,
        "validVersions": "0-3",
        "flexibleVersions": "2+",
        "fields": [{"name": "A", "type": "string", "versions": "0+"} | (field or {})],
    }
    return result | keys


def read(field: dict | None = None, **keys: object):
    return language.read_message(json.dumps(document(field, **keys)))


def read_field(**keys: object):
    return read(keys).struct.fields[0]


def check_refused(rule: str, field: dict | None = None, **keys: object) -> SchemaError:
    """Assert that a message violates ``rule`` at the position of the changed key."""
    text = json.dumps(document(field, **keys), indent=1)
    with pytest.raises(SchemaError) as caught:
        language.read_message(text)
    error = caught.value
    assert error.rule == rule
    assert error.path == ("A" if field else "")
    line = text.split("\n")[error.line - 1]
    assert line[error.column - 1 :].startswith(f'"{next(iter(field or keys))}"')
    return error


def test_every_key_of_a_message_reaches_the_model():
    message = language.read_message(EVERY_KEY)
    assert (message.name, message.kind, message.api_key) == (
        "DemoRequest",
        "request",
        71,
    )
    assert message.valid_versions == VersionRange(1, 4)
    assert message.flexible_versions == VersionRange(2, 32767)
    assert message.deprecated_versions == VersionRange(1, 1)
    assert message.listeners == ("zkBroker", "broker", "controller")
    assert message.latest_version_unstable is True
    assert [struct.name for struct in message.common_structs] == ["Place"]
    assert message.struct.position == (1, 1)


def test_every_key_of_a_field_reaches_the_model():
    text, blob, places, best, sizes = language.read_message(EVERY_KEY).struct.fields
    assert (text.name, text.type, text.default) == ("Text", "string", "hello")
    assert text.versions == VersionRange(1, 32767)
    assert text.nullable_versions == VersionRange(3, 32767)
    assert text.ignorable and text.flexible_versions == NONE
    assert text.position == (19, 5)
    assert (blob.tag, blob.zero_copy) == (0, True)
    assert blob.versions == blob.tagged_versions == VersionRange(2, 32767)
    assert (blob.default, blob.flexible_versions) == (None, None)
    assert not blob.ignorable and not blob.map_key
    assert (best.default, best.is_array, best.struct) == ("null", False, places.struct)
    assert (sizes.type, sizes.is_array) == ("Size", True)


def test_all_fields_that_name_a_struct_share_it():
    """Several fields that name the same struct share one plan and one class."""
    message = language.read_message(EVERY_KEY)
    _, _, places, best, sizes = message.struct.fields
    (shared,) = message.common_structs
    assert places.struct is best.struct is shared
    assert shared.versions == VersionRange(1, 32767)
    assert shared.fields[0].map_key and shared.fields[0].entity_type == "topicName"
    assert (sizes.struct.name, sizes.struct.versions) == ("Size", sizes.versions)
    assert sizes.struct.position == sizes.position
    inner = sizes.struct.fields[0]
    assert (inner.type, inner.is_array, inner.struct) == ("int64", True, None)
    assert message.structs() == [shared, sizes.struct]


def test_a_field_may_name_a_struct_that_another_field_defines():
    """A field may name a struct that another field defines, before or after it.

    Its own list "fields" may then be empty.
    """
    inner = [{"name": "X", "type": "int8", "versions": "0+"}]
    use = {"name": "A", "type": "S", "versions": "0+"}
    make = {"name": "B", "type": "[]S", "versions": "0+", "fields": inner}
    duplicate = {"name": "C", "type": "[]S", "versions": "0+", "fields": []}
    for order in ([use, make, duplicate], [duplicate, make, use]):
        structs = {id(field.struct) for field in read(fields=order).struct.fields}
        assert len(structs) == 1


def test_an_empty_list_of_fields_is_an_empty_struct_unless_a_common_one_is_meant():
    """An empty list "fields" defines an empty struct, unless the struct is common.

    Kafka treats an empty list like a missing list.
    """
    assert read_field(type="S", fields=[]).struct.fields == []
    common = {"name": "S", "versions": "0+", "fields": document()["fields"]}
    message = read({"type": "S", "fields": []}, commonStructs=[common])
    assert message.struct.fields[0].struct is message.common_structs[0]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_message_is_read(kind):
    keys = {"validVersions": "0", "flexibleVersions": "none"}
    assert read(type=kind, **keys).kind == kind


@pytest.mark.parametrize("prefix", ["", "[]"])
@pytest.mark.parametrize("name", [*FIXED_SIZES, *VARIABLE_TYPES])
def test_every_type_is_read_alone_and_as_elements(name, prefix):
    field = read_field(type=prefix + name)
    assert (field.type, field.is_array, field.struct) == (name, bool(prefix), None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", VersionRange(3, 3)),
        (3, VersionRange(3, 3)),
        (" 1-3 ", VersionRange(1, 3)),
        ("2+", VersionRange(2, 32767)),
        ("none", NONE),
        ("", NONE),
        ("  ", NONE),
        (None, NONE),
    ],
)
def test_version_ranges_are_parsed_in_all_forms(text, expected):
    assert read_field(nullableVersions=text).nullable_versions == expected


@pytest.mark.parametrize(
    "text", ["x", "-1", "3-1", "1-2-3", "32768", "9" * 5000, "1,3", "+", True, 1.5]
)
def test_invalid_version_range_is_rejected(text):
    """An invalid version range is rejected.

    Lists, gaps, negative numbers, and numbers above the int16 maximum are invalid.
    """
    check_refused("versions-invalid", {"nullableVersions": text})


@pytest.mark.parametrize(
    ("value", "expected"),
    [(7, "7"), (-1, "-1"), (True, "true"), (False, "false"), (1.5, "1.5"), ("x", "x")],
)
def test_a_number_or_boolean_is_taken_as_the_text_of_a_default(value, expected):
    assert read_field(default=value).default == expected


def test_the_text_null_and_the_value_null_are_different_defaults():
    """The default "null" is null.

    The JSON value null means that there is no default.
    """
    nullable = {"nullableVersions": "0+"}
    assert read_field(default="null", **nullable).default == "null"
    assert read_field(default=None, **nullable).default is None
    assert read_field(**nullable).default is None


@pytest.mark.parametrize("value", [True, "true", "True", " TRUE ", 1, -1])
def test_accepted_spellings_of_true_are_read(value):
    assert read_field(ignorable=value).ignorable is True


@pytest.mark.parametrize("value", [False, "false", "False", "FALSE", "", 0, None])
def test_accepted_spellings_of_false_are_read(value):
    assert read_field(ignorable=value).ignorable is False


@pytest.mark.parametrize("value", ["yes", "tRue", 1.0, [True], {}])
def test_invalid_boolean_is_rejected(value):
    check_refused("value-invalid", {"ignorable": value})


@pytest.mark.parametrize("value", [0, "0", " 0 "])
def test_a_tag_may_be_a_text(value):
    assert read_field(tag=value, taggedVersions="2+", versions="2+").tag == 0


@pytest.mark.parametrize("value", [None, "", " "])
def test_missing_tag_is_none(value):
    assert read_field(tag=value).tag is None


@pytest.mark.parametrize("value", [True, 0.5, "a", [], {}, 2**31, "-" * 9, "9" * 5000])
def test_invalid_tag_is_rejected(value):
    check_refused("value-invalid", {"tag": value})


def test_an_api_key_is_an_int16():
    assert read(apiKey="-32768").api_key == -32768
    assert read(apiKey=32767).api_key == 32767
    assert len(str(check_refused("value-invalid", apiKey=32768))) < 200
    check_refused("value-invalid", apiKey=-32769)


def test_single_value_is_a_list_of_one():
    (field,) = document()["fields"]
    common = {"name": "S", "versions": "0+", "fields": field}
    message = read(fields=field, commonStructs=common, listeners="broker")
    assert [field.name for field in message.struct.fields] == ["A"]
    assert [field.name for field in message.common_structs[0].fields] == ["A"]
    assert message.listeners == ("broker",)


def test_null_and_absent_lists_are_empty():
    message = read(fields=None, commonStructs=None, listeners=None)
    assert message.deprecated_versions == NONE
    assert (message.struct.fields, message.common_structs) == ([], [])
    assert message.listeners == ()


def test_the_last_of_repeated_keys_counts():
    text = json.dumps(document()).replace(
        '"type": "string"', '"type": 4, "type": "uuid"'
    )
    assert language.read_message(text).struct.fields[0].type == "uuid"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", ["A"]),
        ("type", {}),
        ("versions", ["0+"]),
        ("default", []),
        ("entityType", "clientId"),
        ("entityType", 3),
        ("entityType", []),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_at_its_key(key, value):
    text = json.dumps(document({key: value}), indent=1)
    with pytest.raises(SchemaError) as caught:
        language.read_message(text)
    error = caught.value
    assert error.rule == "value-invalid"
    line = text.split("\n")[error.line - 1]
    assert line[error.column - 1 :].startswith(f'"{key}"')


@pytest.mark.parametrize("value", ["Request", "", 3, ["request"]])
def test_an_unknown_kind_of_message_is_refused(value):
    check_refused("value-invalid", type=value)


@pytest.mark.parametrize("value", ["client", ["broker", 1], [None], {}])
def test_an_unknown_listener_is_refused(value):
    check_refused("value-invalid", listeners=value)


@pytest.mark.parametrize("value", ["A", 1, [], [[]], [None], True])
def test_field_that_is_not_an_object_is_rejected(value):
    text = json.dumps(document(fields=[value]))
    with pytest.raises(SchemaError) as caught:
        language.read_message(text)
    assert (caught.value.rule, caught.value.path) == ("value-invalid", "fields[0]")


@pytest.mark.parametrize("text", ["[]", "null", "1", '"a"', "[{}]"])
def test_message_that_is_not_an_object_is_rejected(text):
    with pytest.raises(SchemaError) as caught:
        language.read_message(text)
    assert (caught.value.rule, caught.value.line) == ("value-invalid", 1)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("name", [], "name must be a string (got an array)"),
        ("name", {}, "name must be a string (got an object)"),
        ("ignorable", [], "ignorable must be true or false (got an array)"),
        ("ignorable", 0.5, "ignorable must be true or false (got '0.5')"),
        ("tag", {}, "(got an object)"),
        ("tag", False, "(got 'false')"),
        ("entityType", "x", ", groupId, topicName, producerId, brokerId (got 'x')"),
        ("entityType", "", "brokerId (got '')"),
        ("type", "[]", "an array needs the type of its elements"),
        ("type", "[] []int8", "an array cannot hold arrays"),
        ("type", "", "'' is not a type; use one of bool, bytes, float64,"),
        (
            "fields",
            [{"name": "B", "type": "int8", "versions": "0"}],
            "string cannot have",
        ),
    ],
)
def test_error_shows_the_unexpected_value(key, value, reason):
    """The error contains the unexpected value and the reason."""
    with pytest.raises(SchemaError) as caught:
        read_field(**{key: value})
    assert reason in caught.value.reason


def test_an_error_names_null_and_arrays_of_primitives():
    with pytest.raises(SchemaError, match="a field must be a JSON object"):
        read(fields=[None])
    inner = [{"name": "B", "type": "int8", "versions": "0"}]
    with pytest.raises(SchemaError, match=r"\[\]int8 cannot have fields"):
        read_field(type="[]int8", fields=inner)


def test_unknown_keys_are_refused_with_the_nearest_known_one():
    error = check_refused("key-unknown", {"nulableVersions": "0+"})
    assert "did you mean nullableVersions?" in error.reason
    error = check_refused("key-unknown", qwertz=1)
    assert error.reason == "a message has no key 'qwertz'; remove it"
    # Message keys are not valid in a field, and field keys are not valid in a message.
    check_refused("key-unknown", {"validVersions": "0+"})
    check_refused("key-unknown", versions="0+")


def test_an_unknown_key_of_a_common_struct_is_refused():
    common = {"name": "S", "versions": "0+", "fields": [], "about": "x"}
    with pytest.raises(SchemaError) as caught:
        language.read_message(json.dumps(document(commonStructs=[common])))
    assert (caught.value.rule, caught.value.path) == ("key-unknown", "S")


def test_text_after_the_message_is_rejected():
    """Text after the message is rejected.

    Otherwise, a second message in the file would be ignored.
    """
    text = json.dumps(document())
    with pytest.raises(SchemaError) as caught:
        language.read_message(text + "\n{}")
    assert (caught.value.rule, caught.value.line, caught.value.column) == ("json", 2, 1)


def test_a_message_without_valid_versions_only_reserves_its_key():
    """A message without valid versions only reserves its API key.

    The rules for complete messages do not apply to it, and it has no generated code.
    """
    keys = {"flexibleVersions": None, "listeners": ["broker"], "type": "response"}
    message = read({"default": "null", "type": "Lost"}, validVersions="none", **keys)
    assert (message.name, message.api_key) == ("DemoRequest", 1)
    assert not message.valid_versions and not message.flexible_versions
    assert (message.listeners, message.struct.fields) == ((), [])


def test_fields_of_a_message_without_valid_versions_still_have_to_parse():
    text = json.dumps(document({"tag": 0}, validVersions="none"))
    with pytest.raises(SchemaError) as caught:
        language.read_message(text)
    assert caught.value.rule == "tag-without-versions"


def test_the_name_of_a_message_without_valid_versions_is_judged_as_well():
    """The name of a message without valid versions must be valid.

    A class is generated for it.
    """
    with pytest.raises(SchemaError) as caught:
        read(name="Demo.Request", validVersions="none")
    assert caught.value.rule == "name-illegal"


def test_entity_type_unknown_is_none():
    assert read_field(entityType="unknown").entity_type is None
    assert read_field(entityType=None).entity_type is None
    assert read_field(entityType="groupId").entity_type == "groupId"


def test_blank_flexible_versions_mean_none():
    """A blank text for "flexibleVersions" means none. A missing key is an error."""
    assert read(flexibleVersions="").flexible_versions == NONE
