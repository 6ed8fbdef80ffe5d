# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Send requests to a test peer with either runner. Return responses or the error."""

import asyncio

import pytest

from kwire.connection.negotiation import ApiVersionTable
from tests.harness.loopback_brokers import TIMEOUT_S

QUICKLY = {"timeout_s": 3.0, "connect_timeout_s": 1.0, "request_timeout_s": 1.0}
"""Short timeouts in seconds for a peer that never responds."""


def make_table(release="4.1"):
    return ApiVersionTable.of_release(release)


def use_client(client, runner, address, use, **options):
    """Create a client, and return the result of ``use(call)``.

    ``call(name, ...)`` calls a client method. The test fails after a time limit.
    """
    if runner == "blocking":
        with client.connect_sync(address, **options) as kafka:

            def call(name, *args, **kwargs):
                return getattr(kafka, name)(*args, **kwargs)

            return use(call)

    async def main():
        loop = asyncio.get_running_loop()
        async with client.connect(address, **options) as kafka:

            def call(name, *args, **kwargs):
                body = getattr(kafka, name)(*args, **kwargs)
                return asyncio.run_coroutine_threadsafe(body, loop).result(TIMEOUT_S)

            return await asyncio.to_thread(use, call)

    return asyncio.run(asyncio.wait_for(main(), TIMEOUT_S))


def send(client, runner, listener, *requests, to=None, **options):
    """Send requests one after another, and return their responses in a list.

    If there are no requests, return the result of ``broker_versions``.
    """

    def use(call):
        if not requests:
            return call("broker_versions")
        return [call("request", request, to=to) for request in requests]

    return use_client(client, runner, listener.address, use, **options)


def catch_failure(client, runner, listener, *requests, **options):
    """Send requests that must fail, and return the ``ClusterError``.

    Its text must be printable and contain the address of the broker.
    """
    with pytest.raises(client.ClusterError) as caught:
        send(client, runner, listener, *requests, **options)
    text = str(caught.value)
    assert f"{listener.address}: " in text, text
    assert text.isprintable()
    return caught.value
