# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Transactional producers that fail on their first request."""

import asyncio

import pytest

from kwire import client

UNREACHABLE = "127.0.0.1:9"


def test_a_producer_that_cannot_start_closes_its_connections():
    with client.connect_sync(UNREACHABLE, timeout_s=0.2) as kafka:
        producer = kafka.producer(transactional_id="x")
        with pytest.raises(client.ClusterError), producer:
            pass
        assert producer._runner is None


def test_an_asyncio_producer_that_cannot_start_closes_its_connections():
    async def start():
        async with client.connect(UNREACHABLE, timeout_s=0.2) as kafka:
            producer = kafka.producer(transactional_id="x")
            with pytest.raises(client.ClusterError):
                async with producer:
                    pass
            assert producer._runner is None

    asyncio.run(start())
