# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that no read exceeds the input, which ends at an inaccessible page.

An access beyond the end terminates the process, in release builds too and with any
allocator. All kinds of input are therefore tested in child processes: a fault fails one
test case, and the failure names the input. A planted over-read first verifies
the guard page. Truncated and modified messages are tested in ``test_message_bytes.py``.
"""

import contextlib
import ctypes
import itertools
import os
import random
import signal
import sys

import pytest

from tests.harness import hostile
from tests.harness.golden import vectors
from tests.harness.guard_pages import ROOM, Guarded, check, in_child
from tests.harness.hostile import share

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has neither fork nor mprotect"
)


def test_guard_page_detects_an_over_read():
    """The last byte of guarded memory can be read, and the byte after it cannot."""
    guarded = Guarded()
    guarded.put(b"last")
    check(lambda note: ctypes.string_at(guarded.address + ROOM - 4, 4))
    status, _ = in_child(lambda note: ctypes.string_at(guarded.address + ROOM - 4, 5))
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) in (signal.SIGSEGV, signal.SIGBUS)


OPTIONS = [{}, {"compat": "java"}, {"zero_copy": True}]


EXHAUSTED = {"prefixes", "changed bytes"}
"""Input families that ``test_message_bytes.py`` tests completely."""


@pytest.mark.parametrize("family", sorted(hostile.FAMILIES.keys() - EXHAUSTED))
def test_bad_input_is_not_read_past_its_end(twins, family):
    """Decoding invalid input never reads a byte after its end.

    The modes are strict, lenient and ``zero_copy``.
    """
    package = twins.fast
    guarded = Guarded()

    def work(note):
        for mutant in hostile.take(family, share(10)):
            note(mutant)
            cls = getattr(package.messages, mutant.message)
            data = guarded.put(mutant.data)
            for options in OPTIONS:
                with contextlib.suppress(package.DecodeError):
                    package.decode(cls, data, mutant.version, **options)

    check(work)


def test_good_input_is_not_read_past_its_end(twins):
    """Decoding valid input never reads a byte after its end.

    The inputs are all golden vectors.
    """
    package = twins.fast
    guarded = Guarded()

    def work(note):
        for vector in vectors():
            cls = getattr(package.messages, vector.message)
            assert len(vector.data) <= ROOM
            note((vector.message, vector.version, vector.data))
            package.decode(cls, guarded.put(vector.data), vector.version)

    check(work)


def test_frames_are_not_read_past_their_end(twins):
    """Decoding a truncated frame never reads a byte after its end.

    Requests and responses are truncated at every position.
    """
    package = twins.fast
    guarded = Guarded()
    framing, messages = package.messages.framing, package.messages
    request = messages.JoinGroupRequest(group_id="g", member_id="m")

    def work(note):
        for version in request.valid_versions:
            frame = framing.encode_request(request, version, 7, "client")[4:]
            answer = framing.encode_response(messages.JoinGroupResponse(), version)[4:]
            for end in range(len(frame) + 1):
                note((version, end))
                with contextlib.suppress(package.KwireError):
                    framing.decode_request(guarded.put(frame[:end]))
                with contextlib.suppress(package.KwireError):
                    framing.decode_response(
                        messages.JoinGroupResponse, guarded.put(answer[:end]), version
                    )
                with contextlib.suppress(package.KwireError):
                    framing.decode_prefixed(
                        messages.ConsumerProtocolSubscription, guarded.put(frame[:end])
                    )

    check(work)


def test_primitives_are_not_read_past_their_end(twins):
    """Decoding random bytes as primitives never reads a byte after their end.

    Single and bulk functions are tested. Random bytes often end within a value.
    """
    package = twins.fast
    guarded = Guarded()
    wire = package.messages.wire
    decode_one = [
        getattr(wire, f"decode_{name}")
        for name in (
            "unsigned_varint",
            "varint",
            "varlong",
            "string",
            "compact_string",
            "nullable_string",
            "compact_nullable_string",
            "bytes",
            "compact_bytes",
            "nullable_bytes",
            "compact_nullable_bytes",
            "uuid",
            "tagged_fields",
        )
    ]
    decode_many = [
        wire.decode_unsigned_varints,
        wire.decode_varints,
        wire.decode_varlongs,
    ]

    def work(note):
        dice = random.Random(6)
        for _ in range(share(1)):
            size = dice.randrange(40)
            raw = bytes(dice.choices((0, 1, 2, 5, 0x7F, 0x80, 0xFF), k=size))
            note(raw)
            data = guarded.put(raw)
            for decode, start in itertools.product(decode_one, (0, size)):
                with contextlib.suppress(package.DecodeError):
                    decode(data, start)
            for decode, count in itertools.product(decode_many, (0, 1, size, size + 1)):
                with contextlib.suppress(package.DecodeError):
                    decode(data, count)

    check(work)
