# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The structs and capsules of the Arrow C data interface, by ctypes. Without a twin.

An ``_Export`` holds the structs of a whole tree and what they point to. It is in
``_living`` for as long as a struct of it may still be read, or the capsule lives.
Source: the Arrow C data interface and the Arrow PyCapsule interface.
"""

from __future__ import annotations

import ctypes

from .arrays import Array, encode_metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_NULLABLE = 2


class _Schema(ctypes.Structure):
    pass


class _Data(ctypes.Structure):
    pass


class _Buffer(ctypes.Structure):
    _fields_ = [
        ("start", ctypes.c_void_p),
        ("object", ctypes.c_void_p),
        ("size", ctypes.c_ssize_t),
        ("item_size", ctypes.c_ssize_t),
        ("is_read_only", ctypes.c_int),
        ("dimensions", ctypes.c_int),
        ("others", ctypes.c_void_p * 5),
    ]


_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Close = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)

_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.c_void_p)),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
_Data._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.c_void_p)),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]

# Attributes of ``ctypes.pythonapi`` belong to the whole process, whose other packages
# may want other types: these are functions of our own.
_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Close
)(("PyCapsule_New", ctypes.pythonapi))
# The capsule is dying when it is asked, so nothing may hold it: a bare address.
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_keep_for_ever = ctypes.PYFUNCTYPE(None, ctypes.py_object)(
    ("Py_IncRef", ctypes.pythonapi)
)

_get_buffer = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int
)(("PyObject_GetBuffer", ctypes.pythonapi))
_release_buffer = ctypes.PYFUNCTYPE(None, ctypes.POINTER(_Buffer))(
    ("PyBuffer_Release", ctypes.pythonapi)
)

_living: dict[int, _Export] = {}


def find_address(view: memoryview) -> int:
    """Find where the bytes of a memoryview are; they stay there while it lives."""
    buffer = _Buffer()
    _get_buffer(view, ctypes.byref(buffer), 0)
    address: int = buffer.start or 0
    _release_buffer(ctypes.byref(buffer))
    return address


class _Export:
    """The structs of a tree and how many are in use, found by the root's address."""

    def __init__(self, array: Array, kind: type[_Schema] | type[_Data]) -> None:
        self.kept: list[Any] = [array]
        self.live = 1
        self.living = _living
        self.root = self.node(array, kind)
        self.address = ctypes.addressof(self.root)
        self.living[self.address] = self
        for struct in self.kept:
            if isinstance(struct, kind):
                struct.private_data = self.address

    def node(self, array: Array, kind: type[_Schema] | type[_Data]) -> Any:
        made: Any = kind()
        self.kept.append(made)
        self.live += 1
        if kind is _Schema:
            made.format = array.format.encode()
            made.name = array.name.encode()
            made.flags = _NULLABLE if array.nullable else 0
            if array.metadata:
                text = ctypes.create_string_buffer(encode_metadata(array.metadata))
                self.kept.append(text)
                made.metadata = ctypes.addressof(text)
            made.release = ctypes.cast(_drop_schema, ctypes.c_void_p)
        else:
            made.length = array.length
            made.null_count = array.null_count
            made.offset = array.offset
            made.n_buffers = len(array.buffers)
            made.buffers = self.pointers(
                [None if b is None else self.pinned(b) for b in array.buffers]
            )
            made.release = ctypes.cast(_drop_data, ctypes.c_void_p)
        children = [self.node(child, kind) for child in array.children]
        made.n_children = len(children)
        made.children = self.pointers([ctypes.addressof(c) for c in children])
        return made

    def pinned(self, memory: bytearray | memoryview) -> int:
        if isinstance(memory, memoryview):
            # It holds its bytes itself, and the array holds it.
            return find_address(memory)
        view = (ctypes.c_char * len(memory)).from_buffer(memory)
        self.kept.append(view)
        return ctypes.addressof(view)

    def pointers(self, addresses: list[int | None] | list[int]) -> Any:
        made = (ctypes.c_void_p * len(addresses))(*addresses)
        self.kept.append(made)
        return ctypes.cast(made, ctypes.POINTER(ctypes.c_void_p))

    def release(self) -> None:
        """Count one struct less, and drop the export after the last."""
        self.live -= 1
        if not self.live:
            del self.living[self.address]


def _callbacks(kind: type[_Schema] | type[_Data], name: bytes) -> tuple[Any, Any]:
    """Make the release callback of one kind of struct, and the end of its capsule.

    Consumers call them as late as the end of the process: they need no name of this
    module, and are themselves never freed.
    """
    living, callback, pointer_of = _living, _Release, _pointer_of

    def drop(address: int) -> None:
        struct: Any = kind.from_address(address)
        for index in range(struct.n_children):
            release(struct.children[index])
        struct.release = None
        living[struct.private_data].release()

    def release(address: int) -> None:
        struct: Any = kind.from_address(address)
        if struct.release:
            callback(struct.release)(address)

    def close(capsule: int) -> None:
        root = pointer_of(capsule, name)
        release(root)
        living[root].release()

    made = _Release(drop), _Close(close)
    for kept in made:
        _keep_for_ever(kept)
    return made


_drop_schema, _close_schema = _callbacks(_Schema, b"arrow_schema")
_drop_data, _close_data = _callbacks(_Data, b"arrow_array")


def schema_capsule(array: Array) -> Any:
    """Make the capsule of the type."""
    export = _Export(array, _Schema)
    return _new_capsule(export.address, b"arrow_schema", _close_schema)


def array_capsule(array: Array) -> Any:
    """Make the capsule of the data."""
    export = _Export(array, _Data)
    return _new_capsule(export.address, b"arrow_array", _close_data)


def import_with(array: Array, take: Callable[[int, Any], Any], schema: object) -> Any:
    """Pass the data to ``take``, which moves it out."""
    export = _Export(array, _Data)
    try:
        return take(export.address, schema)
    finally:
        if export.root.release:
            _Release(export.root.release)(export.address)
        export.release()
