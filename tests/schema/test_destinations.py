# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the request routes against the message definitions.

``kwire.schema.destinations`` reads the routes. The tests look up every attribute that a
route names in the definitions.
"""

from __future__ import annotations

import pytest

from kwire.schema import registry
from kwire.schema.destinations import Destination, _read_routes, find_route
from tests.harness.sweeps import sweep

ROUTES = {
    registry.find_by_key(key, "request").name.removesuffix("Request"): find_route(key)
    for key in registry.keys("request")
}


WITHOUT_ITEM_ERRORS = ("ListGroups", "ListTransactions")
"""APIs whose response has one error code for all items of the request."""


def find_field(struct, attribute):
    """Return the field of a struct with this attribute name."""
    (field,) = [
        candidate for candidate in struct.fields if candidate.attribute == attribute
    ]
    return field


def last_struct(message, levels):
    """Return the struct of the last array in ``levels``, or None if there is no array.

    Asserts that every array, and every key in its elements, exists.
    """
    struct = registry.load(message).struct
    for level in levels:
        field = find_field(struct, level.array)
        assert field.is_array, f"{message}.{field.name}"
        struct = field.struct
        if struct is None:
            assert level is levels[-1]
            assert not level.keys
        for key in level.keys:
            assert not find_field(struct, key).is_array
    return struct


def test_each_request_has_one_destination_in_the_order_of_api_keys():
    """Every request has one route, in the order of the API keys."""
    lines = registry.fact_text("destinations").splitlines()
    names = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert names == list(ROUTES)


@sweep("name", ROUTES)
def test_fields_of_routes_exist_in_requests_and_responses(name):
    """Every field that a route names exists in the request or response.

    A misspelled field would only fail when a client sends the request.
    """
    route = ROUTES[name]
    if route.key is not None:
        field = find_field(registry.load(f"{name}Request").struct, route.key)
        assert (field.type, field.is_array) == ("string", False)
    last_struct(f"{name}Request", route.items)
    answer = last_struct(f"{name}Response", route.answers)
    if route.answers and name not in WITHOUT_ITEM_ERRORS:
        assert find_field(answer, "error_code").type == "int16"


@sweep("name", ROUTES)
def test_routes_have_the_parts_that_their_destination_requires(name):
    """Every route has the parts that its destination requires.

    Without the key or the items, the coordinator or the leader would be unknown.
    """
    route = ROUTES[name]
    coordinators = Destination.GROUP, Destination.TRANSACTION
    splits = Destination.LEADER, Destination.SHARE, Destination.RESOURCE
    if route.destination in coordinators:
        assert route.key or route.items
    elif route.destination in splits:
        assert route.items and not route.key
    elif route.destination is Destination.EVERY:
        assert route.answers and not (route.items or route.key)
    else:
        assert not (route.items or route.answers or route.key)
    if route.items:
        assert len(route.items) == len(route.answers)


@sweep("name", ROUTES)
def test_group_ids_go_to_group_coordinators_and_transactional_ids_to_theirs(name):
    """Group ids select group coordinators, transactional ids transaction coordinators.

    Kafka's schemas specify which kind of id a field contains.
    """
    route = ROUTES[name]
    struct = registry.load(f"{name}Request").struct
    entities = []
    if route.key is not None:
        entities.append(find_field(struct, route.key).entity_type)
    for level in route.items:
        field = find_field(struct, level.array)
        entities.append(field.entity_type)
        if field.struct is not None:
            struct = field.struct
            entities += [find_field(struct, key).entity_type for key in level.keys]
    kinds = {
        Destination.GROUP: "groupId",
        Destination.TRANSACTION: "transactionalId",
    }
    for destination, entity in kinds.items():
        assert (entity in entities) is (route.destination is destination)


def test_unknown_api_key_has_no_route():
    """An unknown API key has no route.

    Otherwise, a request of a newer Kafka would be sent to a random broker.
    """
    with pytest.raises(KeyError):
        find_route(30000)


@pytest.mark.parametrize(
    ("line", "problem"),
    [("Fetch anywhere", "anywhere"), ("Fetch", "not enough values")],
)
def test_malformed_line_is_rejected(line, problem):
    with pytest.raises(ValueError, match=problem):
        _read_routes(line)


def test_requests_with_an_effect_that_a_second_copy_changes_are_not_repeated():
    """A request is not repeated if a second copy would have another effect.

    Sending it twice could fail or repeat its effect.
    """
    once = "CreateTopics DeleteTopics CreatePartitions DeleteGroups DeleteRecords"
    once += " Produce JoinGroup LeaveGroup CreateDelegationToken DeleteAcls"
    assert not any(ROUTES[name].is_repeatable for name in once.split())
    reads = [
        name
        for name in ROUTES
        if "Describe" in name or name.startswith(("List", "Find", "Metadata"))
    ]
    assert all(ROUTES[name].is_repeatable for name in reads)
