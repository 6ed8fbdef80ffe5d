# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Exported Arrow arrays can be read by other libraries, and their memory is freed.

The tests also perform operations that the Arrow C data interface allows a consumer:
move structs, release them on any thread without the GIL, and keep children longer than
their parents. pyarrow's full validation checks the buffers.
"""

import ctypes
import gc
import importlib
import subprocess
import sys
import threading

import duckdb
import numpy
import polars
import pyarrow
import pytest

ROWS = 3
OFFSETS = numpy.arange(ROWS, dtype="int64")
NAMES = ["a", "", "kwire"]
LISTS = [[b"x", None], [], [b"yz"]]
EXPECTED = [
    {"offset": i, "name": NAMES[i], "items": LISTS[i], "flag": i != 1}
    for i in range(ROWS)
]


@pytest.fixture
def arrays(kwire):
    """Return the module ``arrays`` of the tested engine."""
    return importlib.import_module(f"{kwire.__name__}._engine.{kwire.backend}.arrays")


def fill_memory(arrays, data):
    """Allocate memory with the size of ``data``, copy ``data`` to it, and return it."""
    memory = arrays.new_memory(len(data))
    memoryview(memory)[:] = data
    return memory


def int32s(arrays, *values):
    """Return new memory that contains the values as int32 in native byte order."""
    return fill_memory(arrays, numpy.array(values, "int32").tobytes())


def small_tree(arrays):
    """Build a struct array: an int64, a string, a list with a null, and a bool."""
    make, bits = arrays.Array, lambda value: fill_memory(arrays, bytes([value]))
    items = make(
        "z",
        "item",
        3,
        1,
        (bits(0b101), int32s(arrays, 0, 1, 1, 3), fill_memory(arrays, b"xyz")),
    )
    return make(
        "+s",
        "",
        ROWS,
        0,
        (None,),
        (
            make(
                "l", "offset", ROWS, 0, (None, fill_memory(arrays, OFFSETS.tobytes()))
            ),
            make(
                "u",
                "name",
                ROWS,
                0,
                (None, int32s(arrays, 0, 1, 1, 6), fill_memory(arrays, b"akwire")),
                nullable=False,
            ),
            make("+l", "items", ROWS, 0, (None, int32s(arrays, 0, 2, 2, 3)), (items,)),
            make("b", "flag", ROWS, 0, (None, bits(0b101))),
        ),
        metadata={"origin": "kwire", "ä": ""},
    )


def count_references(tree):
    """Return a list of reference counts.

    The objects are the tree, its children, and the buffers of all of them.
    """
    gc.collect()
    return [
        sys.getrefcount(owner)
        for node in (tree, *tree.children)
        for owner in (node, *node.buffers)
        if owner is not None
    ]


def test_memory_is_viewed_without_a_copy(arrays):
    """``memoryview``, numpy and pyarrow read a memory block without copying it."""
    memory = arrays.new_memory(16)
    assert memory.size == len(memory) == memoryview(memory).nbytes == 16
    array = numpy.frombuffer(memory, "uint8")
    buffer = pyarrow.py_buffer(memory)
    memoryview(memory)[:] = bytes(range(16))
    assert array.tolist() == list(range(16))
    assert buffer.to_pybytes() == bytes(range(16))
    assert buffer.address == array.ctypes.data


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 10**5, 10**7])
def test_memory_has_its_size(arrays, size):
    """A new block has the requested size, and all of its bytes are writable.

    This includes blocks that reuse the memory of an earlier block.
    """
    for _ in range(3):
        memory = arrays.new_memory(size)
        memoryview(memory)[:] = b"\xa5" * size
        assert bytes(memory) == b"\xa5" * size


def test_memory_in_use_is_not_used_again(arrays):
    """Two blocks that exist at the same time never share memory.

    Large blocks are reused after they are freed. The test frees every second block, and
    checks that later blocks do not overwrite the remaining ones.
    """
    size = 10**6
    for _ in range(3):
        memories = [arrays.new_memory(size) for _ in range(50)]
        for number, memory in enumerate(memories):
            memoryview(memory)[:] = bytes([number]) * size
        firsts = [bytes(memoryview(memory)[:1])[0] for memory in memories]
        assert firsts == list(range(50))
        del memory, memories[::2]
        assert {bytes(memoryview(m))[-1] for m in memories} == set(range(1, 50, 2))


def test_negative_size_is_rejected(arrays):
    """``new_memory`` raises ValueError for a negative size."""
    with pytest.raises(ValueError, match=r"0 or more \(got -1\)"):
        arrays.new_memory(-1)


def test_pyarrow_reads_a_tree(arrays):
    """A tree is imported by pyarrow with values, types, nullability and metadata.

    It is imported as an array and as a record batch.
    """
    tree = small_tree(arrays)
    array = pyarrow.array(tree)
    array.validate(full=True)
    assert array.to_pylist() == EXPECTED
    batch = pyarrow.record_batch(tree)
    batch.validate(full=True)
    assert batch.to_pylist() == EXPECTED
    schema = pyarrow.schema(tree)
    assert schema.equals(batch.schema, check_metadata=True)
    assert schema.metadata == {b"origin": b"kwire", "ä".encode(): b""}
    assert [field.nullable for field in schema] == [True, False, True, True]
    assert schema.field("items").type == pyarrow.list_(pyarrow.binary())


def test_known_schema_is_not_exported_again(arrays):
    """``import_with`` passes only the array to the importer if the schema is known.

    The imported batch is equal to the tree. If the importer ignores the struct or
    raises an error, the struct is released.
    """
    tree = small_tree(arrays)
    schema = pyarrow.schema(tree)
    before = count_references(tree)
    batch = tree.import_with(pyarrow.RecordBatch._import_from_c, schema)
    assert batch.to_pylist() == EXPECTED
    del batch
    assert tree.import_with(lambda address, schema: schema, 5) == 5
    with pytest.raises(ZeroDivisionError):
        tree.import_with(lambda address, schema: address // 0, None)
    assert count_references(tree) == before


def test_polars_reads_a_tree(arrays):
    """A tree is imported by polars, which copies strings and binaries."""
    frame = polars.DataFrame(small_tree(arrays))
    assert frame.to_dicts() == EXPECTED


def test_duckdb_reads_a_tree(arrays):
    """DuckDB imports the capsules of a tree with its Arrow scan."""
    tree = small_tree(arrays)
    for source in (tree, pyarrow.table(pyarrow.record_batch(tree))):
        relation = duckdb.from_arrow(source)
        rows = [
            dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()
        ]
        assert rows == EXPECTED


def test_numpy_reads_the_buffers_of_a_tree(arrays):
    """The data buffer of an int64 column is readable by numpy without a conversion."""
    column = small_tree(arrays).children[0]
    offsets = numpy.frombuffer(column.buffers[1], "int64")
    assert numpy.array_equal(offsets, OFFSETS)


def test_slices_by_consumers_have_the_correct_rows(arrays):
    """A slice of an imported batch or column contains the correct rows."""
    batch = pyarrow.record_batch(small_tree(arrays))
    slice_ = batch.slice(1, 2)
    slice_.validate(full=True)
    assert slice_.to_pylist() == EXPECTED[1:]
    assert batch.column("items").slice(2).to_pylist() == LISTS[2:]


def test_unused_capsules_are_released(arrays):
    """Capsules are freed if they are unused, imported, or only partly imported."""
    tree = small_tree(arrays)
    before = count_references(tree)
    for _ in range(100):
        tree.__arrow_c_array__()
        tree.__arrow_c_schema__()
        pyarrow.array(tree)
        pyarrow.schema(tree)
        schema, data = tree.__arrow_c_array__()
        pyarrow.DataType._import_from_c_capsule(schema)
        with pytest.raises(Exception, match="released"):
            pyarrow.Array._import_from_c_capsule(schema, data)
        del schema, data
    array = pyarrow.array(tree)
    assert count_references(tree) != before
    del array
    assert count_references(tree) == before


def test_freeing_an_array_keeps_the_active_exception(arrays):
    """Freeing an array while an exception is active does not replace that exception."""
    tree = small_tree(arrays)
    schema = pyarrow.schema(tree)
    before = count_references(tree)
    for make in (
        lambda: pyarrow.array(tree),
        lambda: tree.import_with(pyarrow.RecordBatch._import_from_c, schema),
        lambda: polars.DataFrame(tree),
        tree.__arrow_c_array__,
        tree.__arrow_c_schema__,
    ):

        def give_and_fail(make=make):
            yield make()
            raise LookupError("raised")

        with pytest.raises(LookupError, match="raised"):
            list(give_and_fail())
        with pytest.raises(ZeroDivisionError):
            print(make(), 1 // 0)
        del make, give_and_fail
    assert count_references(tree) == before


@pytest.fixture
def pure_arrays(plain_kwire):
    """Return the Python engine's ``arrays`` module."""
    return importlib.import_module(f"{plain_kwire.__name__}._engine.pure.arrays")


