# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Operations that manage a cluster, over sockets, awaited and blocking."""

import asyncio
import importlib

import pytest

from tests.client.log_broker import LogBroker


@pytest.fixture
def client(kwire):
    """The module, on the engine of the test."""
    return importlib.import_module(f"{kwire.__name__}.client")


@pytest.fixture(params=["awaited", "blocking"])
def call(request, client):
    """A function that calls an operation of a new client in one of the two forms."""

    def call_blocking(broker, name, *args, **kwargs):
        with client.connect_sync(broker.address, timeout_s=5.0) as kafka:
            return getattr(kafka, name)(*args, **kwargs)

    def call_awaited(broker, name, *args, **kwargs):
        async def run():
            async with client.connect(broker.address, timeout_s=5.0) as kafka:
                return await getattr(kafka, name)(*args, **kwargs)

        return asyncio.run(run(), debug=True)

    return call_awaited if request.param == "awaited" else call_blocking


def test_request_returns_the_response_of_the_broker(kwire, call):
    messages = kwire.messages
    with LogBroker({"orders": (5, 7)}) as broker:
        broker.cluster_truth.listed_groups |= {"etl"}
        response = call(broker, "request", messages.ListGroupsRequest())
        assert type(response) is messages.ListGroupsResponse
        assert [group.group_id for group in response.groups] == ["etl"]
        described = call(
            broker, "request", messages.DescribeGroupsRequest(groups=["etl"]), to=1
        )
        assert described.groups[0].group_state == "Empty"


def test_request_that_no_broker_can_have_is_rejected_before_it_connects(kwire, call):
    request = kwire.messages.SaslHandshakeRequest(mechanism="PLAIN")
    with LogBroker({}) as broker:
        with pytest.raises(ValueError, match="authentication"):
            call(broker, "request", request)
        assert not broker.connections
