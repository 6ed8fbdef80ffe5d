# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the schema importer: merging, writing and reporting releases.

All schemas are small, artificial examples. The tests do not require a network, Maven or
a Kafka checkout.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from kwire.schema import language
from tools.generate import import_schemas, schema_changes, schema_files, schema_sources
from tools.generate.schema_files import Entries, Entry
from tools.generate.schema_sources import Found, ImportRefused
from tools.generate.small_schemas import field, schema

PONG = schema("0", name="PongResponse", type="response")


class TestSources:
    def test_schemas_are_found_in_folders_and_jars(self, tmp_path: Path) -> None:
        checkout = tmp_path / "clients/src/main/resources/common/message"
        checkout.mkdir(parents=True)
        (checkout / "PingRequest.json").write_text(f"// a comment\n{schema('0')}")
        (checkout / "index.json").write_text('{"messages": {"validVersions": "0"}}')
        (checkout / "list.json").write_text('["\\"validVersions\\""]')
        (checkout / "settings.json").write_text("not JSON at all")
        with zipfile.ZipFile(tmp_path / "kafka-clients-9.jar", "w") as jar:
            jar.writestr("common/message/PongResponse.json", PONG)
            jar.writestr("META-INF/MANIFEST.MF", "")
        schemas = schema_sources.read_schemas([tmp_path])
        assert {name: origin for name, (_, origin) in schemas.items()} == {
            "PingRequest": (
                "clients/src/main/resources/common/message/PingRequest.json"
            ),
            "PongResponse": "kafka-clients-9.jar: common/message/PongResponse.json",
        }

    def test_samples_and_copies_of_a_checkout_are_passed_over(
        self, tmp_path: Path
    ) -> None:
        for source in ("src/test/resources", "build/resources", "src/main"):
            folder = tmp_path / source
            folder.mkdir(parents=True)
            versions = "0" if source == "src/main" else "0-9"
            (folder / "PingRequest.json").write_text(schema(versions))
        message, _ = schema_sources.read_schemas([tmp_path])["PingRequest"]
        assert str(message.valid_versions) == "0"

    def test_two_states_of_a_message_in_one_source_are_refused(
        self, tmp_path: Path
    ) -> None:
        for number in (1, 2):
            (tmp_path / f"{number}.json").write_text(schema(f"0-{number}"))
        with pytest.raises(ImportRefused, match=r"1\.json and 2\.json both define"):
            schema_sources.read_schemas([tmp_path])

    def test_a_broken_schema_is_refused_with_file_and_position(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "Ping.json").write_text(schema("0", field("A", "zero")))
        with pytest.raises(ImportRefused, match=r"^Ping\.json: line 1, column .* A: "):
            schema_sources.read_schemas([tmp_path])

    def test_a_source_without_schemas_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ImportRefused, match="no Kafka schema there"):
            schema_sources.read_schemas([tmp_path])
        with pytest.raises(ImportRefused, match="does not exist"):
            schema_sources.read_schemas([tmp_path / "nothing"])


def found_in(origin: str, *texts: str) -> dict[str, Found]:
    messages = [language.read_message(text) for text in texts]
    return {message.name: Found(message, origin) for message in messages}


def absorb_entries(entries: Entries, *texts: str) -> tuple[Entries, list[str]]:
    return import_schemas.absorb(entries, found_in("", *texts))


def record(name: str, number: int) -> str:
    return schema("0", name=name, type="metadata", apiKey=number)


