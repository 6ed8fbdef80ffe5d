# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the language comparison: equal work, and a complete report.

Other languages are not required. kwire's own program is tested with the same requests
as the others, and the chapter is written from artificial figures.
"""

import json
import struct
import zlib
from pathlib import Path

import pytest

from benchmarks.harness import chapters
from benchmarks.languages import cases, chapter, extension, kwire_program, programs
from benchmarks.languages.ways import WAYS

FNV = 0x100000001B3


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Directory that contains the inputs of all cases."""
    folder = tmp_path_factory.mktemp("inputs")
    cases.write_inputs(folder)
    return folder


def test_a_checksum_is_the_one_that_the_other_programs_compute():
    """The checksum of a text consists of its size and its CRC-32.

    Numbers are added as 64 bits. The expected checksum is computed by hand.
    """
    found = cases.Checksum()
    for value in (None, "ab"):
        found.add(value)
    by_hand = 0xCBF29CE484222325
    for step in (2**64 - 1, 2, zlib.crc32(b"ab")):
        by_hand = (by_hand ^ step) * FNV % 2**64
    assert str(found) == f"{by_hand:016x}"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
        ({"a": [1], "b": [2]}, {"a": [1, 2], "b": []}),
        ({"a": "x", "b": "y"}, {"a": "y", "b": "x"}),
        ({"a": b"\0"}, {"a": b"\1"}),
        ({"a": None}, {"a": ""}),
        ({"a": -1}, {"a": 1}),
    ],
)
def test_a_checksum_sees_order_null_and_sign(one, other):
    """The checksum differs for values whose plain sum would be equal."""
    assert cases.add_value(one) != cases.add_value(other)


def test_all_ways_of_kwire_return_the_checksums_of_the_values(inputs):
    """Every way returns the expected checksum for each case that it supports."""
    served = set()
    for case in cases.CASES:
        for way in kwire_program.WAYS:
            request = f"check {way} {case.operation} {case.name}"
            found = kwire_program.answer(request, inputs, {})
            if found != "none":
                assert found == cases.expect(case), request
                served.add((way, case.key))
    assert {case for _, case in served} == {case.key for case in cases.CASES}
    assert {way for way, _ in served} == set(kwire_program.WAYS)


def test_a_changed_byte_changes_the_checksum(inputs, tmp_path):
    """A program that decodes wrong values is detected before the measurement."""
    data = bytearray((inputs / "heartbeat_v4.bin").read_bytes())
    data[data.index(b"benchmark-group")] ^= 1
    (tmp_path / "heartbeat_v4.bin").write_bytes(data)
    found = kwire_program.answer("check objects decode heartbeat_v4", tmp_path, {})
    case = next(case for case in cases.CASES if case.name == "heartbeat_v4")
    assert found != cases.expect(case)


def test_a_run_counts_messages_and_memory_is_bytes(inputs):
    """Arrow processes several messages per call, but its figures are per message."""
    works: dict = {}
    ran = kwire_program.answer("run arrow decode heartbeat_v4 250", inputs, works)
    assert ran == "200"
    ran = kwire_program.answer("run objects decode heartbeat_v4 250", inputs, works)
    assert ran == "250"
    held, peak = kwire_program.answer(
        "memory objects decode metadata_v9_ids", inputs, works
    ).split()
    size = (inputs / "metadata_v9_ids.bin").stat().st_size
    assert size < int(held) <= int(peak) < 50 * size


def test_every_contender_is_described():
    """The report has a line for each way in which a library is used."""
    assert {each.way for each in programs.CONTENDERS} == set(WAYS)
    text = Path(chapter.__file__).with_suffix(".md").read_text("utf-8")
    assert all(f"\n| {way.name} | " in text for way in WAYS.values())


def test_sections_and_symbols_of_a_module_are_added_up():
    """Use sample output of ``size -A`` and ``nm -S``.

    The section ``.bss`` is ignored, because the file does not contain it.
    """
    sections = extension.read_sections(
        ".text 100 4096\n.rodata  20 1\n.bss 7000 2\n"
        ".debug_info 5 0\n.note 3 1\nTotal 9\n"
    )
    assert sections == {
        "code": 100,
        "constants, strings and docstrings": 20,
        "debug information": 5,
        "other": 3,
    }
    symbols = extension.read_symbols(
        "0000000000001000 0000000000000010 t __Pyx_AddTraceback\n"
        "0000000000001010 0000000000000020 T PyInit_rows\n"
        "0000000000001030 0000000000000005 t __pyx_pw_7__reduce_cython__\n"
        "0000000000001040 0000000000000007 t __pyx_f_5kwire_decode\n"
        "0000000000002000 0000000000000099 r __pyx_k_text\n"
        "                 U PyLong_FromLong\n"
    )
    assert dict(symbols) == {
        "Cython's own helpers": 16,
        "set-up of modules": 32,
        "pickling of classes, by Cython": 5,
        "kwire": 7,
    }


@pytest.fixture
def figures(tmp_path):
    """Figures of a run in which Rust is twice as fast as kwire for records.

    For all other cases, Rust takes twice as long as kwire.
    """

    def seconds(case, each):
        if each.language == "Python":
            return [3e-6, 2e-6, 4e-6]
        lead = 0.5 if case.operation == "records" else 2
        return [lead * at for at in (3e-6, 2e-6, 4e-6)]

    found = {
        "when": "2026-01-01",
        "rounds": 3,
        "warm": 3,
        "load": [0.1, 0.2],
        "machine": {"cpus": 2},
        "versions": {"kwire": "0.1.0", "Rust": "1.95.0"},
        "seconds": {
            case.key: {each.key: seconds(case, each) for each in programs.CONTENDERS}
            for case in cases.CASES
        },
        "memory": {
            case.key: {"kwire objects": [2000, 3000], "kwire columns": [1000, None]}
            for case in cases.CASES
        },
        "extension": {
            "modules": 2,
            "bytes": 2000,
            "stripped": 1000,
            "compressed": 500,
            "sections": {"code": 900},
            "functions": {"kwire": 700},
        },
    }
    path = tmp_path / "run.json"
    path.write_text(json.dumps(found))
    return path


def test_the_chapter_names_the_fastest_and_counts_what_kwire_leads(
    figures, tmp_path, monkeypatch
):
    """In three of five cases, kwire is the fastest. Lazy ways do not count."""
    monkeypatch.setattr(chapters, "RESULTS", tmp_path / "RESULTS.md")
    text = chapter.write_chapter(figures)
    assert text.startswith("3 of 5 targets were met.")
    assert "10,000 records of 1 KB, kwire: 0.5x" in text
    report = (tmp_path / "RESULTS.md").read_text()
    assert report.startswith("## Languages")
    assert "3 / 2" in report and "2.0 / 3.0" in report and "1.0 / -" in report
    assert "no debug information" in report


def test_a_lazy_way_is_not_the_eager_one_that_kwire_is_compared_with():
    """A lazy way has not created any record when its call returns.

    It is therefore not compared with kwire.
    """
    records = next(case for case in cases.CASES if case.operation == "records")
    assert not WAYS["krabka-protocol-borrowed"].eager(records)
    assert not WAYS["kafka-clients"].eager(records)
    assert WAYS["kafka-clients-list"].eager(records)
    assert WAYS["kafka-protocol"].eager(records)


def test_integers_of_the_inputs_are_real_ids(inputs):
    """Broker ids in the input are outside the range of integers that CPython caches."""
    data = (inputs / "metadata_v9_ids.bin").read_bytes()
    assert struct.pack(">i", 1001) in data and struct.pack(">i", 1100) in data
