# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the limits for the depth and size of a layout, and the compile time.

No schema exhausts the stack or the memory. The time to compile an accepted schema is
linear in its field count.
"""

from __future__ import annotations

import gc
import importlib

import pytest

from kwire.errors import SchemaError
from kwire.schema import language
from tests.harness.processor_time import growth
from tests.schema.schema_texts import write_request


def test_a_chain_of_common_structs_cannot_exhaust_the_stack():
    """A long chain of common structs is rejected instead of overflowing the stack.

    The structs are nested, although the brackets in the text are not.
    """
    links = [
        f'{{"name": "S{i}", "versions": "0+", "fields": ['
        f'{{"name": "F", "type": "S{i + 1}", "versions": "0+"}}]}}'
        for i in range(3000)
    ]
    links.append('{"name": "S3000", "versions": "0+"}')
    for order in (links, links[::-1]):
        text = write_request("", f'"commonStructs": [{",".join(order)}],')
        with pytest.raises(SchemaError) as caught:
            language.read_message(text.replace("@", ""))
        assert caught.value.rule == "nesting-too-deep"


def shared_paths_message(levels):
    """Return a message in which 2 ** ``levels`` paths lead through shared structs."""
    links = [
        f'{{"name": "S{i}", "versions": "0+", "fields": ['
        f'{{"name": "F", "type": "S{i + 1}", "versions": "0+"}},'
        f'{{"name": "G", "type": "[]S{i + 1}", "versions": "0+"}}]}}'
        for i in range(levels)
    ]
    links.append(
        f'{{"name": "S{levels}", "versions": "0+", "fields": '
        '[{"name": "X", "type": "int8", "versions": "0+"}]}'
    )
    field = '{"name": "A", "type": "S0", "versions": "0+"}'
    return write_request(field, f'"commonStructs": [{",".join(links)}],').replace(
        "@", ""
    )


def test_structs_may_nest_as_deep_as_the_limit(kwire):
    """Structs may be nested up to the limit on both engines, and no deeper.

    The Python engine cannot generate code for so many paths, so it visits the structs
    when it decodes.
    """
    cls = kwire.messages.message_class(shared_paths_message(14))
    assert len(language.read_message(shared_paths_message(14)).structs()) == 15
    data = kwire.encode(cls(), version=0)
    assert kwire.decode(cls, data, version=0) == cls()
    with pytest.raises(kwire.DecodeError) as caught:
        kwire.decode(cls, data[:1], version=0)
    assert caught.value.path.startswith("a.f.f.f.f.f.f.f.f.f.f.f.f.f.")
    with pytest.raises(SchemaError, match="nest deeper than 16"):
        language.read_message(shared_paths_message(15))


@pytest.mark.parametrize("kind", ["S{}", "[]S{}"])
def test_a_layout_that_grows_tenfold_on_each_level_is_refused(kind):
    """A layout that grows by a factor of ten on each level is rejected.

    Neither a default with 10 ** 8 parts nor as many Arrow columns is ever intended. The
    error names the innermost struct that exceeds the limit.
    """
    links = [
        f'{{"name": "S{i}", "versions": "0+", "fields": ['
        + ",".join(
            f'{{"name": "F{n}", "type": "{kind.format(i + 1)}", "versions": "0+"}}'
            for n in range(10)
        )
        + "]}"
        for i in range(8)
    ]
    links.append(
        '{"name": "S8", "versions": "0+", "fields": '
        '[{"name": "X", "type": "int8", "versions": "0+"}]}'
    )
    field = '{"name": "A", "type": "S0", "versions": "0+"}'
    with pytest.raises(SchemaError) as caught:
        language.read_message(
            write_request(field, f'"commonStructs": [{",".join(links)}],').replace(
                "@", ""
            )
        )
    error = caught.value
    assert (error.rule, error.path) == ("layout-too-large", "S0.F0.F0.F0.F3")
    assert error.reason.startswith("S3 has more than 65536 fields")


@pytest.mark.gate_on_pure
@pytest.mark.parametrize("kind", ["int8", "S{}"])
def test_class_creation_is_linear_in_its_fields(kwire, kind):
    """The time to create a class is linear in the number of its fields.

    Four times as many fields must take about four times as long, not sixteen times.
    """

    def make_build(count):
        fields = []
        for index in range(count):
            name = kind.format(index)
            inner = '[{"name": "X", "type": "int8", "versions": "0+"}]'
            inner = f', "fields": {inner}' if name != kind else ""
            fields.append(
                f'{{"name": "F{index}", "type": "{name}", "versions": "0+"{inner}}}'
            )
        text = write_request(",".join(fields)).replace("@", "")
        message = language.read_message(text)
        assert len(codec.build_class(message).__match_args__) == count
        return lambda: codec.build_class(message)

    codec = importlib.import_module(f"{kwire.__name__}.messages.codec")
    least = 2500 if kind == "int8" else 750
    # A full garbage collection would visit all classes, and disturb the measurement.
    gc.disable()
    try:
        assert growth(make_build, least, 4 * least, most=9) < 9
    finally:
        gc.enable()


SOMETIMES_EMPTY = """{"name": "Lists", "type": "data", "validVersions": "0-1",
  "flexibleVersions": "none", "fields": [
    {"name": "Items", "type": "[]Item", "versions": "0+", "fields": [
      {"name": "Id", "type": "int8", "versions": "1+"}]}]}"""


def test_a_version_whose_elements_take_no_bytes_is_refused_when_it_is_used(kwire):
    """A version whose array elements have no bytes is rejected at its first use.

    The count of such elements cannot be checked. Other versions are not affected.
    """
    cls = kwire.messages.message_class(SOMETIMES_EMPTY)
    data = kwire.encode(cls(items=[cls.Item(id=7)]), 1)
    assert data == b"\0\0\0\1\7"
    assert kwire.decode(cls, data, 1).items == (cls.Item(id=7),)
    for use in (
        lambda: kwire.encode(cls(), 0),
        lambda: kwire.decode(cls, bytes(4), 0),
    ):
        with pytest.raises(kwire.SchemaError) as caught:
            use()
        assert caught.value.rule == "empty-element"
        assert (caught.value.path, caught.value.line) == ("Items", 3)
