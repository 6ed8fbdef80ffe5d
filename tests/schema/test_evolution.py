# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test which changes to a message keep old data readable."""

from __future__ import annotations

import json

import pytest

from kwire.errors import SchemaError
from kwire.schema.evolution import check_evolution
from kwire.schema.language import read_message


def field(name: str, type: str = "int32", versions: str = "0+", **keys) -> dict:
    return {"name": name, "type": type, "versions": versions} | keys


def describe_tagged(
    name: str, tag: int, type: str = "int32", versions: str = "0+"
) -> dict:
    return field(name, type, versions, taggedVersions=versions, tag=tag)


def record(*fields: dict, **keys: object):
    document = {
        "name": "DemoRecord",
        "type": "metadata",
        "apiKey": 3,
        "validVersions": "0-1",
        "flexibleVersions": "0+",
        "fields": fields,
    }
    return read_message(json.dumps(document | keys))


OLD = (
    field("Id"),
    field("Name", "string", nullableVersions="1+"),
    field("Parts", "[]Part", fields=[field("Index"), describe_tagged("Epoch", 0)]),
    describe_tagged("Mode", 0),
)


def old(**keys: object):
    return record(*OLD, **keys)


def check_refused(before, after, rule: str, path: str = "") -> SchemaError:
    with pytest.raises(SchemaError) as caught:
        check_evolution(before, after)
    error = caught.value
    assert (error.rule, error.path, error.message_name) == (rule, path, "DemoRecord")
    assert error.line == 1
    return error


def changed(index: int, **keys: object):
    """Return the old record, in which one field has changed keys."""
    fields = list(OLD)
    fields[index] = fields[index] | keys
    return record(*fields)


def test_unchanged_message_is_accepted():
    check_evolution(old(), old())


def test_fields_may_be_added_in_new_versions():
    """A new version may add fields at any position.

    Existing versions remain unchanged.
    """
    new = (OLD[0], field("Rack", "string", "2+"), *OLD[1:])
    check_evolution(old(), record(*new, validVersions="0-2"))


def test_tagged_fields_may_be_added_in_any_version():
    """A tagged field may be added to any version, because old readers skip it."""
    check_evolution(old(), record(describe_tagged("Extra", 1), *OLD))


def test_a_field_may_be_renamed_in_its_place():
    """A field may be renamed if its position does not change.

    Untagged fields are identified by their position, so the bytes are the same.
    """
    check_evolution(old(), changed(0, name="BrokerId"))


def test_fields_of_removed_versions_may_be_removed():
    before = record(field("Gone", versions="0"), *OLD)
    check_evolution(before, record(*OLD, validVersions="1"))


def test_flexible_versions_may_grow():
    """More versions may become flexible, but only new ones.

    An existing version that changes would have another layout.
    """
    plain = OLD[0]
    before = record(plain, flexibleVersions="1+")
    check_evolution(before, record(plain))
    check_refused(record(plain), before, "evolution-flexible-versions")


def test_key_and_type_are_fixed():
    check_refused(old(), old(apiKey=4), "evolution-api-key")
    check_refused(old(), old(type="data"), "evolution-type")


def test_version_range_may_not_shrink():
    """Versions may not be removed, because programs may still use them."""
    check_refused(old(), old(validVersions="0"), "evolution-max-version")
    check_refused(old(validVersions="1"), old(), "evolution-min-version")
    plain = record(OLD[0], flexibleVersions="none")
    check_refused(plain, old(validVersions="none"), "evolution-max-version")


def test_the_type_of_a_field_is_fixed():
    check_refused(old(), changed(0, type="int64"), "evolution-type", "Id")
    error = check_refused(old(), changed(0, type="[]int32"), "evolution-type", "Id")
    assert error.reason == "the type was int32 and is []int32; keep it"


def test_the_default_of_a_field_is_fixed():
    """The default of a field may not change.

    Readers use it for versions that do not have the field.
    """
    check_refused(old(), changed(0, default="-1"), "evolution-default", "Id")
    check_evolution(old(), changed(0, default=""))


@pytest.mark.parametrize(
    ("index", "keys"),
    [
        (1, {"nullableVersions": "0+"}),
        (1, {"nullableVersions": "none"}),
        (3, {"taggedVersions": "1+"}),
    ],
)
def test_the_versions_of_a_field_are_fixed_where_they_exist_already(index, keys):
    check_refused(
        old(), changed(index, **keys), "evolution-versions", OLD[index]["name"]
    )


def test_the_versions_of_a_field_may_change_beyond_those_that_exist():
    new = (OLD[0] | {"versions": "0-1"}, *OLD[1:])
    check_evolution(old(), record(*new, validVersions="0-2"))


def test_a_field_may_not_start_later_than_it_did():
    """The first version of a field may not increase.

    The layout of an existing version would change.
    """
    check_refused(old(), changed(0, versions="1+"), "evolution-versions", "Id")
    check_refused(old(), changed(0, versions="2+"), "evolution-versions", "Id")


def test_a_field_may_not_be_added_in_a_version_that_exists():
    """A field may not be added to an existing version.

    The layout of this version would change.
    """
    error = check_refused(
        old(),
        record(OLD[0], field("Rack", "string", "1+"), *OLD[1:]),
        "evolution-field-added",
        "Rack",
    )
    assert "set versions to 2+" in error.reason


@pytest.mark.parametrize("index", range(4))
def test_field_may_not_be_removed_from_an_existing_version(index):
    """A field may not be removed from an existing version.

    The layout of this version would change.
    """
    fields = [*OLD[:index], *OLD[index + 1 :]]
    name = OLD[index]["name"]
    check_refused(old(), record(*fields), "evolution-field-removed", name)


def test_fields_keep_their_order():
    """Two fields may not be swapped, even if they have the same type."""
    before = record(field("First"), field("Second"))
    after = record(field("Second"), field("First"))
    check_refused(before, after, "evolution-order", "Second")


def test_a_tag_is_not_used_again():
    """The tag of a removed field may not be used again.

    Old messages may contain the tag with its previous meaning.
    """
    check_refused(old(), changed(3, name="Level"), "evolution-tag-reused", "Level")


def test_nested_structs_are_compared():
    parts = OLD[2]
    for inner, rule, path in (
        (
            [field("Index", "int16"), describe_tagged("Epoch", 0)],
            "evolution-type",
            "Parts.Index",
        ),
        (
            [field("Index"), describe_tagged("Age", 0)],
            "evolution-tag-reused",
            "Parts.Age",
        ),
        ([field("Index")], "evolution-field-removed", "Parts.Epoch"),
    ):
        after = record(*OLD[:2], parts | {"fields": inner}, OLD[3])
        check_refused(old(), after, rule, path)


def test_a_struct_may_move_to_the_common_ones():
    """A struct may be moved to ``commonStructs``, because the bytes do not change."""
    inner = OLD[2]["fields"]
    parts = {key: value for key, value in OLD[2].items() if key != "fields"}
    common = [{"name": "Part", "versions": "0+", "fields": inner}]
    check_evolution(old(), record(*OLD[:2], parts, OLD[3], commonStructs=common))
