# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Group consumers over both runners, with librdkafka's mock cluster.

``tests/client/machines`` simulates faults, and ``tools/interop/broker`` uses real
brokers.
"""

import asyncio
import importlib
import inspect
import re
import threading
import time
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
from confluent_kafka import Producer

from tests.client.runners import open_sockets

TIMEOUT_S = 30
PARTITIONS = 4


@pytest.fixture(scope="module")
def cluster():
    """Addresses and handle of librdkafka's mock cluster of three brokers."""
    handle = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 3})
    brokers = handle.list_topics(timeout=TIMEOUT_S).brokers.values()
    yield ",".join(f"{broker.host}:{broker.port}" for broker in brokers), handle
    del handle


@pytest.fixture
def topic(cluster):
    """Topic with ten records per partition."""
    name, handle = f"topic-{uuid4().hex[:8]}", cluster[1]
    topic_metadata = handle.list_topics(name, timeout=TIMEOUT_S).topics[name]
    assert len(topic_metadata.partitions) == PARTITIONS
    for partition in range(PARTITIONS):
        for number in range(10):
            handle.produce(name, b"%d" % number, partition=partition)
    assert not handle.flush(TIMEOUT_S)
    return name


def wait_until(is_so):
    """Wait until ``is_so()`` is true. Fail after ``TIMEOUT_S``."""
    deadline = time.monotonic() + TIMEOUT_S
    while not is_so():
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)


@pytest.fixture
def frequent_heartbeats(kwire, monkeypatch):
    """Replace the mock coordinator's heartbeat interval, 3 s, by 0.1 s."""
    module = importlib.import_module(f"{kwire.__name__}.client.machines.group.member")
    accept = module.GroupMember._accept

    def accept_sooner(self, response, *arguments):
        accept(self, response.replace(heartbeat_interval_ms=100), *arguments)

    monkeypatch.setattr(module.GroupMember, "_accept", accept_sooner)


class Awaitable:
    """Consumer with either runner, whose methods can be awaited."""

    def __init__(self, consumer):
        """Wrap a consumer."""
        self.consumer = consumer

    def __getattr__(self, name):
        """Return a coroutine function for a method."""
        method = getattr(self.consumer, name)
        if inspect.iscoroutinefunction(method):
            return method

        async def call(*arguments, **options):
            return method(*arguments, **options)

        return call


@pytest.fixture(params=["blocking", "asyncio"])
def consume(request, kwire, cluster):
    """Function that passes ``opened`` to a coroutine function.

    ``opened(topics, **options)`` opens a consumer with either runner.
    """
    client = importlib.import_module(f"{kwire.__name__}.client")

    @asynccontextmanager
    async def opened(topics, **options):
        if request.param == "blocking":
            with (
                client.connect_sync(cluster[0]) as kafka,
                kafka.consumer(topics, **options) as consumer,
            ):
                yield Awaitable(consumer)
        else:
            async with (
                client.connect(cluster[0]) as kafka,
                kafka.consumer(topics, **options) as consumer,
            ):
                yield Awaitable(consumer)

    def run(function):
        before = open_sockets()

        async def checked():
            await function(opened)
            assert asyncio.all_tasks() == {asyncio.current_task()}

        asyncio.run(checked())
        # The mock cluster runs in this process and closes its sockets slightly later.
        wait_until(lambda: open_sockets() <= before)

    return run


async def expect_nothing(consumer):
    """Wait for the assignment, and check that no record arrives for a while."""
    deadline = time.monotonic() + TIMEOUT_S
    while not await consumer.assignment():
        assert time.monotonic() < deadline
        assert await consumer.poll(0.05) is None
    assert await consumer.poll(0.2) is None


async def read_all(consumer, count):
    """Read and commit ``count`` records. Return {partition: values}."""
    seen = {}
    while sum(map(len, seen.values())) < count:
        chunk = await consumer.poll(TIMEOUT_S)
        assert chunk is not None
        seen.setdefault(chunk.partition, []).extend(
            record.value for record in chunk.records()
        )
        committed = await consumer.commit(chunk)
        assert committed == {(chunk.topic, chunk.partition): chunk.next_offset}
    return seen


ALL = {n: [b"%d" % value for value in range(10)] for n in range(PARTITIONS)}


@pytest.mark.parametrize(
    "options", [{}, {"partitions": "all"}], ids=["joined", "by-hand"]
)
def test_group_continues_at_its_committed_offsets(consume, topic, options):
    """The second consumer starts at the offsets that the first one has committed."""

    async def check(opened):
        async with opened(topic, group_id=topic, **options) as consumer:
            assert await read_all(consumer, 40) == ALL
        async with opened(topic, group_id=topic, **options) as consumer:
            await expect_nothing(consumer)
            assert await consumer.position() == {(topic, n): 10 for n in ALL}
            assert await consumer.commit() == {}
        async with opened(topic, group_id=f"{topic}-2", **options) as consumer:
            assert await read_all(consumer, 40) == ALL

    consume(check)


