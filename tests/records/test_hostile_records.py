# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Any bytes yield records or a ``DecodeError``, the same on both engines.

Objects and columns must agree within an engine, and the engines with each other: in all
records, or in the error's class, offset, path and message.
"""

import contextlib
import importlib
import itertools
from functools import partial

import pytest

from tests.harness.guard_pages import Guarded, check
from tests.harness.hostile import share, some
from tests.harness.sweeps import sweep
from tests.harness.traced import peak_of
from tests.records import hostile_records
from tests.records.hostile_records import FAMILIES, SMALL
from tests.records.record_bytes import (
    batch,
    compressed_batch,
    framed,
    message,
    raw_varint,
    record,
    repaired,
    varint,
    wrapper,
)
from tests.records.record_sets import SETS, header_of, rows_of, table_of


def error_facts(package, data, error):
    """Assert that the error is a DecodeError. Return its attributes as a tuple."""
    assert isinstance(error, package.errors.DecodeError)
    assert 0 <= error.offset <= len(data)
    return type(error).__name__, error.offset, error.path, str(error)


def read_objects(package, data, **options):
    """Decode a record set as objects.

    Return (headers, rows, error). The error is a tuple of attributes, or None.
    """
    heads, rows, fault = [], [], None
    try:
        for decoded in package.records.decode_batches(data, **options):
            heads.append(header_of(decoded.header))
            rows += rows_of([decoded])
    except package.errors.KwireError as error:
        fault = error_facts(package, data, error)
    return heads, rows, fault


def read_columns(package, data, **options):
    """Decode a record set as columns.

    Return ((rows, end position), None), or (None, attributes of the error).
    """
    columns = importlib.import_module(f"{package.__name__}.records.columns")
    try:
        table = columns.decode_records(data, **options)
    except package.errors.KwireError as error:
        return None, error_facts(package, data, error)
    return (table_of(table), table.end_position), None


def read_and_compare(package, data, **options):
    """Decode a record set as objects and as columns, which must agree.

    Return (headers, rows, error) of the objects.
    """
    heads, rows, fault = read_objects(package, data, **options)
    table, column_fault = read_columns(package, data, **options)
    assert column_fault == fault, data.hex()
    if fault is None:
        assert table[0] == rows, data.hex()
        assert table[1] == (heads[-1][0] + heads[-1][1] if heads else 0)
    return heads, rows, fault


COMMITTED = {"aborted_transactions": ()}
"""Options with which both readers omit control batches.

