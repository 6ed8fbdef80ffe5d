# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``request_headers_to_arrow`` equals ``decode_request`` for every header.

Every API and version is tested with valid and invalid bytes. The columns contain the
header fields, and errors are those for individual frames. Bodies are not checked. The
compiled engine creates no objects for rows and releases the GIL.
"""

import importlib
import random
import sys
import tracemalloc

import pyarrow
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.harness import golden
from tests.harness.guard_pages import Guarded, check

FIELDS = ["api_key", "api_version", "correlation_id", "client_id", "body_position"]
NAMES = sorted(name for name, _ in golden.by_pair() if name.endswith("Request"))


def to_arrow(kwire, rows, kind=None, **options):
    """Call ``request_headers_to_arrow`` on one engine.

    Validate the result and return it.
    """
    arrow = importlib.import_module(f"{kwire.__name__}.messages.arrow")
    array = (
        pyarrow.array(rows, kind or pyarrow.binary()) if type(rows) is list else rows
    )
    headers = arrow.request_headers_to_arrow(array, **options)
    headers.validate(full=True)
    return headers


def columns_of(kwire):
    """Import the module ``header_columns`` of one engine."""
    return importlib.import_module(
        f"{kwire.__name__}._engine.{kwire.backend}.header_columns"
    )


def expected(kwire, frame):
    """Decode the header of one frame with ``decode_request``.

    Return its fields, or the error. An error in the body or after it is ignored.
    """
    header = kwire.messages.RequestHeader
    try:
        kwire.messages.framing.decode_request(frame)
    except kwire.UnsupportedVersion as error:
        return error
    except kwire.DecodeError as error:
        if error.message_name == "RequestHeader":
            return error
    api_key, version = (int.from_bytes(frame[i : i + 2], "big") for i in (0, 2))
    message = kwire.messages.by_key(api_key, "request")._binding.message
    decoded, end = kwire._engine.active.engine.decode_prefix(
        header, frame, kwire.schema.plan.request_header_version(message, version)
    )
    return dict(
        zip(
            FIELDS,
            (api_key, version, decoded.correlation_id, decoded.client_id, end),
            strict=True,
        )
    )


def check_agreement(kwire, frames):
    """Assert that the columns equal the result of ``decode_request`` for every frame.

    Return the number of frames with an invalid header.
    """
    rows = to_arrow(kwire, frames, on_error="null").to_pylist()
    bad = 0
    for frame, row in zip(frames, rows, strict=True):
        outcome = expected(kwire, frame)
        text = row.pop("_error")
        if isinstance(outcome, dict):
            assert (row, text) == (outcome, None), frame
            assert to_arrow(kwire, [frame]).to_pylist() == [outcome]
            continue
        bad += 1
        assert set(row.values()) == {None}, frame
        assert text == str(outcome), frame
        with pytest.raises(type(outcome)) as caught:
            to_arrow(kwire, [None, frame])
        raised = caught.value
        assert type(raised) is type(outcome)
        if isinstance(outcome, kwire.DecodeError):
            path = f"[1].{outcome.path}" if outcome.path else "[1]"
            assert (raised.reason, raised.offset, raised.path) == (
                outcome.reason,
                outcome.offset,
                path,
            )
            assert raised.message_name == outcome.message_name
            assert raised.version == outcome.version
        else:
            assert str(raised) == f"[1]: {outcome}"
    return bad


def frames_of_all_versions(kwire):
    """Return one frame per request version. Its body is a golden vector."""
    frames = []
    for number, name in enumerate(NAMES):
        cls = getattr(kwire.messages, name)
        for version in cls.valid_versions:
            body = golden.by_pair()[name, version][0].data
            client = [None, "", "client", f"клиент-{number}", "c" * 300][version % 5]
            message = cls._binding.message
            header = kwire.messages.RequestHeader(
                request_api_key=message.api_key,
                request_api_version=version,
                correlation_id=number * 65_537 - 2**31,
                **{} if (name, version) == OLDEST else {"client_id": client},
            )
            head = kwire.schema.plan.request_header_version(message, version)
            frames.append(kwire.encode(header, head) + body)
    return frames


OLDEST = "ControlledShutdownRequest", 0


def short_frames(kwire):
    """Return one short frame per header version. The last one has unknown tags."""
    frames = [
        bytes.fromhex("0007 0000 00000001 01020304"),
        bytes.fromhex("000c 0003 fffffffe 0003") + "aä".encode() + b"body",
        bytes.fromhex("0012 0003 00000003 ffff 00 0161"),
        bytes.fromhex(
            "0001 000c 7fffffff 0001 61 03 00 01 ff 8001 00 ffffffff0f 02 0000"
        )
        + b"rest",
    ]
    for frame in frames:
        assert isinstance(expected(kwire, frame), dict)
    return frames


def test_header_columns_equal_decoded_headers(kwire):
    """The columns contain the headers of all requests in all versions."""
    frames = frames_of_all_versions(kwire)
    assert len(frames) > 300
    assert check_agreement(kwire, frames) == 0
    headers = to_arrow(kwire, [*frames, None])
    assert (headers.null_count, headers.to_pylist()[-1]) == (1, None)
    assert [field.name for field in headers.type] == FIELDS
    assert [field.type for field in headers.type] == [
        pyarrow.int16(),
        pyarrow.int16(),
        pyarrow.int32(),
        pyarrow.string(),
        pyarrow.int32(),
    ]
    assert all(field.nullable for field in headers.type)
    for frame, position in zip(frames, headers.field("body_position"), strict=False):
        header, request = kwire.messages.framing.decode_request(frame)
        size = len(kwire.encode(request, header.request_api_version))
        assert len(frame) - position.as_py() == size


def test_unknown_versions_have_no_header(kwire):
    """A frame with an unknown API key or version has no header columns."""
    bad = []
    for name in NAMES:
        cls = getattr(kwire.messages, name)
        key = cls._binding.message.api_key.to_bytes(2, "big")
        for version in (cls.valid_versions.min - 1, cls.valid_versions.max + 1, 32767):
            bad.append(key + version.to_bytes(2, "big", signed=True) + bytes(9))
    for key in (-32768, -1, max(kwire.schema.registry.keys("request")) + 1, 32767):
        for version in (-1, 0, 13, 17, 32767):
            bad += [
                key.to_bytes(2, "big", signed=True)
                + version.to_bytes(2, "big", signed=True)
                + bytes(9)
            ]
    assert check_agreement(kwire, bad) == len(bad)


def test_truncated_headers_are_errors_in_rows(kwire):
    """A truncated header is an error of its row. A missing body is not."""
    frames = short_frames(kwire)
    prefixes = [frame[:end] for frame in frames for end in range(len(frame) + 1)]
    assert 30 < check_agreement(kwire, prefixes) < len(prefixes)


def test_changed_header_bytes_have_the_outcome_of_decoding(kwire):
    """If a header byte changes, the row has the outcome of ``decode_request``.

    Every header byte is replaced by all values.
    """
    bad = total = 0
    for frame in short_frames(kwire):
        changed = [
            frame[:position] + bytes([value]) + frame[position + 1 :]
            for position in range(len(frame))
            for value in range(256)
        ]
        total += len(changed)
        bad += check_agreement(kwire, changed[:: 1 if kwire.backend == "fast" else 7])
    assert bad > total // 20


@given(
    frames=st.lists(
        st.tuples(
            st.sampled_from([(7, 0), (0, 3), (1, 12), (18, 3), (17, 0), (3, 13)])
            | st.tuples(st.integers(-9, 99), st.integers(-2, 20)),
            st.binary(max_size=24),
        ),
        max_size=4,
    )
)
@example(frames=[((1, 12), bytes(4) + b"\0\0\x81\x80\x80\x80\x10\0")])
@example(frames=[((1, 12), bytes(4) + b"\0\0\2\5\0\5\0")])
@example(frames=[((1, 12), bytes(4) + b"\0\1\xff\0")])
def test_random_header_bytes_have_the_outcome_of_decoding(kwire, frames):
    """Random bytes after the key and version have the outcome of ``decode_request``."""
    check_agreement(
        kwire,
        [
            key.to_bytes(2, "big", signed=True)
            + version.to_bytes(2, "big", signed=True)
            + random_bytes
            for (key, version), random_bytes in frames
        ],
    )


def test_twins_give_equal_columns(twins):
    """Both engines return columns with equal types, values and buffers."""
    frames = frames_of_all_versions(twins.pure)
    dice = random.Random(5)
    rows = [
        row
        for frame in frames
        for row in (frame, None, frame[: dice.randrange(30)], frame[:-1])
    ]
    fast, pure = (to_arrow(package, rows, on_error="null") for package in twins)
    assert fast.type == pure.type
    assert 100 < fast.field("_error").null_count < len(rows)

    def content(array):
        return [(b and b.to_pybytes()) or b"" for b in array.buffers()]

    assert content(fast) == content(pure)


def test_all_forms_of_input_have_equal_results(kwire):
    """Arrays of all forms with the same rows have the same result.

    The forms are slices, chunks, views and large arrays.
    """
    rows = [*short_frames(kwire), None, *short_frames(kwire)]
    headers = to_arrow(kwire, rows)
    assert headers.null_count == 1
    longer = pyarrow.array([b"\0", None, b"", *rows, b"\xff", None], pyarrow.binary())
    array_slice = longer.slice(3, len(rows))
    for array in (
        array_slice,
        array_slice.cast(pyarrow.large_binary()),
        longer.cast(pyarrow.large_binary()).slice(3, len(rows)),
        array_slice.cast(pyarrow.binary_view()),
        pyarrow.chunked_array([array_slice[:2], array_slice[2:2], array_slice[2:]]),
    ):
        assert to_arrow(kwire, array).equals(headers)
    for kind in (pyarrow.binary(), pyarrow.large_binary(), pyarrow.null()):
        for empty in ([], [None] * 9):
            empty_headers = to_arrow(kwire, empty, kind)
            assert empty_headers.null_count == len(empty_headers) == len(empty)


def test_request_headers_to_arrow_rejects_other_input(kwire):
    """Input of another type, and an unknown value of ``on_error``, raise an error."""
    with pytest.raises(TypeError, match="is required"):
        to_arrow(kwire, (b"",))
    with pytest.raises(ValueError, match="on_error"):
        to_arrow(kwire, [], on_error="ignore")


def test_rows_have_the_limits_of_frames(kwire):
    """``limits`` applies to each row. An unknown API is reported before."""
    frame = short_frames(kwire)[1]
    limits = kwire.Limits(frame_bytes=len(frame))
    assert len(to_arrow(kwire, [frame] * 9, limits=limits)) == 9
    with pytest.raises(kwire.LimitExceeded) as caught:
        to_arrow(kwire, [frame, frame + b"\0"], limits=limits)
    assert (caught.value.path, caught.value.offset) == ("[1]", 0)
    with pytest.raises(kwire.UnsupportedVersion):
        to_arrow(kwire, [b"\x7f" + frame], limits=limits)
    unlimited = kwire.Limits(frame_bytes=None)
    assert len(to_arrow(kwire, [frame], limits=unlimited)) == 1


@pytest.mark.parametrize("on_error", ["raise", "null"])
def test_column_offsets_may_reach_the_limit(kwire, monkeypatch, on_error):
    """The offsets and the body positions may reach the maximum.

    If they exceed it, an error is raised. The test reduces the maximum.
    """
    engine = f"{kwire.__name__}._engine.{kwire.backend}"
    modules = [
        importlib.import_module(f"{engine}.{name}")
        for name in ("header_columns", "message_columns")
    ]
    heads = bytes.fromhex("000c 0003 00000000 0064") + b"c" * 100
    tags = bytes.fromhex("000c 0004 00000000 0000 01 00 c801") + bytes(200)
    for rows, size in ([heads] * 3, 300), ([tags] * 3, len(tags)):
        for largest, full in (size, False), (size - 1, True):
            for module in modules:
                assert hasattr(module, "LARGEST_OFFSET")
                monkeypatch.setattr(module, "LARGEST_OFFSET", largest)
            if not full:
                assert len(to_arrow(kwire, rows, on_error=on_error)) == 3
                continue
            with pytest.raises(kwire.LimitExceeded, match="32-bit offsets"):
                to_arrow(kwire, rows, on_error=on_error)


def test_invalid_array_offsets_are_rejected(kwire):
    """Input offsets outside of the data raise an error before any row is read."""
    frame = short_frames(kwire)[1]

    def call(offsets, validity=None, start=0, count=1):
        raw = b"".join(n.to_bytes(4, sys.byteorder, signed=True) for n in offsets)
        return columns_of(kwire).decode_request_headers(
            kwire.messages.RequestHeader,
            kwire.messages.framing.decode_request,
            validity,
            raw,
            frame,
            start,
            count,
            False,
            False,
        )

    assert call([0, len(frame)]).length == 1
    for offsets in ([0, len(frame) + 1], [-1, len(frame) - 1], [len(frame), 0]):
        with pytest.raises(ValueError, match="offsets of row 0"):
            call(offsets)
    with pytest.raises(ValueError, match="too short"):
        call([0, len(frame)], count=2)
    with pytest.raises(ValueError, match="too short"):
        call([0] * 10, b"\xff", count=9)
    with pytest.raises(ValueError, match="start and count"):
        call([0], start=-1)


def test_row_that_changes_during_decoding_is_rejected(kwire):
    """If a row changes while it is decoded, an error is raised.

    The engine has rejected the row, but the callback that decodes it again accepts it.
    """
    arguments = (
        kwire.messages.RequestHeader,
        len,
        None,
        bytes(4) + (1).to_bytes(4, sys.byteorder),
        b"\0",
        0,
        1,
        False,
    )
    decode = columns_of(kwire).decode_request_headers
    with pytest.raises(kwire.InvalidValue, match="input changed") as caught:
        decode(*arguments, False)
    assert caught.value.path == "[0]"
    (error,) = pyarrow.array(decode(*arguments, True)).field("_error").to_pylist()
    assert "input changed" in error


def test_no_object_is_made_for_a_good_row(twins):
    """Decoding valid rows with the compiled engine creates no Python object per row."""
    rows = frames_of_all_versions(twins.fast)
    for count in (1, 50):
        array = pyarrow.array([*rows, None] * count, pyarrow.binary())
        to_arrow(twins.fast, array, on_error="null")
        tracemalloc.start()
        headers = twins.fast.messages.arrow.request_headers_to_arrow(
            array, on_error="null"
        )
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert headers.null_count == count
        assert peak < 32 * 1024


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has neither fork nor mprotect"
)
def test_no_byte_after_the_data_is_read(twins):
    """No byte after a frame is read. Damaged frames end at an inaccessible page."""
    kwire, guarded = twins.fast, Guarded()
    columns, dice = columns_of(kwire), random.Random(8)
    frames = short_frames(kwire)

    def work(note):
        for number in range(20_000):
            frame = frames[number % len(frames)]
            cut = frame[: dice.randrange(len(frame) + 1)]
            position = dice.randrange(len(frame))
            value = bytes([dice.choice((0, 1, 2, 5, 0x7F, 0x80, 0xE4, 0xF0, 0xFF))])
            data = cut[:position] + value + cut[position + 1 :]
            note(data)
            offsets = b"".join(n.to_bytes(4, sys.byteorder) for n in (0, len(data)))
            columns.decode_request_headers(
                kwire.messages.RequestHeader,
                kwire.messages.framing.decode_request,
                None,
                offsets,
                guarded.put(data),
                0,
                1,
                False,
                True,
            )

    check(work)
