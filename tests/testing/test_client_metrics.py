# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Client metrics of a test cluster (KIP-714)."""

from __future__ import annotations

import gzip
from uuid import UUID

import pytest

from kwire import messages
from kwire.schema import error_codes, releases
from kwire.testing.machine import ClusterMachine, make_table
from kwire.testing.options import make_state

from .admin_requests import CLIENT_METRICS, SET, alter
from .machine_client import MachineClient

TELEMETRY_KEYS = {
    releases.key_of("GetTelemetrySubscriptions"),
    releases.key_of("PushTelemetry"),
}


def make_client(client_id="test", **properties):
    properties = {key.replace("_", "."): value for key, value in properties.items()}
    state = make_state(1, {}, "4.4", 1, True, properties)
    return MachineClient(ClusterMachine(state), client_id=client_id)


def subscribe(client, instance_id=None):
    request = messages.GetTelemetrySubscriptionsRequest
    return client.request(request(client_instance_id=instance_id or UUID(int=0)))


def push(client, subscription, data=b"metrics", **options):
    values = {
        "client_instance_id": subscription.client_instance_id,
        "subscription_id": subscription.subscription_id,
        "metrics": data,
        **options,
    }
    return client.request(messages.PushTelemetryRequest(**values)).error_code


def received(client):
    return list(client.machine.state.received_metrics)


def test_brokers_without_receiver_do_not_offer_the_apis():
    assert not TELEMETRY_KEYS & set(make_table("4.4").advertised)
    assert set(make_table("4.4", True).advertised) >= TELEMETRY_KEYS


def test_pushed_metrics_are_received():
    client = make_client(metrics="*", interval_ms="1000")
    subscription = subscribe(client)
    assert subscription.error_code == 0
    assert list(subscription.requested_metrics) == ["*"]
    assert subscription.push_interval_ms == 1000
    assert list(subscription.accepted_compression_types) == [4, 3, 1, 2]
    assert push(client, subscription) == 0
    client.advance(1)
    data = gzip.compress(b"more")
    assert push(client, subscription, data, compression_type=1, terminating=True) == 0
    assert [(entry.data, entry.is_last) for entry in received(client)] == [
        (b"metrics", False),
        (b"more", True),
    ]
    assert received(client)[0].client_instance_id == subscription.client_instance_id
    client.advance(1)
    assert push(client, subscription) == error_codes.INVALID_REQUEST


def test_early_requests_are_throttled():
    client = make_client(metrics="*", interval_ms="1000")
    subscription = subscribe(client)
    instance_id = subscription.client_instance_id
    throttled = error_codes.THROTTLING_QUOTA_EXCEEDED
    assert subscribe(client, instance_id).error_code == throttled
    client.advance(0.5)
    assert push(client, subscription) == 0
    client.advance(0.9)
    assert push(client, subscription) == throttled
    client.advance(0.1)
    assert push(client, subscription) == 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"subscription_id": 1}, error_codes.UNKNOWN_SUBSCRIPTION_ID),
        ({"compression_type": 9}, error_codes.UNSUPPORTED_COMPRESSION_TYPE),
        ({"compression_type": -1}, error_codes.UNSUPPORTED_COMPRESSION_TYPE),
        ({"compression_type": 1}, error_codes.INVALID_RECORD),
        ({"data": b"x" * ((1 << 20) + 1)}, error_codes.TELEMETRY_TOO_LARGE),
        ({"client_instance_id": UUID(int=0)}, error_codes.INVALID_REQUEST),
    ],
)
def test_invalid_pushes_are_rejected(options, code):
    client = make_client(metrics="*")
    assert push(client, subscribe(client), **options) == code
    assert not received(client)


def test_changed_subscription_gets_another_id_immediately():
    client = make_client(metrics="a", interval_ms="1000")
    subscription = subscribe(client)
    alter(client, CLIENT_METRICS, "more", ("metrics", SET, "b"))
    assert push(client, subscription) == error_codes.UNKNOWN_SUBSCRIPTION_ID
    changed = subscribe(client, subscription.client_instance_id)
    assert changed.error_code == error_codes.THROTTLING_QUOTA_EXCEEDED
    client.advance(1)
    changed = subscribe(client, subscription.client_instance_id)
    assert set(changed.requested_metrics) == {"a", "b"}
    assert changed.subscription_id != subscription.subscription_id


def test_subscription_applies_to_matching_clients_only():
    for client_id, metrics in (("billing-1", ["a"]), ("other", [])):
        client = make_client(client_id, metrics="a", match="client_id=billing-.*")
        assert list(subscribe(client).requested_metrics) == metrics


def test_pattern_that_makes_a_search_backtrack_takes_linear_time():
    client = make_client("a" * 64 + "!", metrics="a", match="client_id=(a|aa)+")
    assert not subscribe(client).requested_metrics


def test_disconnected_client_is_forgotten():
    client = make_client(metrics="*")
    instance_id = subscribe(client).client_instance_id
    client.close()
    other = MachineClient(client.machine)
    assert subscribe(other, instance_id).error_code == 0


def test_invalid_subscription_names_the_problem():
    with pytest.raises(ValueError, match="Unknown client metrics configuration: color"):
        make_client(color="red")
    with pytest.raises(ValueError, match="client_metrics requires release"):
        make_state(1, {}, "3.6", 1, True, {})
