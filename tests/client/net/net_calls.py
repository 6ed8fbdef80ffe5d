# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Connects with ``client.net`` to a peer of a test, for answers or for an error."""

import asyncio

import pytest

from kwire.connection.negotiation import ApiVersionTable
from tests.harness.loopback_brokers import TIMEOUT_S


def make_table(release="4.1"):
    return ApiVersionTable.of_release(release)


def run(net, listener, *requests, **options):
    """Connect and ask; return the answers. Never takes longer than the tests allow."""

    async def main():
        async with await net.connect(listener.host, listener.port, **options) as broker:
            return [await broker.ask(request) for request in requests]

    return asyncio.run(asyncio.wait_for(main(), TIMEOUT_S))


def catch_failure(net, listener, *requests, **options):
    """Connect and ask; return the error, which has to name the address."""
    with pytest.raises(net.NetworkError) as caught:
        run(net, listener, *requests, **options)
    assert caught.value.address == listener.address
    text = str(caught.value)
    assert text.startswith(f"{listener.address}: ")
    assert "\n" not in text
    return caught.value
