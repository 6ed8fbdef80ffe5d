# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run one consumer group member as a process, for the group checks.

The process prints a line for every chunk: the action, the time, and the offsets.
SIGTERM makes it leave the group. The parent process starts it with SIGTERM blocked. The
signal is unblocked after the handler has been installed, so that an early signal is not
lost.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from typing import Any

from kwire import client
from kwire.client import PartitionLost, ProducerFenced, TransactionFailed


def note(what: str, chunk: client.Chunk) -> None:
    """Print a line for the parent process.

    The line contains the action, the current time in seconds, the partition, and the
    start offset and next offset of the chunk.
    """
    row = what, time.monotonic(), chunk.partition, chunk.start_offset, chunk.next_offset
    print(*row, flush=True)


def accept_the_end() -> None:
    """Unblock SIGTERM. The caller must have installed its handler for SIGTERM."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def read(address: str, topic: str, group: str) -> None:
    """Read chunks and commit them with the blocking client until SIGTERM."""
    with (
        client.connect_sync(address) as kafka,
        kafka.consumer(topic, group_id=group) as c,
    ):
        signal.signal(signal.SIGTERM, lambda *_: c.close())
        accept_the_end()
        for chunk in c:
            note("read", chunk)
            try:
                c.commit(chunk)
            except PartitionLost:
                note("lost", chunk)
            else:
                note("committed", chunk)


async def read_async(address: str, topic: str, group: str) -> None:
    """Read chunks and commit them with the asyncio client until SIGTERM."""
    async with (
        client.connect(address) as kafka,
        kafka.consumer(topic, group_id=group) as consumer,
    ):
        loop = asyncio.get_running_loop()
        closing: list[Any] = []
        loop.add_signal_handler(
            signal.SIGTERM, lambda: closing.append(loop.create_task(consumer.close()))
        )
        accept_the_end()
        async for chunk in consumer:
            note("read", chunk)
            try:
                await consumer.commit(chunk)
            except PartitionLost:
                note("lost", chunk)
            else:
                note("committed", chunk)
        await asyncio.gather(*closing)


def copy(address: str, topic: str, group: str, number: int, copies: str) -> None:
    """Copy records to the topic ``copies`` in transactions until SIGTERM.

    After an error, a new consumer and a new producer repeat the failed work.
    """
    is_ending: list[bool] = []
    while True:
        # The handler closes one specific consumer. Block SIGTERM until the next
        # consumer exists.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        if is_ending:
            return
        try:
            with (
                client.connect_sync(address) as kafka,
                kafka.producer(
                    transactional_id=f"{group}-{number}", transaction_timeout_s=5
                ) as producer,
                kafka.consumer(topic, group_id=group, memory_bytes=1 << 16) as consumer,
            ):

                def end(*_: object, consumer: client.ConsumerSync = consumer) -> None:
                    is_ending.append(True)
                    consumer.close()

                signal.signal(signal.SIGTERM, end)
                accept_the_end()
                for chunk in consumer:
                    key = b"%d" % chunk.partition
                    with producer.transaction() as transaction:
                        rows = [(key, row.value) for row in chunk.records()]
                        producer.send_many(copies, rows)
                        transaction.send_offsets(consumer, chunk)
                    note("copied", chunk)
        except (PartitionLost, ProducerFenced, TransactionFailed) as failure:
            print("failed", failure, flush=True)


def main(address: str, topic: str, group: str, number: int, copies: str) -> None:
    """Copy the topic if ``copies`` names a target, otherwise read and commit it.

    When reading, even numbers use the blocking client, and odd numbers use asyncio.
    """
    if copies:
        copy(address, topic, group, number, copies)
    elif number % 2:
        asyncio.run(read_async(address, topic, group))
    else:
        read(address, topic, group)


if __name__ == "__main__":
    _, address_, topic_, group_, number_, copies_ = sys.argv
    main(address_, topic_, group_, int(number_), copies_)
