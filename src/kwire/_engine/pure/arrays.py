# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Allocates the memory of columns, and makes Arrow arrays of it.

``Memory`` is a block of bytes with the buffer protocol. ``Array`` is a node of an
Arrow array over such blocks, and leaves kwire through the Arrow PyCapsule interface:
pyarrow, polars and DuckDB take it without a copy. The export requires pyarrow here.
``record_columns`` and ``message_columns`` decide what the columns hold.

Twin: ``fast/arrays.pyx``. Differs from its twin in: memory that is a ``bytearray``,
cleared and aligned as Python does it, or a memoryview of the caller's, and structs that
pyarrow makes.
Python needs for itself: ``load_interface``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    _Metadata = dict[str, str]


class Memory(bytearray):
    """A block of bytes of known size, with the buffer protocol.

    It is writable while it is being filled; what an ``Array`` was made of is not to be
    written any more. Memory of the caller (``hold_memory``) is a memoryview.
    """

    __slots__ = ()

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self)


class Array:
    """A node of an Arrow array: its format, its buffers and its children.

    ``format`` is that of the Arrow C data interface, ``buffers`` are ``Memory`` or None
    in Arrow's order, ``metadata`` goes with the schema. ``offset`` is the row of the
    buffers that is the first of the array. Immutable. The memory of a tree lives until
    every consumer of any of its nodes has let go.
    """

    __slots__ = (
        "buffers",
        "children",
        "format",
        "length",
        "metadata",
        "name",
        "null_count",
        "nullable",
        "offset",
    )

    format: str
    name: str
    length: int
    null_count: int
    # The first may be None, and no type expresses that the others may not.
    buffers: tuple[Any, ...]
    children: tuple[Array, ...]
    nullable: bool
    metadata: _Metadata | None
    offset: int

    def __init__(
        self,
        format: str,
        name: str,
        length: int,
        null_count: int,
        buffers: tuple[Memory | memoryview | None, ...],
        children: tuple[Array, ...] = (),
        nullable: bool = True,
        metadata: _Metadata | None = None,
        offset: int = 0,
    ) -> None:
        for buffer in buffers:
            if buffer is not None and not isinstance(buffer, (Memory, memoryview)):
                raise TypeError(
                    f"a buffer must be a Memory or None (got {buffer!r:.40})"
                )
        for child in children:
            if not isinstance(child, Array):
                raise TypeError(f"a child must be an Array (got {child!r:.40})")
        put = object.__setattr__
        put(self, "format", format)
        put(self, "name", name)
        put(self, "length", length)
        put(self, "null_count", null_count)
        put(self, "buffers", buffers)
        put(self, "children", children)
        put(self, "nullable", nullable)
        put(self, "metadata", metadata)
        put(self, "offset", offset)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an Array cannot be changed; make a new one")

    def __len__(self) -> int:
        return self.length

    def __arrow_c_schema__(self) -> object:
        """Export the type as a capsule of an ``ArrowSchema``."""
        return load_interface().schema_capsule(self)

    def __arrow_c_array__(
        self, requested_schema: object = None
    ) -> tuple[object, object]:
        """Export type and data as capsules of ``ArrowSchema`` and ``ArrowArray``.

        The data comes as it is whatever schema is requested, as the protocol allows.
        """
        interface = load_interface()
        return interface.schema_capsule(self), interface.array_capsule(self)

    def import_with(self, take: Callable[[int, Any], Any], schema: object) -> Any:
        """Pass the data to ``take(address, schema)``, such as ``_import_from_c``.

        ``address`` is that of an ``ArrowArray`` that ``take`` moves its content out of.
        A consumer that passes a schema it has already made need not read one again.
        """
        return load_interface().import_with(self, take, schema)


def new_memory(size: int) -> Memory:
    """Make memory of ``size`` bytes, to be filled."""
    if size < 0:
        raise ValueError(f"size must be 0 or more (got {size})")
    return Memory(size)


def grow_memory(memory: Memory, used: int, size: int) -> Memory:
    """Return memory of ``size`` bytes with the first ``used`` of ``memory``.

    ``memory`` is of no more use, but for the views of it that are alive.
    """
    if not 0 <= used <= len(memory) <= size:
        raise ValueError(
            f"a Memory of {len(memory)} bytes cannot grow to {size} and keep {used}"
        )
    larger = new_memory(size)
    # Between views: a bytearray would copy what it is assigned once more.
    with memoryview(memory) as source, memoryview(larger) as target:
        target[:used] = source[:used]
    return larger


def hold_memory(view: memoryview, start: int) -> memoryview:
    """Make memory of the bytes of a view from ``start`` on, without a copy.

    ``view`` is a flat memoryview of bytes that the caller keeps to itself: the memory
    holds it, so that the bytes stay where they are.
    """
    if not isinstance(view, memoryview):
        raise TypeError(f"a memoryview is required (got {type(view).__name__})")
    if not 0 <= start <= view.nbytes:
        raise ValueError(
            f"start must be 0 to {view.nbytes}, the length of the view (got {start})"
        )
    return view[start:].toreadonly()


_interface: list[Any] = []


def load_interface() -> Any:
    """Load the C side of Arrow, which imports pyarrow, when an array is exported."""
    if not _interface:
        from . import arrow_interface

        _interface.append(arrow_interface)
    return _interface[0]
