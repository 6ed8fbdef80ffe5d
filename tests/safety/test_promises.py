# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Promises about errors that hold over many calls.

Memory has a file of its own (``test_memory.py``), and so have buffers, bad bytes
(``engine/twins/test_agreement.py``), what they leave (``test_message_bytes.py``), reads
past the end (``test_guard_pages.py``), time (``test_linear_time.py``) and threads.
"""

import random

import pytest

from tests.harness.golden import by_pair


def test_errors_are_the_same_each_time(kwire):
    """An error says the same whatever was called before."""
    cls = kwire.messages.MetadataResponse
    data = by_pair()["MetadataResponse", 12][1].data
    cuts = list(range(len(data)))

    def outcomes():
        found = {}
        for end in cuts:
            with pytest.raises(kwire.DecodeError) as caught:
                kwire.decode(cls, data[:end], 12)
            found[end] = str(caught.value)
        return found

    first = outcomes()
    random.Random(1).shuffle(cuts)
    assert outcomes() == first
