# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Generates straight-line Python code from plans: the fast path of this engine.

Without a twin: the compiled engine interprets the plan. This module writes Python
source code for a plan, one fragment for each step, in the same order in which
``decoder.py`` and ``encoder.py`` process the steps, and compiles it. ``Program.source``
returns the code. For example, this is the code for ``GroupId`` and ``GenerationId`` in
version 4 of the Heartbeat request:

    n = data[at]                     the length of a compact string, plus 1
    at += 1
    if n > 127: ...                  further bytes of the varint
    n -= 1
    if n < 0: raise ValueError       null, which this version does not allow
    if n > 32767: raise ValueError
    o0.group_id = data[at:at + n].decode()
    at += n
    o0.generation_id, = unpack_i(data, at)
    at += 4

Generated code must not accept anything that ``decoder.py`` or ``encoder.py`` rejects,
and it contains no other checks. For example, a slice may exceed the end of the input,
because the position then exceeds the end too, which is checked once for the whole
message. Generated code does not determine the cause of an error: after any exception,
the caller follows the plan instead.
"""

from __future__ import annotations

import struct

from ...schema import plan
from .cursor import Cursor, read_unsigned_varint
from .decoder import read_tagged_fields
from .encoder import write_tagged_fields
from .primitives import _FORMATS, LARGEST, make_uuid
from .writer import Writer, write_unsigned_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SHORT = 16
"""Arrays with fewer elements use a ``struct`` format that has been prepared."""

_LONGEST_SOURCE = 10_000
"""Maximum number of lines.

