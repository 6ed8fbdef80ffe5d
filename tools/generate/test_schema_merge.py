# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test how two states of a message are merged, and which conflicts are errors.

The schemas are small, artificial examples. In the last test, every kwire definition
loses its versions one after the other, as if later releases removed them. The merge
must preserve all of them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from kwire.schema import language, notation, registry
from kwire.schema.model import Field, Message, Struct
from kwire.schema.plan import compile_plan
from kwire.schema.versions import VersionRange
from tools.generate import schema_merge
from tools.generate.schema_sources import ImportRefused
from tools.generate.small_schemas import field, schema


def union(older: str, newer: str) -> str:
    """Merge two schemas in Kafka's JSON language.

    Returns the result in kwire's notation.
    """
    merged = schema_merge.merge(
        language.read_message(older), language.read_message(newer)
    )
    return notation.write_message(merged)


class TestUnion:
    def test_versions_that_the_newer_state_dropped_stay(self) -> None:
        older = schema("0-2", field("A", "0+"), field("B", "2+"))
        newer = schema("1-3", field("A", "0+"), field("B", "2+"), field("C", "3+"))
        assert union(older, newer).splitlines() == [
            "request PingRequest 200 versions 0-3 flexible none",
            "  A int32 0+",
            "  B int32 2+",
            "  C int32 3+",
        ]

    def test_a_field_stays_secret(self) -> None:
        """Kafka's schemas do not mark secret fields. The merge keeps kwire's mark."""
        text = schema("0-1", field("A", "0+", "bytes"), field("B", "0+", "bytes"))
        older = language.read_message(text)
        older.struct.fields[0].secret = True
        merged = schema_merge.merge(older, language.read_message(text))
        lines = notation.write_message(merged).splitlines()
        assert lines[1:] == ["  A bytes 0+ secret", "  B bytes 0+"]

    def test_versions_that_come_back_are_as_the_newer_state_has_them(self) -> None:
        older = schema("2-3", field("A", "2+"))
        newer = schema("0-3", field("A", "0+"))
        assert union(older, newer) == notation.write_message(
            language.read_message(newer)
        )

    def test_a_field_that_is_gone_stays_in_its_place_for_dropped_versions(self) -> None:
        older = schema("0-2", field("A", "0+"), field("B", "0-1"), field("C", "0+"))
        newer = schema("2-3", field("A", "2+"), field("C", "2+"))
        assert union(older, newer).splitlines()[1:] == [
            "  A int32 0+",
            "  B int32 0-1",
            "  C int32 0+",
        ]

    def test_a_field_that_is_gone_stays_for_no_version_that_the_newer_has(self) -> None:
        older = schema("0-2", field("A", "0+"), field("B", "0+"))
        newer = schema("2-3", field("A", "2+"))
        assert "  B int32 0-1\n" in union(older, newer)

    def test_a_field_that_only_dropped_versions_would_have_is_not_taken(self) -> None:
        older = schema("0-1", field("A", "0+"))
        newer = schema("1", field("A", "0+"), field("B", "0"))
        assert "B" not in union(older, newer)

    def test_a_range_is_written_as_the_newer_state_writes_it(self) -> None:
        older = schema("1-2", field("A", "1+"))
        newer = schema("2-3", field("A", "0+"))
        assert "  A int32 0+\n" in union(older, newer)

    def test_a_field_that_is_gone_from_all_versions_goes(self) -> None:
        older = schema("0-1", field("A", "0+"), field("B", "0+"))
        newer = schema("0-2", field("A", "0+"))
        assert "B" not in union(older, newer)

    def test_a_field_that_is_gone_keeps_the_struct_it_holds(self) -> None:
        inner = [field("Host", "0+", "string"), field("Port", "0+")]
        older = schema("0-1", field("Node", "0", "Node", fields=inner))
        newer = schema("1", field("A", "1+"))
        assert union(older, newer).splitlines()[1:] == [
            "  Node Node 0",
            "    Host string 0+",
            "    Port int32 0+",
            "  A int32 1+",
        ]

    def test_fields_inside_structs_are_united_as_well(self) -> None:
        older_inner = [field("Name", "0+", "string"), field("Old", "0")]
        newer_inner = [field("Name", "1+", "string"), field("New", "2+")]
        older = schema("0-1", field("Topics", "0+", "[]Topic", fields=older_inner))
        newer = schema("1-2", field("Topics", "1+", "[]Topic", fields=newer_inner))
        assert union(older, newer).splitlines()[1:] == [
            "  Topics []Topic 0+",
            "    Name string 0+",
            "    Old int32 0",
            "    New int32 2+",
        ]

    def test_a_common_struct_is_united_once(self) -> None:
        def nodes(versions: str, *fields: Any) -> str:
            low = versions[0]
            common = {"name": "Node", "versions": f"{low}+", "fields": list(fields)}
            return schema(
                versions,
                field("From", f"{low}+", "Node"),
                field("To", f"{low}+", "Node"),
                commonStructs=[common],
            )

        older = nodes("0-1", field("Host", "0+", "string"), field("Rack", "0"))
        newer = nodes("1", field("Host", "1+", "string"))
        assert union(older, newer).splitlines()[1:] == [
            "  From Node 0+",
            "  To Node 0+",
            "  struct Node 0+",
            "    Host string 0+",
            "    Rack int32 0",
        ]

    def test_null_and_tags_are_united_by_version(self) -> None:
        tagged = {"tag": 0, "taggedVersions": "1+"}
        older = schema("0-1", field("A", "0+", "string", nullableVersions="0+"))
        newer = schema(
            "1",
            field("A", "1+", "string", nullableVersions="1+"),
            field("B", "1+", "string", **tagged),
            flexibleVersions="1+",
        )
        assert union(older, newer).splitlines() == [
            "request PingRequest 200 versions 0-1 flexible 1+",
            "  A string 0+ nullable 0+",
            "  B string 1+ tag 0",
        ]

    def test_an_emptied_message_keeps_everything(self) -> None:
        older = schema("0-1", field("A", "0+"), listeners=["zkBroker"])
        newer = schema("none", flexibleVersions="none")
        assert union(older, newer) == notation.write_message(
            language.read_message(older)
        )

    def test_ignorable_of_an_old_version_stays_where_the_newer_cannot_tell(
        self,
    ) -> None:
        older = schema("0-1", field("Id", "1+", ignorable=True))
        newer = schema("1-2", field("Id", "1+"))
        assert "  Id int32 1+ ignorable\n" in union(older, newer)

    def test_ignorable_of_a_field_in_every_version_is_as_the_newer_state_says(
        self,
    ) -> None:
        older = schema("0-1", field("Id", "0+"))
        newer = schema("1-2", field("Id", "1+", ignorable=True))
        assert "  Id int32 0+ ignorable\n" in union(older, newer)

    def test_ignorable_is_as_the_newer_state_says_where_it_can_tell(self) -> None:
        older = schema("0-2", field("Id", "2+", ignorable=True))
        newer = schema("1-2", field("Id", "2+"))
        assert "ignorable" not in union(older, newer)

    def test_the_newest_layout_of_a_version_wins(self) -> None:
        older = schema("0", field("A", "0+"))
        newer = schema("0", field("A", "0+", "int64"))
        assert "  A int64 0+\n" in union(older, newer)

    def test_a_default_is_as_the_newer_state_says(self) -> None:
        older = schema("0-1", field("A", "0+", default="1"))
        newer = schema("1", field("A", "1+", default="2"))
        assert "  A int32 0+ default 2\n" in union(older, newer)

    def test_what_was_deprecated_stays_so_where_the_newer_state_is_silent(self) -> None:
        older = schema("0-1", field("A", "0+"), deprecatedVersions="0")
        newer = schema("0-2", field("A", "0+"))
        assert "deprecated 0\n" in union(older, newer)

    def test_the_key_of_a_record_loses_its_number_as_a_version(self) -> None:
        shared = {"name": "PingKey", "flexibleVersions": "none"}
        older = schema("7", field("Id", "7"), type="data", apiKey=None, **shared)
        newer = schema(
            "0", field("Id", "0"), type="coordinator-key", apiKey=7, **shared
        )
        assert union(older, newer).splitlines() == [
            "coordinator-key PingKey 7 versions 0 flexible none",
            "  Id int32 0",
        ]

    def test_uniting_again_changes_nothing(self) -> None:
        older = schema("0-2", field("A", "0+"), field("B", "0-1"), field("C", "2+"))
        newer = schema("2-3", field("A", "2+"), field("C", "0+"), field("D", "3+"))
        once = union(older, newer)
        twice = schema_merge.merge(
            notation.read_message(once, "PingRequest"), language.read_message(newer)
        )
        assert notation.write_message(twice) == once


