# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""No read goes past the end: input ends at a page without access.

One byte too far ends the process, in the release build and whatever the allocator
does. So each kind of input runs in a child process, and a fault is one failed case
that names its input. A planted over-read shows first that the guard is there. What can
be cut off a message, and changed in it, is in ``test_message_bytes.py``.
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


def test_the_guard_catches_an_over_read():
    """One byte after the input is one byte too far; the last byte is not."""
    guarded = Guarded()
    guarded.put(b"last")
    check(lambda note: ctypes.string_at(guarded.address + ROOM - 4, 4))
    status, _ = in_child(lambda note: ctypes.string_at(guarded.address + ROOM - 4, 5))
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) in (signal.SIGSEGV, signal.SIGBUS)


OPTIONS = [{}, {"compat": "java"}, {"zero_copy": True}]


EXHAUSTED = {"prefixes", "changed bytes"}
"""Families of which ``test_message_bytes.py`` tries all."""


@pytest.mark.parametrize("family", sorted(hostile.FAMILIES.keys() - EXHAUSTED))
def test_bad_input_is_not_read_past_its_end(twins, family):
    """Every other family of bad bytes, strict, lenient and with ``zero_copy``."""
    package = twins.fast
    guarded = Guarded()

    def work(note):
        for given in hostile.take(family, share(10)):
            note(given)
            cls = getattr(package.messages, given.message)
            data = guarded.put(given.data)
            for options in OPTIONS:
                with contextlib.suppress(package.DecodeError):
                    package.decode(cls, data, given.version, **options)

    check(work)


def test_good_input_is_not_read_past_its_end(twins):
    """All vectors; their prefixes are in ``test_message_bytes.py``."""
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
    """Headers and bodies of requests and responses, cut anywhere."""
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
    """``messages.wire``: one value and many, random bytes that often go on too long."""
    package = twins.fast
    guarded = Guarded()
    wire = package.messages.wire
    one = [
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
    many = [wire.decode_unsigned_varints, wire.decode_varints, wire.decode_varlongs]

    def work(note):
        dice = random.Random(6)
        for _ in range(share(1)):
            size = dice.randrange(40)
            raw = bytes(dice.choices((0, 1, 2, 5, 0x7F, 0x80, 0xFF), k=size))
            note(raw)
            data = guarded.put(raw)
            for decode, start in itertools.product(one, (0, size)):
                with contextlib.suppress(package.DecodeError):
                    decode(data, start)
            for decode, count in itertools.product(many, (0, 1, size, size + 1)):
                with contextlib.suppress(package.DecodeError):
                    decode(data, count)

    check(work)