Columns never contain control batches, and objects omit them only for committed reads.
"""


@pytest.mark.parametrize("family", FAMILIES)
def test_all_readers_agree(twins, family):
    """Both readers return the same records or errors on both engines."""
    errors = set()
    for data in hostile_records.take(family, share(1)):
        outcome = read_and_compare(twins.fast, data, **COMMITTED)
        assert outcome == read_and_compare(twins.pure, data, **COMMITTED), data.hex()
        errors.add(outcome[2] and outcome[2][0])
    assert {None, "Truncated", "CorruptBatch"} <= errors or family == "mixed sets"


DAMAGED = {
    "an offset too low": (b"", 3, "CorruptBatch"),
    "a byte too many": (b"\0", 9, "Truncated"),
    "a head in pieces": (bytes(11), 9, "Truncated"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_wrapper_is_damaged_before_it_is_too_long(twins, damage):
    """If a wrapper is damaged and has too many messages, the damage is reported.

    All readers examine the messages before they compare their number with the limit.
    """
    behind, offset, error = DAMAGED[damage]
    inner = message(1, 5, b"k"), message(1, 9, b"v"), behind
    data = wrapper(1, *inner, offset=offset)
    for package in twins:
        limits = package.Limits(records=1)
        _, _, fault = read_and_compare(package, data, limits=limits, **COMMITTED)
        assert fault[0] == error


def test_control_batches_are_limited_in_records(twins):
    """A control batch with too many records raises LimitExceeded in both readers.

    Columns do not decode the records of control batches, but check their number.
    """
    data = batch(*(record(i, i) for i in range(3)), attributes=0x20)
    for package in twins:
        limits = package.Limits(records=2)
        _, _, fault = read_and_compare(package, data, limits=limits, **COMMITTED)
        assert fault[0] == "LimitExceeded"


@pytest.mark.parametrize("family", FAMILIES)
def test_all_readers_agree_without_a_filter(twins, family):
    """The readers agree without a transaction filter, on both engines.

    Control batches, wrong checksums and invalid header keys are included.
    """
    options = {"check_crc": False, "errors": "replace"}
    for data in hostile_records.take(family, share(1) // 2):
        outcome = read_objects(twins.fast, data, **options)
        assert outcome == read_objects(twins.pure, data, **options), data.hex()
        table = read_columns(twins.fast, data, **options)
        assert table == read_columns(twins.pure, data, **options), data.hex()
        # Columns contain no control batches, and therefore report no damage in them.
        if outcome[2] is None or table[1] is not None:
            assert (table[1] is None) == (outcome[2] is None)
        if outcome[2] is None and not any(head[3] & 0x20 for head in outcome[0]):
            assert table[0][0] == outcome[1]


@pytest.mark.parametrize("family", FAMILIES)
def test_readers_agree_on_parts_of_invalid_sets(twins, family):
    """The readers agree if only a range of offsets is decoded from invalid bytes."""
    for number, data in enumerate(hostile_records.take(family, share(1) // 3)):
        start = (0, 1, 5, 101, 103)[number % 5]
        options = {"start_offset": start, "end_offset": start + 3}
        options |= {"batch_columns": True, "headers": number % 2 == 0}
        table = read_columns(twins.fast, data, **options)
        assert table == read_columns(twins.pure, data, **options), data.hex()


@sweep("name", SMALL)
def test_all_readers_agree_on_every_changed_byte(kwire, name):
    """All readers agree if any byte is replaced and the checksum is corrected."""
    data = bytearray(SMALL[name])
    ends = set()
    changes = (
        (position, new)
        for position, old in enumerate(SMALL[name])
        for new in (0, 0xFF, 0x7F, (old + 1) % 256, old ^ 0x80)
    )
    rarer = 1 if kwire.backend == "fast" else 4
    for position, new in itertools.islice(some(changes), 0, None, rarer):
        old, data[position] = data[position], new
        outcome = read_and_compare(kwire, repaired(data), **COMMITTED)
        ends.add(outcome[2] and outcome[2][0])
        data[position] = old
    assert None in ends and len(ends) > 1


@sweep("name", SMALL)
def test_a_changed_byte_is_noticed_by_the_checksum(kwire, name):
    """If any bit changes that the checksum includes, CorruptBatch is raised.

    Offsets, the leader epoch and the size are not included.
    """
    data = bytearray(SMALL[name])
    undamaged = read_objects(kwire, bytes(data))
    position, free = 0, set()
    while head := kwire.records.read_batch_header(bytes(data), position):
        free |= set(range(position, position + (17 if head.magic == 2 else 12)))
        position += head.size
    for index in range(0, len(data), 3):
        if index in free:
            continue
        data[index] ^= 0x04
        heads, rows, fault = read_objects(kwire, bytes(data))
        assert fault is not None
        assert heads[:-1] == undamaged[0][: max(0, len(heads) - 1)]
        assert rows == undamaged[1][: len(rows)]
        data[index] ^= 0x04


@pytest.mark.gate_on_pure
@sweep("name", SMALL)
def test_every_prefix_is_the_whole_entries(kwire, name):
    """A truncated record set returns its complete entries without an error.

    If the size of the last entry is changed to the remaining bytes, an error is
    possible, but the readers must agree.
    """
    data = SMALL[name]
    for cut in range(len(data)):
        assert read_and_compare(kwire, data[:cut], **COMMITTED)[2] is None
        if cut > 26 and cut % 3 == 0:
            fixed = hostile_records.correct_size(data[:cut])
            read_and_compare(kwire, repaired(fixed), **COMMITTED)


@pytest.mark.parametrize("family", FAMILIES)
def test_bad_input_is_not_read_past_its_end(twins, family):
    """Reading invalid input never accesses a byte after its end.

    The input ends at an inaccessible page.
    """
    package = twins.fast
    guarded = Guarded()

    def work(note):
        for data in hostile_records.take(family, share(1)):
            note(data)
            source = guarded.put(data)
            for options in (COMMITTED, {"check_crc": False, "start_offset": 3}):
                read_objects(package, source, **options)
                read_columns(package, source, **options)

    check(work)


def test_prefixes_are_not_read_past_their_end(twins):
    """Reading truncated input never accesses a byte after its end.

    The sizes are unchanged, or corrected to the remaining bytes.
    """
    package = twins.fast
    guarded = Guarded()

    def work(note):
        for data in SMALL.values():
            for cut in range(len(data) + 1):
                for prefix in (
                    data[:cut],
                    repaired(hostile_records.correct_size(data[:cut])),
                ):
                    note(prefix)
                    source = guarded.put(prefix)
                    read_objects(package, source)
                    read_columns(package, source, check_crc=False, batch_columns=True)
                    with contextlib.suppress(package.KwireError):
                        package.records.convert_batches(source, 1)

    check(work)


def try_to_convert(package, data, magic):
    """Convert a record set to another magic.

    Return (bytes, report), or a tuple with the attributes of the error.
    """
    try:
        converted, report = package.records.convert_batches(data, magic)
    except package.errors.EncodeError as error:
        # The record is valid but cannot be represented in the other format.
        return error.path, str(error)
    except package.errors.KwireError as error:
        return error_facts(package, data, error)
    return converted, repr(report)


@pytest.mark.parametrize("family", FAMILIES)
def test_bad_sets_are_converted_alike(twins, family):
    """Both engines convert invalid record sets to the same bytes or error.

    A converted record set can be decoded.
    """
    count = 0
    for number, data in enumerate(hostile_records.take(family, share(1) // 3)):
        outcome = try_to_convert(twins.fast, data, number % 3)
        assert outcome == try_to_convert(twins.pure, data, number % 3), data.hex()
        if isinstance(outcome[0], bytes) and "copied" not in outcome[1]:
            count += 1
            assert read_objects(twins.fast, outcome[0])[2] is None
    assert count > 0


BOMBS = {
    "records": batch(bytes(50), count=2**31 - 1),
    "compressed records": compressed_batch(bytes(50), count=2**31 - 1),
    "a record": batch(varint(2**31 - 1) + bytes(50), count=1),
    "a key": batch(framed(b"\0\0\0" + varint(2**31 - 1) + bytes(50))),
    "a value": batch(framed(b"\0\0\0\1" + varint(2**31 - 1) + bytes(50))),
    "headers": batch(framed(b"\0\0\0\1\1" + varint(2**31 - 1) + bytes(50))),
    "a header key": batch(framed(b"\0\0\0\1\1\2" + varint(2**31 - 1) + bytes(50))),
    "a size": (2**31 - 1).to_bytes(12, "big") + bytes(100),
    "a key of a message": message(1, body=b"\x7f\xff\xff\xff" + bytes(50)),
    "a key within a wrapper": wrapper(
        1, message(1, body=b"\x7f\xff\xff\xff" + bytes(50)), offset=0
    ),
    "snappy": batch(raw_varint(2**32 - 1) + bytes(50), attributes=2),
    "zstd": batch(b"\x28\xb5\x2f\xfd\xe0" + b"\x7f" * 8 + b"\1\0\0", attributes=4),
}


@pytest.mark.parametrize("name", BOMBS)
def test_huge_numbers_allocate_little(kwire, name):
    """A declared length or count of 2^31 does not allocate this much memory.

    The peak is the same as for any other error.
    """
    data = BOMBS[name]
    for read in (read_objects, read_columns):
        read(kwire, data)
        # Some compression libraries allocate up to 160 KiB when they are first used.
        most = 160 * 1024 - 1
        peak, outcome = peak_of(partial(read, kwire, data), most)
        assert outcome[-1] is not None or name == "a size"
        assert peak <= most


def test_memory_follows_the_input(kwire):
    """The smallest records need at most 40 bytes of memory per input byte.

    A fixed amount is added. Columns have the same limit, whatever headers declare.
    """
    data = batch(*[record()] * 2000)
    columns = importlib.import_module(f"{kwire.__name__}.records.columns")
    for call in (
        lambda: list(kwire.records.decode_batches(data)),
        lambda: columns.decode_records(data),
    ):
        call()
        most = 40 * len(data) + 64 * 1024
        peak, result = peak_of(call, most)
        assert len(result) in (1, 2000)
        assert peak <= most


def test_a_failed_call_leaves_nothing_behind(kwire):
    """After any failed call, valid input returns the same result as before."""
    names = ("headers", "all magics", "magic 2 gzip", "transactions")
    outcomes = {
        name: read_and_compare(kwire, SETS[name], **COMMITTED) for name in names
    }
    inputs = [data for family in FAMILIES for data in hostile_records.take(family, 120)]
    failed = 0
    for number, data in enumerate(inputs):
        failed += read_and_compare(kwire, data, **COMMITTED)[2] is not None
        name = names[number % len(names)]
        assert read_and_compare(kwire, SETS[name], **COMMITTED) == outcomes[name]
    assert failed > len(inputs) // 4


@pytest.mark.parametrize("family", FAMILIES)
def test_the_input_is_released_and_unchanged(kwire, family):
    """A bytearray can be resized after a call, even if the error is kept."""
    columns = importlib.import_module(f"{kwire.__name__}.records.columns")
    failed = 0
    for data in hostile_records.take(family, 150):
        for read in (
            lambda source: list(kwire.records.decode_batches(source)),
            columns.decode_records,
        ):
            source = bytearray(data)
            try:
                # The kept error or records must not refer to the input.
                result = read(source)
            except kwire.DecodeError as error:
                result = error
                failed += 1
            assert source == data
            source.append(0)
            assert result is not None
    assert failed > 10
