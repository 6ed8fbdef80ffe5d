# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Configurations of a test cluster: values, sources, changes and their effects."""

from __future__ import annotations

import pytest

from kwire import messages
from kwire.records import decode_batches, encode_batch
from kwire.schema import error_codes, releases
from kwire.testing.state.config_tables import load_tables
from kwire.testing.state.configs import check_value

from .admin_requests import (
    APPEND,
    BROKER,
    CLIENT_METRICS,
    DELETE,
    GROUP,
    SET,
    SUBTRACT,
    TOPIC,
    alter,
    describe,
    value_of,
)
from .log_requests import fetch, make_batch, produce
from .machine_client import MachineClient, make_machine, versions_of

DYNAMIC_TOPIC, DYNAMIC_BROKER, DYNAMIC_CLUSTER, STATIC, DEFAULT = range(1, 6)


@pytest.fixture
def client():
    return MachineClient(make_machine(topics={"orders": 1}))


@pytest.mark.parametrize("release", releases.NAMES)
def test_default_values_are_valid_in_every_release(release):
    tables = load_tables(release)
    for table in tables:
        for prop in table.values():
            if prop.default is not None:
                check_value(prop, prop.default)
    for prop in (*tables.topic.values(), *tables.group.values()):
        inherited = tables.broker.get(prop.broker_property)
        assert not prop.broker_property or inherited is not None
        if inherited is not None and inherited.default is not None:
            assert (inherited.kind, inherited.default) == (prop.kind, prop.default)


@pytest.mark.parametrize("release", ["0.11.0", "1.1", "2.3", "2.8", "3.9", "4.4"])
def test_configurations_are_described_in_every_version(release):
    machine = make_machine(topics={"orders": 1}, release=release)
    client = MachineClient(machine)
    machine.state.topics["orders"].configs["retention.ms"] = " 5000"
    for version in versions_of(machine, messages.DescribeConfigsRequest):
        for kind, name in ((TOPIC, "orders"), (BROKER, "1"), (BROKER, "")):
            code, entries = describe(client, kind, name, version=version)
            assert code == 0
            # The cluster has a value since 4.1, because of eligible leader replicas.
            assert bool(entries) == (bool(name) or release == "4.4")
        entries = describe(client, TOPIC, "orders", version=version)[1]
        retention, segment = entries["retention.ms"], entries["segment.bytes"]
        assert (retention.value, segment.value) == ("5000", "1073741824")
        if version == 0:
            is_old = release in ("0.11.0", "1.1", "2.3")
            assert (retention.is_default, segment.is_default) == (False, is_old)
            continue
        sources = (retention.config_source, segment.config_source)
        assert sources == (DYNAMIC_TOPIC, DEFAULT)
        (synonym,) = segment.synonyms
        assert (synonym.name, synonym.source) == ("log.segment.bytes", DEFAULT)
        assert segment.config_type == (3 if version >= 3 else 0)
        assert bool(segment.documentation) == (version >= 3)


def test_requested_keys_limit_the_response(client):
    entries = describe(client, TOPIC, "orders", "retention.ms", "nope")[1]
    assert set(entries) == {"retention.ms"}


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        (TOPIC, "nope", error_codes.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "a b", error_codes.INVALID_TOPIC_EXCEPTION),
        (TOPIC, "", error_codes.INVALID_TOPIC_EXCEPTION),
        (BROKER, "2", error_codes.INVALID_REQUEST),
        (BROKER, "x", error_codes.INVALID_REQUEST),
        (CLIENT_METRICS, "", error_codes.INVALID_REQUEST),
        (GROUP, "", error_codes.INVALID_REQUEST),
        (99, "x", error_codes.INVALID_REQUEST),
        (-1, "x", error_codes.INVALID_REQUEST),
    ],
)
def test_unknown_resources_have_an_error(client, kind, name, code):
    assert describe(client, kind, name)[0] == code


def test_broker_hides_passwords_and_marks_read_only_properties(client):
    entries = describe(client, BROKER, "1")[1]
    password = entries["ssl.key.password"]
    assert (password.is_sensitive, password.value) == (True, None)
    assert entries["node.id"].read_only and not entries["log.retention.ms"].read_only
    assert entries["node.id"].config_source == STATIC
    assert (entries["node.id"].value, entries["num.partitions"].value) == ("1", "1")