def test_export_without_pyarrow_names_the_extra(pure_arrays, monkeypatch):
    """Without pyarrow, columns can be read, but exporting them raises an error.

    The error names the extra to install.
    """
    package = sys.modules[pure_arrays.__package__]
    tree = small_tree(pure_arrays)
    pyarrow.array(tree)
    monkeypatch.setattr(pure_arrays, "_interface", [])
    monkeypatch.delitem(sys.modules, f"{package.__name__}.arrow_interface")
    monkeypatch.delattr(package, "arrow_interface")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install kwire\[arrow\]"):
        tree.__arrow_c_array__()


def test_plain_python_names_the_pyarrow_that_views_require(pure_arrays):
    """Before pyarrow 19, exporting views raises an error with the required version.

    Older versions cannot create a view array from existing buffers.
    """
    views = pure_arrays.Array("vz", "", 0, 0, (None,))
    interface = pure_arrays.load_interface()
    with pytest.raises(ImportError, match="pyarrow 19"):
        interface.make_array(views, pyarrow.binary())


def test_argtypes_of_ctypes_may_be_set_by_other_packages(arrays, monkeypatch):
    """The export works if another package has changed ``ctypes.pythonapi`` functions.

    ``argtypes`` and ``restype`` of these functions are shared by the whole process.
    """
    for name in ("PyCapsule_New", "PyCapsule_GetPointer"):
        function = getattr(ctypes.pythonapi, name)
        monkeypatch.setattr(function, "argtypes", [ctypes.c_wchar_p])
        monkeypatch.setattr(function, "restype", ctypes.c_int)
    batch = pyarrow.record_batch(small_tree(arrays))
    assert batch.num_rows == pyarrow.record_batch(small_tree(arrays)).num_rows > 0


