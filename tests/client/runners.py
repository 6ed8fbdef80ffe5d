# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run scans with the asyncio client or the blocking client, and count open sockets."""

import asyncio
import importlib
import os
from contextlib import suppress

RUNNERS = ("blocking", "asyncio")


def read(kwire, runner, address, topics, *, connect=None, **options):
    """Read a scan up to its end, and return its chunks.

    * ``runner``: "blocking" or "asyncio".
    * ``connect``: keyword arguments for the function that creates the client.
    * ``options``: keyword arguments for the scan.
    """
    client = importlib.import_module(f"{kwire.__name__}.client")
    arguments = connect or {}
    if runner == "blocking":
        with client.connect_sync(address, **arguments) as kafka:
            return list(kafka.scan(topics, **options))

    async def run():
        async with client.connect(address, **arguments) as kafka:
            chunks = [chunk async for chunk in kafka.scan(topics, **options)]
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return chunks

    return asyncio.run(run(), debug=True)


def open_sockets():
    """Count the open sockets in this process."""
    count = 0
    for name in os.listdir("/proc/self/fd"):
        # The directory listing's file descriptor is already closed.
        with suppress(FileNotFoundError):
            count += os.readlink(f"/proc/self/fd/{name}").startswith("socket:")
    return count
