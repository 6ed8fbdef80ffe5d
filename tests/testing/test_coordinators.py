# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""FindCoordinator of test clusters."""

from __future__ import annotations

from base64 import urlsafe_b64encode

import pytest

from kwire.messages import FindCoordinatorRequest
from kwire.schema import error_codes, releases
from kwire.testing.rules import Rule
from kwire.testing.state.cluster import hash_key
from tests.testing.machine_client import MachineClient, make_machine, versions_of

GROUP, TRANSACTION, SHARE = 0, 1, 2
_WITH_GROUPS = releases.NAMES[releases.NAMES.index("0.9.0") :]


def find(client, key, key_type=GROUP, version=6):
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
    return client.request(request, version).coordinators[0]


@pytest.mark.parametrize("release", _WITH_GROUPS)
def test_every_version_of_a_release_returns_the_same_coordinator(release):
    machine = make_machine(brokers=3, release=release)
    client = MachineClient(machine)
    for version in versions_of(machine, FindCoordinatorRequest):
        for key in ("a", "b", "c", "d"):
            expected = machine.state.choose_coordinator(key)
            if version >= 4:
                entry = find(client, key, version=version)
                assert (entry.key, entry.error_message) == (key, "")
            else:
                request = FindCoordinatorRequest(key=key, key_type=GROUP)
                entry = client.request(request, version)
                assert entry.error_message == ("NONE" if version >= 1 else "")
            assert (entry.error_code, entry.node_id) == (0, expected)


def test_coordinators_are_spread_over_brokers():
    machine = make_machine(brokers=3)
    client = MachineClient(machine)
    nodes = {find(client, f"group-{number}").node_id for number in range(50)}
    assert nodes == {1, 2, 3}


@pytest.mark.parametrize(
    ("key", "number"),
    [
        ("", 0),
        ("g", 103),
        ("readers-2", 1107951179),
        ("\u20ac", 0x20AC),
        ("polygenelubricants", 0),
    ],
)
def test_key_is_hashed_as_in_java(key, number):
    assert hash_key(key) == number


def test_unknown_key_type_is_rejected():
    machine = make_machine()
    client = MachineClient(machine)
    for key_type in (3, -1, 127):
        entry = find(client, "a", key_type)
        assert entry.error_code == error_codes.INVALID_REQUEST
        assert (entry.node_id, entry.host, entry.port) == (-1, "", -1)


def test_share_key_contains_group_topic_id_and_partition():
    machine = make_machine()
    client = MachineClient(machine)
    topic_id = urlsafe_b64encode(bytes(range(16))).decode().rstrip("=")
    assert find(client, f"a:{topic_id}:0", SHARE).error_code == 0
    assert find(client, f"a:b:{topic_id}:12", SHARE).error_code == 0
    code = error_codes.INVALID_REQUEST
    for key in ("a", f":{topic_id}:0", f"a:{topic_id}:x", f"a:{topic_id[:-2]}:0", "::"):
        assert find(client, key, SHARE).error_code == code
    assert find(client, f"a:{topic_id}:0", SHARE, version=5).error_code == code


def test_coordinator_moves_when_its_broker_stops():
    machine = make_machine(brokers=2)
    first = machine.state.choose_coordinator("a")
    machine.state.stop_broker(first)
    client = MachineClient(machine, 3 - first)
    assert find(client, "a").node_id == 3 - first
    machine.state.stop_broker(3 - first)
    assert find(client, "a").error_code == error_codes.COORDINATOR_NOT_AVAILABLE


def test_injected_error_is_returned():
    machine = make_machine()
    code = error_codes.COORDINATOR_LOAD_IN_PROGRESS
    machine.rules.add(Rule(machine.rules, "FindCoordinator", times=1, error_code=code))
    client = MachineClient(machine)
    assert find(client, "a").error_code == code
    assert find(client, "a").error_code == 0