class TestAbsorbing:
    def test_a_key_under_another_name_is_a_rename(self) -> None:
        entries, _ = absorb_entries(
            {},
            schema("0-1", field("A", "0+")),
            schema("0-1", name="PingResponse", type="response"),
        )
        united, notes = absorb_entries(
            entries,
            schema("1-2", field("A", "1+"), name="ProbeRequest"),
            schema("1-2", name="ProbeResponse", type="response"),
        )
        assert notes == [
            "PingRequest is called ProbeRequest now",
            "PingResponse is called ProbeResponse now",
        ]
        assert {family for _, family in united.values()} == {"200-Probe"}
        assert str(united["ProbeRequest"].message.valid_versions) == "0-2"

    def test_a_record_whose_number_is_taken_retires(self) -> None:
        entries, _ = absorb_entries({}, record("QuotaOneRecord", 14))
        united, notes = absorb_entries(entries, record("QuotaTwoRecord", 14))
        assert notes == [
            "QuotaTwoRecord has the number of QuotaOneRecord, which retires"
        ]
        assert united["QuotaOneRecord"].family == "retired-records"
        assert united["QuotaTwoRecord"].family == "metadata-records"

    def test_a_number_may_be_taken_from_one_record_after_another(self) -> None:
        entries: Entries = {}
        for name in ("OneRecord", "TwoRecord", "ThreeRecord"):
            entries, _ = absorb_entries(entries, record(name, 14))
        retired = {name for name, (_, family) in entries.items() if "ret" in family}
        assert retired == {"OneRecord", "TwoRecord"}

    def test_two_records_of_one_number_in_a_release_are_refused(self) -> None:
        with pytest.raises(ImportRefused, match="id-conflict"):
            absorb_entries({}, record("OneRecord", 1), record("TwoRecord", 1))

    def test_tiered_storage_counts_its_records_apart(self) -> None:
        entries, _ = absorb_entries({}, record("OneRecord", 1))
        united, notes = absorb_entries(entries, record("RemoteRecord", 1))
        assert notes == []
        assert united["RemoteRecord"].family == "remote-log-records"

    def test_a_request_without_its_response_is_refused(self) -> None:
        with pytest.raises(ImportRefused, match="API key 200 has only a request"):
            absorb_entries({}, schema("0"))

    def test_a_reserved_key_that_never_had_versions_is_not_taken(self) -> None:
        united, notes = absorb_entries({}, schema("none"))
        assert united == {}
        assert notes == ["PingRequest only reserves its key and has no versions"]

    def test_what_the_release_lacks_stays(self) -> None:
        entries, _ = absorb_entries({}, record("OneRecord", 1))
        united, _ = absorb_entries(entries, record("TwoRecord", 2))
        assert sorted(united) == ["OneRecord", "TwoRecord"]

    def test_a_new_coordinator_record_goes_where_its_module_says(self) -> None:
        texts = (
            schema("0", name="NewKey", type="coordinator-key", apiKey=9),
            schema("0", name="NewValue", type="coordinator-value", apiKey=9),
        )
        origin = "kafka-share-coordinator-9.jar: common/message/NewKey.json"
        united, _ = import_schemas.absorb({}, found_in(origin, *texts))
        assert {family for _, family in united.values()} == {"share-coordinator"}


class TestWords:
    def changes(self, older: str, newer: str) -> list[str]:
        before, after = (language.read_message(text) for text in (older, newer))
        return schema_changes.describe(
            {before.name: Entry(before, "200-Ping")},
            {after.name: Entry(after, "200-Ping")},
        )

    def test_each_kind_of_change_has_its_line(self) -> None:
        older = schema("0-1", field("A", "0+"), field("B", "0+", "string"))
        newer = schema(
            "0-2",
            field("A", "0+", "int32", default="-1"),
            field("C", "2+", "string", nullableVersions="2+"),
            listeners=["broker"],
        )
        assert self.changes(older, newer) == [
            "PingRequest:",
            "  versions 0-1 -> 0-2, listeners none -> broker",
            "  A: default none -> '-1'",
            "  + C: type string, versions 2+, nullable 2+",
            "  - B",
            "  ! version 0-1 had another layout: B is gone, in line",
        ]

    def test_equal_states_say_nothing(self) -> None:
        assert self.changes(schema("0"), schema("0")) == []

    def test_another_name_in_the_same_place_is_the_same_layout(self) -> None:
        older, newer = schema("0", field("A", "0+")), schema("0", field("B", "0+"))
        assert self.changes(older, newer) == [
            "PingRequest:",
            "  + B: type int32, versions 0+",
            "  - A",
        ]

    def test_a_new_order_is_said_even_where_no_version_shows_it(self) -> None:
        older = schema("0-1", field("A", "0"), field("B", "1+"))
        newer = schema("0-1", field("B", "1+"), field("A", "0"))
        assert self.changes(older, newer) == [
            "PingRequest:",
            "  the order of the fields",
        ]

    def test_no_line_is_longer_than_a_terminal(self) -> None:
        long = "A" * 30
        lines = self.changes(
            schema("0"), schema("0-1", field(long, "1+", "string", default="x" * 30))
        )
        assert max(map(len, lines)) <= 80
        assert "x" * 30 in "".join(lines)