def test_uncommitted_records_are_read_again(consume, topic):
    """``close`` commits nothing. ``commit`` without a chunk commits all chunks."""

    async def check(opened):
        async with opened(topic, group_id=topic) as consumer:
            first = await consumer.poll(TIMEOUT_S)
        async with opened(topic, group_id=topic) as consumer:
            chunks = [await consumer.poll(TIMEOUT_S)]
            while len(chunks) < PARTITIONS:
                chunks.append(await consumer.poll(TIMEOUT_S))
            partitions = {(chunk.topic, chunk.partition) for chunk in chunks}
            assert (first.topic, first.partition) in partitions
            assert await consumer.commit() == dict.fromkeys(partitions, 10)
        async with opened(topic, group_id=topic) as consumer:
            await expect_nothing(consumer)

    consume(check)


def test_two_members_share_the_partitions(consume, topic, kwire, frequent_heartbeats):
    """The first member releases partitions on its next poll, and loses their chunks."""
    cluster = importlib.import_module(f"{kwire.__name__}.client.machines")

    async def check(opened):
        async with (
            opened(topic, group_id=topic) as first_member,
            opened(topic, group_id=topic) as other,
        ):
            chunks = []
            while len(chunks) < PARTITIONS:
                chunks.append(await first_member.poll(TIMEOUT_S))
            # While the first member is busy, it keeps its partitions. The second gets
            # none.
            assert await other.poll(0.5) is None
            assert await first_member.commit(chunks[0]) != {}
            deadline = time.monotonic() + TIMEOUT_S
            first_partitions = other_partitions = set()
            while len(other_partitions) < PARTITIONS // 2:
                assert time.monotonic() < deadline
                await first_member.poll(0.2)
                await other.poll(0.2)
                first_partitions, other_partitions = (
                    await first_member.assignment(),
                    await other.assignment(),
                )
                assert not first_partitions & other_partitions
            assert first_partitions | other_partitions == {(topic, n) for n in ALL}
            for chunk in chunks:
                if (topic, chunk.partition) in first_partitions:
                    await first_member.commit(chunk)
                else:
                    with pytest.raises(cluster.PartitionLost, match=r"-\d: the group"):
                        await first_member.commit(chunk)

    consume(check)


@pytest.mark.parametrize(
    "options", [{}, {"partitions": "all"}], ids=["joined", "by-hand"]
)
def test_seek_and_pause_choose_the_records_that_are_returned(consume, topic, options):
    """``seek`` and ``pause`` apply to all partitions, or to specified partitions."""

    async def check(opened):
        async with opened(topic, group_id=topic, **options) as consumer:
            assert await read_all(consumer, 40) == ALL
            await consumer.seek("earliest")
            assert await read_all(consumer, 40) == ALL
            await consumer.seek({0: 7, (topic, 1): 8})
            await consumer.seek("latest", [(topic, 2)])
            await consumer.pause([(topic, 1)])
            assert await consumer.paused() == {(topic, 1)}
            assert await read_all(consumer, 3) == {0: ALL[0][7:]}
            assert await consumer.poll(0.2) is None
            await consumer.resume()
            assert await consumer.paused() == set()
            assert await read_all(consumer, 2) == {1: ALL[1][8:]}
            with pytest.raises(Exception, match=r"seeking in x-1: this consumer"):
                await consumer.seek({("x", 1): 0})
            with pytest.raises(ValueError, match="partitions cannot be passed"):
                await consumer.seek({0: 7}, [(topic, 1)])
            with pytest.raises(ValueError, match=r"partitions must be .* \(got 'o'"):
                await consumer.pause("orders")
        with pytest.raises(ValueError, match="the consumer is closed"):
            await consumer.seek("earliest")

    consume(check)


