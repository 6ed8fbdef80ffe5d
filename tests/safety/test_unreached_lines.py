# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests branches in the message engines that no other test reaches.

Values above 2 GiB use no physical memory, because nothing writes to them. The same for
records is in ``test_unreached_records.py``, and failing allocations are tested in
``test_failing_allocations.py``.
"""

import importlib
import json
import mmap
import sys

import numpy
import pyarrow
import pytest

TOO_LARGE = "expected less than 2 GiB"
HUGE = 2**31


def field(name, kind, **keys):
    """Return the schema of a field that exists in all versions."""
    return {"name": name, "type": kind, "versions": "0+"} | keys


def describe_tagged(name, kind, tag, **keys):
    """Return a tagged field's schema."""
    keys = {"versions": "1+", "taggedVersions": "1+", "tag": tag} | keys
    return field(name, kind, **keys)


def message(kwire, *fields):
    """Create a message class with two versions. The second version is flexible."""
    messages = importlib.import_module(f"{kwire.__name__}.messages")
    return messages.message_class(
        json.dumps(
            {
                "type": "data",
                "name": "Corner",
                "validVersions": "0-1",
                "flexibleVersions": "1+",
                "fields": fields,
            }
        )
    )


def arrow(kwire):
    """Return the package's ``messages.arrow`` module."""
    return importlib.import_module(f"{kwire.__name__}.messages.arrow")


def module(package, name):
    """Import a module from the package's engine."""
    return importlib.import_module(
        f"{package.__name__}._engine.{package.backend}.{name}"
    )


@pytest.mark.parametrize("version", [0, 1])
def test_arrays_of_bytes_and_bools_are_encoded_and_decoded(kwire, version):
    """Arrays of bytes and bools are encoded and decoded.

    No Kafka message has such an array, but a custom schema may. Classic and compact
    encodings have separate generated code.
    """
    cls = message(kwire, field("Parts", "[]bytes"), field("Flags", "[]bool"))
    sample = cls(parts=[b"x", b""], flags=[True, False])
    data = kwire.encode(sample, version)
    size = b"\0\0\0\2", b"\0\0\0\1x", b"\0\0\0\0", b"\0\0\0\2\1\0"
    compact = b"\3", b"\2x", b"\1", b"\3\1\0\0"
    assert data == b"".join(compact if version else size)
    assert kwire.decode(cls, data, version) == sample
    assert kwire.decode(cls, data, version, compat="java") == sample
    views = kwire.decode(cls, data, version, zero_copy=True).parts
    assert [type(part) for part in views] == [memoryview] * 2
    assert kwire.encode(cls(parts=[bytearray(b"x"), b""], flags=(1 == 1, False)), 1)
    for parts, flags, path in (
        ([b"", "x"], [], "parts[1]"),
        ([b"", None], [], "parts[1]"),
        ([], [True, 1], "flags[1]"),
    ):
        with pytest.raises(kwire.EncodeError) as caught:
            kwire.encode(cls(parts=parts, flags=flags), version)
        assert caught.value.path == path
    with pytest.raises(kwire.DecodeError) as caught:
        kwire.decode(cls, data[:-2], version, compat="java")
    assert caught.value.path.startswith("flags")
    cut = data[:3] if version else data[:12]
    with pytest.raises(kwire.DecodeError) as caught:
        kwire.decode(cls, cut, version)
    assert caught.value.path == "parts[1]"


def test_generated_code_needs_no_generic_functions(twins):
    """The code that the Python engine generates never calls the generic functions."""
    cls = message(
        twins.pure,
        field("Number", "int32"),
        field("Flags", "[]bool"),
        describe_tagged("Text", "string", 0),
    )
    sample = cls(
        flags=[True], text="ab", unknown_tagged_fields=[(2, b"x"), (7000, b"")]
    )
    data = twins.pure.encode(sample, 1)
    assert data == b"\0\0\0\0\2\1" + b"\3\0\3\3ab\2\1x\xd86\0"
    program = cls._binding.programs[1]
    compile(program.source, "source", "exec")
    assert program.source.startswith("def read(data, at, end):")
    assert "\n\n\ndef write(o0, put):" in program.source
    assert program.read(data, 0, len(data)) == (sample, len(data))
    parts = []
    program.write(sample, parts.append)
    assert b"".join(parts) == data


