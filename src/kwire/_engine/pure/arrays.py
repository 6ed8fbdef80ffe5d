# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Allocates column memory, and creates Arrow arrays from it.

``Memory`` is a block of bytes with the buffer protocol. ``Array`` is an Arrow array
node that consists of such blocks. It is exported through the Arrow PyCapsule interface,
so that pyarrow, polars and DuckDB can use it without a copy. In this engine, the export
requires pyarrow. ``record_columns`` and ``message_columns`` fill the columns.

Twin: ``fast/arrays.pyx``. Differs from its twin in: a memory is a ``bytearray``, which
Python initializes and aligns, or a memoryview of the caller's data, and pyarrow creates
the C structs.

Only in Python: ``load_interface``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    _Metadata = dict[str, str]


class Memory(bytearray):
    """Fixed-size block of bytes, with the buffer protocol.

    It is writable until an ``Array`` has been created from it, and must not be modified
    afterwards. The caller's memory (``hold_memory``) is a memoryview instead.
    """

    __slots__ = ()

    @property
    def size(self) -> int:
        """Size of the memory in bytes."""
        return len(self)


class Array:
    """Arrow array node: its format, buffers and children.

    * ``format``: format string of the Arrow C data interface.
    * ``buffers``: a tuple of ``Memory`` or None in the order that Arrow defines.
    * ``metadata``: a dict that is exported with the schema.
    * ``offset``: row of the buffers at which the array begins.

    Arrays are immutable. The memory is kept until all consumers have released all nodes
    of the tree.
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
    # Only the first buffer is optional (None), which types cannot express.
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
        """Export the type as a capsule that contains an ``ArrowSchema``."""
        return load_interface().schema_capsule(self)

    def __arrow_c_array__(
        self, requested_schema: object = None
    ) -> tuple[object, object]:
        """Export type and data as capsules of an ``ArrowSchema`` and an ``ArrowArray``.

        The data is not converted to ``requested_schema``. The protocol permits that.
        """
        interface = load_interface()
        return interface.schema_capsule(self), interface.array_capsule(self)

    def import_with(self, take: Callable[[int, Any], Any], schema: object) -> Any:
        """Call ``take(address, schema)``, for example pyarrow's ``_import_from_c``.

        ``address`` is an ``ArrowArray`` address, and ``take`` must move the content out
        of it. A consumer can pass a schema that it has already imported, so that it
        does not need to parse the schema again.
        """
        return load_interface().import_with(self, take, schema)


def new_memory(size: int) -> Memory:
    """Allocate a memory of ``size`` bytes."""
    if size < 0:
        raise ValueError(f"size must be 0 or more (got {size})")
    return Memory(size)


def grow_memory(memory: Memory, used: int, size: int) -> Memory:
    """Return a memory of ``size`` bytes that begins with ``used`` bytes of ``memory``.

    ``memory`` must not be used afterwards. Existing views of it remain valid.
    """
    if not 0 <= used <= len(memory) <= size:
        raise ValueError(
            f"a Memory of {len(memory)} bytes cannot grow to {size} and keep {used}"
        )
    larger = new_memory(size)
    # Copy between memoryviews, because assigning to a slice of a bytearray would copy
    # the source twice.
    with memoryview(memory) as source, memoryview(larger) as target:
        target[:used] = source[:used]
    return larger


def hold_memory(view: memoryview, start: int) -> memoryview:
    """Create a memory from a view without a copy, beginning at byte ``start``.

    ``view`` is a flat memoryview of bytes that no other code uses. The memory keeps a
    reference to it, so that the bytes are not moved or freed.
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
    """Import the module with the C data interface on the first export.

    The module imports pyarrow.
    """
    if not _interface:
        from . import arrow_interface

        _interface.append(arrow_interface)
    return _interface[0]
