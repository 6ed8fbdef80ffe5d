# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test every rule in Kafka's message language with a schema that violates it.

The cases verify the rule, the path and the position of the error. The character ``@``
marks the expected position and is removed before reading. Default values are tested in
``test_defaults.py``.
"""

from __future__ import annotations

import pytest

from kwire.errors import SchemaError
from kwire.schema import language, rules
from kwire.schema.model import Field, Message, Struct
from kwire.schema.versions import NONE, VersionRange
from tests.harness.sweeps import sweep
from tests.schema.schema_texts import write_request


def write_message(name: str = "Demo", kind: str = "data", **keys: str) -> str:
    """Return the schema of a message without fields.

    * ``name`` and ``kind``: name and type of the message.
    * ``keys``: JSON texts of other keys, which are inserted unchanged.
    """
    text = f"""@{{ "name": "{name}", "type": "{kind}", "fields": []"""
    for key, value in keys.items():
        text += f""",
      "{key}": {value}"""
    return text + "}"


def assert_violation(
    text: str, rule: str, path: str, name: str = "DemoRequest"
) -> SchemaError:
    """Assert that a schema violates ``rule`` at the last ``@``, with this path."""
    before, _, after = text.rpartition("@")
    before = before.replace("@", "")
    position = before.count("\n") + 1, len(before) - before.rfind("\n")
    with pytest.raises(SchemaError) as caught:
        language.read_message(before + after)
    error = caught.value
    facts = error.rule, error.path, error.message_name, (error.line, error.column)
    assert facts == (rule, path, name, position)
    assert "\n" not in str(error)
    return error


FIELD_CASES = [
    ("key-missing", '@{"type": "int8", "versions": "0+"}', "fields[0]"),
    ("key-missing", '@{"name": "A", "versions": "0+"}', "A"),
    (
        "key-missing",
        '{"name": "A", "type": "[]S", "versions": "0+", "fields": ['
        '@{"type": "int8", "versions": "0+"}]}',
        "A.fields[0]",
    ),
    (
        "name-illegal",
        '@{"name": "Broker-Id", "type": "int32", "versions": "0+"}',
        "Broker-Id",
    ),
    ("name-illegal", '@{"name": "1A", "type": "int8", "versions": "0+"}', "1A"),
    ("versions-missing", '@{"name": "A", "type": "int8"}', "A"),
    ("versions-missing", '@{"name": "A", "type": "int8", "versions": " "}', "A"),
    (
        "struct-versions-missing",
        '@{"name": "A", "type": "S", "taggedVersions": "3+", "tag": 0, "fields": ['
        '{"name": "B", "type": "int8", "versions": "3+"}]}',
        "A",
    ),
    (
        "type-not-nullable",
        '@{"name": "A", "type": "uuid", "versions": "0+", "nullableVersions": "1+"}',
        "A",
    ),
    (
        "entity-type-mismatch",
        '@{"name": "A", "type": "int64", "versions": "0+", "entityType": "brokerId"}',
        "A",
    ),
    (
        "entity-type-mismatch",
        '@{"name": "A", "type": "[]bytes", "versions": "0+",'
        ' "entityType": "topicName"}',
        "A",
    ),
    (
        "fields-on-primitive",
        '{"name": "A", "type": "int8", "versions": "0+", @"fields": ['
        '{"name": "B", "type": "int8", "versions": "0+"}]}',
        "A",
    ),
    (
        "flexible-override-misplaced",
        '@{"name": "A", "type": "[]bytes", "versions": "0+",'
        ' "flexibleVersions": "none"}',
        "A",
    ),
    (
        "zero-copy-misplaced",
        '@{"name": "A", "type": "string", "versions": "0+", "zeroCopy": true}',
        "A",
    ),
    (
        "tag-on-map-key",
        '{"name": "A", "type": "[]S", "versions": "0+", "fields": [@{"name": "B",'
        ' "type": "int8", "versions": "3+", "taggedVersions": "3+", "tag": 0,'
        ' "mapKey": true}]}',
        "A.B",
    ),
    (
        "tag-negative",
        '@{"name": "A", "type": "int8", "versions": "3+", "taggedVersions": "3+",'
        ' "tag": -1}',
        "A",
    ),
    (
        "tag-without-versions",
        '@{"name": "A", "type": "int8", "versions": "3+", "tag": 0}',
        "A",
    ),
    (
        "tag-missing",
        '@{"name": "A", "type": "int8", "versions": "3+", "taggedVersions": "3+"}',
        "A",
    ),
    (
        "tagged-versions-bounded",
        '@{"name": "A", "type": "int8", "versions": "3+", "taggedVersions": "3-5",'
        ' "tag": 0}',
        "A",
    ),
    (
        "tagged-versions-outside",
        '@{"name": "A", "type": "int8", "versions": "4+", "taggedVersions": "3+",'
        ' "tag": 0}',
        "A",
    ),
    (
        "tagged-versions-not-flexible",
        '@{"name": "A", "type": "int8", "versions": "2+", "taggedVersions": "2+",'
        ' "tag": 0}',
        "A",
    ),
    (
        "tagged-versions-not-flexible",
        '@{"name": "A", "type": "string", "versions": "3+", "taggedVersions": "3+",'
        ' "tag": 0, "flexibleVersions": "4+"}',
        "A",
    ),
    (
        "tagged-nullable-partly",
        '@{"name": "A", "type": "string", "versions": "3+", "taggedVersions": "3+",'
        ' "tag": 0, "nullableVersions": "4+"}',
        "A",
    ),
    (
        "tag-duplicate",
        '{"name": "A", "type": "int8", "versions": "3+", "taggedVersions": "3+",'
        ' "tag": 0},\n   @{"name": "B", "type": "int8", "versions": "5+",'
        ' "taggedVersions": "5+", "tag": "0"}',
        "B",
    ),
    (
        "tag-not-contiguous",
        '{"name": "A", "type": "int8", "versions": "3+", "taggedVersions": "3+",'
        ' "tag": 0},\n   @{"name": "B", "type": "int8", "versions": "3+",'
        ' "taggedVersions": "3+", "tag": 2}',
        "B",
    ),
    (
        "field-duplicate",
        '{"name": "A", "type": "int8", "versions": "0-1"},\n'
        '   @{"name": "A", "type": "int16", "versions": "2+"}',
        "A",
    ),
    ("type-unknown", '{"name": "A", @"type": "int31", "versions": "0+"}', "A"),
    ("type-unknown", '{"name": "A", @"type": "", "versions": "0+"}', "A"),
    ("type-unknown", '{"name": "A", @"type": "[]", "versions": "0+"}', "A"),
    ("type-unknown", '{"name": "A", @"type": "[][]int8", "versions": "0+"}', "A"),
    (
        "struct-name-illegal",
        '@{"name": "A", "type": "My Struct", "versions": "0+", "fields": []}',
        "A",
    ),
    (
        "struct-defined-twice",
        '{"name": "A", "type": "S", "versions": "0+", "fields": ['
        '{"name": "C", "type": "int8", "versions": "0+"}]},\n'
        '   @{"name": "B", "type": "[]S", "versions": "0+", "fields": ['
        '{"name": "C", "type": "int8", "versions": "0+"}]}',
        "B",
    ),
    ("struct-undefined", '@{"name": "A", "type": "[]Lost", "versions": "0+"}', "A"),
    (
        "map-key-at-top",
        '@{"name": "A", "type": "int8", "versions": "0+", "mapKey": true}',
        "A",
    ),
    (
        "default-invalid",
        '@{"name": "A", "type": "int8", "versions": "0+", "default": 128}',
        "A",
    ),
    (
        "default-not-nullable",
        '@{"name": "A", "type": "string", "versions": "0+", "nullableVersions": "1+",'
        ' "default": "null"}',
        "A",
    ),
    (
        "default-not-empty",
        '@{"name": "A", "type": "bytes", "versions": "0+", "default": "AA=="}',
        "A",
    ),
    (
        "records-tagged",
        '@{"name": "A", "type": "records", "versions": "3+", "taggedVersions": "3+",'
        ' "tag": 0}',
        "A",
    ),
    (
        "flexible-override-outside",
        '@{"name": "A", "type": "string", "versions": "0+", "flexibleVersions": "2+"}',
        "A",
    ),
]

COMMON = '"commonStructs": [{"name": "S", "versions": "0+", "fields": [%s]}%s],'
INT8 = '{"name": "X", "type": "int8", "versions": "0+"}'

STRUCT_CASES = [
    (
        "struct-name-illegal",
        write_request("", '"commonStructs": [@{"name": "s", "versions": "0+"}],'),
        "s",
    ),
    (
        "struct-defined-twice",
        write_request("", COMMON % (INT8, ',\n  @{"name": "S", "versions": "0+"}')),
        "S",
    ),
    (
        "struct-defined-twice",
        write_request(
            '@{"name": "A", "type": "S", "versions": "0+", "fields": [' + INT8 + "]}",
            COMMON % (INT8, ""),
        ),
        "A",
    ),
    (
        "struct-undefined",
        write_request(
            "", COMMON % ('@{"name": "B", "type": "Lost", "versions": "0+"}', "")
        ),
        "S.B",
    ),
    (
        "versions-missing",
        write_request("", '"commonStructs": [@{"name": "S", "fields": []}],'),
        "S",
    ),
    (
        "key-missing",
        write_request("", '"commonStructs": [@{"versions": "0+", "fields": []}],'),
        "commonStructs[0]",
    ),
    (
        "default-invalid",
        write_request(
            '{"name": "A", "type": "[]S", "versions": "0+"}',
            COMMON
            % (
                '@{"name": "B", "type": "bool", "versions": "0+", "default": "yes"}',
                "",
            ),
        ),
        "S.B",
    ),
    (
        "struct-recursive",
        write_request(
            "", COMMON % ('@{"name": "B", "type": "S", "versions": "0+"}', "")
        ),
        "S.B",
    ),
    (
        "struct-recursive",
        write_request(
            "",
            COMMON
            % (
                '{"name": "B", "type": "T", "versions": "0+"}',
                ', {"name": "T", "versions": "0+", "fields": ['
                '@{"name": "C", "type": "[]S", "versions": "0+"}]}',
            ),
        ),
        "S.B.C",
    ),
    (
        "struct-recursive",
        write_request(
            '{"name": "A", "type": "[]S", "versions": "0+", "fields": ['
            '@{"name": "B", "type": "[]S", "versions": "0+"}]}'
        ),
        "A.B",
    ),
]

OPEN = {"validVersions": '"0-1"', "flexibleVersions": '"0+"'}
COORDINATOR = {"validVersions": '"0"', "flexibleVersions": '"none"', "apiKey": "1"}

MESSAGE_CASES = [
    ("key-missing", '@{"name": "Demo", "fields": []}'),
    ("name-illegal", write_message("De mo", **OPEN)),
    ("versions-missing", write_message(flexibleVersions='"0+"')),
    ("flexible-versions-bounded", write_message(validVersions='"0"')),
    (
        "flexible-versions-bounded",
        write_message(validVersions='"0"', flexibleVersions="null"),
    ),
    (
        "flexible-versions-bounded",
        write_message(validVersions='"0"', flexibleVersions='"0-1"'),
    ),
    ("request-only-key", write_message(listeners='["broker"]', **OPEN)),
    ("request-only-key", write_message(latestVersionUnstable="true", **OPEN)),
    (
        "valid-versions-unbounded",
        write_message(validVersions='"1+"', flexibleVersions='"none"'),
    ),
    ("api-key-missing", write_message(kind="response", **OPEN)),
    ("api-key-missing", write_message(kind="metadata", **OPEN)),
    ("coordinator-shape", write_message(kind="coordinator-value", **OPEN)),
    ("coordinator-shape", write_message(kind="coordinator-key", **OPEN)),
    (
        "coordinator-shape",
        write_message(kind="coordinator-key", **COORDINATOR | {"validVersions": '"1"'}),
    ),
    (
        "coordinator-shape",
        write_message(
            kind="coordinator-key", **COORDINATOR | {"flexibleVersions": '"0+"'}
        ),
    ),
]


@sweep(("rule", "fields", "path"), FIELD_CASES)
def test_a_field_that_breaks_a_rule_is_refused(rule, fields, path):
    assert_violation(write_request(fields), rule, path)


@pytest.mark.parametrize(("rule", "text", "path"), STRUCT_CASES)
def test_a_struct_that_breaks_a_rule_is_refused(rule, text, path):
    assert_violation(text, rule, path)


@pytest.mark.parametrize(("rule", "text"), MESSAGE_CASES)
def test_a_message_that_breaks_a_rule_is_refused(rule, text):
    assert_violation(text, rule, "", "De mo" if "De mo" in text else "Demo")


def test_every_rule_has_a_case():
    """Every rule has at least one test case."""
    cases = [*FIELD_CASES, *STRUCT_CASES, *MESSAGE_CASES]
    # The rule "id-conflict" needs several messages, so the functions test_ids_* test
    # it.
    assert set(rules.RULES) - {case[0] for case in cases} == {"id-conflict"}
    assert len(rules.RULES) == len(set(rules.RULES)) == 34


def test_error_text_is_one_sentence_with_its_position():
    """An error text contains position, message, path, reason and rule."""
    error = assert_violation(
        write_request(
            '@{"name": "A", "type": "int8", "versions": "0+", "default": "0x80"}'
        ),
        "default-invalid",
        "A",
    )
    assert str(error) == (
        "line 5, column 9: DemoRequest: A: '0x80' is outside int8; use -128 to 127"
        " [default-invalid]"
    )


def test_parse_errors_of_kafka_are_reported_first():
    """An error that Kafka's parser would raise is reported before an invalid default.

    This applies even if it is in a later field.
    """
    fields = """{"name": "A", "type": "int8", "versions": "0+", "default": "x"},
        @{"name": "B", "type": "int8", "versions": "3+", "tag": 0}"""
    assert_violation(write_request(fields), "tag-without-versions", "B")


ENDPOINT = """{"name": "Endpoint", "type": "EndpointInfo", "versions": "3+",
     "taggedVersions": "3+", "tag": %d, "fields": [
       {"name": "Port", "type": "int32", "versions": "3+"},
       @{"name": "Zone", "type": "string", "versions": "3+", "default": "null"}]}"""


def test_a_tag_used_twice_in_a_nested_struct_is_reported_on_the_second_field():
    """If two fields of a nested struct have the same tag, the second one is reported.

    The schema is from a draft that gives a new field the tag of a later field.
    """
    fields = """{"name": "Topics", "type": "[]Topic", "versions": "0+", "fields": [
       {"name": "Parts", "type": "[]Part", "versions": "0+", "fields": [
         {"name": "Leader", "type": "int32", "versions": "3+", "tag": 0,
          "taggedVersions": "3+"},
         // the newcomer
         %s,
         @{"name": "Snapshot", "type": "SnapshotId", "versions": "3+", "tag": 1,
          "taggedVersions": "3+", "fields": [
            {"name": "Epoch", "type": "int32", "versions": "0+", "default": "-1"}
         ]}]}]}"""
    assert_violation(
        write_request(fields % (ENDPOINT % 1)), "tag-duplicate", "Topics.Parts.Snapshot"
    )


def test_a_null_default_without_nullable_versions_is_reported_on_the_field():
    """A null default of a field that is not nullable is reported at this field.

    The draft of the previous test has this error after its tags are corrected.
    """
    error = assert_violation(
        write_request(ENDPOINT % 0), "default-not-nullable", "Endpoint.Zone"
    )
    assert error.reason == (
        "the default is null, but not all versions are nullable; set nullableVersions"
        " to 3+ or remove the default"
    )


def test_a_struct_defined_twice_says_where_the_first_one_is():
    """If a struct is defined twice, the error contains the first position.

    The text for ``commonStructs`` differs, because the solution is different.
    """
    field = '@{"name": "A", "type": "S", "versions": "0+", "fields": [' + INT8 + "]}"
    error = assert_violation(
        write_request(field, COMMON % (INT8, "")), "struct-defined-twice", "A"
    )
    assert "is one of the commonStructs" in error.reason
    fields = field.replace("@", "") + "," + field.replace("A", "B")
    error = assert_violation(write_request(fields), "struct-defined-twice", "B")
    assert "is already defined" in error.reason
    twice = COMMON % (INT8, ',\n  @{"name": "S", "versions": "0+"}')
    error = assert_violation(write_request("", twice), "struct-defined-twice", "S")
    assert "is already defined" in error.reason


def test_schemas_that_kafka_accepts_pass():
    """Schemas that Kafka accepts are valid.

    Kafka allows nullable versions outside of the field's versions, gaps, and map keys
    in common structs.
    """
    fields = """
        {"name": "A", "type": "string", "versions": "2-3", "nullableVersions": "0+"},
        {"name": "B", "type": "S", "versions": "5", "nullableVersions": "1"},
        {"name": "C", "type": "S", "versions": "9+"},
        {"name": "D", "type": "string", "versions": "0+", "flexibleVersions": "none"}"""
    common = '{"name": "X", "type": "int8", "versions": "0", "mapKey": true}'
    text = write_request(fields, COMMON % (common, "")).replace("@", "")
    assert len(language.read_message(text).struct.fields) == 4


def message(kind: str, api_key: int | None, name: str = "Demo") -> Message:
    versions = VersionRange(0, 0)
    return Message(kind, api_key, Struct(name, versions, [], (2, 3)), NONE)


@pytest.mark.parametrize(
    "kind", ["request", "response", "metadata", "coordinator-key", "coordinator-value"]
)
def test_ids_belong_to_one_message_of_a_kind(kind):
    with pytest.raises(SchemaError) as caught:
        rules.check_ids([message(kind, 3, "First"), message(kind, 3, "Second")])
    error = caught.value
    assert (error.rule, error.message_name) == ("id-conflict", "Second")
    assert (error.line, error.column) == (2, 3)


@pytest.mark.parametrize("kind", ["coordinator-key", "coordinator-value"])
def test_ids_of_coordinators_come_in_pairs(kind):
    with pytest.raises(SchemaError) as caught:
        rules.check_ids([message("request", 3), message(kind, 3, "Alone")])
    assert (caught.value.rule, caught.value.message_name) == ("id-conflict", "Alone")


def test_ids_of_different_kinds_may_be_equal():
    kinds = ("request", "response", "metadata", "coordinator-key", "coordinator-value")
    rules.check_ids([message(kind, 3) for kind in kinds])
    rules.check_ids([message("data", None), message("data", None)])


def test_message_not_read_from_json_is_checked():
    """A Message object that was not read from JSON is checked as well."""
    field = Field("A", "Lost", VersionRange(0, 0))
    broken = Message("data", None, Struct("Demo", VersionRange(0, 0), [field]), NONE)
    with pytest.raises(SchemaError) as caught:
        rules.check(broken)
    assert (caught.value.rule, caught.value.path) == ("struct-undefined", "A")