def test_seek_before_the_first_poll_is_an_error(kwire, cluster, topic):
    """The consumer owns no partition yet. The error recommends ``start=``."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(cluster[0]) as kafka:
        consumer = kafka.consumer(topic, group_id=topic)
        for move in (consumer.pause, consumer.resume, lambda: consumer.seek(0)):
            with pytest.raises(
                ValueError, match="until the first chunk is requested; use start="
            ):
                move()
        assert consumer.paused() == set()


def test_callbacks_report_the_assigned_and_the_lost_partitions(
    consume, topic, frequent_heartbeats
):
    """Callbacks run in the caller's thread before a chunk. A seek sets the start."""
    calls = []

    async def check(opened):
        async def consumer_of(name):
            def assigned(partitions):
                calls.append(("assigned", name, set(partitions)))
                assert threading.current_thread() is threading.main_thread()
                first_member.consumer.seek(9, partitions)

            def lost(partitions):
                calls.append(("lost", name, set(partitions)))

            return opened(topic, group_id=topic, on_assigned=assigned, on_lost=lost)

        async with await consumer_of("one") as first_member:
            chunk = await first_member.poll(TIMEOUT_S)
            assert chunk.start_offset == 9
            all_partitions = {(topic, n) for n in ALL}
            assert calls == [("assigned", "one", all_partitions)]
            async with opened(topic, group_id=topic) as other:
                deadline = time.monotonic() + TIMEOUT_S
                while not await other.assignment():
                    assert time.monotonic() < deadline
                    await first_member.poll(0.1)
                    await other.poll(0.1)
                gone = all_partitions - await first_member.assignment()
                assert calls[1:] == [("lost", "one", gone)]

    consume(check)


def test_exception_of_a_callback_is_raised_by_poll(consume, topic):
    """``poll`` raises the exception, and the consumer remains usable."""

    def assigned(partitions):
        raise LookupError(f"{len(partitions)} partitions")

    async def check(opened):
        async with opened(topic, group_id=topic, on_assigned=assigned) as consumer:
            with pytest.raises(LookupError, match="4 partitions"):
                await consumer.poll(TIMEOUT_S)
            assert await read_all(consumer, 40) == ALL

    consume(check)


def test_callback_of_a_blocking_consumer_can_pause_seek_and_close(
    kwire, cluster, topic
):
    """Polls and commits are rejected. A close ends the call that runs the callback."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    seen = []

    def assigned(partitions):
        consumer.pause()
        consumer.seek("earliest", partitions)
        seen.append((consumer.paused(), consumer.assignment()))
        for call in (consumer.poll, consumer.commit):
            with pytest.raises(ValueError, match="is reading"):
                call()
        consumer.resume()
        seen.append(consumer.paused())
        consumer.close()

    with client.connect_sync(cluster[0], timeout_s=TIMEOUT_S) as kafka:
        consumer = kafka.consumer(topic, group_id=topic, on_assigned=assigned)
        assert consumer.poll(TIMEOUT_S) is None
        all_partitions = {(topic, n) for n in range(PARTITIONS)}
        assert seen == [(all_partitions, all_partitions), set()]
        with pytest.raises(ValueError, match="the consumer is closed"):
            consumer.seek(0)


def test_rebalance_while_a_chunk_is_processed_keeps_the_positions_of_callbacks(
    consume, topic, frequent_heartbeats
):
    """Partitions that are assigned again are reported to the callback again.

    They start at the offset that the callback chooses.
    """
    starts = []

    async def check(opened):
        def assigned(partitions):
            starts.append(set(partitions))
            first_member.consumer.seek(dict.fromkeys(partitions, 5))

        async with opened(topic, group_id=topic, on_assigned=assigned) as first_member:
            chunk = await first_member.poll(TIMEOUT_S)
            assert chunk.start_offset == 5
            async with opened(topic, group_id=topic) as other:
                deadline = time.monotonic() + TIMEOUT_S
                while not await other.assignment():
                    assert time.monotonic() < deadline
                    await other.poll(0.1)
                    await first_member.poll(0.1)
                moved = await other.assignment()
            while len(starts) == 1:
                assert time.monotonic() < deadline
                await first_member.poll(0.1)
            assert set.union(*starts[1:]) <= moved
            positions = await first_member.position()
            assert all(positions[partition] >= 5 for partition in positions)

    consume(check)


def test_callbacks_are_plain_functions(kwire):
    """A coroutine function is rejected, because it would never be awaited."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    kafka = client.connect_sync("127.0.0.1:1")

    async def assigned(partitions):
        pass

    for name, value in (("on_assigned", assigned), ("on_lost", 3)):
        with pytest.raises(TypeError, match=f"{name} must be a function that is not"):
            kafka.consumer("orders", group_id="etl", **{name: value})