def test_operations_change_single_properties(client):
    assert alter(client, TOPIC, "orders", ("retention.ms", SET, "7")) == 0
    assert alter(client, TOPIC, "orders", ("cleanup.policy", APPEND, "compact")) == 0
    assert value_of(client, TOPIC, "orders", "cleanup.policy") == "delete,compact"
    assert alter(client, TOPIC, "orders", ("cleanup.policy", APPEND, "delete")) == 0
    assert value_of(client, TOPIC, "orders", "cleanup.policy") == "delete,compact"
    assert alter(client, TOPIC, "orders", ("cleanup.policy", SUBTRACT, "delete")) == 0
    assert value_of(client, TOPIC, "orders", "cleanup.policy") == "compact"
    assert alter(client, TOPIC, "orders", ("cleanup.policy", DELETE, None)) == 0
    assert value_of(client, TOPIC, "orders", "cleanup.policy") == "delete"
    assert value_of(client, TOPIC, "orders", "retention.ms") == "7"


def test_alter_configs_replaces_all_properties(client):
    alter(client, TOPIC, "orders", ("retention.ms", SET, "7"))
    request = messages.AlterConfigsRequest
    config = request.AlterableConfig(name="segment.ms", value="9")
    resource = request.AlterConfigsResource(
        resource_type=TOPIC, resource_name="orders", configs=[config]
    )
    for version in versions_of(client.machine, request):
        response = client.request(request(resources=[resource]), version)
        assert response.responses[0].error_code == 0
    assert client.machine.state.topics["orders"].configs == {"segment.ms": "9"}


@pytest.mark.parametrize("release", ["2.3", "2.8", "3.9", "4.4"])
def test_properties_are_changed_in_every_version(release):
    machine = make_machine(topics={"orders": 1}, release=release)
    client = MachineClient(machine)
    for version in versions_of(machine, messages.IncrementalAlterConfigsRequest):
        change = ("retention.ms", SET, str(version))
        assert alter(client, TOPIC, "orders", change, version=version) == 0
        value = machine.state.topics["orders"].configs["retention.ms"]
        assert value == str(version)


def test_validation_changes_nothing(client):
    change = ("retention.ms", SET, "7")
    assert alter(client, TOPIC, "orders", change, validate_only=True) == 0
    assert not client.machine.state.topics["orders"].configs


@pytest.mark.parametrize(
    ("kind", "name", "change", "code"),
    [
        (TOPIC, "orders", ("nope", SET, "1"), error_codes.INVALID_CONFIG),
        (TOPIC, "orders", ("retention.ms", SET, "x"), error_codes.INVALID_CONFIG),
        (TOPIC, "orders", ("retention.ms", APPEND, "1"), error_codes.INVALID_CONFIG),
        (TOPIC, "orders", ("retention.ms", SET, None), error_codes.INVALID_REQUEST),
        (TOPIC, "orders", ("retention.ms", 9, "1"), error_codes.INVALID_REQUEST),
        (TOPIC, "", ("retention.ms", SET, "1"), error_codes.INVALID_REQUEST),
        (
            TOPIC,
            "nope",
            ("retention.ms", SET, "1"),
            error_codes.UNKNOWN_TOPIC_OR_PARTITION,
        ),
        (BROKER, "1", ("node.id", SET, "2"), error_codes.INVALID_REQUEST),
        (BROKER, "9", ("log.retention.ms", SET, "2"), error_codes.INVALID_REQUEST),
        (BROKER, "", ("listeners", SET, "PLAINTEXT://:1"), error_codes.INVALID_REQUEST),
        (BROKER, "1", ("num.io.threads", SET, "0"), error_codes.INVALID_REQUEST),
        (GROUP, "g", ("nope", SET, "1"), error_codes.INVALID_CONFIG),
        (
            GROUP,
            "g",
            ("consumer.session.timeout.ms", SET, "1"),
            error_codes.INVALID_CONFIG,
        ),
        (CLIENT_METRICS, "m", ("nope", SET, "1"), error_codes.INVALID_REQUEST),
        (CLIENT_METRICS, "m", ("interval.ms", SET, "99"), error_codes.INVALID_REQUEST),
        (CLIENT_METRICS, "m", ("match", SET, "color=red"), error_codes.INVALID_CONFIG),
        (
            CLIENT_METRICS,
            "m",
            ("match", SET, "client_id=("),
            error_codes.INVALID_CONFIG,
        ),
        (8, "1", ("root", SET, "INFO"), error_codes.INVALID_REQUEST),
    ],
)
def test_invalid_changes_are_rejected(client, kind, name, change, code):
    assert alter(client, kind, name, change) == code
    assert not client.machine.state.topics["orders"].configs


