# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests promises about errors that concern sequences of calls.

Other files test memory (``test_memory.py``), buffers, damaged input
(``engine/twins/test_agreement.py``), the state after errors
(``test_message_bytes.py``), reads beyond the end (``test_guard_pages.py``), time
(``test_linear_time.py``) and threads.
"""

import random

import pytest

from tests.harness.golden import by_pair


def test_repeated_calls_raise_the_same_error_text(kwire):
    """The text of an error does not depend on earlier calls."""
    cls = kwire.messages.MetadataResponse
    data = by_pair()["MetadataResponse", 12][1].data
    cuts = list(range(len(data)))

    def outcomes():
        texts = {}
        for end in cuts:
            with pytest.raises(kwire.DecodeError) as caught:
                kwire.decode(cls, data[:end], 12)
            texts[end] = str(caught.value)
        return texts

    first = outcomes()
    random.Random(1).shuffle(cuts)
    assert outcomes() == first