def test_resume_wakes_a_task_that_waits_for_a_chunk(kwire, cluster, topic):
    """``resume`` wakes the asyncio task that waits for a chunk.

    Otherwise, the task would wait until the next heartbeat.
    """
    client = importlib.import_module(f"{kwire.__name__}.client")

    async def run():
        async with (
            client.connect(cluster[0]) as kafka,
            kafka.consumer(topic, group_id=topic, partitions="all") as consumer,
        ):
            assert await consumer.poll(TIMEOUT_S) is not None
            assert len(consumer.assignment()) == PARTITIONS
            consumer.pause()
            consumer.seek(0)
            waiting = asyncio.create_task(consumer.poll())
            done, _ = await asyncio.wait([waiting], timeout=0.5)
            assert not done
            consumer.resume()
            done, _ = await asyncio.wait([waiting], timeout=2)
            assert done
            assert waiting.result().start_offset == 0

    asyncio.run(run())


def test_heartbeats_are_sent_while_the_caller_is_busy(
    kwire, cluster, topic, frequent_heartbeats
):
    """The blocking consumer has a heartbeat thread, which ends when it is closed."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(cluster[0]) as kafka:
        with kafka.consumer(topic, group_id=topic) as consumer:
            assert consumer.poll(TIMEOUT_S) is not None
            names = {thread.name for thread in threading.enumerate()}
            assert f"kwire consumer of {topic}" in names
            member = consumer._machine._membership
            heard_at = member._heard_at
            wait_until(lambda: member._heard_at != heard_at)
        name = f"kwire consumer of {topic}"
        wait_until(lambda: name not in {e.name for e in threading.enumerate()})


def test_another_thread_ends_the_wait(kwire, cluster, topic):
    """Closing wakes up a blocking consumer, which then leaves the group."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(cluster[0]) as kafka:
        consumer = kafka.consumer(topic, group_id=topic, start="latest")
        closer = threading.Timer(0.5, consumer.close)
        closer.start()
        assert list(consumer) == []
        closer.join()
        with pytest.raises(ValueError, match="the consumer is closed"):
            consumer.commit()


def test_a_wait_that_is_cancelled_loses_nothing(kwire, cluster, topic):
    """The next poll returns the chunk that the cancelled poll did not return."""
    client = importlib.import_module(f"{kwire.__name__}.client")

    async def run():
        async with (
            client.connect(cluster[0]) as kafka,
            kafka.consumer(topic, group_id=topic) as consumer,
        ):
            count = cancelled = 0
            while count < 40:
                waiting = asyncio.create_task(consumer.poll())
                done, _ = await asyncio.wait([waiting], timeout=0.001)
                if not done:
                    waiting.cancel()
                    await asyncio.wait([waiting])
                if waiting.cancelled():
                    cancelled += 1
                else:
                    count += len(waiting.result().records())
            assert count == 40
            assert cancelled

    asyncio.run(run())


def test_two_tasks_cannot_read_concurrently(kwire, cluster, topic):
    """The second task gets an error.

    For the group, its poll would mean that the chunk of the first task is processed.
    """
    client = importlib.import_module(f"{kwire.__name__}.client")

    async def run():
        async with (
            client.connect(cluster[0]) as kafka,
            kafka.consumer(topic, group_id=topic, start="latest") as consumer,
        ):
            first = asyncio.create_task(consumer.poll())
            await asyncio.sleep(0)
            with pytest.raises(ValueError, match="another task is reading"):
                await consumer.poll()
            await consumer.close()
            assert await first is None

    asyncio.run(run())


@pytest.mark.parametrize(
    ("topics", "options", "words"),
    [
        ("a", {"group_id": ""}, "group_id must be a name"),
        ("a", {"session_timeout_s": 0}, "session_timeout_s must be more than 0"),
        ("a", {"max_poll_interval_s": -1}, "max_poll_interval_s must be more than 0"),
        ({"a": [0]}, {}, "choose partitions with partitions="),
        (["a", "b"], {"partitions": [0]}, 'partitions must be "all"'),
        (["a", "b"], {"partitions": {"a": [0]}}, "a key for each topic"),
        ("a", {"partitions": "some"}, 'partitions must be "all"'),
        ("a", {"partitions": [0], "group_instance_id": "x"}, "cannot be given with"),
        (re.compile("a", re.VERBOSE), {}, "re.VERBOSE"),
    ],
)
def test_arguments_that_are_wrong_are_named(kwire, topics, options, words):
    """The error is raised before a request is sent."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    kafka = client.connect_sync("127.0.0.1:1")
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        kafka.consumer(topics, **{"group_id": "etl", **options})


def test_flags_of_a_pattern_are_the_brokers_too(kwire):
    """The flags of a pattern become its prefix, because RE2/J has the same flags."""
    consumer = importlib.import_module(f"{kwire.__name__}.client.consumer")
    assert consumer._convert_pattern(re.compile("Or.*")) == "Or.*"
    assert consumer._convert_pattern(re.compile("or", re.I | re.S)) == "(?is)or"