The code of a struct is repeated for each field that contains the struct. For a schema
whose structs share other structs on many levels, the code would grow exponentially.
Kafka's largest message needs 300 lines.
"""


class Program:
    """Compiled reader and writer of one message version.

    ``read(data, at, end) -> (message, at)`` and ``write(message, put)`` are compiled
    when they are first called. Both raise an exception if they cannot continue.
    ``layout`` is the plan, and ``binding`` contains the classes of the message.
    """

    __slots__ = ("binding", "layout", "read", "write")

    def __init__(self, layout: plan.Plan, binding: plan.Binding) -> None:
        self.layout = layout
        self.binding = binding
        self.read: Any = self._compile_and_read
        self.write: Any = self._compile_and_write

    @property
    def source(self) -> str:
        """Generated Python code of the reader and the writer."""
        return "\n\n\n".join(
            emitter(self.layout, self.binding).source()
            for emitter in (_Reader, _Writer)
        )

    def try_read(
        self, data: bytes, at: int, end: int, whole: bool
    ) -> tuple[Any, int] | None:
        """Read the message at ``at``. Returns it and its end offset.

        If ``whole``, the message must end at ``end``, otherwise there or earlier.
        Returns None if the generated code has failed. The caller then follows the plan.
        """
        try:
            value, stop = self.read(data, at, end)
        except Exception:
            return None
        if stop == end or (not whole and 0 <= stop <= end):
            return value, stop
        return None

    def try_write(self, message: Any) -> bytes | None:
        """Encode a message.

        Returns None if the generated code has failed. The caller then follows the plan.
        """
        parts: list[Any] = []
        try:
            self.write(message, parts.append)
            return b"".join(parts)
        except MemoryError:
            raise
        except Exception:
            return None

    def _compile_and_read(self, data: bytes, at: int, end: int) -> tuple[Any, int]:
        self.read = _compile(_Reader(self.layout, self.binding), "read")
        made: tuple[Any, int] = self.read(data, at, end)
        return made

    def _compile_and_write(self, message: Any, put: Any) -> None:
        self.write = _compile(_Writer(self.layout, self.binding), "write")
        self.write(message, put)


def _compile(emitter: _Reader | _Writer, name: str) -> Any:
    try:
        code = compile(emitter.source(), f"<kwire {emitter.layout.name}>", "exec")
    except _TooLarge:
        return _give_up
    made: dict[str, Any] = {}
    exec(code, emitter.names, made)
    return made[name]


def _give_up(*arguments: object) -> None:
    raise ValueError


class _TooLarge(Exception):
    """The source code would be too long, so the plan is followed instead."""


class _Emitter:
    """Collects lines of source code, and the objects to which they refer by name."""

    def __init__(self, layout: plan.Plan, binding: plan.Binding) -> None:
        self.layout = layout
        self.binding = binding
        self.names: dict[str, Any] = _NAMES | {"binding": binding}
        self.given: dict[tuple[str, int], str] = {}
        self.lines: list[str] = []

    def add(self, indent: int, *lines: str) -> None:
        if len(self.lines) > _LONGEST_SOURCE:
            raise _TooLarge
        self.lines += [f"{'    ' * indent}{line}" for line in lines]

    def name(self, prefix: str, value: object) -> str:
        """Return the name of an object in the generated code."""
        name = self.given.setdefault((prefix, id(value)), f"{prefix}{len(self.names)}")
        self.names[name] = value
        return name

    def default(self, layout: plan.Plan, step: plan.Step) -> str:
        value = self.binding.defaults[layout.struct.name][step.slot]
        if value is None or value is True or value is False:
            return repr(value)
        return self.name("default", value)


class _Reader(_Emitter):
    """Generates the function ``read`` of a program."""

    def source(self) -> str:
        self.add(0, "def read(data, at, end):")
        self.struct(self.layout, 0, 1)
        self.add(1, "return o0, at")
        return "\n".join(self.lines)

    def struct(self, layout: plan.Plan, depth: int, indent: int) -> None:
        target = f"o{depth}"
        cls = self.binding.classes[layout.struct.name]
        builder = self.name("builder", cls._builder)  # type: ignore[attr-defined]
        self.add(indent, f"{target} = {builder}()")
        run: list[plan.Step] = []
        for step in layout.steps:
            if step.is_fixed:
                run.append(step)
                continue
            if step.place != plan.PRESENT:
                default = self.default(layout, step)
                self.add(indent, f"{target}.{step.attribute} = {default}")
                continue
            self.field(run, step, target, depth, indent)
            run = []
        self.run(run, "", target, indent)
        if layout.flexible:
            self.add(indent, "if data[at]:")
            name = self.name("layout", layout)
            self.add(indent + 1, f"at = tags(data, at, end, {target}, {name}, binding)")
            self.add(indent, "else:", "    at += 1")
            self.add(indent + 1, f"{target}.unknown_tagged_fields = ()")
        else:
            self.add(indent, f"{target}.unknown_tagged_fields = ()")
        self.add(indent, f"{target}.__class__ = {self.name('struct', cls)}")

    def run(self, run: list[plan.Step], length: str, target: str, indent: int) -> None:
        """Read adjacent fixed-size fields in one call.

        ``length`` is the format of a classic length that follows them, or empty.
        """
        form = "".join(_FORMATS[step.code] for step in run) + length
        if not form:
            return
        targets = [f"{target}.{step.attribute}" for step in run]
        if length:
            targets.append("n")
        packer = struct.Struct(f">{form}")
        unpack = f"unpack_{_word(form)}"
        self.names.setdefault(unpack, packer.unpack_from)
        self.add(indent, f"{', '.join(targets)}, = {unpack}(data, at)")
        self.add(indent, f"at += {packer.size}")
        for step in run:
            if step.code == plan.UUID:
                place = f"{target}.{step.attribute}"
                self.add(indent, f"{place} = make_uuid({place})")

    def field(
        self,
        run: list[plan.Step],
        step: plan.Step,
        target: str,
        depth: int,
        indent: int,
    ) -> None:
        place = f"{target}.{step.attribute}"
        if step.code == plan.STRUCT and not step.is_array:
            self.run(run, "", target, indent)
            self.inner_struct(step, place, depth, indent)
            return
        if step.compact:
            self.run(run, "", target, indent)
            self.compact_length(indent)
            self.add(indent, "n -= 1")
        else:
            is_text = step.code == plan.STRING and not step.is_array
            self.run(run, "h" if is_text else "i", target, indent)
        if step.nullable:
            self.add(indent, "if n == -1:", f"    {place} = None", "else:")
            indent += 1
        self.add(indent, "if n < 0: raise ValueError")
        if step.is_array:
            self.array(step, place, depth, indent)
        else:
            self.text_or_bytes(step, f"{place} = ", "", indent)

    def compact_length(self, indent: int) -> None:
        self.add(indent, "n = data[at]", "at += 1", "if n > 127:")
        # Varints of one or two bytes are read without a function call, because most
        # records and long strings have such lengths.
        self.add(indent + 1, "n += (data[at] << 7) - 128", "at += 1")
        self.add(indent + 1, "if n > 16383: n, at = varint(data, at - 2)")

    def text_or_bytes(
        self, step: plan.Step, before: str, after: str, indent: int
    ) -> None:
        if step.code == plan.STRING:
            if step.compact:
                self.add(indent, f"if n > {plan.LONGEST_STRING}: raise ValueError")
            self.add(indent, f"{before}data[at:at + n].decode(){after}", "at += n")
        else:
            self.add(indent, f"{before}data[at:at + n]{after}", "at += n")

    def array(self, step: plan.Step, place: str, depth: int, indent: int) -> None:
        self.add(indent, f"if n > (end - at) // {step.element_least}: raise ValueError")
        if step.code < plan.UUID:
            form = _FORMATS[step.code]
            short = f"short_{_word(form)}"
            self.names.setdefault(
                short,
                [struct.Struct(f">{n}{form}").unpack_from for n in range(_SHORT)],
            )
            self.add(indent, f"if n < {_SHORT}: {place} = {short}[n](data, at)")
            self.add(indent, f'else: {place} = unpack_from(f">{{n}}{form}", data, at)')
            self.add(indent, f"at += n * {plan.SIZES[step.code]}")
            return
        elements = f"a{depth}"
        self.add(indent, f"{elements} = []", f"for i{depth} in range(n):")
        if step.code == plan.STRUCT:
            assert step.plan is not None
            self.struct(step.plan, depth + 1, indent + 1)
            self.add(indent + 1, f"{elements}.append(o{depth + 1})")
        elif step.code == plan.UUID:
            self.add(indent + 1, "if at + 16 > end: raise ValueError")
            self.add(indent + 1, f"{elements}.append(make_uuid(data[at:at + 16]))")
            self.add(indent + 1, "at += 16")
        else:
            if step.compact:
                self.compact_length(indent + 1)
                self.add(indent + 1, "n -= 1")
            else:
                form = "h" if step.code == plan.STRING else "i"
                self.run([], form, "", indent + 1)
            self.add(indent + 1, "if n < 0: raise ValueError")
            self.text_or_bytes(step, f"{elements}.append(", ")", indent + 1)
        self.add(indent, f"{place} = tuple({elements})")

    def inner_struct(
        self, step: plan.Step, place: str, depth: int, indent: int
    ) -> None:
        assert step.plan is not None
        if step.nullable:
            self.add(indent, "n = data[at]", "at += 1")
            self.add(indent, f"if n == 255: {place} = None")
            self.add(indent, "elif n != 1: raise ValueError", "else:")
            indent += 1
        self.struct(step.plan, depth + 1, indent)
        self.add(indent, f"{place} = o{depth + 1}")


class _Writer(_Emitter):
    """Generates the function ``write`` of a program."""

    def source(self) -> str:
        self.add(0, "def write(o0, put):")
        self.struct(self.layout, 0, 1)
        return "\n".join(self.lines)

    def struct(self, layout: plan.Plan, depth: int, indent: int) -> None:
        value = f"o{depth}"
        cls = self.binding.classes[layout.struct.name]
        struct_name = self.name("struct", cls)
        self.add(indent, f"if type({value}) is not {struct_name}: raise TypeError")
        run: list[plan.Step] = []
        for step in layout.steps:
            field = f"{value}.{step.attribute}"
            if step.is_fixed:
                run.append(step)
            elif step.place == plan.ABSENT:
                default = self.default(layout, step)
                self.add(
                    indent,
                    f"if {field} is not {default} and {field} != {default}:"
                    " raise ValueError",
                )
            elif step.place == plan.PRESENT:
                self.run(run, value, indent)
                run = []
                self.field(step, field, depth, indent)
        self.run(run, value, indent)
        changed = [f"{value}.unknown_tagged_fields"]
        for step in layout.tagged:
            default = self.default(layout, step)
            changed.append(f"{value}.{step.attribute} is not {default}")
        self.add(indent, f"if {' or '.join(changed)}:")
        if layout.flexible:
            name = self.name("layout", layout)
            self.add(indent + 1, f"put_tags({value}, {name}, binding, put)")
            self.add(indent, 'else: put(b"\\0")')
        else:
            self.add(indent + 1, "raise ValueError")

    def run(self, run: list[plan.Step], value: str, indent: int) -> None:
        """Write adjacent fixed-size fields in one call."""
        if not run:
            return
        fields = []
        for step in run:
            field = f"{value}.{step.attribute}"
            if step.code == plan.BOOL:
                self.add(indent, f"if {field} not in truths: raise TypeError")
            fields.append(f"uuid_bytes({field})" if step.code == plan.UUID else field)
        form = "".join(_FORMATS[step.code] for step in run)
        pack = f"pack_{_word(form)}"
        self.names.setdefault(pack, struct.Struct(f">{form}").pack)
        self.add(indent, f"put({pack}({', '.join(fields)}))")

    def field(self, step: plan.Step, field: str, depth: int, indent: int) -> None:
        if step.code == plan.STRUCT and not step.is_array:
            assert step.plan is not None
            self.add(indent, f"o{depth + 1} = {field}")
            if step.nullable:
                self.add(indent, f'if o{depth + 1} is None: put(b"\\xff")', "else:")
                self.add(indent + 1, 'put(b"\\1")')
                indent += 1
            self.struct(step.plan, depth + 1, indent)
            return
        value = f"v{depth}"
        self.add(indent, f"{value} = {field}")
        if step.nullable:
            is_text = step.code == plan.STRING and not step.is_array
            null = b"\0" if step.compact else b"\xff" * (2 if is_text else 4)
            self.add(indent, f"if {value} is None: put({null!r})", "else:")
            indent += 1
        if step.is_array:
            self.array(step, value, depth, indent)
        else:
            self.text_or_bytes(step, value, indent)

    def text_or_bytes(self, step: plan.Step, value: str, indent: int) -> None:
        if step.code == plan.STRING:
            self.add(indent, f"s = text_bytes({value})", "n = len(s)")
            self.add(indent, f"if n > {plan.LONGEST_STRING}: raise ValueError")
            self.length(step.compact, "h", indent)
        else:
            self.add(indent, f"s = raw_bytes({value})", "n = len(s)")
            self.length(step.compact, "i", indent)
        self.add(indent, "put(s)")

    def length(self, compact: bool, form: str, indent: int) -> None:
        if compact:
            self.add(indent, "put(lengths[n] if n < 127 else put_varint(n + 1))")
        else:
            pack = f"pack_{form}"
            self.names.setdefault(pack, struct.Struct(f">{form}").pack)
            self.add(indent, f"put({pack}(n))")

    def array(self, step: plan.Step, value: str, depth: int, indent: int) -> None:
        self.add(indent, f"if type({value}) is not tuple: raise TypeError")
        self.add(indent, f"n = len({value})")
        self.length(step.compact, "i", indent)
        if step.code < plan.UUID:
            if step.code == plan.BOOL:
                self.add(indent, f"for b in {value}:")
                self.add(indent + 1, "if b not in truths: raise TypeError")
            form = _FORMATS[step.code]
            short = f"pack_short_{_word(form)}"
            self.names.setdefault(
                short, [struct.Struct(f">{n}{form}").pack for n in range(_SHORT)]
            )
            self.add(indent, f"if n < {_SHORT}: put({short}[n](*{value}))")
            self.add(indent, f'else: put(pack(f">{{n}}{form}", *{value}))')
        elif step.code == plan.UUID:
            self.add(indent, f"for s in {value}: put(uuid_bytes(s))")
        elif step.code == plan.STRUCT:
            assert step.plan is not None
            self.add(indent, f"for o{depth + 1} in {value}:")
            self.struct(step.plan, depth + 1, indent + 1)
        else:
            self.add(indent, f"for v in {value}:")
            self.text_or_bytes(step, "v", indent + 1)


def _word(form: str) -> str:
    """Return a ``struct`` format without "?", which names cannot contain."""
    return form.replace("?", "t")


class _Truths:
    """Contains True and False, but no objects that are only equal to one of them."""

    def __contains__(self, value: object) -> bool:
        return value is True or value is False


def _varint(data: bytes, at: int) -> tuple[int, int]:
    cursor = Cursor(data, at, len(data))
    return read_unsigned_varint(cursor), cursor.at


def _tags(
    data: bytes,
    at: int,
    end: int,
    target: object,
    layout: plan.Plan,
    binding: plan.Binding,
) -> int:
    cursor = Cursor(data, at, end)
    values: dict[str, object] = {}
    read_tagged_fields(cursor, layout, binding, values)
    for name, value in values.items():
        setattr(target, name, value)
    return cursor.at


def _put_tags(value: Any, layout: plan.Plan, binding: plan.Binding, put: Any) -> None:
    writer = Writer()
    write_tagged_fields(writer, layout, value, binding)
    put(writer.out)


def _put_varint(value: int) -> bytes:
    if value < 16384:
        return bytes((value & 127 | 128, value >> 7))
    if value > LARGEST + 1:
        raise ValueError
    writer = Writer()
    write_unsigned_varint(writer, value)
    return bytes(writer.out)


def _raw_bytes(value: Any) -> Any:
    if type(value) is bytes:
        return value
    view = memoryview(value)
    if not view.c_contiguous:
        raise ValueError
    return view.tobytes()


def _uuid_bytes(value: Any) -> bytes:
    import uuid

    if not isinstance(value, uuid.UUID):
        raise TypeError
    return int.to_bytes(value.int, 16, "big")


_NAMES: dict[str, Any] = {
    "varint": _varint,
    "tags": _tags,
    "make_uuid": make_uuid,
    "unpack_from": struct.unpack_from,
    "pack": struct.pack,
    "truths": _Truths(),
    "put_tags": _put_tags,
    "put_varint": _put_varint,
    "lengths": [bytes((length + 1,)) for length in range(127)],
    "raw_bytes": _raw_bytes,
    "text_bytes": str.encode,  # a subclass of str may override its method
    "uuid_bytes": _uuid_bytes,
}
"""Functions and objects that the generated code uses, except methods of bytes and str.
"""