def test_consumers_keep_deleted_arrays_alive(arrays):
    """Imported arrays remain valid after the original array is deleted."""
    batch = pyarrow.record_batch(small_tree(arrays))
    column = batch.column("items")
    gc.collect()
    assert batch.to_pylist() == EXPECTED
    del batch
    gc.collect()
    assert column.to_pylist() == LISTS


class Data(ctypes.Structure):
    """``struct ArrowArray`` of the Arrow C data interface."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("length", "null_count", "offset")),
        *((name, ctypes.c_int64) for name in ("n_buffers", "n_children")),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)),
        ("children", ctypes.POINTER(ctypes.c_void_p)),
        *((name, ctypes.c_void_p) for name in ("dictionary", "release", "private")),
    ]


def move_struct(address):
    """Move a struct to new memory, as the C data interface allows.

    The original struct is marked as released. Return the new struct.
    """
    original = Data.from_address(address)
    copy = Data.from_buffer_copy(original)
    original.release = None
    return copy


def release(data):
    """Call the release callback of a struct. ctypes releases the GIL for the call."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(data.release)(ctypes.addressof(data))


def test_structs_are_moved_and_released_one_by_one(arrays):
    """The children of a struct can be moved and released separately.

    A moved child outlives its parent. The last release frees the tree.
    """
    tree = small_tree(arrays)
    before = count_references(tree)
    root = tree.import_with(lambda address, schema: move_struct(address), None)
    child, third_child = move_struct(root.children[0]), move_struct(root.children[2])
    assert (root.length, root.n_children, child.n_buffers) == (ROWS, 4, 2)
    release(root)
    assert root.release is None
    assert count_references(tree) != before
    values = ctypes.cast(child.buffers[1], ctypes.POINTER(ctypes.c_int64))
    assert values[:ROWS] == OFFSETS.tolist()
    release(child)
    item = move_struct(third_child.children[0])
    release(third_child)
    assert item.null_count == 1
    release(item)
    assert count_references(tree) == before


def test_arrays_may_be_released_in_any_thread(arrays):
    """Several threads may release exports of one tree at the same time.

    ctypes releases the GIL during the call of the release callback.
    """
    tree = small_tree(arrays)
    before = count_references(tree)

    def export_and_release():
        for _ in range(200):
            release(
                tree.import_with(lambda address, schema: move_struct(address), None)
            )

    threads = [threading.Thread(target=export_and_release) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count_references(tree) == before


def test_arrays_may_outlive_python(arrays):
    """Arrays that still exist when the interpreter exits cause no error."""
    module = arrays.__name__.replace("kwire_pure", "kwire")
    code = (
        f"import {module} as arrays, pyarrow, sys, types\n"
        "memory = arrays.new_memory(8)\n"
        "array = arrays.Array('l', '', 1, 0, (None, memory))\n"
        "kept = pyarrow.array(array)\n"
        "for name in ('aa', 'zz'):\n"
        "    sys.modules[name] = types.ModuleType(name)\n"
        "    sys.modules[name].kept = [pyarrow.array(array)]\n"
        "    sys.modules[name].kept.append(sys.modules[name].kept)\n"
        "    sys.modules[name].capsules = array.__arrow_c_array__()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_arrays_cannot_be_changed(arrays):
    """Attributes of an array cannot be set, deleted or added."""
    tree = small_tree(arrays)
    for name in ("length", "buffers", "children", "format", "other"):
        with pytest.raises(AttributeError):
            setattr(tree, name, None)
    assert (tree.format, tree.length, len(tree), tree.null_count) == ("+s", 3, 3, 0)


def test_array_constructor_rejects_other_types(arrays):
    """The constructor of an array rejects objects of other types before using them."""
    with pytest.raises(TypeError, match="Memory or None"):
        arrays.Array("l", "", 1, 0, (None, bytes(8)))
    with pytest.raises(TypeError, match="child must be an Array"):
        arrays.Array("+s", "", 1, 0, (None,), (None,))
