# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Both engines return the same value or error for every input.

Errors must have the same class, offset, path and message. Whatever the input is, an
engine only raises exceptions from ``kwire.errors``. Values that cannot be encoded are
tested in ``test_refused_values.py``.
"""

from collections import Counter, defaultdict

from tests.harness import hostile
from tests.harness.hostile import INPUTS, MODES, share
from tests.harness.values import neutral

TENTHS = {"strict": 4, "java": 3, "zero-copy": 2, "java-zero-copy": 1}
"""Tenths of the inputs that each decoding mode gets."""

PARTS = {
    "prefixes": 15,
    "changed bytes": 30,
    "inserted and deleted": 15,
    "random bytes": 10,
    "tag sections": 15,
    "large counts": 15,
}
"""Percentage of the inputs that each family of hostile inputs gets."""


def describe_outcome(package, sample, options):
    """Decode an input with one engine.

    Return the value, or a tuple with all attributes of the error.
    """
    cls = getattr(package.messages, sample.message)
    try:
        message = package.decode(cls, sample.data, sample.version, **options)
    except package.errors.KwireError as error:
        assert isinstance(error, package.errors.DecodeError), repr(error)
        facts = (error.reason, error.offset, error.path, error.version)
        assert 0 <= error.offset <= len(sample.data), repr(error)
        return type(error).__name__, *facts, str(error)
    return "value", neutral(message), try_to_encode(package, message, sample.version)


def try_to_encode(package, message, version):
    """Encode a decoded message.

    Return the bytes, or a tuple with all attributes of the error.
    """
    try:
        return package.encode(message, version)
    except package.errors.EncodeError as error:
        return error.expected, error.path, str(error)


def test_shares_contain_all_inputs():
    """All families and modes have a share, and the shares add up to the total."""
    assert PARTS.keys() == hostile.FAMILIES.keys()
    assert TENTHS.keys() == MODES.keys()
    assert sum(PARTS.values()) == 100
    assert sum(TENTHS.values()) == 10


def compare_engines(fast, pure, inputs, turn=0):
    """Decode ``inputs`` inputs with both engines, divided among families and modes.

    Yields one tuple per family and mode: both names, a counter of outcomes, and the
    inputs for which the engines differ or raise another error than ``DecodeError``.
    """
    for family, percent in PARTS.items():
        for mode, tenths in TENTHS.items():
            ends, differing = Counter(), []
            count = -(-inputs * percent * tenths // 1000)
            for sample in hostile.take(family, count, turn):
                try:
                    outcome_fast = describe_outcome(fast, sample, MODES[mode])
                    agreed = outcome_fast == describe_outcome(pure, sample, MODES[mode])
                except Exception as error:
                    outcome_fast, agreed = [repr(error)], False
                ends[outcome_fast[0]] += 1
                if not agreed:
                    differing.append(sample)
            yield family, mode, ends, differing


def test_twins_agree(twins, figure):
    """Values and errors are identical, for at least ``INPUTS`` inputs."""
    ended, differences = defaultdict(Counter), []
    for family, mode, ends, differing in compare_engines(*twins, INPUTS):
        ended[family] += ends
        differences += [(mode, *sample) for sample in differing]
    assert not differences, differences[:5]
    for family, ends in ended.items():
        assert ends["Truncated"], family
        assert ends["value"] or family == "prefixes", family
    tried = sum(ends.total() for ends in ended.values())
    figure("P3", "inputs on which the engines differ", len(differences), most=0)
    figure("P3", "inputs given to both engines", tried, least=INPUTS)


def test_strictly_decoded_messages_can_be_encoded(kwire):
    """If decoding a damaged message succeeds, the result can be encoded and decoded."""
    count = 0
    for sample in hostile.take("changed bytes", share(6)):
        cls = getattr(kwire.messages, sample.message)
        try:
            message = kwire.decode(cls, sample.data, sample.version)
        except kwire.DecodeError:
            continue
        decoded_again = kwire.decode(
            cls, kwire.encode(message, sample.version), sample.version
        )
        assert neutral(decoded_again) == neutral(message)
        count += 1
    assert count > share(1)