class TestRefusal:
    @pytest.mark.parametrize(
        ("older", "newer", "words"),
        [
            (
                schema("0-3", field("A", "0+")),
                schema("0-2", field("A", "0+")),
                "absorb older releases before newer ones",
            ),
            (
                schema("0-1", field("A", "0+")),
                schema("3", field("A", "3+")),
                "versions would be 0-1 and 3, and one range cannot say that",
            ),
            (
                schema("0-1", field("A", "0")),
                schema("1-2", field("A", "2+")),
                "A: the versions would be 0 and 2+",
            ),
            (
                schema("0-1", field("A", "0+")),
                schema("1", field("A", "1+", "string")),
                "version 0 of the union is not as the definitions have it:"
                " A has another type",
            ),
            (
                schema("0-1", field("A", "0+"), field("B", "0+")),
                schema("1", field("B", "1+"), field("A", "1+")),
                "version 0 of the union is not as the definitions have it:"
                " A has given way to B",
            ),
            (
                schema(
                    "0-1",
                    field("A", "0+", tag=0, taggedVersions="0+", default="1"),
                    flexibleVersions="0+",
                ),
                schema(
                    "1",
                    field("A", "1+", tag=0, taggedVersions="1+", default="2"),
                    flexibleVersions="1+",
                ),
                "A has another default",
            ),
            (
                schema(
                    "0-1",
                    field("A", "0+", tag=0, taggedVersions="0+"),
                    flexibleVersions="0+",
                ),
                schema("1", flexibleVersions="0+"),
                "tagged-versions-bounded",
            ),
            (
                schema("0-1", field("A", "0", "Node", fields=[field("X", "0+")])),
                schema("1", field("B", "1+", "Node", fields=[field("Y", "1+")])),
                "struct-defined-twice",
            ),
            (
                schema("0", field("A", "0+")),
                schema("0", field("A", "0+"), apiKey=201),
                "the apiKey was 200 and is 201",
            ),
        ],
        ids=lambda value: value[:40] if value[:1] != "{" else "",
    )
    def test_what_one_range_or_type_cannot_say_is_refused(
        self, older: str, newer: str, words: str
    ) -> None:
        with pytest.raises(ImportRefused) as caught:
            union(older, newer)
        assert words in str(caught.value)
        assert "PingRequest" in str(caught.value)


