# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The definition files contain every message and version that Kafka has released.

The expected counts come from Kafka's history and detect a lost definition. The golden
vectors, which Kafka itself wrote, verify that every definition is correct.
"""

from __future__ import annotations

import re
from importlib import resources

import pytest

from kwire.schema import notation, registry, rules
from kwire.schema.model import Message
from kwire.schema.plan import compile_plan
from tests.harness.sweeps import sweep

NAMES = registry.names()


@pytest.fixture(scope="module")
def messages() -> dict[str, Message]:
    return {name: registry.load(name) for name in NAMES}


def test_every_kind_has_all_messages(messages: dict[str, Message]) -> None:
    """Every kind of message has the expected number of messages.

    The numbers only change if Kafka adds or removes a message.
    """
    counts: dict[str, int] = {}
    for message in messages.values():
        counts[message.kind] = counts.get(message.kind, 0) + 1
    assert counts == {
        "request": 95,
        "response": 95,
        "header": 2,
        "metadata": 34,
        "coordinator-key": 25,
        "coordinator-value": 25,
        "data": 16,
    }


@sweep("api_key", range(95))
def test_each_api_has_a_request_and_a_response_in_one_file(api_key: int) -> None:
    """The request and the response of an API are in one file, with equal versions.

    If the versions differed, a response could not be decoded.
    """
    request = registry.find_by_key(api_key, "request")
    response = registry.find_by_key(api_key, "response")
    assert request.valid_versions == response.valid_versions
    assert request.flexible_versions == response.flexible_versions
    assert request.family == response.family
    api = request.name.removesuffix("Request")
    assert (request.name, response.name) == (f"{api}Request", f"{api}Response")
    assert request.family == f"{api_key:03d}-{api}"


def test_versions_that_kafka_removed_are_kept(messages: dict[str, Message]) -> None:
    """Versions that Kafka 4.0 removed are still defined.

    Old brokers and clients use them.
    """
    for name, versions, field in (
        ("ProduceRequest", "0-13", "Acks"),
        ("LeaderAndIsrRequest", "0-7", "ControllerId"),
        ("ControlledShutdownRequest", "0-3", "BrokerId"),
        ("ListOffsetsResponse", "0-11", "Topics.Partitions.OldStyleOffsets"),
        ("OffsetCommitRequest", "0-10", "Topics.Partitions.CommitTimestamp"),
        ("AlterPartitionRequest", "0-3", "Topics.TopicName"),
        ("DescribeConfigsResponse", "0-4", "Results.Configs.IsDefault"),
    ):
        message = messages[name]
        assert str(message.valid_versions) == versions
        fields = {
            rules.join(path, struct_field.name)
            for path, struct in rules.each_struct(message)
            for struct_field in struct.fields
        }
        assert field in fields


def test_client_id_is_ignorable_in_header_version_0(
    messages: dict[str, Message],
) -> None:
    """The client id is ignorable in request header version 0.

    The field does not exist in this version, so encoding must omit it.
    """
    fields = {field.name: field for field in messages["RequestHeader"].struct.fields}
    assert fields["ClientId"].ignorable
    assert 0 not in fields["ClientId"].versions


@sweep("name", NAMES)
def test_each_message_obeys_the_rules_and_has_a_plan(name: str) -> None:
    """Every message obeys the rules and can be compiled for all versions.

    Without this test, an invalid definition would only be found at its first use.
    """
    message = registry.load(name)
    assert message.name == name
    rules.check(message)
    for version in message.valid_versions:
        assert compile_plan(message, version).version == version


def test_no_two_apis_and_no_two_records_of_a_family_share_a_number(
    messages: dict[str, Message],
) -> None:
    """Two APIs never share a key, and neither do two records of one topic.

    The number selects the layout, so it must be unique.
    """
    spaces: dict[str, list[Message]] = {}
    for name, message in messages.items():
        is_api = message.kind in ("request", "response")
        family = "api" if is_api else registry.find(name).family
        if family != "retired-records":
            spaces.setdefault(family, []).append(message)
    assert len(spaces) == 13
    for members in spaces.values():
        rules.check_ids(members)


def test_index_equals_the_files(messages: dict[str, Message]) -> None:
    """The index contains exactly the facts of the definition files.

    It is loaded instead of the files.
    """
    for name, message in messages.items():
        entry = registry.find(name)
        assert entry.kind == message.kind
        assert entry.api_key == message.api_key
        assert entry.valid_versions == message.valid_versions
        assert entry.flexible_versions == message.flexible_versions


def test_the_index_names_every_file_and_every_message_in_it() -> None:
    """The index contains every definition file and every message in it.

    A file that is missing in the index can never be loaded.
    """
    heads: dict[str, set[str]] = {}
    for file in resources.files("kwire.schema").joinpath("definitions").iterdir():
        if file.name != "index.txt":
            lines = file.read_text(encoding="utf-8").splitlines()
            names = {line.split()[1] for line in lines if line and line[0] != " "}
            heads[file.name.removesuffix(".txt")] = names
    indexed: dict[str, set[str]] = {}
    for name in NAMES:
        indexed.setdefault(registry.find(name).family, set()).add(name)
    assert heads == indexed


@sweep("name", NAMES)
def test_notation_round_trip(name: str) -> None:
    """Parsing a definition and writing it again restores the text."""
    text = registry.definition_text(registry.find(name).family)
    text_written = notation.write_message(registry.load(name))
    assert f"\n\n{text_written}\n" in f"\n\n{text}\n"


SOUNDS_SECRET = re.compile(r"Password|Hmac|Salt|AuthBytes|Secret|(Stored|Server)Key")


def test_fields_that_sound_secret_are_marked(messages: dict[str, Message]) -> None:
    """Every field whose name sounds like a secret is marked as a secret.

    Only marked fields are hidden by ``repr`` and in recordings.
    """
    unmarked = [
        f"{message.name}.{field.name}"
        for message in messages.values()
        for _, struct in rules.each_struct(message)
        for field in struct.fields
        if SOUNDS_SECRET.search(field.name) and not field.secret
    ]
    assert unmarked == []


def test_secrets_are_text_or_bytes_of_all_versions(
    messages: dict[str, Message],
) -> None:
    """Every secret field is a string or bytes, in all versions.

    Errors of ``encode`` never quote values of these types, but may quote others.
    """
    count = 0
    for message in messages.values():
        for _, struct in rules.each_struct(message):
            for field in struct.fields:
                if field.secret:
                    count += 1
                    assert field.type in ("string", "bytes", "records")
                    assert not field.is_array and field.tag is None
                    assert field.versions.min == 0, (message.name, field.name)
    assert count == 17


def test_load_reads_a_single_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Loading a message reads only the definition file that contains it.

    Reading all files would make the first use of a message slow.
    """
    families = []
    real = registry.definition_text

    def noting(family: str) -> str:
        families.append(family)
        return real(family)

    registry.names()
    monkeypatch.setattr(registry, "definition_text", noting)
    registry.load("FetchRequest")
    registry.load("TransactionLogValue")
    assert families == ["001-Fetch", "transaction-coordinator"]
