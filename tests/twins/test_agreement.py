# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Both engines say the same of every input, good or bad.

The same value, or the same error class, offset, path and words; and nothing but the
errors of ``kwire.errors`` leaves either engine, whatever the bytes are. Values that
cannot be encoded are in ``test_refused_values.py``.
"""

import hostile
import pytest
from hostile import share
from values import neutral

MODES = {
    "strict": ({}, 4),
    "java": ({"compat": "java"}, 3),
    "zero copy": ({"zero_copy": True}, 2),
    "java, zero copy": ({"compat": "java", "zero_copy": True}, 1),
}
"""The arguments of decode, and how many tenths of the inputs they get."""

PARTS = {
    "prefixes": 15,
    "changed bytes": 30,
    "inserted and deleted": 15,
    "random bytes": 10,
    "tag sections": 15,
    "large counts": 15,
}
"""The part of the inputs in each family, in percent."""


def outcome(package, given, options):
    """Decode on one engine: the value, or everything that the error says."""
    cls = getattr(package.messages, given.message)
    try:
        message = package.decode(cls, given.data, given.version, **options)
    except package.errors.KwireError as error:
        assert isinstance(error, package.errors.DecodeError)
        facts = (error.reason, error.offset, error.path, error.version)
        assert 0 <= error.offset <= len(given.data)
        return type(error).__name__, *facts, str(error)
    return "value", neutral(message), encoded(package, message, given.version)


def encoded(package, message, version):
    """Encode what was decoded: the bytes, or everything that the error says."""
    try:
        return package.encode(message, version)
    except package.errors.EncodeError as error:
        return error.expected, error.path, str(error)


def test_all_inputs_are_shared_out():
    """No family is forgotten, and the parts make the whole."""
    assert PARTS.keys() == hostile.FAMILIES.keys()
    assert sum(PARTS.values()) == 100
    assert sum(tenths for _, tenths in MODES.values()) == 10


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family", PARTS)
def test_twins_agree(twins, family, mode):
    """Value for value, error for error."""
    options, tenths = MODES[mode]
    seen = set()
    for given in hostile.take(family, share(PARTS[family]) * tenths // 10):
        fast = outcome(twins.fast, given, options)
        assert fast == outcome(twins.pure, given, options), given
        seen.add(fast[0])
    assert "Truncated" in seen
    assert "value" in seen or family == "prefixes"


@pytest.mark.parametrize("compat", [None, "java"])
def test_no_prefix_is_a_message(kwire, compat):
    """Every proper prefix is refused, and the error lies within it."""
    for given in hostile.take("prefixes", share(4)):
        cls = getattr(kwire.messages, given.message)
        with pytest.raises(kwire.DecodeError) as caught:
            kwire.decode(cls, given.data, given.version, compat=compat)
        assert caught.value.message_name == given.message
        assert caught.value.version == given.version


def test_what_strict_decoding_takes_can_be_encoded(kwire):
    """A changed message that decodes is a message: it encodes, and decodes again."""
    taken = 0
    for given in hostile.take("changed bytes", share(6)):
        cls = getattr(kwire.messages, given.message)
        try:
            message = kwire.decode(cls, given.data, given.version)
        except kwire.DecodeError:
            continue
        again = kwire.decode(cls, kwire.encode(message, given.version), given.version)
        assert neutral(again) == neutral(message)
        taken += 1
    assert taken > share(1)