class Odd:
    """Object that raises LookupError when it is compared."""

    def __eq__(self, other):
        """Raise LookupError."""
        raise LookupError("mine")

    __hash__ = None


def test_both_python_encoders_return_the_same_bytes(twins):
    """Both writers of the Python engine encode the same bytes.

    The values are null, long or omitted.
    """
    null = {"nullableVersions": "0+", "default": "null"}
    inner = {"fields": [field("Number", "int64")], **null}
    cls = message(
        twins.pure,
        field("Inner", "Inner", **inner),
        field("Text", "string", **null),
        field("Numbers", "[]int32", **null),
        describe_tagged("Tag", "bytes", 0),
    )
    encoder = module(twins.pure, "encoder")
    for values in (
        {},
        {"inner": cls.Inner(number=7), "text": "x" * 20000, "numbers": range(20000)},
        {"tag": b"x" * 20000, "unknown_tagged_fields": [(1, b""), (9, b"y" * 20000)]},
    ):
        sample = cls(**values)
        data = twins.pure.encode(sample, 1)
        writer = encoder.Writer()
        encoder.write_struct(writer, cls._binding.plan(1), sample, cls._binding)
        assert writer.out == data
        assert twins.pure.decode(cls, data, 1) == sample


def test_unknown_tags_are_checked_before_they_are_written(kwire):
    """Invalid unknown tags raise an error before they are encoded.

    They must be ascending pairs of a number and bytes, and not defined by the schema.
    """
    cls = message(kwire, describe_tagged("Tag", "int32", 0))
    for wrong in (
        [5],
        [(5,)],
        [("5", b"")],
        [(5, "x")],
        [(5, b""), (5, b"")],
        [(6, b""), (5, b"")],
        [(0, b"")],
        [(-1, b"")],
        [(2**32, b"")],
    ):
        with pytest.raises(kwire.EncodeError) as caught:
            kwire.encode(cls(unknown_tagged_fields=wrong), 1)
        assert caught.value.path == "unknown_tagged_fields"
    with pytest.raises(kwire.EncodeError) as caught:
        kwire.encode(cls(tag=Odd()), 1)
    assert caught.value.path == "tag"


@pytest.mark.parametrize("start", [-1, 3, 2**40])
def test_a_start_outside_of_the_input_is_refused(kwire, start):
    """A start position outside of the input raises ValueError.

    It is an error of the caller, not damage of the input.
    """
    decode_prefix = importlib.import_module(f"{kwire.__name__}._engine.active").engine
    with pytest.raises(ValueError, match=rf"start must be 0 to 2, .* \(got {start}\)"):
        decode_prefix.decode_prefix(kwire.messages.MetadataRequest, b"ab", 1, start)


@pytest.mark.parametrize("compat", ["scala", "", False])
def test_compat_accepts_only_java(kwire, compat):
    """Any ``compat`` other than "java" raises an error instead of reading strictly."""
    with pytest.raises(
        ValueError, match=rf'compat must be None or "java" \(got {compat!r}\)'
    ):
        kwire.decode(kwire.messages.MetadataRequest, b"", 0, compat=compat)


