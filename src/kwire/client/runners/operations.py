# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``operation``: methods that are written once, for asyncio and for blocking calls.

An operation's body is a coroutine that waits for conditions::

    class KafkaBase(Operations):
        @operation
        async def topics(self) -> TopicsByName:
            machine, runner = self._start(self._make_machine, self.network)
            await runner.wait(machine.has_result)
            return machine.result()

    class Kafka(KafkaBase, Asynchronous): ...      # names = await kafka.topics()
    class KafkaSync(KafkaBase, Blocking): ...      # names = kafka.topics()

In the asynchronous class, the method is the body itself, and asyncio runs it. In the
blocking class, the method calls ``run_blocking``. The coroutines of ``BlockingRunner``
block until their condition is true and never suspend, so that one ``send`` runs a body
to its end. Results, errors, tracebacks and cancellation are therefore the same as in
ordinary coroutines and ordinary calls.

A body may await only the coroutines of a runner and the bodies of methods without the
decorator. It must not call an operation of its own class, because the operation is not
a coroutine in the blocking class. To share code between operations, write a coroutine
method without the decorator.

Type checkers reject a call of an operation within the base class, and infer the correct
type in the asynchronous and in the blocking class.
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
    """Run the body of an operation without an event loop, and return its result.

    Raises ``RuntimeError`` if the body suspends. This means that it awaits something
    other than a ``BlockingRunner``.
    """
    try:
        body.send(None)
    except StopIteration as end:
        result: R = end.value
        return result
    body.close()
    raise RuntimeError("the body of an operation waits for an event loop")


class operation(Generic[P, R]):
    """Decorator for an operation's body.

    It is used in the common base class. ``Asynchronous`` and ``Blocking`` replace the
    decorated body by the method of their form.
    """

    def __init__(
        self, body: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]
    ) -> None:
        self.body = body

    def make_blocking(self) -> Callable[..., R]:
        """Return a function that runs the body with ``run_blocking``."""
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
        # Only the base class has this descriptor: ``Asynchronous`` and ``Blocking``
        # replace it in every subclass.
        return self


class Operations(ForkAware):
    """Base class for operations. It is neither asynchronous nor blocking."""

    def _start(self, make: Callable[[float], M], network: Network) -> tuple[M, Runner]:
        """Create a machine and its runner.

        ``make`` creates the machine. It is called with the runner's current time.
        """
        raise NotImplementedError

    async def _enter(self) -> None:
        """Prepare the object at the beginning of a ``with`` or ``async with`` block."""

    async def _leave(self, has_failed: bool) -> None:
        """Clean up at the end of a ``with`` or ``async with`` block.

        ``has_failed`` is True if an exception ended the block.
        """
        raise NotImplementedError


class Asynchronous(Operations):
    """Makes each operation a coroutine function, and adds ``async with``."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, descriptor in _list_operations(cls):
            setattr(cls, name, descriptor.body)

    async def __aenter__(self) -> Self:
        await self._enter()
        return self

    async def __aexit__(self, kind: object, *exception: object) -> None:
        await self._leave(kind is not None)

    if not TYPE_CHECKING:
        # These methods only raise an error that names the correct use. Hide them from
        # type checkers, which would otherwise accept the wrong use.

        def __enter__(self) -> None:
            raise TypeError(
                f'{type(self).__name__} is for asyncio: use "async with", or'
                " client.connect_sync for blocking calls"
            )

        def __exit__(self, *exception: object) -> None: ...

    def _start(
        self, make: Callable[[float], M], network: Network
    ) -> tuple[M, AsyncRunner]:
        # Import asyncio here, so that blocking programs do not load it.
        import asyncio

        from .aio import AsyncRunner

        self.watch_forks()
        machine = make(asyncio.get_running_loop().time())
        return machine, AsyncRunner(machine, machine.cluster, network)


class Blocking(Operations):
    """Makes each operation a blocking call, and adds ``with``."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, descriptor in _list_operations(cls):
            setattr(cls, name, descriptor.make_blocking())

    def __enter__(self) -> Self:
        run_blocking(self._enter())
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        run_blocking(self._leave(kind is not None))

    if not TYPE_CHECKING:
        # These methods only raise an error that names the correct use. Hide them from
        # type checkers, which would otherwise accept the wrong use.

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
    """Return the name and descriptor of every operation of a class and its bases."""
    return [
        (name, descriptor)
        for name in dir(owner)
        if isinstance(descriptor := getattr(owner, name, None), operation)
    ]