class TestCommands:
    @pytest.fixture
    def source(self, tmp_path: Path) -> Path:
        folder = tmp_path / "source"
        folder.mkdir()
        (folder / "PingRequest.json").write_text(schema("0", field("A", "0+")))
        response = schema("0", name="PingResponse", type="response")
        (folder / "PingResponse.json").write_text(response)
        return folder

    @pytest.fixture
    def definitions(self, source: Path, tmp_path: Path) -> Path:
        folder = tmp_path / "definitions"
        assert self.run("from", source, folder, "--write") == 0
        return folder

    def run(self, command: str, source: Path, definitions: Path, *more: str) -> int:
        words = [command, str(source), "--definitions", str(definitions), *more]
        return import_schemas.main(words)

    def test_writing_gives_a_file_of_each_family_and_an_index(
        self, definitions: Path
    ) -> None:
        files = {file.name: file.read_text() for file in definitions.iterdir()}
        assert files == {
            "200-Ping.txt": (
                "request PingRequest 200 versions 0 flexible none\n"
                "  A int32 0+\n"
                "\n"
                "response PingResponse 200 versions 0 flexible none\n"
            ),
            "index.txt": (
                "PingRequest request 200 0 none 200-Ping\n"
                "PingResponse response 200 0 none 200-Ping\n"
            ),
        }

    def test_check_passes_when_nothing_is_missing(
        self, source: Path, definitions: Path
    ) -> None:
        assert self.run("check", source, definitions) == 0

    def test_check_fails_on_a_difference_and_writes_nothing(
        self, source: Path, definitions: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (source / "PingRequest.json").write_text(schema("0-1", field("A", "0+")))
        before = (definitions / "200-Ping.txt").read_text()
        assert self.run("check", source, definitions) == 1
        assert self.run("from", source, definitions) == 0
        assert (definitions / "200-Ping.txt").read_text() == before
        assert "PingRequest:\n  versions 0 -> 0-1\n" in capsys.readouterr().out

    def test_versions_that_only_kwire_has_are_no_difference(
        self, source: Path, definitions: Path
    ) -> None:
        (source / "PingRequest.json").write_text(schema("none"))
        assert self.run("check", source, definitions) == 0

    def test_a_rename_removes_the_old_file(
        self, source: Path, definitions: Path
    ) -> None:
        for half in ("Request", "Response"):
            old = source / f"Ping{half}.json"
            (source / f"Probe{half}.json").write_text(
                old.read_text().replace("Ping", "Probe")
            )
            old.unlink()
        assert self.run("from", source, definitions, "--write") == 0
        names = sorted(file.name for file in definitions.iterdir())
        assert names == ["200-Probe.txt", "index.txt"]

    def test_a_refusal_is_one_line_and_status_1(
        self, source: Path, definitions: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (source / "PingRequest.json").write_text("{" + '"validVersions": 1')
        capsys.readouterr()
        assert self.run("from", source, definitions, "--write") == 1
        error = capsys.readouterr().err
        assert error.startswith("import_schemas: PingRequest.json: line 1, column ")
        assert error.count("\n") == 1

    @pytest.mark.parametrize(
        ("name", "old", "new"),
        [
            ("index.txt", "PingRequest request", "PingRequest response"),
            ("200-Ping.txt", "  A int32 0+", "  A int32 0+ nullable none"),
            ("200-Ping.txt", "\n\n", "\n"),
        ],
    )
    def test_a_file_that_is_not_as_written_is_found_and_mended(
        self, definitions: Path, name: str, old: str, new: str
    ) -> None:
        file = definitions / name
        fresh = file.read_text()
        file.write_text(fresh.replace(old, new))
        words = ["index", "--definitions", str(definitions)]
        assert import_schemas.main([*words, "--check"]) == 1
        assert import_schemas.main(words) == 0
        assert file.read_text() == fresh
        assert import_schemas.main([*words, "--check"]) == 0

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ("A int32 0+", "A int32 0+ nullable 0+", "type-not-nullable"),
            ("A int32 0+", "A int32", "200-Ping.txt"),
            ("response PingResponse 200", "response PingResponse 201", "only a re"),
        ],
    )
    def test_a_definition_that_breaks_a_rule_is_refused(
        self,
        definitions: Path,
        capsys: pytest.CaptureFixture[str],
        old: str,
        new: str,
        words: str,
    ) -> None:
        file = definitions / "200-Ping.txt"
        file.write_text(file.read_text().replace(old, new))
        words_given = ["index", "--check", "--definitions", str(definitions)]
        assert import_schemas.main(words_given) == 1
        assert words in capsys.readouterr().err


def test_the_definition_files_are_as_the_importer_writes_them() -> None:
    entries = schema_files.read_entries(schema_files.DEFINITIONS)
    schema_files.check_entries(entries)
    files = schema_files.files_of(entries)
    assert schema_files.stale_files(schema_files.DEFINITIONS, files) == []