def without_versions_below(message: Message, lowest: int) -> Message:
    """Return a copy of a message without its versions below ``lowest``.

    Kafka releases remove old versions in the same way.
    """
    live = VersionRange(lowest, 32767)
    done: dict[int, Struct] = {}

    def cut_struct(struct: Struct) -> Struct:
        if id(struct) not in done:
            cut = done[id(struct)] = Struct(struct.name, struct.versions & live, [])
            cut.fields = list(cut_fields(struct))
        return done[id(struct)]

    def cut_fields(struct: Struct) -> Iterator[Field]:
        for source_field in struct.fields:
            if source_field.versions & live:
                cut = copy.copy(source_field)
                cut.versions &= live
                cut.tagged_versions &= live
                cut.nullable_versions &= live
                cut.struct = source_field.struct and cut_struct(source_field.struct)
                yield cut

    return Message(
        message.kind,
        message.api_key,
        cut_struct(message.struct),
        message.flexible_versions,
        common_structs=[
            cut_struct(struct) for struct in message.common_structs if struct.versions
        ],
    )


def test_no_definition_loses_a_version_that_a_later_release_removes() -> None:
    for message in map(registry.load, registry.names()):
        for lowest in list(message.valid_versions)[1:]:
            merged = schema_merge.merge(
                message, without_versions_below(message, lowest)
            )
            assert merged.valid_versions == message.valid_versions, message.name
            for version in message.valid_versions:
                before, after = (compile_plan(m, version) for m in (message, merged))
                exact = schema_merge.VALUES if version >= lowest else schema_merge.NAMES
                change = schema_merge.layout_change(before, after, exact)
                assert change == "", f"{message.name} version {version}"
