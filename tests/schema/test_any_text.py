# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Any text is either read as a message or rejected with ``SchemaError``.

The inputs are random texts, random sequences of language elements, and a valid schema
with a few random modifications.
"""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.errors import SchemaError
from kwire.schema import language
from kwire.schema.model import FIXED_SIZES, KINDS, VARIABLE_TYPES, Message
from kwire.schema.plan import compile_plan

VALID = """{
  "name": "DemoRequest", "type": "request", "apiKey": 9, // a comment
  "validVersions": "0-3", "flexibleVersions": "2+", "deprecatedVersions": "0",
  "listeners": ["broker"], "latestVersionUnstable": false,
  "commonStructs": [{"name": "Common", "versions": "0+", "fields": [
    {"name": "Id", "type": "uuid", "versions": "0+", "mapKey": "true"}]}],
  "fields": [
    {"name": "Ids", "type": "[]Common", "versions": "0+", "nullableVersions": "1+"},
    {"name": "Size", "type": "uint32", "versions": "1+", "default": "0xff"},
    {"name": "Rack", "type": "string", "versions": "2+", "nullableVersions": "2+",
     "taggedVersions": "2+", "tag": "0", "default": "null", "ignorable": true},
    /* nested */
    {"name": "Parts", "type": "[]Part", "versions": "0+", "fields": [
      {"name": "Load", "type": "float64", "versions": "0+", "default": 1.5},
      {"name": "Data", "type": "records", "versions": "0-2"}]}
  ]
}"""

PIECES = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "//",
    "/*",
    "*/",
    "\n",
    "\r",
    "-",
    "+",
    "null",
    "true",
    "0",
    "-1",
    "1e9",
    "99999999999999999999",
    '"none"',
    '"0+"',
    "Common",
    "Part",
    "Ids",
    "records",
    "\\ud800",
    "\ud800",
    "\x00",
    "\u0661",
    "é",
    '"fields": [',
    '"tag": 1,',
    '"taggedVersions": "2+",',
    '"mapKey": true,',
]

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 40000)
    | st.sampled_from(["0+", "1+", "2+", "3", "0-2", "none", "null", "", "-1", "0x7f"])
    | st.sampled_from(
        [*KINDS, *FIXED_SIZES, *VARIABLE_TYPES, "[]int8", "S", "[]T", "[]"]
    )
    | st.sampled_from(
        ["broker", "A", "B", "topicName", "true", "AAAAAAAAAAAAAAAAAAAAAA"]
    )
)
FIELD_KEYS = (
    "name",
    "type",
    "versions",
    "nullableVersions",
    "taggedVersions",
    "tag",
    "default",
    "ignorable",
    "mapKey",
    "entityType",
    "flexibleVersions",
    "zeroCopy",
)
FIELDS = st.recursive(
    st.just([]),
    lambda below: st.lists(
        st.builds(
            lambda name, versions, kind, more, fields: (
                {"name": name, "versions": versions, "type": kind}
                | more
                | ({"fields": fields} if fields else {})
            ),
            st.sampled_from("ABCD"),
            st.sampled_from(["0+", "1+", "2+", "0-1"]),
            st.sampled_from(["int8", "string", "[]int32", "S", "[]T", "records"]),
            st.dictionaries(st.sampled_from(FIELD_KEYS), SCALARS, max_size=2),
            below,
        ),
        max_size=3,
    ),
    max_leaves=6,
)
DOCUMENTS = st.builds(
    lambda fields, common, more: (
        {"name": "M", "type": "data", "validVersions": "0-2", "flexibleVersions": "1+"}
        | {"fields": fields, "commonStructs": common}
        | more
    ),
    FIELDS,
    st.lists(
        st.fixed_dictionaries(
            {
                "name": st.sampled_from("STU"),
                "versions": st.just("0+"),
                "fields": FIELDS,
            }
        ),
        max_size=2,
    ),
    st.dictionaries(
        st.sampled_from(
            ["type", "apiKey", "validVersions", "flexibleVersions", "name"]
        ),
        SCALARS,
        max_size=1,
    ),
)


def find_violated_rule(text: str) -> str:
    """Compile a schema. Return the name of the violated rule, or "" if it is valid.

    Any error other than SchemaError fails the test.
    """
    try:
        message = language.read_message(text)
    except SchemaError as error:
        assert error.rule
        assert "\n" not in str(error)
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1
        return error.rule
    assert isinstance(message, Message)
    return ""


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
def test_random_text_raises_schema_errors_only(text):
    """Any text is a valid schema or raises SchemaError, because users write schemas."""
    find_violated_rule(text)


def test_the_schema_to_be_damaged_is_valid():
    """The schema that the other tests damage is valid.

    Otherwise, the damage would have no effect.
    """
    assert find_violated_rule(VALID) == ""


@given(
    st.lists(
        st.tuples(
            st.integers(0, len(VALID)),
            st.integers(0, 30),
            st.sampled_from(PIECES) | st.text(max_size=3),
        ),
        min_size=1,
        max_size=3,
    )
)
@settings(max_examples=500)
def test_damaged_schema_raises_schema_errors_only(cuts):
    """A damaged schema is valid or raises SchemaError.

    It reaches more code than random text.
    """
    text = VALID
    for start, length, inserted in cuts:
        text = text[:start] + inserted + text[start + length :]
    find_violated_rule(text)


@given(st.lists(st.integers(0, VALID.count('"') // 2 - 1), min_size=2, max_size=2))
@settings(max_examples=300)
def test_exchanged_words_raise_schema_errors_only(indexes):
    """A schema in which words are exchanged is valid or raises SchemaError.

    Every word is valid at another position.
    """
    words = VALID.split('"')
    first, second = (index * 2 + 1 for index in indexes)
    words[first], words[second] = words[second], words[first]
    find_violated_rule('"'.join(words))


@given(DOCUMENTS)
@settings(max_examples=500)
def test_a_random_schema_that_is_accepted_has_a_plan_for_every_version(document):
    """Every random schema that is accepted can be compiled for every version."""
    try:
        message = language.read_message(json.dumps(document))
    except SchemaError:
        return
    for version in message.valid_versions:
        try:
            compile_plan(message, version)
        except SchemaError as error:
            # The rules do not know encoded sizes. Only compiling finds array elements
            # of zero bytes.
            assert error.rule == "empty-element"