def test_int32_arrays_are_not_shared_if_all_differ(twins):
    """Equal int32 arrays of up to 16 elements share one tuple.

    The engine stops the search for equal arrays if many of them differ, and does not
    compare longer arrays.
    """
    cls = twins.fast.messages.MetadataResponse
    row = cls.MetadataResponsePartition
    twin = twins.pure.messages.MetadataResponse
    for lists, apart, is_one in (
        ([range(index, index + 16) for index in range(200)], 1, False),
        ([range(16), range(16), [*range(10), 99, *range(11, 16)], range(16)], 0, True),
        ([range(17), range(17)], 0, False),
    ):
        rows = [
            row(
                replica_nodes=replicas,
                isr_nodes=[replica_id + apart * 1000 for replica_id in replicas],
            )
            for replicas in lists
        ]
        topic = cls.MetadataResponseTopic(name="t", partitions=rows)
        data = twins.fast.encode(cls(topics=[topic]), 1)
        read = twins.fast.decode(cls, data, 1)
        assert read.topics == (topic,)
        again = twins.pure.decode(twin, data, 1)
        decoded = [replicas.replica_nodes for replicas in again.topics[0].partitions]
        assert decoded == [tuple(replicas) for replicas in lists]
        first, second = read.topics[0].partitions[:2]
        assert (first.isr_nodes is second.isr_nodes) == is_one


def test_a_tagged_struct_names_the_field_in_it(kwire):
    """An error within a nullable tagged struct has the complete path of the field."""
    inner = describe_tagged("Inner", "Inner", 0, nullableVersions="1+", default="null")
    cls = message(kwire, inner | {"fields": [field("Text", "string")]})
    assert kwire.encode(cls(inner=cls.Inner(text="x")), 1) == b"\1\0\4\1\2x\0"
    for wrong, path in ((cls.Inner(text=5), "inner.text"), (5, "inner")):
        with pytest.raises(kwire.EncodeError) as caught:
            kwire.encode(cls(inner=wrong), 1)
        assert caught.value.path == path


@pytest.mark.parametrize("marker", [0, 2, 127])
def test_columns_reject_invalid_markers(kwire, marker):
    """Columns reject an invalid marker of a nullable struct, with the error of objects.

    Inline markers are 1 or -1, and tagged markers are 1 or 0.
    """
    keys = {"nullableVersions": "0+", "default": "null"}
    inner = [field("Text", "string")]
    line = message(kwire, field("Inner", "Inner", fields=inner, **keys))
    keys["nullableVersions"] = "1+"
    tag = message(kwire, describe_tagged("Inner", "Inner", 0, fields=inner, **keys))
    small = marker or 9
    for cls, data in (
        (line, bytes((marker, 2, 65, 0, 0))),
        (tag, bytes((1, 0, 4, small, 2, 65, 0))),
    ):
        with pytest.raises(kwire.DecodeError) as caught:
            kwire.decode(cls, data, 1)
        with pytest.raises(kwire.DecodeError) as column:
            arrow(kwire).messages_to_arrow(pyarrow.array([data]), cls, 1)
        assert column.value.offset == caught.value.offset
        assert column.value.path == "[0].inner"
        assert str(column.value).split(": ")[-1] == str(caught.value).split(": ")[-1]


def test_columns_refuse_a_tag_that_is_too_short(kwire):
    """A tagged number that is longer than its declared size is rejected."""
    cls = message(kwire, describe_tagged("Number", "int32", 0))
    good = b"\1\0\4\0\0\0\5"
    for size in range(4):
        data = b"\1\0" + bytes((size,)) + good[3:]
        with pytest.raises(kwire.DecodeError) as caught:
            kwire.decode(cls, data, 1)
        with pytest.raises(kwire.DecodeError) as column:
            arrow(kwire).messages_to_arrow(pyarrow.array([good, data]), cls, 1)
        assert column.value.offset == caught.value.offset
        assert column.value.path == "[1].number"


def test_encode_rejects_attributes_set_without_the_constructor(kwire):
    """Attributes of compiled structs cannot be set.

    For others, encode detects the error.
    """
    for name, wrong in (("topics", [1]), ("unknown_tagged_fields", [(5, b"")])):
        request = kwire.messages.FetchRequest()
        if kwire.backend == "fast":
            with pytest.raises(AttributeError):
                object.__setattr__(request, name, wrong)
            kwire.encode(request, 13)
            continue
        object.__setattr__(request, name, wrong)
        with pytest.raises(kwire.EncodeError) as caught:
            kwire.encode(request, 13)
        assert caught.value.path == name


