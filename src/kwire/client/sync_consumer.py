# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ConsumerSync``: a consumer with blocking calls. ``consumer.py`` has the other.

A thread sends heartbeats while the caller works on a chunk. It moves the same machine,
and only between two calls.
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from .chunks import Chunk, ConsumerRecord
from .consuming import ConsumerBase
from .runners.blocking import BlockingRunner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from .chunks import DecodingOptions
    from .machines import (
        ConsumerMachine,
        GroupMetadata,
        GroupOptions,
        ScanOptions,
    )
    from .runners.protocols import ClusterAccess

_BETWEEN_S = 0.25
"""How often the machine is moved while the caller does something else."""


class ConsumerSync(ConsumerBase):
    """A member of a group; ``KafkaSync.consumer`` makes it: iterate over it for chunks.

    It joins with the first chunk, and leaves at the end of ``with``. A thread of its
    own sends heartbeats while the caller works on a chunk.
    """

    _runner: BlockingRunner | None = None

    def __init__(
        self,
        kafka: ClusterAccess,
        options: tuple[ScanOptions, GroupOptions],
        decoding: DecodingOptions,
    ) -> None:
        super().__init__(kafka, options, decoding)
        self._turn = threading.Lock()
        # Who moves the machine: the caller, or for a short while the other thread.
        self._lock = threading.Lock()
        self._over = threading.Event()

    def poll(self, timeout_s: float | None = None) -> Chunk | None:
        """Return the next chunk; None after ``timeout_s``, or once it is closed.

        The caller is done with the chunks before, of which the group may give
        partitions to others now.
        """
        self._take_turn()
        try:
            if self._is_closing:
                return None
            with self._lock:
                chunk = self._wait(timeout_s)
        finally:
            self._end_turn()
        failure = None if self._machine is None else self._machine.failure
        if chunk is None and failure is not None and not self._is_closing:
            self.close()
            raise failure
        return chunk

    def messages(self) -> Iterator[ConsumerRecord]:
        """Iterate over the records one by one."""
        for chunk in self:
            yield from chunk.messages()

    def commit(self, chunk: Chunk | None = None) -> dict[tuple[str, int], int]:
        """Commit what was read up to a chunk, or all that was returned so far.

        Returns the offsets that were committed, by (topic, partition): where the group
        goes on. Raises ``PartitionLost`` if the group has taken the partition of a
        chunk; without a chunk, such partitions are left out, unless they are lost
        while it waits. Other errors are ``ClusterError`` too.
        """
        self._take_turn()
        try:
            if self._machine is None or self._runner is None or self._is_closing:
                return self._commit_nothing()
            with self._lock:
                fetched = None if chunk is None else chunk.fetched
                pending = self._machine.commit(time.monotonic(), fetched)
                self._runner.run_until(lambda: pending.is_over)
            return pending.result()
        finally:
            self._end_turn()

    def close(self) -> None:
        """Leave the group, and close the connections; nothing is committed.

        From another thread, or from a handler of a signal, it ends the wait for the
        next chunk: the iteration is over, and leaves the group then.
        """
        self._is_closing = True
        if self._turn.acquire(blocking=False):
            try:
                self._leave()
            finally:
                self._turn.release()
        elif self._runner is not None:
            self._runner.wake()

    def __iter__(self) -> Iterator[Chunk]:
        self._check_unclosed()
        return self

    def __next__(self) -> Chunk:
        chunk = self.poll()
        if chunk is None:
            raise StopIteration
        return chunk

    def __enter__(self) -> ConsumerSync:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _find_offsets(
        self, chunks: Any
    ) -> tuple[GroupMetadata, dict[tuple[str, int], int]]:
        with self._lock:
            return super()._find_offsets(chunks)

    def _take_turn(self) -> None:
        if not self._turn.acquire(blocking=False):
            raise ValueError("another thread is reading; use a consumer for each")

    def _end_turn(self) -> None:
        self._turn.release()
        if self._is_closing and not self._is_closed:
            # By another thread, which may have come too late to wake this one.
            self.close()

    def _wait(self, timeout_s: float | None) -> Chunk | None:
        machine, runner = self._open()
        now = time.monotonic()
        until = float("inf") if timeout_s is None else now + timeout_s
        self._let_go(machine)
        machine.begin_wait(now)
        try:
            runner.run_until(self._has_result, until)
        finally:
            machine.end_wait(time.monotonic())
        return self._take(machine)

    def _open(self) -> tuple[ConsumerMachine, BlockingRunner]:
        if self._machine is None or self._runner is None:
            machine = self._begin(time.monotonic())
            self._machine = machine
            self._runner = BlockingRunner(machine, machine.cluster, self._network)
            thread = threading.Thread(
                target=_keep_alive,
                args=(weakref.ref(self), self._over),
                name=f"kwire consumer of {self._options[1].group}",
                daemon=True,
            )
            thread.start()
        return self._machine, self._runner

    def _abandon(self) -> None:
        self._over.set()
        if self._runner is not None:
            self._runner.close()

    def _leave(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._over.set()
        machine, runner = self._machine, self._runner
        if machine is None or runner is None:
            return
        with self._lock:
            try:
                machine.begin_close(time.monotonic())
                runner.run_until(machine.has_left)
            finally:
                machine.close(time.monotonic())
                runner.close()

    def _move(self) -> None:
        """Send what is to be sent between two calls, and take what has come."""
        if self._lock.acquire(blocking=False):
            try:
                if self._runner is not None and not self._is_closed:
                    self._runner.poll()
            finally:
                self._lock.release()


def _keep_alive(consumer: weakref.ref[ConsumerSync], over: threading.Event) -> None:
    """Move a consumer while its caller does something else, until it is closed."""
    while not over.wait(_BETWEEN_S):
        found = consumer()
        if found is None:
            return
        found._move()
        del found
