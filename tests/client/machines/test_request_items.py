# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Split every API's requests into items, and merge the responses.

The messages are generated from the message definitions: every array in a route has
several elements with different keys. New APIs are therefore tested automatically.
"""

import importlib
import random
from uuid import UUID

import pytest

from kwire.schema import registry
from kwire.schema.destinations import Destination, find_route
from tests.harness.sweeps import sweep

ROUTES = {
    registry.find_by_key(key, "request").name.removesuffix("Request"): find_route(key)
    for key in registry.keys("request")
}
SPLIT = [name for name, route in ROUTES.items() if route.items]
JOINED = [
    name for name, route in ROUTES.items() if route.destination is Destination.EVERY
]
VALUES = {
    "string": lambda number: f"name {number}",
    "uuid": lambda number: UUID(int=number),
    "int64": lambda number: number << 40,
}
BROKERS = 3


@pytest.fixture(scope="module")
def items(kwire):
    return importlib.import_module(f"{kwire.__name__}.client.machines.request.items")


def find_field(struct, attribute):
    """Return the field of a struct that has an attribute name."""
    (field,) = [field for field in struct.fields if field.attribute == attribute]
    return field


def make_value(field, number):
    """Return a field value that is unique for a number."""
    return VALUES.get(field.type, int)(number)


def make_message(kwire, name, levels, second_keys=False):
    """Return a message with array elements at some levels.

    An element has either its first key or its second key.
    """
    cls = getattr(kwire.messages, name)

    def make_elements(struct, depth):
        level = levels[depth]
        field = find_field(struct, level.array)
        if field.struct is None:
            return [make_value(field, number) for number in range(1, 4)]
        keys = level.keys
        if not level.has_all_keys and len(keys) > 1:
            keys = keys[second_keys : second_keys + 1]
        elements = []
        for number in range(1, 4):
            values = {
                key: make_value(find_field(field.struct, key), number) for key in keys
            }
            if level.has_all_keys:
                # Only all keys together identify the element.
                values[keys[0]] = make_value(find_field(field.struct, keys[0]), 1)
            if depth + 1 < len(levels):
                inner = levels[depth + 1].array
                values[inner] = make_elements(field.struct, depth + 1)
            elements.append(getattr(cls, field.struct.name)(**values))
        return elements

    return cls(**{levels[0].array: make_elements(registry.load(name).struct, 0)})


@pytest.mark.parametrize("second_keys", [False, True])
@sweep("name", SPLIT)
def test_items_of_a_split_request_are_merged_in_its_order(
    kwire, items, name, second_keys
):
    """Items of several responses are merged in the order of the request.

    Each broker responds to the items that it has received, in a random order.
    """
    route = ROUTES[name]
    source = random.Random(name)
    request = make_message(kwire, f"{name}Request", route.items, second_keys)
    complete = make_message(kwire, f"{name}Response", route.answers, second_keys)
    paths = list(items.iterate_paths(request, route.items))
    identities = [items.identify(path, route.items) for path in paths]
    assert len(set(identities)) == len(identities) == 3 ** len(route.items)

    brokers = [source.randrange(BROKERS) for _ in paths]
    responses, answers = [], {}
    answer_paths = list(items.iterate_paths(complete, route.answers))
    for broker in sorted(set(brokers)):
        chosen = [n for n, path_broker in enumerate(brokers) if path_broker == broker]
        part = items.with_items(request, route.items, [paths[n] for n in chosen])
        parts = list(items.iterate_paths(part, route.items))
        assert [items.identify(path, route.items) for path in parts] == [
            identities[n] for n in chosen
        ]
        by_identity = {
            items.identify(path, route.answers): path for path in answer_paths
        }
        answered = [by_identity[identities[n]] for n in chosen]
        source.shuffle(answered)
        response = items.with_items(complete, route.answers, answered)
        responses.append(response)
        for path in items.iterate_paths(response, route.answers):
            answers[items.identify(path, route.answers)] = path
    merged = items.merge_responses(
        responses, route.answers, [answers[identity] for identity in identities]
    )
    assert merged == complete


@sweep("name", JOINED)
def test_responses_of_every_broker_are_joined(kwire, items, name):
    """The result has all items, any error, and the maximum throttle time."""
    route = ROUTES[name]
    complete = make_message(kwire, f"{name}Response", route.answers)
    paths = list(items.iterate_paths(complete, route.answers))
    halves = [
        items.with_items(complete, route.answers, paths[:1]).replace(
            throttle_time_ms=7
        ),
        items.with_items(complete, route.answers, paths[1:]).replace(
            throttle_time_ms=9, error_code=15
        ),
    ]
    joined_paths = [
        path for half in halves for path in items.iterate_paths(half, route.answers)
    ]
    merged = items.merge_responses(halves, route.answers, joined_paths)
    assert merged == complete.replace(throttle_time_ms=9, error_code=15)


def test_the_apis_of_several_brokers_are_among_those_that_are_tested():
    expected = {"ListOffsets", "DescribeProducers", "DeleteRecords", "DescribeGroups"}
    expected |= {"DescribeConfigs", "DescribeTransactions", "DeleteGroups", "Produce"}
    assert expected <= {*SPLIT}
    assert set(JOINED) == {"ListGroups", "DescribeLogDirs", "ListTransactions"}
    assert len(ROUTES) == 95