def make_untouched(kind, size=HUGE):
    """Return memory of ``size`` bytes that is never written."""
    return bytes(size) if kind == "bytes" else memoryview(mmap.mmap(-1, size))


@pytest.mark.parametrize("kind", ["bytes", "view"])
def test_a_value_of_two_gib_is_refused(kwire, kind):
    """A value of 2 GiB is rejected before it is read.

    Its length does not fit in an int32.
    """
    value = make_untouched(kind)
    with pytest.raises(kwire.EncodeError, match=TOO_LARGE):
        kwire.messages.wire.encode_bytes(value)
    with pytest.raises(kwire.EncodeError, match=TOO_LARGE):
        kwire.messages.wire.encode_compact_bytes(value)


def test_a_message_names_the_value_of_two_gib(kwire):
    """A field or an unknown tag of 2 GiB raises an error with its path."""
    cls = kwire.messages.SaslAuthenticateRequest
    value = make_untouched("bytes")
    with pytest.raises(kwire.EncodeError, match=TOO_LARGE) as caught:
        kwire.encode(cls(auth_bytes=value), 2)
    assert caught.value.path == "auth_bytes"
    with pytest.raises(kwire.EncodeError, match=TOO_LARGE):
        kwire.encode(cls(unknown_tagged_fields=[(5, value)]), 2)


def test_a_tagged_field_has_less_than_two_gib(twins, monkeypatch):
    """A known tagged field must be smaller than 2 GiB, a limit that the test lowers."""
    monkeypatch.setattr(module(twins.pure, "encoder"), "LARGEST", 100)
    cls = message(twins.pure, describe_tagged("Text", "string", 0))
    assert twins.pure.encode(cls(text="x" * 99), 1) == b"\1\0dd" + b"x" * 99
    with pytest.raises(twins.pure.EncodeError, match=TOO_LARGE) as caught:
        twins.pure.encode(cls(text="x" * 100), 1)
    assert caught.value.path == "text"


def test_more_elements_than_an_int32_counts(twins):
    """An array count that exceeds int32 is rejected.

    The test only passes the count, because such a tuple would need 16 GiB.
    """
    primitives = module(twins.pure, "primitives")
    writer = module(twins.pure, "writer")
    most = HUGE - 2
    for compact, written in ((False, b"\x7f\xff\xff\xfe"), (True, b"\xff" * 4 + b"\7")):
        output_writer = writer.Writer()
        primitives.write_count(output_writer, most, compact)
        assert output_writer.out == written
        with pytest.raises(writer.ValueFault) as caught:
            primitives.write_count(output_writer, most + 1, compact)
        assert caught.value.code == twins.pure.errors.TOO_LARGE


class Long(bytes):
    """Bytes whose ``len`` is a different number."""

    size = 0

    def __len__(self):
        """Return the fake length."""
        return self.size


def test_a_frame_of_two_gib_is_refused(twins):
    """A frame of 2 GiB is rejected before its parts are concatenated."""
    frames = module(twins.pure, "frames")
    body = Long(b"body")
    body.size = HUGE - 1 - 4
    assert frames.frame(b"head", body) == b"\x7f\xff\xff\xffheadbody"
    body.size += 1
    with pytest.raises(twins.pure.EncodeError, match=TOO_LARGE):
        frames.frame(b"head", body)


def test_a_view_that_was_released_has_no_bytes(kwire):
    """A memoryview that was released is rejected as a value."""
    view = memoryview(b"abc")
    view.release()
    cls = kwire.messages.SaslAuthenticateRequest
    with pytest.raises(kwire.EncodeError, match="expected contiguous bytes") as caught:
        kwire.encode(cls(auth_bytes=view), 1)
    assert caught.value.path == "auth_bytes"