def test_zookeeper_releases_report_invalid_values_as_invalid_requests():
    client = MachineClient(make_machine(topics={"orders": 1}, release="2.8"))
    code = alter(client, TOPIC, "orders", ("retention.ms", SET, "x"))
    assert code == error_codes.INVALID_REQUEST
    code = alter(client, TOPIC, "orders", ("nope", SET, "x"))
    assert code == error_codes.INVALID_CONFIG


def test_repeated_properties_and_resources_are_rejected(client):
    change = ("retention.ms", SET, "1")
    code = alter(client, TOPIC, "orders", change, change)
    assert code == error_codes.INVALID_REQUEST
    request = messages.IncrementalAlterConfigsRequest
    resource = request.AlterConfigsResource(resource_type=TOPIC, resource_name="orders")
    response = client.request(request(resources=[resource] * 2))
    codes = [entry.error_code for entry in response.responses]
    assert codes == [error_codes.INVALID_REQUEST] * 2


def test_broker_values_determine_topics_without_own_values():
    machine = make_machine(brokers=2, topics={"orders": 1})
    client = MachineClient(machine)
    assert alter(client, BROKER, "", ("log.retention.ms", SET, "20")) == 0
    entry = describe(client, TOPIC, "orders", "retention.ms")[1]["retention.ms"]
    assert (entry.value, entry.config_source) == ("20", DYNAMIC_CLUSTER)
    assert alter(client, BROKER, "1", ("log.retention.ms", SET, "10")) == 0
    entry = describe(client, TOPIC, "orders", "retention.ms")[1]["retention.ms"]
    assert (entry.value, entry.config_source) == ("10", DYNAMIC_BROKER)
    assert alter(client, TOPIC, "orders", ("retention.ms", SET, "5")) == 0
    entry = describe(client, TOPIC, "orders", "retention.ms")[1]["retention.ms"]
    synonyms = [(synonym.name, synonym.value) for synonym in entry.synonyms]
    assert synonyms == [
        ("retention.ms", "5"),
        ("log.retention.ms", "10"),
        ("log.retention.ms", "20"),
        ("log.retention.hours", "168"),
    ]
    entries = describe(client, BROKER, "")[1]
    assert set(entries) == {"log.retention.ms", "min.insync.replicas"}


def test_groups_have_configurations(client):
    assert alter(client, GROUP, "g", ("consumer.session.timeout.ms", SET, "50000")) == 0
    entries = describe(client, GROUP, "g")[1]
    assert entries["consumer.session.timeout.ms"].config_source == 8
    assert entries["consumer.heartbeat.interval.ms"].value == "5000"


def test_client_metrics_subscriptions_are_listed_and_deleted(client):
    changes = [("metrics", SET, "a,b"), ("interval.ms", SET, "200")]
    assert alter(client, CLIENT_METRICS, "m", *changes) == 0
    assert value_of(client, CLIENT_METRICS, "m", "metrics") == "a,b"
    request = messages.ListConfigResourcesRequest
    for version in versions_of(client.machine, request):
        options = {"resource_types": [CLIENT_METRICS]} if version else {}
        response = client.request(request(**options), version)
        names = [entry.resource_name for entry in response.config_resources]
        assert names == ["m"]
    changes = [("metrics", DELETE, None), ("interval.ms", DELETE, None)]
    assert alter(client, CLIENT_METRICS, "m", *changes) == 0
    assert not client.request(request(), 0).config_resources


def test_resources_of_all_types_are_listed_by_default(client):
    alter(client, GROUP, "g", ("consumer.session.timeout.ms", SET, "50000"))
    request = messages.ListConfigResourcesRequest
    resources = [
        (entry.resource_type, entry.resource_name)
        for entry in client.request(request(resource_types=[])).config_resources
    ]
    assert resources == [(TOPIC, "orders"), (BROKER, "1"), (8, "1"), (GROUP, "g")]
    response = client.request(request(resource_types=[99]))
    assert response.error_code == error_codes.UNSUPPORTED_VERSION


def test_largest_message_of_a_topic_is_limited(client):
    alter(client, TOPIC, "orders", ("max.message.bytes", SET, "100"))
    code = error_codes.MESSAGE_TOO_LARGE
    assert produce(client, make_batch(b"v" * 200)).error_code == code
    assert produce(client, make_batch(b"v")).error_code == 0
    alter(client, TOPIC, "orders", ("max.message.bytes", DELETE, None))
    alter(client, BROKER, "", ("message.max.bytes", SET, "150"))
    assert produce(client, make_batch(b"v" * 200)).error_code == code


