# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Operations: methods that are written once, for asyncio and for blocking calls.

The body of an operation is a coroutine that waits for conditions::

    class KafkaBase(Operations):
        @operation
        async def topics(self) -> TopicsByName:
            machine, runner = self._start(self._make_machine, self.network)
            await runner.wait(machine.has_result)
            return machine.result()

    class Kafka(KafkaBase, Asynchronous): ...      # names = await kafka.topics()
    class KafkaSync(KafkaBase, Blocking): ...      # names = kafka.topics()

asyncio is the driver of the first class, whose method is the body itself.
``run_blocking`` is the driver of the second class. The coroutines of ``BlockingRunner``
return when the condition is true, so that a body runs to its end within one ``send``.
Results, errors, tracebacks and cancellation are therefore those of ordinary coroutines
and of ordinary calls.

A body may await only the coroutines of a runner and other bodies. It never calls an
operation of its own class, because that is not a coroutine in the blocking class; a
body that others need is a method without the decorator. Type checkers reject such a
call within the base class. They see the right type in each of the other two.
"""

from __future__ import annotations

import functools
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Self,
    TypeVar,
    overload,
)

from .forks import ForkAware

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from .aio import AsyncRunner
    from .blocking import BlockingRunner
    from .network import Network
    from .protocols import Machine, Runner

    M = TypeVar("M", bound=Machine)

P = ParamSpec("P")
R = TypeVar("R")


def run_blocking(body: Coroutine[Any, Any, R]) -> R:
    """Run a coroutine that waits only for a ``BlockingRunner``; return its result."""
    try:
        body.send(None)
    except StopIteration as end:
        result: R = end.value
        return result
    body.close()
    raise RuntimeError("the body of an operation waits for an event loop")


class operation(Generic[P, R]):
    """Decorator of the body of an operation, in a base class of both forms."""

    def __init__(
        self, body: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]
    ) -> None:
        self.body = body

    def make_blocking(self) -> Callable[..., R]:
        """Return the blocking form of the method."""
        body = self.body

        @functools.wraps(body)
        def call(*args: Any, **kwargs: Any) -> R:
            return run_blocking(body(*args, **kwargs))

        return call

    @overload
    def __get__(
        self, instance: Asynchronous, owner: Any
    ) -> Callable[P, Coroutine[Any, Any, R]]: ...

    @overload
    def __get__(self, instance: Blocking, owner: Any) -> Callable[P, R]: ...

    def __get__(self, instance: Any, owner: Any) -> Any:
        # Both forms replace this descriptor in the classes of users.
        return self


class Operations(ForkAware):
    """Base of a class with operations, in neither form."""

    def _start(self, make: Callable[[float], M], network: Network) -> tuple[M, Runner]:
        """Make a machine, which is passed the time, and its runner."""
        raise NotImplementedError

    async def _enter(self) -> None:
        """Enter the block of the context manager."""

    async def _leave(self, has_failed: bool) -> None:
        """Leave the block, possibly because of an exception."""
        raise NotImplementedError


class Asynchronous(Operations):
    """Makes operations coroutines, and the object an asynchronous context manager."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, found in _list_operations(cls):
            setattr(cls, name, found.body)

    async def __aenter__(self) -> Self:
        await self._enter()
        return self

    async def __aexit__(self, kind: object, *exception: object) -> None:
        await self._leave(kind is not None)

    if not TYPE_CHECKING:
        # Type checkers report these uses.

        def __enter__(self) -> None:
            raise TypeError(
                f'{type(self).__name__} is for asyncio: use "async with", or'
                " client.connect_sync for blocking calls"
            )

        def __exit__(self, *exception: object) -> None: ...

    def _start(
        self, make: Callable[[float], M], network: Network
    ) -> tuple[M, AsyncRunner]:
        # Blocking programs must not load asyncio.
        import asyncio

        from .aio import AsyncRunner

        self.watch_forks()
        machine = make(asyncio.get_running_loop().time())
        return machine, AsyncRunner(machine, machine.cluster, network)


class Blocking(Operations):
    """Makes operations blocking calls, and the object a context manager."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, found in _list_operations(cls):
            setattr(cls, name, found.make_blocking())

    def __enter__(self) -> Self:
        run_blocking(self._enter())
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        run_blocking(self._leave(kind is not None))

    if not TYPE_CHECKING:
        # Type checkers report these uses.

        async def __aenter__(self) -> None:
            raise TypeError(
                f'{type(self).__name__} is for blocking calls: use "with", or'
                " client.connect for asyncio"
            )

        async def __aexit__(self, *exception: object) -> None: ...

    def _start(
        self, make: Callable[[float], M], network: Network
    ) -> tuple[M, BlockingRunner]:
        from time import monotonic

        from .blocking import BlockingRunner

        self.watch_forks()
        machine = make(monotonic())
        return machine, BlockingRunner(machine, machine.cluster, network)


def _list_operations(owner: type) -> list[tuple[str, operation[Any, Any]]]:
    """Return the operations of a class and its bases, by name."""
    return [
        (name, found)
        for name in dir(owner)
        if isinstance(found := getattr(owner, name, None), operation)
    ]
