# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the JSON reader: accepted syntax and error positions."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.errors import SchemaError
from kwire.schema import json_text
from tests.harness.sweeps import sweep


def plain(value: json_text.Value) -> object:
    """Convert a value to the form that ``json.loads`` returns."""
    if value.kind == json_text.OBJECT:
        return {key: plain(member) for key, (_, member) in value.members.items()}
    if value.kind == json_text.ARRAY:
        return [plain(element) for element in value.elements]
    return value.text if value.kind == json_text.STRING else json.loads(value.text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
)


@given(JSON, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_json_of_the_standard_library_is_parsed(value, ascii_only, indent):
    """The reader returns the same values as the standard ``json`` module.

    Escapes, surrogate pairs, numbers and nesting are tested.
    """
    value = json.loads(json.dumps(value).replace("Infinity", "1"))
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert plain(json_text.read_value(text)) == value


def test_comments_are_allowed_between_tokens():
    """Comments are allowed between tokens.

    A comment may contain quotes and braces, and a string may contain comment markers.
    """
    text = """// before {"
    { /* a */ "k" /* ** // */ : // c
      [ 1 /**/ , /* two
      lines */ 2 // d ]
      ] , "s": "// no /* comment */" } /* after */ // the end"""
    assert plain(json_text.read_value(text)) == {
        "k": [1, 2],
        "s": "// no /* comment */",
    }


def test_the_last_of_repeated_keys_counts():
    value = json_text.read_value('{"a": 1, "b": 2,\n "a": 3}')
    assert plain(value) == {"a": 3, "b": 2}
    assert value.members["a"][0] == (2, 2)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_positions_count_lines_and_columns_from_one(line_end):
    """Error positions count lines and columns from 1.

    A tab or a character outside of the basic plane is one column.
    """
    text = line_end.join(["{", '\t"\U0001f600": [', "", "  true,7]}"])
    value = json_text.read_value(text)
    key_position, array = value.members["\U0001f600"]
    assert value.position == (1, 1)
    assert key_position == (2, 2)
    assert array.position == (2, 7)
    assert [element.position for element in array.elements] == [(4, 3), (4, 8)]


def test_numbers_keep_their_text():
    """A number keeps its text. Kafka uses the text if it expects a string."""
    value = json_text.read_value("[-0, 1.50, 1E+2]")
    assert [element.text for element in value.elements] == ["-0", "1.50", "1E+2"]


@sweep(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ("// only a comment\n", 2, 1),
        ("{", 1, 2),
        ("[1,", 1, 4),
        ("[1,]", 1, 4),
        ("[1 2]", 1, 4),
        ('{"a" 1}', 1, 6),
        ('{"a": 1,}', 1, 9),
        ("{a: 1}", 1, 2),
        ("{'a': 1}", 1, 2),
        ("{} {}", 1, 4),
        ("{}\n]", 2, 1),
        ("{} x", 1, 4),
        ("[01]", 1, 3),
        ("[+1]", 1, 2),
        ("[.5]", 1, 2),
        ("[1.]", 1, 3),
        ("[NaN]", 1, 2),
        ("[True]", 1, 2),
        ("[nul]", 1, 2),
        ("[\u0661]", 1, 2),
        ("\u00a0{}", 1, 1),
        ('["abc', 1, 2),
        ('["a\nb"]', 1, 4),
        ('["a\tb"]', 1, 4),
        (r'["\x41"]', 1, 3),
        (r'["\u12"]', 1, 3),
        (r'["\u-123"]', 1, 3),
        (r'["\ud800"]', 1, 3),
        (r'["\ud800\u0041"]', 1, 3),
        (r'["\udc00\ud800"]', 1, 3),
        ('["a\ud800"]', 1, 4),
        ("{} /* never closed", 1, 4),
        ("/* a */ /*/ {}", 1, 9),
        ("/ {}", 1, 1),
        ("# {}", 1, 1),
    ],
)
def test_invalid_json_is_rejected_at_its_position(text, line, column):
    with pytest.raises(SchemaError) as caught:
        json_text.read_value(text)
    error = caught.value
    assert (error.rule, error.line, error.column) == ("json", line, column)
    assert str(error).isprintable()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('["\t"]', "a string cannot hold U+0009; escape it with \\"),
        ('["\ud800"]', "a string cannot hold a lone surrogate; remove it"),
        ("[1 2]", "expected , or ] (got 2)"),
        ("[", "expected a JSON value (got the end of the text)"),
        ("[\x00", "expected a JSON value (got U+0000)"),
        ("/* [", "this comment is never closed; end it with */"),
    ],
)
def test_error_shows_the_unexpected_character(text, reason):
    """An error shows the unexpected character, or its code point if it is invisible."""
    with pytest.raises(SchemaError) as caught:
        json_text.read_value(text)
    assert caught.value.reason == reason


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_is_bounded(opening, closing):
    """Deep nesting raises SchemaError instead of overflowing the stack."""
    deep = json_text.MAX_NESTING
    json_text.read_value(opening * deep + "0" + closing * deep)
    for depth in (deep + 1, 100_000):
        with pytest.raises(SchemaError) as caught:
            json_text.read_value(opening * depth)
        error = caught.value
        assert error.rule == "nesting-too-deep"
        assert (error.line, error.column) == (1, deep * len(opening) + 1)