def test_compacted_topics_require_keys(client):
    alter(client, TOPIC, "orders", ("cleanup.policy", SET, "compact"))
    data = encode_batch([(b"k", b"1"), (None, b"2"), (None, b"3")])
    part = produce(client, data)
    assert part.error_code == error_codes.INVALID_RECORD
    assert [record.batch_index for record in part.record_errors] == [1, 2]
    assert produce(client, make_batch(b"1")).error_code == 0


@pytest.mark.parametrize(("release", "magic"), [("4.4", 2), ("0.10.2", 1)])
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_append_time_replaces_the_timestamps_of_producers(release, magic, compression):
    machine = make_machine(topics={"orders": 1}, release=release)
    machine.state.topics["orders"].configs["message.timestamp.type"] = "LogAppendTime"
    client = MachineClient(machine)
    records = [(b"k", b"1", 5), (b"k", b"2", 6)]
    data = encode_batch(records, magic=magic, compression=compression)
    part = produce(client, data)
    now_ms = machine.state.clock.unix_ms
    assert (part.error_code, part.log_append_time_ms) == (0, now_ms)
    batches = list(decode_batches(fetch(client).records))
    assert {batch.timestamp_type for batch in batches} == {1}
    times = [record.timestamp for batch in batches for record in batch.records]
    assert times == [now_ms, now_ms]


def test_timestamps_outside_of_the_allowed_range_are_rejected(client):
    now_ms = client.machine.state.clock.unix_ms
    alter(client, TOPIC, "orders", ("message.timestamp.before.max.ms", SET, "1000"))
    code = error_codes.INVALID_TIMESTAMP
    for distance_ms, expected in (
        (-1001, code),
        (-1000, 0),
        (3_600_000, 0),
        (3_600_001, code),
    ):
        data = make_batch(b"v", timestamp=now_ms + distance_ms)
        assert produce(client, data).error_code == expected


def test_too_few_replicas_reject_records_that_require_all_of_them():
    machine = make_machine(brokers=3, topics={"orders": 1})
    machine.state.topics["orders"].configs["min.insync.replicas"] = "2"
    client = MachineClient(machine)
    assert produce(client, make_batch(b"1")).error_code == 0
    machine.state.stop_broker(2)
    assert produce(client, make_batch(b"1")).error_code == 0
    machine.state.stop_broker(3)
    code = error_codes.NOT_ENOUGH_REPLICAS
    assert produce(client, make_batch(b"1")).error_code == code
    assert produce(client, make_batch(b"1"), acks=1).error_code == 0
    machine.state.start_broker(3)
    assert produce(client, make_batch(b"1")).error_code == 0


def test_log_directories_are_described_in_every_version():
    for release in ("1.1", "2.3", "2.8", "3.9", "4.4"):
        machine = make_machine(topics={"orders": 2, "other": 1}, release=release)
        client = MachineClient(machine)
        produce(client, make_batch(b"1"))
        request = messages.DescribeLogDirsRequest
        for version in versions_of(machine, request):
            (result,) = client.request(request(topics=None), version).results
            sizes = {
                (topic.name, part.partition_index): part.partition_size
                for topic in result.topics
                for part in topic.partitions
            }
            log = machine.state.topics["orders"].partitions[0].log
            size = log.batches[0].header.size
            assert sizes == {("orders", 0): size, ("orders", 1): 0, ("other", 0): 0}
            assert (result.usable_bytes > 0) == (version >= 4)
            topic = request.DescribableLogDirTopic(topic="orders", partitions=[1, 9])
            (result,) = client.request(request(topics=[topic]), version).results
            assert [part.partition_index for part in result.topics[0].partitions] == [1]


def test_cluster_without_authorizer_has_no_acls(client):
    request = messages.DescribeAclsRequest
    for version in versions_of(client.machine, request):
        options = {"pattern_type_filter": 1} if version else {}
        response = client.request(
            request(resource_type_filter=1, operation=1, permission_type=1, **options),
            version,
        )
        assert response.error_code == error_codes.SECURITY_DISABLED


def test_zookeeper_brokers_fail_to_append_to_unknown_properties():
    client = MachineClient(make_machine(topics={"orders": 1}, release="2.8"))
    code = alter(client, TOPIC, "orders", ("nope", APPEND, "x"))
    assert code == error_codes.UNKNOWN_SERVER_ERROR


def test_client_metrics_do_not_slow_down_the_properties_of_topics(client):
    """Only values of brokers require a search for inherited values."""
    state = client.machine.state
    alter(client, CLIENT_METRICS, "m", ("metrics", SET, "a"))
    topic = state.topics["orders"]
    assert state.configs.topic_value(topic, "retention.ms", None) == "604800000"