def test_single_values_are_read_from_contiguous_bytes(kwire):
    """A single value is only decoded from a contiguous buffer.

    A strided buffer raises TypeError.
    """
    with pytest.raises(TypeError, match="must be contiguous"):
        kwire.messages.wire.decode_varint(memoryview(bytes(16))[::2])


def test_single_tags_name_the_fault(kwire):
    """Tagged fields must be a dict from uint32 to bytes. Others raise an error."""
    encode = kwire.messages.wire.encode_tagged_fields
    assert encode({2: b"x", 0: b""}) == b"\2\0\0\2\1x"
    for wrong, words in (
        ({2**32: b""}, "expected a uint32"),
        ({-1: b""}, "expected a uint32"),
        ({1: "x"}, "expected bytes"),
        ({1: None}, "expected bytes"),
        ({1: bytearray(1)}, "expected bytes"),
        ({1: make_untouched("bytes")}, TOO_LARGE),
        ({True: b""}, "expected"),
        ([(1, b"")], "expected"),
    ):
        with pytest.raises(kwire.EncodeError, match=words):
            encode(wrong)


class Missing:
    """Import finder that raises ModuleNotFoundError for numpy."""

    def find_spec(self, name, path=None, target=None):
        """Raise ModuleNotFoundError for numpy."""
        if name == "numpy":
            raise ModuleNotFoundError(name)


BULK = [
    ("unsigned_varints", "uint32"),
    ("varints", "int32"),
    ("varlongs", "int64"),
]


@pytest.mark.parametrize(("name", "dtype"), BULK)
def test_bulk_functions_accept_empty_input(kwire, name, dtype):
    """An empty array of any type yields no bytes."""
    encode = getattr(kwire.messages.wire, f"encode_{name}")
    for empty in ([], (), numpy.array([], "U1"), numpy.array([], "int8")):
        assert encode(empty) == b""
    values, end = getattr(kwire.messages.wire, f"decode_{name}")(b"ab", 0, 1)
    assert (values.tolist(), str(values.dtype), end) == ([], dtype, 1)


@pytest.mark.parametrize(("name", "dtype"), BULK)
def test_bulk_functions_without_numpy_name_the_extra(kwire, monkeypatch, name, dtype):
    """Without numpy, bulk functions raise an error with the extra to install."""
    monkeypatch.delitem(sys.modules, "numpy")
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    for call in (
        lambda: getattr(kwire.messages.wire, f"encode_{name}")([1]),
        lambda: getattr(kwire.messages.wire, f"decode_{name}")(b"\1", 1),
    ):
        with pytest.raises(ImportError, match=r"pip install kwire\[numpy\]"):
            call()


def test_arrow_arrays_only_accept_blocks_and_arrays(kwire):
    """Arrow arrays only accept memory blocks of the engine and other Arrow arrays."""
    arrays = module(kwire, "arrays")
    block = arrays.new_memory(12)
    assert (block.size, len(block)) == (12, 12)
    with pytest.raises(TypeError, match="a buffer must be a Memory or None"):
        arrays.Array("l", "", 1, 0, (None, b"x"))
    with pytest.raises(TypeError, match=r"a child must be an Array \(got 5\)"):
        arrays.Array("+s", "", 1, 0, (None,), (5,))


def test_array_cannot_be_initialized_twice(twins):
    """Calling ``__init__`` of an array again raises an error.

    It would change memory that other threads read without the GIL.
    """
    arrays = module(twins.fast, "arrays")
    array = arrays.Array("l", "", 1, 0, (None, arrays.new_memory(8)))
    with pytest.raises(TypeError, match="cannot be changed"):
        array.__init__("l", "", 2, 0, (None, arrays.new_memory(16)))
    assert (array.length, array.buffers[1].size) == (1, 8)
